"""Texts as bytes, and what several parts of patching compute from places in them."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from byteloom._training import document_iterator
from byteloom.errors import PatchingError, TextError

__all__ = [
    "Boundaries",
    "Document",
    "Integers",
    "Lengths",
    "Text",
    "as_bytes",
    "documents",
    "number",
    "reset_bytes",
    "spans",
    "to_boundaries",
    "utf8",
    "whole_number",
]

Text: TypeAlias = str | bytes | bytearray | memoryview
Document: TypeAlias = str | bytes | os.PathLike[str]
Boundaries: TypeAlias = npt.NDArray[np.uint32] | npt.NDArray[np.int64]
Lengths: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
Integers: TypeAlias = npt.NDArray[np.int64]


def as_bytes(data: Text, where: str = "the text") -> bytes:
    """The bytes of a text: a string's UTF-8, anything else as it is."""
    if isinstance(data, str):
        try:
            return data.encode()
        except UnicodeEncodeError as error:
            message = (
                f"{where} holds a lone surrogate, U+{ord(data[error.start]):04X}, at character "
                f"{error.start}; encode it yourself, as in text.encode('utf-8', 'surrogatepass')"
            )
            raise TextError(message) from None
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    raise TypeError(f"{where} must be str or bytes, not {type(data).__name__}")


def utf8(data: Text, where: str = "the text") -> Text:
    """`data`, a string as its UTF-8; no bytes are copied."""
    return as_bytes(data, where) if isinstance(data, str) else data


def documents(data: Document | Iterable[Document]) -> Iterator[bytes]:
    """The bytes of each document, read when its turn comes."""
    for index, document in enumerate(document_iterator(data)):
        if isinstance(document, os.PathLike):
            with open(document, "rb") as file:  # noqa: PTH123 - any path-like
                yield file.read()
        elif hasattr(document, "read"):
            blocks = []
            while block := document.read(1 << 20):
                blocks.append(block)
            yield b"".join(blocks)
        else:
            yield as_bytes(document, f"document {index}")


def spans(boundaries: npt.NDArray[np.integer[Any]], size: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each patch of `size` bytes."""
    starts = boundaries.tolist()
    return zip(starts, [*starts[1:], size] if starts else (), strict=True)


def to_boundaries(places: Integers, size: int) -> Boundaries:
    """Places in a text of `size` bytes as uint32 where that holds them all."""
    return places.astype(np.uint32) if size <= np.iinfo(np.uint32).max else places


def reset_bytes(value: bytes | None) -> bytes | None:
    """The bytes of a `reset_on`, `None` for none."""
    if value is not None and not isinstance(value, bytes):
        raise TypeError(f'reset_on must be bytes, such as b"\\n", not {type(value).__name__}')
    return value or None


def number(value: Any, name: str) -> float:
    """`value` as a float that is not NaN."""
    # A string has neither method, though float() takes it.
    if isinstance(value, bool) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    try:
        found = float(value)
    except OverflowError:
        raise PatchingError(f"{name} is too large for a number of 64 bits") from None
    except TypeError:
        raise TypeError(f"{name} must be one number, not {type(value).__name__}") from None
    if math.isnan(found):
        raise PatchingError(f"{name} is NaN; give a number")
    return found


def whole_number(value: object, name: str, least: int = 1) -> int:
    """`value` as an integer of at least `least`."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}")
    found = int(value.__index__())
    if found < least:
        raise PatchingError(f"{name} must be {least} or more, not {found}")
    if found > sys.maxsize:
        raise PatchingError(f"{name} must be {sys.maxsize} or less, not {found}")
    return found

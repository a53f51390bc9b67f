"""The base of records: frozen dataclasses that become plain data."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, ClassVar, NamedTuple

__all__ = ["Record", "Span", "text_of"]


class Span(NamedTuple):
    """A half-open range; in plain data a list of two numbers."""

    start: int
    end: int


def text_of(data: bytes) -> str | None:
    """`data` as text, or `None` where it is no valid UTF-8, such as half a character.

    >>> text_of("é".encode()), text_of("é".encode()[:1])
    ('é', None)
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


class Record:
    """What records share: `to_dict` and `to_json`.

    In plain data a record is a dict of its fields, with its `kind` first where it has one. Bytes are hex
    strings; a field `bytes` is followed by `text`, the same as text or `None` where that is no valid UTF-8.
    Tuples are lists, spans lists of two numbers, and numbers that JSON does not have are strings, as `"inf"`.
    """

    __slots__ = ()
    kind: ClassVar[str] = ""
    """What sort of record it is, where a list holds several sorts."""

    def to_dict(self) -> dict[str, Any]:
        """The record as plain data that JSON can hold."""
        plain: dict[str, Any] = {"kind": self.kind} if self.kind else {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, field.name)
            plain[field.name] = _plain(value)
            if field.name == "bytes":
                plain["text"] = text_of(value)
        return plain

    def to_json(self, *, indent: int | None = None) -> str:
        """The record as a JSON string; `indent` as for `json.dumps`."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def _repr_html_(self) -> str | None:
        from . import render  # noqa: PLC0415 - only a notebook asks

        try:
            return render.html(self)
        except TypeError:  # a small part, of which there is no picture
            return None


def _plain(value: object) -> object:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value

"""Documents of one file: plain text, JSON lines, tables."""

from __future__ import annotations

import codecs
import importlib
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from byteloom.errors import ByteloomError, FormatError, TextError

from .find import STDIN, Source
from .run import Run, Stream
from .unpack import unpacked

__all__ = ["is_sound", "opened", "read", "streamed"]

_BLOCK = 1 << 20
_LONGEST_LINE = 1 << 30
_BATCH_ROWS = 1024
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_PYARROW = "reading .parquet files needs pyarrow: pip install 'byteloom[parquet]'"


@contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked."""
    if source.path == STDIN:
        file: BinaryIO | None = sys.stdin.buffer if sys.stdin is not None else None
        if file is None:
            raise OSError(None, "standard input is closed", source.name)
        yield unpacked(_Kept(file), source.packing, source.name) if source.packing else file  # type: ignore[arg-type]
        return
    with open(source.path, "rb") as raw:  # noqa: PTH123 - names are any bytes
        if source.packing:
            with unpacked(raw, source.packing, source.name) as file:
                yield file
        else:
            yield raw


class _Kept:
    """Standard input, which stays open when its reader is closed."""

    def __init__(self, file: BinaryIO) -> None:
        self.read = file.read

    def close(self) -> None:
        """Nothing: the file is not ours."""


def read(run: Run, source: Source) -> Iterator[str | bytes]:
    """The documents of a file that are in the sample and not faulty."""
    kinds = {"text": _text, "jsonl": _lines, "parquet": _rows}
    run.stats.files += 1
    yield from kinds[source.kind](run, source)


def streamed(run: Run, source: Source) -> Iterator[Stream]:
    """A file of text as one document that is read in pieces."""
    with run.skips(keep="all of it is left out"), opened(source) as file:
        if file.peek(1):  # type: ignore[attr-defined] # buffered, all of them
            run.stats.documents += 1
            yield Stream(run, file, source.name)


def is_sound(run: Run, source: Source) -> bool:
    """Whether a file of text can be read to its end; if not, that is a fault of the pass."""
    check = codecs.getincrementaldecoder("utf-8")("strict") if run.options.errors == "strict" else None
    done = 0
    sound = False
    with run.skips(keep="all of it is left out"), opened(source) as file:
        while True:
            block = file.read(_BLOCK)
            if check is not None:
                waiting = len(check.getstate()[0])
                try:
                    check.decode(block, final=not block)
                except UnicodeDecodeError as error:
                    run.fault(_invalid(source.name, done - waiting + error.start), "invalid UTF-8")
                    break
            if not block:
                sound = True
                break
            done += len(block)
    return sound


# Plain text.


def _text(run: Run, source: Source) -> Iterator[str | bytes]:
    separator = run.options.separator
    with run.skips(keep="the text after the last whole document is left out"), opened(source) as file:
        pieces = _pieces(file, separator) if separator else iter([(0, _whole(file))])
        for offset, raw in pieces:
            if not raw or not run.draws():
                continue
            if run.options.errors == "keep":
                yield raw
                continue
            try:
                yield raw.decode("utf-8", run.options.errors)
            except UnicodeDecodeError as error:
                run.fault(_invalid(source.name, offset + error.start), "invalid UTF-8")


def _whole(file: BinaryIO) -> bytes:
    return b"".join(iter(lambda: file.read(_BLOCK), b""))


def _pieces(file: BinaryIO, separator: bytes) -> Iterator[tuple[int, bytes]]:
    """What stands between separators, with its offset."""
    buffer = bytearray()
    base = 0
    looked = 0
    while block := file.read(_BLOCK):
        buffer += block
        start = 0
        while (at := buffer.find(separator, max(start, looked))) >= 0:
            yield base + start, bytes(buffer[start:at])
            start = at + len(separator)
        del buffer[:start]
        base += start
        looked = max(0, len(buffer) - len(separator) + 1)
    yield base, bytes(buffer)


def _invalid(name: str, offset: int) -> TextError:
    return TextError(
        f"{name}: invalid UTF-8 at byte {offset}; errors='replace' or 'keep' takes it all the same"
    )


# JSON lines.


def _lines(run: Run, source: Source) -> Iterator[str]:
    with run.skips(keep="the lines after the last whole one are left out"), opened(source) as file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            place = f"{source.name}:{number}"
            if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                run.fault(
                    FormatError(f"{place}: a line of more than {_LONGEST_LINE:,} bytes"), "line too long"
                )
                while line and not line.endswith(b"\n"):
                    line = file.readline(_BLOCK)
                continue
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            if line.isspace() or not line or not run.draws():
                continue
            try:
                text = _field(line, place, run)
            except _FaultError as fault:
                run.fault(fault.error, fault.reason)
                continue
            if text:
                yield text


class _FaultError(Exception):
    def __init__(self, error: ByteloomError, reason: str) -> None:
        super().__init__()
        self.error = error
        self.reason = reason


def _field(line: bytes, place: str, run: Run) -> str:
    """The text in a line."""
    field = run.options.field
    try:
        decoded = line.decode("utf-8", "replace" if run.options.errors == "replace" else "strict")
    except UnicodeDecodeError as error:
        where = TextError(f"{place}: invalid UTF-8 at byte {error.start} of the line")
        raise _FaultError(where, "invalid UTF-8") from None
    try:
        record = json.loads(decoded)
        if isinstance(record, dict) and decoded.count(f'"{field}"') > 1:
            # Perhaps twice in one object; JSON itself says nothing about which one holds.
            pairs = json.loads(decoded, object_pairs_hook=_Pairs)
            if [name for name, _ in pairs].count(field) > 1:
                raise _FaultError(FormatError(f"{place}: the field {field!r} is there twice"), "field twice")
    except json.JSONDecodeError as error:
        where_ = FormatError(f"{place}: no JSON: {error.msg} at character {error.pos} of the line")
        raise _FaultError(where_, "no JSON") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets without end
        raise _FaultError(FormatError(f"{place}: no JSON that can be read: {error}"), "no JSON") from None
    if not isinstance(record, dict):
        kind = _kind(record)
        raise _FaultError(FormatError(f"{place}: {kind} where an object belongs"), "no object")
    if field not in record:
        names = ", ".join(repr(name) for name in list(record)[:8]) or "none"
        raise _FaultError(
            FormatError(f"{place}: no field {field!r}; the fields are {names}"), "no such field"
        )
    text = record[field]
    if not isinstance(text, str):
        message = f"{place}: the field {field!r} holds {_kind(text)}, not a string"
        raise _FaultError(FormatError(message), "no string")
    if not text.isascii() and (found := _SURROGATE.search(text)) is not None:
        if run.options.errors == "replace":
            return _SURROGATE.sub("\ufffd", text)
        message = (
            f"{place}: character {found.start()} of the text is the lone surrogate U+{ord(found.group()):04X}"
        )
        raise _FaultError(TextError(message), "lone surrogate")
    return text


class _Pairs(list[tuple[str, Any]]):
    """An object with its keys as they came."""


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "a number"


# Tables.


def _rows(run: Run, source: Source) -> Iterator[str | bytes]:
    try:
        pa = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError(_NO_PYARROW) from None
    if source.path == STDIN:
        message = "standard input: a table cannot be read from a pipe; give the file"
        raise FormatError(message)
    row = 0
    with run.skips(keep="the rows after the last one that was read are left out"):
        try:
            # Opened here, since pyarrow takes names for UTF-8.
            with (
                open(source.path, "rb") as file,  # noqa: PTH123 - as above
                parquet.ParquetFile(file, pre_buffer=False) as table,
            ):
                name = run.options.column
                _check_column(pa, table.schema_arrow, name, source)
                for batch in table.iter_batches(batch_size=_BATCH_ROWS, columns=[name], use_threads=False):
                    for value in _values(pa, batch.column(0)):
                        place = f"{source.name}: row {row}"
                        row += 1
                        if not run.draws():
                            continue
                        if value is None:
                            run.fault(FormatError(f"{place}: null where a text belongs"), "no string")
                        elif run.options.errors == "keep":
                            if value:
                                yield value
                        else:
                            try:
                                text = value.decode("utf-8", run.options.errors)
                            except UnicodeDecodeError as error:
                                where = TextError(f"{place}: invalid UTF-8 at byte {error.start} of the text")
                                run.fault(where, "invalid UTF-8")
                                continue
                            if text:
                                yield text
        except pa.ArrowException as error:
            reason = " ".join(str(error).split())
            message = f"{source.name}: damaged table, or none, behind row {row}: {reason}"
            raise FormatError(message) from None
        except OSError as error:
            if error.filename is not None or error.errno is not None:
                raise
            reason = " ".join(str(error).split())  # pyarrow's own, about what it read
            raise FormatError(f"{source.name}: damaged table behind row {row}: {reason}") from None


def _check_column(pa: Any, schema: Any, name: str, source: Source) -> None:
    if name not in schema.names:
        names = ", ".join(map(repr, schema.names[:8])) or "none"
        message = f"{source.name}: no column {name!r}; the columns are {names}"
        raise FormatError(message)
    kind = schema.field(name).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not str(kind).startswith(("string", "large_string", "binary", "large_binary")):
        message = f"{source.name}: the column {name!r} holds {kind}, not strings"
        raise FormatError(message)


def _values(pa: Any, column: Any) -> list[bytes | None]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    # As bytes: pyarrow decodes without saying which row was not UTF-8.
    values: list[bytes | None] = column.cast(pa.large_binary()).to_pylist()
    return values


def size_of(source: Source) -> int | None:
    """How many bytes of text a file holds, where that is known without reading it."""
    if source.kind != "text" or source.packing or not source.is_file:
        return None
    return os.path.getsize(source.path)  # noqa: PTH202

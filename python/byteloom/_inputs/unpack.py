"""Packed files as streams: gzip, Zstandard, bzip2 and xz, all members, in bounded memory."""

from __future__ import annotations

import importlib
import io
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

from byteloom.errors import FormatError

__all__ = ["unpacked"]

_READ = 1 << 16
# A byte of Zstandard may stand for 32 KiB, and `zstandard` cannot be told to stop earlier.
_READ_ZST = 1 << 11
_WRITE = 1 << 18

_NAMES = {"gz": "gzip", "zst": "Zstandard", "bz2": "bzip2", "xz": "xz"}
_NO_ZSTANDARD = "reading .zst files needs Python 3.14 or the package zstandard: pip install 'byteloom[zstd]'"


def unpacked(file: BinaryIO, packing: str, name: str) -> BinaryIO:
    """The bytes that are packed in `file`. Closing it closes `file`.

    Raises:
        ImportError: nothing here reads this packing; the extra that does is named.
    """
    return io.BufferedReader(_Unpacked(file, packing, name), _WRITE)


class _Unpacked(io.RawIOBase):
    """A file of one or more members. Damage is a `FormatError` with its offset in the packed file."""

    def __init__(self, file: BinaryIO, packing: str, name: str) -> None:
        self._file = file
        self._packing = packing
        self._name = name
        self._new, self._errors = _decoder(packing)
        self._decoder: Any = None  # None between members
        self._begun = False  # whether there was a member
        self._packed = b""  # read and not yet given to the decoder
        self._offset = 0  # where `_packed` begins
        self._out = b""
        self._at = 0
        self._finished = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        while self._at == len(self._out):
            if self._finished:
                return 0
            self._out, self._at = self._step(), 0
        part = self._out[self._at : self._at + len(view)]
        view[: len(part)] = part
        self._at += len(part)
        return len(part)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

    def _step(self) -> bytes:
        """Unpack a little more; nothing may come out."""
        if not self._packed and not getattr(self._decoder, "has_more", False):
            self._packed = self._file.read(_READ_ZST if self._packing == "zst" else _READ)
            if not self._packed:
                if self._decoder is not None or not self._begun:
                    raise self._damaged("the file ends too early")
                self._finished = True
                return b""
        if self._decoder is None:
            if self._begun:
                # Some writers fill up with zeros.
                rest = self._packed.lstrip(b"\0")
                self._offset += len(self._packed) - len(rest)
                self._packed = rest
                if not rest:
                    return b""
            self._decoder = _Feeder(self._new())
            self._member = self._offset
        feeder = self._decoder
        try:
            out: bytes = feeder.feed(self._packed)
        except self._errors as error:
            if self._begun and self._offset == self._member:
                raise self._damaged("what follows is something else") from None
            raise self._damaged(str(error)) from None
        self._offset += len(self._packed) - len(feeder.rest)
        self._packed = feeder.rest
        if feeder.eof:
            self._decoder, self._begun = None, True
        return out

    def _damaged(self, what: str) -> FormatError:
        return FormatError(
            f"{self._name}: damaged {_NAMES[self._packing]} data near offset {self._offset}: {what}"
        )


class _Feeder:
    """One surface for decoders that differ in how they hold back what is too much at once."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder
        self.rest = b""
        self.eof = False
        self.has_more = False

    def feed(self, data: bytes) -> bytes:
        decoder = self._decoder
        if isinstance(decoder, _Zlib):
            out: bytes = decoder.decompress(data, _WRITE)
            self.rest = decoder.unconsumed_tail
            self.has_more = len(out) == _WRITE and not decoder.eof
        elif hasattr(decoder, "needs_input"):
            out = decoder.decompress(data, _WRITE)
            self.rest = b""
            self.has_more = not decoder.needs_input and not decoder.eof
        else:
            out = decoder.decompress(data)
            self.rest = b""
        self.eof = decoder.eof
        if self.eof:
            self.rest = decoder.unused_data
        return out


_Zlib = type(zlib.decompressobj())


def _decoder(packing: str) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    """What makes a decoder of one member, and what the decoder raises."""
    if packing == "gz":
        return lambda: zlib.decompressobj(wbits=31), (zlib.error,)
    if packing == "bz2":
        import bz2  # noqa: PLC0415 - few files need it

        return bz2.BZ2Decompressor, (OSError, ValueError)
    if packing == "xz":
        import lzma  # noqa: PLC0415 - few files need it

        return lzma.LZMADecompressor, (lzma.LZMAError,)
    with suppress(ImportError):
        zstd: Any = importlib.import_module("compression.zstd")
        return zstd.ZstdDecompressor, (zstd.ZstdError,)
    with suppress(ImportError):
        zstandard: Any = importlib.import_module("zstandard")
        return lambda: zstandard.ZstdDecompressor().decompressobj(), (zstandard.ZstdError,)
    raise ImportError(_NO_ZSTANDARD)

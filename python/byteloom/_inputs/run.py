"""One pass over files: what is drawn, counted, limited and skipped."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from byteloom.errors import ByteloomError

__all__ = ["LimitReached", "Options", "ReadingStats", "Run", "Stream"]

_EXAMPLES = 20
_LAST_BYTES = 1 << 16


@dataclass(frozen=True)
class Options:
    """What was asked of a reader of files."""

    field: str
    column: str
    separator: bytes | None
    max_bytes: int | None
    sample: float | None
    seed: int
    errors: str
    skip: bool


@dataclass
class ReadingStats:
    """What a pass over files gave, and what it left out.

    Attributes:
        files: Files that were opened.
        documents: Documents that were given out.
        bytes: Their size in UTF-8.
        not_sampled: Documents that the sample left out; nothing was looked for in them.
        skipped: Faulty documents, and ends of damaged files, that were skipped.
        reasons: How often each reason to skip something occurred.
        faults: What was wrong and where, for the first 20.
        ignored: Files in folders that were left out because of their endings.
        limited: Whether `max_bytes` was reached; what came after was not read.
    """

    files: int = 0
    documents: int = 0
    bytes: int = 0
    not_sampled: int = 0
    skipped: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    ignored: int = 0
    limited: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


class LimitReached(Exception):  # noqa: N818 - ends a pass, and is no fault
    """There are `max_bytes` bytes now."""


class Run:
    """The state of one pass. Its random numbers are drawn in the order of documents, one for each."""

    def __init__(self, options: Options, stats: ReadingStats) -> None:
        self.options = options
        self.stats = stats
        self._random = random.Random(options.seed)  # noqa: S311 - a sample, no secret
        self.left = options.max_bytes
        self._raised: BaseException | None = None

    def draws(self) -> bool:
        """Whether the next document is in the sample."""
        share = self.options.sample
        if share is None or self._random.random() < share:
            return True
        self.stats.not_sampled += 1
        return False

    def fault(self, error: ByteloomError | OSError, reason: str) -> None:
        """Raise the error, or count it, as was asked.

        Raises:
            ByteloomError: the error, with what to do about it.
            OSError: likewise.
        """
        if not self.options.skip:
            if not isinstance(error, OSError):
                error = type(error)(f"{error}; on_error='skip' counts such faults and goes on")
            self._raised = error
            raise error
        stats = self.stats
        stats.skipped += 1
        stats.reasons[reason] = stats.reasons.get(reason, 0) + 1
        if len(stats.faults) < _EXAMPLES:
            stats.faults.append(describe(error))

    @contextmanager
    def skips(self, *, keep: str) -> Iterator[None]:
        """Take a file that cannot be read to its end for a fault; `keep` says what of it is lost."""
        from byteloom.errors import FormatError  # noqa: PLC0415 - keeps this module light

        try:
            yield
        except (FormatError, OSError) as error:
            if error is self._raised:  # of one document
                raise
            if isinstance(error, OSError):
                self.fault(error, "unreadable file")
            else:
                self.fault(FormatError(f"{error}; {keep}") if self.options.skip else error, "faulty file")

    def count(self, document: str | bytes) -> str | bytes:
        """The document as it is given out, shortened where it crosses the limit, counted.

        Raises:
            LimitReached: there is no room for any of it.
        """
        if isinstance(document, bytes) or document.isascii():
            size = len(document)
        else:
            size = len(document.encode("utf-8", "surrogatepass"))
        if self.left is not None:
            if size > self.left:
                raw = document.encode() if isinstance(document, str) else document
                raw = whole_characters(raw[: self.left])
                document = raw.decode() if isinstance(document, str) else raw
                size, self.left = len(raw), 0
            else:
                self.left -= size
            if not self.left:
                self.stats.limited = True
            if not size:
                raise LimitReached
        self.stats.documents += 1
        self.stats.bytes += size
        return document


def describe(error: BaseException) -> str:
    """An error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def whole_characters(raw: bytes) -> bytes:
    r"""`raw` without an unfinished character at its end.

    >>> whole_characters("né".encode()[:-1]), whole_characters(b"\xff\xff")
    (b'n', b'\xff\xff')
    """
    for back in range(1, min(4, len(raw) + 1)):
        byte = raw[-back]
        if byte & 0xC0 != 0x80:  # noqa: PLR2004 - the first byte of a character, or no part of any
            wanted = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC2 else 1  # noqa: PLR2004
            return raw[:-back] if wanted > back and byte < 0xF5 else raw  # noqa: PLR2004
    return raw


class Stream:
    """A file as one document that is read in pieces and never as a whole.

    The limit and the figures of the pass hold for it too.
    """

    def __init__(self, run: Run, file: BinaryIO, name: str) -> None:
        self.name = name
        self._run = run
        self._file = file
        self._tail: bytes | None = None

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        with self._run.skips(keep="what was read of it is kept"):
            return self._read(size)
        return b""

    def _read(self, size: int) -> bytes:
        run = self._run
        if run.left is None:
            data = self._file.read(size)
        elif self._tail is None and run.left > size + _LAST_BYTES:
            data = self._file.read(size)
            run.left -= len(data)
        else:
            if self._tail is None:
                self._tail = self._last(run.left)
            data, self._tail = self._tail[:size], self._tail[size:]
        run.stats.bytes += len(data)
        return data

    def _last(self, left: int) -> bytes:
        """The last bytes that the limit lets through, all at once so that no character is cut."""
        run = self._run
        parts = []
        while left and (part := self._file.read(min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
        raw = b"".join(parts)
        run.left = left
        if left:
            return raw
        run.stats.limited = True
        return whole_characters(raw) if self._file.read(1) else raw

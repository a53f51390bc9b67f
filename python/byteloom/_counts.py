"""`PretokenCounts`: pre-tokens of any amount of text, counted once and trained from as often as wanted."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from . import _native
from ._training import TrainingDocuments, checked_names, expected_bytes, progress_callback

if TYPE_CHECKING:
    from ._training import Document

__all__ = ["PretokenCounts"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{unit}i": 1 << 10 * power for power, unit in enumerate("kmgt", 1)}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?", re.IGNORECASE)

Path = str | os.PathLike[str]
_Result = TypeVar("_Result")


class PretokenCounts:
    """How often each pre-token occurs in a text, and which of them came first.

    Training needs the text only for these counts. Made once, they train vocabularies of any size and with any
    rule for ties, each exactly as one pass over the text would: `Tokenizer.train(counts, …)`. Counts of parts
    of a text, made on several machines and merged in the order of the parts, equal the counts of the whole.

    With `memory_limit`, counts that do not fit go to temporary files, sorted, and are merged from there. The
    limit holds for counting, merging, pruning and saving. Training holds every distinct pre-token: `prune`
    drops the rare ones of a large text. Temporary files are deleted with the object, also after an error.

    Args:
        data: What to count: text, a path, or an iterable of these, as for `Tokenizer.train`.
        pattern: Pre-tokenizer: the name of a built-in pattern or a regex. Training must ask for the same.
        special_tokens: Strings that end and begin documents wherever they stand, and are never counted.
        errors: `"strict"`, `"replace"` or `"keep"`, as for `Tokenizer.train`.
        threads: Threads that count; all processors by default. Results do not depend on it.
        memory_limit: About how much memory counts may take: bytes, or a string such as `"2GB"` or `"512MiB"`;
            at least 4 MiB. By default nothing goes to files.
        folder: Where temporary files go; by default the system's folder for them.
        progress: `True` shows a bar on stderr; a callable receives a dict, as in `Tokenizer.train`.

    Raises:
        TextError: invalid text, with the file and the byte offset, or the index of the document.
        PatternError: a pattern that does not compile.
        SpecialTokenError: special tokens that are empty or given twice.
        ValueError: a memory limit that is too small or no size.

    >>> import byteloom as bl
    >>> counts = bl.PretokenCounts(["low low lower", "lowest low"])
    >>> counts.most_common(2)
    [(b' low', 2), (b' lower', 1)]
    >>> bl.Tokenizer.train(counts, vocab_size=258) == bl.Tokenizer.train(["low low lower", "lowest low"], 258)
    True
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        data: Document | Iterable[Document] | None = None,
        *,
        pattern: str = "cl100k",
        special_tokens: Sequence[str] = (),
        errors: str = "strict",
        threads: int | None = None,
        memory_limit: int | str | None = None,
        folder: Path | None = None,
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        self._native = _native.NativeCounts(
            pattern=pattern,
            special_tokens=checked_names(special_tokens),
            memory_limit=_size(memory_limit),
            folder=folder,
        )
        if data is not None:
            self.update(data, errors=errors, threads=threads, progress=progress)

    @classmethod
    def _of(cls, native: _native.NativeCounts) -> PretokenCounts:
        counts = cls.__new__(cls)
        counts._native = native  # noqa: SLF001 - its own
        return counts

    def update(
        self,
        data: Document | Iterable[Document],
        *,
        errors: str = "strict",
        threads: int | None = None,
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
    ) -> PretokenCounts:
        """Count more text, as text that follows what was counted before.

        All or nothing: where it raises, the counts are as they were. The arguments are those of the class.

        Returns:
            The counts themselves.

        >>> import byteloom as bl
        >>> bl.PretokenCounts("low low").update("low").most_common(1)
        [(b'low', 2)]
        """
        read = TrainingDocuments(data, errors)
        with progress_callback(progress) as callback:
            self._native.update(
                iter(read),
                errors=errors,
                threads=threads,
                expected_bytes=expected_bytes(data),
                reading=read.reading,
                progress=callback,
            )
        return self

    def merge(self, other: PretokenCounts) -> PretokenCounts:
        """Add other counts, as those of text that follows.

        Args:
            other: Counts with the same pattern and special tokens; they stay as they are.

        Returns:
            The counts themselves.

        Raises:
            ValueError: another pattern, or other special tokens.

        >>> import byteloom as bl
        >>> first, second = bl.PretokenCounts("low low"), bl.PretokenCounts("low")
        >>> first.merge(second).most_common(1)
        [(b'low', 2)]
        """
        if not isinstance(other, PretokenCounts):
            message = f"other must be PretokenCounts, not {type(other).__name__}"
            raise TypeError(message)
        self._native.merge(other._native)
        return self

    def prune(self, min_count: int) -> PretokenCounts:
        """Drop the pre-tokens that occur less often than `min_count`.

        Training from what is left is no longer exact: a pair's count lacks what stood in dropped pre-tokens.

        Returns:
            The counts themselves.

        >>> import byteloom as bl
        >>> len(bl.PretokenCounts("low low low").prune(2))
        1
        """
        self._native.prune(min_count)
        return self

    def save(self, path: Path) -> None:
        """Write the counts to a file: sorted, versioned, with a checksum, the same bytes for the same counts.

        The file is written beside its place and renamed, so that a reader never sees half of it.

        Raises:
            OSError: the file cannot be written; an older one stays as it was.
        """
        _beside(path, self._native.write_file)

    @classmethod
    def load(
        cls, path: Path, *, memory_limit: int | str | None = None, folder: Path | None = None
    ) -> PretokenCounts:
        """Read counts that `save` wrote. Pattern and special tokens are in the file.

        Args:
            path: The file.
            memory_limit: As for the class; a file larger than half of it is copied to a temporary file.
            folder: Where temporary files go.

        Raises:
            FormatError: the file is damaged, or holds something else.
            OSError: the file cannot be read.

        >>> import pathlib, tempfile
        >>> import byteloom as bl
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     bl.PretokenCounts("low low").save(pathlib.Path(folder, "some.counts"))
        ...     bl.PretokenCounts.load(pathlib.Path(folder, "some.counts")).most_common(5)
        [(b' low', 1), (b'low', 1)]
        """
        native = _native.NativeCounts.read_file(path, memory_limit=_size(memory_limit), folder=folder)
        return cls._of(native)

    def to_tsv(self, path: Path) -> int:
        r"""Write a table: a pre-token, a tab and its count a line, in the order of the bytes.

        SentencePiece reads such tables (`input_format="tsv"`). Backslash, tab, ends of lines and bytes that
        are not UTF-8 are escaped as in Python (`\\`, `\t`, `\n`, `\r`, `\xff`), which other readers take for
        ordinary text. The table does not say which pre-token came first.

        Returns:
            How many pre-tokens are escaped.

        Raises:
            OSError: the file cannot be written; an older one stays as it was.
        """
        return _beside(path, self._native.write_table)

    @classmethod
    def from_tsv(
        cls,
        path: Path,
        *,
        pattern: str = "cl100k",
        special_tokens: Sequence[str] = (),
        memory_limit: int | str | None = None,
        folder: Path | None = None,
    ) -> PretokenCounts:
        r"""Read a table that `to_tsv` wrote, or one like it: lines in any order, words more than once.

        Counts from a table train with `tie_break="smallest_pair"` only, since other rules ask for the order
        of the text. The other arguments are those of the class.

        Raises:
            FormatError: a line that is not a pre-token, a tab and a count, with its number.
            OSError: the file cannot be read.

        >>> import pathlib, tempfile
        >>> import byteloom as bl
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "words.tsv")
        ...     _ = path.write_text("low\t5\n", encoding="utf-8")
        ...     counts = bl.PretokenCounts.from_tsv(path)
        >>> bl.Tokenizer.train(counts, vocab_size=258).merges
        [(108, 111), (256, 119)]
        """
        native = _native.NativeCounts.read_table(
            path,
            pattern=pattern,
            special_tokens=checked_names(special_tokens),
            memory_limit=_size(memory_limit),
            folder=folder,
        )
        return cls._of(native)

    def most_common(self, number: int = 10) -> list[tuple[bytes, int]]:
        """The most frequent pre-tokens with their counts; among equal counts in the order of their bytes."""
        return self._native.most_common(number)

    @property
    def pattern(self) -> str:
        """The pattern that cut the text: its name, or a regex."""
        return self._native.pattern

    @property
    def special_tokens(self) -> list[str]:
        """The strings that end and begin documents."""
        return self._native.special_tokens

    def info(self) -> dict[str, Any]:
        """What was counted, as plain data.

        `documents`, `bytes`, `invalid_bytes` (replaced), `pretokens`, `unique_pretokens`, `dropped_pretokens`
        (by `prune`), `special_tokens_seen`, `ordered` (whether it is known which came first),
        `spilled_bytes` (in temporary files), and `reading`, what readers of files gave and left out, as in
        `Tokenizer.training_report`.
        """
        return self._native.info() | {"reading": json.loads(self._native._reading())}  # noqa: SLF001 - its own

    def __len__(self) -> int:
        """How many distinct pre-tokens there are."""
        return self._native.sums()[0]

    def __repr__(self) -> str:
        info = self.info()
        return (
            f"<byteloom.PretokenCounts {info['unique_pretokens']} of {info['pretokens']} pre-tokens, "
            f"pattern={self.pattern!r}>"
        )


def _size(limit: int | str | None) -> int | None:
    """A size in bytes: `"2GB"` is 2,000,000,000, `"2GiB"` is 2,147,483,648.

    >>> _size("1.5 kB"), _size("2MiB"), _size(7), _size(None)
    (1500, 2097152, 7, None)
    """
    if limit is None or (isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0):
        return limit
    found = _SIZE.fullmatch(limit.strip()) if isinstance(limit, str) else None
    if found is None or found[2].lower() not in _UNITS:
        message = f"memory_limit must be a number of bytes or a size such as '2GB', not {limit!r}"
        raise ValueError(message)
    return int(float(found[1]) * _UNITS[found[2].lower()])


def _beside(path: Path, write: Callable[[str], _Result]) -> _Result:
    """Let `write` make a file beside `path`, and put it there when it is complete."""
    target = os.path.realpath(os.fspath(path))
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        result = write(temporary)
        os.replace(temporary, target)  # noqa: PTH105
    finally:
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
    return result

"""Texts in files: plain or packed text, JSON lines, tables, folders of them, globs and standard input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .find import Path, Source, find
from .readers import is_sound, read, size_of, streamed
from .run import LimitReached, Options, ReadingStats, Run

if TYPE_CHECKING:
    from .run import Stream

__all__ = ["Documents", "ReadingStats", "documents"]


def documents(
    paths: Path | Iterable[Path],
    *,
    format: str | None = None,  # noqa: A002 - the field's word
    field: str = "text",
    column: str = "text",
    separator: str | None = None,
    max_bytes: int | None = None,
    sample: float | None = None,
    seed: int = 0,
    errors: str = "strict",
    on_error: str = "raise",
) -> Documents:
    r"""The documents in files, one at a time, in an order that never changes.

    A line of `.jsonl` and a row of `.parquet` is a document. A text file is one, or what stands between
    separators. Text and JSON lines may be packed: `.gz`, `.zst`, `.bz2`, `.xz`. Files with other endings are
    text. Blank lines and empty texts are no documents. `.zst` (before Python 3.14) and `.parquet` need the
    extras `byteloom[zstd]` and `byteloom[parquet]`.

    Args:
        paths: One or more files, folders, globs, or `"-"` for standard input. A folder stands for the
            `.txt`, `.jsonl` and `.parquet` files in it and in its folders, packed or not, in the order of
            their names; with `format`, for all of its files. Hidden files are left out. A file that is named
            twice is read twice.
        format: `"text"`, `"jsonl"` or `"parquet"`, if endings do not say so; `"jsonl.gz"` for packed ones.
        field: The field of a JSON object that holds the text.
        column: The column of a table that holds the text.
        separator: The string that ends a document in text files; it is part of none.
        max_bytes: Stop when the documents have this many bytes of UTF-8. The last one is cut there, between
            two characters.
        sample: Share of the documents to take, above 0 and up to 1. Each is drawn by its place in the order;
            what is not drawn is not looked at.
        seed: Another number draws other documents.
        errors: Text that is not UTF-8: `"strict"` is a fault, `"replace"` puts U+FFFD in its place (also of a
            lone surrogate in JSON), `"keep"` gives `bytes` as they are (in JSON, that stays a fault).
        on_error: A faulty document or a damaged file: `"raise"` stops there, `"skip"` counts it in `stats`
            and goes on; of a damaged file, all documents before the damage are kept.

    Returns:
        What can be iterated over any number of times; `Tokenizer.train`, `PretokenCounts` and whatever else
        takes documents read it in pieces. Its `stats` say what the last pass gave and left out.

    Raises:
        FileNotFoundError: no such file, or none that matches.
        TrainingError: a folder without files to read, an archive of files.
        FormatError: while reading: a line, a row or a file that is not what it must be, with its place.
        TextError: while reading: invalid UTF-8 or a lone surrogate, with its place.
        ImportError: while reading: an extra is missing.

    >>> import byteloom as bl, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.jsonl")
    ...     _ = path.write_text('{"text": "low lower"}\n{"id": 2}\n{"text": "lowest"}\n')
    ...     docs = bl.documents(path, on_error="skip")
    ...     list(docs), docs.stats.skipped, docs.stats.reasons
    (['low lower', 'lowest'], 1, {'no such field': 1})
    """
    return Documents(
        paths,
        format=format,
        field=field,
        column=column,
        separator=separator,
        max_bytes=max_bytes,
        sample=sample,
        seed=seed,
        errors=errors,
        on_error=on_error,
    )


class Documents:
    """What `byteloom.documents` gives: documents to iterate over, and figures of the last pass.

    Attributes:
        files: The paths of the files, in order; `"-"` is standard input.
        ignored: Files in folders that are left out because of their endings.
        stats: `ReadingStats` of the last pass, up to where it is.
    """

    def __init__(
        self,
        paths: Path | Iterable[Path],
        *,
        format: str | None = None,  # noqa: A002 - the field's word
        field: str = "text",
        column: str = "text",
        separator: str | None = None,
        max_bytes: int | None = None,
        sample: float | None = None,
        seed: int = 0,
        errors: str = "strict",
        on_error: str = "raise",
    ) -> None:
        _check_choice("errors", errors, ("strict", "replace", "keep"))
        _check_choice("on_error", on_error, ("raise", "skip"))
        _check_types(field=field, column=column, separator=separator, max_bytes=max_bytes, seed=seed)
        if max_bytes is not None and max_bytes < 1:
            message = f"max_bytes must be at least 1, not {max_bytes}"
            raise ValueError(message)
        if separator is not None and not separator:
            message = "separator must not be empty"
            raise ValueError(message)
        if sample is not None and not 0 < sample <= 1:
            message = f"sample must be above 0 and at most 1, not {sample!r}"
            raise ValueError(message)
        self._sources, self.ignored = find(paths, format)
        self._options = Options(
            field=field,
            column=column,
            separator=separator.encode() if separator else None,
            max_bytes=max_bytes,
            sample=sample,
            seed=seed,
            errors=errors,
            skip=on_error == "skip",
        )
        self.stats = ReadingStats(ignored=len(self.ignored))

    @property
    def files(self) -> list[str]:
        """The paths of the files, in order."""
        return [source.path for source in self._sources]

    def __iter__(self) -> Iterator[str | bytes]:
        run = self._begin()
        try:
            for source in self._sources:
                if run.left == 0:
                    break
                for document in read(run, source):
                    yield run.count(document)
                    if run.left == 0:
                        break
        except LimitReached:
            pass

    def pieces(self, errors: str) -> Iterator[str | bytes | os.PathLike[str] | Stream]:
        """The same documents as the native readers take them: whole files of text are not held in memory.

        Args:
            errors: What the reader does with text that is not UTF-8.
        """
        options = self._options
        run = self._begin()
        as_stream = options.separator is None and options.errors == errors
        try:
            for source in self._sources:
                if run.left == 0:
                    break
                repeatable = source.is_file or not options.skip
                if source.kind == "text" and as_stream and repeatable:
                    yield from self._whole(run, source)
                    continue
                for document in read(run, source):
                    yield run.count(document)
                    if run.left == 0:
                        break
        except LimitReached:
            pass

    def _whole(self, run: Run, source: Source) -> Iterator[os.PathLike[str] | Stream]:
        """A file of text as one document."""
        run.stats.files += 1
        if not run.draws() or (run.options.skip and not is_sound(run, source)):
            return
        if source.packing is None and run.left is None and source.is_file:
            size = os.path.getsize(source.path)  # noqa: PTH202
            if size:
                run.stats.documents += 1
                run.stats.bytes += size
                yield _File(source.path)
        else:
            yield from streamed(run, source)

    def size(self) -> int | None:
        """How many bytes there are to read, where that is known without reading them."""
        options = self._options
        sizes = [size_of(source) for source in self._sources]
        if options.sample is not None or None in sizes:
            return None
        total = sum(size for size in sizes if size is not None)
        return total if options.max_bytes is None else min(total, options.max_bytes)

    def _begin(self) -> Run:
        self.stats = ReadingStats(ignored=len(self.ignored))
        return Run(self._options, self.stats)

    def __repr__(self) -> str:
        return f"<byteloom.Documents of {len(self._sources)} files>"


class _File:
    """A path whose name may hold any bytes."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return self._path


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        *others, last = map(repr, choices)
        message = f"{name} must be {', '.join(others)} or {last}, not {value!r}"
        raise ValueError(message)


def _check_types(**options: Any) -> None:
    for name, value in options.items():
        wanted = int if name in ("max_bytes", "seed") else str
        if value is None and name in ("separator", "max_bytes"):
            continue
        if not isinstance(value, wanted) or isinstance(value, bool):
            message = f"{name} must be {wanted.__name__}, not {type(value).__name__}"
            raise TypeError(message)

"""What `Tokenizer.train` needs around the native trainer: documents in, progress out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import TrainingError

if TYPE_CHECKING:
    from ._counts import PretokenCounts

__all__ = ["document_iterator", "expected_bytes", "progress_callback", "split_counts"]

Document = str | bytes | os.PathLike[str]
Progress = Callable[[dict[str, Any]], object]

_NOT_PLAIN_TEXT = {
    ".gz": "is compressed",
    ".zst": "is compressed",
    ".xz": "is compressed",
    ".bz2": "is compressed",
    ".zip": "is compressed",
    ".jsonl": "holds JSON lines",
    ".parquet": "holds a table",
}


def split_counts(
    data: Document | Iterable[Document] | PretokenCounts,
) -> tuple[Document | Iterable[Document], _native.NativeCounts | None]:
    """Documents and native counts: `data` is one of the two."""
    native = getattr(data, "_native", None)
    if isinstance(native, _native.NativeCounts):
        return (), native
    documents: Document | Iterable[Document] = data  # type: ignore[assignment]
    return documents, None


def document_iterator(data: Document | Iterable[Document]) -> Iterator[Document]:
    """The documents of `data`, one at a time; a path stands for the document that the file holds."""
    if isinstance(data, (str, bytes, bytearray, memoryview)):
        yield bytes(data) if isinstance(data, (bytearray, memoryview)) else data
    elif isinstance(data, os.PathLike):
        yield _text_file(data)
    elif isinstance(data, Iterable):
        if hasattr(data, "keys"):
            message = f"data must be documents, not a mapping ({type(data).__name__}); pass its values"
            raise TypeError(message)
        for document in data:
            yield _text_file(document) if isinstance(document, os.PathLike) else document
    else:
        message = f"data must be text, a path or an iterable of documents, not {type(data).__name__}"
        raise TypeError(message)


def _text_file(path: os.PathLike[str]) -> os.PathLike[str]:
    """`path`, if it is a plain text file by its name; learning from packed bytes would be a silent fault."""
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122 - pathlib costs import time
    if suffix in _NOT_PLAIN_TEXT:
        message = (
            f"{name} {_NOT_PLAIN_TEXT[suffix]}; open it yourself and pass its texts, "
            "as in train((row['text'] for row in rows), …)"
        )
        raise TrainingError(message)
    if os.path.isdir(name):  # noqa: PTH112
        message = f"{name} is a folder; pass its files, as in train(sorted(Path(…).glob('*.txt')), …)"
        raise TrainingError(message)
    return path


def expected_bytes(data: Document | Iterable[Document]) -> int | None:
    """The size of `data` in bytes where it is known without reading it, for progress."""
    if isinstance(data, (bytes, bytearray)):
        return len(data)
    paths = [data] if isinstance(data, os.PathLike) else data
    if isinstance(paths, (list, tuple)) and all(isinstance(path, os.PathLike) for path in paths):
        # A missing file is reported when its turn comes.
        return sum(os.path.getsize(path) for path in paths if os.path.exists(path))  # noqa: PTH110, PTH202
    return None


@contextmanager
def progress_callback(progress: bool | Progress | None) -> Iterator[Progress | None]:
    """The callable that the trainer reports to, and a bar around it where `progress` is `True`."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        from tqdm import tqdm  # noqa: PLC0415

        bars: dict[str, tqdm[Any]] = {}

        def show(state: dict[str, Any]) -> None:
            stage = state["stage"]
            if stage == "sort":  # short, and of unknown length
                return
            if stage not in bars:
                for bar in bars.values():
                    bar.close()
                counting = stage == "count"
                bars[stage] = tqdm(
                    desc="counting" if counting else "merging",
                    total=state["total"],
                    unit="B" if counting else " merges",
                    unit_scale=counting,
                )
            bars[stage].update(state["done"] - bars[stage].n)

        try:
            yield show
        finally:
            for bar in bars.values():
                bar.close()
    elif callable(progress):
        yield progress
    else:
        message = f"progress must be True, None or a callable, not {type(progress).__name__}"
        raise TypeError(message)

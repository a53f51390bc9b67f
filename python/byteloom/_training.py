"""What `Tokenizer.train` needs around the native trainer: documents in, progress out."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import SpecialTokenError, TrainingError, TrainingWarning

if TYPE_CHECKING:
    from typing import TypeGuard

    from ._counts import PretokenCounts
    from ._inputs import Documents
    from ._native import NativeTokenizer

__all__ = [
    "TrainingDocuments",
    "check_shortage",
    "checked_names",
    "checked_seeds",
    "document_iterator",
    "expected_bytes",
    "progress_callback",
    "split_counts",
    "tell_shortage",
]

Document = str | bytes | os.PathLike[str]
Progress = Callable[[dict[str, Any]], object]


def split_counts(
    data: Document | Iterable[Document] | PretokenCounts,
) -> tuple[Document | Iterable[Document], _native.NativeCounts | None]:
    """Documents and native counts: `data` is one of the two."""
    native = getattr(data, "_native", None)
    if isinstance(native, _native.NativeCounts):
        return (), native
    documents: Document | Iterable[Document] = data  # type: ignore[assignment]
    return documents, None


def checked_names(special_tokens: Any) -> list[str]:
    """Special tokens as a list, of names that UTF-8 can hold."""
    if isinstance(special_tokens, str):
        message = f"special_tokens must be a sequence of names, such as [{special_tokens!r}], not a string"
        raise TypeError(message)
    names: list[Any] = list(special_tokens)
    for place, name in enumerate(names):
        if isinstance(name, str) and any("\ud800" <= character <= "\udfff" for character in name):
            message = f"special_tokens[{place}], {name!r}, holds a lone surrogate, which is no text"
            raise SpecialTokenError(message)
    return names


class TrainingDocuments:
    """The documents of `data`, once, as `document_iterator` gives them, and what its readers left out."""

    def __init__(self, data: Document | Iterable[Document], errors: str) -> None:
        self._readers: list[Documents] = []
        self._documents = document_iterator(data, errors, self._readers)

    def __iter__(self) -> Iterator[Any]:
        return self._documents

    def reading(self) -> str | None:
        """The sums of the figures of all readers as JSON; `None` if nothing was read through one.

        Where faults were is not in it: files that are handed on should not name those of the trainer's disk.
        """
        sums: dict[str, Any] = {}
        for reader in self._readers:
            for name, value in reader.stats.to_dict().items():
                if name == "reasons":
                    reasons = sums.setdefault(name, {})
                    for reason, number in value.items():
                        reasons[reason] = reasons.get(reason, 0) + number
                elif isinstance(value, bool):
                    sums[name] = sums.get(name, False) or value
                elif isinstance(value, int):
                    sums[name] = sums.get(name, 0) + value
        return json.dumps(sums) if sums else None


def checked_seeds(seed_tokens: Any) -> list[bytes]:
    """Seeds as bytes."""
    if isinstance(seed_tokens, (str, bytes)):
        message = f"seed_tokens must be a sequence of tokens, such as [{seed_tokens!r}], not a single one"
        raise TypeError(message)
    if not isinstance(seed_tokens, Iterable):
        message = f"seed_tokens must be a sequence of tokens, not {type(seed_tokens).__name__}"
        raise TypeError(message)
    seeds = []
    for place, seed in enumerate(seed_tokens):
        if not isinstance(seed, (str, bytes)):
            message = f"seed_tokens[{place}] must be str or bytes, not {type(seed).__name__}"
            raise TypeError(message)
        try:
            seeds.append(seed if isinstance(seed, bytes) else seed.encode())
        except UnicodeEncodeError:
            message = f"seed_tokens[{place}], {seed!r}, holds a lone surrogate, which is no text"
            raise TrainingError(message) from None
    return seeds


def check_shortage(*, strict: bool, allow_fewer: bool) -> None:
    """Refuse two wishes that exclude each other."""
    if strict and allow_fewer:
        message = "strict=True refuses fewer tokens and allow_fewer=True expects them; choose one"
        raise ValueError(message)


def tell_shortage(
    tok: NativeTokenizer, vocab_size: int, min_frequency: int, *, strict: bool, stacklevel: int = 3
) -> None:
    """Say that a text gave fewer tokens than asked for, if it did, so many calls further up."""
    if tok.vocab_size >= vocab_size:
        return
    few = "no pair is left that may be merged"
    if json.loads(tok._metadata())["training"]["stopped"] == "min_frequency":  # noqa: SLF001 - of the same class
        few = f"no pair occurs {min_frequency} times any more"
    message = (
        f"training ended with {tok.vocab_size} tokens of the {vocab_size} asked for: {few}; "
        "give it more text, or lower min_frequency or raise max_token_length if you set them"
    )
    if strict:
        raise TrainingError(message)
    warnings.warn(message, TrainingWarning, stacklevel=stacklevel)


def document_iterator(
    data: Document | Iterable[Document], errors: str = "strict", readers: list[Documents] | None = None
) -> Iterator[Any]:
    """The documents of `data`, one at a time, as the native readers take them.

    A path stands for the documents of its file: itself where that is one plain text, else what is in there.
    What reads files goes to `readers`.
    """
    readers = [] if readers is None else readers
    if isinstance(data, (str, bytes, bytearray, memoryview)):
        yield bytes(data) if isinstance(data, (bytearray, memoryview)) else data
    elif isinstance(data, os.PathLike):
        yield from _documents_of(data, errors, readers)
    elif isinstance(data, Iterable):
        if hasattr(data, "keys"):
            message = f"data must be documents, not a mapping ({type(data).__name__}); pass its values"
            raise TypeError(message)
        if _is_documents(data):
            readers.append(data)
            yield from data.pieces(errors)
            return
        for document in data:
            if isinstance(document, os.PathLike):
                yield from _documents_of(document, errors, readers)
            else:
                yield document
    else:
        message = f"data must be text, a path or an iterable of documents, not {type(data).__name__}"
        raise TypeError(message)


def _is_documents(data: object) -> TypeGuard[Documents]:
    inputs = sys.modules.get("byteloom._inputs")  # nobody has one who did not import it
    return inputs is not None and isinstance(data, inputs.Documents)


def _is_plain(path: os.PathLike[str]) -> bool:
    """Whether a path is a file of text by its name, which the native reader opens itself."""
    name = os.fsdecode(path)
    if not name.lower().endswith((".txt", ".text")):  # the others' readers take 10 to 40 ms to import
        from ._inputs.find import source_of  # noqa: PLC0415 - few programs train

        source = source_of(name)
        if source.kind != "text" or source.packing is not None:
            return False
    return os.path.isfile(name)  # noqa: PTH113


def _documents_of(path: os.PathLike[str], errors: str, readers: list[Documents]) -> Iterator[Any]:
    if _is_plain(path):
        yield path
    else:
        from ._inputs import Documents  # noqa: PLC0415 - as above

        readers.append(Documents(path, errors=errors))
        yield from readers[-1].pieces(errors)


def expected_bytes(data: Document | Iterable[Document]) -> int | None:
    """The size of `data` in bytes where it is known without reading it, for progress."""
    if isinstance(data, (bytes, bytearray)):
        return len(data)
    if _is_documents(data):
        return data.size()
    paths = [data] if isinstance(data, os.PathLike) else data
    if isinstance(paths, (list, tuple)) and all(isinstance(path, os.PathLike) for path in paths):
        # What is wrong with a file is said when its turn comes.
        with suppress(TrainingError):
            if all(_is_plain(path) for path in paths):
                return sum(os.path.getsize(path) for path in paths)  # noqa: PTH202
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

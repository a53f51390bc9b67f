"""Vocabularies made of others: fewer tokens, or more, and where each id goes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from . import _native
from ._record import Record
from ._training import (
    TrainingDocuments,
    check_shortage,
    document_iterator,
    expected_bytes,
    progress_callback,
    split_counts,
    tell_shortage,
)
from .errors import VocabularyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._changing import Changing
    from ._counts import PretokenCounts
    from ._tokenizer import Tokenizer

__all__ = ["ChangeReport", "VocabularyChange", "extend", "prune", "resized"]

Document = str | bytes | os.PathLike[str]
Data = Document | Iterable[Document]
Progress = bool | Callable[[dict[str, Any]], object] | None


@dataclass(frozen=True, slots=True)
class ChangeReport(Record):
    """What became of a vocabulary, in numbers of tokens."""

    vocab_size: int
    """How many there are now."""
    vocab_size_before: int
    """How many there were."""
    kept: int
    """Tokens that are still there."""
    dropped: int
    """Tokens that are gone."""
    builders: int
    """Of those kept, the ones that stay only because one that stays is made of them."""
    moved: int
    """Of those kept, the ones with another id than before."""
    moved_special: int
    """Of those moved, special and added tokens."""


T = TypeVar("T", bound="Changing")


class VocabularyChange(NamedTuple):
    """A tokenizer made of another, the new id of each old one, and a report.

    `new_ids` moves a table of embeddings: row `i` of the old one is row `new_ids[i]` of the new.

    >>> import byteloom as bl, numpy as np
    >>> tok = bl.Tokenizer.train("low low lower", vocab_size=258, special_tokens=["<|end|>"])
    >>> small, new_ids, report = tok.resized(257)
    >>> old_rows = np.random.default_rng(0).normal(size=(tok.vocab_size, 8))
    >>> kept = new_ids >= 0
    >>> new_rows = np.zeros((small.vocab_size, 8))
    >>> new_rows[new_ids[kept]] = old_rows[kept]
    >>> bool((new_rows[small.special_tokens["<|end|>"]] == old_rows[tok.special_tokens["<|end|>"]]).all())
    True
    """

    tokenizer: Tokenizer
    """The new tokenizer."""
    new_ids: npt.NDArray[np.int64]
    """By old id, up to the largest: the new id, or -1 where the token is gone or there was none."""
    report: ChangeReport
    """How many tokens were kept, dropped and moved."""


def resized(tok: Changing, vocab_size: int) -> VocabularyChange:
    """See `Tokenizer.resized`."""
    return _change(tok, tok._resized(vocab_size))  # noqa: SLF001 - the native half of the same class


def prune(
    tok: Changing,
    *,
    keep: Iterable[int | str | bytes] | None,
    data: Data | PretokenCounts | None,
    vocab_size: int | None,
    errors: str,
    threads: int | None,
    progress: Progress,
) -> VocabularyChange:
    """See `Tokenizer.prune`."""
    import numpy as np  # noqa: PLC0415 - as everywhere

    if (keep is None) == (data is None):
        message = "prune needs either keep, the tokens that stay, or data, the text whose tokens stay"
        raise ValueError(message)
    if keep is not None:
        if vocab_size is not None:
            message = "vocab_size goes with data, which says what is used least; keep names what stays"
            raise ValueError(message)
        uses = np.zeros(tok.max_token_id + 1, dtype=np.uint64)
        uses[_ids_to_keep(tok, keep)] = 1
    else:
        documents, counts = split_counts(data)  # type: ignore[arg-type]  # it is not None here
        with progress_callback(progress) as callback:
            uses = tok._uses(  # noqa: SLF001 - as above
                document_iterator(documents, errors),
                counts=counts,
                errors=errors,
                threads=threads,
                expected_bytes=expected_bytes(documents),
                progress=callback,
            )
    return _change(tok, tok._pruned(uses, vocab_size))  # noqa: SLF001 - as above


def extend(
    tok: T,
    data: Data | PretokenCounts,
    vocab_size: int,
    *,
    min_frequency: int,
    errors: str,
    progress: Progress,
    allow_fewer: bool,
    strict: bool,
    **options: Any,
) -> T:
    """See `Tokenizer.extend`."""
    check_shortage(strict=strict, allow_fewer=allow_fewer)
    documents, counts = split_counts(data)
    read = TrainingDocuments(documents, errors)
    with progress_callback(progress) as callback:
        native = _native.extend(
            tok,
            iter(read),
            counts=counts,
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            errors=errors,
            expected_bytes=expected_bytes(documents),
            reading=read.reading,
            progress=callback,
            **options,
        )
    longer = type(tok)(native)
    if not allow_fewer:
        tell_shortage(longer, vocab_size, min_frequency, strict=strict, stacklevel=4)
    return longer


def _change(
    tok: Changing, changed: tuple[_native.NativeTokenizer, npt.NDArray[np.int64], int]
) -> VocabularyChange:
    import numpy as np  # noqa: PLC0415 - as everywhere

    native, new_ids, builders = changed
    moved = (new_ids >= 0) & (new_ids != np.arange(len(new_ids)))
    special = [*tok.special_tokens.values(), *tok.added_tokens.values()]
    report = ChangeReport(
        vocab_size=native.vocab_size,
        vocab_size_before=tok.vocab_size,
        kept=native.vocab_size,
        dropped=tok.vocab_size - native.vocab_size,
        builders=builders,
        moved=int(moved.sum()),
        moved_special=int(moved[special].sum()) if special else 0,
    )
    tokenizer: Tokenizer = type(tok)(native)  # type: ignore[assignment]  # the only class that has these methods
    return VocabularyChange(tokenizer, new_ids, report)


def _ids_to_keep(tok: Changing, keep: Iterable[int | str | bytes]) -> list[int]:
    if isinstance(keep, (str, bytes)):
        message = f"keep must be an iterable of ids or tokens, such as [{keep!r}], not a single token"
        raise TypeError(message)
    if not isinstance(keep, Iterable):
        message = f"keep must be an iterable of ids or tokens, not {type(keep).__name__}"
        raise TypeError(message)
    ids = []
    for place, token in enumerate(keep):
        found: int | None
        if isinstance(token, (str, bytes)):
            try:
                found = tok.token_to_id(token)
            except ValueError:  # a lone surrogate
                found = None
        else:
            found = _known_id(tok, token, place)
        if found is None:
            message = f"keep[{place}], {token!r}, is no token of this tokenizer"
            raise VocabularyError(message)
        ids.append(found)
    return ids


def _known_id(tok: Changing, token: object, place: int) -> int | None:
    if isinstance(token, bool) or not hasattr(token, "__index__"):
        message = f"keep[{place}] must be an id, str or bytes, not {type(token).__name__}"
        raise TypeError(message)
    number = int(token.__index__())
    if not 0 <= number <= tok.max_token_id:
        return None
    try:
        tok.id_to_bytes(number)
    except KeyError:
        return None
    return number

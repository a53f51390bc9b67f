"""`PatchReport`: what the patches of a text are like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._starts import token_starts, word_starts
from ._texts import Document, Integers, documents

if TYPE_CHECKING:
    from byteloom._tokenizer import Tokenizer

    from ._patcher import Patcher

__all__ = ["Agreement", "PatchReport", "report"]

_PERCENTILES = (50, 90, 95, 99, 100)


@dataclass(frozen=True)
class Agreement:
    """How patch starts agree with other starts. The first byte of a document counts for neither side.

    >>> Agreement(starts=4, others=2, both=1).precision, Agreement(starts=4, others=2, both=1).recall
    (0.25, 0.5)
    """

    starts: int
    """Patch starts."""
    others: int
    """The other starts: of words, or of tokens."""
    both: int
    """Places that are both."""

    @property
    def precision(self) -> float | None:
        """Share of patch starts that are other starts too; `None` without patch starts."""
        return self.both / self.starts if self.starts else None

    @property
    def recall(self) -> float | None:
        """Share of the other starts that are patch starts too; `None` without other starts."""
        return self.both / self.others if self.others else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both shares; `None` without any start."""
        total = self.starts + self.others
        return 2 * self.both / total if total else None

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {**asdict(self), "precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True)
class PatchReport:
    """What `Patcher.report` found. Sizes are in bytes.

    >>> from byteloom.patching import Patcher
    >>> found = Patcher.static(4).report(["twelve bytes", "two"])
    >>> found.patches, found.mean, found.histogram
    (4, 3.75, {3: 1, 4: 3})
    """

    documents: int
    """Documents, empty ones too."""
    bytes: int
    """Bytes of all documents."""
    patches: int
    """Patches of all documents."""
    histogram: dict[int, int]
    """How many patches have each size, by size."""
    percentiles: dict[int, int]
    """The size that 50, 90, 95, 99 and 100 percent of patches do not exceed; empty without patches."""
    word_starts: Agreement
    """Agreement with the starts of words: of runs of letters, digits and characters beyond ASCII."""
    token_starts: Agreement | None
    """Agreement with the starts of tokens, where a tokenizer was given."""

    @property
    def mean(self) -> float:
        """The mean patch size; 0.0 without patches."""
        return self.bytes / self.patches if self.patches else 0.0

    @property
    def relative_compute(self) -> float:
        """How often a model of patches runs, compared with one of bytes: patches / bytes."""
        return self.patches / self.bytes if self.bytes else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data that JSON can hold."""
        return {
            "documents": self.documents,
            "bytes": self.bytes,
            "patches": self.patches,
            "mean": self.mean,
            "relative_compute": self.relative_compute,
            "percentiles": {str(percent): size for percent, size in self.percentiles.items()},
            "histogram": {str(size): count for size, count in self.histogram.items()},
            "word_starts": self.word_starts.to_dict(),
            "token_starts": None if self.token_starts is None else self.token_starts.to_dict(),
        }


class _Tally:
    def __init__(self) -> None:
        self.starts = self.others = self.both = 0

    def add(self, starts: npt.NDArray[np.bool_], others: npt.NDArray[np.bool_]) -> None:
        self.starts += int(np.count_nonzero(starts[1:]))
        self.others += int(np.count_nonzero(others[1:]))
        self.both += int(np.count_nonzero(starts[1:] & others[1:]))

    def agreement(self) -> Agreement:
        return Agreement(self.starts, self.others, self.both)


def report(patcher: Patcher, data: Document | Iterable[Document], tokenizer: Tokenizer | None) -> PatchReport:
    """What `Patcher.report` says."""
    words, tokens = _Tally(), _Tally()
    histogram: Counter[int] = Counter()
    count = size = 0
    for text in documents(data):
        count += 1
        size += len(text)
        boundaries = patcher.boundaries(text).astype(np.int64)
        lengths, numbers = np.unique(np.diff(boundaries, append=len(text)), return_counts=True)
        histogram.update(dict(zip(lengths.tolist(), numbers.tolist(), strict=True)))
        starts = _mask(boundaries, len(text))
        words.add(starts, word_starts(text))
        if tokenizer is not None:
            tokens.add(starts, _mask(token_starts(tokenizer, text), len(text)))
    return PatchReport(
        documents=count,
        bytes=size,
        patches=histogram.total(),
        histogram=dict(sorted(histogram.items())),
        percentiles=_percentiles(histogram),
        word_starts=words.agreement(),
        token_starts=tokens.agreement() if tokenizer is not None else None,
    )


def _mask(places: Integers, size: int) -> npt.NDArray[np.bool_]:
    mask = np.zeros(size, np.bool_)
    mask[places] = True
    return mask


def _percentiles(histogram: Counter[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    total, seen = histogram.total(), 0
    for size, count in sorted(histogram.items()):
        seen += count
        # In whole numbers: a share that is met exactly must not be missed by rounding.
        found |= {p: size for p in _PERCENTILES if p not in found and seen * 100 >= total * p}
    return found

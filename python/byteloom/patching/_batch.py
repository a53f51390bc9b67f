"""`PatchBatch`: the patches of many documents in one flat array."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ._texts import Lengths

__all__ = ["PatchBatch"]


class PatchBatch:
    """Patch lengths of many documents, flat, with the place where each document begins.

    `lengths` is a one-dimensional array of all patch lengths in order, in the smallest unsigned dtype that
    holds them; `offsets` an int64 array one longer than the number of documents: document `i` has
    the patches `lengths[offsets[i]:offsets[i + 1]]`. Indexing gives them as views, without a copy.

    >>> from byteloom.patching import Patcher
    >>> batch = Patcher.space().batch(["the cat", "", "a"])
    >>> len(batch), batch.lengths.tolist(), batch.offsets.tolist()
    (3, [4, 3, 1], [0, 2, 2, 3])
    >>> batch[0].tolist(), batch.boundaries(0).tolist()
    ([4, 3], [0, 4])
    """

    __slots__ = ("lengths", "offsets")

    lengths: Lengths
    offsets: npt.NDArray[np.int64]

    def __init__(self, lengths: Lengths, offsets: npt.NDArray[np.int64]) -> None:
        self.lengths = lengths
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, document: int) -> Lengths:
        count = len(self)
        document = operator.index(document)
        at = document + count if document < 0 else document
        if not 0 <= at < count:
            raise IndexError(f"document {document} is out of range: the batch has {count} documents")
        return self.lengths[self.offsets[at] : self.offsets[at + 1]]

    def __iter__(self) -> Iterator[Lengths]:
        return (self[document] for document in range(len(self)))

    def boundaries(self, document: int) -> npt.NDArray[np.int64]:
        """Where the patches of a document start, counted in its own bytes: int64."""
        lengths = self[document].astype(np.int64)
        starts: npt.NDArray[np.int64] = np.cumsum(lengths) - lengths
        return starts

    def tolist(self) -> list[list[int]]:
        """The lengths as plain lists, one a document."""
        return [row.tolist() for row in self]

    def __repr__(self) -> str:
        return (
            f"<byteloom.patching.PatchBatch documents={len(self)} patches={len(self.lengths)} "
            f"dtype={self.lengths.dtype}>"
        )

    def __reduce__(self) -> tuple[type[PatchBatch], tuple[Any, ...]]:
        return type(self), (self.lengths, self.offsets)

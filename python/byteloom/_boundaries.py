"""Where several tokenizers cut the same text in different places."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ._comparison import Boundaries, BoundaryDifference
from ._record import Span

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["BoundaryCounter"]


class BoundaryCounter:
    """Counts, and keeps the first of, the stretches that are cut differently, piece of text by piece."""

    def __init__(self, text: str, keep: int) -> None:
        self.differences: list[BoundaryDifference] = []
        self._text = text
        self._keep = keep
        self._bytes = self._characters = 0  # of the pieces before
        self._common = self._some = self._spans = self._span_bytes = 0

    def add(self, piece: str, cuts: list[npt.NDArray[np.int64]]) -> None:
        """A piece and, for each tokenizer, where tokens end within it, its own end left out."""
        import numpy as np  # noqa: PLC0415

        data = piece.encode()
        every, times = np.unique(np.concatenate(cuts), return_counts=True)
        common = np.concatenate(([0], every[times == len(cuts)], [len(data)]))
        lone = every[times < len(cuts)]
        joint = self._bytes > 0  # where two pieces meet, all tokenizers end a token
        self._common += len(common) - 2 + joint
        self._some += len(every) + joint
        # Each lone cut lies between two common ones: that stretch is cut differently.
        stretches = np.unique(np.searchsorted(common, lone))
        self._spans += len(stretches)
        self._span_bytes += int((common[stretches] - common[stretches - 1]).sum())
        kept = stretches[: max(0, self._keep - len(self.differences))]
        # First bytes of characters before each place.
        leads = np.concatenate(([0], np.cumsum(np.frombuffer(data, np.uint8) & 0xC0 != 0x80)))  # noqa: PLR2004
        for stretch in kept.tolist():
            begin, end = int(common[stretch - 1]), int(common[stretch])
            self.differences.append(self._difference(data, begin, end, cuts, leads))
        self._bytes += len(data)
        self._characters += len(piece)

    def _difference(
        self,
        data: bytes,
        begin: int,
        end: int,
        cuts: list[npt.NDArray[np.int64]],
        leads: npt.NDArray[np.int64],
    ) -> BoundaryDifference:
        # Whole characters before the begin; half a character at the end counts as one.
        first = int(leads[begin]) - (data[begin] & 0xC0 == 0x80)  # noqa: PLR2004
        last = int(leads[end])
        pieces = []
        for row in cuts:
            inner = row[row.searchsorted(begin, "right") : row.searchsorted(end)].tolist()
            pieces.append(tuple(data[a:b] for a, b in pairwise([begin, *inner, end])))
        return BoundaryDifference(
            source=self._text,
            byte_span=Span(self._bytes + begin, self._bytes + end),
            char_span=Span(self._characters + first, self._characters + last),
            pieces=tuple(pieces),
        )

    def result(self, text: str) -> Boundaries:
        """The counts."""
        return Boundaries(
            source=text,
            common_cuts=self._common,
            all_cuts=self._some,
            differing_spans=self._spans,
            differing_bytes=self._span_bytes,
        )

"""The threshold for a wanted mean patch size, found exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from byteloom.errors import PatchingError

from ._patcher import Units, from_bits, to_bits
from ._texts import Document, documents, number, reset_bytes, whole_number

if TYPE_CHECKING:
    from ._model import ByteEntropyModel

__all__ = ["find_threshold"]

Floats = npt.NDArray[np.float64]


class _Sample:
    """The bytes of a sample as one sequence: those that start a patch anyway, and the scores of the others.

    A byte starts a patch where its score is above the threshold. One that cannot start any has -inf.
    """

    def __init__(
        self, scores: list[Floats], forced: list[npt.NDArray[np.bool_]], longest: int | None
    ) -> None:
        self.forced = np.concatenate(forced) if forced else np.empty(0, np.bool_)
        self.scores = np.concatenate(scores) if scores else np.empty(0)
        self.longest = longest
        self.values = np.unique(self.scores[~self.forced])
        self.values = self.values[self.values > -math.inf]

    def mean(self, above: float) -> float:
        """The mean patch size where scores above `above` start patches."""
        starts = self.forced | (self.scores > above)
        if self.longest is None:
            return len(starts) / int(np.count_nonzero(starts))
        lengths = np.diff(np.flatnonzero(starts), append=len(starts))
        return len(starts) / int((-(-lengths // self.longest)).sum())

    def value(self, step: int) -> float:
        """The score that step `step` leaves just below the threshold; -1 leaves none."""
        return -math.inf if step < 0 else float(self.values[step])

    def nearest(self, target: float) -> int:
        """The step whose mean is nearest to `target`."""
        # Means never shrink from step to step: a start less joins two patches, or keeps their number where
        # the limit cuts them again.
        low, high = -1, len(self.values) - 1
        while low < high:
            middle = (low + high) // 2
            if self.mean(self.value(middle)) < target:
                low = middle + 1
            else:
                high = middle
        steps = [low - 1, low] if low > -1 else [low]
        return min(steps, key=lambda step: abs(self.mean(self.value(step)) - target))

    def threshold(self, step: int, units: Units) -> float:
        """A threshold of that step, in the middle of those there are where the unit allows it."""
        if not len(self.values):
            return from_bits(0.0, units)
        below = self.value(step) if step >= 0 else min(0.0, float(self.values[0]) - 1)
        above = float(self.values[step + 1]) if step + 1 < len(self.values) else below + 1
        found = from_bits(below + (above - below) / 2, units)
        # Two values may be so close that rounding leaves the step.
        while to_bits(found, units) < below:
            found = math.nextafter(found, math.inf)
        while to_bits(found, units) >= above:
            found = math.nextafter(found, -math.inf)
        return found


def find_threshold(
    model: ByteEntropyModel,
    sample: Document | Iterable[Document],
    target: float,
    *,
    rule: Literal["global", "monotonic", "both"],
    units: Units,
    theta: float | None,
    rise: float | None,
    max_patch_length: int | None,
    reset_on: bytes | None,
) -> float:
    """What `ByteEntropyModel.threshold_for` says."""
    target = number(target, "target_patch_size")
    if not 1 <= target < math.inf:
        raise PatchingError(f"target_patch_size must be a number of bytes of 1 or more, not {target!r}")
    given = {name for name, value in (("theta", theta), ("rise", rise)) if value is not None}
    if rule not in ("global", "monotonic", "both"):
        raise PatchingError(f'rule must be "global", "monotonic" or "both", not {rule!r}')
    if rule == "both" and len(given) != 1:
        raise PatchingError('rule="both" needs one threshold, theta or rise, to find the other')
    if rule != "both" and given:
        names = " and ".join(sorted(given))
        raise PatchingError(f'rule="{rule}" finds the only threshold of its rule; leave out {names}')
    theta = None if theta is None else number(theta, "theta")
    rise = None if rise is None else number(rise, "rise")
    longest = None if max_patch_length is None else whole_number(max_patch_length, "max_patch_length")
    limit = to_bits(theta if theta is not None else rise or 0.0, units)
    ends = np.zeros(256, np.bool_)
    ends[list(reset_bytes(reset_on) or b"")] = True
    scores, forced = [], []
    for data in documents(sample):
        if not data:
            continue
        entropies = model.entropies(data, reset_on=reset_on)
        rises = np.diff(entropies, prepend=entropies[0])
        if rule == "global":
            scores.append(entropies)
        elif rule == "monotonic":
            scores.append(rises)
        elif theta is not None:
            scores.append(np.where(entropies > limit, rises, -math.inf))
        else:
            scores.append(np.where(rises > limit, entropies, -math.inf))
        starts = np.roll(ends[np.frombuffer(data, np.uint8)], 1)
        starts[0] = True
        forced.append(starts)
    if not scores:
        raise PatchingError("the sample holds no bytes; give some text like that to be patched")
    found = _Sample(scores, forced, longest)
    return found.threshold(found.nearest(target), units)

"""The plain functions of the course, on arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

from byteloom.errors import PatchingError

from ._texts import Boundaries, number, to_boundaries

__all__ = [
    "average_patch_size",
    "byte_entropy",
    "patch_boundaries_global",
    "patch_boundaries_monotonic",
    "patches_from_boundaries",
    "relative_global_compute",
]

T_co = TypeVar("T_co", covariant=True)

Floats = npt.ArrayLike
# What a sum of probabilities may lack, so that those of a 32-bit softmax pass.
_SLACK = 1e-3


class _Sliceable(Protocol[T_co]):
    def __len__(self) -> int: ...
    def __getitem__(self, place: slice, /) -> T_co: ...


def byte_entropy(probabilities: Floats) -> float:
    """The Shannon entropy of a distribution, in bits: how open it leaves the next byte.

    Args:
        probabilities: One for each outcome, shape `(n,)`. Those of 0 add nothing.

    Returns:
        Between 0.0, one outcome is certain, and `log2(n)`, all are equally likely: 8.0 for 256 bytes.

    Raises:
        PatchingError: a value that is negative or no number, or values that do not add up to 1.

    >>> byte_entropy([1 / 256] * 256), byte_entropy([0.5, 0.5]), byte_entropy([1.0, 0.0, 0.0])
    (8.0, 1.0, 0.0)
    """
    values = _numbers(probabilities, "probabilities")
    if (values < 0).any():
        at = int(np.argmax(values < 0))
        raise PatchingError(f"probability {at} is {values[at]}; probabilities are 0 or more")
    total = float(values.sum())
    if abs(total - 1) > _SLACK:
        raise PatchingError(f"the probabilities add up to {total:.6g}, not to 1; divide them by their sum")
    likely = values[values > 0]
    # Taken from 0.0: the negative of a sum would be -0.0 for a certain byte.
    return 0.0 - float((likely * np.log2(likely)).sum())


def patch_boundaries_global(entropies: Floats, theta: float) -> Boundaries:
    """Where patches start by the global rule: at the first byte, and where the entropy is above `theta`.

    Args:
        entropies: One for each byte, shape `(n,)`, as `ByteEntropyModel.entropies` gives them.
        theta: The threshold in the unit of `entropies`. An entropy equal to it starts no patch.

    Returns:
        Indices of the first bytes of patches, ascending; uint32, or int64 beyond 4 GiB.

    Raises:
        PatchingError: an entropy or a threshold that is no number.

    >>> patch_boundaries_global([3.9, 0.5, 2.5, 2.0], theta=2.0).tolist()
    [0, 2]
    """
    values = _numbers(entropies, "entropies")
    return _starts(values > number(theta, "theta"))


def patch_boundaries_monotonic(entropies: Floats, rise: float) -> Boundaries:
    """Where patches start by the approximate-monotonic rule: where the entropy jumps.

    Within a patch the entropy tends to fall; a patch starts at the first byte, and where the entropy is more
    than `rise` above that of the byte before.

    Args:
        entropies: One for each byte, shape `(n,)`.
        rise: The threshold in the unit of `entropies`. A jump equal to it starts no patch.

    Returns:
        Indices of the first bytes of patches, ascending; uint32, or int64 beyond 4 GiB.

    Raises:
        PatchingError: an entropy or a threshold that is no number.

    >>> patch_boundaries_monotonic([1.0, 1.5, 3.0, 2.0, 4.5], rise=1.0).tolist()
    [0, 2, 4]
    """
    values = _numbers(entropies, "entropies")
    limit = number(rise, "rise")
    starts = np.ones(len(values), dtype=np.bool_)
    with np.errstate(invalid="ignore"):  # an infinite value after another is no rise
        starts[1:] = np.diff(values) > limit
    return _starts(starts)


@overload
def patches_from_boundaries(sequence: bytes, boundaries: npt.ArrayLike) -> list[bytes]: ...
@overload
def patches_from_boundaries(sequence: list[Any], boundaries: npt.ArrayLike) -> list[list[Any]]: ...
@overload
def patches_from_boundaries(sequence: _Sliceable[T_co], boundaries: npt.ArrayLike) -> list[T_co]: ...
def patches_from_boundaries(sequence: Any, boundaries: npt.ArrayLike) -> list[Any]:
    """The patches themselves: slices of `sequence` from each boundary to the next.

    Args:
        sequence: Bytes, a list, an array: anything that can be sliced. Boundaries count its items.
        boundaries: Indices of the first items of patches, ascending, the first of them 0.

    Raises:
        PatchingError: boundaries that would lose items or give empty patches.

    >>> patches_from_boundaries(b"the cat", [0, 4])
    [b'the ', b'cat']
    """
    starts = np.asarray(boundaries)
    if starts.size == 0:
        starts = np.empty(0, np.int64)
    if starts.ndim != 1 or starts.dtype.kind not in "iu":
        raise PatchingError("boundaries must be integers in one dimension")
    places: list[int] = starts.tolist()
    size = len(sequence)
    if bool(places) != bool(size) or (places and places[0] != 0):
        first = f"the first is {places[0]}" if places else "there are none"
        raise PatchingError(
            f"{first} for a sequence of {size}; boundaries begin with 0, or items would be lost"
        )
    for place, (a, b) in enumerate(itertools.pairwise(places)):
        if not a < b:
            raise PatchingError(f"boundary {place + 1} is {b} after {a}; boundaries must ascend")
    if places and places[-1] >= size:
        raise PatchingError(f"boundary {places[-1]} lies outside a sequence of {size}")
    return [sequence[a:b] for a, b in zip(places, [*places[1:], size][: len(places)], strict=True)]


def average_patch_size(boundaries: Sequence[int] | npt.NDArray[np.integer[Any]], n_bytes: int) -> float:
    """Bytes for each patch, on average; 0.0 where there is no patch.

    >>> average_patch_size([0, 4], 7)
    3.5
    """
    if n_bytes < 0:
        raise PatchingError(f"n_bytes must be 0 or more, not {n_bytes}")
    return n_bytes / len(boundaries) if len(boundaries) else 0.0


def relative_global_compute(avg_patch_size: float) -> float:
    """How often the large model runs, compared with once for each byte: `1 / avg_patch_size`.

    0.0 for an average of 0.0, where there was nothing to run on.

    Raises:
        PatchingError: an average that is negative or no number.

    >>> relative_global_compute(4.0)
    0.25
    """
    average = number(avg_patch_size, "avg_patch_size")
    if average < 0:
        raise PatchingError(f"an average patch size is 0 or more, not {average}")
    return 1.0 / average if average else 0.0


def _numbers(values: Floats, name: str) -> npt.NDArray[np.float64]:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers in one dimension") from None
    if numbers.ndim != 1:
        raise PatchingError(f"{name} must have one dimension, not {numbers.ndim}")
    if np.isnan(numbers).any():
        raise PatchingError(f"{name}: value {int(np.argmax(np.isnan(numbers)))} is NaN")
    return numbers


def _starts(mask: npt.NDArray[np.bool_]) -> Boundaries:
    if len(mask):
        mask[0] = True
    return to_boundaries(np.flatnonzero(mask).astype(np.int64), len(mask))

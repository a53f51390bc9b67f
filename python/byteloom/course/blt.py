"""Byte-latent patching with the names of the third course, on `byteloom.patching`.

As in the course, all of it is in bits and all results are plain lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, overload

from byteloom import patching
from byteloom.patching import average_patch_size, byte_entropy, relative_global_compute

__all__ = [
    "ByteEntropyModel",
    "average_patch_size",
    "byte_entropy",
    "patch_boundaries_global",
    "patch_boundaries_monotonic",
    "patches_from_boundaries",
    "relative_global_compute",
]

Text = str | bytes | bytearray | memoryview
T_co = TypeVar("T_co", covariant=True)


class _Sliceable(Protocol[T_co]):
    def __len__(self) -> int: ...
    def __getitem__(self, place: slice, /) -> T_co: ...


class ByteEntropyModel:
    """The small byte model of the course: it counts, and backs off to shorter contexts.

    Args:
        order: The bytes of an n-gram: a model of order 4 looks at 3 bytes before the one it foretells.
        alpha: What is added to each count.

    >>> model = ByteEntropyModel(order=4).train("the model predicts the next token. " * 20)
    >>> [round(bits, 2) for bits in model.entropies("the")]
    [3.73, 2.24, 0.81]
    """

    def __init__(self, order: int = 4, alpha: float = 0.01) -> None:
        self.model = patching.ByteEntropyModel(order=order, alpha=alpha)
        """The model of `byteloom.patching` that does the work."""

    @property
    def order(self) -> int:
        """The bytes of an n-gram."""
        return self.model.order

    @property
    def alpha(self) -> float:
        """What is added to each count."""
        return self.model.alpha

    def train(self, text: Text) -> ByteEntropyModel:
        """Count the bytes of a text, and forget what was counted before. Returns the model itself."""
        self.model.train(bytes(text) if isinstance(text, (bytearray, memoryview)) else text)
        return self

    def entropies(self, text: Text) -> list[float]:
        """How open each byte is before it is read, in bits: one value for each byte."""
        bits: list[float] = self.model.entropies(text).tolist()
        return bits

    def distribution(self, history: Text) -> list[float]:
        """The probabilities of the 256 next bytes after `history`."""
        probabilities: list[float] = self.model.distribution(history).tolist()
        return probabilities

    def bits_per_byte(self, text: Text) -> float:
        """How well the model foretells a text: the mean of `-log2(p)` of its bytes."""
        return self.model.bits_per_byte(text)

    def __repr__(self) -> str:
        return f"ByteEntropyModel(order={self.order}, alpha={self.alpha})"


def patch_boundaries_global(entropies: Sequence[float], theta: float) -> list[int]:
    """Where patches start: at the first byte, and where the entropy is above `theta`.

    >>> patch_boundaries_global([3.9, 0.5, 2.5, 2.0], 2.0)
    [0, 2]
    """
    places: list[int] = patching.patch_boundaries_global(entropies, theta).tolist()
    return places


def patch_boundaries_monotonic(entropies: Sequence[float], theta_r: float) -> list[int]:
    """Where patches start: at the first byte, and where the entropy rises by more than `theta_r`.

    >>> patch_boundaries_monotonic([1.0, 1.5, 3.0], 1.0)
    [0, 2]
    """
    places: list[int] = patching.patch_boundaries_monotonic(entropies, theta_r).tolist()
    return places


@overload
def patches_from_boundaries(seq: bytes, boundaries: Sequence[int]) -> list[bytes]: ...
@overload
def patches_from_boundaries(seq: list[Any], boundaries: Sequence[int]) -> list[list[Any]]: ...
@overload
def patches_from_boundaries(seq: _Sliceable[T_co], boundaries: Sequence[int]) -> list[T_co]: ...
def patches_from_boundaries(seq: Any, boundaries: Sequence[int]) -> list[Any]:
    """The patches: slices of `seq` from each boundary to the next.

    >>> patches_from_boundaries(list(b"abc"), [0, 2])
    [[97, 98], [99]]
    """
    return patching.patches_from_boundaries(seq, boundaries)

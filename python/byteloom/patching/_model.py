"""`ByteEntropyModel`: how open the bytes before leave the next one, by counting."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from byteloom import _formats, _native
from byteloom._training import Progress, document_iterator, expected_bytes, progress_callback

from ._patcher import Patcher, Units
from ._texts import number, reset_bytes, utf8
from ._threshold import find_threshold

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._texts import Document, Text

__all__ = ["ByteEntropyModel", "Contexts"]

Smoothing = Literal["backoff", "witten-bell"]
Errors = Literal["strict", "replace", "keep"]

# Held while one reference takes the place of another, and by no other thread when a process forks: in the
# child it would stay locked for ever.
_EXCHANGE = Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_EXCHANGE.acquire, after_in_parent=_EXCHANGE.release, after_in_child=_EXCHANGE.release
    )


class Contexts(NamedTuple):
    """What bytes were foretold from: see `ByteEntropyModel.contexts`."""

    lengths: npt.NDArray[np.uint8]
    """The length of each context in bytes, shape `(bytes,)`."""
    seen: npt.NDArray[np.uint64]
    """How often training saw each context, shape `(bytes,)`."""


class ByteEntropyModel:
    """A byte n-gram model: counts of which bytes follow which, and what they foretell.

    `order` counts the byte foretold: a model of order 4 looks at 3 bytes before it. Documents are counted
    apart, without a mark at their start.

    With `smoothing="backoff"` a byte is foretold by the longest context of the bytes before it that was seen
    in training, by that one alone, with `alpha` added to the count of each of the 256 bytes. A context never
    seen in any length leaves the byte open: 8 bits. The first byte of a text has the plain counts of bytes.

    `smoothing="witten-bell"` mixes all contexts, from uniform up to the longest; the fuller and the less
    varied one is, the more it weighs (Witten and Bell 1991). It takes fewer bits from order 3 on, the more so
    the longer contexts are, and does not use `alpha`.

    Args:
        order: 1 to 8. 4 is fast and good; longer contexts are for `"witten-bell"`.
        alpha: What is added to each count, above 0.
        smoothing: `"backoff"` or `"witten-bell"`.
        memory_limit: Most bytes of memory for training and for the model with all it compiles, 4 MiB or more;
            `None` is 1 GiB. Beyond it the rarest contexts are given up, and `info()["dropped_contexts"]`
            counts them. Not in it are 8 MiB of tables, the text, and results. Each thread beyond the first
            may take an eighth of it more in training; `update` and `merge` hold two models, so twice as much.
            Training on random bytes at order 4 was measured to reach 1.7 times a limit of 64 MiB.

    Raises:
        PatchingError: an option outside its range.

    >>> import byteloom as bl
    >>> model = bl.ByteEntropyModel(order=4).train("the model predicts the next token. " * 20)
    >>> model.entropies("the").round(2).tolist()
    [3.73, 2.24, 0.81]
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        order: int = 4,
        alpha: float = 0.01,
        smoothing: Smoothing = "backoff",
        memory_limit: int | None = None,
    ) -> None:
        if not isinstance(smoothing, str):
            raise TypeError(f"smoothing must be a string, not {type(smoothing).__name__}")
        self._native = _native.NativeEntropyModel(
            order=order, alpha=number(alpha, "alpha"), smoothing=smoothing, memory_limit=memory_limit
        )

    @classmethod
    def _of(cls, native: _native.NativeEntropyModel) -> ByteEntropyModel:
        model = cls.__new__(cls)
        model._native = native  # noqa: SLF001 - its own
        return model

    # Training.

    def train(
        self,
        data: Document | Iterable[Document],
        *,
        errors: Errors = "keep",
        threads: int | None = None,
        progress: bool | Progress | None = None,
    ) -> ByteEntropyModel:
        """Count the bytes of a text. What was learned before is forgotten; `update` adds to it.

        Args:
            data: `str` and `bytes` are text; an `os.PathLike` is a file, read in pieces; an iterable is any
                mix of these, one document each, never held in memory at once.
            errors: What to do with files that are not valid UTF-8: `"keep"` counts their bytes as they are,
                `"strict"` raises, `"replace"` counts U+FFFD in their place. `bytes` are always taken as they
                are.
            threads: Threads that count; all processors by default. Results do not depend on it.
            progress: `True` shows a bar on stderr; a callable receives a dict with `stage`, `done`, `total`
                and `seconds` several times a second.

        Returns:
            The model itself.

        Raises:
            TextError: invalid text, with the file and the byte offset, or the index of the document.
                The model stays as it was.
            TypeError: a document of another type, with its index.

        >>> from byteloom.patching import ByteEntropyModel
        >>> ByteEntropyModel(order=2).train(["abab", "aab"]).info()["documents"]
        2
        """
        fresh = _like(self._native)
        _count(fresh, data, errors, threads, progress)
        with _EXCHANGE:
            self._native = fresh
        return self

    def update(
        self,
        data: Document | Iterable[Document],
        *,
        errors: Errors = "keep",
        threads: int | None = None,
        progress: bool | Progress | None = None,
    ) -> ByteEntropyModel:
        """Count more documents, beside those counted before. Takes what `train` takes.

        Patchers made before stay as they were.

        >>> from byteloom.patching import ByteEntropyModel
        >>> ByteEntropyModel().train("abab").update("aab") == ByteEntropyModel().train(["abab", "aab"])
        True
        """
        more = _like(self._native)
        _count(more, data, errors, threads, progress)
        self._add(more)
        return self

    def merge(self, other: ByteEntropyModel) -> ByteEntropyModel:
        """Add the counts of another model: as if this one had been trained on its documents too.

        Raises:
            PatchingError: a model of another order. Its alpha and smoothing do not matter, nor come along.

        >>> from byteloom.patching import ByteEntropyModel
        >>> a, b = ByteEntropyModel().train("abab"), ByteEntropyModel().train("aab")
        >>> a.merge(b) == ByteEntropyModel().train(["abab", "aab"])
        True
        """
        if not isinstance(other, ByteEntropyModel):
            raise TypeError(f"merge takes a ByteEntropyModel, not {type(other).__name__}")
        self._add(other._native)
        return self

    def _add(self, more: _native.NativeEntropyModel) -> None:
        # Patchers and copies hold the counts too, so the sum is another object. Taking the first summand over
        # copies nothing. Where another thread was faster, its sum is added to.
        while True:
            before = self._native
            both = _like(before)
            both.merge(before)
            both.merge(more)
            with _EXCHANGE:
                if self._native is before:
                    self._native = both
                    return

    # Predictions.

    def entropies(self, data: Text, *, reset_on: bytes | None = None) -> npt.NDArray[np.float64]:
        r"""How open each byte is, foretold by the bytes before it.

        Args:
            data: A text of any bytes, valid UTF-8 or not.
            reset_on: Bytes that end the context: a byte behind one of these is foretold as the first byte of
                a text, as with `b"\n"` for lines that stand alone.

        Returns:
            The Shannon entropies of the predictions, in bits: float64, one for each byte, from 0 to 8.

        >>> from byteloom.patching import ByteEntropyModel
        >>> ByteEntropyModel().entropies("ab").tolist()
        [8.0, 8.0]
        """
        return self._native.entropies(utf8(data), reset_on=reset_bytes(reset_on))

    def contexts(self, data: Text, *, reset_on: bytes | None = None) -> Contexts:
        r"""Which bytes before it each byte was foretold from: what is left after backing off.

        Args:
            data: A text of any bytes, as for `entropies`.
            reset_on: As for `entropies`.

        Returns:
            `Contexts(lengths, seen)`, with one value for each byte: how many bytes before it were looked at,
            uint8 from 0 to `order - 1`, and how often training saw these, uint64. 0 and 0 is where the model
            had nothing to go by. `"witten-bell"` mixes all shorter contexts with the one told.

        >>> from byteloom.patching import ByteEntropyModel
        >>> lengths, seen = ByteEntropyModel(order=3).train("abcabd").contexts("abxy")
        >>> lengths.tolist(), seen.tolist()
        ([0, 1, 2, 0], [6, 2, 2, 0])
        """
        return Contexts(*self._native.contexts(utf8(data), reset_on=reset_bytes(reset_on)))

    def distribution(self, history: Text) -> npt.NDArray[np.float64]:
        """The probability of each next byte after `history`: float64, shape `(256,)`; they add up to 1.

        Only the last `order - 1` bytes count. An empty history is the start of a text.

        >>> from byteloom.patching import ByteEntropyModel
        >>> int(ByteEntropyModel().train("abcabd" * 9).distribution("ca").argmax()) == ord("b")
        True
        """
        return self._native.distribution(utf8(history))

    def bits_per_byte(self, data: Text) -> float:
        """The mean of `-log2(p)` of the bytes that came: how well the model foretells a text, less is better.

        8 is what knowing nothing gives; 0.0 for an empty text.

        >>> from byteloom.patching import ByteEntropyModel
        >>> ByteEntropyModel().bits_per_byte("any text")
        8.0
        """
        return self._native.bits_per_byte(utf8(data))

    # Patching.

    def patcher(
        self,
        *,
        units: Units,
        theta: float | None = None,
        rise: float | None = None,
        max_patch_length: int | None = None,
        reset_on: bytes | None = None,
    ) -> Patcher:
        """A patcher that cuts where this model is surprised: see `Patcher.entropy`.

        >>> from byteloom.patching import ByteEntropyModel
        >>> model = ByteEntropyModel().train("the cat sat on the mat. " * 20)
        >>> model.patcher(theta=1.5, units="bits").patches("the mat")
        [b't', b'he ', b'mat']
        """
        return Patcher.entropy(
            self,
            units=units,
            theta=theta,
            rise=rise,
            max_patch_length=max_patch_length,
            reset_on=reset_on,
        )

    def threshold_for(
        self,
        sample: Document | Iterable[Document],
        target_patch_size: float = 4.5,
        *,
        rule: Literal["global", "monotonic", "both"] = "global",
        units: Units = "bits",
        theta: float | None = None,
        rise: float | None = None,
        max_patch_length: int | None = None,
        reset_on: bytes | None = None,
    ) -> float:
        """The threshold that gives patches of a wanted mean size.

        The threshold depends on the model and on the text, so take a sample of the text that will be patched,
        one that the model was not trained on; some megabytes are plenty.

        The result is exact: no other threshold gives a mean on the sample that is nearer to the target. How
        near that is depends on the model. Bytes after the same context have the same entropy and can only
        start patches together, so a common context makes a step in the sizes that can be had; a model of low
        order or little text has few, large steps. The threshold lies in the middle between two entropies that
        occur, so that rounding it a little changes nothing.

        Args:
            sample: Text, bytes, a path or an iterable of these, as for `train`.
            target_patch_size: Wanted mean in bytes, 1 or more. The mean counts all bytes and patches of the
                sample together.
            rule: Which threshold is wanted: `"global"` is `theta`, `"monotonic"` is `rise`. For `"both"` give
                one of them, and the other is found.
            units: The unit of the result, and of a threshold given: `"bits"` or `"nats"`.
            theta: For `"both"`: the threshold of the entropy, to find `rise`.
            rise: For `"both"`: the threshold of the rise, to find `theta`.
            max_patch_length: The patcher's limit, which makes the mean smaller.
            reset_on: The patcher's bytes that end a context.

        Returns:
            `theta` or `rise`, for a patcher with the same options.

        Raises:
            PatchingError: an empty sample, a target below 1, or thresholds that do not fit the rule.

        >>> from byteloom.patching import ByteEntropyModel
        >>> text = "the model predicts the next token from the tokens before it. " * 50
        >>> model = ByteEntropyModel().train(text)
        >>> theta = model.threshold_for(text, target_patch_size=9)
        >>> patcher = model.patcher(theta=theta, units="bits")
        >>> round(theta, 2), round(patcher.report(text).mean, 2)
        (0.67, 8.71)
        """
        return find_threshold(
            self,
            sample,
            target_patch_size,
            rule=rule,
            units=units,
            theta=theta,
            rise=rise,
            max_patch_length=max_patch_length,
            reset_on=reset_on,
        )

    # Keeping and describing.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file: versioned, with a checksum, the same bytes for the same counts.

        The file is written beside its place, synced and renamed, so that a reader never sees half of it.

        Raises:
            OSError: the file cannot be written; an older one stays as it was.
        """
        _formats.write(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ByteEntropyModel:
        """Read a model that `save` wrote.

        Raises:
            FormatError: the file is damaged, or holds something else.
            OSError: the file cannot be read.

        >>> import pathlib, tempfile
        >>> from byteloom.patching import ByteEntropyModel
        >>> model = ByteEntropyModel().train("the cat sat on the mat")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "cat.entropy")
        ...     model.save(path)
        ...     ByteEntropyModel.load(path) == model
        True
        """
        data = _formats.read_bytes(path)
        return cls._of(_formats.read_named(path, lambda: _native.NativeEntropyModel.from_bytes(data)))

    def to_bytes(self) -> bytes:
        """The model as the bytes of a file."""
        return self._native.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> ByteEntropyModel:
        """A model from the bytes of a file, as `to_bytes` gives them.

        >>> from byteloom.patching import ByteEntropyModel
        >>> model = ByteEntropyModel().train("the cat sat on the mat")
        >>> ByteEntropyModel.from_bytes(model.to_bytes()) == model
        True
        """
        return cls._of(_native.NativeEntropyModel.from_bytes(data))

    @property
    def order(self) -> int:
        """The bytes of an n-gram: one more than the bytes of context."""
        return self._native.order

    @property
    def alpha(self) -> float:
        """What `"backoff"` adds to each count."""
        return self._native.alpha

    @property
    def smoothing(self) -> Smoothing:
        """`"backoff"` or `"witten-bell"`."""
        return self._native.smoothing

    @property
    def memory_limit(self) -> int | None:
        """The limit that was asked for, in bytes."""
        return self._native.memory_limit

    def fingerprint(self) -> str:
        """A hash of the options and counts: models with the same one give the same entropies."""
        return self._native.fingerprint()

    def info(self) -> dict[str, Any]:
        """What this model is, as plain data that JSON can hold.

        >>> from byteloom.patching import ByteEntropyModel
        >>> info = ByteEntropyModel(order=3).train("abc").info()
        >>> info["order"], info["smoothing"]
        (3, 'backoff')
        """
        return self._native.info()

    def __repr__(self) -> str:
        return (
            f"<byteloom.patching.ByteEntropyModel order={self.order} smoothing={self.smoothing!r} "
            f"documents={self._native.documents} bytes={self._native.trained_bytes}>"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByteEntropyModel):
            return NotImplemented
        return self._native is other._native or self.fingerprint() == other.fingerprint()

    # It changes by `train`, `update` and `merge`.
    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> ByteEntropyModel:
        return self._of(self._native)

    def __deepcopy__(self, memo: dict[int, Any]) -> ByteEntropyModel:
        return self.__copy__()

    def __reduce__(self) -> tuple[Callable[[bytes], ByteEntropyModel], tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)


def _like(native: _native.NativeEntropyModel) -> _native.NativeEntropyModel:
    """A model of the same options that has counted nothing."""
    return _native.NativeEntropyModel(
        order=native.order, alpha=native.alpha, smoothing=native.smoothing, memory_limit=native.memory_limit
    )


def _count(
    native: _native.NativeEntropyModel,
    data: Document | Iterable[Document],
    errors: str,
    threads: int | None,
    progress: bool | Progress | None,
) -> None:
    with progress_callback(progress) as callback:
        native.update(
            document_iterator(data, errors),
            errors=errors,
            threads=threads,
            expected_bytes=expected_bytes(data),
            progress=callback,
        )

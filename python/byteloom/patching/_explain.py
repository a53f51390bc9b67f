"""Explanations of patches: what the model said of each byte, and why each patch starts.

Patches and scores come from the engine, a block of the text at a time. Here they are only put together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from byteloom._patch_records import ExplainedByte, ExplainedPatch, PatchExplanation, PatchStart
from byteloom._record import Span
from byteloom.errors import PatchingError

from ._patcher import to_bits
from ._texts import Boundaries, spans

if TYPE_CHECKING:
    from ._model import ByteEntropyModel
    from ._patcher import Patcher

__all__ = ["explain", "stream"]

# Bytes that are scored at once.
_BLOCK = 1 << 16
# Tokens whose places are looked at together.
_PLACES = 1 << 12


def explain(patcher: Patcher, text: bytes, model: ByteEntropyModel | None) -> PatchExplanation:
    """What `Patcher.explain` says."""
    patches = tuple(_patches(patcher, text, _model(patcher, model), segmented=False))
    theta, rise = _thresholds(patcher)
    return PatchExplanation(_described(patcher), text, patches, theta, rise)


def stream(patcher: Patcher, text: bytes, model: ByteEntropyModel | None) -> Iterator[ExplainedPatch]:
    """What `Patcher.explain_stream` says."""
    return _patches(patcher, text, _model(patcher, model), segmented=True)


def _model(patcher: Patcher, model: ByteEntropyModel | None) -> ByteEntropyModel | None:
    own = patcher.model
    if model is None:
        return own
    if own is not None:
        raise PatchingError(f"rule {patcher.rule!r} goes by its own model; leave out model")
    if not hasattr(model, "contexts"):
        raise TypeError(f"model must be a ByteEntropyModel, not {type(model).__name__}")
    return model


def _patches(
    patcher: Patcher, text: bytes, model: ByteEntropyModel | None, *, segmented: bool
) -> Iterator[ExplainedPatch]:
    scores = None if model is None else _Scores(model, text, patcher.reset_on)
    reasons = _Reasons(patcher, text, None if patcher.model is None else scores)
    before = 0
    for index, (begin, end) in enumerate(_spans(patcher, text)):
        start = reasons.of(begin, begin - before)
        step = ExplainedPatch.MAX_BYTES if segmented else end - begin
        cuts = range(begin, end, step)
        for segment, a in enumerate(cuts):
            b = min(a + step, end)
            explained = () if scores is None else scores.explained(a, b)
            yield ExplainedPatch(index, text[a:b], Span(a, b), start, explained, segment, len(cuts))
        before = begin


def _spans(patcher: Patcher, text: bytes) -> Iterator[tuple[int, int]]:
    """Begin and end of each patch."""
    if patcher.rule == "bpe":
        starts = patcher.boundaries(text)
        # As Python's numbers, all of them would take more than the text.
        for place in range(0, len(starts), _PLACES):
            some = starts[place : place + _PLACES + 1]
            end = int(some[-1]) if len(some) > _PLACES else len(text)
            yield from spans(some[:_PLACES], end)
        return
    view, at, patches = memoryview(text), 0, patcher.stream()
    for begin in range(0, len(text), _BLOCK):
        for patch in patches.feed(view[begin : begin + _BLOCK]):
            yield at, at + len(patch)
            at += len(patch)
    if at < len(text):
        yield at, len(text)


class _Scores:
    """Entropies and contexts of the bytes of a text, asked for in ascending order."""

    def __init__(self, model: ByteEntropyModel, text: bytes, reset_on: bytes | None) -> None:
        self._model, self._text, self._reset_on = model, text, reset_on
        self._order = model.order
        # What was scored last: from the first byte of `_near` on, right from `_begin` on.
        self._near = self._begin = self._end = 0

    def _reach(self, begin: int, end: int) -> None:
        if self._begin <= begin and end <= self._end:
            return
        self._begin, self._end = begin, min(max(end, begin + _BLOCK), len(self._text))
        self._near = max(0, begin - self._order + 1)
        data = self._text[self._near : self._end]
        lengths, seen = self._model.contexts(data, reset_on=self._reset_on)
        # Lists: most patches are of a few bytes, which are dear to take from arrays.
        self._entropies: list[float] = self._model.entropies(data, reset_on=self._reset_on).tolist()
        self._lengths, self._seen = lengths.tolist(), seen.tolist()

    def entropy(self, at: int) -> float:
        self._reach(at, at + 1)
        return self._entropies[at - self._near]

    def explained(self, begin: int, end: int) -> tuple[ExplainedByte, ...]:
        self._reach(begin, end)
        text, near = self._text, self._near
        return tuple(
            ExplainedByte(
                at,
                text[at],
                self._entropies[at - near],
                text[at - self._lengths[at - near] : at],
                self._seen[at - near],
            )
            for at in range(begin, end)
        )


class _Reasons:
    """Why patches start."""

    def __init__(self, patcher: Patcher, text: bytes, scores: _Scores | None) -> None:
        self._rule = patcher.rule
        self._text = text
        self._scores = scores
        self._theta, self._rise = _thresholds(patcher)
        self._ends = frozenset(patcher.reset_on or b"")
        self._longest = patcher.max_patch_length
        self._unlimited = patcher.unlimited()
        self._tokens: Boundaries | None = None

    def of(self, at: int, before: int) -> PatchStart:
        """Why a patch starts at byte `at`, behind one of `before` bytes."""
        if self._scores is None:
            if at == 0:
                return PatchStart("first", None, None, None, None)
            rule = "max_length" if before == self._longest and not self._holds(at) else self._rule
            return PatchStart(rule, None, None, None, None)
        if at == 0 or self._text[at - 1] in self._ends:
            return PatchStart("reset" if at else "first", self._scores.entropy(at), None, None, None)
        # The earlier byte first: scores are asked for in order.
        last = None if self._rise is None else self._scores.entropy(at - 1)
        entropy = self._scores.entropy(at)
        increase = None if last is None else entropy - last
        above = self._theta is None or entropy > self._theta
        rose = self._rise is None or increase is None or increase > self._rise
        # A patch may be full just where the rule starts one.
        rule = self._rule if (above and rose) or before != self._longest else "max_length"
        return PatchStart(rule, entropy, self._theta, increase, self._rise)

    def _holds(self, at: int) -> bool:
        """Whether the rule itself starts a patch here, as the engine has it."""
        if self._rule == "bpe":
            if self._tokens is None:
                self._tokens = self._unlimited.boundaries(self._text)
            place = int(np.searchsorted(self._tokens, at))
            return place < len(self._tokens) and int(self._tokens[place]) == at
        # Spaces are told by the two bytes before.
        near = self._text[max(0, at - 2) : at + 1]
        return int(self._unlimited.boundaries(near)[-1]) == len(near) - 1


def _thresholds(patcher: Patcher) -> tuple[float | None, float | None]:
    units = patcher.units or "bits"
    theta, rise = (
        None if value is None else to_bits(value, units) for value in (patcher.theta, patcher.rise)
    )
    return theta, rise


def _described(patcher: Patcher) -> str:
    """The patcher in a line."""
    parts: list[str] = [patcher.rule]
    parts += [
        f"{name} {value:g} {patcher.units}"
        for name, value in (("theta", patcher.theta), ("rise", patcher.rise))
        if value is not None
    ]
    if patcher.size is not None:
        parts.append(f"{patcher.size} bytes")
    if patcher.model is not None:
        parts.append(f"order {patcher.model.order}, {patcher.model.smoothing}")
    if patcher.max_patch_length is not None:
        parts.append(f"at most {patcher.max_patch_length} bytes")
    if patcher.reset_on is not None:
        parts.append(f"anew after {patcher.reset_on!r}")
    return ", ".join(parts)

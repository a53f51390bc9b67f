"""Why patches of bytes begin where they do, as records. Public as part of `byteloom.explain`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ._record import Record, Span, text_of

__all__ = ["ExplainedByte", "ExplainedPatch", "PatchExplanation", "PatchStart"]


@dataclass(frozen=True, slots=True)
class ExplainedByte(Record):
    """A byte and what the entropy model said before it came."""

    index: int
    """Its place in the data."""
    byte: int
    """Its value, 0 to 255."""
    entropy: float
    """The entropy of the model's prediction for this byte, in bits: 0 is certain, 8 is no idea."""
    context: bytes
    """The bytes before it that the prediction was made from, at most one less than the order of the model;
    fewer where more of them were never seen together, or where the text or a reset begins. With
    `"witten-bell"` the longest of the contexts that are mixed."""
    seen: int
    """How often training saw that context, followed by any byte; 0 where the model had nothing to go by."""


@dataclass(frozen=True, slots=True)
class PatchStart(Record):
    """Why a patch begins at its first byte."""

    rule: str
    """`"first"`: the first patch of all; the rule of the patcher: `"global"` (the entropy is above the
    threshold), `"monotonic"` (it rose by more than the threshold), `"both"`, `"space"` (a space or sign
    stands before), `"static"` and `"byte"` (patches have one length), `"bpe"` (a token begins); or `"reset"`
    (the context begins anew) and `"max_length"` (the patch before was full, the rule starts none here)."""
    entropy: float | None
    """The entropy of the first byte in bits, where the rule looks at entropies."""
    threshold: float | None
    """What the entropy was compared with, in bits; `None` where it was not: for `"first"`, `"reset"`."""
    increase: float | None
    """How much the entropy rose from the byte before, in bits, where the rule looks at that."""
    increase_threshold: float | None
    """What the increase was compared with, in bits."""


@dataclass(frozen=True, slots=True)
class ExplainedPatch(Record):
    """A patch: a run of bytes that a byte-latent model takes as one unit.

    `Patcher.explain_stream` gives a patch of more than `MAX_BYTES` bytes in several records: `segment` says
    which.
    """

    kind: ClassVar[str] = "patch"
    MAX_BYTES: ClassVar[int] = 1024

    index: int
    """The number of the patch in the data, from 0."""
    bytes: bytes
    byte_span: Span
    """Its place in the data, in bytes."""
    start: PatchStart
    """Why the patch begins where it does."""
    explained: tuple[ExplainedByte, ...]
    """One entry a byte; empty without an entropy model."""
    segment: int = 0
    """Which part of a long patch this is, from 0."""
    segments: int = 1
    """How many parts there are; 1 for nearly all."""

    @property
    def text(self) -> str | None:
        """The bytes as text, or `None` where they are no valid UTF-8."""
        return text_of(self.bytes)


@dataclass(frozen=True, slots=True)
class PatchExplanation(Record):
    """How data was cut into patches."""

    kind: ClassVar[str] = "patch_explanation"

    patcher: str
    """The patcher in a line: its rule, thresholds and order."""
    bytes: bytes
    patches: tuple[ExplainedPatch, ...]
    theta: float | None = None
    """The threshold of the entropy in bits, where the rule has one."""
    rise: float | None = None
    """The threshold of its rise in bits, where the rule has one."""

    @property
    def text(self) -> str | None:
        """The data as text, or `None` where it is no valid UTF-8."""
        return text_of(self.bytes)

    @property
    def entropies(self) -> list[float]:
        """The entropy of every byte, in bits; empty without an entropy model."""
        return [byte.entropy for patch in self.patches for byte in patch.explained]

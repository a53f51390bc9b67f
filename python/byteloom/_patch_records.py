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
    """The bytes before it that the prediction was made from; shorter than the order of the model where a
    longer context was never seen."""
    seen: int
    """How often training saw that context; 0 where the model had nothing to go by."""


@dataclass(frozen=True, slots=True)
class PatchStart(Record):
    """Why a patch begins at its first byte."""

    rule: str
    """`"first"`: the first patch of all; the rule of the patcher: `"global"` (the entropy is above the
    threshold), `"monotonic"` (it rose by more than the threshold), `"both"`, `"space"` (a space or sign stands
    before), `"static"` and `"byte"` (patches have one length), `"bpe"` (a token begins); or `"reset"` (the
    context begins anew) and `"max_length"` (the patch before was full)."""
    entropy: float | None
    """The entropy of the first byte in bits, where the rule looks at entropies."""
    threshold: float | None
    """What the entropy was compared with."""
    increase: float | None
    """How much the entropy rose from the byte before, where the rule looks at that."""
    increase_threshold: float | None
    """What the increase was compared with."""


@dataclass(frozen=True, slots=True)
class ExplainedPatch(Record):
    """A patch: a run of bytes that a byte-latent model takes as one unit."""

    index: int
    bytes: bytes
    byte_span: Span
    start: PatchStart
    explained: tuple[ExplainedByte, ...]
    """One entry a byte; empty for patchers without an entropy model."""

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

    @property
    def text(self) -> str | None:
        """The data as text, or `None` where it is no valid UTF-8."""
        return text_of(self.bytes)

    @property
    def entropies(self) -> list[float]:
        """The entropy of every byte, in bits."""
        return [byte.entropy for patch in self.patches for byte in patch.explained]

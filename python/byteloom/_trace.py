"""What training did, merge by merge, as records. Public as part of `byteloom.explain`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ._record import Record

__all__ = ["RunnerUp", "TraceStep", "TrainingTrace"]


@dataclass(frozen=True, slots=True)
class RunnerUp(Record):
    """A pair that was not merged, because another came first."""

    left: int
    right: int
    left_bytes: bytes
    right_bytes: bytes
    count: int


@dataclass(frozen=True, slots=True)
class TraceStep(Record):
    """One merge that training learned."""

    index: int
    """Its number, from 0: its rank."""
    left: int
    right: int
    left_bytes: bytes
    right_bytes: bytes
    result: int
    """The id that it made."""
    count: int
    """How often the pair occurred, overlaps included."""
    tied: int
    """How many pairs occurred as often, this one included; 1 where the count alone decided."""
    decided_by: str
    """`"count"`, or the rule that settled the tie: `"smallest_pair"`, `"huggingface"` or `"first_seen"`."""
    runners_up: tuple[RunnerUp, ...]
    """The pairs that came next, best first: by count, then by the rule."""


@dataclass(frozen=True, slots=True)
class TrainingTrace(Record):
    """Every merge of a training, in order."""

    kind: ClassVar[str] = "training_trace"

    tie_break: str
    """The rule for ties."""
    min_frequency: int
    """Pairs that occur less often were no candidates."""
    steps: tuple[TraceStep, ...]
    stopped: str
    """Why there are no more: `"vocab_size"`, `"min_frequency"` or `"no_pairs"`."""

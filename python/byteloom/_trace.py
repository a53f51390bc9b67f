"""What training did, merge by merge, as records. Public as part of `byteloom.explain`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ._record import Record, text_of
from .errors import TrainingError

if TYPE_CHECKING:
    from ._native import NativeTokenizer

__all__ = ["RunnerUp", "TraceStep", "TrainingTrace", "read_trace", "replay"]


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


def read_trace(tok: NativeTokenizer) -> TrainingTrace:
    """See `Tokenizer.training_trace`."""
    report = json.loads(tok._metadata()).get("training", {})  # noqa: SLF001 - the native half of the same class
    if "trace" not in report:
        message = "this tokenizer has no training trace; train it with Tokenizer.train(…, trace=True)"
        raise TrainingError(message)
    tie_break: str = report["tie_break"]
    steps = []
    for index, (left, right, count, tied, runners_up) in enumerate(report["trace"]):
        parts = tok.id_to_bytes(left), tok.id_to_bytes(right)
        result = tok.token_to_id(parts[0] + parts[1])
        if result is None:
            message = f"step {index} of the training trace joins ids {left} and {right}, which make no token"
            raise TrainingError(message)
        steps.append(
            TraceStep(
                index=index,
                left=left,
                right=right,
                left_bytes=parts[0],
                right_bytes=parts[1],
                result=result,
                count=count,
                tied=tied,
                decided_by="count" if tied == 1 else tie_break,
                runners_up=tuple(
                    RunnerUp(left, right, tok.id_to_bytes(left), tok.id_to_bytes(right), count)
                    for left, right, count in runners_up
                ),
            )
        )
    return TrainingTrace(tie_break, report["min_frequency"], tuple(steps), report["stopped"])


def _is_symbol(content: bytes) -> bool:
    """Whether it is there from the start, whatever its id: a byte, or a character."""
    return len(content) == 1 or len(text_of(content) or "") == 1


def replay(trace: TrainingTrace) -> list[tuple[int, int]]:
    """Follows a trace and gives the merges that it tells of: `Tokenizer.merges`.

    Every step is checked against those before it: its two tokens must exist by then with the bytes that the
    step says, its pair must be at least as frequent as every runner-up, and the number of ties must fit the
    counts.

    Args:
        trace: What `Tokenizer.training_trace` gives.

    Returns:
        Pairs of ids in the order of their ranks.

    Raises:
        TrainingError: a step that cannot follow those before it; the message has its number.

    >>> import byteloom as bl
    >>> from byteloom.explain import replay
    >>> tok = bl.Tokenizer.train("low low lower lowest", vocab_size=260, trace=True)
    >>> replay(tok.training_trace()) == tok.merges
    True
    """
    made: dict[int, bytes] = {}
    merges = []
    last = None
    for number, step in enumerate(trace.steps):
        faults = []
        for token_id, content in ((step.left, step.left_bytes), (step.right, step.right_bytes)):
            if made.get(token_id, content if _is_symbol(content) else None) != content:
                faults.append(f"id {token_id} is not {content!r} yet")
        result = step.left_bytes + step.right_bytes
        if made.get(step.result, result) != result:
            faults.append(f"id {step.result} is {made[step.result]!r} already")
        if step.count < trace.min_frequency or (last is not None and step.count > last):
            faults.append(f"a count of {step.count} cannot come here")
        if any(other.count > step.count for other in step.runners_up):
            faults.append("a runner-up is more frequent")
        tied = 1 + sum(other.count == step.count for other in step.runners_up)
        if step.tied < tied or (step.tied > tied and tied <= len(step.runners_up)):
            faults.append(f"{step.tied} tied pairs do not fit the runners-up")
        if step.index != number or faults:
            message = (
                f"step {number} of the trace cannot follow the others: {'; '.join(faults) or 'misnumbered'}"
            )
            raise TrainingError(message)
        made[step.result] = result
        last = step.count
        merges.append((step.left, step.right))
    return merges

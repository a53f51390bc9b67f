"""Patches as blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from ._blocks import Block, Chip, Details, Heading, Note, Sparkline, Strip, Table
from ._views import plural, short

if TYPE_CHECKING:
    from byteloom._patch_records import ExplainedByte, ExplainedPatch

__all__ = ["patch_blocks", "patch_record_blocks"]

_MOST_BITS = 8.0  # the entropy of a byte of which nothing is known
_BYTES_EACH = 8  # bytes that are drawn for each patch of the limit


def patch_blocks(item: Any, *, limit: int) -> Iterator[Block]:
    """Patches: a `PatchExplanation`, or plain patches, alone or with their starts."""
    if not hasattr(item, "patches"):
        pairs = [(patch, None) if isinstance(patch, bytes) else (bytes(patch[0]), patch[1]) for patch in item]
        chips = [
            Chip(data, place, title="" if start is None else f"from byte {start}")
            for place, (data, start) in enumerate(pairs)
        ]
        yield Strip(tuple(chips[:limit]), "Patches")
        yield _patch_note([len(data) for data, _ in pairs])
        return
    patches = item.patches
    yield Heading(f"Patches: {item.patcher}", 2)
    yield Strip(tuple(Chip(one.bytes, one.index, title=_reason(one.start)) for one in patches[:limit]))
    yield _patch_note([len(one.bytes) for one in patches])
    shown = patches[:limit]
    # One patch may be all of a long text.
    most = _BYTES_EACH * limit
    scored = list(islice((byte for one in shown for byte in one.explained), most))
    if scored:
        starts = frozenset(one.byte_span.start for one in shown)
        entropies = tuple(byte.entropy for byte in scored)
        top = max(_MOST_BITS, *entropies)
        first = f" of the first {most:,} bytes" if len(scored) == most else " of each byte"
        yield Sparkline(entropies, top, f"Entropy{first}, 0 to {top:g} bits", starts)
    rows = [
        (str(one.index), f"{one.byte_span.start}-{one.byte_span.end}", short(one.bytes), _reason(one.start))
        for one in shown
    ]
    columns = ("patch", "bytes", "text", "why it starts")
    yield Details("Why each patch starts", (Table(columns, tuple(rows), frozenset((0, 1))),))
    if scored:
        yield Details("What was foretold of each byte", (_bytes_table(scored[:most]),))
    if len(patches) > limit:
        rest = len(patches) - limit
        yield Note(f"and {rest:,} more patch{'es' * (rest != 1)}")


def patch_record_blocks(patch: ExplainedPatch) -> Iterator[Block]:
    """One patch: why it starts, and what was foretold of its bytes."""
    span = patch.byte_span
    segment = f", segment {patch.segment + 1} of {patch.segments}" if patch.segments > 1 else ""
    named = f"  patch {patch.index + 1}{segment}, bytes {span.start}-{span.end}: {_reason(patch.start)}"
    yield Heading((Chip(patch.bytes, patch.index), named), 3)
    if patch.explained:
        yield _bytes_table(patch.explained)


def _bytes_table(explained: Iterable[ExplainedByte]) -> Table:
    rows = tuple(
        (
            str(byte.index),
            Chip(bytes((byte.byte,)), kind="quiet"),
            f"{byte.entropy:.3f}",
            "█" * round(2 * min(byte.entropy, _MOST_BITS)),
            Chip(byte.context, kind="quiet") if byte.context else "-",
            f"{byte.seen:,}",
        )
        for byte in explained
    )
    columns = ("at", "byte", "bits", "", "foretold from", "seen")
    return Table(columns, rows, frozenset((0, 2, 5)))


def _patch_note(sizes: list[int]) -> Note:
    total = sum(sizes)
    mean = f"; {total / len(sizes):.2f} bytes per patch" if sizes else ""
    return Note(f"{len(sizes):,} patch{'es' * (len(sizes) != 1)}, {plural(total, 'byte')}{mean}")


def _reason(start: Any) -> str:
    """Why a patch starts, in words."""
    words = str(start.rule).replace("_", " ")
    if start.entropy is not None:
        against = "" if start.threshold is None else f" against {start.threshold:.3f}"
        words += f"; entropy {start.entropy:.3f}{against} bits"
    if start.increase is not None:
        against = "" if start.increase_threshold is None else f" against {start.increase_threshold:.3f}"
        words += f"; rise {start.increase:.3f}{against} bits"
    return words

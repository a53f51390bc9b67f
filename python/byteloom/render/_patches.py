"""Patches as blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._blocks import Block, Chip, Details, Heading, Note, Sparkline, Strip, Table
from ._views import plural, short

__all__ = ["patch_blocks"]

_MOST_BITS = 8.0  # the entropy of a byte of which nothing is known


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
    entropies = [byte.entropy for one in shown for byte in one.explained]
    if entropies:
        starts = frozenset(one.byte_span.start for one in shown)
        top = max(_MOST_BITS, *entropies)
        yield Sparkline(tuple(entropies), top, f"Entropy of each byte, 0 to {top:g} bits", starts)
    rows = [
        (str(one.index), f"{one.byte_span.start}-{one.byte_span.end}", short(one.bytes), _reason(one.start))
        for one in shown
    ]
    columns = ("patch", "bytes", "text", "why it starts")
    yield Details("Why each patch starts", (Table(columns, tuple(rows), frozenset((0, 1))),))
    if len(patches) > limit:
        yield Note(f"and {plural(len(patches) - limit, 'more patch')}")


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

"""Explanations, merge trees and training traces as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from byteloom.explain import Explanation, MergeStep, MergeTree, Part, PreToken, Special, TrainingTrace

from ._blocks import Block, Chip, Details, Heading, Inline, Node, Note, Strip, Table, Tree
from ._views import number, plural

__all__ = ["explanation_blocks", "part_blocks", "parts_blocks", "trace_blocks", "tree_blocks"]

_LOSERS = 3
_STEPS = 200
_SYMBOLS = 40
"""So many merges of a pre-token, and symbols of a state, are drawn: each merge draws the state after it."""


def explanation_blocks(explanation: Explanation, *, limit: int) -> Iterator[Block]:
    """A text, its pre-tokens, and for each of them the steps to its tokens."""
    parts, tokens = explanation.parts, explanation.tokens
    pretokens = {part.index for part in parts if isinstance(part, PreToken)}
    shown = parts[:limit]
    of_shown = [token for part in shown for token in part.tokens]
    yield Heading("From text to tokens", 2)
    yield Strip(tuple(_part_chip(part, place) for place, part in enumerate(shown)), "Pre-tokens")
    yield Strip(
        tuple(
            Chip(token.bytes, place, _chip_kind(token), f"id {token.id}")
            for place, token in enumerate(of_shown)
        ),
        "Tokens",
    )
    yield Note(
        f"{plural(explanation.characters, 'character')}, {plural(len(explanation.bytes), 'byte')}, "
        f"{plural(len(pretokens), 'pre-token')}, {plural(len(tokens), 'token')}"
    )
    yield from parts_blocks(parts, limit=limit)


def parts_blocks(parts: Sequence[Part], *, limit: int) -> Iterator[Block]:
    """Some pre-tokens and special tokens, one after another."""
    for part in parts[:limit]:
        yield from part_blocks(part)
    if len(parts) > limit:
        yield Note(f"and {plural(len(parts) - limit, 'more pre-token')}")


def _chip_kind(token: Any) -> Any:
    return "special" if token.token_kind in ("special", "added") else "token"


def _part_chip(part: PreToken | Special, place: int) -> Chip:
    if isinstance(part, Special):
        return Chip(part.bytes or part.content.encode(), place, "special", part.how)
    return Chip(part.original, place, title=part.match.category)


def part_blocks(part: PreToken | Special) -> Iterator[Block]:
    """One pre-token: what matched, the merges, the tokens and how each was built."""
    if isinstance(part, Special):
        content = Chip(part.content.encode(), kind="special")
        yield Heading((content, f"  special token, id {part.id} ({part.how.replace('_', ' ')})"), 3)
    else:
        yield from _pretoken_blocks(part)


def _pretoken_blocks(part: PreToken) -> Iterator[Block]:
    match = part.match
    segment = f", segment {part.segment + 1} of {part.segments}" if part.segments > 1 else ""
    named = f"  pre-token {part.index + 1}{segment}, matched by {match.category}"
    source = () if match.source is None else (": ", Chip(match.source.encode(), kind="quiet"))
    yield Heading((Chip(part.bytes, part.index), named, *source), 3)
    if part.normalized:
        yield Note(("normalized from ", Chip(part.original, kind="quiet")))
    if part.steps:
        yield _steps_table(part)
    elif len(part.symbols) > 1 and not part.steps_left_out:
        yield Note(("no merge joins any of ", *_state(part.bytes, next(part.states()), 0)))
    more = part.steps_left_out + len(part.steps[_STEPS:])
    if more:
        yield Note(f"and {plural(more, 'more merge')}")
    if part.whole:
        yield Note("The pre-token is in the vocabulary and is taken whole, without merging.")
    found: list[str | Chip] = []
    for place, token in enumerate(part.tokens):
        found += [" " * bool(found), Chip(token.bytes, place, _chip_kind(token)), f" {token.id}"]
    yield Note(("tokens: ", *found))
    trees = [token.tree for token in part.tokens if token.tree is not None and token.tree.left is not None]
    if trees:
        yield Details("Merge trees", tuple(Tree(_node(tree)) for tree in trees))


def _steps_table(part: PreToken) -> Table:
    whole = part.bytes
    states = part.states()
    rows: list[tuple[Inline, ...]] = [("", "", "", "", _state(whole, next(states), 0))]
    for step, state in zip(part.steps[:_STEPS], states, strict=False):
        pair = (
            Chip(step.left_bytes, kind="quiet"),
            " + ",
            Chip(step.right_bytes, kind="quiet"),
            " → ",
            Chip(step.result_bytes, kind="quiet"),
        )
        rows.append(
            (str(step.index + 1), pair, number(step.rank), _waiting(step), _state(whole, state, step.at))
        )
    columns = ("step", "merge", "rank", "had to wait (rank)", "symbols")
    return Table(columns, tuple(rows), frozenset((0, 2)))


def _state(whole: bytes, state: Sequence[tuple[int, tuple[int, int]]], around: int) -> tuple[str | Chip, ...]:
    """The symbols; of many, those around a place."""
    first = max(0, min(around - _SYMBOLS // 2, len(state) - _SYMBOLS))
    last = min(first + _SYMBOLS, len(state))
    chips = tuple(
        Chip(whole[a:b], place, title=f"id {id_}")
        for place, (id_, (a, b)) in enumerate(state[first:last], first)
    )
    before = (f"{first:,} before … ",) if first else ()
    after = (f" … {len(state) - last:,} after",) if last < len(state) else ()
    return (*before, *chips, *after)


def _waiting(step: MergeStep) -> Inline:
    """The pairs of higher rank that were there too."""
    shown: list[str | Chip] = []
    for loser in step.losers[:_LOSERS]:
        shown += [", " * bool(shown), Chip(loser.left_bytes, kind="quiet"), " + "]
        shown += [Chip(loser.right_bytes, kind="quiet"), f" ({loser.rank:,})"]
    more = len(step.losers[_LOSERS:]) + step.losers_left_out
    if more:
        shown.append(f" and {more:,} more")
    return tuple(shown)


def tree_blocks(tree: MergeTree) -> Iterator[Block]:
    """How a token was built."""
    yield Tree(_node(tree))


def _node(tree: MergeTree) -> Node:
    rank = "" if tree.rank is None else f", rank {tree.rank:,}"
    children = tuple(_node(child) for child in (tree.left, tree.right) if child is not None)
    cut = ", and so on" if tree.cut else ""
    shade = tree.span.start
    return Node((Chip(tree.bytes, shade), f" {tree.id}{rank}{cut}"), children)


# Training.


def trace_blocks(trace: TrainingTrace, *, limit: int) -> Iterator[Block]:
    """The merges that training learned, and what came second."""
    yield Heading(f"Training: {plural(len(trace.steps), 'merge')}, ties by {trace.tie_break}", 2)
    rows = []
    for step in trace.steps[:limit]:
        second: Inline = "-"
        if step.runners_up:
            one = step.runners_up[0]
            pair = (Chip(one.left_bytes, kind="quiet"), " + ", Chip(one.right_bytes, kind="quiet"))
            second = (*pair, f" ({one.count:,})")
        tie = step.decided_by if step.tied <= 1 else f"{step.decided_by}, of {step.tied:,} equals"
        pair = (Chip(step.left_bytes, kind="quiet"), " + ", Chip(step.right_bytes, kind="quiet"))
        rows.append((str(step.index), pair, str(step.result), number(step.count), tie, second))
    columns = ("rank", "pair", "id", "times", "decided by", "next")
    yield Table(columns, tuple(rows), frozenset((0, 2, 3)))
    if len(trace.steps) > limit:
        yield Note(f"and {plural(len(trace.steps) - limit, 'more merge')}")

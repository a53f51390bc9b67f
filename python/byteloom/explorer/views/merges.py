"""The Merges tab: every pre-token of a text, merge by merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from byteloom.explain import PreToken

from ._common import explained_parts, piece

if TYPE_CHECKING:
    from byteloom.explain import MergeStep, MergeTree, Special, Token
    from byteloom.explorer.session import Session

__all__ = ["view"]

_PRETOKENS = 120  # drawn; the rest is counted
_STEPS = 64  # of one pre-token
_LOSERS = 4  # candidates that had to wait, of one step
_DEPTH = 24  # of a merge tree


def view(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    """The merges of each pre-token, its tokens, and the tree of each token.

    A pre-token that comes again has the same merges: `parts` says for each place which of `pieces` stands
    there.
    """
    tok = session.tokenizer(request).tokenizer
    text = session.text(request)
    found, pretokens = explained_parts(tok, text, _PRETOKENS, max_steps=_STEPS, max_losers=_LOSERS)
    pieces: dict[tuple[bytes, int], int] = {}
    records: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for part in found:
        # The segments of a long pre-token are never taken for whole ones.
        key = part.bytes, part.segments if isinstance(part, PreToken) else 0
        if key not in pieces:
            pieces[key] = len(records)
            records.append(_piece(part) if isinstance(part, PreToken) else _special(part))
        parts.append({"piece": pieces[key], "chars": list(part.char_span)})
    return {
        "pieces": records,
        "parts": parts,
        "pretokens": pretokens["count"],
        "left_out": pretokens["left_out"],
        "merges": len(tok.merges),
        "tokens": tok.count(text, disallowed_special=()),
        "bytes": len(text.encode()),
    }


def _piece(part: PreToken) -> dict[str, Any]:
    return {
        **piece(part.bytes),
        "original": piece(part.original) if part.normalized else None,
        "category": part.match.category,
        "source": part.match.source,
        "whole": part.whole,
        "symbols": [
            {"id": symbol.id, **piece(symbol.bytes), "kind": symbol.symbol_kind} for symbol in part.symbols
        ],
        "steps": [_step(step) for step in part.steps],
        "steps_left_out": part.steps_left_out,
        "tokens": [_token(token) for token in part.tokens],
    }


def _special(part: Special) -> dict[str, Any]:
    """An added token: matched as it is written, without merges."""
    return {
        **piece(part.bytes),
        "original": None,
        "category": "added token",
        "source": None,
        "whole": True,
        "symbols": [],
        "steps": [],
        "steps_left_out": 0,
        "tokens": [_token(token) for token in part.tokens],
    }


def _step(step: MergeStep) -> dict[str, Any]:
    return {
        "rank": step.rank,
        "at": step.at,
        "left": {"id": step.left, **piece(step.left_bytes)},
        "right": {"id": step.right, **piece(step.right_bytes)},
        "result": {"id": step.result, **piece(step.result_bytes)},
        "losers": [
            {
                "rank": loser.rank,
                "at": loser.at,
                "left": {"id": loser.left, **piece(loser.left_bytes)},
                "right": {"id": loser.right, **piece(loser.right_bytes)},
            }
            for loser in step.losers
        ],
        "losers_left_out": step.losers_left_out,
    }


def _token(token: Token) -> dict[str, Any]:
    tree = None if token.tree is None else _tree(token.tree, 0)
    return {"id": token.id, **piece(token.bytes), "kind": token.token_kind, "tree": tree}


def _tree(tree: MergeTree, depth: int) -> dict[str, Any]:
    node: dict[str, Any] = {"id": tree.id, **piece(tree.bytes), "rank": tree.rank}
    if tree.left is None or tree.right is None:
        return node | {"cut": tree.cut}
    if depth == _DEPTH:
        return node | {"cut": True}
    return node | {"left": _tree(tree.left, depth + 1), "right": _tree(tree.right, depth + 1)}

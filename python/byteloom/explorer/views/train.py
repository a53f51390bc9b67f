"""The Train tab: a tokenizer trained on the text at hand, and why each merge was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import byteloom as bl
from byteloom.explain import PreToken, TraceStep, TrainingTrace
from byteloom.explorer.session import choice, english_sample, integer, string

from ._common import piece, train

if TYPE_CHECKING:
    from byteloom.explorer.session import Session

__all__ = ["view"]

_TEXT = 100_000  # characters to train on
_SMALLEST, _LARGEST = 256, 1024  # tokens
_CURVE = 24  # sizes that the curve is measured at
_SAMPLE = 60  # pre-tokens of the text that are shown at every size,
_SAMPLE_BYTES = 4000  # and at most so many bytes
_LONG = 1000  # characters that are shown of a text that begins with a longer pre-token
_TIES = ("smallest_pair", "first_seen", "huggingface")


def view(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    """Training on a text, merge by merge.

    Options: `corpus`, the `"text"` of the request or the page of `"english"` that comes with the package;
    `vocab_size`, `pattern` (a name or a regex), `tie_break`, `min_frequency`.
    """
    source = choice(request, "corpus", ("text", "english"))
    text = session.text(request) if source == "text" else english_sample()
    corpus = text[:_TEXT]
    size = integer(request, "vocab_size", 300, least=_SMALLEST, most=_LARGEST)
    pattern = string(request, "pattern", longest=2000) or "gpt2"
    tie_break = choice(request, "tie_break", _TIES)
    min_frequency = integer(request, "min_frequency", 2, least=1, most=1000)
    tok = train(corpus, size, pattern=pattern, tie_break=tie_break, min_frequency=min_frequency, trace=True)
    trace = tok.training_trace()
    report = tok.training_report or {}
    sample, cut = _beginning(tok, corpus)
    return {
        "characters": len(corpus),
        "left_out": len(text) - len(corpus),
        "bytes": report["bytes"],
        "pretokens": report["pretokens"],
        "unique_pretokens": report["unique_pretokens"],
        "vocab_size": tok.vocab_size,
        "asked": size,
        "stopped": trace.stopped,
        "tie_break": trace.tie_break,
        "min_frequency": trace.min_frequency,
        "pattern": tok.pattern_name or tok.pattern,
        "patterns": list(bl.pattern_names()),
        "ties": list(_TIES),
        "tied": sum(step.tied > 1 for step in trace.steps),
        "steps": [_step(step) for step in trace.steps],
        "curve": _curve(tok, trace, corpus),
        "sample": [_sample(part) for part in sample],
        "sample_cut": cut,
    }


def _step(step: TraceStep) -> dict[str, Any]:
    return {
        "left": {"id": step.left, **piece(step.left_bytes)},
        "right": {"id": step.right, **piece(step.right_bytes)},
        "result": {"id": step.result, **piece(step.left_bytes + step.right_bytes)},
        "count": step.count,
        "tied": step.tied,
        "decided_by": step.decided_by,
        "runners_up": [
            {
                "left": {"id": other.left, **piece(other.left_bytes)},
                "right": {"id": other.right, **piece(other.right_bytes)},
                "count": other.count,
            }
            for other in step.runners_up
        ],
    }


def _beginning(tok: bl.Tokenizer, text: str) -> tuple[list[PreToken], int | None]:
    """The first pre-tokens of a text, explained.

    A pre-token of the whole text would take too long, so a text that begins with a very long one has its
    first characters explained as a text of their own; then the second item says how many bytes they have.
    """
    pieces: list[str] = []
    size = 0
    for pretoken in tok.pretokens(text)[:_SAMPLE]:
        size += len(pretoken.encode())
        if size > _SAMPLE_BYTES:
            break
        pieces.append(pretoken)
    cut = not pieces and bool(text)
    if cut:
        pieces = [text[:_LONG]]
    # Merges stay inside a pre-token, so each is what it is by itself.
    alone = bl.Tokenizer.from_merges(tok.merges, pattern="none")
    parts = [
        part
        for pretoken in pieces
        for part in alone.explain_stream(pretoken, disallowed_special=(), max_steps=None, max_losers=0)
        if isinstance(part, PreToken)
    ]
    return parts, len(pieces[0].encode()) if cut else None


def _curve(tok: bl.Tokenizer, trace: TrainingTrace, text: str) -> list[dict[str, Any]]:
    """Tokens of the text at several sizes. The first n merges are what training to that size learns."""
    merges = tok.merges
    count = len(merges)
    sizes = sorted({round(place * count / (_CURVE - 1)) for place in range(_CURVE)})

    def counted(size: int) -> int:
        pattern = tok.pattern_name or tok.pattern
        return bl.Tokenizer.from_merges(merges[:size], pattern=pattern).count(text)

    data = len(text.encode())
    points = []
    tokens = before = 0
    for taken in sizes:
        new = trace.steps[before:taken]
        # Each merge joins as many pairs as were counted, unless a pair can overlap itself, as aa does in aaa.
        if taken == 0 or any(step.left == step.right for step in new):
            tokens = counted(taken)
        else:
            tokens -= sum(step.count for step in new)
        before = taken
        points.append(
            {
                "merges": taken,
                "vocab_size": _SMALLEST + taken,
                "tokens": tokens,
                "bytes_per_token": data / tokens if tokens else None,
            }
        )
    return points


def _sample(part: PreToken) -> dict[str, Any]:
    """A pre-token of the text: its symbols, and its merges with their ranks.

    At a smaller size the merges of higher rank are not there yet, and the others are the same.
    """
    return {
        **piece(part.bytes),
        "symbols": [{"id": symbol.id, **piece(symbol.bytes)} for symbol in part.symbols],
        "steps": [{"rank": step.rank, "at": step.at, "id": step.result} for step in part.steps],
    }

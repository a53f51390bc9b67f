"""The Split tab: where a pattern cuts, which of its alternatives matched, and how two patterns differ."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import byteloom as bl
from byteloom.errors import PatternError
from byteloom.explain import PreToken
from byteloom.explorer.session import flag, string

from ._common import explained_parts, piece, train

if TYPE_CHECKING:
    from byteloom.explorer.session import Session

__all__ = ["view"]

_PRETOKENS = 240  # drawn; the rest is counted
_BYTES = 3000  # which are the tokens of a tokenizer without merges
_DIFFERENCES = 100
_PATTERN = 2000  # characters of a pattern
_TRAIN = 20_000  # characters to train on, where that is asked for
_SIZE = 300
_LEARNED = 40


def view(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    """The pre-tokens of a text by one pattern or two.

    Options: `pattern` and `other`, each the name of a built-in pattern or a regex; an empty `pattern` is that
    of the tokenizer, an empty `other` is none. `train`: whether both are trained on the text, to compare what
    they learn.
    """
    tok = session.tokenizer(request).tokenizer
    text = session.text(request)
    pattern = string(request, "pattern", longest=_PATTERN) or tok.pattern_name or tok.pattern
    other = string(request, "other", longest=_PATTERN)
    sides = [_side(pattern, text)]
    if other:
        sides.append(_side(other, text))
    records: dict[str, Any] = {
        "patterns": list(bl.pattern_names()),
        "sides": [{key: value for key, value in side.items() if key != "cuts"} for side in sides],
    }
    if other and all("error" not in side for side in sides):
        records["differences"] = _differences(text, sides[0]["cuts"], sides[1]["cuts"])
    if flag(request, "train"):
        records["trained"] = [_trained(side["pattern"], text) for side in sides if "error" not in side]
    return records


@lru_cache(maxsize=32)
def _splitter(pattern: str) -> bl.Tokenizer:
    """A tokenizer of bytes alone, for what its pattern does."""
    return bl.Tokenizer.from_merges([], pattern=pattern, cache_bytes=0)


def _side(pattern: str, text: str) -> dict[str, Any]:
    side: dict[str, Any] = {"pattern": pattern}
    try:
        splitter = _splitter(pattern)
        pieces = splitter.pretokens(text)
        found, pretokens = explained_parts(splitter, text, _PRETOKENS, most_tokens=_BYTES)
    except PatternError as error:
        return side | {"error": str(error)}
    summary = splitter.explain("").tokenizer
    parts = [part for part in found if isinstance(part, PreToken)]
    unmatched = [part for part in parts if part.match.alternative is None]
    cuts, at = [], 0
    for pretoken in pieces:
        at += len(pretoken)
        cuts.append(at)
    return side | {
        "name": summary.pattern_name,
        "regex": summary.pattern,
        "alternatives": [
            {"index": one.index, "source": one.source, "category": one.category}
            for one in summary.alternatives
        ],
        **pretokens,
        "pieces": [_piece(part) for part in parts],
        # What no alternative matches is a pre-token of its own here; other libraries drop it.
        "lossless": "".join(pieces) == text,
        "unmatched": len(unmatched),
        "cuts": cuts,
    }


def _piece(part: PreToken) -> dict[str, Any]:
    return {
        **piece(part.original),
        "category": part.match.category,
        "alternative": part.match.alternative,
        "chars": list(part.char_span),
    }


def _differences(text: str, a: list[int], b: list[int]) -> dict[str, Any]:
    """The stretches between two cuts that both patterns make, where only one of them cuts inside."""
    only_a, only_b = set(a) - set(b), set(b) - set(a)
    stretches: list[dict[str, Any]] = []
    total = begin = 0
    inside: list[int] = []
    for cut in sorted({*a, *b}):
        if cut in only_a or cut in only_b:
            inside.append(cut)
            continue
        if inside:
            total += 1
            if len(stretches) < _DIFFERENCES:
                ours = [cut_ for cut_ in inside if cut_ in only_a]
                others = [cut_ for cut_ in inside if cut_ in only_b]
                stretches.append(
                    {
                        "chars": [begin, cut],
                        "pieces": [_pieces(text, begin, cut, ours), _pieces(text, begin, cut, others)],
                    }
                )
        begin, inside = cut, []
    return {"count": total, "stretches": stretches, "left_out": total - len(stretches)}


def _pieces(text: str, begin: int, end: int, cuts: list[int]) -> list[dict[str, str]]:
    return [piece(text[a:b].encode()) for a, b in pairwise([begin, *cuts, end])]


def _trained(pattern: str, text: str) -> dict[str, Any]:
    """What training on the text learns with a pattern."""
    sample = text[:_TRAIN]
    tok = train(sample, _SIZE, pattern=pattern)
    learned = [tok.id_to_bytes(a) + tok.id_to_bytes(b) for a, b in tok.merges]
    return {
        "pattern": pattern,
        "merges": len(learned),
        "learned": [piece(token) for token in learned[:_LEARNED]],
        "tokens": tok.count(sample),
        "characters": len(sample),
        "same": tok.decode(tok.encode_ordinary(sample)) == sample,
    }

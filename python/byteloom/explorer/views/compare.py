"""The tab Compare: two to six tokenizers on the same text."""

from __future__ import annotations

import bisect
import itertools
from typing import TYPE_CHECKING, Any

import byteloom as bl
from byteloom.explorer.session import ViewError

if TYPE_CHECKING:
    from byteloom import Comparison, Tokenizer
    from byteloom.explorer.session import Session

__all__ = ["view"]

_MOST = 6
# Bytes of the text whose tokens are drawn; the figures are of all.
_DRAWN = 1200
_MAX_DIFFERENCES = _DRAWN
_LISTED = 40


def view(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    """Figures and tokens of several tokenizers, with the tokens ringed that not all of them make.

    Args:
        session: Holds the tokenizers.
        request: `text`; `names`, the tokenizers, one to six of them.

    Raises:
        ViewError: a request that is not one.
    """
    text = session.text(request)
    names = request.get("names", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ViewError("names must be a list of names of tokenizers")
    names = list(dict.fromkeys(names)) or [named.name for named in session.tokenizers[:2]]
    if len(names) > _MOST:
        raise ViewError(f"at most {_MOST} tokenizers stand side by side, not {len(names)}")
    tokenizers = tuple(session.named(name).tokenizer for name in names)
    found = bl.compare(
        tokenizers,
        {"text": text},
        names=names,
        languages=False,
        overlaps=False,
        max_differences=_MAX_DIFFERENCES,
    )
    # What does not depend on the text: the parallel sample, and what the vocabularies share.
    once = session.remember(("compare", *names), lambda: bl.compare(tokenizers, names=names))
    rows, drawn = _rows(tokenizers, text, found)
    return {
        "names": names,
        "tokenizers": [side.to_dict() for side in found.tokenizers],
        "figures": [row.to_dict() for row in found.figures],
        "boundaries": found.boundaries[0].to_dict(),
        "rows": rows,
        "drawn_bytes": drawn,
        "left_out_bytes": len(text.encode()) - drawn,
        "differences": [difference.to_dict() for difference in found.differences[:_LISTED]],
        "languages": [row.to_dict() for row in once.languages],
        "overlaps": [
            {key: value for key, value in row.to_dict().items() if not key.startswith("examples")}
            for row in once.overlaps
        ],
    }


def _rows(
    tokenizers: tuple[Tokenizer, ...], text: str, found: Comparison
) -> tuple[list[list[dict[str, Any]]], int]:
    """The tokens of each tokenizer up to a place where all of them end one, and that place in bytes."""
    encoded = [tok.encode_with_offsets(text, unit="byte", disallowed_special=()) for tok in tokenizers]
    size = len(text.encode())
    common = set.intersection(*({end for _, (_, end) in _drawn(row)} for row in encoded))
    drawn = max(common, default=0) if size > _DRAWN else size
    spans = [difference.byte_span for difference in found.differences]
    starts = [span.start for span in spans]

    def ringed(begin: int) -> bool:
        place = bisect.bisect_right(starts, begin) - 1
        return place >= 0 and begin < spans[place].end

    rows = [
        [
            {"id": id_, "bytes": tok.id_to_bytes(id_).hex(), "span": [begin, end], "ringed": ringed(begin)}
            for id_, (begin, end) in _drawn(row)
            if end <= drawn
        ]
        for tok, row in zip(tokenizers, encoded, strict=True)
    ]
    return rows, drawn


def _drawn(encoded: tuple[list[int], list[tuple[int, int]]]) -> list[tuple[int, tuple[int, int]]]:
    """Ids and spans of the tokens that may be drawn."""
    ids, spans = encoded
    return list(zip(ids, itertools.takewhile(lambda span: span[1] <= _DRAWN, spans), strict=False))

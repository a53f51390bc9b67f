"""The tab Compare: two to six tokenizers on the same text."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import byteloom as bl
from byteloom.explorer.session import ViewError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from byteloom import Tokenizer
    from byteloom.explorer.session import NamedTokenizer, Session

__all__ = ["view", "warm"]

_MOST = 6
# Bytes of the text whose tokens are drawn; the figures are of all.
_DRAWN = 800
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
    sides = [session.named(name) for name in names]
    tokenizers = tuple(side.tokenizer for side in sides)
    found = bl.compare(
        tokenizers,
        {"text": text},
        names=names,
        languages=False,
        overlaps=False,
        max_differences=_LISTED,
    )
    rows, drawn = _rows(tokenizers, text)
    languages, overlaps = _facts(session, sides)
    return {
        "names": names,
        "tokenizers": [side.to_dict() for side in found.tokenizers],
        "figures": [row.to_dict() for row in found.figures],
        "boundaries": found.boundaries[0].to_dict(),
        "rows": rows,
        "drawn_bytes": drawn,
        "left_out_bytes": len(text.encode()) - drawn,
        "differences": [difference.to_dict() for difference in found.differences],
        "languages": languages,
        "overlaps": overlaps,
        "pending": languages is None or overlaps is None,
    }


def warm(session: Session) -> None:
    """Begin what the first look at the tab needs."""
    _facts(session, session.tokenizers[:2])


def _facts(session: Session, sides: Sequence[NamedTokenizer]) -> tuple[list[Any] | None, list[Any] | None]:
    """What depends on no text: the parallel sample, and what vocabularies share; `None` until it is there."""
    waiting = True

    def known(make: Callable[..., Any], *of: NamedTokenizer) -> Any:
        nonlocal waiting
        key = ("compare", make.__name__, *(side.name for side in of))
        found = session.facts(key, lambda: make(*of), wait=waiting)
        waiting = waiting and found is not None
        return found

    languages = [known(_languages, side) for side in sides]
    overlaps = [known(_overlap, *pair) for pair in itertools.combinations(sides, 2)]
    return (
        # Language by language, as `compare` has them.
        None if None in languages else [row for rows in zip(*languages, strict=True) for row in rows],
        None if None in overlaps else overlaps,
    )


def _languages(side: NamedTokenizer) -> list[dict[str, Any]]:
    found = bl.compare([side.tokenizer], names=[side.name], overlaps=False)
    return [row.to_dict() for row in found.languages]


def _overlap(a: NamedTokenizer, b: NamedTokenizer) -> dict[str, Any]:
    found = bl.compare([a.tokenizer, b.tokenizer], names=[a.name, b.name], languages=False)
    row = found.overlaps[0].to_dict()
    return {key: value for key, value in row.items() if not key.startswith("examples")}


def _rows(tokenizers: tuple[Tokenizer, ...], text: str) -> tuple[list[list[dict[str, Any]]], int]:
    """The tokens of each tokenizer up to a place where all of them end one, and that place in bytes.

    A token is ringed where not every tokenizer has one of exactly its bytes there.
    """
    encoded = [tok.encode_with_offsets(text, unit="byte", disallowed_special=()) for tok in tokenizers]
    size = len(text.encode())
    common = set.intersection(*({end for _, (_, end) in _drawn(row)} for row in encoded))
    drawn = max(common, default=0) if size > _DRAWN else size
    shared = set.intersection(*({span for _, span in _drawn(row)} for row in encoded))
    rows = [
        [
            {"id": id_, "bytes": tok.id_to_bytes(id_).hex(), "span": list(span), "ringed": span not in shared}
            for id_, span in _drawn(row)
            if span[1] <= drawn
        ]
        for tok, row in zip(tokenizers, encoded, strict=True)
    ]
    return rows, drawn


def _drawn(encoded: tuple[list[int], list[tuple[int, int]]]) -> list[tuple[int, tuple[int, int]]]:
    """Ids and spans of the tokens that may be drawn."""
    ids, spans = encoded
    return list(zip(ids, itertools.takewhile(lambda span: span[1] <= _DRAWN, spans), strict=False))

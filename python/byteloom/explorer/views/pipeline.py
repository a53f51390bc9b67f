"""The Pipeline tab: a text through every stage to what a model receives, and back."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from byteloom.explain import PreToken
from byteloom.explorer.session import integer, string

from ._common import explained_parts, piece

if TYPE_CHECKING:
    from byteloom import Tokenizer
    from byteloom.explain import Token
    from byteloom.explorer.session import Session

__all__ = ["view"]

_PRETOKENS = 60  # drawn; the rest is counted
_ROWS = 24  # rows of the embedding table that are drawn
_WORD = 40  # characters of a word to compare
_MERGES = 3000  # the first tokens learned, among which a known word is looked for

# Words that no training text is likely to hold, and scripts that most lack.
_NEW = ("blorptastic", "unglimmering", "zyxomatic")
_SCRIPTS = ("გამარჯობა", "வணக்கம்", "ሰላም", "ᎣᏏᏲ")
_UNKNOWN = "unknown"  # the kind of a token that stands for what is lost


def view(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    """The stages of a text, and three words side by side.

    Options: `width`, numbers in a row of the embedding table; `known`, `new` and `script`, words to compare
    in place of the chosen ones.
    """
    tok = session.tokenizer(request).tokenizer
    text = session.text(request)
    width = integer(request, "width", 768, least=1, most=65_536)
    ids = tok.encode_ordinary(text)
    parts, pretokens = explained_parts(tok, text, _PRETOKENS)
    tokens = [token for part in parts for token in part.tokens]
    rows: list[int] = []
    for token in tokens:
        if token.id not in rows:
            rows.append(token.id)
    decoded = tok.decode(ids)
    return {
        "counts": {
            "characters": len(text),
            "bytes": len(text.encode()),
            "pretokens": pretokens["count"],
            "tokens": len(ids),
        },
        "pretokens": [
            {
                **piece(part.original if isinstance(part, PreToken) else part.bytes),
                "category": part.match.category if isinstance(part, PreToken) else "added token",
                "tokens": [part.tokens[0].index, part.tokens[-1].index + 1],
            }
            for part in parts
        ],
        "tokens": [_token(token) for token in tokens],
        "left_out": {"pretokens": pretokens["left_out"], "tokens": len(ids) - len(tokens)},
        "decoded": {"same": decoded == text, "byte_count": len(decoded.encode())},
        "model": {
            "rows": tok.max_token_id + 1,
            "width": width,
            "numbers": (tok.max_token_id + 1) * width,
            "used": rows[:_ROWS],
            "used_left_out": len(rows) - len(rows[:_ROWS]),
        },
        "words": _words(tok, text, request),
    }


def _token(token: Token) -> dict[str, Any]:
    return {"index": token.index, "id": token.id, **piece(token.bytes), "kind": token.token_kind}


def _words(tok: Tokenizer, text: str, request: dict[str, Any]) -> list[dict[str, Any]]:
    """A word that is one token, one that must be pieced together, and one in a script that is strange."""
    words = {
        "known": string(request, "known", longest=_WORD) or _known_word(tok, text),
        "new": string(request, "new", longest=_WORD)
        or next((word for word in _NEW if tok.count(word) > 2), _NEW[0]),  # noqa: PLR2004 - more than halves
        "script": string(request, "script", longest=_WORD)
        or max(_SCRIPTS, key=lambda word: tok.count(word) / len(word)),
    }
    found = []
    for role, word in words.items():
        tokens = tok.explain(word, disallowed_special=(), max_steps=0, max_losers=0).tokens
        ids = [token.id for token in tokens]
        found.append(
            {
                "role": role,
                "text": word,
                "characters": len(word),
                "byte_count": len(word.encode()),
                "tokens": [_token(token) for token in tokens],
                "unknown": sum(token.token_kind == _UNKNOWN for token in tokens),
                "same": tok.decode(ids) == word,
            }
        )
    return found


def _known_word(tok: Tokenizer, text: str) -> str:
    """The longest word of the text that is one token; else the longest of those learned first."""
    for word in sorted(set(tok.pretokens(text[:2000])), key=lambda word: (-len(word), word)):
        if word.strip(" ").isalpha() and len(word) <= _WORD and tok.count(word) == 1:
            return word
    learned = (tok.id_to_bytes(a) + tok.id_to_bytes(b) for a, b in islice(tok.merges, _MERGES))
    words = [word.decode() for word in learned if word.strip(b" ").isalpha()]
    return max(words, key=len, default="e")

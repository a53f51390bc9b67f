"""Tokens as people can read them in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import byteloom

__all__ = ["plain_text", "plain_token", "readable", "show_pieces", "show_tokens", "wants_color"]


def readable(token: bytes) -> str:
    """The bytes of a token as text on one line, with signs for what cannot be seen.

    >>> readable(b" caf\\xc3\\xa9\\n"), readable(b"\\xe2\\x98"), readable(b"\\x1b[31m")
    ('·café↵', '⟨E2 98⟩', '␛[31m')
    """
    return byteloom.render.visible(token)


def plain_text(text: str) -> str:
    """A text on one line, with signs for what cannot be seen; spaces stay spaces.

    >>> plain_text("two\\nlines")
    'two↵lines'
    """
    return byteloom.render.visible(text.encode("utf-8", "surrogatepass"), spaces=False)


def plain_token(token: bytes) -> str:
    """A token in quotes, for tables: spaces stay spaces.

    >>> plain_token(b" the")
    "' the'"
    """
    return f"'{byteloom.render.visible(token, spaces=False)}'"


def wants_color(when: str) -> bool:
    """Whether to colour standard output: `always`, `never`, or `auto`: a terminal without NO_COLOR."""
    return byteloom.render.color_wanted() if when == "auto" else when == "always"


def show_tokens(tok: byteloom.Tokenizer, ids: Sequence[int], *, color: bool) -> str:
    """The tokens of `ids` one after the other, each its own colour, or with `│` between them."""
    return byteloom.render.terminal(tok, ids=ids, color=color, limit=len(ids))


def show_pieces(pieces: Iterable[tuple[bytes, bool]], *, color: bool, mark_lines: bool = False) -> str:
    """Pieces of a text, each with whether it is special, as `show_tokens` shows tokens.

    `mark_lines` puts `│` before a piece that begins a line too, where others run on over the end of a line.
    """
    return byteloom.render.pieces(pieces, mark_lines=mark_lines).terminal(color=color)

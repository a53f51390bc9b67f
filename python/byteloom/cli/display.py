"""Tokens as people can read them in a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import click

import byteloom

__all__ = ["plain_token", "readable", "show_pieces", "show_tokens", "wants_color"]

# Light backgrounds of the 256-colour palette, black text: readable on dark and on light terminals.
_BACKGROUNDS = (153, 157, 223, 218, 189, 159)
_MARKS = {" ": "·", "\n": "↵", "\t": "→"}
_JOINER = "\u200d"  # holds emoji together; escaped, it would tear them apart


def readable(token: bytes, *, marks: bool = True) -> str:
    """The bytes of a token as text on one line; what cannot be shown is escaped.

    Spaces are `·`, newlines `↵`, tabs `→`; bytes that are only a part of a character stand in `⟨ ⟩`, in hex.

    >>> readable(b" caf\\xc3\\xa9\\n"), readable(b"\\xe2\\x98"), readable(b"\\x1b[31m")
    ('·café↵', '⟨E2 98⟩', '\\\\x1b[31m')
    """
    shown: list[str] = []
    partial: list[str] = []

    def end_partial() -> None:
        if partial:
            shown.append(f"⟨{' '.join(partial)}⟩")
            partial.clear()

    # surrogateescape keeps a byte that is no character as one surrogate.
    for char in token.decode("utf-8", "surrogateescape"):
        if "\udc80" <= char <= "\udcff":
            partial.append(f"{ord(char) - 0xDC00:02X}")
            continue
        end_partial()
        if marks and char in _MARKS:
            shown.append(_MARKS[char])
        elif char.isprintable() or char == _JOINER:
            shown.append(char)
        else:
            shown.append(char.encode("unicode_escape").decode())
    end_partial()
    return "".join(shown)


def plain_token(token: bytes) -> str:
    """A token in quotes, for tables: spaces stay spaces.

    >>> plain_token(b" the")
    "' the'"
    """
    return f"'{readable(token, marks=False)}'"


def wants_color(when: str) -> bool:
    """Whether to colour standard output: `always`, `never`, or `auto`: a terminal without NO_COLOR."""
    if when != "auto":
        return when == "always"
    terminal = sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    return terminal and not os.environ.get("NO_COLOR")


def show_tokens(tok: byteloom.Tokenizer, ids: Iterable[int], *, color: bool) -> str:
    """The tokens of `ids` one after the other, each its own colour, or with `|` between them.

    A line of the text is a line here, so that long texts stay readable.
    """
    special = set(tok.special_tokens.values())
    return show_pieces(((tok.id_to_bytes(id_), id_ in special) for id_ in ids), color=color)


def show_pieces(pieces: Iterable[tuple[bytes, bool]], *, color: bool, mark_lines: bool = False) -> str:
    """Pieces of a text, each with whether it is special, as `show_tokens` shows tokens.

    `mark_lines` puts `|` before a piece that begins a line too, where others run on over the end of a line.

    >>> print(show_pieces([(b"a", False), (b"b\\n", False), (b"c\\nd", False)], color=False, mark_lines=True))
    a|b↵
    |c↵
    d
    """
    parts: list[str] = []
    for place, (token, special) in enumerate(pieces):
        text = readable(token)
        if not color:
            joined = place == 0 or (parts[-1].endswith("\n") and not mark_lines)
            parts.append(("" if joined else "|") + text.replace("↵", "↵\n"))
            continue
        # Pieces are styled one by one: a background that runs over a line's end fills the whole line.
        for piece in text.replace("↵", "↵\n").splitlines(keepends=True):
            bare = piece.removesuffix("\n")
            background = _BACKGROUNDS[place % len(_BACKGROUNDS)]
            parts.append(
                click.style(bare, fg=231, bg=88, bold=True)
                if special
                else click.style(bare, fg=16, bg=background)
            )
            parts.append(piece[len(bare) :])
    return "".join(parts).removesuffix("\n")

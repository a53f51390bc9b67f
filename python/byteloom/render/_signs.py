"""Bytes as people can read them: visible signs for what cannot be seen, hex for parts of characters."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

__all__ = [
    "Direction",
    "Run",
    "chip_directions",
    "clean",
    "has_right_to_left",
    "isolated",
    "runs",
    "visible",
    "width",
]

Direction = Literal["ltr", "rtl"]
Run = tuple[Literal["text", "sign", "bytes"], str]

_SIGNS = {" ": "·", "\t": "→", "\n": "↵", "\r": "␍", "\x7f": "␡"}
# Pieces of at most this many bytes are remembered: a text repeats its tokens.
_REMEMBERED = 32
# Joiners hold emoji and letters together; escaped, they would tear them apart.
_JOINERS = "\u200c\u200d"
_ISOLATE, _POP = "\u2068", "\u2069"
_RIGHT_TO_LEFT = ("R", "AL", "AN")
_STRONG: dict[str, Direction] = {"L": "ltr", "R": "rtl", "AL": "rtl"}


def runs(data: bytes, *, spaces: bool = True) -> tuple[Run, ...]:
    r"""The bytes as runs of text, of signs, and of bytes that are no whole character.

    Spaces are `·`, tabs `→`, newlines `↵`, other control characters their Unicode pictures; characters that
    cannot be seen or that turn the direction of text stand as `⟨U+202E⟩`, bytes as `⟨E2 98⟩`. A combining
    mark without a letter before it gets the dotted circle. No result holds U+FFFD or a control character.

    Args:
        data: The bytes, UTF-8 as far as they go.
        spaces: Whether spaces become `·`; otherwise they stay.

    >>> runs(b" caf\xc3\xa9\n"), runs(b"\xe2\x98")
    ((('sign', '·'), ('text', 'café'), ('sign', '↵')), (('bytes', '⟨E2 98⟩'),))
    >>> runs("\u202e\x1b\ufffd".encode())
    (('sign', '⟨U+202E⟩␛⟨U+FFFD⟩'),)
    """
    if len(data) > _REMEMBERED:
        return tuple(_runs(data, spaces=spaces))
    return _runs_of_short(data, spaces)


@functools.lru_cache(maxsize=1 << 14)
def _runs_of_short(data: bytes, spaces: bool) -> tuple[Run, ...]:
    return tuple(_runs(data, spaces=spaces))


def _runs(data: bytes, *, spaces: bool) -> Iterator[Run]:
    kind: Literal["text", "sign", "bytes"] = "text"
    held = ""
    # surrogateescape keeps a byte that is no character as one surrogate.
    text = data.decode("utf-8", "surrogateescape")
    for place, char in enumerate(text):
        new_kind: Literal["text", "sign", "bytes"]
        if "\udc80" <= char <= "\udcff":
            new_kind, shown = "bytes", f"{ord(char) - 0xDC00:02X}"
        else:
            sign = _sign(char, text, place, spaces=spaces)
            new_kind, shown = ("text", char) if sign is None else ("sign", sign)
            combines = new_kind == "text" and unicodedata.category(char).startswith("M")
            if combines and (kind != "text" or not held):
                shown = "◌" + char
        if new_kind != kind:
            if held:
                yield kind, f"⟨{held}⟩" if kind == "bytes" else held
            kind, held = new_kind, ""
        held += f" {shown}" if kind == "bytes" and held else shown
    if held:
        yield kind, f"⟨{held}⟩" if kind == "bytes" else held


def _sign(char: str, text: str, place: int, *, spaces: bool) -> str | None:
    """What stands for a character that cannot be shown; `None` for one that can."""
    if char == " ":
        return "·" if spaces else None
    if char in _SIGNS:
        return _SIGNS[char]
    if char < " ":
        return chr(0x2400 + ord(char))
    if char in _JOINERS and 0 < place < len(text) - 1:
        before, after = text[place - 1], text[place + 1]
        if before.isprintable() and after.isprintable() and " " not in before + after:
            return None
    if char.isprintable() and char != "\ufffd":
        return None
    return f"⟨U+{ord(char):04X}⟩"


def visible(data: bytes, *, spaces: bool = True) -> str:
    r"""`runs` as one string.

    >>> visible("日".encode()[:2] + b"\tx"), visible(b"a b", spaces=False)
    ('⟨E6 97⟩→x', 'a b')
    """
    # Most pieces are plain words.
    if data.isascii() and (text := data.decode()).isprintable():
        return text.replace(" ", "·") if spaces else text
    return "".join(text for _, text in runs(data, spaces=spaces))


def isolated(data: bytes) -> str:
    r"""`visible`, so that the direction of the text does not move what stands around it.

    >>> isolated("א".encode()) == "\u2068א\u2069", isolated(b"a")
    (True, 'a')
    """
    return _isolated_short(data) if len(data) <= _REMEMBERED else _isolated(data)


def _isolated(data: bytes) -> str:
    text = visible(data)
    return f"{_ISOLATE}{text}{_POP}" if has_right_to_left(text) else text


_isolated_short = functools.lru_cache(maxsize=1 << 14)(_isolated)


def clean(text: str) -> str:
    r"""A string of others, such as a name, as harmless text on one line.

    >>> clean("two\nlines\x1b[31m")
    'two↵lines␛[31m'
    """
    return visible(text.encode("utf-8", "surrogatepass"), spaces=False)


def has_right_to_left(text: str) -> bool:
    """Whether text holds a character that is written from right to left."""
    return not text.isascii() and any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in text)


def chip_directions(chips: Sequence[bytes]) -> tuple[Direction, list[Direction]]:
    """The direction of a text, and of each of the chips that it is cut into.

    The text has that of its first letter, as the Unicode algorithm has it. A chip has that of its first
    letter, and half a letter counts; one without letters goes with its neighbours where these agree, else
    with the text.

    >>> word = "אב".encode()
    >>> chip_directions([b"a", b" ", word[:3], word[3:], b"!"])
    ('ltr', ['ltr', 'ltr', 'rtl', 'rtl', 'ltr'])
    >>> chip_directions(["1 ".encode(), word, b" ", word])[1]
    ['rtl', 'rtl', 'rtl', 'rtl']
    """
    strong: list[Direction | None] = []  # of each byte
    for char in b"".join(chips).decode("utf-8", "surrogateescape"):
        kind = _STRONG.get(unicodedata.bidirectional(char))
        strong += [kind] * len(char.encode("utf-8", "surrogateescape"))
    base: Direction = next((kind for kind in strong if kind), "ltr")
    own: list[Direction | None] = []
    place = 0
    for chip in chips:
        own.append(next((kind for kind in strong[place : place + len(chip)] if kind), None))
        place += len(chip)
    before, after = _letters_before(own, base), _letters_before(own[::-1], base)[::-1]
    neighbours = zip(own, before, after, strict=True)
    resolved: list[Direction] = [
        kind or (left if left == right else base) for kind, left, right in neighbours
    ]
    return base, resolved


def _letters_before(own: Sequence[Direction | None], base: Direction) -> list[Direction]:
    """For each chip the direction of the last one before it that has one."""
    found: list[Direction] = []
    last = base
    for kind in own:
        found.append(last)
        last = kind or last
    return found


def width(text: str) -> int:
    """Columns that a terminal gives a text: two for wide characters, none for marks.

    >>> width("ab"), width("日本"), width("e\u0301")
    (2, 4, 1)
    """
    columns = 0
    for char in text:
        if unicodedata.category(char) not in ("Mn", "Me", "Cf"):
            columns += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return columns

"""Texts on which tokenizers differ: used by `verify` and `doctor`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

__all__ = ["HARD_TEXTS", "fuzzed_text", "shrunk", "special_texts"]

HARD_TEXTS: tuple[str, ...] = (
    "",
    " ",
    "a",
    "Hello, world! The quick brown fox.",
    # Whitespace: runs, before words, at the end, and all that counts as such somewhere.
    "  two   three    four",
    "end  ",
    " \n",
    "\n ",
    "x\n  ",
    "x \n\t\n \t",
    "a \n b",
    "a\n\n\nb\n \n  c\n",
    "a\r\nb\rc\n\rd\r\n\r\n e",
    "\t\ttab\t x\t",
    "line \t\n\t end \n",
    "a\x0bb\x0cc\x1cd\x1de\x1ef\x1fg\x85h",
    "a\u00a0b\u1680c\u2000d\u2003e\u2028f\u2029g\u202fh\u205fi\u3000j",
    "a\u180eb\u200bc\u200dd\u2060e\ufefff",
    " \u00a0 x \u3000\u3000 y\u1680 \u1680",
    # Contractions, of both cases and with what only looks like an apostrophe.
    "I'm you're he'll she'd we've it's don't",
    "I'M YOU'RE HE'LL SHE'D WE'VE IT'S DON'T O'CLOCK",
    "'s 's's 'S '\u017f 'sd ''ll 'llx 'VE'",
    "it\u2019s \u2018quoted\u2019 it`s",
    # Digits.
    "1 12 123 1234 12345 1234567890",
    "3.14 1,000,000 0x1F 1e-9 2026-11-30",
    "\u0663\u0664\u0665\u0666 \u096f\u0966\u0967 \u00bd\u00b2\u2167 \u3007\u4e00 \U0001d7d8\U0001d7d9",
    "a1b2c3 x86_64 v2.0",
    # Case, for patterns that look at it.
    "camelCase PascalCase HTTPServer iPhone XMLHttpRequest",
    "\u01c5 \u1e9e \u00df \u0130stanbul \u0131 \u017f \u2126 \u212a \ua7f7",
    "\u02b0\u02b1 \u00aa\u00ba \u2c7c \u1d43",
    # Punctuation and code.
    "!?...,,,;;;:::---___===+++",
    "!!!\n\n ??\r\n ...\t/",
    "def f(x):\n    return x**2  # square\n\n\tif x:\n\t\tpass\n",
    "<a href=\"x\">&amp;</a> {'k': [1, 2]} // /* */ \\n",
    "_a __b__ c_d -e --f",
    # Marks, scripts, and characters of more than one code point.
    "e\u0301 n\u0303 a\u0308\u0323 \u0301x q\u0323\u0307 \u00e9",
    "\u1112\u1161\u11ab \ud55c \u1100\u1161\u11a8",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3002\u4e2d\u6587\uff0c\u6587\u672c",
    "\u6f22\u5b57\u30ab\u30bf",
    "\u043f\u0440\u0438\u0432\u0435\u0442 \u03ba\u03cc\u03c3\u03bc\u03b5 \u054d\u0561 \u10d0\u10d1",
    "\u0939\u093f\u0928\u094d\u0926\u0940",
    "\u0ba4\u0bae\u0bbf\u0bb4\u0bcd \u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22",
    "\u05e9\u05b8\u05dc\u05d5\u05b9\u05dd",
    "\u0645\u064e\u0631\u0652\u062d\u064e\u0628\u064b\u0627 \u200fabc\u200e",
    "\U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "\U0001f1fa\U0001f1f8 \u2764\ufe0f 1\ufe0f\u20e3",
    "\U00010400\U00010428 \U00020000\U0002ffff \U0001f600a \U000e0041",
    # Odd code points: controls, unassigned, private, the last ones.
    "\x00 a\x00b \x00\x00 \x7f\x01\x02",
    "\ufffd \ufffe\uffff \ue000 \U0010ffff \u0378 \U000e0001",
    "\u2581under \u0120letter \u010a \u00ad",
    # Long runs.
    "a" * 300,
    "ab" * 200,
    " " * 200 + "x",
    "\n" * 100,
    " \n" * 50,
    "1" * 100,
    "=" * 150,
    "\u4e2d" * 70,
    "\U0001f600" * 30,
    "\u0301" * 40,
    "x " * 100,
    "A" * 90 + "a" * 90,
)
"""Texts that name what they are about; each has split implementations before."""

_ALPHABET = (
    *"abcdestlmrvXYZABC019 '",
    *' \n\r\t.,!?-_/<>|[]{}"\\',
    *"\u00e9\u00df\u017f\u212a\u01c5\u02b0\u00bd\u0663\u0301\u200d\ufe0f\u00a0\u3000\u1680\u2028\x85\x0b\x1c\x00",
    *"\u65e5\u306e\ud55c\u0e01\u093f\u05e9\u0645\u0436\u0416\U0001f600\U0001f3fd\U00010400\ufffd\u2019\u2581",
)
_WORDS = (
    "the", " the", "ing", "'s", "'LL", "'re", "  ", "\n\n", "\r\n", " \n", "\t", "123", "4567", " world",
    "...", "\u4e2d\u6587", " \u00e9t\u00e9", "HTTP", "\U0001f44d\U0001f3fd",
)  # fmt: skip
_LONGEST = 24


def fuzzed_text(chance: random.Random, special: Iterable[str] = (), *, any_character: bool = True) -> str:
    """A short text made of characters that patterns tell apart, words, special tokens and any code points.

    Without `any_character`, it holds none on which versions of Unicode disagree.

    >>> fuzzed_text(random.Random(1)) == fuzzed_text(random.Random(1))
    True
    """
    names = list(special)
    parts: list[str] = []
    for _ in range(chance.randint(1, _LONGEST)):
        kind = chance.random()
        if kind < 0.6:  # noqa: PLR2004 - most characters are of a class that matters
            part = chance.choice(_ALPHABET)
        elif kind < 0.9 or (kind >= 0.96 and not names):  # noqa: PLR2004
            part = chance.choice(_WORDS)
        elif kind < 0.96:  # noqa: PLR2004
            part = _any_character(chance) if any_character else chance.choice(_ALPHABET)
        else:
            part = chance.choice(names)
        parts.append(part * (chance.randint(2, 6) if chance.random() < 0.1 else 1))  # noqa: PLR2004
    return "".join(parts)


def _any_character(chance: random.Random) -> str:
    code = chance.randrange(0x110000 - 0x800)
    return chr(code if code < 0xD800 else code + 0x800)  # noqa: PLR2004 - surrogates are no characters


def special_texts(names: Iterable[str]) -> Iterator[str]:
    """Texts with special tokens where they meet words, spaces and each other.

    >>> list(special_texts(["<s>"]))[:2]
    ['<s>', 'a<s>b']
    """
    known = list(names)
    for name in known:
        yield from (name, f"a{name}b", f"a {name} b", f"\n{name}\n", f" {name}", name * 2)
        yield from (name[:-1], name[1:], name.upper(), name.lower())
    if known:
        yield "".join(known[:50])
        yield " ".join(known[-50:])


def shrunk(text: str, matters: Callable[[str], bool], tries: int = 2_000) -> str:
    """A part of `text` that still matters, and from which no character can be left out.

    >>> shrunk("many words and one more", lambda text: "one" in text)
    'one'
    """
    size = len(text)
    while size:
        size = max(1, size // 2)
        begin = 0
        removed = False
        while begin < len(text):
            shorter = text[:begin] + text[begin + size :]
            tries -= 1
            if tries < 0:
                return text
            if shorter and matters(shorter):
                text, removed = shorter, True
            else:
                begin += size
        # The last round, of single characters, is repeated until it finds nothing.
        if size == 1 and not removed:
            break
    return text

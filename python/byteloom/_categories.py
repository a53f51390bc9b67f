"""Names for the alternatives of patterns, for people."""

from __future__ import annotations

import re

__all__ = ["category"]

_CONTRACTIONS = ("contraction",) * 7
_SPACE = "white space"

_BUILT_IN = {
    "gpt2": (*_CONTRACTIONS, "letters", "numbers", "symbols", _SPACE, _SPACE),
    "cl100k": ("contraction", "letters", "numbers", "symbols", _SPACE, "newlines", _SPACE, _SPACE),
    "o200k": ("letters", "capital letters", "numbers", "symbols", "newlines", _SPACE, _SPACE),
    "llama3": ("contraction", "letters", "numbers", "symbols", "newlines", _SPACE, _SPACE),
    "qwen2": ("contraction", "letters", "numbers", "symbols", "newlines", _SPACE, _SPACE),
    "simple": (_SPACE, "word"),
    "course-words": ("word", "symbols", _SPACE),
    "course-ws": ("word", "symbols", _SPACE),
    "course-gpt2": (*_CONTRACTIONS, "letters", "numbers", "symbols", "underscores", _SPACE, _SPACE),
    "sentencepiece": ("word", _SPACE),
    "none": ("text",),
}

_LETTERS = re.compile(r"\\p\{(?:L|Alphabetic|IsAlphabetic)\w*\}|\\pL|a-z|A-Z|\[:alpha:\]")
_NUMBERS = re.compile(r"\\p\{N\w*\}|\\pN|\\d|0-9|\[:digit:\]")


def category(pattern_name: str | None, index: int, source: str) -> str:
    """What an alternative is for.

    Those of the built-in patterns have names; of others the regex is looked at, which says as much as a
    glance.
    """
    if pattern_name is not None:
        return _BUILT_IN[pattern_name][index]
    # Neither what must not follow nor what a class excludes is what matches.
    positive = re.sub(r"\(\?<?[!=][^)]*\)|\[\^[^\]]*\]", "", source)
    if re.match(r"\(\?i?:'|'", source) and re.search(r"\w", source):
        return "contraction"
    letters = bool(_LETTERS.search(positive)) or r"[^\W\d_]" in source
    numbers = bool(_NUMBERS.search(positive))
    if r"\w" in positive or (letters and numbers):
        return "word"
    if letters:
        return "letters"
    if numbers:
        return "numbers"
    if r"\s" in positive:
        return "newlines" if r"\n" in positive else _SPACE
    if positive != source:
        return "symbols"
    if r"\S" in positive:
        return "word"
    if r"\n" in positive:
        return "newlines"
    return f"alternative {index}"

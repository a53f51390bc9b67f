"""How the courses use the engine: arguments checked, quiet training, decoding of any id, pre-tokens."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import byteloom as bl

__all__ = ["decoded", "pretokens", "text_of", "train_quietly", "whole_number"]


def text_of(text: object, name: str = "text") -> str:
    """`text`, if it is a `str` that has a UTF-8 form; the courses learn from and encode nothing else.

    `name` is for the message.

    Raises:
        TypeError: it is no `str`.
        TextError: it holds a lone surrogate.
    """
    if not isinstance(text, str):
        message = f"{name} must be str, not {type(text).__name__}"
        raise TypeError(message)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError as error:  # the engine's message would name an option that courses lack
        code = f"U+{ord(text[error.start]):04X}"
        message = f"{name} holds a lone surrogate, {code}, at index {error.start}; put U+FFFD in its place"
        raise bl.TextError(message) from None
    return text


def whole_number(name: str, value: object) -> int:
    """`value` as an `int`, if it is an integer of some kind; `name` is for the message.

    Raises:
        TypeError: it is none.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        message = f"{name} must be an integer, not {type(value).__name__}"
        raise TypeError(message)
    return operator.index(value)


def train_quietly(text: str, vocab_size: int, **options: Any) -> bl.Tokenizer:
    """`byteloom.Tokenizer.train`, silent where the text runs out of pairs: in a course it often does."""
    return bl.Tokenizer.train(text, vocab_size, allow_fewer=True, **options)


def decoded(
    engine: bl.Tokenizer, ids: Iterable[int], *, beyond: int, skip_special_tokens: bool = True
) -> str:
    """The text of ids, where each id past the vocabulary counts as the id `beyond`.

    Raises:
        UnknownTokenError: a negative id, with its position.
        TypeError: an id that is no integer, with its position.
    """
    ids = list(ids)
    try:
        return engine.decode(ids, skip_special_tokens=skip_special_tokens)
    except bl.UnknownTokenError:
        end = engine.vocab_size
        known = [beyond if hasattr(i, "__index__") and operator.index(i) >= end else i for i in ids]
        return engine.decode(known, skip_special_tokens=skip_special_tokens)


@lru_cache(maxsize=8)
def _splitter(pattern: str) -> bl.Tokenizer:
    return bl.Tokenizer.from_merges([], pattern=pattern, cache_bytes=0)


def pretokens(text: str, pattern: str) -> list[str]:
    """The pieces into which a built-in pattern cuts `text`; joined, they are the text.

    >>> pretokens("a dog. A dog!", "course-ws")
    ['a', ' dog', '.', ' A', ' dog', '!']
    """
    return _splitter(pattern).pretokens(text_of(text))

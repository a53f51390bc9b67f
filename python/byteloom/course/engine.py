"""How the courses use the engine: quiet training, pre-tokens, arguments checked."""

from __future__ import annotations

import operator
import warnings
from functools import lru_cache
from typing import Any

import byteloom as bl

__all__ = ["pretokens", "text_of", "train_quietly", "whole_number"]


def text_of(text: object) -> str:
    """`text`, if it is a `str`; the courses learn from and encode nothing else.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(text, str):
        message = f"text must be str, not {type(text).__name__}"
        raise TypeError(message)
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bl.TrainingWarning)
        return bl.Tokenizer.train(text, vocab_size, **options)


@lru_cache(maxsize=8)
def _splitter(pattern: str) -> bl.Tokenizer:
    return bl.Tokenizer.from_merges([], pattern=pattern, cache_bytes=0)


def pretokens(text: str, pattern: str) -> list[str]:
    """The pieces into which a built-in pattern cuts `text`; joined, they are the text.

    >>> pretokens("a dog. A dog!", "course-ws")
    ['a', ' dog', '.', ' A', ' dog', '!']
    """
    return _splitter(pattern).pretokens(text_of(text))

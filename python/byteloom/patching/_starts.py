"""Where the words and tokens of a text start."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from byteloom._tokens import TokenTable

if TYPE_CHECKING:
    from byteloom._tokenizer import Tokenizer

    from ._texts import Integers

__all__ = ["token_starts", "word_starts"]


def token_starts(tokenizer: Tokenizer, text: bytes) -> Integers:
    """The first bytes of tokens, ascending, the first of them 0."""
    if not text:
        return np.empty(0, np.int64)
    ids = tokenizer.encode_array(text, disallowed_special=())
    sizes = _sizes(tokenizer)
    if sizes is not None:
        lengths = sizes[ids]
        starts: Integers = np.cumsum(lengths) - lengths
        if starts[-1] + lengths[-1] == len(text):
            return starts
    # The tokens are those of another text, a normalized one: the engine knows what stood where.
    _, places = tokenizer.encode_with_offsets(text, unit="byte", disallowed_special=())
    return np.unique([0, *(start for start, end in places if start < end)])


@functools.lru_cache(maxsize=4)
def _sizes(tokenizer: Tokenizer) -> Integers | None:
    """The bytes of each token, where they are the bytes of the text."""
    if not tokenizer.info()["lossless"]:
        return None
    return TokenTable(tokenizer).lengths


def _word_bytes() -> npt.NDArray[np.bool_]:
    table = np.zeros(256, np.bool_)
    table[128:] = True
    table[[byte for byte in range(128) if chr(byte).isalnum()]] = True
    return table


_WORD = _word_bytes()


def word_starts(text: bytes) -> npt.NDArray[np.bool_]:
    """Whether a word starts at each byte.

    Words are of letters, digits and characters beyond ASCII; whatever else stands between them.
    """
    word = _WORD[np.frombuffer(text, np.uint8)]
    starts = word.copy()
    starts[1:] &= ~word[:-1]
    return starts

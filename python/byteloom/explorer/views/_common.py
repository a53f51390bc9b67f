"""What several views share: pieces of a text as records."""

from __future__ import annotations

import threading
import warnings
from typing import Any

from byteloom import Tokenizer, TrainingWarning
from byteloom.errors import PatternError
from byteloom.explain import Part, PreToken
from byteloom.explorer.session import ViewError

__all__ = ["explained_parts", "piece", "train"]

_BYTES = 4000  # of a text that is told of in detail
_LONG = 1024  # bytes of a piece: what a segment has, unless it is one token

_QUIET = threading.Lock()
"""Python's list of warnings belongs to all threads."""


def piece(data: bytes) -> dict[str, Any]:
    """A piece of a text, as the page draws it: its bytes; of a very long one the first, and how many.

    >>> piece(b"caf")
    {'bytes': '636166'}
    """
    if len(data) <= _LONG:
        return {"bytes": data.hex()}
    return {"bytes": data[:_LONG].hex(), "byte_count": len(data)}


def explained_parts(
    tok: Tokenizer,
    text: str,
    most: int,
    *,
    most_tokens: int = 800,
    max_steps: int | None = 0,
    max_losers: int = 0,
) -> tuple[list[Part], dict[str, int]]:
    """The first parts of a text, and how many pre-tokens there are and are left out.

    Special tokens that the text spells are ordinary text here. There are at most `most` parts, and fewer
    where they hold more than `_BYTES` bytes or `most_tokens` tokens; a long pre-token comes in segments, each
    of them a part, and one that is not there to its end is left out.
    """
    stream = tok.explain_stream(text, disallowed_special=(), max_steps=max_steps, max_losers=max_losers)
    parts: list[Part] = []
    more = False
    tokens = 0
    for part in stream:
        # A part is not cut inside a token, and there are tokens of any length.
        more = (
            len(parts) == most or tokens > most_tokens or max(part.byte_span.start, len(part.bytes)) > _BYTES
        )
        if more:
            break
        parts.append(part)
        tokens += len(part.tokens)
    count = len(tok.pretokens(text))
    drawn = len({part.index for part in parts if isinstance(part, PreToken)})
    return parts, {"count": count, "left_out": max(1, count - drawn) if more else 0}


def train(text: str, vocab_size: int, *, pattern: str, **options: Any) -> Tokenizer:
    """`Tokenizer.train` on one thread, without a warning where there are fewer pairs than asked for.

    Raises:
        ViewError: the pattern does not compile, or gave up.
    """
    with _QUIET, warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        try:
            return Tokenizer.train(text, vocab_size, pattern=pattern, threads=1, **options)
        except PatternError as error:
            raise ViewError(str(error)) from None

"""The tokens of a tokenizer, one by one and as tables by id."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from ._record import text_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._tokenizer import Tokenizer

__all__ = ["TokenTable", "ordinary_tokens", "table_of"]


def ordinary_tokens(tok: Tokenizer) -> Iterator[tuple[int, bytes]]:
    """The tokens that are not special, by id; holes are left out."""
    special = set(tok.special_tokens.values())
    for token in range(tok.max_token_id + 1):
        if token not in special:
            try:
                yield token, tok.id_to_bytes(token)
            except KeyError:  # a hole
                continue


class TokenTable:
    """Facts of every id as arrays, so that whole texts are measured without a step for each token."""

    def __init__(self, tok: Tokenizer) -> None:
        self._tok = tok

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Bytes of each id, special ones too; 0 for holes."""
        import numpy as np  # noqa: PLC0415

        lengths = np.zeros(self._tok.max_token_id + 1, dtype=np.int64)
        for id_, token in ordinary_tokens(self._tok):
            lengths[id_] = len(token)
        for id_ in self._tok.special_tokens.values():
            lengths[id_] = len(self._tok.id_to_bytes(id_))
        return lengths

    @cached_property
    def partial(self) -> npt.NDArray[np.bool_]:
        """Which ids hold a part of a character: their bytes alone are not valid UTF-8."""
        import numpy as np  # noqa: PLC0415

        partial = np.zeros(self._tok.max_token_id + 1, dtype=np.bool_)
        for id_, token in ordinary_tokens(self._tok):
            partial[id_] = text_of(token) is None
        return partial


@lru_cache(maxsize=8)
def table_of(tok: Tokenizer) -> TokenTable:
    """The table of a tokenizer, kept for a few of them: a large one takes a second to make."""
    return TokenTable(tok)

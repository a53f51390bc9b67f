"""The two moves of byte-pair encoding on a plain list: count the neighbours, join a pair.

They are here to be read and tried. Training and encoding do not use them: that is the engine's work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import TypeVar

__all__ = ["get_pairs", "merge"]

Symbol = TypeVar("Symbol", bound=Hashable)


def get_pairs(ids: Sequence[Symbol]) -> Counter[tuple[Symbol, Symbol]]:
    """How often each pair of neighbours occurs, overlaps included, in the order in which pairs are met.

    Args:
        ids: Ids, or strings: whatever stands for the symbols.

    >>> get_pairs([1, 1, 1, 2])
    Counter({(1, 1): 2, (1, 2): 1})
    """
    return Counter(pairwise(ids))


def merge(ids: Sequence[Symbol], pair: tuple[Symbol, Symbol], new_id: Symbol) -> list[Symbol]:
    """A new list with `new_id` in the place of each `pair`: from left to right, without overlaps.

    Args:
        ids: The symbols.
        pair: The two neighbours to join.
        new_id: What they become.

    >>> merge([1, 1, 1, 2], (1, 1), 9)
    [9, 1, 2]
    """
    left, right = pair
    merged: list[Symbol] = []
    at = 0
    while at < len(ids):
        joins = at + 1 < len(ids) and ids[at] == left and ids[at + 1] == right
        merged.append(new_id if joins else ids[at])
        at += 2 if joins else 1
    return merged

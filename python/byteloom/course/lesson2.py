"""The second course, lesson 2: byte-pair encoding as a few functions around one dict of merges.

A text is its UTF-8 bytes, ids 0 to 255. Training joins the most frequent pair of neighbours to the next
free id, from 256 on; the merges, in the order in which they were learned, are the tokenizer.

>>> from byteloom.course.lesson2 import build_vocab, decode, encode, train
>>> merges = train("aaabdaaabac", vocab_size=258)
>>> merges
{(97, 97): 256, (256, 97): 257}
>>> encode("aaabdaaabac", merges)
[257, 98, 100, 257, 98, 97, 99]
>>> decode([257, 98], build_vocab(merges))
'aaab'

The exercises: `encoding_cost` (why Hindi costs more), `presplit`, `train_presplit` and `encode_presplit`
(merges inside words), `save_merges` and `load_merges` (JSON).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypedDict

import byteloom as bl

from .engine import pretokens, text_of, train_quietly, whole_number
from .files import read_json, write_json
from .pairs import get_pairs, merge

__all__ = [
    "EncodingCost",
    "Merges",
    "build_vocab",
    "decode",
    "encode",
    "encode_presplit",
    "encoding_cost",
    "get_pairs",
    "load_merges",
    "merge",
    "presplit",
    "save_merges",
    "train",
    "train_presplit",
]

Merges = dict[tuple[int, int], int]
"""The id that each pair becomes. The lowest id was learned first and applies first."""

_WORDS = "course-ws"


def train(text: str, vocab_size: int) -> Merges:
    r"""Learn merges from a text, taken as one sequence of bytes.

    Of pairs that occur equally often, the one that stands first is joined. There is no least count:
    training goes on until the ids below `vocab_size` are used up or no pair is left.

    Args:
        text: What to learn from.
        vocab_size: Number of tokens wanted, the 256 bytes included.

    Raises:
        TextError: a lone surrogate in the text, with its index.
        TrainingError: a `vocab_size` beyond what the engine can hold; the limit is named.
        TypeError: `text` is no `str`, or `vocab_size` no integer.

    >>> train("yzab", 257)
    {(121, 122): 256}
    """
    return _train(text, vocab_size, "none")


def _train(text: str, vocab_size: int, pattern: str) -> Merges:
    size = max(whole_number("vocab_size", vocab_size), 256)
    learned = train_quietly(text_of(text), size, pattern=pattern, tie_break="first_seen", min_frequency=1)
    return {pair: 256 + place for place, pair in enumerate(learned.merges)}


def encode(text: str, merges: Mapping[tuple[int, int], int]) -> list[int]:
    """The ids of a text: the pair learned first is joined everywhere, then the next, until none is left.

    Args:
        text: Any text.
        merges: As `train` gives them.

    Raises:
        VocabularyError: merges that cannot have been learned; the first such is named.
        TextError: a lone surrogate in the text, with its index.
        TypeError: `text` is no `str`, or `merges` no mapping of pairs of integers to integers.

    >>> encode("abc", {(98, 99): 256, (97, 98): 257})
    [97, 256]
    """
    return _compiled(_items(merges), "none").encode_ordinary(text_of(text))


def _items(merges: Mapping[tuple[int, int], int]) -> tuple[tuple[Any, Any], ...]:
    if not isinstance(merges, Mapping):
        message = f"merges must be a dict of pairs to ids, not {type(merges).__name__}"
        raise TypeError(message)
    return tuple(merges.items())


def _rows(items: tuple[tuple[Any, Any], ...]) -> list[tuple[int, int, int]]:
    """Left id, right id and new id of each merge.

    Raises:
        TypeError: a merge that is not of this kind.
    """
    rows = []
    for pair, new_id in items:
        if not isinstance(pair, tuple) or len(pair) != 2:  # noqa: PLR2004
            message = f"merges: {pair!r} must be a pair of ids"
            raise TypeError(message)
        left, right = (whole_number(f"merges: each part of {pair!r}", part) for part in pair)
        rows.append((left, right, whole_number(f"merges: the id of {pair!r}", new_id)))
    return rows


@lru_cache(maxsize=8)
def _compiled(items: tuple[tuple[Any, Any], ...], pattern: str) -> bl.Tokenizer:
    """The tokenizer of some merges, kept for the next call with equal ones."""
    rows = sorted(_rows(items), key=itemgetter(2))
    for place, (left, right, new_id) in enumerate(rows):
        if new_id != 256 + place:
            message = (
                f"the pair ({left}, {right}) becomes {new_id} where {256 + place} comes next: the ids of "
                "merges go up from 256 without a gap"
            )
            raise bl.VocabularyError(message)
    cache_bytes = 0 if pattern == "none" else 8 << 20
    pairs = [(left, right) for left, right, _ in rows]
    return bl.Tokenizer.from_merges(pairs, pattern=pattern, cache_bytes=cache_bytes)


def build_vocab(merges: Mapping[tuple[int, int], int]) -> dict[int, bytes]:
    """The bytes that each id stands for: the 256 bytes, then what each merge makes, in order.

    Raises:
        VocabularyError: a merge that joins an id that does not exist yet, or makes one that does.
        TypeError: `merges` is no mapping of pairs of integers to integers.

    >>> vocab = build_vocab({(116, 104): 256, (256, 101): 257})
    >>> vocab[97], vocab[257], len(vocab)
    (b'a', b'the', 258)
    """
    vocab = {byte: bytes([byte]) for byte in range(256)}
    for left, right, new_id in _rows(_items(merges)):
        if left not in vocab or right not in vocab:
            missing = left if left not in vocab else right
            message = f"the pair ({left}, {right}) becomes {new_id}, but id {missing} does not exist yet"
            raise bl.VocabularyError(message)
        if new_id in vocab:
            message = f"the pair ({left}, {right}) becomes {new_id}, which is a token already"
            raise bl.VocabularyError(message)
        vocab[new_id] = vocab[left] + vocab[right]
    return vocab


def decode(ids: Iterable[int], vocab: Mapping[int, bytes]) -> str:
    r"""The text of ids. Bytes that are no UTF-8, such as half a character, become U+FFFD.

    Raises:
        UnknownTokenError: an id that is not in `vocab`, with its position.

    >>> decode([224, 164, 168], build_vocab({})), decode([224, 164], build_vocab({}))
    ('न', '\ufffd')
    """
    pieces = []
    for position, token in enumerate(ids):
        if token not in vocab:
            raise bl.UnknownTokenError(token, position)
        pieces.append(vocab[token])
    return b"".join(pieces).decode("utf-8", errors="replace")


class EncodingCost(TypedDict):
    """What a text costs in tokens."""

    characters: int
    bytes: int
    tokens: int
    bytes_per_character: float
    tokens_per_character: float


def encoding_cost(text: str, merges: Mapping[tuple[int, int], int]) -> EncodingCost:
    """What a text costs in tokens, and why: the first exercise.

    A script that training never saw has no merges, so each of its bytes is a token, and Devanagari takes
    three bytes a character.

    >>> merges = train("the cat sat on the mat. " * 5, 280)
    >>> encoding_cost("the cat", merges)["tokens_per_character"] < 1
    True
    >>> encoding_cost("नमस्ते", merges)["tokens_per_character"]
    3.0
    """
    characters, tokens = len(text_of(text)), len(encode(text, merges))
    size = len(text.encode())
    return {
        "characters": characters,
        "bytes": size,
        "tokens": tokens,
        "bytes_per_character": size / characters if characters else 0.0,
        "tokens_per_character": tokens / characters if characters else 0.0,
    }


def presplit(text: str) -> list[str]:
    r"""The words, punctuation and white space of a text; joined, they are the text. The second exercise.

    It cuts as `re.findall(r"\s?\w+|\s?[^\w\s]+|\s+", text)` does, with the characters of Unicode 16.0.

    >>> presplit("A dog! 3 dogs")
    ['A', ' dog', '!', ' 3', ' dogs']
    """
    return pretokens(text, _WORDS)


def train_presplit(text: str, vocab_size: int) -> Merges:
    """As `train`, with pairs counted inside the pieces of `presplit` only: "dog." becomes no token.

    >>> train_presplit("the cat the cat", 260)
    {(116, 104): 256, (256, 101): 257, (32, 99): 258, (258, 97): 259}
    """
    return _train(text, vocab_size, _WORDS)


def encode_presplit(text: str, merges: Mapping[tuple[int, int], int]) -> list[int]:
    """The ids of the pieces of `presplit`, each encoded by itself.

    >>> encode_presplit("the cat", train_presplit("the cat the cat", 300))
    [257, 260]
    """
    return _compiled(_items(merges), _WORDS).encode_ordinary(text_of(text))


def save_merges(merges: Mapping[tuple[int, int], int], path: str | os.PathLike[str]) -> None:
    """Write merges as JSON: a list of `[left, right, new id]`. The third exercise.

    Raises:
        TypeError: `merges` is no mapping of pairs of integers to integers.
        OSError: the file cannot be written.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "merges.json")
    ...     save_merges({(97, 97): 256}, path)
    ...     path.read_text(), load_merges(path)
    ('[[97, 97, 256]]', {(97, 97): 256})
    """
    write_json(path, _rows(_items(merges)))


def load_merges(path: str | os.PathLike[str]) -> Merges:
    """Read merges that `save_merges` wrote, in their order.

    Raises:
        FormatError: a file that holds something else, with the row.
        OSError: the file cannot be read.
    """
    name, rows = os.fspath(path), read_json(path)
    if not isinstance(rows, list):
        raise bl.FormatError(f"{name}: must be a list of [left, right, new id], not {type(rows).__name__}")
    merges: Merges = {}
    for index, row in enumerate(rows):
        if not (isinstance(row, list) and [type(part) for part in row] == [int, int, int]):
            raise bl.FormatError(f"{name}: row {index} must be [left, right, new id], three integers")
        left, right, new_id = row
        if (left, right) in merges:
            raise bl.FormatError(f"{name}: row {index} holds the pair [{left}, {right}] again")
        merges[left, right] = new_id
    return merges

"""The first course, step 1: a byte-level BPE tokenizer in one class, as GPT-2 has one.

A tokenizer is its list of merge rules and nothing else. Training finds the rules one by one, and their order
is the order in which encoding uses them; decoding needs none. Text is cut into words, punctuation and white
space first, and no rule crosses a cut.

The ids: 0 to 255 are the bytes, then one for each rule, then the five special tokens.

>>> from byteloom.course.step1 import Tokenizer
>>> tok = Tokenizer.train("the cat and the can and the cat", 270)
>>> tok.vocab_size
270
>>> ids = tok.encode("the cat")
>>> ids, [tok.decode([i]) for i in ids]
([259, 263], ['the', ' cat'])
>>> tok.decode(ids) == "the cat"
True
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import byteloom as bl

from .engine import decoded, text_of, train_quietly, whole_number
from .files import read_json, write_json
from .pairs import merge

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CACHE_WORDS", "PATTERN", "SPECIALS", "Tokenizer", "merge"]

PATTERN = re.compile(r" ?\w+| ?[^\w\s]+|\s+")
"""Where text is cut: words and punctuation, each with the space before it, and runs of white space.

The tokenizer cuts by the engine's pattern `course-words`, which is this one with the characters of Unicode
16.0, whatever Python has.
"""

SPECIALS = ["<pad>", "<bos>", "<eos>", "<user>", "<assistant>"]
"""Padding, the ends of a text, and the two sides of a chat, in the order of their ids."""

CACHE_WORDS = 1 << 15
"""How many words `Tokenizer.cache` holds at most."""


class Tokenizer:
    """A byte-level BPE tokenizer: text to ids and back, without loss.

    Args:
        merges: The rules in the order in which they apply: pairs of ids. Rule `k` makes the id `256 + k`.

    Attributes:
        merges: The rules, as tuples.
        pieces: The bytes that each id stands for, special tokens left out.
        rank: The id that each pair becomes. The lower, the earlier the rule applies.
        special: The special tokens and their ids, the last ones of all.
        cache: The ids of words met so far, at most `CACHE_WORDS` of them.

    Raises:
        VocabularyError: a rule that joins an id that does not exist yet, or makes a piece again; its index is
            named.
        TypeError: a rule that is no pair of integers.

    >>> tok = Tokenizer([(116, 104), (256, 101)])
    >>> tok.pieces[257], tok.rank[256, 101], tok.special["<pad>"]
    (b'the', 257, 258)
    """

    merges: list[tuple[int, int]]
    pieces: list[bytes]
    rank: dict[tuple[int, int], int]
    special: dict[str, int]
    cache: dict[str, list[int]]

    def __init__(self, merges: Iterable[tuple[int, int]] = ()) -> None:
        self._engine = bl.Tokenizer.from_merges(merges, pattern="course-words", special_tokens=SPECIALS)
        self.merges = self._engine.merges
        # One word may be anything that is given to `encode_word`, so this one does not cut.
        self._uncut = bl.Tokenizer.from_merges(self.merges, pattern="none", cache_bytes=0)
        self.pieces = [self._engine.id_to_bytes(i) for i in range(256 + len(self.merges))]
        self.rank = {pair: 256 + place for place, pair in enumerate(self.merges)}
        self.special = self._engine.special_tokens
        self.cache = {}

    @property
    def vocab_size(self) -> int:
        """The number of tokens: bytes, rules and special tokens.

        >>> Tokenizer().vocab_size
        261
        """
        return len(self.pieces) + len(self.special)

    @classmethod
    def train(cls, text: str, vocab_size: int) -> Self:
        """Learn rules from text: join the most frequent pair of neighbours, again and again.

        A word counts as often as it occurs. Of pairs that occur equally often, the one with the smaller ids
        is joined, the first id before the second. A pair that occurs once is never joined.

        Args:
            text: What to learn from.
            vocab_size: Number of tokens wanted, the 256 bytes and five special tokens included. There are
                fewer if the text runs out of pairs, and never fewer than 261.

        Raises:
            TextError: a lone surrogate in the text, with its index.
            TrainingError: a `vocab_size` beyond what the engine can hold; the limit is named.
            TypeError: `text` is no `str`, or `vocab_size` no integer.

        >>> Tokenizer.train("the cat and the can and the cat", 265).merges
        [(32, 99), (97, 110), (104, 101), (116, 258)]
        """
        size = max(whole_number("vocab_size", vocab_size), 256 + len(SPECIALS))
        learned = train_quietly(
            text_of(text), size, pattern="course-words", special_tokens=SPECIALS, special_text="ordinary"
        )
        return cls(learned.merges)

    def encode_word(self, word: str) -> list[int]:
        """The ids of one word, which is not cut any further; a new list each time.

        The rule of lowest rank is applied first, everywhere, until none fits. The result is kept in `cache`,
        in the place of the word kept longest if it is full.

        Raises:
            TextError: a lone surrogate in the word, with its index.
            TypeError: `word` is no `str`.

        >>> Tokenizer([(98, 99), (97, 98)]).encode_word("abc")
        [97, 256]
        """
        ids = self.cache.get(text_of(word))
        if ids is None:
            ids = self._uncut.encode_ordinary(word)
            while len(self.cache) >= CACHE_WORDS:
                # Another thread may be at it, so that the word is gone or the order changes.
                with suppress(KeyError, RuntimeError, StopIteration):
                    del self.cache[next(iter(self.cache))]
            self.cache[word] = ids
        return list(ids)

    def encode(self, text: str) -> list[int]:
        """The ids of a text: the ids of its words, one after the other.

        The name of a special token in the text is text like any other.

        Raises:
            TextError: a lone surrogate in the text, with its index.
            TypeError: `text` is no `str`.

        >>> tok = Tokenizer.train("the cat and the can and the cat", 270)
        >>> tok.encode("the cat the cat")
        [259, 263, 261, 263]
        >>> sorted(tok.cache)
        [' cat', ' the', 'the']
        """
        ids = self._engine.encode_ordinary(text_of(text))
        # The engine has a cache of its own; this one is filled for who looks at it, and then left alone.
        if len(self.cache) < CACHE_WORDS:
            for word in self._engine.pretokens(text):
                if word not in self.cache:
                    self.encode_word(word)
                    if len(self.cache) >= CACHE_WORDS:
                        break
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids. Special tokens are left out, and so are ids beyond them.

        Bytes that are no UTF-8, such as half a character, become U+FFFD.

        Raises:
            UnknownTokenError: a negative id, with its position.
            TypeError: an id that is no integer, with its position.

        >>> Tokenizer().decode([226, 152, 149]), Tokenizer().decode([226, 152])
        ('☕', '\ufffd')
        """
        return decoded(self._engine, ids, beyond=self.special["<pad>"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rules as JSON, `{"merges": [[a, b], …]}`: everything else follows from them.

        `byteloom.Tokenizer.load` reads the file too.

        Raises:
            OSError: the file cannot be written.
        """
        write_json(path, {"merges": self.merges})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read rules that `save` wrote.

        Raises:
            FormatError: a file that holds something else, with the place.
            OSError: the file cannot be read.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "tok.json")
        ...     Tokenizer([(116, 104)]).save(path)
        ...     path.read_text(), Tokenizer.load(path).encode("the")
        ('{"merges": [[116, 104]]}', [256, 101])
        """
        name, state = os.fspath(path), read_json(path)
        if not isinstance(state, dict) or not isinstance(state.get("merges"), list):
            message = f'{name}: must be {{"merges": [[a, b], …]}}, as save writes it'
            raise bl.FormatError(message)
        if others := [key for key in state if key != "merges"]:
            message = (
                f"{name}: holds more than merges: {others[0]!r}; byteloom.Tokenizer.load may know the format"
            )
            raise bl.FormatError(message)
        try:
            return cls(state["merges"])
        except (TypeError, ValueError) as error:
            message = f"{name}: {error}"
            raise bl.FormatError(message) from error

    def to_tokenizer(self) -> bl.Tokenizer:
        """The same tokenizer as a `byteloom.Tokenizer`: the same ids, and all that it can do besides.

        Its `encode` refuses a text that spells a special token unless told what it should be;
        `encode_ordinary` takes every text as `encode` does here.

        >>> tok = Tokenizer.train("the cat and the can and the cat", 270)
        >>> tok.to_tokenizer().encode("the cat") == tok.encode("the cat")
        True
        """
        return self._engine

"""The two BPE tokenizers of the third course: over characters, and over bytes written as GPT-2's letters."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import byteloom as bl

from . import report
from .engine import decoded, text_of, train_quietly, whole_number
from .files import read_state, write_json

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SPECIAL_TOKENS", "BPETokenizer", "ByteLevelBPETokenizer"]

SPECIAL_TOKENS = {"<PAD>": 0, "<UNK>": 1, "<BOS>": 2, "<EOS>": 3}
"""Padding, unknown characters, and the ends of a text: the first ids of every tokenizer of the course."""

_ROLES: dict[str, Any] = {"bos": "<BOS>", "eos": "<EOS>", "pad": "<PAD>"}
_PROGRESS_EVERY = 50


class BPETokenizer:
    r"""BPE over the characters of the training text; any other character is `<UNK>`.

    Runs of white space and runs of other characters are merged apart from each other.

    The ids: 0 to 3 are the special tokens, then come the characters in the order of their code points, then
    the merged tokens in the order in which they were learned.

    Args:
        vocab_size: Number of tokens wanted, special tokens and characters included.
        min_frequency: A pair is merged only if it occurs at least this often.
        verbose: Whether the training report has a line for each merge, not for each fiftieth.

    Attributes:
        vocab: The id of each token, in the order of ids.
        merges: The token that each pair becomes, in the order in which they were learned.
        training_stats: `vocab_size`, `num_merges` and `num_special_tokens` of the last training; empty
            before.

    Raises:
        TrainingError: `min_frequency` below 1.
        TypeError: an argument that is no integer.

    >>> from byteloom.course.module03 import BPETokenizer
    >>> tok = BPETokenizer(vocab_size=30)
    >>> tok.train("ab cd ab cd", show_progress=False)
    {'vocab_size': 11, 'num_merges': 2, 'num_special_tokens': 4}
    >>> tok.merges
    {('a', 'b'): 'ab', ('c', 'd'): 'cd'}
    >>> ids = tok.encode("ab cd!", add_special_tokens=True)
    >>> ids, [tok.id_to_token(i) for i in ids]
    ([2, 9, 4, 10, 1, 3], ['<BOS>', 'ab', ' ', 'cd', '<UNK>', '<EOS>'])
    >>> tok.decode(ids)
    'ab cd'
    """

    _title: ClassVar[str] = "BPE TOKENIZER TRAINING"

    vocab: dict[str, int]
    merges: dict[tuple[str, str], str]
    training_stats: dict[str, int]

    def __init__(self, vocab_size: int = 1000, min_frequency: int = 2, verbose: bool = False) -> None:
        self.vocab_size = whole_number("vocab_size", vocab_size)
        self.min_frequency = whole_number("min_frequency", min_frequency)
        if self.min_frequency < 1:
            message = f"min_frequency must be 1 or more, not {self.min_frequency}"
            raise bl.TrainingError(message)
        self.verbose = verbose
        self.vocab = dict(SPECIAL_TOKENS)
        self.merges = {}
        self.training_stats = {}
        self._tokens = list(self.vocab)
        self._engine: bl.Tokenizer | None = None

    # What the class over bytes does in another way.

    def _symbols(self, text: str) -> int:
        """The number of base symbols that a training on `text` begins with."""
        return len(set(text))

    def _training_options(self) -> dict[str, Any]:
        return {"alphabet": "characters", "unk": "<UNK>", "pattern": "simple"}

    def _rebuilt(self, symbols: Sequence[str], merges: list[tuple[int, int]]) -> bl.Tokenizer:
        """The tokenizer of a file."""
        return bl.Tokenizer.from_merges(
            merges,
            characters=symbols,
            unk="<UNK>",
            pattern="simple",
            special_tokens=list(SPECIAL_TOKENS),
            special_position="first",
            **_ROLES,
        )

    def _spell(self, engine: bl.Tokenizer, token: int) -> str:
        return engine.id_to_bytes(token).decode()

    def _state(self) -> dict[str, Any]:
        """What a file says besides the vocabulary."""
        return {"vocab_size": self.vocab_size, "min_frequency": self.min_frequency}

    # What both classes do.

    def train(self, text: str, show_progress: bool = True) -> dict[str, int]:
        """Learn merges: join the most frequent pair of neighbours, again and again.

        Of pairs that occur equally often, the one that stands first in the text as merged so far is joined.
        The names of special tokens are text like any other, but no merge makes one of them.

        Args:
            text: What to learn from.
            show_progress: Whether to print the training report.

        Returns:
            `training_stats`. There are fewer tokens than `vocab_size` if the text runs out of pairs, and more
            if its characters alone are more.

        Raises:
            TextError: a lone surrogate in the text, with its index.
            TrainingError: a `vocab_size` beyond what the engine can hold; the limit is named.
            TypeError: `text` is no `str`.
        """
        base = len(SPECIAL_TOKENS) + self._symbols(text_of(text))
        if show_progress:
            report.training_begins(self._title, len(text), self.vocab_size)
        engine = train_quietly(
            text,
            max(self.vocab_size, base),
            min_frequency=self.min_frequency,
            tie_break="first_seen",
            special_tokens=list(SPECIAL_TOKENS),
            special_position="first",
            special_text="ordinary",
            **_ROLES,
            **self._training_options(),
        )
        self._adopt(engine)
        if show_progress:
            counts = (engine.training_report or {})["counts"]
            for number, (pair, count) in enumerate(zip(self.merges, counts, strict=True), 1):
                if self.verbose or number % _PROGRESS_EVERY == 0:
                    report.merge_learned(number, self.vocab_size - base, pair, count)
            report.training_ends(len(self.vocab), len(self.merges))
        return self.training_stats

    def _adopt(self, engine: bl.Tokenizer) -> None:
        """Becomes the tokenizer that `engine` is."""
        specials = len(SPECIAL_TOKENS)
        tokens = [*SPECIAL_TOKENS, *(self._spell(engine, i) for i in range(specials, engine.vocab_size))]
        self._engine, self._tokens = engine, tokens
        self.vocab = {token: i for i, token in enumerate(tokens)}
        self.merges = {
            (tokens[left], tokens[right]): tokens[left] + tokens[right] for left, right in engine.merges
        }
        self.training_stats = {
            "vocab_size": len(tokens),
            "num_merges": len(self.merges),
            "num_special_tokens": specials,
        }

    def to_tokenizer(self) -> bl.Tokenizer:
        """The same tokenizer as a `byteloom.Tokenizer`: the same ids, and all that it can do besides.

        Its `encode` refuses a text that spells a special token unless told what it should be;
        `encode_ordinary` takes every text as `encode` does here.

        Raises:
            TrainingError: there is nothing learned yet.

        >>> from byteloom.course.module03 import BPETokenizer
        >>> tok = BPETokenizer(vocab_size=30)
        >>> stats = tok.train("ab cd ab cd", show_progress=False)
        >>> tok.to_tokenizer().encode("ab?") == tok.encode("ab?") == [9, 1]
        True
        """
        if self._engine is None:
            message = "this tokenizer has learned nothing yet; call train(text), or load a saved one"
            raise bl.TrainingError(message)
        return self._engine

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        """The ids of a text. The names of special tokens in it are text like any other.

        Args:
            text: Any text.
            add_special_tokens: Whether to begin with `<BOS>` and to end with `<EOS>`.

        Raises:
            TrainingError: there is nothing learned yet.
            TextError: a lone surrogate in the text, with its index.
            TypeError: `text` is no `str`.
        """
        engine = self.to_tokenizer()
        return engine.encode(text_of(text), disallowed_special=(), add_special_tokens=add_special_tokens)

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True) -> str:
        """The text of ids.

        Args:
            ids: Ids. One beyond the vocabulary, such as a control token of a chat, counts as `<UNK>`.
            skip_special_tokens: Whether to leave special tokens out, `<UNK>` among them.

        Raises:
            TrainingError: there is nothing learned yet.
            UnknownTokenError: a negative id, with its position.
            TypeError: an id that is no integer, with its position.
        """
        unknown = SPECIAL_TOKENS["<UNK>"]
        return decoded(self.to_tokenizer(), ids, beyond=unknown, skip_special_tokens=skip_special_tokens)

    def id_to_token(self, id: int) -> str:  # noqa: A002 - the course's name
        """The token of an id; `<UNK>` for an id beyond the vocabulary.

        Raises:
            UnknownTokenError: a negative id.
            TypeError: `id` is no integer.
        """
        number = whole_number("id", id)
        if number < 0:
            raise bl.UnknownTokenError(number)
        return self._tokens[number] if number < len(self._tokens) else "<UNK>"

    def token_to_id(self, token: str) -> int:
        """The id of a token; that of `<UNK>` for a string that is none."""
        return self.vocab.get(token, SPECIAL_TOKENS["<UNK>"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer as JSON, and print where.

        Raises:
            TrainingError: there is nothing learned yet.
            OSError: the file cannot be written.
        """
        self.to_tokenizer()
        merges = [list(pair) for pair in self.merges]
        state = {"type": type(self).__name__, **self._state(), "vocab": self.vocab, "merges": merges}
        write_json(path, state)
        report.say(f"Tokenizer saved to {os.fspath(path)}")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a tokenizer that `save` wrote, and print where from.

        Raises:
            FormatError: a file that is damaged, or of another class, with the place.
            OSError: the file cannot be read.
        """
        state = read_state(path, cls.__name__, SPECIAL_TOKENS)
        try:
            loaded = cls(**state.options)
            loaded._adopt(loaded._rebuilt(state.symbols, state.merges))
        except (TypeError, ValueError) as error:
            raise bl.FormatError(f"{os.fspath(path)}: {error}") from error
        if loaded.vocab != state.vocab:
            message = f"{os.fspath(path)}: vocab: its tokens are not those that the merges make"
            raise bl.FormatError(message)
        report.say(f"Tokenizer loaded from {os.fspath(path)}\n  Vocab size: {len(loaded.vocab)}")
        return loaded


class ByteLevelBPETokenizer(BPETokenizer):
    r"""BPE over bytes, written as GPT-2's letters: no text is unknown, and every text comes back.

    The ids: 0 to 3 are the special tokens, byte `b` is `4 + b`, then come the merged tokens in the order in
    which they were learned.

    Args:
        vocab_size: Number of tokens wanted, special tokens and bytes included; there are never fewer than
            260.
        min_frequency: A pair is merged only if it occurs at least this often.
        verbose: Whether the training report has a line for each merge, not for each fiftieth.
        pretokenizer: Where merges stop: `"gpt2"` cuts as `gpt2_pretokenize`, `"simple"` as `BPETokenizer`.

    Raises:
        ValueError: another `pretokenizer`.
        TrainingError: `min_frequency` below 1.
        TypeError: an argument that is no integer.

    >>> from byteloom.course.module03 import ByteLevelBPETokenizer
    >>> tok = ByteLevelBPETokenizer(vocab_size=300)
    >>> stats = tok.train("the the the", show_progress=False)
    >>> [tok.id_to_token(i) for i in tok.encode("the the é")]
    ['the', 'Ġthe', 'Ġ', 'Ã', '©']
    >>> tok.decode(tok.encode("the 🚀"))
    'the 🚀'
    """

    _title: ClassVar[str] = "BYTE-LEVEL BPE TOKENIZER TRAINING"
    _patterns: ClassVar[dict[str, str]] = {"gpt2": "course-gpt2", "simple": "simple"}

    def __init__(
        self,
        vocab_size: int = 1000,
        min_frequency: int = 2,
        verbose: bool = False,
        pretokenizer: str = "gpt2",
    ) -> None:
        super().__init__(vocab_size, min_frequency, verbose)
        if pretokenizer not in list(self._patterns):  # a list, so that values without a hash are refused too
            message = f'pretokenizer must be "gpt2" or "simple", not {pretokenizer!r}'
            raise ValueError(message)
        self.pretokenizer = pretokenizer

    def _symbols(self, text: str) -> int:  # noqa: ARG002 - bytes, whatever the text
        return 256

    def _training_options(self) -> dict[str, Any]:
        return {"pattern": self._patterns[self.pretokenizer]}

    def _rebuilt(self, symbols: Sequence[str], merges: list[tuple[int, int]]) -> bl.Tokenizer:  # noqa: ARG002
        return bl.Tokenizer.from_merges(
            merges,
            pattern=self._patterns[self.pretokenizer],
            special_tokens=list(SPECIAL_TOKENS),
            special_position="first",
            **_ROLES,
        )

    def _spell(self, engine: bl.Tokenizer, token: int) -> str:
        return engine.id_to_token(token)

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "pretokenizer": self.pretokenizer}

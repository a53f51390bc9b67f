"""Byteloom and the libraries that train byte-level BPE, on GPT-2's pattern."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from speed.texts import SEPARATOR
from speed.vocabularies import letters

PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
Tokens = list[bytes] | None
"""The tokens in order, those of a special token and padding left out; None where they cannot be compared."""


@dataclass(frozen=True)
class Trainer:
    distribution: str
    modules: tuple[str, ...]
    takes_documents: bool
    """Whether it is given documents in memory rather than a file; reading them is not timed."""
    train: Callable[[Path, list[str], int, int], Any]
    """A file, its documents, the size of the vocabulary, threads."""
    tokens: Callable[[Any, int], Tokens] = lambda _result, _size: None
    rules: str = "smallest_pair"
    """The name in `byteloom_by_rules` of what must give the same tokens."""


def _byteloom(path: Path, _: list[str], size: int, threads: int) -> Any:
    import byteloom

    return byteloom.Tokenizer.train(
        path, vocab_size=size, pattern="gpt2", special_tokens=[SEPARATOR], threads=threads
    )


def byteloom_by_rules(path: Path, size: int, threads: int) -> dict[str, Any]:
    """Tokenizers of other rules than those timed: what the peers that follow these are compared with."""
    import byteloom

    options: dict[str, Any] = {"pattern": "gpt2", "threads": threads, "tie_break": "huggingface"}
    with path.open("rb") as lines:
        return {
            "huggingface": byteloom.Tokenizer.train(path, size, special_tokens=[SEPARATOR], **options),
            # Hugging Face's trainer on files: a line is a document, and separators are text.
            "huggingface, lines": byteloom.Tokenizer.train(iter(lines), size - 1, **options),
        }


def byteloom_tokens(tok: Any, _: int = 0) -> list[bytes]:
    return [tok.id_to_bytes(id_) for id_ in range(256 + len(tok.merges))]


def merged_tokens(merges: Iterable[Sequence[str]]) -> list[bytes]:
    """The bytes, and then what each merge makes of two tokens in the letters of GPT-2's files."""
    byte_of = letters()
    made = [bytes(byte_of[letter] for letter in "".join(pair)) for pair in merges]
    return [bytes([byte]) for byte in range(256)] + made


def _rustbpe(_: Path, documents: list[str], size: int, threads: int) -> Any:
    import rustbpe

    tok = rustbpe.Tokenizer()
    tok.train_from_iterator(iter(documents), size - 1, pattern=PATTERN)
    return tok


def _tokenizers(_: Path, documents: list[str], size: int, threads: int) -> Any:
    import tokenizers as hf

    tok = hf.Tokenizer(hf.models.BPE())
    tok.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = hf.pre_tokenizers.ByteLevel.alphabet()
    trainer = hf.trainers.BpeTrainer(vocab_size=size - 1, initial_alphabet=alphabet, show_progress=False)
    tok.train_from_iterator(documents, trainer)
    return tok


def _gigatoken(path: Path, _: list[str], size: int, threads: int) -> Any:
    import gigatoken

    return gigatoken.train_bpe(gigatoken.TextFileSource([str(path)], separator=SEPARATOR), size, [SEPARATOR])


def _gigabpe(path: Path, _: list[str], size: int, threads: int) -> Any:
    import gigabpe

    return gigabpe.train_bpe(
        [str(path)], vocab_size=size, pretokenizer="bytelevel", special_tokens=[SEPARATOR], threads=threads
    )


def _ffbpe(path: Path, _: list[str], size: int, threads: int) -> Any:
    import ffbpe

    words = ffbpe.PreTokenizer([SEPARATOR], SEPARATOR).get_words_from_file(str(path))
    trainer = ffbpe.BpeTrainer([SEPARATOR], unit="byte", initial_alphabet="byte_level")
    trainer.add_words(list(words.items()))
    trainer.train(vocab_size=size)
    return trainer


def _fast_bpe_rs(_: Path, documents: list[str], size: int, threads: int) -> Any:
    from fast_bpe_rs import BPE

    tok = BPE(PATTERN)
    tok.train(size, documents)
    return tok


def _bpeasy(_: Path, documents: list[str], size: int, threads: int) -> Any:
    import bpeasy

    return bpeasy.train_bpe(iter(documents), PATTERN, 128, size)


TRAINERS: dict[str, Trainer] = {
    "byteloom": Trainer(
        "byteloom",
        ("numpy", "byteloom"),
        False,
        _byteloom,
        byteloom_tokens,
    ),
    "gigabpe": Trainer(
        "gigabpe",
        ("gigabpe",),
        False,
        _gigabpe,
        # Bytes that the text lacks are no tokens, so that there is room for more merges.
        lambda result, size: merged_tokens(result[1])[: size - 1],
        "huggingface, lines",
    ),
    "gigatoken": Trainer("gigatoken", ("numpy", "gigatoken"), False, _gigatoken),
    "ffbpe": Trainer("ffbpe", ("ffbpe",), False, _ffbpe),
    "fast_bpe_rs": Trainer("fast-bpe-rs", ("fast_bpe_rs",), True, _fast_bpe_rs),
    "rustbpe": Trainer(
        "rustbpe",
        ("rustbpe",),
        True,
        _rustbpe,
        lambda tok, _: [bytes(token) for token, _ in tok.get_mergeable_ranks()],
    ),
    "tokenizers": Trainer(
        "tokenizers",
        ("tokenizers",),
        True,
        _tokenizers,
        lambda tok, _: merged_tokens(json.loads(tok.to_str())["model"]["merges"]),
        "huggingface",
    ),
    "bpeasy": Trainer("bpeasy", ("bpeasy",), True, _bpeasy),
}

"""What is measured on: corpora as documents, and texts made to be hard."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

CORPORA = ("english", "code", "multi", "cjk")
SEPARATOR = "<|endoftext|>"


@dataclass(frozen=True)
class Corpus:
    """A text as the peers want it."""

    documents: list[str]
    joined: bytes
    """The documents with separators between, UTF-8."""

    @property
    def bytes(self) -> int:
        """What a rate counts: the documents, without separators."""
        return len(self.joined) - len(SEPARATOR) * (len(self.documents) - 1)


def read_start(path: Path, megabytes: float | None) -> str:
    """The first megabytes (10^6 bytes) of a file, cut at a character; all of it for None."""
    with path.open("rb") as file:
        return file.read(-1 if megabytes is None else int(megabytes * 1e6)).decode("utf-8", "ignore")


def corpus(path: Path, megabytes: float | None) -> Corpus:
    text = read_start(path, megabytes)
    return Corpus(text.split(SEPARATOR), text.encode())


def pieces(path: Path, megabytes: float | None, characters: int = 2_000) -> list[str]:
    """The text in pieces of so many characters, separators taken out."""
    text = read_start(path, megabytes).replace(SEPARATOR, "\n")
    return [text[start : start + characters] for start in range(0, len(text), characters)]


def hostile(megabytes: float) -> dict[str, str]:
    """Texts that are hard for some tokenizer, of about so many megabytes each."""
    rng = random.Random(5)  # noqa: S311 -- texts, the same each time
    size = max(100, int(megabytes * 1e6))
    small = "abcdefghijklmnopqrstuvwxyz"

    def pick(alphabet: str, count: int) -> str:
        return "".join(rng.choices(alphabet, k=count))

    words = [pick(small, rng.randint(3, 12)) for _ in range(int(size * 0.118))]
    return {
        "letter": "a" * size,
        "two letters": pick("ab", size),
        "letters": pick(small, size),
        "words": " ".join(words),
        "spaces": " " * size + "x",
        "newlines": "\n" * size,
        "punctuation": "^" * size,
        "digits": "7" * size,
        "base64": pick(small.upper() + small + "0123456789+/", size),
        "latin1": pick("".join(map(chr, range(0xC0, 0x100))), size // 2),
        "marks": "a" + "\u0301" * (size // 2),
        "han": "".join(chr(rng.randint(0x4E00, 0x9FFF)) for _ in range(size // 3)),
        "emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467" * (size // 18),
    }

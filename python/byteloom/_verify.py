"""`verify`: whether two tokenizers give the same ids, and the first text where they do not."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ._hard_texts import HARD_TEXTS, fuzzed_text, shrunk, special_texts
from ._reference import Reference, reference
from ._tokenizer import Tokenizer

__all__ = ["Difference", "Reference", "VerifyReport", "reference", "verify"]

# Of each file this much is read, and each text is compared in pieces of about this many characters.
_SLICE = 4 << 20
_PIECE = 1 << 16
_FUZZED = 2_000

Encode = Callable[[str], "list[int]"]


@dataclass(frozen=True)
class Difference:
    """A small text on which two tokenizers differ."""

    source: str
    """Where it was found: a file, `"text 3"`, `"hard texts"`, `"special tokens"` or `"fuzzed texts"`."""
    text: str
    pretokens_a: list[str] | None
    """How the first splits the text; `None` where that cannot be seen."""
    pretokens_b: list[str] | None
    ids_a: list[int]
    ids_b: list[int]


@dataclass(frozen=True)
class VerifyReport:
    """What `verify` compared, and the first difference. True if there is none."""

    a: str
    b: str
    special_tokens: bool
    """Whether special tokens in the texts were taken as such; otherwise as ordinary text."""
    texts: int
    bytes: int
    tokens: int
    first_difference: Difference | None

    @property
    def equal(self) -> bool:
        """Whether no difference was found."""
        return self.first_difference is None

    def __bool__(self) -> bool:
        return self.equal

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data that JSON can hold."""
        return {"equal": self.equal, **asdict(self)}


def verify(
    a: Tokenizer | Reference | Encode,
    b: Tokenizer | Reference | Encode,
    *,
    texts: Iterable[str | os.PathLike[str]] | None = None,
    seed: int = 0,
) -> VerifyReport:
    """Compare the ids of two tokenizers on hard, fuzzed and given texts.

    Built in are texts that implementations are known to differ on (runs of whitespace, contractions, digits,
    line ends, combining marks, scripts without spaces, emoji, odd code points, long runs), texts around the
    special tokens of both, and random ones. Special tokens count as such if both sides can read them so.

    Args:
        a: A tokenizer, a `reference(...)`, or a function from text to ids, which reads text as ordinary text.
        b: The other.
        texts: Texts, and files by their paths (their first 4 MiB), to compare as well.
        seed: Which random texts.

    Returns:
        The report: what was compared, and the first difference, made as small as possible.

    >>> import byteloom as bl
    >>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=259)
    >>> bl.verify(tok, bl.Tokenizer.from_bytes(tok.to_bytes())).equal
    True
    >>> report = bl.verify(tok, lambda text: tok.encode_ordinary(text.replace("low", "LOW")), texts=["a low"])
    >>> found = report.first_difference
    >>> found.text, found.ids_a, found.ids_b
    ('low', [257], [76, 79, 87])
    """
    if isinstance(texts, (str, bytes)):
        message = "texts must be a list or another iterable of texts and paths, not one text"
        raise TypeError(message)
    special = all(isinstance(side, Tokenizer) or getattr(side, "reads_special", False) for side in (a, b))
    sides = _Sides(_encoder(a, special=special), _encoder(b, special=special))
    names = sorted(_special_tokens(a) | _special_tokens(b)) if special else []
    counts = [0, 0, 0]
    for source, text in _all_texts(texts, names, seed):
        ids_a, ids_b = sides.a(text), sides.b(text)
        for place, more in enumerate((1, len(text.encode("utf-8", "surrogatepass")), len(ids_a))):
            counts[place] += more
        if ids_a != ids_b:
            small = shrunk(text, sides.differ)
            difference = Difference(
                source=source,
                text=small,
                pretokens_a=_pretokens(a, small),
                pretokens_b=_pretokens(b, small),
                ids_a=sides.a(small),
                ids_b=sides.b(small),
            )
            break
    else:
        difference = None
    return VerifyReport(
        a=_name(a),
        b=_name(b),
        special_tokens=special,
        texts=counts[0],
        bytes=counts[1],
        tokens=counts[2],
        first_difference=difference,
    )


# The two sides.


@dataclass(frozen=True)
class _Sides:
    a: Encode
    b: Encode

    def differ(self, text: str) -> bool:
        return self.a(text) != self.b(text)


def _encoder(side: Tokenizer | Reference | Encode, *, special: bool) -> Encode:
    if isinstance(side, Tokenizer):
        if special:
            return lambda text: side.encode(text, allowed_special="all")
        return side.encode_ordinary
    if isinstance(side, Reference):
        return side.encode if special else side.encode_ordinary
    if callable(side):
        return lambda text: [int(id_) for id_ in side(text)]
    message = f"verify compares Tokenizers, references and functions, not {type(side).__name__}"
    raise TypeError(message)


def _name(side: object) -> str:
    return side.name if isinstance(side, Reference) else repr(side)


def _special_tokens(side: object) -> set[str]:
    return set(side.special_tokens) if isinstance(side, (Tokenizer, Reference)) else set()


def _pretokens(side: object, text: str) -> list[str] | None:
    return side.pretokens(text) if isinstance(side, (Tokenizer, Reference)) else None


# The texts.


def _all_texts(
    texts: Iterable[str | os.PathLike[str]] | None, special: list[str], seed: int
) -> Iterator[tuple[str, str]]:
    for text in HARD_TEXTS:
        yield "hard texts", text
    for text in special_texts(special):
        yield "special tokens", text
    for place, given in enumerate(texts or ()):
        source, text = (f"text {place}", given) if isinstance(given, str) else _slice_of(given)
        for piece in _pieces(text):
            yield source, piece
    # One generator, so that each text depends on the seed alone.
    chance = random.Random(seed)  # noqa: S311 - no secrets here
    for _ in range(_FUZZED):
        yield "fuzzed texts", fuzzed_text(chance, special)


def _slice_of(path: str | os.PathLike[str]) -> tuple[str, str]:
    with open(path, "rb") as file:  # noqa: PTH123 - any path-like
        data = file.read(_SLICE)
    return os.fspath(path), data.decode("utf-8", "replace")


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that end with a line where there are lines."""
    begin = 0
    while len(text) - begin > 2 * _PIECE:
        end = text.rfind("\n", begin + _PIECE, begin + 2 * _PIECE) + 1 or begin + 2 * _PIECE
        yield text[begin:end]
        begin = end
    yield text[begin:]

"""`Vocabulary`: the tokens of a tokenizer, to list, search and judge."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal

from ._comparison import csv_text
from ._record import Record, text_of
from ._sources import Texts, named_sources
from ._tokenizer import Tokenizer
from ._tokens import ordinary_tokens

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Entry", "ScriptShare", "Unreachable", "Usage", "Used", "Vocabulary", "unreachable_tokens"]

_EXAMPLES = 8


@dataclass(frozen=True, slots=True)
class Entry(Record):
    """A token of a vocabulary."""

    id: int
    bytes: bytes
    special: bool
    """Whether it is a special token; its `bytes` are then its name."""
    script: str
    """The script of its letters, such as `"Latin"` or `"Han"`; `"mixed"` for letters of several; `"digits"`,
    `"space"`, `"signs"` (punctuation, symbols, marks) and `"controls"` for tokens without letters;
    `"partial"` for bytes that are no whole characters, `"special"` for special tokens."""

    @property
    def text(self) -> str | None:
        """The token as text, or `None` where it holds a part of a character."""
        return text_of(self.bytes)


@dataclass(frozen=True, slots=True)
class ScriptShare(Record):
    """The tokens of one script."""

    script: str
    tokens: int
    share: float
    """Of all tokens of the vocabulary, 0 to 1."""
    examples: tuple[Entry, ...]
    """The longest of them."""


@dataclass(frozen=True, slots=True)
class Used(Record):
    """A token that a sample uses."""

    id: int
    bytes: bytes
    count: int
    """How often."""
    first: int
    """The number of the token in the sample, from 0, that is its first use."""
    source: str
    """The text of its first use."""


@dataclass(frozen=True, slots=True)
class Usage(Record):
    """Which tokens of a vocabulary a sample uses."""

    kind: ClassVar[str] = "usage"

    tokens: int
    """The tokens of the sample."""
    vocabulary: int
    """The tokens of the vocabulary that ordinary text can use: special ones are left out."""
    used: tuple[Used, ...]
    """The tokens that occur, in the order of their first use."""
    never: tuple[Entry, ...]
    """The tokens that do not, by id."""

    @property
    def share(self) -> float:
        """Used tokens as a share of the vocabulary, 0 to 1."""
        return len(self.used) / self.vocabulary if self.vocabulary else 0.0


@dataclass(frozen=True, slots=True)
class Unreachable(Record):
    """A token that its own bytes do not give."""

    id: int
    bytes: bytes
    ids: tuple[int, ...]
    """What its bytes give instead."""
    reason: Literal["merges", "duplicate", "pattern"]
    """`"merges"`: merging its bytes as one pre-token ends elsewhere, so encoding never produces it.
    `"duplicate"`: another id has the same bytes, and encoding gives that one. `"pattern"`: the pattern splits
    its text, so it occurs only where something around it changes the split, if ever."""


class Vocabulary:
    """The tokens of a tokenizer. It is a sequence of `Entry`, by id; holes are left out.

    >>> import byteloom as bl
    >>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=260, special_tokens=["<|end|>"])
    >>> vocab = bl.Vocabulary(tok)
    >>> len(vocab), [entry.bytes for entry in vocab.longest(2)]
    (260, [b' low', b'low'])
    >>> [entry.id for entry in vocab.search("ow")]
    [257, 258]
    """

    def __init__(self, tok: Tokenizer) -> None:
        if not isinstance(tok, Tokenizer):
            message = f"a Vocabulary is made of a Tokenizer, not of {type(tok).__name__}"
            raise TypeError(message)
        self.tokenizer = tok

    @cached_property
    def _entries(self) -> list[Entry]:
        entries = [Entry(id_, token, special=False, script=script_of(token)) for id_, token in self._ordinary]
        entries += [
            Entry(id_, self.tokenizer.id_to_bytes(id_), special=True, script="special")
            for id_ in self.tokenizer.special_tokens.values()
        ]
        return sorted(entries, key=lambda entry: entry.id)

    @cached_property
    def _ordinary(self) -> list[tuple[int, bytes]]:
        return list(ordinary_tokens(self.tokenizer))

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __getitem__(self, place: int) -> Entry:
        """The entry at a place of the list; that is its id where there are no holes."""
        return self._entries[place]

    def __repr__(self) -> str:
        return f"<byteloom.Vocabulary of {self.tokenizer!r}>"

    def search(self, what: str | bytes | re.Pattern[str] | re.Pattern[bytes]) -> list[Entry]:
        """Tokens that hold something, by id.

        Args:
            what: Text or bytes that the token must hold, or a compiled regex that must be found in it. A
                regex of text sees only tokens that are whole characters; bytes and a regex of bytes see all.

        >>> import byteloom as bl, re
        >>> vocab = bl.Vocabulary(bl.Tokenizer.train("low lower lowest", vocab_size=259))
        >>> [entry.bytes for entry in vocab.search(re.compile(r"^ ?l.w$"))]
        [b'low', b' low']
        """
        holds = _finder(what)
        return [entry for entry in self._entries if holds(entry)]

    def longest(self, count: int = 20) -> list[Entry]:
        """The ordinary tokens of most bytes; equally long ones in the order of their bytes."""
        import heapq  # noqa: PLC0415

        best = heapq.nsmallest(count, self._ordinary, key=lambda item: (-len(item[1]), item[1]))
        return [Entry(id_, token, special=False, script=script_of(token)) for id_, token in best]

    def lengths(self) -> dict[int, int]:
        """How many ordinary tokens have each length in bytes, by length.

        >>> import byteloom as bl
        >>> bl.Vocabulary(bl.Tokenizer.train("low lower lowest", vocab_size=259)).lengths()
        {1: 256, 2: 1, 3: 1, 4: 1}
        """
        return dict(sorted(Counter(len(token) for _, token in self._ordinary).items()))

    def scripts(self) -> list[ScriptShare]:
        """The tokens by script, the most frequent first.

        A letter's script is told by its Unicode name, in the version of the running Python.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train("да да да", vocab_size=258)
        >>> [(row.script, row.tokens) for row in bl.Vocabulary(tok).scripts()][:2]
        [('partial', 130), ('Latin', 52)]
        """
        groups: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in self._entries:
            groups[entry.script].append(entry)
        rows = [
            ScriptShare(
                script=script,
                tokens=len(entries),
                share=len(entries) / len(self._entries),
                examples=tuple(sorted(entries, key=lambda entry: (-len(entry.bytes), entry.id))[:_EXAMPLES]),
            )
            for script, entries in groups.items()
        ]
        return sorted(rows, key=lambda row: (-row.tokens, row.script))

    def usage(self, texts: Texts, *, errors: str = "strict") -> Usage:
        """Which tokens a sample uses, in the order of their first use, and which it never uses.

        Args:
            texts: A text, a path, several of them, or a mapping of names to them, as for `compare`. They are
                read as ordinary text.
            errors: `"strict"`, or `"replace"` for bytes that are not UTF-8 and lone surrogates.

        >>> import byteloom as bl
        >>> usage = bl.Vocabulary(bl.Tokenizer.train("low lower lowest", vocab_size=259)).usage("low low")
        >>> [(token.bytes, token.count) for token in usage.used], usage.tokens, len(usage.never)
        ([(b'low', 1), (b' low', 1)], 2, 257)
        """
        import numpy as np  # noqa: PLC0415

        tok = self.tokenizer
        counts = np.zeros(tok.max_token_id + 1, dtype=np.int64)
        first: dict[int, tuple[int, str]] = {}
        total = 0
        for source in named_sources(texts, errors):
            for piece in source.pieces([tok]):
                ids = tok.encode_array(piece, disallowed_special=(), dtype="uint32")
                counts += np.bincount(ids, minlength=len(counts))
                for id_, place in _first_places(ids):
                    first.setdefault(id_, (total + place, source.name))
                total += len(ids)
        order = sorted(first.items(), key=lambda item: item[1][0])
        used = tuple(
            Used(id_, tok.id_to_bytes(id_), int(counts[id_]), place, name) for id_, (place, name) in order
        )
        never = tuple(entry for entry in self._entries if not entry.special and entry.id not in first)
        return Usage(tokens=total, vocabulary=len(self._ordinary), used=used, never=never)

    def unreachable(self) -> list[Unreachable]:
        """Tokens that their own bytes do not give, by id.

        Within a text, the merges inside a token's span are those of its bytes alone: so a token that its
        bytes, taken as one pre-token, do not give is produced by no text. For tokens that the pattern splits
        this is tried without the pattern. Special tokens, and tokens that a normalizer changes, are not
        judged.

        >>> import byteloom as bl
        >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab cd": 256, b"ab": 257}
        >>> vocab = bl.Vocabulary(bl.Tokenizer.from_tiktoken(ranks, pattern="gpt2"))
        >>> [(token.bytes, token.ids, token.reason) for token in vocab.unreachable()]
        [(b'ab cd', (257, 32, 99, 100), 'pattern')]
        """
        return unreachable_tokens(self.tokenizer, self._ordinary)

    @staticmethod
    def to_csv(records: Iterable[Entry | ScriptShare | Unreachable | Used]) -> str:
        """Records of one kind as CSV, its first line the names of the columns; bytes are in hex.

        >>> import byteloom as bl
        >>> vocab = bl.Vocabulary(bl.Tokenizer.train("low lower lowest", vocab_size=259))
        >>> print(vocab.to_csv(vocab.longest(1)), end="")
        id,bytes,text,special,script
        258,206c6f77, low,False,Latin
        """
        rows = [record.to_dict() for record in records]
        return csv_text(list(rows[0]), rows) if rows else ""

    def _repr_html_(self) -> str:
        from . import render  # noqa: PLC0415 - only a notebook asks

        return render.html(self)


def unreachable_tokens(tok: Tokenizer, tokens: list[tuple[int, bytes]]) -> list[Unreachable]:
    """What `Vocabulary.unreachable` and the doctor say of `tokens`."""
    found = []
    rows = tok.encode_batch([token for _, token in tokens], disallowed_special=())
    bare: Tokenizer | None = None  # the same without a pattern
    for (id_, token), ids in zip(tokens, rows, strict=True):
        if ids == [id_] or not token:
            continue
        if b"".join(tok.id_to_bytes(one) for one in ids) != token:
            continue  # a normalizer changed them: nothing can be said
        whole = ids
        if len(tok.pretokens(token)) > 1:
            bare = bare or _without_pattern(tok)
            whole = bare.encode(token, disallowed_special=())
        if len(whole) == 1 and whole != [id_]:
            found.append(Unreachable(id_, token, tuple(whole), "duplicate"))
        elif whole != [id_]:
            found.append(Unreachable(id_, token, tuple(ids), "merges"))
        elif text_of(token) is not None:
            # Parts of characters are split differently once the other part is there.
            found.append(Unreachable(id_, token, tuple(ids), "pattern"))
    return found


def _without_pattern(tok: Tokenizer) -> Tokenizer:
    """The same vocabulary and merges, and no pattern: every text is one pre-token."""
    plain = Tokenizer.from_tiktoken({bytes([byte]): byte for byte in range(256)}, pattern="none")
    # The version of Unicode is that of the pattern's engine.
    own = {name: line for name, line in _sections(plain) if name in ("pattern", "unicode")}
    text = "\n".join(own.get(name, line) for name, line in _sections(tok)).removesuffix(",")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Tokenizer.from_bytes(f'{{\n{text},\n"sha256": "{digest}"\n}}\n'.encode())


def _sections(tok: Tokenizer) -> Iterator[tuple[str, str]]:
    """Name and line of each section of the native file but the checksum."""
    for line in tok.to_bytes().decode().split("\n")[1:-3]:
        yield line.split('"', 2)[1], line


def _first_places(ids: npt.NDArray[np.integer]) -> Iterator[tuple[int, int]]:
    import numpy as np  # noqa: PLC0415

    values, places = np.unique(ids, return_index=True)
    yield from zip(values.tolist(), places.tolist(), strict=True)


def _finder(what: str | bytes | re.Pattern[str] | re.Pattern[bytes]) -> Callable[[Entry], bool]:
    if isinstance(what, str):
        what = what.encode("utf-8", "surrogatepass")
    if isinstance(what, bytes):
        needle = what
        return lambda entry: needle in entry.bytes
    pattern = what
    if isinstance(pattern.pattern, bytes):
        return lambda entry: pattern.search(entry.bytes) is not None
    return lambda entry: entry.text is not None and pattern.search(entry.text) is not None


# Scripts.

_SCRIPTS = {
    "CJK": "Han",
    "IDEOGRAPHIC": "Han",
    "CANADIAN": "Canadian Aboriginal",
    "OLD": "",
    "NEW": "",
    "SUPERSCRIPT": "",
    "SUBSCRIPT": "",
    "CIRCLED": "",
    "MODIFIER": "signs",
    "SCRIPT": "signs",
    "BLACK": "signs",
    "DOUBLE": "signs",
    "PLANCK": "signs",
    "ALEF": "Hebrew",
    "FULLWIDTH": "",
    "HALFWIDTH": "",
    "MATHEMATICAL": "signs",
    "FEMININE": "Latin",
    "MASCULINE": "Latin",
    "MICRO": "Greek",
    "KELVIN": "Latin",
    "ANGSTROM": "Latin",
    "OHM": "Greek",
}
"""First words of Unicode names that are not themselves the script; empty where a later word says it."""
_KINDS = {"N": "digits", "Z": "space", "C": "controls"}


def script_of(token: bytes) -> str:
    r"""The script of a token, as `Entry.script` has it.

    >>> [script_of(text.encode()) for text in (" the", "日本", "12", " \n", "->", "ﾃ")]
    ['Latin', 'Han', 'digits', 'space', 'signs', 'Katakana']
    >>> script_of("é".encode()[:1])
    'partial'
    """
    text = text_of(token)
    if text is None:
        return "partial"
    scripts = {script for script in map(_script_of_letter, text) if script}
    if len(scripts) == 1:
        return scripts.pop()
    if scripts:
        return "Japanese" if scripts <= _JAPANESE else "mixed"
    kinds = {
        "space" if char.isspace() else _KINDS.get(unicodedata.category(char)[0], "signs") for char in text
    }
    if kinds > {"space"}:
        kinds.discard("space")
    return kinds.pop() if len(kinds) == 1 else "signs"


_JAPANESE = {"Han", "Hiragana", "Katakana"}


@lru_cache(maxsize=1 << 14)
def _script_of_letter(char: str) -> str | None:
    if not char.isalpha():
        return None
    words = unicodedata.name(char, "").replace("-", " ").split()
    for word in words if len(words) > 1 else ():  # a single word names a sign, such as CARON
        script = _SCRIPTS.get(word, word.capitalize())
        if script:
            return script if script != "signs" else None
    return None

"""The records of `compare`, and their tables."""

from __future__ import annotations

import csv
import dataclasses
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ._record import Record, Span

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Boundaries",
    "BoundaryDifference",
    "Compared",
    "Comparison",
    "Figures",
    "LanguageFigures",
    "Overlap",
    "VocabularyToken",
]


@dataclass(frozen=True, slots=True)
class VocabularyToken(Record):
    """A token of a vocabulary."""

    id: int
    bytes: bytes


@dataclass(frozen=True, slots=True)
class Compared(Record):
    """A tokenizer of a comparison."""

    name: str
    vocab_size: int
    pattern_name: str | None
    pattern: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Figures(Record):
    """One tokenizer on one text. Ratios are `None` where they would divide by zero."""

    tokenizer: str
    source: str
    """The name of the text."""
    byte_count: int
    """Bytes of the text in UTF-8."""
    characters: int
    """Characters of the text: code points."""
    words: int | None
    """Words of the text: what stands between white space. `None` for a language that writes no spaces."""
    tokens: int
    """What `count` says of the text."""
    partial_tokens: int
    """Tokens whose bytes alone are no valid UTF-8: they hold a part of a character."""
    bytes_per_token: float | None
    characters_per_token: float | None
    tokens_per_word: float | None
    """Fertility."""
    partial_share: float | None
    """Partial tokens as a share of all tokens, 0 to 1."""

    @classmethod
    def of(
        cls,
        *,
        byte_count: int,
        characters: int,
        words: int | None,
        tokens: int,
        partial_tokens: int,
        **more: Any,
    ) -> Self:
        """The record with its ratios worked out."""
        return cls(
            byte_count=byte_count,
            characters=characters,
            words=words,
            tokens=tokens,
            partial_tokens=partial_tokens,
            bytes_per_token=_ratio(byte_count, tokens),
            characters_per_token=_ratio(characters, tokens),
            tokens_per_word=_ratio(tokens, words or 0),
            partial_share=_ratio(partial_tokens, tokens),
            **more,
        )


@dataclass(frozen=True, slots=True)
class LanguageFigures(Figures):
    """One tokenizer on the parallel sample in one language; `source` is the name of the language."""

    code: str
    script: str
    parity: float
    """Tokens as a multiple of those that English takes to say the same with the same tokenizer; 1 is
    parity."""


@dataclass(frozen=True, slots=True)
class Overlap(Record):
    """What two vocabularies share. Special tokens are left out; tokens are equal if their bytes are."""

    a: str
    b: str
    tokens_a: int
    tokens_b: int
    shared: int
    same_id: int
    """Shared tokens that have the same id in both."""
    only_a: int
    only_b: int
    jaccard: float
    """Shared tokens as a share of all tokens of both, 0 to 1."""
    examples_a: tuple[VocabularyToken, ...]
    """The first tokens, by id, that only `a` has."""
    examples_b: tuple[VocabularyToken, ...]


@dataclass(frozen=True, slots=True)
class Boundaries(Record):
    """How far all tokenizers of a comparison agree on where one text is cut."""

    source: str
    """The name of the text."""
    common_cuts: int
    """Places inside the text where all of them end a token."""
    all_cuts: int
    """Places where at least one of them does."""
    differing_spans: int
    """Stretches between two neighbouring common cuts that some tokenizer cuts further."""
    differing_bytes: int
    """The bytes of these stretches together."""


@dataclass(frozen=True, slots=True)
class BoundaryDifference(Record):
    """A stretch of text that begins and ends a token for all tokenizers, and is cut differently inside."""

    source: str
    """The name of the text."""
    byte_span: Span
    char_span: Span
    """In characters; one that is cut in the middle counts as covered."""
    pieces: tuple[tuple[bytes, ...], ...]
    """How each tokenizer cuts the stretch, in the order of the comparison's `tokenizers`."""


@dataclass(frozen=True, slots=True)
class Comparison(Record):
    """Tokenizers side by side: what `compare` returns.

    `to_dict` and `to_json` give all of it, `to_csv` one of its tables.
    """

    kind: ClassVar[str] = "comparison"
    TABLES: ClassVar[tuple[str, ...]] = ("figures", "languages", "overlaps", "boundaries", "differences")

    tokenizers: tuple[Compared, ...]
    figures: tuple[Figures, ...]
    """One for each text and tokenizer, text by text."""
    languages: tuple[LanguageFigures, ...]
    """One for each language and tokenizer, language by language, English first."""
    overlaps: tuple[Overlap, ...]
    """One for each pair of tokenizers."""
    boundaries: tuple[Boundaries, ...]
    """One for each text."""
    differences: tuple[BoundaryDifference, ...]
    """Stretches that are cut differently, from the beginning of the texts; at most `max_differences`."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tokenizers."""
        return tuple(side.name for side in self.tokenizers)

    def totals(self) -> tuple[Figures, ...]:
        """All texts together: one record a tokenizer; empty without texts."""
        totals = []
        for name in self.names:
            rows = [row for row in self.figures if row.tokenizer == name]
            if rows:
                totals.append(
                    Figures.of(
                        tokenizer=name,
                        source="all",
                        byte_count=sum(row.byte_count for row in rows),
                        characters=sum(row.characters for row in rows),
                        words=sum(row.words or 0 for row in rows),
                        tokens=sum(row.tokens for row in rows),
                        partial_tokens=sum(row.partial_tokens for row in rows),
                    )
                )
        return tuple(totals)

    def to_csv(self, table: str = "figures") -> str:
        """One table as CSV, its first line the names of the columns.

        Args:
            table: `"figures"`, `"languages"`, `"overlaps"`, `"boundaries"` or `"differences"`.

        Raises:
            ValueError: another name.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train("low lower", vocab_size=257)
        >>> rows = bl.compare([tok], "low", names=["A"], languages=False).to_csv().splitlines()
        >>> rows[0].split(",")[:6]
        ['tokenizer', 'source', 'byte_count', 'characters', 'words', 'tokens']
        >>> rows[1].split(",")[:6]
        ['A', 'text 1', '3', '3', '1', '2']
        """
        columns = {
            "figures": Figures,
            "languages": LanguageFigures,
            "overlaps": Overlap,
            "boundaries": Boundaries,
            "differences": BoundaryDifference,
        }
        if table not in columns:
            message = f"there is no table {table!r}; the tables are {', '.join(columns)}"
            raise ValueError(message)
        names = [field.name for field in dataclasses.fields(columns[table])]
        return csv_text(names, [record.to_dict() for record in getattr(self, table)])


def csv_text(columns: list[str], rows: list[dict[str, Any]]) -> str:
    """Rows as CSV; what is no number or text is JSON within its cell."""
    import json  # noqa: PLC0415

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        cells = [row[column] for column in columns]
        writer.writerow(
            [
                json.dumps(cell, ensure_ascii=False) if isinstance(cell, (list, dict)) else cell
                for cell in cells
            ]
        )
    return out.getvalue()


def _ratio(a: int, b: int) -> float | None:
    return a / b if b else None

"""How a text becomes tokens, as data: pre-tokens, symbols, merges, tokens.

`Tokenizer.explain` returns an `Explanation`; `Tokenizer.explain_stream` gives its parts one by one, in
bounded memory. The records are frozen dataclasses: `to_dict` and `to_json` make plain data of each (see
`Record`).

The ids are those of the engine, and the steps are reported by the engine's own merge rule while it runs;
nothing is worked out a second time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ._patch_records import ExplainedByte, ExplainedPatch, PatchExplanation, PatchStart
from ._record import Record, Span, text_of
from ._trace import RunnerUp, TraceStep, TrainingTrace, replay

__all__ = [
    "Alternative",
    "Candidate",
    "ExplainedByte",
    "ExplainedPatch",
    "Explanation",
    "MergeStep",
    "MergeTree",
    "Part",
    "PatchExplanation",
    "PatchStart",
    "PatternMatch",
    "PreToken",
    "Record",
    "RunnerUp",
    "Span",
    "Special",
    "Symbol",
    "Token",
    "TokenizerSummary",
    "TraceStep",
    "TrainingTrace",
    "replay",
]

Bytes = bytes  # for records that have a field of that name before another of that type

SymbolKind = Literal["byte", "character", "byte_fallback", "unknown"]
TokenKind = Literal["symbol", "merged", "whole", "byte_fallback", "unknown", "special", "added"]
SpecialHow = Literal["allowed", "added_token", "bos", "eos"]


@dataclass(frozen=True, slots=True)
class Alternative(Record):
    """One alternative of the pattern: what stands between two `|` outside of all groups."""

    member: int
    """Which pattern of a sequence it belongs to, from 0; 0 where there is only one pattern."""
    index: int
    """Its place in that pattern, from 0."""
    source: str
    """Its regex, as the pattern spells it."""
    category: str
    """What it is for, in a word or two: `"letters"`, `"contraction"`, …"""


@dataclass(frozen=True, slots=True)
class TokenizerSummary(Record):
    """What the explained tokenizer is, as far as its steps need it."""

    vocab_size: int
    fingerprint: str
    pattern: str
    """The regex; of a sequence, those of its members with an arrow between."""
    pattern_name: str | None
    """The name of a built-in pattern."""
    alternatives: tuple[Alternative, ...]
    """The alternatives of the pattern, in the order in which they are tried."""
    alphabet: str
    """The base symbols: `"bytes"`, `"characters and bytes"` (byte fallback) or `"characters"`."""
    normalizer: tuple[str, ...]
    """What happens to text before it is cut; empty for most tokenizers."""
    whole_tokens: bool
    """Whether a pre-token that is in the vocabulary is taken as a whole, without merging."""


@dataclass(frozen=True, slots=True)
class PatternMatch(Record):
    """Which alternative of a pattern matched."""

    member: int
    """Which pattern of a sequence matched; 0 where there is only one."""
    alternative: int | None
    """The index of the first alternative that matches here, the one that counts. `None` for text between two
    matches of a custom pattern, which becomes a pre-token of its own."""
    source: str | None
    """The regex of the alternative."""
    category: str
    """What the alternative is for; `"unmatched"` where there is none."""
    byte_span: Span
    """What this pattern matched, in bytes of the text as given. The last pattern of a sequence matched the
    pre-token; those before it may have matched more."""


@dataclass(frozen=True, slots=True)
class Symbol(Record):
    """A symbol that merging begins with."""

    id: int
    bytes: bytes
    start: int
    """Where it begins, in bytes of the pre-token."""
    symbol_kind: SymbolKind
    """`"byte"` in a vocabulary of bytes, else `"character"`; `"byte_fallback"` for a byte of a character that
    has no token, `"unknown"` for a whole such character where it is lost."""

    @property
    def text(self) -> str | None:
        """The symbol as text, or `None` where it is no valid UTF-8."""
        return text_of(self.bytes)


@dataclass(frozen=True, slots=True)
class Candidate(Record):
    """A pair that might have been merged at a step, and was not: another came first."""

    rank: int
    left: int
    right: int
    left_bytes: bytes
    right_bytes: bytes
    result: int
    at: int
    """The place of its left symbol among the symbols before the step."""
    start: int
    """Where it begins, in bytes of the pre-token."""


@dataclass(frozen=True, slots=True)
class MergeStep(Record):
    """One merge: the pair of lowest rank, the leftmost among equals, becomes one symbol."""

    index: int
    """The number of the step within its pre-token, from 0."""
    rank: int
    """The rank of the pair; the lower, the earlier."""
    left: int
    right: int
    left_bytes: bytes
    right_bytes: bytes
    result: int
    """The id that the pair becomes."""
    at: int
    """The place of the left symbol among the symbols before the step."""
    span: Span
    """What the result covers, in bytes of the pre-token."""
    losers: tuple[Candidate, ...]
    """The best of the pairs that had to wait: by rank, then by place. At most `max_losers` of them."""
    losers_left_out: int
    """How many more pairs had to wait."""

    @property
    def result_bytes(self) -> bytes:
        """The bytes of the result."""
        return self.left_bytes + self.right_bytes


@dataclass(frozen=True, slots=True)
class MergeTree(Record):
    """How a token was built: a symbol, or two trees and the rank of the merge that joined them."""

    id: int
    bytes: bytes
    span: Span
    """What it covers, in bytes of the pre-token."""
    rank: int | None
    """The rank of the merge that made it; `None` for a symbol."""
    left: MergeTree | None
    right: MergeTree | None
    cut: bool = False
    """Whether it was made by merges that are not shown, because the tree is deeper than `MAX_DEPTH`."""

    MAX_DEPTH: ClassVar[int] = 100
    """Deeper trees, which only tokens of hundreds of bytes can have, end in nodes that are `cut`."""

    @property
    def text(self) -> str | None:
        """The bytes as text, or `None` where they are no valid UTF-8."""
        return text_of(self.bytes)


@dataclass(frozen=True, slots=True)
class Token(Record):
    """A token of the result."""

    index: int
    """Its place among all ids of the text, from 0."""
    id: int
    bytes: bytes
    """The bytes of the token. For `"unknown"` they are those of the unknown token, not of the text."""
    char_span: Span
    """In characters of the text as given; a token that holds part of a character covers all of it."""
    byte_span: Span
    """In bytes of the text as given."""
    token_kind: TokenKind
    """`"symbol"`: a symbol that no merge took; `"merged"`; `"whole"`: the pre-token was in the vocabulary as
    a whole; `"byte_fallback"` and `"unknown"`: as for symbols; `"special"` and `"added"`: see `Special`."""
    tree: MergeTree | None
    """How merges built it; `None` for special tokens, and for a whole pre-token that merges would not
    build."""

    @property
    def text(self) -> str | None:
        """The token as text, or `None` where it is no valid UTF-8."""
        return text_of(self.bytes)


@dataclass(frozen=True, slots=True)
class PreToken(Record):
    """A pre-token, from the pattern that cut it to its tokens.

    A pre-token of more than `MAX_BYTES` bytes is given in several records, cut between tokens: `segment` says
    which. Merges inside a segment are those of the whole, since no merge joins what different tokens end up
    with; only losing candidates that cross the cut are missing.
    """

    kind: ClassVar[str] = "pretoken"
    MAX_BYTES: ClassVar[int] = 1024

    index: int
    """The number of the pre-token in the text, from 0; special tokens are not counted."""
    segment: int
    """Which part of a long pre-token this is, from 0."""
    segments: int
    """How many parts there are; 1 for nearly all."""
    bytes: Bytes
    """The bytes that are merged: normalized, where the tokenizer has a normalizer."""
    original: Bytes
    """The bytes of the text as given at `byte_span`; the same unless a normalizer changed them."""
    char_span: Span
    """In characters of the text as given."""
    byte_span: Span
    """In bytes of the text as given."""
    matches: tuple[PatternMatch, ...]
    """Which alternative matched; for a sequence of patterns one entry a pattern, in order."""
    whole: bool
    """Whether the engine took the pre-token as a whole, because it is in the vocabulary (`whole_tokens`). The
    merges are given all the same: they are what it saved."""
    symbols: tuple[Symbol, ...]
    """What merging begins with."""
    steps: tuple[MergeStep, ...]
    """The merges, in order; at most `max_steps`."""
    steps_left_out: int
    """How many more merges there were."""
    merged_ids: tuple[int, ...]
    """What the merges give: the ids of `tokens`, except where `whole` says that they did not decide."""
    tokens: tuple[Token, ...]

    @property
    def text(self) -> str | None:
        """The bytes as text, or `None` where they are no valid UTF-8."""
        return text_of(self.bytes)

    @property
    def match(self) -> PatternMatch:
        """The match of the pattern, of a sequence that of the last one."""
        return self.matches[-1]

    @property
    def normalized(self) -> bool:
        """Whether a normalizer changed the text here."""
        return self.bytes != self.original

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the tokens."""
        return tuple(token.id for token in self.tokens)

    def states(self) -> Iterator[tuple[tuple[int, Span], ...]]:
        """The symbols before the first step and after each: their ids and spans in bytes of the pre-token."""
        state = [(symbol.id, Span(symbol.start, symbol.start + len(symbol.bytes))) for symbol in self.symbols]
        yield tuple(state)
        for step in self.steps:
            state[step.at : step.at + 2] = [(step.result, step.span)]
            yield tuple(state)


@dataclass(frozen=True, slots=True)
class Special(Record):
    """A special or added token: matched as it is written, never cut, never merged."""

    kind: ClassVar[str] = "special"

    id: int
    bytes: bytes
    """What the text holds there; empty for one that `add_special_tokens` put in."""
    content: str
    """The token as it is written."""
    char_span: Span
    byte_span: Span
    """In bytes of the text as given. It may be longer than the token, where white space around is part of
    it."""
    how: SpecialHow
    """`"allowed"`: the text spells it, and `allowed_special` names it; `"added_token"`: it is not special,
    and is matched in every text; `"bos"` and `"eos"`: `add_special_tokens` put it there."""
    tokens: tuple[Token, ...]
    """The one token."""

    @property
    def text(self) -> str | None:
        """The bytes as text."""
        return text_of(self.bytes)

    @property
    def ids(self) -> tuple[int, ...]:
        """The id, as a tuple of one."""
        return (self.id,)


Part = PreToken | Special


@dataclass(frozen=True, slots=True)
class Explanation(Record):
    """How a text became tokens.

    `parts` are the pre-tokens and special tokens in order; their tokens, one after another, are what `encode`
    gives.
    """

    kind: ClassVar[str] = "explanation"

    tokenizer: TokenizerSummary
    bytes: bytes
    """The text as it was given, in UTF-8."""
    characters: int
    """The length of the text in characters; an invalid byte counts as one."""
    parts: tuple[Part, ...]

    @property
    def text(self) -> str | None:
        """The text, or `None` where it is no valid UTF-8."""
        return text_of(self.bytes)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """All tokens in order."""
        return tuple(token for part in self.parts for token in part.tokens)

    @property
    def ids(self) -> list[int]:
        """All ids in order: what `encode` returns."""
        return [token.id for part in self.parts for token in part.tokens]

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data, with all `ids` in a list of their own."""
        plain = Record.to_dict(self)
        plain["ids"] = self.ids
        return plain

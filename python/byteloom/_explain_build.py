"""Makes the records of an explanation from what the engine reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from ._categories import category
from .explain import (
    Alternative,
    Candidate,
    Explanation,
    MergeStep,
    MergeTree,
    Part,
    PatternMatch,
    PreToken,
    Span,
    Special,
    SpecialHow,
    Symbol,
    SymbolKind,
    Token,
    TokenizerSummary,
    TokenKind,
)

if TYPE_CHECKING:
    from ._native import (
        Errors,
        Explainer,
        NativeTokenizer,
        RawPair,
        RawPreToken,
        RawSpecial,
        SpecialSet,
        Text,
    )

__all__ = ["explain", "stream"]


def explain(
    tok: NativeTokenizer,
    text: Text,
    *,
    allowed_special: SpecialSet,
    disallowed_special: SpecialSet,
    add_special_tokens: bool,
    errors: Errors,
    max_steps: int | None,
    max_losers: int | None,
) -> Explanation:
    """See `Tokenizer.explain`."""
    native = tok._explain(  # noqa: SLF001 - the native half of the same class
        text, allowed_special, disallowed_special, add_special_tokens, errors, max_steps, max_losers
    )
    builder = _Builder(tok)
    parts = tuple(builder.parts(native))
    return Explanation(builder.summary(), native.text, native.characters, parts)


def stream(
    tok: NativeTokenizer,
    text: Text,
    *,
    allowed_special: SpecialSet,
    disallowed_special: SpecialSet,
    add_special_tokens: bool,
    errors: Errors,
    max_steps: int | None,
    max_losers: int | None,
) -> Iterator[Part]:
    """See `Tokenizer.explain_stream`."""
    native = tok._explain(  # noqa: SLF001 - as above
        text, allowed_special, disallowed_special, add_special_tokens, errors, max_steps, max_losers
    )
    return _Builder(tok).parts(native)


_REMEMBERED = 4096
_REMEMBERED_BYTES = 32
"""So many short pre-tokens share their records where they come again: most words of a text do."""

_KINDS: dict[SymbolKind, TokenKind] = {
    "byte": "symbol",
    "character": "symbol",
    "byte_fallback": "byte_fallback",
    "unknown": "unknown",
}


@dataclass(frozen=True, slots=True)
class _Merged:
    """What is the same wherever a pre-token stands."""

    symbols: tuple[Symbol, ...]
    steps: tuple[MergeStep, ...]
    steps_left_out: int
    ids: tuple[int, ...]
    kinds: tuple[TokenKind, ...]
    trees: tuple[MergeTree | None, ...]


class _Builder:
    """What the records of one text share."""

    def __init__(self, tok: NativeTokenizer) -> None:
        self.tok = tok
        names = tok._pattern_names()  # noqa: SLF001 - as above
        self.alternatives = tuple(
            tuple(
                Alternative(member, index, source, category(name, index, source))
                for index, source in enumerate(sources)
            )
            for member, (name, sources) in enumerate(zip(names, tok._alternatives(), strict=True))  # noqa: SLF001
        )
        self.tokens = 0
        self.known: dict[int, bytes] = {}
        self.merged: dict[tuple[bytes, bool], _Merged] = {}

    def summary(self) -> TokenizerSummary:
        info = self.tok._info()  # noqa: SLF001 - as above
        return TokenizerSummary(
            vocab_size=info["vocab_size"],
            fingerprint=info["fingerprint"],
            pattern=info["pattern"],
            pattern_name=info["pattern_name"],
            alternatives=tuple(alternative for member in self.alternatives for alternative in member),
            alphabet=info["alphabet"],
            normalizer=tuple(info["normalizer"]),
            whole_tokens=info["whole_tokens"],
        )

    def parts(self, native: Explainer) -> Iterator[Part]:
        byte = char = 0
        if native.bos is not None:
            yield self.special(native.bos, b"", Span(0, 0), Span(0, 0), "bos")
        for raw in native:
            # The engine tells five things of a special token, and more of a pre-token.
            part: Part = self.added(raw) if len(raw) == 5 else self.pretoken(raw)  # noqa: PLR2004
            byte, char = part.byte_span.end, part.char_span.end
            yield part
        if native.eos is not None:
            yield self.special(native.eos, b"", Span(char, char), Span(byte, byte), "eos")

    def added(self, raw: RawSpecial) -> Special:
        token_id, written, byte_span, char_span, special = raw
        how: SpecialHow = "allowed" if special else "added_token"
        return self.special(token_id, written, Span(*char_span), Span(*byte_span), how)

    def special(
        self, token_id: int, written: bytes, char_span: Span, byte_span: Span, how: SpecialHow
    ) -> Special:
        content = self.bytes_of(token_id)
        kind: TokenKind = "added" if how == "added_token" else "special"
        token = Token(self.tokens, token_id, content, char_span, byte_span, kind, None)
        self.tokens += 1
        return Special(
            id=token_id,
            bytes=written,
            content=content.decode(errors="replace"),
            char_span=char_span,
            byte_span=byte_span,
            how=how,
            tokens=(token,),
        )

    def pretoken(self, raw: RawPreToken) -> PreToken:
        (index, segment, segments), piece, original, byte_span, matches, whole, *_ = raw
        key = (piece, segments == 1)
        merged = self.merged.get(key)
        if merged is None:
            merged = self.merge(raw)
            if len(piece) <= _REMEMBERED_BYTES:
                if len(self.merged) == _REMEMBERED:
                    self.merged.clear()
                self.merged[key] = merged
        tokens = self.records(raw, merged)
        return PreToken(
            index=index,
            segment=segment,
            segments=segments,
            bytes=piece,
            original=original,
            char_span=Span(tokens[0].char_span.start, tokens[-1].char_span.end),
            byte_span=Span(*byte_span),
            matches=tuple(
                self.match(member, number, Span(*span)) for member, (number, span) in enumerate(matches)
            ),
            whole=whole,
            symbols=merged.symbols,
            steps=merged.steps,
            steps_left_out=merged.steps_left_out,
            merged_ids=merged.ids,
            tokens=tokens,
        )

    def merge(self, raw: RawPreToken) -> _Merged:
        _, piece, _, _, _, whole, symbols, (steps, nodes, roots, ids), tokens = raw
        starts = list(accumulate((length for _, length, _ in symbols), initial=0))
        # Where a whole pre-token is another token than merges make, no tree belongs to it.
        built = [token[0] for token in tokens] == ids
        kinds: tuple[TokenKind, ...]
        if whole:
            kinds = tuple("whole" for _ in tokens)
        else:
            of_symbols = [_KINDS[kind] for _, _, kind in symbols]
            kinds = tuple(of_symbols[root] if root < len(symbols) else "merged" for root in roots)
        return _Merged(
            symbols=tuple(
                Symbol(token_id, piece[start : start + length], start, kind)
                for start, (token_id, length, kind) in zip(starts, symbols, strict=False)
            ),
            steps=tuple(
                self.step(number, pair, end, losers, left_out)
                for number, (pair, end, losers, left_out) in enumerate(steps)
            ),
            steps_left_out=len(nodes) - len(steps),
            ids=tuple(ids),
            kinds=kinds,
            trees=tuple(_trees(raw, starts)) if built else (None,) * len(tokens),
        )

    def match(self, member: int, number: int | None, span: Span) -> PatternMatch:
        if number is None:
            return PatternMatch(member, None, None, "unmatched", span)
        alternative = self.alternatives[member][number]
        return PatternMatch(member, number, alternative.source, alternative.category, span)

    def step(self, number: int, pair: RawPair, end: int, losers: list[RawPair], left_out: int) -> MergeStep:
        rank, at, start, left, right, result = pair
        return MergeStep(
            index=number,
            rank=rank,
            left=left,
            right=right,
            left_bytes=self.bytes_of(left),
            right_bytes=self.bytes_of(right),
            result=result,
            at=at,
            span=Span(start, end),
            losers=tuple(self.candidate(loser) for loser in losers),
            losers_left_out=left_out,
        )

    def candidate(self, pair: RawPair) -> Candidate:
        rank, at, start, left, right, result = pair
        return Candidate(
            rank, left, right, self.bytes_of(left), self.bytes_of(right), result, at=at, start=start
        )

    def records(self, raw: RawPreToken, merged: _Merged) -> tuple[Token, ...]:
        first = self.tokens
        self.tokens += len(raw[-1])
        return tuple(
            Token(index, token_id, self.bytes_of(token_id), Span(*char_span), Span(*byte_span), kind, tree)
            for index, (token_id, _, byte_span, char_span), kind, tree in zip(
                range(first, self.tokens), raw[-1], merged.kinds, merged.trees, strict=True
            )
        )

    def bytes_of(self, token_id: int) -> bytes:
        found = self.known.get(token_id)
        if found is None:
            found = self.known[token_id] = self.tok.id_to_bytes(token_id)
        return found


def _trees(raw: RawPreToken, starts: list[int]) -> list[MergeTree]:
    _, piece, _, _, _, _, symbols, (_, nodes, roots, _), _ = raw
    count = len(symbols)
    spans = [Span(start, end) for start, end in pairwise(starts)]
    for left, right, _, _ in nodes:
        spans.append(Span(spans[left].start, spans[right].end))

    def tree(node: int, depth: int) -> MergeTree:
        span = spans[node]
        content = piece[span.start : span.end]
        if node < count:
            return MergeTree(symbols[node][0], content, span, None, None, None)
        left, right, token_id, rank = nodes[node - count]
        if depth == MergeTree.MAX_DEPTH:
            return MergeTree(token_id, content, span, rank, None, None, cut=True)
        return MergeTree(token_id, content, span, rank, tree(left, depth + 1), tree(right, depth + 1))

    return [tree(root, 0) for root in roots]

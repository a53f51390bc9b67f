"""Makes the records of an explanation from what the engine reports."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import accumulate
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
    Token,
    TokenizerSummary,
    TokenKind,
)

if TYPE_CHECKING:
    from ._native import Explainer, NativeTokenizer, RawPair, RawPreToken, RawSpecial, RawTrace

__all__ = ["explain", "stream"]


def explain(
    tok: NativeTokenizer,
    text: str | bytes,
    *,
    allowed_special: str | Collection[str],
    disallowed_special: str | Collection[str],
    add_special_tokens: bool,
    errors: str,
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
    text: str | bytes,
    *,
    allowed_special: str | Collection[str],
    disallowed_special: str | Collection[str],
    add_special_tokens: bool,
    errors: str,
    max_steps: int | None,
    max_losers: int | None,
) -> Iterator[Part]:
    """See `Tokenizer.explain_stream`."""
    native = tok._explain(  # noqa: SLF001 - as above
        text, allowed_special, disallowed_special, add_special_tokens, errors, max_steps, max_losers
    )
    return _Builder(tok).parts(native)


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
            part: Part
            if len(raw) == 5:  # noqa: PLR2004 - the shape of a special token
                part = self.added(raw)
            else:
                part = self.pretoken(raw)
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
        (index, segment, segments), piece, original, byte_span, matches, whole, symbols, trace, tokens = raw
        steps, nodes, roots, merged_ids = trace
        starts = list(accumulate((length for _, length, _ in symbols), initial=0))
        records = self.records(raw, starts)
        return PreToken(
            index=index,
            segment=segment,
            segments=segments,
            bytes=piece,
            original=original,
            char_span=Span(records[0].char_span.start, records[-1].char_span.end),
            byte_span=Span(*byte_span),
            matches=tuple(
                self.match(member, number, Span(*span)) for member, (number, span) in enumerate(matches)
            ),
            whole=whole,
            symbols=tuple(
                Symbol(token_id, piece[start : start + length], start, kind)
                for start, (token_id, length, kind) in zip(starts, symbols, strict=False)
            ),
            steps=tuple(
                self.step(number, pair, end, losers, left_out)
                for number, (pair, end, losers, left_out) in enumerate(steps)
            ),
            steps_left_out=len(nodes) - len(steps),
            merged_ids=tuple(merged_ids),
            tokens=records,
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

    def records(self, raw: RawPreToken, starts: list[int]) -> tuple[Token, ...]:
        _, piece, _, _, _, whole, symbols, trace, tokens = raw
        _, _, roots, merged_ids = trace
        # Where a whole pre-token is another token than merges make, no tree belongs to it.
        built = len(tokens) == len(merged_ids) and all(
            token[0] == merged for token, merged in zip(tokens, merged_ids, strict=True)
        )
        trees = _trees(piece, [symbol[0] for symbol in symbols], starts, trace) if built else []
        records = []
        for number, (token_id, _, byte_span, char_span) in enumerate(tokens):
            kind: TokenKind = "merged"
            if whole:
                kind = "whole"
            elif built and roots[number] < len(symbols):
                of_symbol = symbols[roots[number]][2]
                kind = of_symbol if of_symbol in ("byte_fallback", "unknown") else "symbol"
            tree = trees[number] if built else None
            records.append(
                Token(
                    self.tokens,
                    token_id,
                    self.bytes_of(token_id),
                    Span(*char_span),
                    Span(*byte_span),
                    kind,
                    tree,
                )
            )
            self.tokens += 1
        return tuple(records)

    def bytes_of(self, token_id: int) -> bytes:
        found = self.known.get(token_id)
        if found is None:
            found = self.known[token_id] = self.tok.id_to_bytes(token_id)
        return found


def _trees(piece: bytes, ids: list[int], starts: list[int], trace: RawTrace) -> list[MergeTree]:
    _, nodes, roots, _ = trace
    count = len(ids)
    spans = [Span(start, end) for start, end in zip(starts, starts[1:], strict=False)]
    for left, right, _, _ in nodes:
        spans.append(Span(spans[left].start, spans[right].end))

    def tree(node: int, depth: int) -> MergeTree:
        span = spans[node]
        content = piece[span.start : span.end]
        if node < count:
            return MergeTree(ids[node], content, span, None, None, None)
        left, right, token_id, rank = nodes[node - count]
        if depth == MergeTree.MAX_DEPTH:
            return MergeTree(token_id, content, span, rank, None, None, cut=True)
        return MergeTree(token_id, content, span, rank, tree(left, depth + 1), tree(right, depth + 1))

    return [tree(root, 0) for root in roots]

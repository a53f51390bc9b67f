"""Tokenizers, texts and vocabularies as blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ._blocks import Block, Chip, Details, Heading, Inline, Note, Strip, Table
from ._signs import visible

if TYPE_CHECKING:
    from byteloom._comparison import Comparison
    from byteloom._tokenizer import Tokenizer
    from byteloom._vocabulary import Entry, ScriptShare, Usage, Used, Vocabulary

__all__ = [
    "chat_blocks",
    "comparison_blocks",
    "encoding_blocks",
    "hex_bytes",
    "ids_blocks",
    "records_blocks",
    "tokenizer_blocks",
    "usage_blocks",
    "vocabulary_blocks",
]

_SHORT = 10
_WIDEST = 48  # characters of a token in a table


def hex_bytes(data: bytes) -> str:
    """Bytes as people write them: `E2 98`."""
    return data.hex(" ").upper()


def number(value: float | None, places: int = 2) -> str:
    """A figure of a table; a dash where there is none."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{places}f}"


def percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def short(data: bytes) -> Inline:
    """A token for a table: a chip, cut where it is very long."""
    size = len(data)
    if len(visible(data)) <= _WIDEST:
        return Chip(data, kind="quiet")
    while len(visible(data)) > _WIDEST // 2 and len(data) > 1:
        half = data[: len(data) // 2]
        data = half.decode("utf-8", "ignore").encode() or half
    return (Chip(data, kind="quiet"), f"… ({size:,} bytes)")


# Tokens.


def encoding_blocks(
    tok: Tokenizer, text: str | bytes, *, allowed_special: Any, limit: int
) -> Iterator[Block]:
    """A text as its tokens."""
    ids, spans = tok.encode_with_offsets(
        text, unit="byte", allowed_special=allowed_special, disallowed_special=()
    )
    size = len(text.encode() if isinstance(text, str) else text)
    facts = f"{plural(len(ids), 'token')}, {plural(size, 'byte')}"
    if isinstance(text, str):
        facts += f", {plural(len(text), 'character')}"
    if ids:
        facts += f"; {size / len(ids):.2f} bytes per token"
    yield from ids_blocks(tok, ids, limit=limit)
    yield Note(facts)
    rows = tuple(
        (str(place), str(id_), short(tok.id_to_bytes(id_)), hex_bytes(tok.id_to_bytes(id_)[:24]), f"{a}-{b}")
        for place, (id_, (a, b)) in enumerate(islice(zip(ids, spans, strict=True), limit))
    )
    columns = ("token", "id", "text", "bytes", "place in bytes")
    yield Details("All tokens", (Table(columns, rows, frozenset((0, 1))),))


def ids_blocks(
    tok: Tokenizer, ids: Sequence[int], *, limit: int, mask: Sequence[int] | None = None
) -> Iterator[Block]:
    """Ids as a strip of tokens."""
    yield Strip(tuple(token_chips(tok, ids[:limit], mask=mask)))
    if len(ids) > limit:
        yield Note(f"and {plural(len(ids) - limit, 'more token')}")


def token_chips(tok: Tokenizer, ids: Iterable[int], mask: Sequence[int] | None = None) -> Iterator[Chip]:
    special = set(tok.special_tokens.values())
    known: dict[int, tuple[bytes, str]] = {}
    for place, id_ in enumerate(ids):
        if id_ not in known:
            token = tok.id_to_bytes(id_)
            known[id_] = token, f"id {id_}: {hex_bytes(token[:24])}"
        token, title = known[id_]
        mark = None if mask is None else bool(mask[place])
        yield Chip(token, place, "special" if id_ in special else "token", title, mark)


def tokenizer_blocks(tok: Tokenizer) -> Iterator[Block]:
    """A short card."""
    info = tok.info()
    name = info["pattern_name"] or "custom pattern"
    yield Heading(f"Tokenizer: {plural(tok.vocab_size, 'token')}, {name}", 2)
    rows: list[tuple[Inline, ...]] = [("ids", f"0 to {tok.max_token_id}")]
    rows.append(("pattern", Chip(tok.pattern.encode(), kind="quiet")))
    special = sorted((id_, content) for content, id_ in tok.special_tokens.items())
    chips = [Chip(content.encode(), kind="special", title=f"id {id_}") for id_, content in special[:_SHORT]]
    more = [f"and {len(special) - _SHORT:,} more"] if len(special) > _SHORT else []
    rows.append(("special tokens", tuple(_spaced([*chips, *more])) or "none"))
    report = tok.training_report
    if report:
        rows.append(
            ("trained on", f"{plural(report['bytes'], 'byte')}, {plural(report['documents'], 'document')}")
        )
    first = [tok.id_to_bytes(a) + tok.id_to_bytes(b) for a, b in tok.merges[:_SHORT]]
    if first:
        rows.append(
            ("first merges", tuple(_spaced([Chip(token, place) for place, token in enumerate(first)])))
        )
    rows.append(("fingerprint", tok.fingerprint[:16]))
    yield Table(("", ""), tuple(rows))


def _spaced(items: Iterable[str | Chip]) -> Iterator[str | Chip]:
    for place, item in enumerate(items):
        if place:
            yield " "
        yield item


# Conversations.


def chat_blocks(item: Any, tok: Tokenizer | None, *, limit: int) -> Iterator[Block]:
    """Segments of a conversation, or its tokens where a tokenizer says what they are."""
    segments = getattr(item, "segments", item)
    if tok is not None and hasattr(item, "ids"):
        yield from ids_blocks(tok, item.ids, limit=limit, mask=item.mask)
        learned = sum(map(bool, item.mask))
        yield Note(f"{plural(len(item.ids), 'token')}, {learned:,} of them trained (underlined)")
        return
    chips = []
    for place, segment in enumerate(segments):
        kind = {"control": "special", "role": "quiet"}.get(segment.kind, "token")
        title = f"{segment.kind}, {'trained' if segment.trained else 'not trained'}"
        data = segment.text.encode("utf-8", "surrogatepass")
        if data:
            chips.append(Chip(data, place, kind, title, segment.trained))  # type: ignore[arg-type]
    yield Strip(tuple(chips[:limit]))
    trained = sum(bool(segment.trained) for segment in segments)
    yield Note(f"{plural(len(segments), 'segment')}, {trained:,} of them trained (underlined)")


# Vocabularies.


def vocabulary_blocks(vocab: Vocabulary) -> Iterator[Block]:
    """Sizes, scripts, longest tokens."""
    lengths = vocab.lengths()
    ordinary = sum(lengths.values())
    mean = sum(size * count for size, count in lengths.items()) / ordinary if ordinary else 0.0
    special = len(vocab) - ordinary
    yield Heading(f"Vocabulary: {plural(len(vocab), 'token')}", 2)
    yield Note(f"{plural(special, 'special token')}; ordinary tokens have {mean:.2f} bytes on average")
    yield _scripts_table(vocab.scripts(), "By script")
    yield entries_table(vocab.longest(_SHORT), "Longest")


def entries_table(entries: Iterable[Entry], caption: str = "") -> Table:
    """Tokens with their ids."""
    rows = [
        (str(entry.id), number(len(entry.bytes)), entry.script, _entry(entry), hex_bytes(entry.bytes[:12]))
        for entry in entries
    ]
    return Table(("id", "bytes", "script", "token", "in hex"), tuple(rows), frozenset((0, 1)), caption)


def _entry(entry: Entry) -> Inline:
    return Chip(entry.bytes, kind="special") if entry.special else short(entry.bytes)


def _examples(entries: Sequence[Entry]) -> Inline:
    chips: list[str | Chip] = []
    for entry in entries:
        shown = _entry(entry)
        chips += shown if isinstance(shown, tuple) else (shown,)
    return tuple(_spaced(chips))


def records_blocks(records: Sequence[Any], *, limit: int) -> Iterator[Block]:
    """A list of entries, unreachable tokens, used tokens or scripts."""
    shown, first = records[:limit], type(records[0]).__name__
    if first == "Entry":
        yield entries_table(shown)
    elif first == "Used":
        yield _used_table(shown)
    elif first == "ScriptShare":
        yield _scripts_table(shown)
    else:
        rows: list[tuple[Inline, ...]] = [
            (str(row.id), short(row.bytes), row.reason, " ".join(map(str, row.ids))) for row in shown
        ]
        yield Table(("id", "token", "why", "its bytes give"), tuple(rows), frozenset((0,)))
    if len(records) > limit:
        yield Note(f"and {len(records) - limit:,} more")


def _used_table(used: Iterable[Used], caption: str = "") -> Table:
    rows = [(number(row.first), str(row.id), number(row.count), short(row.bytes)) for row in used]
    return Table(("first use", "id", "times", "token"), tuple(rows), frozenset((0, 1, 2)), caption)


def _scripts_table(scripts: Iterable[ScriptShare], caption: str = "") -> Table:
    rows: list[tuple[Inline, ...]] = [
        (row.script, number(row.tokens), percent(row.share), _examples(row.examples[:5])) for row in scripts
    ]
    return Table(("script", "tokens", "share", "longest"), tuple(rows), frozenset((1, 2)), caption)


def usage_blocks(usage: Usage, *, limit: int) -> Iterator[Block]:
    """What a sample uses."""
    used, never = len(usage.used), len(usage.never)
    yield Heading(f"{plural(used, 'token')} of {usage.vocabulary:,} used", 2)
    yield Note(f"{plural(usage.tokens, 'token')} of text use {percent(usage.share)} of the vocabulary")
    yield _used_table(usage.used[:limit], "By first use")
    if used > limit:
        yield Note(f"and {used - limit:,} more")
    yield entries_table(usage.never[:limit], "Never used")
    if never > limit:
        yield Note(f"and {never - limit:,} more")


# Comparisons.


def comparison_blocks(result: Comparison, *, limit: int) -> Iterator[Block]:
    """The tables of a comparison."""
    yield Heading(f"Comparison: {', '.join(result.names)}", 2)
    if result.figures:
        yield _figures_table(result)
    if result.languages:
        yield _language_table(result)
    if result.overlaps:
        yield _overlap_table(result)
    if len(result.tokenizers) > 1 and result.boundaries:
        yield from _boundary_blocks(result, limit=limit)


def _figures_table(result: Comparison) -> Table:
    sources = {row.source for row in result.figures}
    totals = result.totals() if len(sources) > 1 else ()
    rows = [
        (
            row.source,
            row.tokenizer,
            number(row.tokens),
            number(row.bytes_per_token),
            number(row.characters_per_token),
            number(row.tokens_per_word),
            number(row.partial_tokens),
            percent(row.partial_share),
        )
        for row in (*result.figures, *totals)
    ]
    columns = ("text", "tokenizer", "tokens", "bytes/token", "chars/token", "tokens/word", "partial", "share")
    return Table(columns, tuple(rows), frozenset(range(2, 8)), "Texts")


def _language_table(result: Comparison) -> Table:
    """A line a language: for each tokenizer its tokens and how many times English that is."""
    columns = ["language", "script"]
    for name in result.names:
        columns += [f"tokens {name}", "parity", "partial"]
    rows = []
    for place in range(0, len(result.languages), len(result.names)):
        group = result.languages[place : place + len(result.names)]
        row: list[Inline] = [group[0].source, group[0].script]
        for figures in group:
            row += [number(figures.tokens), f"{figures.parity:.2f}", percent(figures.partial_share)]
        rows.append(tuple(row))
    return Table(
        tuple(columns),
        tuple(rows),
        frozenset(range(2, len(columns))),
        "Languages: the same sentences; parity is tokens as a multiple of English",
    )


def _overlap_table(result: Comparison) -> Table:
    rows = tuple(
        (
            f"{row.a} / {row.b}",
            number(row.shared),
            number(row.only_a),
            number(row.only_b),
            f"{row.jaccard:.3f}",
            _chips(row.examples_a),
            _chips(row.examples_b),
        )
        for row in result.overlaps
    )
    columns = ("vocabularies", "shared", "only first", "only second", "Jaccard", "first has", "second has")
    return Table(columns, rows, frozenset(range(1, 5)), "Vocabularies")


def _chips(tokens: Sequence[Any]) -> Inline:
    return tuple(_spaced([Chip(token.bytes, kind="quiet") for token in tokens[:5]]))


def _boundary_blocks(result: Comparison, *, limit: int) -> Iterator[Block]:
    rows: tuple[tuple[Inline, ...], ...] = tuple(
        (
            row.source,
            number(row.common_cuts),
            number(row.all_cuts),
            number(row.differing_spans),
            number(row.differing_bytes),
        )
        for row in result.boundaries
    )
    columns = ("text", "cuts of all", "cuts of any", "stretches that differ", "their bytes")
    yield Table(columns, rows, frozenset(range(1, 5)), "Boundaries")
    shown = result.differences[:limit]
    if shown:
        cut: tuple[tuple[Inline, ...], ...] = tuple(
            (
                row.source,
                f"{row.char_span.start}-{row.char_span.end}",
                *(tuple(Chip(piece, place) for place, piece in enumerate(pieces)) for pieces in row.pieces),
            )
            for row in shown
        )
        yield Table(("text", "characters", *result.names), cut, frozenset((1,)), "Where they differ first")

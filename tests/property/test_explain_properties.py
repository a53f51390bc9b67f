"""Explanation and engine agree on every text: ids, spans, ranks, and the rule at every step."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import byteloom as bl
from byteloom.explain import replay
from helpers import ALL_PATTERNS, train_quietly
from oracle import train
from sentencepiece_model import sentencepiece_model
from strategies import byte_texts, corpora, few, merge_lists, pieces, rank_tables, texts

CORPUS = "the cat and the other; l'été, 日本語 日本 1234 1234 \n\n  the 🚀🚀 don't don't\n" * 3
SPECIALS = ["<|", "<|end|>", "|>"]


def of_format(kind, folder):
    tok = train_quietly(CORPUS, 330, pattern="gpt2", special_tokens=SPECIALS if kind == "huggingface" else ())
    if kind == "huggingface":
        tok.save_huggingface(folder / "tokenizer.json")
        return bl.Tokenizer.load(folder / "tokenizer.json")
    if kind == "normalized":
        tok.save_huggingface(folder / "tokenizer.json")
        file = json.loads((folder / "tokenizer.json").read_text("utf-8"))
        file["normalizer"] = {"type": "NFC"}
        (folder / "tokenizer.json").write_text(json.dumps(file), "utf-8")
        return bl.Tokenizer.load(folder / "tokenizer.json")
    tok.save_gpt2_files(folder)
    return bl.Tokenizer.load(folder)


@pytest.fixture(scope="module")
def of(tmp_path_factory):
    """Tokenizers by name, each made once."""
    made = {}

    def get(name):
        if name not in made:
            if name in ("huggingface", "normalized", "gpt2 files"):
                made[name] = of_format(name, tmp_path_factory.mktemp(name.replace(" ", "-")))
            elif name == "sentencepiece":
                merged = ["▁t", "th", "▁th", "he", "▁the", "▁▁", "▁▁▁", "日本"]
                made[name] = sentencepiece_model(
                    merged, ["t", "h", "e", "▁", "日", "本", "\n"], ["[X]", "<|"]
                )
            elif name == "custom":
                made[name] = train_quietly(CORPUS, 320, pattern=r"\p{L}+|\s+(?!\S)|\d")
            else:
                made[name] = train_quietly(CORPUS, 320, pattern=name, special_tokens=SPECIALS)
        return made[name]

    return get


def check(tok, text, ranks=None, **options):
    """Everything that must hold for one text; `ranks` are those of pairs, where each pair has its own."""
    explanation = tok.explain(text, max_losers=None, **options)
    data = text if isinstance(text, bytes) else text.encode()
    assert explanation.bytes == data
    ids, chars = tok.encode_with_offsets(text, **options)
    _, spans = tok.encode_with_offsets(text, unit="byte", **options)
    assert explanation.ids == ids == tok.encode(text, **options)
    assert [tuple(token.char_span) for token in explanation.tokens] == chars
    assert [tuple(token.byte_span) for token in explanation.tokens] == spans
    assert [token.index for token in explanation.tokens] == list(range(len(ids)))
    for token in explanation.tokens:
        assert token.bytes == tok.id_to_bytes(token.id)
    end = 0
    for part in explanation.parts:
        assert data[part.byte_span.start : part.byte_span.end] == (
            part.bytes if part.kind == "special" else part.original
        )
        assert end in (part.byte_span.start, part.byte_span.end)
        end = part.byte_span.end
        if part.kind == "pretoken":
            check_merges(part, ranks)
    assert end == len(data)
    assert tuple(tok.explain_stream(text, max_losers=None, **options)) == explanation.parts
    return explanation


def check_merges(part, ranks):
    """Follows the steps of a pre-token by the rule: the lowest rank, the leftmost among equals."""
    assert b"".join(symbol.bytes for symbol in part.symbols) == part.bytes
    states = list(part.states())
    assert part.steps_left_out == 0
    for number, (state, step) in enumerate(zip(states, part.steps, strict=False)):
        assert step.index == number
        shown = [(step.rank, step.at), *((loser.rank, loser.at) for loser in step.losers)]
        assert shown == sorted(shown)
        assert step.losers_left_out == 0
        for pair in (step, *step.losers):
            (left, left_span), (right, right_span) = state[pair.at], state[pair.at + 1]
            assert (pair.left, pair.right) == (left, right)
            assert pair.left_bytes + pair.right_bytes == part.bytes[left_span.start : right_span.end]
        assert step.span == (state[step.at][1].start, state[step.at + 1][1].end)
        if ranks is not None:
            known = [(state[at][0], state[at + 1][0]) for at in range(len(state) - 1)]
            assert shown == sorted((ranks[pair], at) for at, pair in enumerate(known) if pair in ranks)
    last = states[-1]
    if ranks is not None:
        assert not any((a, b) in ranks for (a, _), (b, _) in pairwise(last))
    assert tuple(token_id for token_id, _ in last) == part.merged_ids
    if part.whole:
        assert len(part.tokens) == 1
        assert part.tokens[0].bytes == part.bytes
    else:
        assert part.ids == part.merged_ids
    if part.ids == part.merged_ids:
        for token, (_, span) in zip(part.tokens, last, strict=True):
            check_tree(token.tree, token.id, part.bytes, span)


def check_tree(tree, token_id, content, span):
    assert (tree.id, tree.span, tree.bytes) == (token_id, span, content[span.start : span.end])
    assert (tree.rank is None) == (tree.left is None) == (tree.right is None)
    if tree.left is not None:
        assert (tree.left.span.start, tree.right.span.end) == span
        assert tree.left.span.end == tree.right.span.start
        for side in (tree.left, tree.right):
            check_tree(side, side.id, content, side.span)


def ranks_of(tok):
    return {pair: rank for rank, pair in enumerate(tok.merges)}


NAMES = [*ALL_PATTERNS, "custom", "huggingface", "normalized", "gpt2 files"]
special_texts = st.lists(st.one_of(st.sampled_from(SPECIALS), texts), max_size=6).map("".join)


@pytest.mark.parametrize("name", NAMES)
@few
@given(text=st.one_of(texts, byte_texts))
def test_every_text(of, name, text):
    check(of(name), text, ranks_of(of(name)), disallowed_special=())


@pytest.mark.parametrize("name", ["cl100k", "none", "huggingface"])
@few
@given(text=special_texts, allowed=st.one_of(st.just("all"), st.sets(st.sampled_from(SPECIALS))))
def test_texts_with_special_tokens(of, name, text, allowed):
    explanation = check(of(name), text, ranks_of(of(name)), allowed_special=allowed, disallowed_special=())
    found = [part.content for part in explanation.parts if part.kind == "special"]
    assert set(found) <= (set(SPECIALS) if allowed == "all" else allowed)
    assert all(part.how == "allowed" for part in explanation.parts if part.kind == "special")


@few
@given(text=st.one_of(texts, byte_texts, special_texts))
def test_pieces_of_sentencepiece(of, text):
    check(of("sentencepiece"), text, disallowed_special=())


@few
@given(ranks=rank_tables(), piece=pieces(longest=60))
def test_ranks_in_any_order(ranks, piece):
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none")
    explanation = check(tok, piece, ranks_of(tok))
    assert all(part.whole == (part.bytes in ranks) for part in explanation.parts)


@few
@given(merges=merge_lists(), piece=pieces(longest=60))
def test_any_merges(tmp_path_factory, merges, piece):
    path = tmp_path_factory.mktemp("merges") / "merges.json"
    path.write_text(json.dumps({"merges": merges}))
    try:
        tok = bl.Tokenizer.load(path)
    except bl.ByteloomError:
        return  # two merges that make the same bytes
    check(tok, piece, ranks_of(tok))


@few
@given(text=st.one_of(texts, byte_texts))
def test_cl100k(cl100k, text):
    check(cl100k, text, disallowed_special=())


@pytest.mark.parametrize("name", ["mistral_v1.model", "gpt2.tokenizer.json", "qwen3.tiktoken"])
def test_published_vocabularies(data_dir, name):
    path = data_dir / "vocab" / name
    options = {"pattern": "qwen2"} if name.startswith("qwen") else {}
    tok = bl.Tokenizer.load(path, **options)
    for corpus in ("english", "code", "multi", "cjk"):
        with (data_dir / f"{corpus}.txt").open("rb") as file:
            file.seek(3_000_000)
            data = file.read(6_000)
        check(tok, data, disallowed_special=())


@few
@given(
    documents=corpora(),
    tie_break=st.sampled_from(["smallest_pair", "huggingface", "first_seen"]),
    min_frequency=st.integers(1, 3),
    max_token_length=st.sampled_from([None, 2, 5]),
)
def test_a_trace_replays(documents, tie_break, min_frequency, max_token_length):
    limits = {"min_frequency": min_frequency, "max_token_length": max_token_length}
    options = {"pattern": "none", "tie_break": tie_break, **limits}
    try:
        tok = train_quietly(documents, 280, trace=True, **options)
    except bl.VocabularyError:
        return
    trace = tok.training_trace()
    merges = replay(trace)
    assert merges == tok.merges == train_quietly(documents, 280, **options).merges
    words = {}
    for document in documents:
        if document:
            words[document.encode()] = words.get(document.encode(), 0) + 1
    assert merges == train(words, 24, tie_break, min_frequency, max_token_length)
    for step in trace.steps:
        assert (step.decided_by == "count") == (step.tied == 1)
        counts = [step.count, *(other.count for other in step.runners_up)]
        assert counts == sorted(counts, reverse=True)
        assert counts[-1] >= min_frequency

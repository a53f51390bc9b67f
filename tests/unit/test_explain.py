"""Explanations and training traces: what each record says, and that it is what the engine did."""

import dataclasses
import itertools
import json
import sys
import typing

import pytest

import byteloom as bl
from byteloom import explain as records
from byteloom.explain import MergeTree, PreToken, Span, replay
from helpers import ALL_PATTERNS, INVALID_BYTES, RSS, SAMPLES, run_python, train_quietly
from sentencepiece_model import sentencepiece_model

TEXT = "the cat and the can, 日本 the other: low lower lowest\n\n  it's 1234 the\n" * 3


@pytest.fixture(scope="module")
def low():
    """`lo` 256, `low` 257, ` low` 258, and `<|end|>` 259."""
    return bl.Tokenizer.train(
        "low low lower lowest",
        vocab_size=260,
        pattern="gpt2",
        special_tokens=["<|end|>"],
        eos="<|end|>",
    )


def test_a_pre_token_step_by_step(low):
    explanation = low.explain("slow low")
    first, second = explanation.parts
    assert (first.text, first.char_span, first.byte_span) == ("slow", (0, 4), (0, 4))
    assert (first.match.alternative, first.match.source, first.match.category) == (7, r" ?\p{L}+", "letters")
    assert [(symbol.id, symbol.text, symbol.start) for symbol in first.symbols] == [
        (115, "s", 0), (108, "l", 1), (111, "o", 2), (119, "w", 3),
    ]  # fmt: skip
    assert [(step.rank, step.left, step.right, step.result, step.at, step.span) for step in first.steps] == [
        (0, 108, 111, 256, 1, (1, 3)),
        (1, 256, 119, 257, 1, (1, 4)),
    ]
    assert [step.losers for step in first.steps] == [(), ()]
    assert [(token.id, token.text, token.token_kind) for token in first.tokens] == [
        (115, "s", "symbol"), (257, "low", "merged"),
    ]  # fmt: skip
    tree = first.tokens[1].tree
    assert (tree.rank, tree.left.text, tree.left.rank, tree.right.text, tree.right.rank) == (
        1,
        "lo",
        0,
        "w",
        None,
    )
    assert [token.index for token in explanation.tokens] == [0, 1, 2]
    assert (second.index, second.char_span, second.ids) == (1, (4, 8), (258,))
    assert explanation.ids == low.encode("slow low") == [115, 257, 258]
    assert [[low.id_to_bytes(i) for i, _ in state] for state in first.states()] == [
        [b"s", b"l", b"o", b"w"],
        [b"s", b"lo", b"w"],
        [b"s", b"low"],
    ]


def test_losing_candidates_come_by_rank_and_then_by_place():
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"bc": 257, b"cd": 258}
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none")
    (part,) = tok.explain("cdbcdab").parts
    step = part.steps[0]
    assert (step.rank, step.at, step.result_bytes, step.span) == (0, 5, b"ab", (5, 7))
    losers = [
        (loser.rank, loser.left_bytes + loser.right_bytes, loser.at, loser.start) for loser in step.losers
    ]
    assert losers == [(1, b"bc", 2, 2), (2, b"cd", 0, 0), (2, b"cd", 3, 3)]
    (part,) = tok.explain("cdbcdab", max_losers=1, max_steps=1).parts
    assert [loser.rank for loser in part.steps[0].losers] == [1]
    assert (part.steps[0].losers_left_out, len(part.steps), part.steps_left_out) == (2, 1, 2)
    # What is left out is only not told.
    assert part.ids == part.merged_ids == tuple(tok.encode("cdbcdab"))
    assert part.tokens[-1].tree.bytes == b"ab"
    (part,) = tok.explain("cdbcdab", max_losers=None, max_steps=0).parts
    assert (part.steps, part.steps_left_out) == ((), 3)


def test_a_whole_pre_token_shows_the_merges_that_it_saved():
    # No pair of tokens makes `abcde`: only as a whole is it found.
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abc": 257, b"abcde": 258}
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="gpt2")
    (whole,), (built,), (neither,) = (tok.explain(text).parts for text in ("abcde", "abc", "abcab"))
    assert (whole.whole, whole.ids, whole.merged_ids) == (True, (258,), (257, 100, 101))
    assert (whole.tokens[0].token_kind, whole.tokens[0].tree) == ("whole", None)
    assert [step.result for step in whole.steps] == [256, 257]
    assert (built.whole, built.ids, built.merged_ids) == (True, (257,), (257,))
    assert built.tokens[0].tree.left.text == "ab"
    assert (neither.whole, neither.ids) == (False, (257, 256))


def test_special_tokens_say_why_they_are_there(low):
    text = "low<|end|>é"
    explanation = low.explain(text, allowed_special={"<|end|>"}, add_special_tokens=True)
    before, special, behind, eos = explanation.parts
    assert (special.kind, special.how, special.id, special.text) == ("special", "allowed", 259, "<|end|>")
    assert (special.char_span, special.byte_span) == ((3, 10), (3, 10))
    assert [token.token_kind for token in special.tokens] == ["special"]
    assert (behind.char_span, behind.byte_span) == ((10, 11), (10, 12))
    assert (eos.how, eos.id, eos.bytes, eos.char_span, eos.byte_span) == ("eos", 259, b"", (11, 11), (12, 12))
    assert before.index == 0
    assert behind.index == 1
    assert explanation.ids == low.encode(text, allowed_special="all", add_special_tokens=True)
    ordinary = low.explain(text, disallowed_special=())
    assert all(part.kind == "pretoken" for part in ordinary.parts)
    assert ordinary.ids == low.encode_ordinary(text)


def test_errors_are_those_of_encode(low):
    with pytest.raises(bl.SpecialTokenError, match="character 1"):
        low.explain("é<|end|>")
    with pytest.raises(bl.SpecialTokenError, match="character 1"):
        low.explain_stream("é<|end|>")  # at once, not at the first record
    with pytest.raises(bl.TextError, match="index 1"):
        low.explain("a\ud800")
    assert low.explain("a\ud800", errors="replace").text == "a\ufffd"
    with pytest.raises(TypeError, match="max_steps"):
        low.explain("a", max_steps="many")
    with pytest.raises(ValueError, match="max_losers must be 0 or more"):
        low.explain("a", max_losers=-1)
    with pytest.raises(TypeError, match="str or bytes"):
        low.explain(5)
    with pytest.raises(bl.SpecialTokenError, match="neither"):
        train_quietly("a", 256).explain("a", add_special_tokens=True)


def test_nothing_and_invalid_bytes(low):
    empty = low.explain("")
    assert (empty.parts, empty.ids, empty.characters) == ((), [], 0)
    data = b"lo\xe6\x97 \xff"
    explanation = low.explain(data)
    assert (explanation.bytes, explanation.text, explanation.characters) == (data, None, 6)
    assert [part.char_span for part in explanation.parts] == [(0, 2), (2, 4), (4, 6)]
    assert explanation.parts[1].text is None
    assert explanation.ids == low.encode(data)


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
def test_an_alternative_is_found_for_every_pre_token(pattern):
    tok = train_quietly(TEXT, 300, pattern=pattern)
    for text in [*SAMPLES, *INVALID_BYTES]:
        for part in tok.explain(text).parts:
            assert part.match.alternative is not None, (pattern, part)
            assert part.match.category
            assert part.match.byte_span == part.byte_span or part.segments > 1


@pytest.mark.parametrize("corpus", ["english", "code", "multi", "cjk"])
@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "course-gpt2"])
def test_an_alternative_is_found_in_corpora(data_dir, corpus, pattern):
    with (data_dir / f"{corpus}.txt").open("rb") as file:
        file.seek(1_000_000)
        data = file.read(20_000)
    tok = train_quietly("", 256, pattern=pattern)
    assert all(
        part.match.alternative is not None for part in tok.explain_stream(data, max_losers=0, max_steps=0)
    )


def test_categories_of_custom_patterns():
    tok = train_quietly("", 256, pattern=r"'(?:s|t)|\p{L}+|[0-9]{1,2}|[^\s\p{L}0-9]+|\s*[\r\n]+|\s+|\w|x")
    assert [alternative.category for alternative in tok.explain("").tokenizer.alternatives] == [
        "contraction", "letters", "numbers", "symbols", "newlines", "white space", "word", "alternative 7",
    ]  # fmt: skip
    gap = train_quietly("", 256, pattern="[a-z]+").explain("ab-c").parts[1]
    assert (gap.text, gap.match.alternative, gap.match.category) == ("-", None, "unmatched")


def test_a_sequence_of_patterns_names_each(tmp_path):
    tok = train_quietly("", 256, pattern="gpt2")
    tok.save_huggingface(tmp_path / "tokenizer.json")
    file = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    byte_level = file["pre_tokenizer"]
    digits = {"type": "Digits", "individual_digits": True}
    file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [digits, byte_level]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(file), "utf-8")
    tok = bl.Tokenizer.from_huggingface(tmp_path / "tokenizer.json")
    parts = tok.explain("a 12").parts
    assert [part.text for part in parts] == tok.pretokens("a 12")
    for part in parts:
        assert [match.member for match in part.matches] == [0, 1]
        assert part.matches[1].byte_span == part.byte_span
        assert part.matches[0].byte_span.start <= part.byte_span.start
    alternatives = tok.explain("").tokenizer.alternatives
    assert {alternative.member for alternative in alternatives} == {0, 1}


def test_normalizers_and_byte_fallback():
    tok = sentencepiece_model(["▁a", "ab", "▁b"], ["a", "b", "▁", "é"])
    explanation = tok.explain("ab日\u2581b")
    assert explanation.tokenizer.normalizer == ("space sign", "prefix space")
    first, second = explanation.parts
    assert (first.text, first.original, first.normalized) == (" ab日", "ab日".encode(), True)
    assert (second.text, second.original, second.byte_span) == (" b", "▁b".encode(), (5, 9))
    assert [symbol.symbol_kind for symbol in first.symbols] == ["character"] * 3 + ["byte_fallback"] * 3
    assert [token.token_kind for token in first.tokens] == ["merged", "symbol"] + ["byte_fallback"] * 3
    # The prefix stands at no place of the text, and a byte of a character covers all of it.
    assert [token.char_span for token in first.tokens] == [(0, 1), (1, 2), (2, 3), (2, 3), (2, 3)]
    assert explanation.ids == tok.encode("ab日\u2581b")


def test_added_tokens_are_no_special_tokens():
    tok = sentencepiece_model(["▁a"], ["a", "▁"], added=["[X]"])
    parts = tok.explain("a[X]a").parts
    assert [part.kind for part in parts] == ["pretoken", "special", "pretoken"]
    assert (parts[1].how, parts[1].content, parts[1].tokens[0].token_kind) == ("added_token", "[X]", "added")


def test_a_long_pre_token_comes_in_segments():
    tok = train_quietly("abc abd aab " * 50, 280, pattern="none")
    text = "abcabdaab" * 3_000
    parts = tok.explain(text).parts
    assert len(parts) > 20
    assert [part.segment for part in parts] == list(range(len(parts)))
    assert {(part.index, part.segments) for part in parts} == {(0, len(parts))}
    assert max(len(part.bytes) for part in parts) < PreToken.MAX_BYTES + 50
    assert [token_id for part in parts for token_id in part.merged_ids] == tok.encode(text)
    assert b"".join(part.bytes for part in parts) == text.encode()


def test_deep_trees_are_cut(tmp_path):
    # Each merge takes one more letter: the tree is as deep as the token is long.
    merges = [(97, 98), *((256 + number, 98) for number in range(398))]
    (tmp_path / "merges.json").write_text(json.dumps({"merges": merges}))
    tok = bl.Tokenizer.load(tmp_path / "merges.json")
    (part,) = tok.explain("a" + "b" * 399).parts
    tree = part.tokens[0].tree
    depth = 0
    while tree.left is not None:
        tree, depth = tree.left, depth + 1
    assert (depth, tree.cut) == (MergeTree.MAX_DEPTH, True)
    assert json.loads(part.to_json())["tokens"][0]["tree"]["text"] == "a" + "b" * 399


def test_plain_data_has_every_field(low):
    text = "low <|end|>\x00é".encode() + b"\xff"
    explanation = low.explain(text, allowed_special="all")
    plain = json.loads(explanation.to_json())
    assert plain == explanation.to_dict() == json.loads(explanation.to_json(indent=2))
    assert (plain["kind"], plain["bytes"], plain["text"]) == ("explanation", text.hex(), None)
    assert plain["ids"] == explanation.ids
    kinds = ["pretoken", "pretoken", "special", "pretoken", "pretoken", "pretoken"]
    assert [part["kind"] for part in plain["parts"]] == kinds
    first = plain["parts"][0]
    assert (first["byte_span"], first["bytes"], first["text"]) == ([0, 3], b"low".hex(), "low")
    assert first["steps"][0]["left_bytes"] == b"l".hex()

    def check(record, plain):
        for field in dataclasses.fields(record):
            value = getattr(record, field.name)
            if isinstance(value, records.Record):
                check(value, plain[field.name])
            elif isinstance(value, tuple) and value and isinstance(value[0], records.Record):
                for one, other in zip(value, plain[field.name], strict=True):
                    check(one, other)
            else:
                assert field.name in plain

    check(explanation, plain)


def test_records_are_values(low):
    first, second = low.explain("low low"), low.explain("low low")
    assert first == second
    assert hash(first) == hash(second)
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.parts = ()
    for name in records.__all__:
        value = getattr(records, name)
        if isinstance(value, type) and dataclasses.is_dataclass(value):
            assert value.__doc__
            assert typing.get_type_hints(value), name
            assert set(value.__dataclass_fields__) <= {*typing.get_type_hints(value)}


def test_a_stream_gives_the_same_parts(low):
    text = "low lower " * 50 + "<|end|>" + "x" * 3000
    explanation = low.explain(text, allowed_special="all", add_special_tokens=True)
    stream = low.explain_stream(text, allowed_special="all", add_special_tokens=True)
    assert tuple(stream) == explanation.parts
    assert next(stream, None) is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_megabyte_is_explained_in_bounded_memory():
    code = (
        RSS
        + """
import random
import byteloom as bl
rng = random.Random(5)
words = [f"{rng.randrange(2**20):x}" for _ in range(3_000)]
tok = bl.Tokenizer.train(" ".join(words[:300]), 320)
text = " ".join(rng.choice(words) for _ in range(2**20 // 6))
assert len(text) > 2**20 * 0.9
for part in tok.explain_stream(text[:20_000]):
    pass
before = peak()
ids = 0
for part in tok.explain_stream(text):
    ids += len(part.ids)
print((peak() - before) / 2**20, ids == tok.count(text))
"""
    )
    grown, right = run_python(code, timeout=110).split()
    assert right == "True"
    assert float(grown) < 40


# Training traces.


def test_a_trace_says_what_was_merged_and_why():
    tok = bl.Tokenizer.train("ab ab cd cd ab", 258, pattern="simple", trace=True)
    trace = tok.training_trace()
    first, second = trace.steps
    assert (first.left_bytes, first.right_bytes, first.count, first.tied, first.decided_by) == (
        b"a",
        b"b",
        3,
        1,
        "count",
    )
    assert [(other.left_bytes + other.right_bytes, other.count) for other in first.runners_up] == [(b"cd", 2)]
    assert (second.left_bytes + second.right_bytes, second.count) == (b"cd", 2)
    assert (trace.tie_break, trace.min_frequency, trace.stopped) == ("smallest_pair", 2, "vocab_size")


TRAININGS = list(
    itertools.product(
        ["smallest_pair", "huggingface", "first_seen"], ["first", "last"], [(), ("<|a|>", "<|b|>")]
    )
)


@pytest.mark.parametrize(("tie_break", "position", "specials"), TRAININGS)
def test_a_trace_replays_to_the_same_merges(tie_break, position, specials):
    options = {
        "tie_break": tie_break, "special_position": position, "special_tokens": specials, "pattern": "gpt2",
    }  # fmt: skip
    tok = train_quietly(TEXT, 340, trace=True, **options)
    plain = train_quietly(TEXT, 340, **options)
    assert tok == plain
    trace = tok.training_trace()
    assert len(trace.steps) > 30
    assert replay(trace) == tok.merges == plain.merges
    assert [tok.id_to_bytes(step.result) for step in trace.steps] == [
        step.left_bytes + step.right_bytes for step in trace.steps
    ]
    assert any(step.decided_by == tie_break for step in trace.steps)
    assert any(step.decided_by == "count" for step in trace.steps)
    # It is kept with the tokenizer, and is no part of what the tokenizer is.
    again = bl.Tokenizer.from_bytes(tok.to_bytes())
    assert again.training_trace() == trace
    assert json.loads(trace.to_json()) == trace.to_dict()
    assert len(tok.training_report["trace"]) == len(trace.steps)
    assert "trace" not in plain.training_report


def test_a_trace_that_was_tampered_with_does_not_replay():
    trace = train_quietly(TEXT, 300, trace=True).training_trace()
    steps = list(trace.steps)

    def replaced(number, **changes):
        changed = [*steps]
        changed[number] = dataclasses.replace(steps[number], **changes)
        return dataclasses.replace(trace, steps=tuple(changed))

    later = next(step for step in steps if len(step.left_bytes) > 1)
    for wrong in (
        replaced(3, index=4),
        replaced(5, count=steps[4].count + 1),
        replaced(0, count=1),
        replaced(later.index, left=9_999),
        replaced(later.index, left_bytes=b"xyz"),
        replaced(2, tied=0),
        dataclasses.replace(trace, steps=tuple(reversed(steps))),
    ):
        with pytest.raises(bl.TrainingError, match="step"):
            replay(wrong)


def test_there_is_no_trace_unless_asked_for(low):
    with pytest.raises(bl.TrainingError, match="trace=True"):
        low.training_trace()
    with pytest.raises(bl.TrainingError, match="trace=True"):
        bl.Tokenizer.from_tiktoken(
            {bytes([byte]): byte for byte in range(256)}, pattern="gpt2"
        ).training_trace()


# Patches: what a patcher's explanation will hold.


def test_patch_records_are_plain_data():
    start = records.PatchStart("global", entropy=3.5, threshold=2.0, increase=None, increase_threshold=None)
    byte = records.ExplainedByte(index=0, byte=97, entropy=3.5, context=b"", seen=0)
    patch = records.ExplainedPatch(0, b"a", Span(0, 1), start, (byte,))
    explanation = records.PatchExplanation("global, 2.0 bits, order 4", b"a", (patch,))
    plain = json.loads(explanation.to_json())
    assert plain["kind"] == "patch_explanation"
    assert plain["patches"][0]["start"]["rule"] == "global"
    assert plain["patches"][0]["byte_span"] == [0, 1]
    assert (explanation.entropies, explanation.text, patch.text) == ([3.5], "a", "a")

"""`compare`: every number is what the library says of the same text."""

from __future__ import annotations

import csv
import dataclasses
import functools
import io
import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import byteloom as bl
from byteloom import _sources
from byteloom.languages import parallel_sample
from helpers import RSS, SAMPLES, raises_cleanly, run_python, train_quietly
from strategies import few
from strategies import texts as any_text

TEXT = "\n".join(SAMPLES)


@pytest.fixture(scope="module")
def toks(small_text):
    """Four that differ: patterns, sizes, special tokens."""
    return [
        bl.Tokenizer.train(small_text, 300, pattern="cl100k"),
        bl.Tokenizer.train(small_text, 280, pattern="gpt2", special_tokens=["<|endoftext|>"]),
        bl.Tokenizer.train(small_text, 320, pattern="course-ws"),
        bl.Tokenizer.train(
            small_text, 300, pattern=r"[a-z]+|\d", special_tokens=["x"], special_position="first"
        ),
    ]


def is_partial(token):
    try:
        token.decode()
    except UnicodeDecodeError:
        return True
    return False


def check_figures(row, tok, text):
    ids = tok.encode_ordinary(text)
    special = set(tok.special_tokens.values())
    partial = sum(is_partial(tok.id_to_bytes(id_)) for id_ in ids if id_ not in special)
    assert row.tokens == tok.count(text, disallowed_special=()) == len(ids)
    assert row.byte_count == len(text.encode())
    assert row.characters == len(text)
    assert row.partial_tokens == partial
    if ids:
        assert row.bytes_per_token == row.byte_count / len(ids)
        assert row.characters_per_token == len(text) / len(ids)
        assert row.partial_share == partial / len(ids)
    else:
        assert (row.bytes_per_token, row.characters_per_token, row.partial_share) == (None, None, None)
    if row.words:
        assert row.tokens_per_word == len(ids) / row.words


def test_figures_of_texts(toks):
    result = bl.compare(toks, {str(place): text for place, text in enumerate(SAMPLES)}, names=list("ABCD"))
    assert len(result.figures) == len(SAMPLES) * len(toks)
    for row in result.figures:
        text = SAMPLES[int(row.source)]
        check_figures(row, toks["ABCD".index(row.tokenizer)], text)
        assert row.words == len(text.split())
    for row in result.totals():
        rows = [one for one in result.figures if one.tokenizer == row.tokenizer]
        assert row.tokens == sum(one.tokens for one in rows)
        assert row.bytes_per_token == sum(one.byte_count for one in rows) / row.tokens


def test_figures_of_languages(toks):
    result = bl.compare(toks, names=list("ABCD"))
    sample = {language.code: language for language in parallel_sample()}
    assert len(result.languages) == len(sample) * len(toks)
    english = {}
    for row in result.languages:
        language = sample[row.code]
        check_figures(row, toks["ABCD".index(row.tokenizer)], language.text)
        assert row.words == (len(language.text.split()) if language.spaces else None)
        assert row.source == language.name
        english.setdefault(row.tokenizer, row.tokens)
        assert row.parity == row.tokens / english[row.tokenizer]
    assert [row.code for row in result.languages[:4]] == ["en"] * 4
    few = bl.compare(toks[:1], languages=["hi", "de"]).languages
    assert [row.code for row in few] == ["en", "de", "hi"]


def test_the_sample_is_parallel():
    sample = parallel_sample()
    assert len(sample) >= 13
    assert {len(language.sentences) for language in sample} == {7}
    assert len({language.script for language in sample}) >= 10
    for language in sample:
        assert all(sentence and sentence == sentence.strip() for sentence in language.sentences)
        assert "1874" in language.sentences[6]
        assert "312" in language.sentences[6]


def test_overlap_is_that_of_the_sets(toks):
    vocabularies = [
        {entry.bytes: entry.id for entry in bl.Vocabulary(tok) if not entry.special} for tok in toks
    ]
    result = bl.compare(toks, names=list("ABCD"), languages=False)
    assert len(result.overlaps) == 6
    for row in result.overlaps:
        a, b = (vocabularies["ABCD".index(name)] for name in (row.a, row.b))
        assert row.shared == len(a.keys() & b.keys())
        assert (row.only_a, row.only_b) == (len(a.keys() - b.keys()), len(b.keys() - a.keys()))
        assert row.jaccard == len(a.keys() & b.keys()) / len(a.keys() | b.keys())
        assert row.same_id == sum(b.get(token) == id_ for token, id_ in a.items())
        assert all(token.bytes not in b and a[token.bytes] == token.id for token in row.examples_a)
        assert all(token.bytes not in a for token in row.examples_b)
    same = bl.compare([toks[0], toks[0]], languages=False)
    assert same.overlaps[0].jaccard == 1.0
    assert same.names == ("cl100k-300", "cl100k-300 (2)")


def token_ends(tok, text):
    _, spans = tok.encode_with_offsets(text, unit="byte", disallowed_special=())
    return {end for _, end in spans} - {0, len(text.encode())}


def check_boundaries(result, toks, text):
    """The spans are what a plain reading of the offsets gives."""
    data = text.encode()
    cuts = [token_ends(tok, text) for tok in toks]
    common = sorted(set.intersection(*cuts) | {0, len(data)})
    expected = []
    for begin, end in itertools.pairwise(common):
        inner = [sorted(cut for cut in row if begin < cut < end) for row in cuts]
        if any(inner):
            places = [[begin, *row, end] for row in inner]
            expected.append(
                (
                    begin,
                    end,
                    tuple(tuple(data[a:b] for a, b in itertools.pairwise(row)) for row in places),
                )
            )
    assert [(*row.byte_span, row.pieces) for row in result.differences] == expected
    row = result.boundaries[0]
    assert row.differing_spans == len(expected)
    assert row.differing_bytes == sum(end - begin for begin, end, _ in expected)
    assert row.common_cuts == len(common) - 2
    assert row.all_cuts == len(set.union(*cuts))
    starts = [0, *itertools.accumulate(len(char.encode()) for char in text)]
    for row in result.differences:
        # The characters that hold a byte of the span.
        inside = [
            place
            for place in range(len(text))
            if starts[place] < row.byte_span.end and starts[place + 1] > row.byte_span.start
        ]
        assert tuple(row.char_span) == (inside[0], inside[-1] + 1)


def test_overlaps_can_be_left_out(toks):
    whole, part = (bl.compare(toks, "low", languages=False, overlaps=asked) for asked in (True, False))
    assert whole.overlaps
    assert part.overlaps == ()
    assert part.figures == whole.figures


def test_where_boundaries_differ(toks):
    for some in (toks[:2], toks[1:], toks):
        result = bl.compare(some, TEXT, languages=False, max_differences=10_000)
        check_boundaries(result, some, TEXT)
    few = bl.compare(toks, TEXT, languages=False, max_differences=3)
    assert few.differences == result.differences[:3]
    assert few.boundaries == result.boundaries
    assert bl.compare(toks[:1], TEXT, languages=False).differences == ()


@given(any_text.filter(bool))
def test_boundaries_of_any_text(text):
    toks = _trained(("cl100k", "gpt2", "none"))
    check_boundaries(bl.compare(toks, text, languages=False, max_differences=10_000), toks, text)


_CUT = ("cl100k", "gpt2", "o200k", "llama3", "qwen2", "simple", "course-words", "course-gpt2")


@functools.cache
def _trained(patterns):
    text = "the cat é日本 a b! 'll 's 12 \n\n  x" * 5
    return [train_quietly(text, 280 + 5 * place, pattern=name) for place, name in enumerate(patterns)]


@few
@given(
    st.lists(
        st.sampled_from(
            ["a b", "é!", "\n", "\nx", "\r\n", " ", "'s", "12", "/", "日", "\x85", "\u2028", "_", "\nÉ"]
        ),
        max_size=60,
    ).map("".join)
)
def test_pieces_change_no_number(text):
    """Texts that are read in pieces, however small, give what they give whole."""
    toks = _trained(_CUT)
    whole = bl.compare(toks, text, languages=False, max_differences=1_000)
    size, _sources.PIECE = _sources.PIECE, 3
    try:
        pieces = list(_sources.named_sources(text, "strict")[0].pieces(toks))
        assert "".join(pieces) == text
        assert bl.compare(toks, text, languages=False, max_differences=1_000) == whole
        for tok in toks:
            assert [id_ for piece in pieces for id_ in tok.encode_ordinary(piece)] == tok.encode_ordinary(
                text
            )
    finally:
        _sources.PIECE = size


def test_pieces_are_made_only_where_they_may_be(monkeypatch, toks, tmp_path):
    monkeypatch.setattr(_sources, "PIECE", 10)
    text = "some words\nand more words\nand\n" * 20
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    for given_text in (text, text.encode(), tmp_path / "a.txt"):
        source = _sources.named_sources(given_text, "strict")[0]
        assert len(list(source.pieces(toks[:2]))) > 20
        assert list(source.pieces(toks[:3])) == [text]  # course-ws
        assert list(source.pieces(toks[3:])) == [text]  # any regex
    added = bl.Tokenizer.load(_with_added_token(toks[0], tmp_path))
    assert list(source.pieces([added])) == [text]


def _with_added_token(tok, folder):
    tok.save_huggingface(folder / "hf")
    path = folder / "hf" / "tokenizer.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    added = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    data["added_tokens"].append({"id": tok.vocab_size, "content": "words\nand", **added})
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_files_and_bytes_are_the_text(toks, tmp_path, monkeypatch):
    monkeypatch.setattr(_sources, "PIECE", 7)  # blocks end in the middle of characters
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    as_text, as_bytes, as_file = (
        bl.compare(toks, {"x": given_text}, languages=False) for given_text in (TEXT, TEXT.encode(), path)
    )
    assert as_text == as_bytes == as_file
    assert bl.compare(toks, path).figures[0].source == str(path)
    assert [row.source for row in bl.compare(toks[:1], ["a", b"b", path]).figures] == [
        "text 1",
        "text 2",
        str(path),
    ]


@pytest.mark.parametrize("piece", [1, 3, 1 << 20])
def test_a_fault_of_the_text_names_text_and_place(toks, tmp_path, monkeypatch, piece):
    monkeypatch.setattr(_sources, "PIECE", piece)
    path = tmp_path / "bad.txt"
    for data, offset in ((b"ab\xffcd", 2), ("abé日".encode() + b"\xe6\x97", 7), (b"a\xed\xa0\x80", 1)):
        path.write_bytes(data)
        for text in (data, path):
            with pytest.raises(bl.TextError, match=rf"byte 0x{data[offset]:02x} at offset {offset} "):
                bl.compare(toks, {"name": text})
            expected = data.decode("utf-8", "replace")
            row = bl.compare(toks, text, errors="replace").figures[0]
            assert row.tokens == toks[0].count(expected)
            assert row.characters == len(expected)
    with pytest.raises(bl.TextError, match=r"name: character 2 is the lone surrogate U\+D83D"):
        bl.compare(toks, {"name": "ab\ud83d"})
    assert bl.compare(toks, "ab\ud83d", errors="replace").figures[0].byte_count > 2


def test_special_tokens_in_texts_are_text(toks):
    row = bl.compare(toks[1:2], "a<|endoftext|>").figures[0]
    assert row.tokens == len(toks[1].encode_ordinary("a<|endoftext|>"))


def test_what_cannot_be_compared(toks):
    for arguments, options in (
        (([],), {}),
        ((["x"],), {}),
        ((toks[:2],), {"names": ["A"]}),
        ((toks[:2],), {"names": ["A", "A"]}),
        ((toks[:2],), {"names": "AB"}),
        ((toks, 3), {}),
        ((toks, [None]), {}),
        ((toks, {1: "a"}), {}),
        ((toks,), {"languages": ["xx"]}),
        ((toks, "a"), {"errors": "keep"}),
    ):
        with raises_cleanly(ValueError, TypeError):
            bl.compare(*arguments, **options)
    with pytest.raises(FileNotFoundError):
        bl.compare(toks, Path("no-such-file"))


def test_plain_data_and_csv(toks):
    result = bl.compare(toks[:2], {'a "quoted", name\n': TEXT}, names=["A", "B,"])
    plain = json.loads(result.to_json())
    assert plain["kind"] == "comparison"
    assert plain["figures"][0]["tokens"] == result.figures[0].tokens
    assert plain["differences"][0]["pieces"][0][0] == result.differences[0].pieces[0][0].hex()
    for table in result.TABLES:
        rows = list(csv.reader(io.StringIO(result.to_csv(table))))
        records = getattr(result, table)
        assert len(rows) == len(records) + 1
        assert rows[0] == [field.name for field in dataclasses.fields(records[0])]
        assert all(len(row) == len(rows[0]) for row in rows)
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert rows[1]["tokenizer"] == "B,"
    assert rows[1]["source"] == 'a "quoted", name\n'
    assert float(rows[1]["bytes_per_token"]) == result.figures[1].bytes_per_token
    with pytest.raises(ValueError, match="no table"):
        result.to_csv("nothing")
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.figures = ()


def test_memory_does_not_grow_with_the_file(tmp_path):
    line = "Some words of a line, and 123 more of them; naïve.\n"
    for name, times in (("small.txt", 30_000), ("large.txt", 150_000)):
        (tmp_path / name).write_text(line * times, encoding="utf-8")
    code = (
        RSS
        + """
import sys, pathlib, byteloom as bl
toks = [bl.Tokenizer.train("some words of a line", 256, pattern=name) for name in ("cl100k", "gpt2")]
peaks = []
for path in sys.argv[1:]:
    result = bl.compare(toks, pathlib.Path(path), languages=False)
    peaks.append(peak())
print(peaks[1] - peaks[0], result.figures[0].byte_count)
"""
    )
    grown, size = map(int, run_python(code, tmp_path / "small.txt", tmp_path / "large.txt").split())
    assert size == (tmp_path / "large.txt").stat().st_size > 7_000_000
    assert grown < size, "its ids alone would take eight times its size"

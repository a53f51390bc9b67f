"""`Vocabulary`: lists, searches and reports agree with the look-ups and the encoder."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from hypothesis import given, reject

import byteloom as bl
from byteloom._vocabulary import script_of
from helpers import SAMPLES, raises_cleanly, train_quietly
from strategies import few, merge_lists, rank_tables

TEXT = "\n".join(SAMPLES)


@pytest.fixture(scope="module")
def vocab(special_tok):
    return bl.Vocabulary(special_tok)


def test_it_lists_every_token_once(special_tok, vocab):
    assert len(vocab) == special_tok.vocab_size == len(list(vocab))
    for entry in vocab:
        assert special_tok.id_to_bytes(entry.id) == entry.bytes
        assert entry.special == (entry.id in special_tok.special_tokens.values())
    assert [entry.id for entry in vocab] == sorted(entry.id for entry in vocab)
    assert vocab[300].text == "<|endoftext|>"
    assert vocab[0].to_dict() == {
        "id": 0, "bytes": "00", "text": "\0", "special": False, "script": "controls",
    }  # fmt: skip


def test_holes_are_left_out():
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 300}
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none", special_tokens={"<|end|>": 400})
    vocab = bl.Vocabulary(tok)
    assert [entry.id for entry in vocab][-2:] == [300, 400]
    assert len(vocab) == 258


def test_search(vocab):
    everything = list(vocab)
    for what in ("th", " ", "é", "日", "<|", "no such text"):
        assert vocab.search(what) == [entry for entry in everything if what.encode() in entry.bytes]
    assert vocab.search(b"\xe6") == [entry for entry in everything if b"\xe6" in entry.bytes]
    short = vocab.search(re.compile(r"^ ?[a-z]{3}$"))
    assert short
    assert all(re.fullmatch(r" ?[a-z]{3}", entry.text) for entry in short)
    tails = vocab.search(re.compile(rb"^[\x80-\xbf]"))
    assert all(0x80 <= entry.bytes[0] < 0xC0 for entry in tails)
    assert len(tails) >= 64


def test_longest_and_lengths(special_tok, vocab):
    tokens = [entry.bytes for entry in vocab if not entry.special]
    assert [entry.bytes for entry in vocab.longest(7)] == sorted(tokens, key=lambda t: (-len(t), t))[:7]
    assert vocab.lengths() == dict(sorted(Counter(map(len, tokens)).items()))
    assert max(vocab.lengths()) == special_tok.info()["longest_token_bytes"]


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("the", "Latin"), (" Straße", "Latin"), ("ﬁ", "Latin"), ("Ａ", "Latin"), ("ⁿ", "Latin"),
        ("ª", "Latin"), ("привет", "Cyrillic"), ("κόσμε", "Greek"), ("µ", "Greek"),
        ("שלום", "Hebrew"), ("مرحبا", "Arabic"), ("हिन्दी", "Devanagari"), ("ไทย", "Thai"),
        ("日本", "Han"), ("〇一", "Han"), ("ひらがな", "Hiragana"), ("カタカナー", "Katakana"),
        ("ﾃｽﾄ", "Katakana"), ("日本の", "Japanese"), ("한국어", "Hangul"), ("aж", "mixed"),
        ("123", "digits"), (" 12", "digits"), ("½", "digits"), ("  ", "space"), ("\n\t", "space"),
        ("\u3000", "space"), ("->", "signs"), (" //", "signs"), ("🚀", "signs"), ("\u0301", "signs"),
        ("1.", "signs"), ("\0", "controls"), ("\u200b", "controls"), ("ʰ", "signs"), ("ˇ", "signs"),
        ("x1", "Latin"),
    ],
)  # fmt: skip
def test_scripts_of_tokens(text, script):
    assert script_of(text.encode()) == script


def test_scripts_count_every_token(vocab):
    rows = vocab.scripts()
    assert sum(row.tokens for row in rows) == len(vocab)
    assert sum(row.share for row in rows) == pytest.approx(1)
    assert [row.tokens for row in rows] == sorted((row.tokens for row in rows), reverse=True)
    by_name = {row.script: row for row in rows}
    assert by_name["special"].tokens == 2
    assert by_name["partial"].tokens == sum(entry.text is None for entry in vocab)
    for row in rows:
        assert {entry.script for entry in row.examples} == {row.script}


def test_usage_counts_what_encode_gives(special_tok, vocab):
    usage = vocab.usage({"a": TEXT, "b": "the cat <|pad|>"})
    ids = special_tok.encode_ordinary(TEXT) + special_tok.encode_ordinary("the cat <|pad|>")
    counts = Counter(ids)
    assert usage.tokens == len(ids)
    assert [row.id for row in usage.used] == list(dict.fromkeys(ids))
    for row in usage.used:
        assert row.count == counts[row.id]
        assert row.first == ids.index(row.id)
        assert row.source == ("a" if row.first < special_tok.count(TEXT) else "b")
    never = {entry.id for entry in usage.never}
    assert never == {entry.id for entry in vocab if not entry.special} - counts.keys()
    assert usage.share == len(usage.used) / (len(vocab) - 2)
    assert json.loads(usage.to_json())["used"][0]["id"] == ids[0]


def test_usage_of_nothing(vocab):
    usage = vocab.usage("")
    assert (usage.tokens, usage.used, len(usage.never)) == (0, (), 300)


# Unreachable tokens.


@few
@given(rank_tables())
def test_unreachable_by_ranks_is_what_no_pre_token_gives(ranks):
    """Every token of such files is taken whole; only the pattern may keep it from that."""
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none")
    assert bl.Vocabulary(tok).unreachable() == []


@given(merge_lists())
def test_unreachable_by_merges_is_what_encoding_never_gives(merges):
    try:
        tok = _bare(bl.Tokenizer.from_bytes(json.dumps({"merges": merges}).encode()))
    except bl.VocabularyError:  # two ids for the same bytes
        reject()
    found = {one.id: one for one in bl.Vocabulary(tok).unreachable()}
    ordinary = [entry for entry in bl.Vocabulary(tok) if not entry.special]
    for entry in ordinary:
        ids = tok.encode_ordinary(entry.bytes)
        assert (entry.id in found) == (ids != [entry.id])
    # No text over the alphabet holds such a token, whatever stands around.
    texts = [a.bytes + b.bytes + c.bytes for a in ordinary[-6:] for b in ordinary[-6:] for c in ordinary[-6:]]
    produced = {id_ for ids in tok.encode_batch(texts) for id_ in ids}
    assert not produced & found.keys()
    for one in found.values():
        assert tok.encode_ordinary(one.bytes) == list(one.ids)
        assert (one.reason == "duplicate") == (len(one.ids) == 1)


def _bare(tok):
    """The tokenizer of merges with the pattern `none`."""
    from byteloom._vocabulary import _without_pattern

    return _without_pattern(tok)


def test_the_same_without_a_pattern(special_tok, small_text):
    odd = bl.Tokenizer.train(small_text, 290, pattern=r"(?<!a)b|[^b]+", special_tokens=['\u2028\x7f"'])
    for tok in (special_tok, odd, train_quietly(small_text, 290, pattern="sentencepiece")):
        bare = _bare(tok)
        assert bare.pattern_name == "none"
        assert bare.merges == tok.merges
        assert bare.special_tokens == tok.special_tokens
        assert bare.pretokens("two words") == ["two words"]


def test_tokens_that_the_pattern_splits():
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"1234": 256, b"12": 257, b"ab": 258}
    ranks |= {"日".encode()[:2]: 259, b"a\xe6": 260}
    vocab = bl.Vocabulary(bl.Tokenizer.from_tiktoken(ranks, pattern="cl100k"))
    found = vocab.unreachable()
    assert [(one.bytes, one.reason) for one in found] == [(b"1234", "pattern")]
    assert found[0].ids == (257, 51, 52)


def test_a_trained_vocabulary_is_all_reachable():
    for pattern in ("cl100k", "gpt2", "o200k", "course-ws", "none"):
        tok = train_quietly(TEXT * 3, 400, pattern=pattern)
        found = bl.Vocabulary(tok).unreachable()
        # A step on the way to a token, such as `'l` to `'ll`, may be no pre-token itself.
        assert [one for one in found if one.reason != "pattern"] == [], pattern


def test_published_vocabularies(data_dir):
    vocab = bl.Vocabulary(bl.Tokenizer.load(data_dir / "vocab" / "o200k_base.tiktoken"))
    found = {one.bytes: one.reason for one in vocab.unreachable()}
    assert found[b"\n//"] == "pattern"
    assert set(found.values()) == {"pattern"}
    assert len(found) == 12


def test_doctor_says_the_same(data_dir):
    tok = bl.Tokenizer.load(data_dir / "vocab" / "o200k_base.tiktoken")
    findings = {finding.code: finding.message for finding in bl.doctor(tok)}
    assert "12 tokens" in findings["tokens-the-pattern-splits"]
    assert "unreachable-tokens" not in findings


def test_sentencepiece_tokens_are_listed_and_not_judged(data_dir):
    vocab = bl.Vocabulary(bl.Tokenizer.load(data_dir / "vocab" / "mistral_v1.model"))
    assert len(vocab) == 32_000
    assert vocab.unreachable() == []
    assert vocab.usage("hello hello").tokens == vocab.tokenizer.count("hello hello")


def test_csv_of_records(vocab):
    assert vocab.to_csv([]) == ""
    lines = vocab.to_csv(vocab.search("endof")).splitlines()
    assert lines == [
        "id,bytes,text,special,script",
        "300,3c7c656e646f66746578747c3e,<|endoftext|>,True,special",
    ]
    text = vocab.to_csv(vocab.scripts())
    assert text.startswith("script,tokens,share,examples\n")


def test_what_is_no_vocabulary():
    for wrong in (None, "tok.json", 3):
        with raises_cleanly(TypeError):
            bl.Vocabulary(wrong)

"""`verify` finds what differs, makes it small, and says what it compared."""

import base64
import json
import pickle
import random

import pytest

import byteloom as bl
from byteloom._hard_texts import HARD_TEXTS, fuzzed_text, shrunk, special_texts


def rank_lines(tok):
    """The ordinary tokens of `tok` as a `.tiktoken` file."""
    special = set(tok.special_tokens.values())
    ids = [id_ for id_ in range(tok.max_token_id + 1) if id_ not in special]
    return b"".join(base64.b64encode(tok.id_to_bytes(id_)) + b" %d\n" % id_ for id_ in ids)


@pytest.fixture
def rank_file(special_tok, tmp_path):
    path = tmp_path / "small.tiktoken"
    path.write_bytes(rank_lines(special_tok))
    return path


def test_equal_tokenizers(special_tok):
    again = bl.Tokenizer.from_bytes(special_tok.to_bytes())
    report = bl.verify(special_tok, again)
    assert report
    assert report.equal
    assert report.special_tokens
    assert report.first_difference is None
    assert report.texts > 2_000
    assert report.bytes > report.tokens > 10_000
    assert pickle.loads(pickle.dumps(report)) == report
    assert json.loads(json.dumps(report.to_dict()))["equal"] is True


def test_a_difference_is_made_small(special_tok):
    other = special_tok.with_special_tokens()

    def encode(text):
        return [0] if "catalogue" in text else other.encode_ordinary(text)

    report = bl.verify(special_tok, encode, texts=["fine", "the cat sat on the catalogue of mats " * 50])
    assert not report
    assert not report.special_tokens
    found = report.first_difference
    assert (found.source, found.text) == ("text 1", "catalogue")
    assert (found.ids_a, found.ids_b) == (special_tok.encode("catalogue"), [0])
    assert (found.pretokens_a, found.pretokens_b) == (["catalogue"], None)
    assert json.loads(json.dumps(report.to_dict()))["first_difference"]["text"] == "catalogue"


@pytest.mark.parametrize("pattern", ["gpt2", "o200k", "simple", "course-words", "none"])
def test_patterns_are_told_apart(tok, pattern):
    ranks = {tok.id_to_bytes(id_): id_ for id_ in range(tok.vocab_size)}
    # Merges across everything that patterns split, so that each difference shows in ids.
    ranks |= {left + right: len(ranks) + place for place, (left, right) in enumerate(PAIRS)}
    one, other = (bl.Tokenizer.from_tiktoken(ranks, pattern=name) for name in ("cl100k", pattern))
    found = bl.verify(one, other).first_difference
    assert found is not None
    assert found.pretokens_a != found.pretokens_b
    assert one.encode_ordinary(found.text) == found.ids_a != found.ids_b == other.encode_ordinary(found.text)
    assert len(found.text) <= 8


PAIRS = [(a, b) for a in (b"1", b" ", b"\n", b"!", b"x", b"X") for b in (b"2", b" ", b"\n", b"?", b"y", b"'")]


def test_special_tokens_are_compared(special_tok, tok):
    found = bl.verify(special_tok, tok).first_difference
    assert found.source in ("special tokens", "hard texts")
    assert "<|" in found.text
    moved = tok.with_special_tokens({"<|endoftext|>": 301, "<|pad|>": 300})
    found = bl.verify(special_tok, moved).first_difference
    assert found.text in ("<|endoftext|>", "<|pad|>")


def test_texts_may_be_files(special_tok, tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"line of the file\n" * 20_000 + b"invalid \xff\n")

    def encode(text):
        ids = special_tok.encode_ordinary(text)
        return ids[:-1] if "\ufffd\n" in text and "invalid" in text else ids

    found = bl.verify(special_tok, encode, texts=[path]).first_difference
    assert found.source == str(path)
    assert "invalid" in found.text
    assert len(found.text) < 20
    with pytest.raises(FileNotFoundError):
        bl.verify(special_tok, special_tok, texts=[tmp_path / "none.txt"])


def test_the_seed_decides_the_random_texts(special_tok):
    seen = [[], []]
    for texts in seen:
        bl.verify(
            special_tok, lambda text, texts=texts: texts.append(text) or special_tok.encode_ordinary(text)
        )
    assert seen[0] == seen[1]
    third = []
    bl.verify(special_tok, lambda text: third.append(text) or special_tok.encode_ordinary(text), seed=1)
    assert third[: len(HARD_TEXTS)] == seen[0][: len(HARD_TEXTS)]
    assert third != seen[0]


def test_wrong_arguments(special_tok, tmp_path):
    with pytest.raises(TypeError, match="not int"):
        bl.verify(special_tok, 3)
    with pytest.raises(ValueError, match="no reference 'word2vec'"):
        bl.reference("word2vec", tmp_path / "x")


def test_what_is_not_installed_says_so(monkeypatch, rank_file):
    monkeypatch.setitem(__import__("sys").modules, "tiktoken", None)
    with pytest.raises(ImportError, match="pip install tiktoken"):
        bl.reference("tiktoken", rank_file)


def test_against_tiktoken(special_tok, rank_file):
    pytest.importorskip("tiktoken")
    other = bl.reference(
        "tiktoken", rank_file, pattern=special_tok.pattern, special_tokens=special_tok.special_tokens
    )
    report = bl.verify(special_tok, other, texts=["the cat<|pad|>"])
    assert report, report.first_difference
    assert report.special_tokens
    assert report.b.startswith("tiktoken ")
    with pytest.raises(bl.FormatError, match="pattern"):
        bl.reference("tiktoken", rank_file)


def test_against_tiktoken_on_cl100k(cl100k, data_dir):
    pytest.importorskip("tiktoken")
    other = bl.reference("tiktoken", data_dir / "vocab" / "cl100k_base.tiktoken")
    report = bl.verify(cl100k, other)
    assert report, report.first_difference


def test_two_libraries_beside_each_other(data_dir):
    for library in ("tokenizers", "transformers"):
        pytest.importorskip(library)
    import transformers

    path = data_dir / "vocab" / "gpt2.tokenizer.json"
    fast = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
    report = bl.verify(
        bl.reference("tokenizers", path), lambda text: fast.encode(text, split_special_tokens=True)
    )
    assert report, report.first_difference


def test_a_file_that_a_library_does_not_read(tmp_path):
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(bl.FormatError, match="tokenizers does not read it"):
        bl.reference("tokenizers", path)
    with pytest.raises(bl.FormatError, match="hold their own pattern"):
        bl.reference("tokenizers", path, pattern="gpt2")


# The parts.


def test_hard_texts_are_texts():
    assert len(set(HARD_TEXTS)) == len(HARD_TEXTS)
    for text in HARD_TEXTS:
        text.encode()
    for special in ("\r", "\x00", "\u1680", "\u0301", "\u200d", "\u4e2d", "\u05e9"):
        assert any(special in text for text in HARD_TEXTS)


def test_fuzzed_texts_hold_special_tokens_and_no_surrogates():
    chance = random.Random(5)
    texts = [fuzzed_text(chance, ["<x>"]) for _ in range(500)]
    "".join(texts).encode()
    assert any("<x>" in text for text in texts)
    assert "<x>" in list(special_texts(["<x>"]))
    assert list(special_texts([])) == []


@pytest.mark.parametrize("size", [1, 2, 3, 100, 10_000])
def test_shrinking_leaves_nothing_to_leave_out(size):
    text = "x" * size + "ab" + "y" * size + "c"
    assert shrunk(text, lambda part: "a" in part and "c" in part) == "ac"


def test_shrinking_ends():
    calls = []
    shrunk("x" * 100_000, lambda part: calls.append(part) or len(part) % 7 == 3, tries=100)
    assert len(calls) <= 100


# Formats of others: these need their readers and writers.


def test_against_tokenizers_on_gpt2(data_dir):
    pytest.importorskip("tokenizers")
    path = data_dir / "vocab" / "gpt2.tokenizer.json"
    report = bl.verify(bl.Tokenizer.load(path), bl.reference("tokenizers", path))
    assert report, report.first_difference


@pytest.mark.parametrize("name", ["mistral_v1.model", "mistral_v3.model"])
def test_against_sentencepiece(data_dir, name):
    pytest.importorskip("sentencepiece")
    path = data_dir / "vocab" / name
    report = bl.verify(bl.Tokenizer.load(path), bl.reference("sentencepiece", path))
    assert report, report.first_difference
    assert not report.special_tokens


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "llama3", "qwen2"])
def test_exports_read_by_tokenizers(small_text, tmp_path, pattern):
    pytest.importorskip("tokenizers")
    tok = bl.Tokenizer.train(small_text, vocab_size=310, pattern=pattern, special_tokens=["<|endoftext|>"])
    tok.save_huggingface(tmp_path / "tokenizer.json")
    report = bl.verify(tok, bl.reference("tokenizers", tmp_path / "tokenizer.json"))
    assert report, report.first_difference

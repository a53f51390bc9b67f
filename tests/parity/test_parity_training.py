"""Training gives the merges of rustbpe (`smallest_pair`) and of Hugging Face's trainer (`huggingface`)."""

import json

import pytest

import byteloom as bl
from oracle import hugging_face_order


def learned(tok):
    return [tok.id_to_bytes(token) for token in range(256, 256 + len(tok.merges))]


def assert_same_tokens(ours, theirs):
    assert len(ours) == len(theirs)
    for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        assert one == other, f"merge {index}"


def check_rustbpe(texts, vocab_size, pattern):
    rustbpe = pytest.importorskip("rustbpe", reason="rustbpe is not installed")
    theirs = rustbpe.Tokenizer()
    theirs.train_from_iterator(iter(texts), vocab_size, pattern=pattern)
    tok = bl.Tokenizer.train(texts, vocab_size, pattern="cl100k", tie_break="smallest_pair")
    ranks = sorted(theirs.get_mergeable_ranks(), key=lambda entry: entry[1])
    assert_same_tokens(learned(tok), [bytes(token) for token, _ in ranks[256:]])


def check_hugging_face(texts, vocab_size):
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=2,
        show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    theirs.train_from_iterator(texts, trainer)
    merges = json.loads(theirs.to_str())["model"]["merges"]
    # GPT-2's alphabet: printable bytes stand for themselves, the others are numbered from U+0100 on.
    order = sorted(range(256), key=hugging_face_order)
    byte_of = {chr(byte) if place < 188 else chr(256 + place - 188): byte for place, byte in enumerate(order)}
    expected = [bytes(byte_of[char] for char in "".join(pair)) for pair in merges]
    tok = bl.Tokenizer.train(texts, vocab_size, pattern="gpt2", tie_break="huggingface")
    assert_same_tokens(learned(tok), expected)


@pytest.mark.parametrize("name", ["english", "multi", "code"])
def test_rustbpe(documents, published, name):
    check_rustbpe(documents(name, 3_000_000), 6_000, published["cl100k"]["pattern"])


@pytest.mark.parametrize("name", ["english", "multi", "code", "cjk"])
def test_hugging_face(documents, name):
    check_hugging_face(documents(name, 2_000_000), 256 + 8_000)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["english", "multi", "code", "cjk"])
def test_rustbpe_on_whole_files(documents, published, name):
    check_rustbpe(documents(name), 32_000, published["cl100k"]["pattern"])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_hugging_face_on_a_whole_file(documents):
    check_hugging_face(documents("english"), 32_000)


def test_first_seen_on_real_text_as_the_oracle(documents):
    import re

    from oracle import COURSE_PATTERNS, count_words, train

    texts = documents("multi", 40_000)
    for tie_break in ("first_seen", "smallest_pair", "huggingface"):
        tok = bl.Tokenizer.train(texts, 256 + 40, pattern="course-words", tie_break=tie_break)
        words = count_words(texts, re.compile(COURSE_PATTERNS["course-words"]).findall)
        assert tok.merges == train(words, 40, tie_break)

"""Ids of published vocabularies equal tiktoken's, on text of many kinds."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

import byteloom as bl
from helpers import INVALID_BYTES, SAMPLES

tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")

CORPORA = ["english", "code", "multi", "cjk"]
# Name of the rank file, of its pattern among the published ones, and of ours.
VOCABULARIES = {
    "cl100k": ("cl100k_base", "cl100k", "cl100k"),
    "o200k": ("o200k_base", "o200k", "o200k"),
    "llama3": ("llama3", "llama3", "llama3"),
    "qwen3": ("qwen3", "qwen2", "qwen2"),
}


@pytest.fixture(scope="module", params=VOCABULARIES)
def pair(request, ranks, published, data_dir):
    """Our tokenizer and tiktoken's of one vocabulary."""
    file, spelling, pattern = VOCABULARIES[request.param]
    known = published[spelling]
    theirs = tiktoken.Encoding(
        request.param,
        pat_str=known["pattern"],
        mergeable_ranks=ranks(file),
        special_tokens=known["special_tokens"],
    )
    ours = bl.Tokenizer.from_tiktoken(
        data_dir / "vocab" / f"{file}.tiktoken", pattern=pattern, special_tokens=known["special_tokens"]
    )
    return ours, theirs


def assert_same_ids(ours, theirs, text):
    """Compares ids and, where they differ, shows the place."""
    got = ours.encode_array(text, disallowed_special=())
    expected = np.asarray(theirs.encode_to_numpy(text, disallowed_special=()), dtype=np.uint32)
    if np.array_equal(got, expected):
        return
    short = min(len(got), len(expected))
    differ = np.flatnonzero(got[:short] != expected[:short])
    at = int(differ[0]) if len(differ) else short
    before = len(theirs.decode_bytes(expected[:at].tolist()))
    place = text.encode()[max(before - 40, 0) : before + 40]
    pytest.fail(f"token {at}: {got[at : at + 5]} is not {expected[at : at + 5]}, near {place!r}")


@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus_as_one_text(pair, corpus, name):
    ours, theirs = pair
    size = 4_000_000 if theirs.name == "cl100k" else 1_000_000
    assert_same_ids(ours, theirs, corpus(name, size))


@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus_document_by_document(pair, documents, name):
    ours, theirs = pair
    texts = documents(name, 2_000_000 if theirs.name == "cl100k" else 400_000)
    assert ours.encode_batch(texts, disallowed_special=()) == theirs.encode_ordinary_batch(
        texts, num_threads=2
    )
    assert ours.encode_batch_array(texts, disallowed_special=(), threads=2).tolist() == [
        ours.encode_ordinary(text) for text in texts
    ]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", CORPORA)
def test_a_whole_corpus(pair, corpus, name):
    ours, theirs = pair
    assert_same_ids(ours, theirs, corpus(name))


def test_every_token_and_pairs_of_tokens(pair):
    ours, theirs = pair
    seeded = random.Random(7)
    tokens = [token for token in theirs._mergeable_ranks if token]
    for _ in range(20_000):
        data = b"".join(seeded.choices(tokens, k=seeded.randint(1, 4)))
        text = data.decode(errors="ignore")
        assert ours.encode_ordinary(text) == theirs.encode_ordinary(text), text
    ids = [*range(len(tokens))]
    assert ours.decode_bytes(ids) == theirs.decode_bytes(ids)


def test_golden_vectors_are_what_this_tiktoken_gives(pair):
    ours, theirs = pair
    path = Path(__file__).parents[1] / "golden" / "cl100k.jsonl"
    for line in path.read_text("utf-8").splitlines():
        vector = json.loads(line)
        assert ours.encode_ordinary(vector["text"]) == theirs.encode_ordinary(vector["text"]), vector["name"]
        if theirs.name == "cl100k":
            assert theirs.encode_ordinary(vector["text"]) == vector["ids"], vector["name"]


def test_small_texts_special_tokens_and_surrogates(pair):
    ours, theirs = pair
    for text in SAMPLES:
        assert ours.encode(text) == theirs.encode(text)
    special = theirs.special_tokens_set
    for text in (
        "a<|endoftext|>b",
        "<|endoftext|><|endoftext|>",
        "x <|im_end|> y",
        "<|eot_id|>\n\n<|end_of_text|>",
    ):
        assert ours.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
        assert ours.encode(text, disallowed_special=()) == theirs.encode(text, disallowed_special=())
        if any(name in text for name in special):
            with pytest.raises(bl.SpecialTokenError):
                ours.encode(text)
    for text in ("\ud83d", "a\udfffb", "\ud83d\udc4d", "\udc4d\ud83d"):
        assert ours.encode(text, errors="replace") == theirs.encode(text)


def test_decoding(pair):
    ours, theirs = pair
    for data in INVALID_BYTES:
        ids = ours.encode(data)
        assert theirs.decode_bytes(ids) == data
        assert ours.decode(ids) == theirs.decode(ids)
    for text in SAMPLES:
        ids = theirs.encode_ordinary(text)
        assert ours.decode_with_offsets(ids) == theirs.decode_with_offsets(ids)


def test_random_strings(pair):
    ours, theirs = pair
    seeded = random.Random(11)
    ranges = [
        (0, 0x7F),
        (0, 0x24F),
        (0x2000, 0x206F),
        (0x3000, 0x30FF),
        (0x4E00, 0x4EFF),
        (0x1F300, 0x1F6FF),
        (0, 0x10FFFF),
    ]
    for _ in range(5_000):
        low, high = seeded.choice(ranges)
        codes = [seeded.randint(low, high) for _ in range(seeded.randint(1, 40))]
        extra = [seeded.choice(" \n\r\t'sST1aé日") for _ in range(seeded.randint(0, 20))]
        chars = [chr(code) for code in codes if not 0xD800 <= code < 0xE000] + extra
        seeded.shuffle(chars)
        text = "".join(chars)
        assert ours.encode(text) == theirs.encode(text), ascii(text)

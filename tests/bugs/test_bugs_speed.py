"""Texts on which other tokenizers take the square of the length: right ids here, in the time of a test.

Sizes are such that anything quadratic would run for minutes. Names hold the id of the record.
"""

import random

import numpy as np
import pytest

import byteloom as bl
from helpers import ALL_PATTERNS, train_quietly
from oracle import encode_ranks

MB = 1_000_000
SIZE = MB // 2


def shapes():
    seeded = random.Random(1)
    han = [chr(seeded.randint(0x4E00, 0x9FFF)) for _ in range(5000)]
    return {
        "one letter": "a" * SIZE,
        "two letters": "ab" * (SIZE // 2),
        "random letters": "".join(seeded.choices("abcdefghijklmnopqrstuvwxyz", k=SIZE)),
        "random capitals": "".join(seeded.choices("abcXYZ", k=SIZE)),
        "spaces": " " * SIZE,
        "spaces and x": " " * SIZE + "x",
        "tabs and spaces": "\t " * (SIZE // 2),
        "newlines": "\n" * SIZE,
        "CRLF": "\r\n" * (SIZE // 2),
        "newlines and spaces": "\n " * (SIZE // 2) + "x",
        "punctuation": "^" * SIZE,
        "slashes": "/" * SIZE,
        "apostrophes": "'" * SIZE,
        "contractions": "'s" * (SIZE // 2),
        "digits": "".join(seeded.choices("0123456789", k=SIZE)),
        "combining marks": "a" + "\u0301" * (SIZE // 2),
        "han": "".join(seeded.choices(han, k=SIZE // 3)),
        "kana": "".join(seeded.choices("あいうえおかきくけこ", k=SIZE // 3)),
        "ZWJ": "👨\u200d" * (SIZE // 7),
        "wide spaces": "\u3000" * (SIZE // 3),
        "underscores": "_" * SIZE,
        "NUL": "\0" * SIZE,
    }


SHAPES = shapes()
VOCABULARY = (
    "aaaa bbbb abab     \n\n\n\n\t\t\t\t    ////^^^^ '''' 0123 the and"
    " あいあい 一一 ____ \u0301\u0301\u0301\u0301 👨\u200d👨\u200d " * 3
)


@pytest.mark.parametrize("shape", SHAPES)
def test_spd_001_cl100k(cl100k, shape):
    text = SHAPES[shape]
    ids = cl100k.encode_array(text)
    assert cl100k.decode(ids) == text
    assert cl100k.count(text) == len(ids)
    # The same pieces again, without a cache and in another call, by the short way.
    head = text[:3000]
    pieces = cl100k.pretokens(head)
    if len(pieces) > 1:
        expected = [token for piece in pieces for token in cl100k.encode_ordinary(piece)]
        assert cl100k.decode(expected) == head


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
def test_spd_001_every_pattern(pattern):
    tok = train_quietly(VOCABULARY, 330, pattern=pattern)
    for shape, text in SHAPES.items():
        part = text[-SIZE // 2 :]
        ids = tok.encode_array(part)
        assert tok.decode(ids) == part, shape


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
def test_spd_001_random_bytes(pattern):
    data = random.Random(2).randbytes(MB)
    tok = train_quietly(VOCABULARY, 330, pattern=pattern)
    assert tok.decode_bytes(tok.encode_array(data)) == data


def test_spd_001_the_ids_of_long_pieces_are_right():
    seeded = random.Random(3)
    for alphabet in ("a", "ab", "abcdefgh"):
        tok = train_quietly("".join(seeded.choices(alphabet, k=3000)), 600, pattern="none", min_frequency=1)
        ranks = {tok.id_to_bytes(token): token for token in range(tok.vocab_size)}
        for _ in range(3):
            piece = "".join(seeded.choices(alphabet, k=700))
            assert tok.encode(piece) == encode_ranks(piece.encode(), ranks)


@pytest.mark.parametrize("unit", ["a", "abcdefghijklmnopqrstuvwxyz", "日", "^"])
def test_spd_ten_megabytes_without_a_space(cl100k, unit):
    text = unit * (10 * MB // len(unit.encode()))
    ids = cl100k.encode_array(text)
    assert len(ids) <= len(text.encode())
    assert cl100k.decode_bytes(ids) == text.encode()


def test_spd_ten_megabytes_as_one_pretoken():
    tok = train_quietly("abab" * 50 + "ba" * 20, 300, pattern="none")
    text = "ab" * (5 * MB)
    ids = tok.encode_array(text)
    assert tok.decode_bytes(ids) == text.encode()
    largest = max(len(tok.id_to_bytes(token)) for token in set(ids.tolist()))
    assert len(ids) <= 10 * MB // largest + 100


def test_spd_002_many_small_texts(cl100k):
    words = ["low", "lower", "newest", "widest", "a", ""] * 50_000
    rows = cl100k.encode_batch_array(words)
    assert len(rows) == len(words)
    assert np.array_equal(rows.ids[: rows.offsets[6]], rows.ids[-rows.offsets[6] :])
    assert cl100k.decode(rows.ids) == "".join(words)
    assert cl100k.count_batch(words) == rows.lengths.tolist()


def test_spd_long_texts_in_offsets_truncate_and_chunk(cl100k):
    text = "naïve 日本 and plain words, " * 40_000
    ids, offsets = cl100k.encode_with_offsets(text)
    assert offsets[-1][1] == len(text)
    assert len(ids) == cl100k.count(text)
    cut = cl100k.truncate(text, len(ids) // 2)
    assert text.startswith(cut)
    assert cl100k.count(cut) <= len(ids) // 2
    assert cl100k.truncate(text, 10) == cl100k.truncate(text[:1000], 10)
    chunks = cl100k.chunk(text, 512)
    assert "".join(chunks) == text
    assert all(cl100k.count(chunk) <= 512 for chunk in chunks[:50])
    assert len(chunks) <= len(ids) // 500 + 1
    for shape in ("one letter", "spaces and x", "combining marks"):
        chunks = cl100k.chunk(SHAPES[shape], 1000)
        assert "".join(chunks) == SHAPES[shape]


@pytest.mark.parametrize("shape", ["one letter", "random letters", "spaces", "han", "digits"])
def test_spd_training_on_hard_shapes(shape):
    for pattern in ("cl100k", "none"):
        tok = train_quietly(SHAPES[shape], 300, pattern=pattern, min_frequency=1)
        assert tok.training_report["bytes"] == len(SHAPES[shape].encode())
        assert bl.Tokenizer.from_bytes(tok.to_bytes()) == tok

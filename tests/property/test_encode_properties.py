"""Encoding: lossless for every text, equal to the naive merge loop, the same through every door."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import byteloom as bl
from helpers import ALL_PATTERNS, assert_entry_points_agree, train_quietly
from oracle import COURSE_PATTERNS, encode_merges, encode_ranks, split, split_specials
from strategies import byte_texts, few, merge_lists, pieces, rank_tables, texts

CORPUS = "the cat and the other; l'été, 日本語 日本 1234 1234 \n\n  the 🚀🚀 don't don't\n" * 3

TOKENIZERS = {pattern: train_quietly(CORPUS, 320, pattern=pattern) for pattern in ALL_PATTERNS}
TOKENIZERS["custom"] = train_quietly(CORPUS, 320, pattern=r"\p{L}+|\s+(?!\S)|\d")

each_tokenizer = pytest.mark.parametrize("name", TOKENIZERS)


@each_tokenizer
@few
@given(text=texts)
def test_every_text_comes_back(name, text):
    tok = TOKENIZERS[name]
    ids = tok.encode(text)
    assert tok.decode(ids) == text
    assert tok.encode(text.encode()) == ids
    assert "".join(tok.pretokens(text)) == text


@each_tokenizer
@few
@given(data=byte_texts)
def test_all_bytes_come_back(name, data):
    tok = TOKENIZERS[name]
    ids = tok.encode(data)
    assert tok.decode_bytes(ids) == data
    assert tok.decode(ids) == data.decode(errors="replace")
    assert b"".join(tok.pretokens(data)) == data


@given(text=texts, data=byte_texts)
def test_cl100k_is_lossless_and_consistent(cl100k, text, data):
    assert cl100k.decode(assert_entry_points_agree(cl100k, text)) == text
    assert cl100k.decode_bytes(assert_entry_points_agree(cl100k, data)) == data


@each_tokenizer
@few
@given(text=st.one_of(texts, byte_texts))
def test_every_entry_point_agrees(name, text):
    assert_entry_points_agree(TOKENIZERS[name], text)


@given(batch=st.lists(st.one_of(texts, byte_texts), max_size=20), threads=st.sampled_from([None, 1, 2, 7]))
def test_a_batch_is_each_text_alone(batch, threads):
    tok = TOKENIZERS["cl100k"]
    expected = [tok.encode(text) for text in batch]
    assert tok.encode_batch(batch, threads=threads) == expected
    rows = tok.encode_batch_array(batch, threads=threads)
    assert rows.tolist() == expected
    assert tok.decode_batch(rows, threads=threads) == [tok.decode(ids) for ids in expected]


# Against the oracle


@given(ranks=rank_tables(), piece=pieces())
@example(ranks={bytes([b]): b for b in range(256)} | {b"aa": 257, b"aaa": 256}, piece=b"a" * 7)
def test_ranks_merge_as_the_naive_loop_does(ranks, piece):
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none")
    assert tok.encode(piece) == encode_ranks(piece, ranks)


@given(merges=merge_lists(), piece=pieces(alphabets=[b"a", b"ab", b"abc", b"abz_0"]))
def test_merge_lists_merge_as_the_naive_loop_does(merges, piece):
    data = f'{{"merges": {[list(pair) for pair in merges]}}}'.encode()
    tokens = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])
    if len(set(tokens)) < len(tokens):
        # Two ids for the same bytes: the engine may refuse them, and must not mix them up.
        try:
            tok = bl.Tokenizer.from_bytes(data)
        except bl.VocabularyError:
            return
    else:
        tok = bl.Tokenizer.from_bytes(data)
    assert tok.encode(piece) == encode_merges(piece, merges)


LENGTHS = [*range(1, 10), *(n + d for n in (16, 32, 64, 128, 256, 512) for d in (-1, 0, 1)), 400]


@pytest.mark.parametrize("alphabet", [b"a", b"ab", b"abz", bytes(range(97, 123)), bytes(range(256))], ids=len)
@few
@given(seed=st.randoms(use_true_random=False))
def test_pieces_of_every_length_around_powers_of_two(alphabet, seed):
    tokens = {bytes(seed.choices(alphabet, k=seed.randint(2, 5))) for _ in range(60)}
    order = seed.sample(sorted(tokens), len(tokens))
    ranks = {bytes([byte]): byte for byte in range(256)} | {token: 256 + n for n, token in enumerate(order)}
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none")
    for length in seed.sample(LENGTHS, 3):
        piece = bytes(seed.choices(alphabet, k=length))
        assert tok.encode(piece) == encode_ranks(piece, ranks), f"{length} bytes"


@pytest.mark.parametrize("pattern", COURSE_PATTERNS)
@few
@given(text=st.text(st.characters(max_codepoint=0x7FF)))
def test_course_patterns_cut_as_python_does(pattern, text):
    assert TOKENIZERS[pattern].pretokens(text) == split(text, pattern)


@given(
    text=st.lists(st.sampled_from(["a", "b", "<", "x", ">", "<x>", "<x>>", "<xx>"]), max_size=25).map(
        "".join
    ),
    data=st.data(),
)
def test_special_tokens_are_found_leftmost_and_longest(text, data):
    names = data.draw(st.lists(st.text("ab<x>", min_size=1, max_size=4), min_size=1, max_size=6, unique=True))
    specials = {name: 300 + index for index, name in enumerate(names)}
    allowed = data.draw(st.lists(st.sampled_from(names), unique=True))
    tok = bl.Tokenizer.from_tiktoken(
        {bytes([byte]): byte for byte in range(256)}, pattern="none", special_tokens=specials
    )
    expected = []
    for part, is_special in split_specials(text, set(allowed)):
        expected += [specials[part]] if is_special else list(part.encode())
    assert tok.encode(text, allowed_special=set(allowed), disallowed_special=()) == expected
    refused = any(is_special and part not in allowed for part, is_special in split_specials(text, set(names)))
    if refused:
        with pytest.raises(bl.SpecialTokenError):
            tok.encode(text, allowed_special=set(allowed))
    assert tok.encode_ordinary(text) == list(text.encode())


# Offsets, truncate, chunk


@each_tokenizer
@few
@given(data=byte_texts)
def test_offsets_tile_the_text(name, data):
    tok = TOKENIZERS[name]
    ids, offsets = tok.encode_with_offsets(data, unit="byte")
    at = 0
    for token, (start, end) in zip(ids, offsets, strict=True):
        assert start == at
        at = end
        assert data[start:end] == tok.id_to_bytes(token)
    assert at == len(data)


@each_tokenizer
@few
@given(text=texts)
def test_character_offsets_cover_what_the_token_holds(name, text):
    tok = TOKENIZERS[name]
    ids, offsets = tok.encode_with_offsets(text)
    byte_offsets = tok.encode_with_offsets(text, unit="byte")[1]
    starts = [0]
    for char in text:
        starts.append(starts[-1] + len(char.encode()))
    for (start, end), (first, last) in zip(offsets, byte_offsets, strict=True):
        assert starts[start] <= first < starts[start + 1]
        assert starts[end - 1] < last <= starts[end]
    assert tok.decode_with_offsets(ids) == (text, [start for start, _ in offsets])


@each_tokenizer
@few
@given(text=st.one_of(texts, byte_texts), n=st.integers(0, 40))
def test_truncate(name, text, n):
    tok = TOKENIZERS[name]
    cut = tok.truncate(text, n)
    assert text[: len(cut)] == cut
    assert tok.count(cut) <= n
    if tok.count(text) <= n:
        assert cut == text
    if isinstance(text, str):
        # A cut is where a token ends, moved back to the beginning of a character.
        ends = [0] + [end for _, end in tok.encode_with_offsets(text, unit="byte")[1]]
        assert cut in [text.encode()[:end].decode(errors="ignore") for end in ends]


@each_tokenizer
@few
@given(text=st.one_of(texts, byte_texts), n=st.integers(1, 40))
def test_chunk(name, text, n):
    tok = TOKENIZERS[name]
    try:
        chunks = tok.chunk(text, n)
    except ValueError:
        assert n < 4  # a character has at most four bytes, so it needs at most four tokens
        return
    assert text[:0].join(chunks) == text
    assert all(0 < tok.count(chunk) <= n for chunk in chunks)


# Streams


@each_tokenizer
@few
@given(data=byte_texts, cuts=st.lists(st.integers(0, 60)), order=st.randoms(use_true_random=False))
def test_a_stream_in_any_pieces_is_the_text(name, data, cuts, order):
    tok = TOKENIZERS[name]
    ids = tok.encode(data)
    decoder = tok.stream_decoder()
    edges = sorted({0, len(ids), *(cut for cut in cuts if cut < len(ids))})
    parts = [decoder.feed(ids[start:end]) for start, end in pairwise(edges)]
    assert "".join(parts) + decoder.flush() == tok.decode(ids)
    shuffled = order.sample(ids, len(ids))
    parts = [decoder.feed(token) for token in shuffled]
    assert "".join(parts) + decoder.flush() == tok.decode(shuffled)


@given(text=texts)
def test_a_stream_never_shows_half_a_character(text):
    tok = TOKENIZERS["none"]
    decoder = tok.stream_decoder()
    shown = ""
    for token in tok.encode(text):
        shown += decoder.feed(token)
        assert text.startswith(shown)
    assert decoder.flush() == ""
    assert shown == text

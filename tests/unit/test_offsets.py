"""Offsets say which characters or bytes a token covers; truncate and chunk are built on the same places."""

import pytest

import byteloom as bl
from helpers import INVALID_BYTES, SAMPLES, raises_cleanly


def expected_offsets(tok, text, unit):
    """Offsets from the bytes of each token alone; `text` may be bytes that are not UTF-8."""
    data = text if isinstance(text, bytes) else text.encode()
    spans, at = [], 0
    for token in tok.encode_ordinary(text):
        spans += [(at, at := at + len(tok.id_to_bytes(token)))]
    if unit == "byte":
        return spans
    # The character that holds each byte; a byte outside valid UTF-8 is one, as in surrogateescape.
    holder = []
    for index, char in enumerate(data.decode(errors="surrogateescape")):
        holder += [index] * len(char.encode(errors="surrogateescape"))
    return [(holder[start], holder[end - 1] + 1) for start, end in spans]


@pytest.mark.parametrize("text", SAMPLES + INVALID_BYTES)
@pytest.mark.parametrize("unit", ["char", "byte"])
def test_offsets_are_the_spans_of_the_tokens(tok, bytes_tok, text, unit):
    for one in (tok, bytes_tok):
        ids, offsets = one.encode_with_offsets(text, unit=unit)
        assert ids == one.encode(text)
        assert offsets == expected_offsets(one, text, unit)


def test_characters_are_the_default_unit(tok):
    assert tok.encode_with_offsets("日本") == tok.encode_with_offsets("日本", unit="char")


def test_a_token_with_part_of_a_character_covers_all_of_it(bytes_tok):
    assert bytes_tok.encode_with_offsets("é!")[1] == [(0, 1), (0, 1), (1, 2)]
    assert bytes_tok.encode_with_offsets("é!", unit="byte")[1] == [(0, 1), (1, 2), (2, 3)]


def test_special_tokens_have_their_own_span(bytes_tok):
    ids, offsets = bytes_tok.encode_with_offsets("é<|end|>é", allowed_special="all")
    assert ids == [0xC3, 0xA9, 256, 0xC3, 0xA9]
    assert offsets == [(0, 1), (0, 1), (1, 8), (8, 9), (8, 9)]


def test_added_tokens_cover_nothing(bytes_tok):
    ids, offsets = bytes_tok.encode_with_offsets("ab", add_special_tokens=True)
    assert ids == [258, 97, 98, 256]
    assert offsets == [(0, 0), (0, 1), (1, 2), (2, 2)]


def test_offsets_of_repaired_text_count_the_characters_of_the_given_one(bytes_tok):
    ids, offsets = bytes_tok.encode_with_offsets("a\ud800b", errors="replace")
    assert ids == list("a\ufffdb".encode())
    assert offsets == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]


@pytest.mark.parametrize("unit", ["chars", "", "token", None])
def test_an_unknown_unit_is_refused(tok, unit):
    with raises_cleanly(ValueError, TypeError):
        tok.encode_with_offsets("a", unit=unit)


# truncate


def places_to_cut(tok, text):
    """Byte offsets where a token ends, moved back to the beginning of a character."""
    data = text.encode()
    spans = tok.encode_with_offsets(text, unit="byte", disallowed_special=())[1]
    return {0} | {len(data[:end].decode(errors="ignore").encode()) for _, end in spans}


@pytest.mark.parametrize("text", SAMPLES)
def test_truncate_gives_a_prefix_of_at_most_n_tokens(tok, text):
    places = places_to_cut(tok, text)
    total = tok.count(text)
    for n in {0, 1, 2, 3, 5, 8, total // 2, max(total - 1, 0)}:
        cut = tok.truncate(text, n)
        assert text.startswith(cut)
        assert tok.count(cut) <= n
        assert len(cut.encode()) in places
        assert tok.truncate(text.encode(), n) == cut.encode()


@pytest.mark.parametrize("text", SAMPLES + INVALID_BYTES)
def test_truncate_of_a_text_that_fits_is_the_text(tok, text):
    total = tok.count(text)
    assert tok.truncate(text, total) == text
    assert tok.truncate(text, total + 1) == text
    assert tok.truncate(text, 10**9) == text
    assert tok.truncate(text, 0) == text[:0]


def test_truncate_keeps_as_much_as_fits(tok):
    text = "the cat sat on the mat, and the other cat"
    ends = [end for _, end in tok.encode_with_offsets(text)[1]]
    for n in range(1, len(ends)):
        assert tok.truncate(text, n) == text[: ends[n - 1]]


def test_truncate_never_cuts_a_character(bytes_tok):
    assert [bytes_tok.truncate("日本", n) for n in range(7)] == ["", "", "", "日", "日", "日", "日本"]
    assert bytes_tok.truncate("日本".encode(), 4) == "日".encode()


def test_truncate_of_invalid_bytes_keeps_them(bytes_tok):
    assert bytes_tok.truncate(b"a\xff\xfe", 2) == b"a\xff"
    assert bytes_tok.truncate(b"\xe6\x97", 1) == b"\xe6"


def test_truncate_sees_special_tokens_where_allowed(bytes_tok):
    text = "a<|end|>b"
    with pytest.raises(bl.SpecialTokenError):
        bytes_tok.truncate(text, 3)
    assert bytes_tok.truncate(text, 1, allowed_special="all") == "a"
    assert bytes_tok.truncate(text, 2, allowed_special="all") == "a<|end|>"
    assert bytes_tok.truncate(text, 2, disallowed_special=()) == "a<"


@pytest.mark.parametrize("method", ["truncate", "chunk"])
@pytest.mark.parametrize("n", [-1, -(10**20)])
def test_a_negative_number_of_tokens_is_refused(tok, method, n):
    with raises_cleanly(ValueError):
        getattr(tok, method)("abc", n)


@pytest.mark.parametrize("method", ["truncate", "chunk"])
@pytest.mark.parametrize("n", ["3", 1.0, None])
def test_a_number_of_tokens_of_another_type_is_refused(tok, method, n):
    with raises_cleanly(TypeError):
        getattr(tok, method)("abc", n)


# chunk


@pytest.mark.parametrize("text", SAMPLES)
def test_chunks_are_the_text_in_pieces_that_fit(tok, text):
    for n in (12, 13, 40, 1000):
        chunks = tok.chunk(text, n)
        assert "".join(chunks) == text
        assert all(chunks)
        assert all(tok.count(chunk) <= n for chunk in chunks)
        assert tok.chunk(text.encode(), n) == [chunk.encode() for chunk in chunks]


def test_a_text_that_fits_is_one_chunk(tok):
    assert tok.chunk("the cat", 100) == ["the cat"]
    assert tok.chunk("", 100) == []


def test_chunks_are_full(bytes_tok):
    assert bytes_tok.chunk("abcdefg", 3) == ["abc", "def", "g"]
    assert bytes_tok.chunk("日本x", 5) == ["日", "本x"]


def test_chunks_of_invalid_bytes(bytes_tok):
    for data in INVALID_BYTES:
        chunks = bytes_tok.chunk(data, 4)
        assert b"".join(chunks) == data
        assert all(bytes_tok.count(chunk) <= 4 for chunk in chunks)


def test_a_character_that_needs_more_tokens_than_a_chunk_has_is_an_error(bytes_tok):
    with pytest.raises(ValueError, match="3"):
        bytes_tok.chunk("ab日", 2)
    with raises_cleanly(ValueError):
        bytes_tok.chunk("a", 0)


def test_a_special_token_is_not_cut(bytes_tok):
    assert bytes_tok.chunk("ab<|end|>cd", 2, allowed_special="all") == ["ab", "<|end|>c", "d"]

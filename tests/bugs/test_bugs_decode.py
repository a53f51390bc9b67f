"""Faults that other tokenizers had when decoding. Names hold the id of the record."""

import numpy as np
import pytest

import byteloom as bl
from helpers import SAMPLES, raises_cleanly


def every_decode(tok, ids):
    yield lambda: tok.decode(ids)
    yield lambda: tok.decode_bytes(ids)
    yield lambda: tok.decode_batch([[], ids])
    yield lambda: tok.decode_with_offsets(ids)
    yield lambda: tok.stream_decoder().feed(ids)


@pytest.mark.parametrize("bad", [100_256, 100_261, 100_277, 2**24, 2**31, 2**32 - 1, 2**32, 2**64, -1])
def test_dec_001_002_ids_of_no_token(cl100k, bad):
    for call in every_decode(cl100k, [15339, bad]):
        with pytest.raises(bl.UnknownTokenError) as caught:
            call()
        assert caught.value.args == (bad,)
        assert caught.value.position == 1
        assert str(bad) in str(caught.value)
        assert isinstance(caught.value, Exception)
    assert cl100k.decode([15339]) == "hello"


def test_dec_004_part_of_a_character(cl100k):
    assert cl100k.decode([9468]) == cl100k.decode([9468, 239]) == "\ufffd"
    assert cl100k.decode([9468, 239, 235]) == "👍"
    assert cl100k.decode_bytes([9468]) == b"\xf0\x9f"


REPLACEMENTS = {
    b"\xf0\x9f\x91": "\ufffd",
    b"\xe0\x80A": "\ufffd\ufffdA",
    b"\xc0\xaf": "\ufffd" * 2,
    b"\xed\xa0\x80": "\ufffd" * 3,
    b"\xf4\x90\x80\x80": "\ufffd" * 4,
    b"\xe2\x82": "\ufffd",
    b"\xff\xfe": "\ufffd" * 2,
}


@pytest.mark.parametrize("data", REPLACEMENTS)
def test_dec_005_how_many_replacement_characters(cl100k, data):
    ids = cl100k.encode(data)
    text = REPLACEMENTS[data]
    assert text == data.decode(errors="replace")
    assert cl100k.decode(ids) == text
    assert cl100k.decode_batch([ids]) == [text]
    assert cl100k.decode_with_offsets(ids)[0] == text
    decoder = cl100k.stream_decoder()
    assert "".join(map(decoder.feed, ids)) + decoder.flush() == text


def byte_ids(cl100k, data):
    return [cl100k.token_to_id(bytes([byte])) for byte in data]


def test_dec_005_every_short_sequence_of_telling_bytes(cl100k):
    telling = b"A\x7f\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe1\xed\xef\xf0\xf1\xf4\xf5\xff"
    sequences = [bytes([a, b, c]) for a in telling for b in telling for c in telling]
    sequences += [bytes([0xF0, a, b, c]) for a in telling for b in telling for c in telling]
    assert cl100k.decode_batch([byte_ids(cl100k, data) for data in sequences]) == [
        data.decode(errors="replace") for data in sequences
    ]
    for data in sequences[::7]:
        decoder = cl100k.stream_decoder()
        parts = [decoder.feed(token) for token in byte_ids(cl100k, data)]
        assert "".join(parts) + decoder.flush() == data.decode(errors="replace")


def test_dec_007_a_stream_that_ends_inside_a_character(cl100k):
    for data in (b"\xf0\x9f", b"\xf0\x9f\x91", b"\xe2\x82", b"\xc3", b"a\xc3"):
        decoder = cl100k.stream_decoder()
        text = "".join(decoder.feed(token) for token in byte_ids(cl100k, data))
        assert "\ufffd" not in text
        assert text + decoder.flush() == data.decode(errors="replace")
        assert decoder.flush() == ""


def test_dec_008_an_invalid_byte_and_then_text(cl100k):
    decoder = cl100k.stream_decoder()
    parts = [decoder.feed(token) for token in byte_ids(cl100k, b"\xf0\x9fA\xffB")]
    assert "".join(parts) + decoder.flush() == "\ufffdA\ufffdB"


def test_dec_010_special_tokens_are_kept_unless_asked(cl100k):
    tok = cl100k.with_special_tokens(["<|im_end|>"])
    ids = tok.encode("a<|im_end|>b", allowed_special="all")
    assert len(ids) == 3
    assert tok.decode(ids) == "a<|im_end|>b"
    assert tok.decode(ids, skip_special_tokens=True) == "ab"


def test_dec_011_bytes_of_tokens_join(cl100k):
    for text in ("👍", *SAMPLES):
        ids = cl100k.encode(text)
        assert (
            b"".join(cl100k.decode_bytes([token]) for token in ids)
            == cl100k.decode_bytes(ids)
            == text.encode()
        )
        assert b"".join(map(cl100k.id_to_bytes, ids)) == text.encode()


def test_dec_013_offsets_of_ids_that_start_inside_a_character(cl100k):
    assert cl100k.decode_with_offsets([239, 235]) == ("\ufffd\ufffd", [0, 1])
    for ids in ([235], [9468], [9468, 64], [64, 239], [9468, 9468], [239, 235, 9468, 239, 235]):
        text, offsets = cl100k.decode_with_offsets(ids)
        assert text == cl100k.decode(ids)
        assert len(offsets) == len(ids)
        assert all(0 <= offset <= len(text) for offset in offsets)
        assert offsets == sorted(offsets)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64", "int16", "int32", "int64"])
def test_dec_014_arrays_of_every_integer_type(cl100k, dtype):
    ids = np.array([15339, 1917], dtype=dtype)
    expected = cl100k.decode([15339, 1917])
    for given in (ids, ids.tolist(), list(ids), tuple(ids), np.repeat(ids, 2)[::2]):
        assert cl100k.decode(given) == expected
        assert cl100k.decode_batch([given]) == [expected]


@pytest.mark.parametrize("bad", [True, 1.0, "1", None, np.bool_(True), np.float64(1)])
def test_dec_014_what_is_no_id(cl100k, bad):
    for call in every_decode(cl100k, [bad]):
        with raises_cleanly(TypeError):
            call()
    if isinstance(bad, (bool, float)):
        for call in every_decode(cl100k, np.array([bad])):
            with raises_cleanly(TypeError):
                call()


def test_spd_004_decoding_millions_of_ids(cl100k):
    ids = cl100k.encode_array("hello world, this is text. " * 1000)
    many = np.tile(ids, 500)
    text = cl100k.decode(many)
    assert len(text) == 27 * 1000 * 500
    assert text[:27] * 3 == text[-81:]
    decoder = cl100k.stream_decoder()
    few = ids.tolist() * 50
    assert "".join(map(decoder.feed, few)) + decoder.flush() == text[: 27 * 1000 * 50]

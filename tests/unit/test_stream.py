"""`StreamDecoder`: text as ids arrive, and never half a character."""

import numpy as np
import pytest

import byteloom as bl
from helpers import INVALID_BYTES, SAMPLES, raises_cleanly


@pytest.mark.parametrize("text", SAMPLES)
def test_one_id_at_a_time_gives_the_text(tok, bytes_tok, text):
    for one in (tok, bytes_tok):
        decoder = one.stream_decoder()
        parts = [decoder.feed(token) for token in one.encode(text)]
        assert all("\ufffd" not in part for part in parts if "\ufffd" not in text)
        assert "".join(parts) + decoder.flush() == text


def test_a_character_appears_when_its_last_byte_does(bytes_tok):
    decoder = bytes_tok.stream_decoder()
    assert [decoder.feed(byte) for byte in "é日🚀".encode()] == ["", "é", "", "", "日", "", "", "", "🚀"]
    assert decoder.flush() == ""


@pytest.mark.parametrize("data", INVALID_BYTES)
def test_invalid_bytes_become_what_decode_makes_of_them(bytes_tok, data):
    decoder = bytes_tok.stream_decoder()
    assert "".join(map(decoder.feed, data)) + decoder.flush() == data.decode(errors="replace")


def test_an_invalid_byte_does_not_hold_back_what_follows(bytes_tok):
    decoder = bytes_tok.stream_decoder()
    assert [decoder.feed(byte) for byte in b"\xf0\x9fA\xffB"] == ["", "", "\ufffdA", "\ufffd", "B"]


def test_flush_gives_the_unfinished_character_once(bytes_tok):
    decoder = bytes_tok.stream_decoder()
    assert decoder.feed([0xF0, 0x9F]) == ""
    assert decoder.flush() == "\ufffd"
    assert decoder.flush() == ""


def test_a_flushed_decoder_starts_anew(bytes_tok):
    decoder = bytes_tok.stream_decoder()
    decoder.feed(0xF0)
    decoder.flush()
    assert decoder.feed([104, 105]) + decoder.flush() == "hi"


def test_feed_takes_one_id_or_many(bytes_tok):
    decoder = bytes_tok.stream_decoder()
    assert decoder.feed(104) == "h"
    assert decoder.feed([105, 33]) == "i!"
    assert decoder.feed(np.array([104, 105], np.uint16)) == "hi"
    assert decoder.feed(np.uint32(104)) == "h"
    assert decoder.feed([]) == ""
    assert decoder.feed(iter([104])) == "h"


def test_special_tokens_in_a_stream(bytes_tok):
    decoder = bytes_tok.stream_decoder()
    assert decoder.feed(97) + decoder.feed(256) + decoder.feed(98) == "a<|end|>b"
    decoder = bytes_tok.stream_decoder(skip_special_tokens=True)
    assert decoder.feed(97) + decoder.feed(256) + decoder.feed(98) == "ab"


def test_an_unknown_id_leaves_the_decoder_as_it_was(bytes_tok):
    decoder = bytes_tok.stream_decoder()
    assert decoder.feed(0xC3) == ""
    with pytest.raises(bl.UnknownTokenError):
        decoder.feed(999)
    with pytest.raises(bl.UnknownTokenError) as caught:
        decoder.feed([97, 98, 2**40])
    assert caught.value.position == 2
    assert decoder.feed(0xA9) == "é"


@pytest.mark.parametrize("bad", [True, 1.0, "a", None, b"a", [True], [1.0], [None]])
def test_what_is_no_id_is_a_type_error(bytes_tok, bad):
    decoder = bytes_tok.stream_decoder()
    with raises_cleanly(TypeError):
        decoder.feed(bad)
    assert decoder.feed(97) == "a"


def test_decoders_are_independent_and_outlive_the_name_of_their_tokenizer():
    tok = bl.Tokenizer.train("low lower", vocab_size=257)
    one, other = tok.stream_decoder(), tok.stream_decoder()
    del tok
    assert one.feed(0xC3) == ""
    assert other.feed(97) == "a"
    assert one.feed(0xA9) == "é"


def test_decoders_come_from_tokenizers_only():
    with pytest.raises(TypeError):
        bl.StreamDecoder()

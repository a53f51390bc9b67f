"""The decode family: ids back to bytes and text."""

import numpy as np
import pytest

import byteloom as bl
from helpers import INVALID_BYTES, SAMPLES, raises_cleanly


@pytest.mark.parametrize("text", SAMPLES)
def test_decode_undoes_encode(tok, special_tok, text):
    for one in (tok, special_tok):
        ids = one.encode(text)
        assert one.decode(ids) == text
        assert one.decode_bytes(ids) == text.encode()
        assert one.decode_batch([ids, [], ids]) == [text, "", text]
        assert one.decode_with_offsets(ids)[0] == text


@pytest.mark.parametrize("data", INVALID_BYTES)
@pytest.mark.parametrize("errors", ["replace", "ignore", "backslashreplace", "surrogateescape"])
def test_errors_means_what_bytes_decode_means(bytes_tok, data, errors):
    assert bytes_tok.decode(list(data), errors=errors) == data.decode(errors=errors)


@pytest.mark.parametrize("data", INVALID_BYTES)
def test_strict_decoding_refuses_invalid_bytes(bytes_tok, data):
    with raises_cleanly(ValueError):
        bytes_tok.decode(list(data), errors="strict")
    assert bytes_tok.decode(list("日本".encode()), errors="strict") == "日本"


def test_an_unknown_errors_handler_is_refused(bytes_tok):
    with raises_cleanly(LookupError, ValueError):
        bytes_tok.decode([0xFF], errors="nonsense")


def test_bytes_of_tokens_join_to_the_bytes_of_all(tok):
    ids = tok.encode("naïve 日本語 🚀")
    assert b"".join(tok.decode_bytes([token]) for token in ids) == tok.decode_bytes(ids)


INTEGER_TYPES = ["uint8", "uint16", "uint32", "uint64", "int16", "int32", "int64"]


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_arrays_of_every_integer_type(bytes_tok, dtype):
    ids = np.array([104, 105], dtype=dtype)
    assert bytes_tok.decode(ids) == "hi"
    assert bytes_tok.decode_bytes(ids) == b"hi"
    assert bytes_tok.decode_batch([ids, ids[:1]]) == ["hi", "h"]
    assert bytes_tok.decode_with_offsets(ids) == ("hi", [0, 1])
    assert bytes_tok.decode(ids[::-1]) == "ih"
    assert bytes_tok.decode(ids.astype(ids.dtype.newbyteorder(">"))) == "hi"
    assert bytes_tok.decode(list(ids)) == "hi"


@pytest.mark.parametrize("make", [list, tuple, iter, lambda ids: (i for i in ids), np.array, range])
def test_ids_may_be_any_iterable(bytes_tok, make):
    ids = make(97, 100) if make is range else make([97, 98, 99])
    assert bytes_tok.decode(ids) == "abc"


def test_a_batch_of_rows_may_be_a_matrix_or_ragged(bytes_tok):
    assert bytes_tok.decode_batch(np.array([[97, 98], [99, 100]])) == ["ab", "cd"]
    assert bytes_tok.decode_batch(bytes_tok.encode_batch_array(["ab", "", "c"])) == ["ab", "", "c"]
    assert bytes_tok.decode_batch([]) == []
    assert bytes_tok.decode_batch([[97]] * 100, threads=3) == ["a"] * 100


def every_decode(tok, ids):
    return [
        lambda: tok.decode(ids),
        lambda: tok.decode_bytes(ids),
        lambda: tok.decode_batch([ids]),
        lambda: tok.decode_with_offsets(ids),
        lambda: tok.stream_decoder().feed(ids),
    ]


@pytest.mark.parametrize(
    "bad", [259, 299, 301, 2**24, 2**31, 2**32 - 1, 2**32 + 97, 2**64 + 97, -1, -(2**40)]
)
def test_an_id_of_no_token_is_named_with_its_position(abc_tok, bad):
    for call in every_decode(abc_tok, [97, 98, bad, 99]):
        with raises_cleanly(bl.UnknownTokenError):
            call()
        with pytest.raises(bl.UnknownTokenError) as caught:
            call()
        assert caught.value.args == (bad,)
        assert caught.value.position == 2
        assert str(caught.value).startswith(f"id {bad} at position 2 ")
        assert isinstance(caught.value, KeyError)
    assert abc_tok.decode([97]) == "a"


@pytest.mark.parametrize(
    ("dtype", "bad"), [("int64", -1), ("uint64", 2**64 - 1), ("int8", -3), ("uint32", 2**32 - 1)]
)
def test_an_id_of_no_token_in_an_array(abc_tok, dtype, bad):
    for call in every_decode(abc_tok, np.array([97, bad], dtype=dtype)):
        with pytest.raises(bl.UnknownTokenError) as caught:
            call()
        assert (caught.value.args, caught.value.position) == ((bad,), 1)


@pytest.mark.parametrize(
    "bad", [True, False, 1.0, "a", None, b"a", [1], 1 + 0j, np.bool_(True), np.float32(1)]
)
def test_what_is_no_id_is_a_type_error(bytes_tok, bad):
    for call in every_decode(bytes_tok, [97, bad]):
        with raises_cleanly(TypeError):
            call()


@pytest.mark.parametrize(
    "ids",
    [
        "97",
        b"97",
        None,
        97,
        1.5,
        np.array([1.0]),
        np.array([True]),
        np.array(["a"]),
        np.array([[97]]),
        np.array(97),
    ],
)
def test_what_is_no_sequence_of_ids_is_a_type_error(bytes_tok, ids):
    for method in (bytes_tok.decode, bytes_tok.decode_bytes, bytes_tok.decode_with_offsets):
        with raises_cleanly(TypeError, ValueError):
            method(ids)


def test_an_error_inside_the_iterable_passes_unchanged(bytes_tok):
    def ids():
        yield 97
        raise RuntimeError("lost the rest")

    with pytest.raises(RuntimeError, match="lost the rest"):
        bytes_tok.decode(ids())


def test_special_tokens_are_text_unless_skipped(bytes_tok):
    ids = [97, 256, 98, 257]
    assert bytes_tok.decode(ids) == "a<|end|>b<|pad|>"
    assert bytes_tok.decode(ids, skip_special_tokens=True) == "ab"
    assert bytes_tok.decode_bytes(ids, skip_special_tokens=True) == b"ab"
    assert bytes_tok.decode_batch([ids], skip_special_tokens=True) == ["ab"]
    assert bytes_tok.decode_with_offsets(ids, skip_special_tokens=True)[0] == "ab"


def test_a_character_around_a_special_token_is_not_joined(bytes_tok):
    assert bytes_tok.decode([0xC3, 256, 0xA9]) == "\ufffd<|end|>\ufffd"


def test_decode_offsets_are_where_each_token_begins(bytes_tok, abc_tok):
    assert abc_tok.decode_with_offsets([257, 258, 100]) == ("abc日本d", [0, 3, 5])
    assert bytes_tok.decode_with_offsets(list("é!".encode())) == ("é!", [0, 0, 1])
    assert bytes_tok.decode_with_offsets([]) == ("", [])


@pytest.mark.parametrize("text", SAMPLES)
def test_decode_offsets_agree_with_encode_offsets(tok, text):
    ids, offsets = tok.encode_with_offsets(text)
    assert tok.decode_with_offsets(ids) == (text, [start for start, _ in offsets])


def test_decode_offsets_of_invalid_bytes_are_in_the_text(bytes_tok):
    for data in INVALID_BYTES:
        text, offsets = bytes_tok.decode_with_offsets(list(data))
        assert text == data.decode(errors="replace")
        assert len(offsets) == len(data)
        assert offsets == sorted(offsets)
        assert all(0 <= offset < len(text) for offset in offsets)

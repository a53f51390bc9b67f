"""The encode family: every way in gives the same ids."""

import contextlib

import numpy as np
import pytest

import byteloom as bl
from helpers import (
    ALL_PATTERNS,
    INVALID_BYTES,
    SAMPLES,
    assert_entry_points_agree,
    raises_cleanly,
    train_quietly,
)


@pytest.fixture(scope="module", params=ALL_PATTERNS)
def any_tok(request, small_text):
    return train_quietly(small_text, 320, pattern=request.param)


@pytest.mark.parametrize("text", SAMPLES)
def test_every_entry_point_gives_the_same_ids(any_tok, text):
    ids = assert_entry_points_agree(any_tok, text)
    assert any_tok.decode(ids) == text


@pytest.mark.parametrize("text", SAMPLES)
def test_a_str_and_its_bytes_have_the_same_ids(any_tok, text):
    data = text.encode()
    ids = any_tok.encode(text)
    assert assert_entry_points_agree(any_tok, data) == ids
    assert any_tok.encode(bytearray(data)) == ids
    assert any_tok.encode(memoryview(data)) == ids


@pytest.mark.parametrize("data", INVALID_BYTES)
def test_bytes_need_not_be_utf8(any_tok, data):
    ids = assert_entry_points_agree(any_tok, data)
    assert any_tok.decode_bytes(ids) == data
    assert any_tok.decode(ids) == data.decode(errors="replace")


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "llama3", "qwen2"])
def test_a_short_text_has_the_ids_that_it_has_in_blocks(small_text, pattern):
    trained = train_quietly(small_text, 320, pattern=pattern, special_tokens=["<|a|>", "<|b|>"])
    # The same pattern by the engine for all regexes, where no text takes the way of short ones.
    blocks = bl.Tokenizer.from_merges(
        trained.merges, pattern=f"(?:{trained.pattern})", special_tokens=["<|a|>", "<|b|>"]
    )
    assert (trained.pattern_name, blocks.pattern_name) == (pattern, None)
    every = [*SAMPLES, *INVALID_BYTES, "<|a|>", "the <|a|> cat<|b|>", "<|a", "a\u0301 <|b|>"]
    for text in ("the cat sat on 123 mats. ", "é日🚀 ", "a-b/c"):
        every += [(text * 60).encode()[:length] for length in (1, 15, 16, 17, 44, 45, 46, 239, 240, 241)]
    for text in every:
        for options in (
            {"allowed_special": "all"},
            {"disallowed_special": ()},
            {"allowed_special": {"<|b|>"}, "disallowed_special": ()},
        ):
            expected = blocks.encode(text, **options)
            for _ in range(2):
                assert trained.encode(text, **options) == expected
                assert trained.encode_array(text, **options).tolist() == expected
                assert trained.encode_array(text, dtype="uint16", **options).tolist() == expected
                assert trained.count(text, **options) == len(expected)
                assert trained.encode_batch([text, text], **options) == [expected, expected]
        expected = blocks.encode_ordinary(text)
        assert trained.encode_ordinary(text) == trained.encode_ordinary(text) == expected
        with_frame = trained.with_special_tokens(bos="<|a|>", eos="<|b|>")
        framed = [
            trained.special_tokens["<|a|>"],
            *blocks.encode(text, disallowed_special=()),
            trained.special_tokens["<|b|>"],
        ]
        assert with_frame.encode(text, disallowed_special=(), add_special_tokens=True) == framed
        assert with_frame.count(text, disallowed_special=(), add_special_tokens=True) == len(framed)


@pytest.mark.parametrize("length", [3, 300])
def test_short_and_long_texts_are_refused_in_the_same_words(tok, length):
    def message(call):
        with pytest.raises((bl.ByteloomError, ValueError, TypeError)) as raised:
            call()
        return type(raised.value), str(raised.value)

    special = bl.Tokenizer.from_merges(tok.merges, special_tokens=["<|a|>"])
    text, surrogate, plain = "<|a|>" + "x" * length, "\ud800" + "x" * length, "x" * length
    for call in (special.encode, special.encode_array, special.count):
        for arguments, options, kind, words in (
            (text, {}, bl.SpecialTokenError, "at character 0 (byte 0)"),
            (surrogate, {}, bl.TextError, "at index 0"),
            (surrogate, {"allowed_special": 5}, bl.TextError, "at index 0"),
            (text, {"errors": "ignore"}, ValueError, "errors must be"),
            (plain, {"allowed_special": "<|a|>"}, TypeError, "allowed_special must be"),
            (plain, {"allowed_special": {"<|c|>"}}, bl.SpecialTokenError, "<|c|>"),
            (plain, {"add_special_tokens": True}, bl.SpecialTokenError, "neither"),
            (length, {}, TypeError, "text must be str or bytes, not int"),
        ):
            with pytest.raises(kind) as raised:
                call(arguments, **options)
            assert words in str(raised.value)


def test_text_of_every_python_string_kind(tok):
    # CPython stores these with 1 (ASCII), 1 (Latin-1), 2 and 4 bytes a character.
    for text in ("ascii", "caf\xe9", "\u65e5\u672c", "\U0001f680 up"):
        assert tok.encode(text) == tok.encode(text.encode())


def test_a_str_subclass_is_text(tok):
    class Name(str):
        __slots__ = ()

    assert tok.encode(Name("the cat")) == tok.encode("the cat")


def test_a_memoryview_with_steps_is_copied_or_refused(tok):
    view = memoryview(b"t_h_e_")[::2]
    with contextlib.suppress(ValueError, TypeError, BufferError):
        assert tok.encode(view) == tok.encode(b"the")


@pytest.mark.parametrize("value", [None, 3, 1.5, ["text"], ("a",), {"a": 1}, object()])
@pytest.mark.parametrize(
    "method",
    ["encode", "encode_ordinary", "encode_array", "encode_with_offsets", "count", "pretokens"],
)
def test_what_is_no_text_is_a_type_error_that_names_the_type(tok, method, value):
    with raises_cleanly(TypeError):
        getattr(tok, method)(value)
    with pytest.raises(TypeError, match=type(value).__name__):
        getattr(tok, method)(value)


def test_ids_are_plain_ints(tok):
    assert all(type(token) is int for token in tok.encode("the cat"))


def test_pretokens_tile_the_text(any_tok):
    for text in SAMPLES:
        assert "".join(any_tok.pretokens(text)) == text
        assert b"".join(any_tok.pretokens(text.encode())) == text.encode()
        assert all(any_tok.pretokens(text))
    for data in INVALID_BYTES:
        assert b"".join(any_tok.pretokens(data)) == data


def test_ids_are_those_of_the_pretokens_one_by_one(any_tok):
    for text in SAMPLES:
        joined = [token for piece in any_tok.pretokens(text) for token in any_tok.encode(piece)]
        # A pre-token alone can be cut in another way, such as spaces that a word followed.
        whole = any_tok.encode(text)
        assert any_tok.decode(joined) == any_tok.decode(whole)


# Batches


def test_a_batch_is_each_text_alone(tok):
    texts = [*SAMPLES, *INVALID_BYTES]
    expected = [tok.encode(text) for text in texts]
    for threads in (None, 1, 2, 5):
        assert tok.encode_batch(texts, threads=threads) == expected
        assert tok.encode_batch_array(texts, threads=threads).tolist() == expected
        assert tok.count_batch(texts, threads=threads) == [len(ids) for ids in expected]


def test_empty_batches(tok):
    assert tok.encode_batch([]) == []
    assert tok.count_batch([]) == []
    assert len(tok.encode_batch_array([])) == 0
    assert tok.encode_batch(["", ""]) == [[], []]


@pytest.mark.parametrize("make", [list, tuple, iter, lambda texts: (text for text in texts)])
def test_a_batch_may_be_any_iterable(tok, make):
    texts = ["the cat", "", "the other"]
    assert tok.encode_batch(make(texts)) == [tok.encode(text) for text in texts]


def test_an_array_of_strings_is_a_batch(tok):
    assert tok.encode_batch(np.array(["the cat", "mat"])) == [tok.encode("the cat"), tok.encode("mat")]


@pytest.mark.parametrize("method", ["encode_batch", "encode_batch_array", "count_batch"])
def test_one_text_is_no_batch(tok, method):
    # Letter by letter would be a silent fault.
    for text in ("the cat", b"the cat"):
        with raises_cleanly(TypeError):
            getattr(tok, method)(text)


@pytest.mark.parametrize("method", ["encode_batch", "encode_batch_array", "count_batch"])
@pytest.mark.parametrize(
    ("texts", "index", "kind"), [(["a", None, "b"], 1, "NoneType"), (["a", "b", 3], 2, "int")]
)
def test_a_wrong_element_is_named_by_index_and_type(tok, method, texts, index, kind):
    with pytest.raises(TypeError, match=rf"\b{index}\b.*{kind}|{kind}.*\b{index}\b"):
        getattr(tok, method)(texts)
    assert tok.encode_batch(["a"]) == [tok.encode("a")]


def test_an_error_inside_the_iterable_passes_unchanged(tok):
    def texts():
        yield "a"
        raise RuntimeError("disk gone")

    with pytest.raises(RuntimeError, match="disk gone"):
        tok.encode_batch(texts())


@pytest.mark.parametrize("method", ["encode_batch", "encode_batch_array", "count_batch"])
@pytest.mark.parametrize("threads", [0, -1])
def test_thread_counts_out_of_range(tok, method, threads):
    with pytest.raises(ValueError, match="threads"):
        getattr(tok, method)(["a"], threads=threads)


@pytest.mark.parametrize("threads", ["x", 1.5, [2]])
def test_thread_counts_of_another_type(tok, threads):
    with raises_cleanly(TypeError):
        tok.encode_batch(["a"], threads=threads)


# Arrays


def test_array_dtypes(tok):
    text = "the cat sat"
    assert tok.encode_array(text).dtype == np.uint32
    for dtype in ("uint16", np.uint16, np.dtype("uint16")):
        array = tok.encode_array(text, dtype=dtype)
        assert array.dtype == np.uint16
        assert array.tolist() == tok.encode(text)
    for dtype in ("uint32", np.uint32):
        assert tok.encode_array(text, dtype=dtype).dtype == np.uint32
        assert tok.encode_batch_array([text], dtype=dtype).ids.dtype == np.uint32
    assert tok.encode_batch_array([text], dtype="uint16").ids.dtype == np.uint16


def test_arrays_are_ours_to_change(tok):
    array = tok.encode_array("the cat")
    before = tok.encode("the cat")
    array[:] = 0
    assert tok.encode("the cat") == before
    assert array.flags.owndata or array.base is not None
    assert array.flags.writeable


def test_empty_array(tok):
    assert tok.encode_array("").shape == (0,)
    assert tok.encode_array("").dtype == np.uint32


@pytest.mark.parametrize("dtype", ["int64", "float32", np.int8, "no such type", "(, ", 7])
def test_other_dtypes_are_refused(tok, dtype):
    with raises_cleanly(ValueError, TypeError):
        tok.encode_array("a", dtype=dtype)


def test_a_dtype_too_small_for_the_ids_is_refused():
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 70_000}
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none")
    with pytest.raises(ValueError, match="uint16"):
        tok.encode_array("ab", dtype="uint16")
    with pytest.raises(ValueError, match="uint16"):
        tok.encode_batch_array(["ab"], dtype="uint16")
    assert tok.encode_array("ab").tolist() == [70_000]


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_out_is_filled_and_a_view_of_it_returned(tok, dtype):
    text = "the cat sat on the mat"
    ids = tok.encode(text)
    out = np.full(len(ids) + 3, 9, dtype=dtype)
    result = tok.encode_array(text, out=out)
    assert result.tolist() == ids
    assert np.shares_memory(result, out)
    assert out[: len(ids)].tolist() == ids


def test_out_of_exactly_the_right_size(tok):
    ids = tok.encode("the cat")
    out = np.zeros(len(ids), dtype=np.uint32)
    assert tok.encode_array("the cat", out=out).tolist() == ids
    assert tok.encode_array("", out=out).tolist() == []


@pytest.mark.parametrize(
    "out",
    [
        np.zeros(2, np.uint32),
        np.zeros(100, np.int64),
        np.zeros(100, np.float32),
        np.zeros((10, 10), np.uint32),
        np.zeros(200, np.uint32)[::2],
        np.zeros(100, np.dtype(np.uint32).newbyteorder(">")),
        [0] * 100,
    ],
    ids=["short", "int64", "float", "two-dimensional", "strided", "big-endian", "list"],
)
def test_an_out_that_does_not_fit_is_refused(bytes_tok, out):
    with raises_cleanly(ValueError, TypeError):
        bytes_tok.encode_array("the cat sat", out=out)


def test_a_read_only_out_is_refused(bytes_tok):
    out = np.zeros(100, np.uint32)
    out.flags.writeable = False
    with raises_cleanly(ValueError, TypeError):
        bytes_tok.encode_array("the cat", out=out)
    assert not out.any()


def test_out_and_a_contradicting_dtype(bytes_tok):
    with raises_cleanly(ValueError, TypeError):
        bytes_tok.encode_array("abc", out=np.zeros(10, np.uint32), dtype="uint16")


# Lone surrogates

SURROGATES = [("\ud83d", 0, "\ufffd"), ("a\udfffb", 1, "a\ufffdb"), ("\udc4d\ud83d", 0, "\ufffd\ufffd")]


@pytest.mark.parametrize(("text", "index", "repaired"), SURROGATES)
def test_a_lone_surrogate_is_named_by_its_index(tok, text, index, repaired):
    calls = [
        lambda **o: tok.encode(text, **o),
        lambda **o: tok.encode_ordinary(text, **o),
        lambda **o: tok.encode_batch(["ok", text], **o)[1],
        lambda **o: tok.encode_array(text, **o).tolist(),
        lambda **o: tok.encode_batch_array(["ok", text], **o)[1].tolist(),
        lambda **o: tok.encode_with_offsets(text, **o)[0],
    ]
    for call in calls:
        with pytest.raises(bl.TextError, match=rf"\b{index}\b"):
            call()
        assert call(errors="replace") == tok.encode(repaired)
    for call in (tok.count, tok.pretokens, lambda t: tok.count_batch([t]), lambda t: tok.truncate(t, 5)):
        with pytest.raises(bl.TextError):
            call(text)
    assert tok.count(text, errors="replace") == tok.count(repaired)


def test_a_surrogate_pair_becomes_its_character_where_repair_is_asked_for(tok):
    assert tok.encode("\ud83d\udc4d", errors="replace") == tok.encode("👍")
    with pytest.raises(bl.TextError):
        tok.encode("\ud83d\udc4d")


def test_an_unknown_errors_policy_is_refused(tok):
    with pytest.raises(ValueError, match="nonsense"):
        tok.encode("a", errors="nonsense")


def test_options_are_keyword_only(tok):
    with pytest.raises(TypeError):
        tok.encode("a", "all")

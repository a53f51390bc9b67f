"""`from_tiktoken`: rank files and mappings."""

import base64

import pytest

import byteloom as bl
from helpers import raises_cleanly

BYTES = {bytes([byte]): byte for byte in range(256)}


def lines(ranks):
    return [base64.b64encode(token) + b" %d" % rank for token, rank in ranks.items()]


def write(path, rows, end=b"\n"):
    path.write_bytes(end.join(rows) + end)
    return path


RANKS = BYTES | {b"ab": 256, b"abc": 257, b"bc": 258}


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n"])
def test_a_file_and_a_mapping_are_the_same_tokenizer(tmp_path, end):
    path = write(tmp_path / "ranks.tiktoken", lines(RANKS), end)
    specials = {"<e>": 300}
    loaded = bl.Tokenizer.from_tiktoken(path, pattern="gpt2", special_tokens=specials)
    assert loaded == bl.Tokenizer.from_tiktoken(RANKS, pattern="gpt2", special_tokens=specials)
    assert loaded == bl.Tokenizer.load(path, pattern="gpt2", special_tokens=specials)
    assert loaded.encode("abcbc ab") == [257, 258, 32, 256]
    assert loaded.special_tokens == specials


def test_order_of_lines_does_not_matter(tmp_path):
    path = write(tmp_path / "ranks.tiktoken", lines(RANKS)[::-1])
    assert bl.Tokenizer.from_tiktoken(path, pattern="gpt2") == bl.Tokenizer.from_tiktoken(
        RANKS, pattern="gpt2"
    )


def test_an_unknown_file_needs_a_pattern(tmp_path):
    path = write(tmp_path / "ranks.tiktoken", lines(RANKS))
    for make in (bl.Tokenizer.from_tiktoken, bl.Tokenizer.load):
        with pytest.raises(bl.FormatError, match="pattern"):
            make(path)
    with pytest.raises(ValueError, match="pattern"):
        bl.Tokenizer.from_tiktoken(RANKS)


@pytest.mark.parametrize(
    "bad",
    [
        b"!!!! 7",
        b"YQ==",
        b"YQ== x",
        b"YQ== -1",
        b"YQ== 1.5",
        b"YQ== 99999999999",
        b"YQ== 1 2",
        b"YQ 7",
        b" 7",
        b"\xff\xfe 7",
        b"Y 7",
    ],
)
@pytest.mark.parametrize("number", [1, 100, 259])
def test_a_bad_line_is_named_by_its_number(tmp_path, bad, number):
    rows = lines(RANKS)
    rows[number - 1] = bad
    path = write(tmp_path / "ranks.tiktoken", rows)
    with pytest.raises((bl.FormatError, bl.VocabularyError)) as caught:
        bl.Tokenizer.from_tiktoken(path, pattern="gpt2")
    assert str(number) in str(caught.value)
    assert "ranks.tiktoken" in str(caught.value)


def test_a_repeated_token_or_id_is_refused(tmp_path):
    for extra in (b"YWI= 300", b"eHl6 256", b"YWI= 256"):
        path = write(tmp_path / "ranks.tiktoken", [*lines(RANKS), extra])
        with raises_cleanly(bl.FormatError, bl.VocabularyError):
            bl.Tokenizer.from_tiktoken(path, pattern="gpt2")
    with raises_cleanly(bl.VocabularyError):
        bl.Tokenizer.from_tiktoken(BYTES | {b"ab": 97}, pattern="gpt2")


@pytest.mark.parametrize("missing", [0, 97, 255])
def test_every_byte_must_have_a_token(missing):
    ranks = dict(RANKS)
    del ranks[bytes([missing])]
    with pytest.raises(bl.VocabularyError, match=rf"{missing}|0x{missing:02x}|(?i:{missing:02x})"):
        bl.Tokenizer.from_tiktoken(ranks, pattern="gpt2")


@pytest.mark.parametrize(
    "ranks",
    [
        {},
        BYTES | {b"": 256},
        BYTES | {"ab": 256},
        BYTES | {b"ab": "256"},
        BYTES | {b"ab": -1},
        BYTES | {b"ab": 2**40},
        BYTES | {b"ab": 1.5},
        BYTES | {b"ab": True},
    ],
    ids=["empty", "empty token", "str token", "str rank", "negative", "huge", "float", "bool"],
)
def test_mappings_that_cannot_be(ranks):
    with raises_cleanly(ValueError, TypeError):
        bl.Tokenizer.from_tiktoken(ranks, pattern="gpt2")


def test_junk_files(tmp_path):
    for junk in (b"", b"\n", b"\x00" * 50, b"{}", b"a novel, in words\n"):
        path = tmp_path / "junk.tiktoken"
        path.write_bytes(junk)
        with raises_cleanly(bl.FormatError, bl.VocabularyError):
            bl.Tokenizer.from_tiktoken(path, pattern="gpt2")
    with raises_cleanly(OSError):
        bl.Tokenizer.from_tiktoken(tmp_path / "nothing", pattern="gpt2")
    with raises_cleanly(TypeError):
        bl.Tokenizer.from_tiktoken(3.5, pattern="gpt2")


def test_a_file_cut_short_never_gives_other_ids_in_silence(tmp_path):
    data = b"\n".join(lines(RANKS)) + b"\n"
    whole = bl.Tokenizer.from_tiktoken(RANKS, pattern="gpt2")
    path = tmp_path / "cut.tiktoken"
    for end in range(len(data) - 40, len(data)):
        path.write_bytes(data[:end])
        try:
            loaded = bl.Tokenizer.from_tiktoken(path, pattern="gpt2")
        except (bl.FormatError, bl.VocabularyError):
            continue
        # A cut between lines or inside the last number cannot be seen in a format without a length.
        assert loaded.vocab_size <= whole.vocab_size


def test_a_token_that_merges_cannot_build_is_found_as_a_whole():
    tok = bl.Tokenizer.from_tiktoken(BYTES | {b"abc": 256}, pattern="simple")
    assert tok.encode("abc abcz") == [256, 32, 97, 98, 99, 122]


def test_ids_of_bytes_may_be_any(tmp_path):
    ranks = {bytes([byte]): 1000 + (byte * 7) % 256 for byte in range(256)} | {b"ab": 5, b"abab": 3}
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none")
    assert tok.encode("abab") == [3]
    assert tok.encode("ababab") == [3, 5]
    assert tok.decode(tok.encode("xyz ab")) == "xyz ab"

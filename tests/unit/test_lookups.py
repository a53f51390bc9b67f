"""What a tokenizer tells about itself."""

import json

import pytest

import byteloom as bl
from helpers import raises_cleanly, train_quietly


def test_sizes_are_one_number(tok, special_tok):
    assert tok.vocab_size == tok.n_vocab == len(tok) == 300
    assert special_tok.vocab_size == special_tok.n_vocab == len(special_tok) == 302
    assert tok.max_token_id == 299
    assert special_tok.max_token_id == 301


def test_holes_are_no_tokens(abc_tok):
    # 256 bytes, three merged tokens, one special token; ids 259 to 299 stand for nothing.
    assert abc_tok.vocab_size == 260
    assert abc_tok.max_token_id == 300
    for hole in (259, 299, 301, -1, 2**32, 2**80):
        for look in (abc_tok.id_to_bytes, abc_tok.id_to_token):
            with raises_cleanly(bl.UnknownTokenError):
                look(hole)


def test_ids_and_tokens_translate_both_ways(tok):
    for token in range(tok.vocab_size):
        data = tok.id_to_bytes(token)
        assert isinstance(data, bytes)
        assert tok.token_to_id(data) == token
        assert tok.encode_ordinary(data) == [token] or len(data) > 1


def test_bytes_come_first(tok):
    assert [tok.id_to_bytes(byte) for byte in range(256)] == [bytes([byte]) for byte in range(256)]


def test_merged_tokens_are_their_parts_joined(tok):
    for index, (left, right) in enumerate(tok.merges):
        assert tok.id_to_bytes(256 + index) == tok.id_to_bytes(left) + tok.id_to_bytes(right)
    assert len(tok.merges) == 300 - 256


def test_id_to_token_spells_bytes_in_printable_letters(abc_tok):
    assert abc_tok.id_to_token(257) == "abc"
    assert abc_tok.id_to_token(32) == "Ġ"
    assert abc_tok.id_to_token(258) == "æĹ¥æľ¬"
    assert abc_tok.id_to_token(300) == "<|end|>"
    spellings = [abc_tok.id_to_token(byte) for byte in range(256)]
    assert len(set("".join(spellings))) == 256
    assert all(spelling.isprintable() for spelling in spellings)
    assert [abc_tok.token_to_id(spelling) for spelling in spellings] == [*range(256)]


def test_token_to_id(abc_tok):
    assert abc_tok.token_to_id("abc") == abc_tok.token_to_id(b"abc") == 257
    assert abc_tok.token_to_id("<|end|>") == 300
    assert abc_tok.token_to_id("nothing") is None
    assert abc_tok.token_to_id("") is None
    with raises_cleanly(TypeError):
        abc_tok.token_to_id(257)


@pytest.mark.parametrize("bad", [True, 1.0, "a", None])
def test_what_is_no_id_is_a_type_error(abc_tok, bad):
    for look in (abc_tok.id_to_bytes, abc_tok.id_to_token):
        with raises_cleanly(TypeError):
            look(bad)


def test_patterns(tok):
    assert tok.pattern_name == "cl100k"
    assert tok.pattern.startswith("'(?i:[sdmt]|ll|ve|re)|")
    custom = bl.Tokenizer.train("abc abc", 257, pattern=r"\w+|\s+")
    assert custom.pattern == r"\w+|\s+"
    assert custom.pattern_name is None


def test_every_pattern_name_works():
    names = bl.pattern_names()
    assert len(names) == len(set(names))
    expected = {
        "gpt2",
        "cl100k",
        "o200k",
        "llama3",
        "qwen2",
        "simple",
        "course-words",
        "course-ws",
        "course-gpt2",
        "none",
    }
    assert expected <= set(names)
    for name in names:
        assert train_quietly("low lower", 257, pattern=name).encode_ordinary("xyz") == [120, 121, 122]


@pytest.mark.parametrize(
    ("alias", "name"), [("r50k", "gpt2"), ("p50k", "gpt2"), ("gpt4", "cl100k"), ("gpt4o", "o200k")]
)
def test_aliases_are_the_pattern_they_stand_for(alias, name):
    one, other = (bl.Tokenizer.train("low lower low", 258, pattern=pattern) for pattern in (alias, name))
    assert one == other
    assert one.pattern_name == name


def test_a_regex_that_does_not_compile_is_refused():
    with raises_cleanly(bl.PatternError):
        bl.Tokenizer.train("abc", 257, pattern="(unclosed")


def test_info_is_plain_data(tok, special_tok, abc_tok):
    for one in (tok, special_tok, abc_tok):
        info = one.info()
        assert json.loads(json.dumps(info)) == info
        assert info["vocab_size"] == one.vocab_size
        assert info["unicode"] == "16.0.0"
        assert info["cache_bytes"] == 64 * 2**20
    info["vocab_size"] = 0
    assert abc_tok.info()["vocab_size"] == 260


def test_answers_are_copies(special_tok):
    special_tok.special_tokens.clear()
    special_tok.merges.clear()
    assert special_tok.special_tokens == {"<|endoftext|>": 300, "<|pad|>": 301}
    assert len(special_tok.merges) == 300 - 256


def test_repr_says_what_it_is(special_tok):
    text = repr(special_tok)
    assert "vocab_size=302" in text
    assert "cl100k" in text
    assert special_tok.fingerprint[:12] in text


def test_cache_bytes_are_no_part_of_the_tokenizer(tok):
    for limit in (0, 1, 1000, 2**20, 2**40):
        other = tok.with_cache_bytes(limit)
        assert other.info()["cache_bytes"] == limit
        assert other == tok
        assert other.to_bytes() == tok.to_bytes()
        assert other.encode("the cat " * 50) == tok.encode("the cat " * 50)
    assert tok.info()["cache_bytes"] == 64 * 2**20


@pytest.mark.parametrize("bad", [-1, "1", 1.5, None])
def test_bad_cache_limits(tok, bad):
    with raises_cleanly(ValueError, TypeError):
        tok.with_cache_bytes(bad)

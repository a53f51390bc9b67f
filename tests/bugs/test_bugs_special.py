"""Faults that other tokenizers had with special tokens. Names hold the id of the record."""

import itertools

import pytest

import byteloom as bl
from helpers import raises_cleanly, train_quietly

BYTES = {bytes([byte]): byte for byte in range(256)}


def with_specials(specials):
    return bl.Tokenizer.from_tiktoken(BYTES, pattern="cl100k", special_tokens=specials)


def test_spt_001_user_text_never_becomes_a_control_token_unasked(cl100k):
    text = "x<|endoftext|>y"
    for method in ("encode", "encode_array", "encode_with_offsets", "count"):
        with pytest.raises(bl.SpecialTokenError, match=r"<\|endoftext\|>"):
            getattr(cl100k, method)(text)
    for method in ("encode_batch", "encode_batch_array", "count_batch"):
        with pytest.raises(bl.SpecialTokenError, match=r"<\|endoftext\|>"):
            getattr(cl100k, method)(["fine", text])
    ordinary = [87, 27, 91, 8862, 728, 428, 91, 29, 88]
    assert cl100k.encode_ordinary(text) == cl100k.encode(text, disallowed_special=()) == ordinary
    for name in cl100k.special_tokens:
        assert not set(cl100k.special_tokens.values()) & set(cl100k.encode_ordinary(f"a{name}b"))


def test_spt_002_a_set_that_allows_some(cl100k):
    text = "<|endoftext|><|fim_prefix|>"
    with pytest.raises(bl.SpecialTokenError) as caught:
        cl100k.encode(text, allowed_special={"<|endoftext|>"})
    assert "<|fim_prefix|>" in str(caught.value)
    assert "13" in str(caught.value)
    ids = cl100k.encode(text, allowed_special={"<|endoftext|>"}, disallowed_special=())
    assert ids == [100257, *cl100k.encode_ordinary("<|fim_prefix|>")]


@pytest.mark.parametrize("order", [*itertools.permutations(["<x>", "<x>y", "<x>yz"])])
def test_spt_004_a_special_token_that_begins_another(order):
    ids = {"<x>": 300, "<x>y": 301, "<x>yz": 302}
    tok = with_specials({name: ids[name] for name in order})
    assert tok.encode("<x>yz", allowed_special="all") == [302]
    assert tok.encode("<x>y<x>yy", allowed_special="all") == [301, 301, 121]
    assert train_quietly("", 259, special_tokens=order).encode("<x>yz", allowed_special="all") == [
        256 + order.index("<x>yz")
    ]


def test_spt_005_an_empty_special_token(cl100k):
    with raises_cleanly(bl.SpecialTokenError):
        with_specials({"": 300})
    with raises_cleanly(bl.SpecialTokenError):
        cl100k.with_special_tokens([""])
    with raises_cleanly(bl.SpecialTokenError):
        bl.Tokenizer.train("low", 300, special_tokens=[""])


def test_spt_007_special_tokens_survive_a_file(tmp_path):
    tok = train_quietly("a b", 300, special_tokens=["<SEP>"], eos="<SEP>")
    tok.save(tmp_path / "tok.json")
    loaded = bl.Tokenizer.load(tmp_path / "tok.json")
    ids = tok.encode("a<SEP>b", allowed_special="all")
    assert len(ids) == 3
    assert loaded.encode("a<SEP>b", allowed_special="all") == ids
    assert loaded.eos_id == tok.eos_id == ids[1]


@pytest.mark.parametrize("pattern", ["cl100k", "gpt2", "none", "course-words"])
def test_spt_008_training_learns_nothing_of_a_control_token(pattern):
    name = "<|endoftext|>"
    documents = [f"hello{name}world"] * 50
    expected = train_quietly(["hello", "world"] * 50, 400, pattern=pattern)
    tok = train_quietly(documents, 401, pattern=pattern, special_tokens=[name])
    assert tok.merges == expected.merges
    learned = {tok.id_to_bytes(256 + index) for index in range(len(tok.merges))}
    assert not any(b"<" in token or b"|" in token for token in learned)
    undeclared = train_quietly(documents, 401, pattern=pattern)
    assert undeclared.merges != tok.merges


def test_spt_008_a_control_token_across_the_edge_of_a_piece_of_file(tmp_path):
    name = "<|endoftext|>"
    path = tmp_path / "corpus.txt"
    for shift in range(0, len(name), 4):
        path.write_text("x" * shift + f"low lower{name}" * 200_000, encoding="utf-8")
        tok = train_quietly(path, 300, pattern="cl100k", special_tokens=[name])
        learned = {tok.id_to_bytes(256 + index) for index in range(len(tok.merges))}
        assert not any(b"<" in token or b"|" in token or b"endof" in token for token in learned)


def test_spt_010_white_space_beside_a_special_token(cl100k):
    tok = cl100k.with_special_tokens({"<|im_end|>": 100_265})
    for text, ids in {
        "a  <|im_end|>  b": [64, 256, 100_265, 220, 293],
        "don<|im_end|>t": [15357, 100_265, 83],
        "<|im_end|><|im_end|>": [100_265, 100_265],
    }.items():
        assert tok.encode(text, allowed_special="all") == ids
        assert tok.decode(ids) == text


@pytest.mark.parametrize(
    "name",
    [
        "\0",
        "\n",
        "👍",
        "x" * 10_000,
        " ",
        " lead",
        "trail ",
        "\ufeff",
        "\u0120\u010a",
        "é",
        "<0x41>",
        '"\\{}',
    ],
    ids=ascii,
)
def test_spt_013_unusual_special_tokens(name, tmp_path):
    tok = with_specials({name: 300})
    assert tok.encode(f"1{name}2", allowed_special="all") == [49, 300, 50]
    assert tok.decode([49, 300, 50]) == f"1{name}2"
    assert tok.decode_bytes([300]) == name.encode()
    with raises_cleanly(bl.SpecialTokenError):
        tok.encode(f"1{name}2")
    tok.save(tmp_path / "tok.json")
    loaded = bl.Tokenizer.load(tmp_path / "tok.json")
    assert loaded.special_tokens == {name: 300}
    assert loaded == tok


def test_many_special_tokens():
    specials = {f"<|reserved_{index}|>": 1000 + index for index in range(5_000)}
    tok = with_specials(specials)
    text = "".join(specials)
    assert tok.encode(text, allowed_special="all") == list(specials.values())
    assert tok.decode(list(specials.values())) == text


def test_special_tokens_that_nearly_match_everywhere():
    # A search that starts over after each near miss takes the square of the length.
    tok = with_specials({"a" * 1000 + "b": 300})
    assert tok.count("a" * 300_000) == 300_000
    text = "a" * 300_000 + "b"
    assert tok.encode(text, allowed_special="all") == [97] * 299_000 + [300]

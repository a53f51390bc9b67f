"""Special tokens: only what is allowed becomes one, and nothing slips through unseen."""

import itertools

import pytest

import byteloom as bl
from helpers import raises_cleanly, train_quietly

BYTES = {bytes([byte]): byte for byte in range(256)}


def with_specials(specials, pattern="cl100k"):
    return bl.Tokenizer.from_tiktoken(BYTES, pattern=pattern, special_tokens=specials)


def every_encode(tok, text, **options):
    yield lambda: tok.encode(text, **options)
    yield lambda: tok.encode_batch([text], **options)[0]
    yield lambda: tok.encode_array(text, **options).tolist()
    yield lambda: tok.encode_batch_array([text], **options).tolist()[0]
    yield lambda: tok.encode_with_offsets(text, **options)[0]


def test_a_special_token_in_text_is_refused_by_default(bytes_tok):
    for text, place in (("né<|end|>", 2), ("né<|end|>".encode(), 3)):
        calls = [
            *every_encode(bytes_tok, text),
            lambda t=text: bytes_tok.count(t),
            lambda t=text: bytes_tok.count_batch([t]),
        ]
        for call in calls:
            with pytest.raises(bl.SpecialTokenError) as caught:
                call()
            assert "<|end|>" in str(caught.value)
            assert f"{place}" in str(caught.value)


def test_encode_ordinary_reads_every_text_as_text(bytes_tok):
    assert bytes_tok.encode_ordinary("<|end|>") == list(b"<|end|>")


def test_allowed_special_tokens_become_their_id(bytes_tok):
    text = "a<|end|>b<|pad|>"
    for allowed in (
        "all",
        {"<|end|>", "<|pad|>"},
        ["<|end|>", "<|pad|>"],
        ("<|pad|>", "<|end|>"),
        frozenset(["<|end|>", "<|pad|>"]),
    ):
        for call in every_encode(bytes_tok, text, allowed_special=allowed):
            assert call() == [97, 256, 98, 257]
        assert bytes_tok.count(text, allowed_special=allowed) == 4
        assert bytes_tok.count_batch([text], allowed_special=allowed) == [4]


def test_what_is_not_allowed_is_still_refused(bytes_tok):
    for call in every_encode(bytes_tok, "a<|end|>b<|pad|>", allowed_special={"<|end|>"}):
        with pytest.raises(bl.SpecialTokenError, match=r"<\|pad\|>.*9|9.*<\|pad\|>"):
            call()


def test_what_is_neither_allowed_nor_disallowed_is_text(bytes_tok):
    expected = [97, 256, *b"<|pad|>"]
    for call in every_encode(
        bytes_tok, "a<|end|><|pad|>", allowed_special={"<|end|>"}, disallowed_special=()
    ):
        assert call() == expected
    assert bytes_tok.encode("<|pad|>", disallowed_special={"<|end|>"}) == list(b"<|pad|>")
    with pytest.raises(bl.SpecialTokenError):
        bytes_tok.encode("<|end|>", disallowed_special={"<|end|>"})


def test_allowed_wins_over_disallowed_all(bytes_tok):
    assert bytes_tok.encode("<|end|>", allowed_special={"<|end|>"}, disallowed_special="all") == [256]


def test_a_token_both_allowed_and_disallowed_by_name_is_refused_in_text(bytes_tok):
    with raises_cleanly(bl.SpecialTokenError):
        bytes_tok.encode("<|end|>", allowed_special={"<|end|>"}, disallowed_special={"<|end|>"})


@pytest.mark.parametrize("option", ["allowed_special", "disallowed_special"])
def test_wrong_sets(bytes_tok, option):
    for bad in ("<|end|>", "none", 3, [3], b"all"):
        with raises_cleanly(ValueError, TypeError):
            bytes_tok.encode("a", **{option: bad})


def test_an_allowed_name_that_is_no_special_token_is_named(bytes_tok):
    with pytest.raises(bl.SpecialTokenError, match="typo"):
        bytes_tok.encode("a", allowed_special={"<|typo|>"})


def test_a_text_on_each_side_is_split_on_its_own(special_tok):
    for text in ("the  <|pad|>  cat", "don<|pad|>'t", "<|pad|><|pad|>", " <|pad|>"):
        left, _, right = text.partition("<|pad|>")
        expected = [*special_tok.encode(left), 301, *special_tok.encode(right, allowed_special="all")]
        assert special_tok.encode(text, allowed_special="all") == expected


@pytest.mark.parametrize("order", [*itertools.permutations(["<x>", "<x>y", "<x>yz"])])
def test_the_longest_special_token_wins_in_any_order(order):
    tok = with_specials({name: 300 + len(name) for name in order})
    assert tok.encode("<x>yz<x>y<x>z", allowed_special="all") == [305, 304, 303, 122]


def test_the_leftmost_special_token_wins():
    tok = with_specials({"ab": 300, "bcd": 301})
    assert tok.encode("abcd", allowed_special="all") == [300, 99, 100]


def test_a_longer_token_that_is_only_text_does_not_hide_a_shorter_allowed_one():
    tok = with_specials({"<x>": 300, "<x>y": 301})
    assert tok.encode("<x>y", allowed_special={"<x>"}, disallowed_special=()) == [300, 121]


def test_nearly_special_is_text(bytes_tok):
    for text in ("<|end|", "<|END|>", "<| end|>", "<|en\u200bd|>"):
        assert bytes_tok.decode(bytes_tok.encode(text)) == text
        assert 256 not in bytes_tok.encode(text)


@pytest.mark.parametrize(
    "name", ["\x00", "\n", " ", "  x ", "👍", "日本", "a", "é" * 5000, "<|a b|>", "\u0120\u010a"]
)
def test_unusual_names(name, tmp_path):
    tok = with_specials({name: 300})
    text = f"<{name}>{name}"
    assert tok.encode(text, allowed_special="all") == [60, 300, 62, 300]
    assert tok.decode([300]) == name
    assert tok.token_to_id(name) in (300, ord(name[0]))
    tok.save(tmp_path / "tok.json")
    assert bl.Tokenizer.load(tmp_path / "tok.json").special_tokens == {name: 300}
    assert tok.decode_bytes(tok.encode_ordinary(text)) == text.encode()


@pytest.mark.parametrize(
    "specials", [{"": 300}, {"<a>": 300, "<b>": 300}, {"<a>": 97}, {"<a>": -1}, {"<a>": 2**40}]
)
def test_special_tokens_that_cannot_be(specials):
    with raises_cleanly(ValueError, TypeError):
        with_specials(specials)
    with raises_cleanly(ValueError, TypeError):
        with_specials({}).with_special_tokens(specials)


def test_lone_surrogates_cannot_be_special():
    with raises_cleanly(ValueError):
        with_specials({"\ud800": 300})


# Roles


def test_roles(bytes_tok):
    assert (bytes_tok.bos_id, bytes_tok.eos_id, bytes_tok.pad_id) == (258, 256, 257)
    assert bytes_tok.encode("ab", add_special_tokens=True) == [258, 97, 98, 256]
    for call in every_encode(bytes_tok, "ab", add_special_tokens=True):
        assert call() == [258, 97, 98, 256]
    assert bytes_tok.count("ab", add_special_tokens=True) == 4
    assert bytes_tok.count_batch(["ab", ""], add_special_tokens=True) == [4, 2]
    assert bytes_tok.encode("", add_special_tokens=True) == [258, 256]


def test_one_role_alone():
    tok = with_specials({"<e>": 300})
    assert tok.with_special_tokens(eos="<e>").encode("a", add_special_tokens=True) == [97, 300]
    assert tok.with_special_tokens(bos="<e>").encode("a", add_special_tokens=True) == [300, 97]


def test_without_roles_adding_special_tokens_is_an_error(tok, special_tok):
    for call in every_encode(tok, "a", add_special_tokens=True):
        with raises_cleanly(bl.SpecialTokenError):
            call()
    assert special_tok.encode("a", add_special_tokens=True)[-1] == special_tok.eos_id
    pad_only = tok.with_special_tokens(["<pad>"], pad="<pad>")
    with raises_cleanly(bl.SpecialTokenError):
        pad_only.encode("a", add_special_tokens=True)


def test_training_takes_roles():
    tok = bl.Tokenizer.train("low lower low", 259, special_tokens=["<s>", "</s>"], bos="<s>", eos="</s>")
    assert (tok.bos_id, tok.eos_id, tok.pad_id) == (257, 258, None)
    with raises_cleanly(bl.SpecialTokenError):
        bl.Tokenizer.train("low", 257, special_tokens=["<s>"], bos="<nothing>")


# with_special_tokens


def test_new_special_tokens_get_the_next_ids(tok):
    more = tok.with_special_tokens(["<a>", "<b>"])
    assert more.special_tokens == {"<a>": 300, "<b>": 301}
    assert more.vocab_size == 302
    assert tok.special_tokens == {}
    assert more.encode("the cat") == tok.encode("the cat")
    assert more.merges == tok.merges
    again = more.with_special_tokens(["<b>", "<c>"], eos="<a>")
    assert again.special_tokens == {"<a>": 300, "<b>": 301, "<c>": 302}
    assert again.eos_id == 300
    assert again.with_special_tokens(["<d>"]).eos_id == 300


def test_special_tokens_with_chosen_ids(tok):
    more = tok.with_special_tokens({"<a>": 1000, "<b>": 400})
    assert more.special_tokens == {"<b>": 400, "<a>": 1000}
    assert more.with_special_tokens(["<c>"]).special_tokens["<c>"] == 1001
    assert more.vocab_size == 302


def test_special_tokens_that_cannot_be_added(tok):
    more = tok.with_special_tokens({"<a>": 1000})
    with pytest.raises(bl.SpecialTokenError, match="299"):
        more.with_special_tokens({"<b>": 299})
    for bad in ({"<a>": 1001}, {"<b>": 1000}, {"<b>": 97}, [""]):
        with raises_cleanly(bl.SpecialTokenError):
            more.with_special_tokens(bad)
    assert more.with_special_tokens(["<a>", "<b>", "<b>"]).special_tokens == {"<a>": 1000, "<b>": 1001}
    with raises_cleanly(bl.SpecialTokenError):
        more.with_special_tokens(eos="<nothing>")
    with raises_cleanly(TypeError):
        more.with_special_tokens("<b>")
    for bad in ([3], [None], {"<b>": "300"}, {"<b>": 1.0}, {"<b>": True}):
        with raises_cleanly(TypeError):
            more.with_special_tokens(bad)


# Special tokens in training


@pytest.mark.parametrize("position", ["first", "last"])
def test_special_position(position):
    tok = bl.Tokenizer.train("low lower low", 260, special_tokens=["<a>", "<b>"], special_position=position)
    first = 0 if position == "first" else 258
    assert tok.special_tokens == {"<a>": first, "<b>": first + 1}
    assert tok.encode("a<b>", allowed_special="all")[-1] == first + 1
    assert tok.decode(tok.encode("low <x>")) == "low <x>"
    assert tok.vocab_size == len({*range(260)}) == 260
    shift = 2 if position == "first" else 0
    assert tok.token_to_id(b"a") == 97 + shift
    assert tok.merges[0] == (108 + shift, 111 + shift)


def test_special_tokens_in_training_text_are_boundaries():
    tok = train_quietly(
        ["ab<|end|>cd"] * 20, 400, pattern="none", special_tokens=["<|end|>"], min_frequency=1
    )
    learned = {tok.id_to_bytes(256 + index) for index in range(len(tok.merges))}
    assert learned == {b"ab", b"cd"}


@pytest.mark.parametrize("specials", [[""], ["<a>", "<a>"], ["\ud800"], "<a>x", [3]])
def test_bad_special_tokens_in_training(specials):
    with raises_cleanly(bl.SpecialTokenError, ValueError, TypeError):
        bl.Tokenizer.train("low lower", 300, special_tokens=specials)

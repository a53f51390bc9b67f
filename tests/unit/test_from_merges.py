"""`Tokenizer.from_merges`: the tokenizer of some merges, and what is wrong with others."""

import pytest
from hypothesis import given

import byteloom as bl
from helpers import SAMPLES, raises_cleanly, train_quietly
from oracle import encode_merges
from strategies import corpora, few, merge_lists, texts

NAMES = ["<PAD>", "<UNK>", "<BOS>"]


@few
@given(documents=corpora(), probe=texts)
def test_trained_merges_give_the_trained_tokenizer(documents, probe):
    for position in ("first", "last"):
        shared = {"pattern": "simple", "special_tokens": NAMES, "special_position": position, "bos": "<BOS>"}
        tok = train_quietly(documents, 300, **shared)
        again = bl.Tokenizer.from_merges(tok.merges, **shared)
        assert again == tok
        assert again.encode_ordinary(probe) == tok.encode_ordinary(probe)
        characters = sorted({c for document in documents for c in document})
        shared["unk"] = "<UNK>"
        size = len(characters) + len(NAMES) + 9
        tok = train_quietly(documents, size, alphabet="characters", special_text="ordinary", **shared)
        again = bl.Tokenizer.from_merges(tok.merges, characters="".join(characters), **shared)
        assert again == tok
        assert again.encode_ordinary(probe) == tok.encode_ordinary(probe)


@few
@given(merges=merge_lists(), text=texts)
def test_merges_apply_in_their_order(merges, text):
    try:
        tok = bl.Tokenizer.from_merges(merges, pattern="none")
    except bl.VocabularyError as error:
        assert "already" in str(error)  # two merges that make the same bytes
        return
    assert tok.merges == merges
    assert tok.encode(text) == (encode_merges(text.encode(), merges) if text else [])
    assert tok.decode(tok.encode(text)) == text


def test_no_merges_at_all():
    tok = bl.Tokenizer.from_merges([])
    assert tok.vocab_size == 256
    assert tok.pattern_name == "cl100k"
    for sample in SAMPLES:
        assert tok.encode(sample) == list(sample.encode())
    assert tok.training_report is None


@pytest.mark.parametrize("merges", [[(116, 104)], ((116, 104),), iter([[116, 104]]), [range(116, 103, -12)]])
def test_merges_are_any_pairs(merges):
    assert bl.Tokenizer.from_merges(merges).encode("the") == [256, 101]


def test_characters_keep_their_order():
    tok = bl.Tokenizer.from_merges(
        [(5, 3)], characters=["z", "é", "a"], unk="<UNK>", special_tokens=NAMES, special_position="first"
    )
    assert tok.encode("zéa az") == [3, 4, 5, 1, 6]
    assert tok.vocab_size == 7
    shared = {"characters": "abc", "unk": "<UNK>", "special_tokens": ["<UNK>"]}
    assert bl.Tokenizer.from_merges([(2, 1)], **shared).encode("cb!") == [3, 4]


def test_roles():
    tok = bl.Tokenizer.from_merges([], special_tokens=NAMES, bos="<BOS>", pad="<PAD>", cache_bytes=1000)
    assert (tok.bos_id, tok.eos_id, tok.pad_id) == (258, None, 256)
    assert tok.encode("a", add_special_tokens=True) == [258, 97]
    assert tok.info()["cache_bytes"] == 1000


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        ([(97, 98), (257, 97)], r"merges\[1\]: id 257 does not exist yet; only ids below 257 do"),
        ([(97, 98), (97, 256)], None),
        (
            [(97, 98), (98, 99), (256, 99), (97, 257)],
            r'merges\[3\]: makes "abc", which is the token 258 already',
        ),
        ([(97, 98), (97, 98)], r'merges\[1\]: makes "ab", which is the token 256 already'),
        ([(-1, 98)], r"merges\[0\]: -1 is no id"),
        ([(97, 98), (97, 2**70)], r"merges\[1\]: \d+ is no id"),
        ([(97, 2**32)], r"merges\[0\]: 4294967296 is no id"),
    ],
)
def test_merges_that_cannot_be(merges, message):
    if message is None:
        assert bl.Tokenizer.from_merges(merges).vocab_size == 258
        return
    with pytest.raises(bl.VocabularyError, match=message):
        bl.Tokenizer.from_merges(merges)


def test_ids_count_from_the_special_tokens():
    shared = {"special_tokens": NAMES, "special_position": "first"}
    assert bl.Tokenizer.from_merges([(100, 101)], **shared).encode("ab") == [259]
    with pytest.raises(bl.VocabularyError, match=r"merges\[0\]: id 2 is a special token"):
        bl.Tokenizer.from_merges([(2, 101)], **shared)
    with pytest.raises(
        bl.VocabularyError, match=r"merges\[0\]: id 259 does not exist yet; only ids below 259"
    ):
        bl.Tokenizer.from_merges([(259, 101)], **shared)


@pytest.mark.parametrize(
    "merges",
    [[97], [(97,)], [(97, 98, 99)], [("a", "b")], [None], [(97, 98.0)], [(97, True)], 3, None, ["ab"]],
)
def test_merges_that_are_no_pairs(merges):
    with raises_cleanly(TypeError):
        bl.Tokenizer.from_merges(merges)


def test_other_faulty_requests():
    build = bl.Tokenizer.from_merges
    with pytest.raises(bl.SpecialTokenError, match="needs unk"):
        build([], characters="ab")
    with pytest.raises(bl.SpecialTokenError, match="unk names"):
        build([], characters="ab", unk="<u>")
    with pytest.raises(bl.SpecialTokenError, match="alphabets of characters"):
        build([], unk="<u>", special_tokens=["<u>"])
    with pytest.raises(bl.VocabularyError, match=r'characters\[1\] must be one character, not "ab"'):
        build([], characters=["a", "ab"], unk="<u>", special_tokens=["<u>"])
    with pytest.raises(bl.VocabularyError, match=r'characters\[2\]: is "a" again'):
        build([], characters="aba", unk="<u>", special_tokens=["<u>"])
    with pytest.raises(bl.PatternError):
        build([], pattern="(")
    with pytest.raises(bl.SpecialTokenError, match="twice"):
        build([], special_tokens=["<u>", "<u>"])
    with pytest.raises(bl.SpecialTokenError, match="eos names"):
        build([], eos="<e>")
    with raises_cleanly(ValueError):
        build([], special_position="middle")
    with pytest.raises(TypeError, match="not a string"):
        build([], special_tokens="<u>")
    with raises_cleanly(TypeError, UnicodeEncodeError, bl.TextError):
        build([], characters=["\ud800"], unk="<u>", special_tokens=["<u>"])
    for merges in ([(255 + at, 255 + at) for at in range(60)],):  # would be terabytes
        with raises_cleanly(bl.VocabularyError):
            build(merges)

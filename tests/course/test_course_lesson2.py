"""The second course: byte-pair encoding as a few functions around one dict."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import byteloom as bl
from byteloom.course import lesson2
from byteloom.course.lesson2 import (
    build_vocab,
    decode,
    encode,
    encode_presplit,
    encoding_cost,
    get_pairs,
    load_merges,
    merge,
    presplit,
    save_merges,
    train,
    train_presplit,
)
from helpers import SAMPLES, raises_cleanly
from oracle import count_words, encode_merges, split
from oracle import train as oracle_train
from strategies import corpora, few, texts


def numbered(pairs):
    return {pair: 256 + place for place, pair in enumerate(pairs)}


@few
@given(documents=corpora(), room=st.integers(-300, 40), probe=texts)
def test_it_is_the_oracle(documents, room, probe):
    text = "".join(documents)
    pairs = oracle_train({text.encode(): 1}, max(room, 0), "first_seen", min_frequency=1)
    merges = train(text, 256 + room)
    assert list(merges.items()) == list(numbered(pairs).items())
    vocab = build_vocab(merges)
    for sample in (text, probe):
        ids = encode(sample, merges)
        assert ids == encode_merges(sample.encode(), pairs)
        assert decode(ids, vocab) == sample


@few
@given(documents=corpora(), room=st.integers(0, 40), probe=texts)
def test_the_presplit_is_the_oracle(documents, room, probe):
    text = " ".join(documents)
    words = count_words([text], lambda part: split(part, "course-ws"))
    pairs = oracle_train(words, room, "first_seen", min_frequency=1)
    merges = train_presplit(text, 256 + room)
    assert list(merges.items()) == list(numbered(pairs).items())
    ids = encode_presplit(probe, merges)
    assert ids == [i for piece in presplit(probe) for i in encode(piece, merges)]
    assert decode(ids, build_vocab(merges)) == probe


def test_the_example():
    text = "aaabdaaabac"
    a, b, c, d = b"abcd"
    merges = train(text, 258)
    assert merges == {(a, a): 256, (256, a): 257}
    assert merge(list(text.encode()), (a, a), 256) == [256, a, b, d, 256, a, b, a, c]
    assert encode(text, merges) == [257, b, d, 257, b, a, c]
    pairs = get_pairs(list(text.encode()))
    assert dict(pairs) == {(a, a): 4, (a, b): 2, (b, d): 1, (d, a): 1, (b, a): 1, (a, c): 1}
    assert pairs.most_common(1) == [((a, a), 4)]
    # To the end, where one token is left.
    everything = train(text, 400)
    assert len(everything) == 7
    assert encode(text, everything) == [262]


def test_overlaps_are_counted_and_not_merged():
    assert get_pairs([1, 1, 1, 2]) == {(1, 1): 2, (1, 2): 1}
    assert get_pairs([7]) == get_pairs([]) == {}
    assert merge([1, 1, 1, 2], (1, 1), 9) == [9, 1, 2]


def test_training_stops_when_no_pair_is_left():
    assert train("ab", 300) == {(97, 98): 256}
    assert train("", 300) == train("a", 300) == train("abc", 256) == train("abc", 0) == {}
    assert len(train("abcd", 300)) == 3


def test_ties_go_to_the_pair_seen_first():
    assert list(train("yzab", 257)) == [(121, 122)]
    assert list(train("abyz", 257)) == [(97, 98)]
    assert list(train("bab", 257)) == [(98, 97)]


def test_bytes_per_character():
    assert [len(encode(char, {})) for char in "aéन🚀"] == [1, 2, 3, 4]
    assert encode("नम", {}) == [224, 164, 168, 224, 164, 174]


def test_the_earliest_merge_goes_first_whatever_the_order_of_the_dict():
    merges = {(97, 98): 257, (98, 99): 256}
    assert encode("abc", merges) == [97, 256]
    assert encode("abab", merges) == [257, 257]
    assert encode("", merges) == []


def test_a_changed_dict_is_a_new_tokenizer():
    merges = {(97, 98): 256}
    assert encode("abc", merges) == [256, 99]
    merges[256, 99] = 257
    assert encode("abc", merges) == [257]
    for first in range(30):  # more than are kept compiled
        assert encode("ab", {(first, 98): 256}) == [97, 98]
    assert encode("abc", merges) == [257]


def test_build_vocab():
    vocab = build_vocab({(116, 104): 256, (256, 101): 257, (32, 257): 258})
    assert list(vocab) == list(range(259))
    assert (vocab[0], vocab[255], vocab[257], vocab[258]) == (b"\x00", b"\xff", b"the", b" the")


def test_broken_bytes_are_replaced():
    vocab = build_vocab({})
    assert decode([224, 164], vocab) == "\ufffd"
    assert decode([65, 128], vocab) == "A\ufffd"


def test_english_shrinks_and_hindi_does_not(corpus):
    merges = train(corpus, 512)
    assert list(merges.values()) == list(range(256, 512))
    unseen = "Some say the best way to learn a thing is to make it, and that it is so for most of us."
    english, hindi = encoding_cost(unseen, merges), encoding_cost("नमस्ते दुनिया", merges)
    assert english["tokens"] < english["bytes"] * 2 / 3
    assert english["tokens_per_character"] < 2 / 3
    assert hindi["tokens_per_character"] > 2.5
    assert (hindi["characters"], hindi["bytes"], hindi["tokens"]) == (13, 37, 37)
    assert encoding_cost("", merges)["tokens_per_character"] == 0.0


def test_the_first_tokens_are_the_corpus_s_frequent_ones(corpus):
    learned = list(build_vocab(train_presplit(corpus, 512)).values())[256:]
    assert b" t" in learned[:20]
    assert b" the" in learned


def test_the_presplit():
    assert presplit("One dog. A dog!\n\nend") == ["One", " dog", ".", " A", " dog", "!", "\n\n", "end"]
    for sample in SAMPLES:
        assert "".join(presplit(sample)) == sample


def test_no_merge_crosses_a_piece():
    text = "a dog. a dog! " * 9
    inside = build_vocab(train_presplit(text, 300)).values()
    across = build_vocab(train(text, 300)).values()
    assert not any(b"g." in token or b"g!" in token for token in inside)
    assert any(b"g." in token for token in across)


def test_merges_come_back_from_json(tmp_path):
    merges = train("aaabdaaabac", 300)
    path = tmp_path / "merges.json"
    save_merges(merges, path)
    assert json.loads(path.read_text(encoding="utf-8"))[0] == [97, 97, 256]
    assert list(load_merges(str(path)).items()) == list(merges.items())


def test_faulty_input_is_named(tmp_path):
    with pytest.raises(TypeError, match="text must be str, not bytes"):
        train(b"ab", 300)
    with pytest.raises(TypeError, match="vocab_size must be an integer, not float"):
        train("ab", 300.0)
    with pytest.raises(TypeError, match="text must be str"):
        encode(None, {})
    with pytest.raises(bl.TextError, match="index 0"):
        encode("\udc80", {})
    with pytest.raises(bl.VocabularyError, match=r"\(97, 98\) becomes 300 where 256"):
        encode("ab", {(97, 98): 300})
    with pytest.raises(bl.VocabularyError, match=r"merges\[0\]: id 400"):
        encode("ab", {(97, 400): 256})
    with pytest.raises(bl.VocabularyError, match=r"id 400 does not exist yet"):
        build_vocab({(97, 400): 256})
    with pytest.raises(bl.UnknownTokenError, match="id 256 at position 1"):
        decode([97, 256], build_vocab({}))
    for merges, words in (
        (None, "merges must be a dict of pairs to ids, not NoneType"),
        ([((97, 98), 256)], "not list"),
        ({1: 2}, "1 must be a pair of ids"),
        ({(1, 2, 3): 256}, r"\(1, 2, 3\) must be a pair"),
        ({("a", "b"): 256}, r"each part of \('a', 'b'\) must be an integer, not str"),
        ({(97, 98): 256.5}, r"the id of \(97, 98\) must be an integer, not float"),
        ({(97, 98): None, (98, 97): 256}, r"the id of \(97, 98\) must be an integer, not NoneType"),
    ):
        for call in (
            lambda merges: encode("ab", merges),
            build_vocab,
            lambda merges: save_merges(merges, tmp_path / "none.json"),
        ):
            with pytest.raises(TypeError, match=words):
                call(merges)
    assert not list(tmp_path.iterdir())
    for merges in ({(97, 98): 256, (98, 97): 256}, {(97, 98): 97}):
        with pytest.raises(bl.VocabularyError, match="which is a token already"):
            build_vocab(merges)
    with pytest.raises(TypeError, match="not int"):
        save_merges({}, 5)
    path = tmp_path / "merges.json"
    for content in (
        "",
        "{}",
        "[[1, 2]]",
        "[[1, 2, 3.5]]",
        '[["a", "b", 256]]',
        "[[1, 2, 256], [1, 2, 257]]",
        "[" * 200_000,
    ):
        path.write_text(content, encoding="utf-8")
        with raises_cleanly(bl.FormatError):
            load_merges(path)


def test_every_name_is_described():
    for name in lesson2.__all__:
        assert getattr(lesson2, name).__doc__, name

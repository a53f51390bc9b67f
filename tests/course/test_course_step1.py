"""The first course: one class, byte-level, 1,024 tokens."""

import json
import re
import sys
import warnings
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

import byteloom as bl
from byteloom.course import step1
from byteloom.course.step1 import CACHE_WORDS, PATTERN, SPECIALS, Tokenizer, merge
from helpers import SAMPLES, raises_cleanly
from oracle import count_words, encode_merges, split, train
from strategies import corpora, few, merge_lists, texts

CATS = "the cat and the can and the cat"


def words(text):
    return count_words([text], lambda part: split(part, "course-words"))


@few
@given(documents=corpora(), room=st.integers(-300, 40), probe=texts)
def test_it_is_the_oracle(documents, room, probe):
    text = " ".join(documents)
    tok = Tokenizer.train(text, 261 + room)
    expected = train(words(text), max(room, 0))
    assert tok.merges == expected
    assert tok.rank == {pair: 256 + place for place, pair in enumerate(expected)}
    assert tok.vocab_size == 261 + len(expected) == len(tok.pieces) + 5
    for sample in (text, probe):
        ids = [i for word in words_of(tok, sample) for i in encode_merges(word.encode(), expected)]
        assert tok.encode(sample) == ids
        assert tok.decode(ids) == sample


def words_of(tok, text):
    return tok.to_tokenizer().pretokens(text)


def test_the_first_example():
    tok = Tokenizer.train(CATS, 270)
    assert tok.vocab_size == 270
    assert tok.encode("the cat") == [259, 263]
    assert [tok.decode([i]) for i in (259, 263)] == ["the", " cat"]
    assert tok.pieces[256:] == [b" c", b"an", b"he", b"the", b" an", b" the", b"at", b" cat", b" and"]
    assert tok.rank[116, 258] == 259
    assert tok.special == {"<pad>": 265, "<bos>": 266, "<eos>": 267, "<user>": 268, "<assistant>": 269}
    # Asking for more changes nothing: no pair is left that occurs twice.
    assert Tokenizer.train(CATS, 271).merges == tok.merges


def test_with_four_merges_a_word_falls_apart():
    tok = Tokenizer.train(CATS, 265)
    assert [tok.decode([i]) for i in tok.encode(" cat")] == [" c", "a", "t"]


def test_1024_tokens_are_exactly_1024():
    letters = "bcdfglmnprst"
    made = [a + "o" + b + "e" + c for a in letters for b in letters for c in letters[:6]]
    tok = Tokenizer.train(" ".join(word for word in made for _ in "ab"), 1024)
    assert (tok.vocab_size, len(tok.merges), len(tok.pieces)) == (1024, 763, 1019)
    assert max(tok.special.values()) == 1023


@pytest.mark.parametrize("size", [-5, 0, 255, 256, 261])
def test_without_room_there_are_no_merges(size):
    assert Tokenizer.train("aaaa aaaa", size).vocab_size == 261


def test_ties_go_to_the_smaller_ids():
    assert Tokenizer.train("qq pp qq pp", 262).merges == [(32, 112)]
    assert Tokenizer.train("xb\nxa\nxb\nxa", 262).merges == [(120, 97)]


def test_a_pair_must_occur_twice():
    assert Tokenizer.train("abcdef", 400).merges == []
    assert Tokenizer.train("", 400).merges == []
    assert Tokenizer.train("ab  ab", 400).merges == [(97, 98)]


def test_merges_stay_inside_words():
    tok = Tokenizer.train("a cat sat. a cat sat! a cat sat, " * 9, 400)
    for piece in tok.pieces[256:]:
        assert re.fullmatch(rb" ?\w+| ?[^\w\s]+|\s+", piece), piece


def test_the_pattern():
    assert PATTERN.findall("Ada said:") == ["Ada", " said", ":"]
    assert PATTERN.findall("x  y, z_1!?\n") == ["x", "  ", "y", ",", " z_1", "!?", "\n"]
    for sample in SAMPLES:
        assert "".join(PATTERN.findall(sample)) == sample


def test_the_special_tokens_in_order():
    assert SPECIALS == ["<pad>", "<bos>", "<eos>", "<user>", "<assistant>"]
    assert list(Tokenizer().special.values()) == [256, 257, 258, 259, 260]


def test_merge_goes_left_to_right_without_overlap():
    assert merge([1, 1, 1], (1, 1), 9) == [9, 1]
    assert merge([1, 2, 1, 2, 2], (1, 2), 9) == [9, 9, 2]
    assert merge([], (1, 2), 9) == []
    assert merge((7,), (7, 7), 9) == [7]
    given_list = [1, 2]
    assert merge(given_list, [1, 2], 9) == [9]
    assert given_list == [1, 2]


def test_the_lowest_rank_goes_first():
    tok = Tokenizer([(98, 99), (97, 98)])
    assert tok.encode("abc") == [97, 256]
    assert tok.encode("abcab") == [97, 256, 257]


def test_merges_may_be_lists():
    assert Tokenizer([[116, 104], [256, 101]]).merges == [(116, 104), (256, 101)]


def test_a_word_is_not_cut():
    tok = Tokenizer([(98, 32), (256, 99)])
    assert tok.encode("ab c") == [97, 98, 32, 99]
    assert tok.encode_word("ab c") == [97, 257]


def test_the_cache_fills_word_by_word():
    tok = Tokenizer.train(CATS, 270)
    assert tok.cache == {}
    first = tok.encode("the cat the cat")
    assert tok.cache == {"the": [259], " cat": [263], " the": [261]}
    assert tok.encode("the cat the cat") == first == [259, 263, 261, 263]


def test_a_changed_result_does_not_spoil_the_cache():
    tok = Tokenizer.train(CATS, 270)
    for _ in range(3):
        ids = tok.encode_word("the")
        assert ids == [259]
        ids.append(0)
    assert tok.encode("the") == [259]


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(step1, "CACHE_WORDS", 3)
    tok = Tokenizer()
    assert len(tok.encode("a b c d e f")) == 11
    assert list(tok.cache) == ["a", " b", " c"]
    tok.encode_word("new")
    assert list(tok.cache) == [" b", " c", "new"]
    assert CACHE_WORDS >= 1000


@given(text=texts)
def test_every_text_comes_back(text):
    tok = Tokenizer.train(CATS, 270)
    assert tok.decode(tok.encode(text)) == text


def test_decoding_leaves_special_tokens_out():
    tok = Tokenizer.train(CATS, 270)
    assert tok.decode([266, 259, 263, 267, 265, 10_000]) == "the cat"
    assert tok.decode(iter([259])) == "the"
    assert tok.decode([]) == ""


def test_ids_beyond_the_vocabulary_keep_the_places_of_others():
    tok = Tokenizer.train(CATS, 270)
    assert tok.decode([259, 10**6, 2**70, 263]) == "the cat"
    with pytest.raises(bl.UnknownTokenError, match="id -1 at position 1"):
        tok.decode([10**6, -1])
    with pytest.raises(TypeError, match="position 1"):
        tok.decode([10**6, "a"])


def test_the_cache_is_shared_by_threads(monkeypatch):
    """A word that another thread drops between two looks was a KeyError."""
    monkeypatch.setattr(step1, "CACHE_WORDS", 3)
    tok, faults = Tokenizer.train(CATS, 270), []

    def work(step):
        try:
            for place in range(3_000):
                word = f"w{place * step % 11}"
                if tok.encode_word(word) != list(word.encode()):
                    faults.append(word)
        except Exception as error:  # noqa: BLE001 - whatever a thread raises
            faults.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [Thread(target=work, args=(step,)) for step in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not faults
    tok.encode_word("last")
    assert len(tok.cache) <= 3


def test_training_is_silent_and_leaves_the_filters_of_warnings_alone(monkeypatch, recwarn):
    """All threads have the same filters, so that two `catch_warnings` at a time undo each other."""

    def refuse(*_, **__):
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(warnings, "catch_warnings", refuse)
        tok = Tokenizer.train("ab", 300)
    assert tok.merges == []
    assert not recwarn.list


def test_broken_bytes_are_replaced():
    tok = Tokenizer()
    assert tok.decode([0xE2, 0x98]) == "\ufffd"
    assert tok.decode([65, 255, 66]) == "A\ufffdB"


def test_the_name_of_a_special_token_is_text():
    assert Tokenizer().encode("<bos>") == list(b"<bos>")


def test_only_the_rules_are_saved(tmp_path):
    tok = Tokenizer.train(CATS, 265)
    path = tmp_path / "tok.json"
    tok.save(path)
    rules = {"merges": [[32, 99], [97, 110], [104, 101], [116, 258]]}
    assert json.loads(path.read_text(encoding="utf-8")) == rules
    again = Tokenizer.load(str(path))
    assert (again.merges, again.special) == (tok.merges, tok.special)
    assert bl.Tokenizer.load(path) == tok.to_tokenizer()
    tok.to_tokenizer().save(path)
    with pytest.raises(bl.FormatError, match="holds more than merges: 'format'"):
        Tokenizer.load(path)


@few
@given(merges=merge_lists(), text=texts)
def test_to_tokenizer_has_the_same_ids(merges, text):
    try:
        tok = Tokenizer(merges)
    except bl.VocabularyError as error:
        assert re.match(r"merges\[\d+\]: makes .* already$", str(error))
        return
    other = tok.to_tokenizer()
    ids = tok.encode(text)
    assert other.encode(text, disallowed_special=()) == ids
    assert other.decode(ids) == tok.decode(ids) == text
    assert (other.vocab_size, other.special_tokens) == (tok.vocab_size, tok.special)


def test_faulty_input_is_named(tmp_path):
    with pytest.raises(bl.VocabularyError, match=r"merges\[1\]: id 300 does not exist yet"):
        Tokenizer([(97, 98), (300, 97)])
    with pytest.raises(bl.VocabularyError, match=r"merges\[1\]: .*-1"):
        Tokenizer([(97, 98), (-1, 97)])
    with pytest.raises(TypeError, match=r"merges\[0\]"):
        Tokenizer([(97,)])
    with pytest.raises(TypeError, match=r"merges\[0\].*str"):
        Tokenizer([("a", "b")])
    for text in (None, b"ab", 3, ["a"]):
        for method in (Tokenizer().encode, Tokenizer().encode_word, lambda text: Tokenizer.train(text, 300)):
            with pytest.raises(TypeError, match="text must be str"):
                method(text)
    with pytest.raises(TypeError, match="vocab_size must be an integer, not str"):
        Tokenizer.train("ab", "300")
    with pytest.raises(bl.TrainingError, match=r"from 261 .* 5 special tokens.* not 5000000"):
        Tokenizer.train("ab", 5_000_000)
    for method in (Tokenizer().encode, Tokenizer().encode_word, lambda text: Tokenizer.train(text, 300)):
        with pytest.raises(bl.TextError, match=r"^text holds a lone .* index 1; put U\+FFFD in its place$"):
            method("a\ud800")
    for path in (None, 5):
        with pytest.raises(TypeError, match=r"os\.PathLike"):
            Tokenizer().save(path)
        with pytest.raises(TypeError, match=r"os\.PathLike"):
            Tokenizer.load(path)
    with pytest.raises(bl.UnknownTokenError, match="-1"):
        Tokenizer().decode([97, -1])
    with raises_cleanly(TypeError):
        Tokenizer().decode(["a"])
    path = tmp_path / "tok.json"
    for content, words in (
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 200_000, "not JSON"),
        ("[]", "must be {"),
        ('{"merges": 3}', "must be {"),
        ('{"merges": [[97]]}', r"merges\[0\] must be a pair"),
        ('{"merges": [[97, 999]]}', r"merges\[0\]: id 999"),
        ('{"merges": [[97, 98], [97, 98]]}', r"merges\[1\]"),
        ('{"merges": [], "x": 1}', "holds more than merges: 'x'"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(bl.FormatError, match=f"tok.json: {words}"):
            Tokenizer.load(path)
    bl.Tokenizer.from_merges([(97, 98)], pattern="gpt2").save(path)
    with pytest.raises(bl.FormatError, match="holds more"):
        Tokenizer.load(path)
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "nowhere.json")

"""Faults of tokenizers over characters, and of the courses' own code."""

import pytest

from byteloom.course import lesson2, step1
from byteloom.course.module03 import BPETokenizer
from helpers import run_python, train_quietly

OPTIONS = {"alphabet": "characters", "unk": "<UNK>", "special_tokens": ["<UNK>"], "pattern": "none"}


@pytest.mark.parametrize("text", ["acb", "c", "cc", "abcab", "\x00", "日本", "a" * 100 + "c" + "b" * 100])
def test_unknown_characters_are_not_dropped(text):
    tok = train_quietly("ab ab", 100, **OPTIONS)
    unknown = tok.special_tokens["<UNK>"]
    assert tok.encode(text).count(unknown) == sum(c not in "ab " for c in text)


def test_training_does_not_depend_on_the_hash_seed():
    code = """
        from byteloom.course.module03 import BPETokenizer
        tok = BPETokenizer(200)
        tok.train("the cat and the can é日 日é " * 3 + "abcdefghijklmnopqrstuvwxyz", show_progress=False)
        print(list(tok.vocab.items()), list(tok.merges))
    """
    results = {run_python(code, PYTHONHASHSEED=seed) for seed in ("0", "1", "2")}
    assert len(results) == 1


def test_a_string_has_one_id():
    tok = BPETokenizer(100)
    tok.train("<EOS> <EOS> <EOS> <PAD>x <PAD>x", show_progress=False)
    ids = range(len(tok.vocab))
    assert [tok.vocab[tok.id_to_token(i)] for i in ids] == list(ids)
    assert "<PAD>x" in tok.vocab


def test_results_are_not_the_cached_lists():
    tok = step1.Tokenizer.train("the cat the cat", 270)
    tok.encode_word("the").clear()
    tok.encode("the").clear()
    tok.merges.clear()
    assert tok.encode_word("the") == tok.encode("the") != []


def test_merges_of_one_dict_are_not_used_for_another():
    one, other = {(97, 98): 256}, {(97, 99): 256}
    assert lesson2.encode("ab", one) == lesson2.encode("ac", other) == [256]
    assert lesson2.encode("ab", other) == [97, 98]

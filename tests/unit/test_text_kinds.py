"""A `str` of any kind has the ids of its UTF-8, alone and in a batch; lone surrogates are told."""

from __future__ import annotations

import contextlib
import gc
import signal
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import byteloom as bl
from byteloom.errors import SpecialTokenError, TextError
from helpers import train_quietly

KINDS = {
    "ascii": "plain words, and some more of them",
    "latin1": "garçon, naïve, Übermaß ÿ",
    "two bytes": "Привет, κόσμε; 漢字かな交じり文 and “quotes”",
    "four bytes": "👨‍👩‍👧 family, 𝒜 letter, 𠀀 character",
    "empty": "",
}
LONGER = {name: text * 700 for name, text in KINDS.items()}


@pytest.fixture(scope="module")
def tok() -> bl.Tokenizer:
    return train_quietly(list(KINDS.values()), 400, special_tokens=["<|end|>"])


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("texts", [KINDS, LONGER], ids=["short", "long"])
def test_each_kind_of_string_has_the_ids_of_its_utf8(
    tok: bl.Tokenizer, texts: dict[str, str], name: str
) -> None:
    text = texts[name]
    ids = tok.encode(text.encode())
    assert tok.encode(text) == ids
    assert tok.encode_ordinary(text) == ids
    assert tok.encode_array(text).tolist() == ids
    assert tok.count(text) == len(ids)
    assert tok.decode(ids) == text
    assert tok.encode_with_offsets(text)[0] == ids
    assert "".join(tok.pretokens(text)) == text


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_batch_of_all_kinds(tok: bl.Tokenizer, threads: int) -> None:
    texts = [*KINDS.values(), *LONGER.values(), b"bytes \xff", *KINDS.values()]
    expected = [tok.encode(text.encode() if isinstance(text, str) else text) for text in texts]
    assert tok.encode_batch(texts, threads=threads) == expected
    assert tok.count_batch(iter(texts), threads=threads) == [len(ids) for ids in expected]
    rows = tok.encode_batch_array((text for text in texts), threads=threads)
    assert rows.ids.tolist() == [i for ids in expected for i in ids]


@given(st.lists(st.text(), max_size=5))
def test_any_strings(texts: list[str]) -> None:
    tok = train_quietly("any strings at all", 262)
    assert tok.encode_batch(texts) == [tok.encode(text.encode()) for text in texts]
    assert [tok.decode(tok.encode(text)) for text in texts] == texts


@pytest.mark.parametrize("filler", ["a", "é", "я", "漢", "🚀"])
@pytest.mark.parametrize("before", [0, 3, 40, 9_000])
def test_a_lone_surrogate_is_told_with_its_place(tok: bl.Tokenizer, filler: str, before: int) -> None:
    text = filler * before + "\ud83d" + filler
    for call in (tok.encode, tok.encode_ordinary, tok.encode_array, tok.count):
        with pytest.raises(TextError, match=rf"^text holds a lone surrogate, U\+D83D, at index {before};"):
            call(text)
    for batch in (tok.encode_batch, tok.encode_batch_array, tok.count_batch):
        with pytest.raises(
            TextError, match=rf"^texts\[2\] holds a lone surrogate, U\+D83D, at index {before};"
        ):
            batch(iter(["fine", b"\xff", text, "\ud800"]), threads=2)


def test_lone_surrogates_are_replaced_on_request(tok: bl.Tokenizer) -> None:
    texts = ["漢\ud83d字", "pair \ud83d\ude00", "fine", b"bytes"]
    repaired = [tok.encode(text) for text in ("漢\ufffd字", "pair 😀", "fine", "bytes")]
    assert tok.encode_batch(texts, errors="replace") == repaired
    assert tok.encode_batch(iter(texts), errors="replace", threads=2) == repaired
    assert tok.count_batch(texts, errors="replace") == [len(ids) for ids in repaired]
    assert tok.encode(texts[0], errors="replace") == repaired[0]


def test_a_lone_surrogate_is_told_before_what_is_wrong_with_texts_before_it(tok: bl.Tokenizer) -> None:
    with pytest.raises(TextError, match=r"texts\[1\]"):
        tok.encode_batch(["<|end|>", "\ud800"])
    with pytest.raises(SpecialTokenError, match="text 0"):
        tok.encode_batch(["<|end|>", "漢"])


def test_no_copy_stays_with_a_string(tok: bl.Tokenizer) -> None:
    text = "漢字 and words " * 10_000
    before = sys.getsizeof(text)
    tok.encode_batch([text])
    tok.encode(text)
    tok.count(text)
    gc.collect()
    assert sys.getsizeof(text) == before, "Python counts the UTF-8 that it keeps"


def test_short_strings_keep_no_copy_either(tok: bl.Tokenizer) -> None:
    for text in ("中" * 100, "é" * 240, "é" * 100):
        before = sys.getsizeof(text)
        tok.encode(text)
        tok.encode_ordinary(text)
        tok.encode_array(text)
        tok.count(text)
        assert sys.getsizeof(text) == before


def test_a_subclass_of_str_is_its_characters(tok: bl.Tokenizer) -> None:
    class Odd(str):
        __slots__ = ()

        def __len__(self) -> int:
            raise RuntimeError("nobody asks")

    for text in ("plain", "漢字", "é" * 300):
        assert tok.encode(Odd(text)) == tok.encode(text)
        assert tok.encode_batch([Odd(text)]) == [tok.encode(text)]


def encode_for_ever(tok: bl.Tokenizer, texts: list[str], errors: str) -> None:
    while True:
        with contextlib.suppress(TextError):
            tok.encode_batch(texts, errors=errors)


def test_an_interrupt_is_no_fault_of_the_texts(tok: bl.Tokenizer) -> None:
    texts = ["漢字 and words " * 40_000] * 12 + ["\ud800"]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for errors in ("strict", "replace"):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt):
                encode_for_ever(tok.with_cache_bytes(0), texts, errors)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_options_are_judged_behind_the_types_of_texts(tok: bl.Tokenizer) -> None:
    with pytest.raises(TypeError, match=r"texts\[0\]"):
        tok.encode_batch([3], add_special_tokens=True)  # type: ignore[list-item]

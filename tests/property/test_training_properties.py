"""Training equals the oracle that counts everything anew each round, for every tie-break."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import train_quietly
from oracle import COURSE_PATTERNS, count_words, split, train
from strategies import corpora, few

TIE_BREAKS = ["smallest_pair", "huggingface", "first_seen"]
SPECIALS = {"<s>", "<s>a", "b "}

options = st.fixed_dictionaries(
    {
        "min_frequency": st.sampled_from([1, 2, 2, 3]),
        "max_token_length": st.sampled_from([None, None, None, 2, 3, 5]),
    }
)


def expected_merges(documents, pattern, merges, specials=(), **chosen):
    words = count_words(documents, lambda part: split(part, pattern), specials)
    return train(words, merges, **chosen)


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@pytest.mark.parametrize("pattern", ["none", "course-words", "simple"])
@few
@given(documents=corpora(), chosen=options, merges=st.sampled_from([5, 40]))
def test_merges_are_those_of_the_oracle(tie_break, pattern, documents, chosen, merges):
    tok = train_quietly(documents, 256 + merges, pattern=pattern, tie_break=tie_break, **chosen)
    assert tok.merges == expected_merges(documents, pattern, merges, tie_break=tie_break, **chosen)


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@few
@given(documents=corpora(SPECIALS), chosen=options)
def test_special_tokens_are_never_learned(tie_break, documents, chosen):
    specials = sorted(SPECIALS)
    tok = train_quietly(
        documents, 300, pattern="course-ws", tie_break=tie_break, special_tokens=specials, **chosen
    )
    expected = expected_merges(
        documents, "course-ws", 300 - 256 - len(specials), specials, tie_break=tie_break, **chosen
    )
    assert tok.merges == expected
    assert tok.special_tokens == {name: 256 + len(expected) + index for index, name in enumerate(specials)}


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@few
@given(documents=corpora(), threads=st.sampled_from([1, 2, 3, 8]))
def test_threads_do_not_matter(tie_break, documents, threads):
    one = train_quietly(documents, 300, tie_break=tie_break, threads=1)
    other = train_quietly(iter(documents * 1), 300, tie_break=tie_break, threads=threads)
    assert one == other
    assert one.merges == other.merges


@given(
    words=st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=30),
    cuts=st.lists(st.integers(0, 30)),
)
def test_where_documents_end_between_words_does_not_matter(words, cuts):
    # With this pattern a newline is a pre-token of its own, so documents may end before any of them.
    whole = "\n".join(words)
    edges = sorted({0, len(words), *(cut for cut in cuts if cut < len(words))})
    documents = [("\n" if start else "") + "\n".join(words[start:end]) for start, end in pairwise(edges)]
    assert "".join(documents) == whole
    for tie_break in TIE_BREAKS:
        one, other = (
            train_quietly(data, 300, pattern="simple", tie_break=tie_break, min_frequency=1)
            for data in (whole, documents)
        )
        assert one.merges == other.merges


@pytest.mark.parametrize("pattern", COURSE_PATTERNS)
@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@few
@given(texts=st.lists(st.text(st.characters(max_codepoint=0x24F)), max_size=5))
def test_any_text_trains_as_the_oracle_does(pattern, tie_break, texts):
    tok = train_quietly(texts, 290, pattern=pattern, tie_break=tie_break)
    assert tok.merges == expected_merges(texts, pattern, 34, tie_break=tie_break)


@given(documents=corpora())
def test_bytes_and_text_train_alike(documents):
    assert train_quietly([d.encode() for d in documents], 300) == train_quietly(documents, 300)


@given(documents=corpora(SPECIALS))
def test_a_trained_tokenizer_never_learns_across_a_special_token(documents):
    tok = train_quietly(documents, 400, pattern="none", special_tokens=sorted(SPECIALS), min_frequency=1)
    for token in range(256, 256 + len(tok.merges)):
        learned = tok.id_to_bytes(token).decode(errors="replace")
        assert not re.search("<s>|b ", learned)

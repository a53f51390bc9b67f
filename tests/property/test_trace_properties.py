"""Training traces against the oracle: bytes, characters, and special tokens as ordinary text."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byteloom.explain import replay
from helpers import train_quietly
from oracle import count_words, number_characters, rounds, split
from strategies import corpora, few

NAMES = ["<PAD>", "ab", "b a", "é日", "日本語"]
PLACES = [*"<PAD> abcé日本語", "<PAD>", "<PAD>x", "ab", "b a", "日本語"]

documents = st.one_of(
    corpora(), st.lists(st.lists(st.sampled_from(PLACES), max_size=14).map("".join), max_size=4)
)
frequencies = st.sampled_from([1, 2, 3])
longest = st.sampled_from([None, None, 2, 3])


def check(texts, merges, *, tie_break, alphabet="bytes", ordinary=False, position="last", **limits):
    """Every step of the trace is a round of the oracle: what won, what tied, what came next."""
    characters = alphabet == "characters"
    names = [*NAMES, "<UNK>"] if characters else NAMES
    options = {
        "pattern": "none", "special_tokens": names, "special_position": position, "tie_break": tie_break,
        "special_text": "ordinary" if ordinary else "boundary", **limits,
    }  # fmt: skip
    if characters:
        options |= {"alphabet": alphabet, "unk": "<UNK>"}
    words = count_words(texts, lambda part: split(part, "none"), () if ordinary else names)
    base = None
    taken = [name.encode() for name in names] if ordinary else []
    if characters:
        base, words = number_characters(words)
        taken = names if ordinary else []
    size = (256 if base is None else len(base)) + len(names) + merges
    tok = train_quietly(texts, size, trace=True, **options)
    plain = train_quietly(texts, size, **options)
    assert tok == plain
    trace = tok.training_trace()
    assert replay(trace) == tok.merges == plain.merges

    def encoded(token):
        return token.encode() if characters else token

    expected = islice(rounds(words, tie_break, base=base, taken=taken, **limits), merges)
    steps = iter(trace.steps)
    for tokens, ranked in expected:
        step = next(steps)
        found = [(step.left_bytes, step.right_bytes, step.count)]
        found += [(other.left_bytes, other.right_bytes, other.count) for other in step.runners_up]
        assert found == [(encoded(tokens[a]), encoded(tokens[b]), count) for (a, b), count in ranked[:4]]
        assert step.tied == sum(count == ranked[0][1] for _, count in ranked)
        assert step.decided_by == ("count" if step.tied == 1 else tie_break)
        made = {step.left_bytes + step.right_bytes, *(a + b for a, b, _ in found)}
        assert not (ordinary and made & {name.encode() for name in names})
        assert tok.id_to_bytes(step.result) == step.left_bytes + step.right_bytes
    assert next(steps, None) is None
    return trace


@pytest.mark.parametrize("tie_break", ["smallest_pair", "huggingface", "first_seen"])
@few
@given(documents, frequencies, longest, st.sampled_from(["first", "last"]))
def test_special_tokens_as_ordinary_text(tie_break, texts, min_frequency, max_token_length, position):
    limits = {"min_frequency": min_frequency, "max_token_length": max_token_length}
    check(texts, 24, tie_break=tie_break, ordinary=True, position=position, **limits)


@pytest.mark.parametrize("tie_break", ["smallest_pair", "huggingface", "first_seen"])
@few
@given(documents, frequencies, longest)
def test_bytes(tie_break, texts, min_frequency, max_token_length):
    limits = {"min_frequency": min_frequency, "max_token_length": max_token_length}
    check(texts, 24, tie_break=tie_break, **limits)


@pytest.mark.parametrize("ordinary", [False, True])
@pytest.mark.parametrize("tie_break", ["smallest_pair", "first_seen"])
@few
@given(documents, frequencies, longest, st.sampled_from(["first", "last"]))
def test_characters(tie_break, ordinary, texts, min_frequency, max_token_length, position):
    limits = {"min_frequency": min_frequency, "max_token_length": max_token_length}
    check(
        texts, 24, tie_break=tie_break, alphabet="characters", ordinary=ordinary, position=position, **limits
    )


def test_a_forbidden_pair_is_no_runner_up():
    """`ab` is the most frequent pair by far, and never wins, ties or comes second."""
    for options in ({}, {"alphabet": "characters"}):
        trace = check(
            ["abab abab ab cd cd ab xy"], 6, tie_break="first_seen", ordinary=True, min_frequency=1, **options
        )
        assert [step.left_bytes + step.right_bytes for step in trace.steps][:2] == [b"b ", b"ab "]
        joined = [(other.left_bytes, other.right_bytes) for step in trace.steps for other in step.runners_up]
        assert joined
        assert (b"a", b"b") not in joined

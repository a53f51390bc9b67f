"""Explanations of patches against the engine's own answers and the plain rules."""

import json
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import patching_reference as reference
from byteloom.explain import ExplainedPatch
from byteloom.patching import ByteEntropyModel, Patcher, _explain
from helpers import train_quietly
from property.test_patching_properties import (
    both,
    corpora,
    limits,
    near,
    orders,
    resets,
    small,
    smoothings,
    thresholds,
)
from strategies import few

blocks = st.sampled_from([1, 2, 5, 1 << 16])


def check(patcher, text, block, model=None):
    """The explanation agrees with everything else that the patcher says; the stream agrees with it."""
    with mock.patch.multiple(_explain, _BLOCK=block, _PLACES=block):
        explanation = patcher.explain(text, model=model)
        with mock.patch.object(ExplainedPatch, "MAX_BYTES", 3):
            segments = list(patcher.explain_stream(text, model=model))
    assert explanation.bytes == text
    assert [patch.bytes for patch in explanation.patches] == patcher.patches(text)
    assert [patch.index for patch in explanation.patches] == list(range(len(explanation.patches)))
    assert [patch.byte_span.start for patch in explanation.patches] == patcher.boundaries(text).tolist()
    for patch in [*explanation.patches, *segments]:
        begin, end = patch.byte_span
        assert text[begin:end] == patch.bytes
        assert [one.index for one in patch.explained] in ([], list(range(begin, end)))
        assert bytes(one.byte for one in patch.explained) in (b"", patch.bytes)
        assert all(text[: one.index].endswith(one.context) for one in patch.explained)
    assert all(len(patch.bytes) <= 3 for patch in segments)
    for patch in explanation.patches:
        parts = [part for part in segments if part.index == patch.index]
        assert [part.segment for part in parts] == list(range(parts[0].segments))
        assert b"".join(part.bytes for part in parts) == patch.bytes
        assert sum((part.explained for part in parts), ()) == patch.explained
        assert {part.start for part in parts} == {patch.start}
    assert len({part.index for part in segments}) == len(explanation.patches)
    assert json.loads(explanation.to_json()) == explanation.to_dict()
    return explanation


@given(corpora, small, orders, smoothings, resets, limits, thresholds(), blocks)
def test_entropy_rules(corpus, text, order, smoothing, reset, longest, options, block):
    model, plain = both(corpus, order, smoothing)
    patcher = model.patcher(**options, units="bits", max_patch_length=longest, reset_on=reset)
    explanation = check(patcher, text, block)
    bits = patcher.entropies(text).tolist()
    assert explanation.entropies == bits
    scored = [one for patch in explanation.patches for one in patch.explained]
    assert [(one.context, one.seen) for one in scored] == plain.contexts(text, reset or b"")
    lengths, seen = model.contexts(text, reset_on=reset)
    assert (lengths.dtype, seen.dtype) == (np.uint8, np.uint64)
    assert [(len(one.context), one.seen) for one in scored] == list(
        zip(lengths.tolist(), seen.tolist(), strict=True)
    )

    theta, rise = options.get("theta"), options.get("rise")
    assert (explanation.theta, explanation.rise) == (theta, rise)
    for patch in explanation.patches:
        start, at = patch.start, patch.byte_span.start
        assert start.entropy == bits[at]
        if start.rule in ("first", "reset"):
            assert (start.threshold, start.increase, start.increase_threshold) == (None, None, None)
            continue
        assert (start.threshold, start.increase_threshold) == (theta, rise)
        assert start.increase == (None if rise is None else bits[at] - bits[at - 1])
        above = theta is None or start.entropy > theta
        rose = rise is None or start.increase > rise
        assert start.rule == (patcher.rule if above and rose else "max_length")

    expected = plain.entropies(text, reset or b"")
    if any(near(score, theta) for score in expected) or any(near(s, rise) for s in np.diff(expected)):
        return
    starts = reference.by_entropy(text, expected, **options, reset_on=reset or b"")
    limited = reference.cut(starts, len(text), longest or 10**9)
    why = reference.reasons(text, starts, limited, patcher.rule, reset or b"")
    assert [patch.start.rule for patch in explanation.patches] == why


@given(corpora, small, st.integers(0, 7), st.booleans(), blocks)
def test_what_equals_the_threshold_is_full_and_not_above(corpus, text, pick, rising, block):
    """Where the limit cuts at a byte that just misses the threshold, the limit is the reason."""
    model = ByteEntropyModel(3).train(corpus)
    bits = model.entropies(text)
    scores = np.diff(bits, prepend=bits[:1]) if rising else bits
    threshold = float(scores[pick % len(scores)]) if len(scores) else 1.0
    patcher = model.patcher(**{"rise" if rising else "theta": threshold}, units="bits", max_patch_length=1)
    explanation = check(patcher, text, block)
    rules = [patch.start.rule for patch in explanation.patches]
    expected = [patcher.rule if score > threshold else "max_length" for score in scores.tolist()]
    assert rules == (["first", *expected[1:]] if text else [])


@given(corpora, small, limits, blocks, st.booleans())
def test_rules_without_a_model(corpus, text, longest, block, scored):
    model = ByteEntropyModel(3).train(corpus) if scored else None
    starts = reference.by_space(text)
    cases = [
        (Patcher.space(max_patch_length=longest), starts, longest),
        (Patcher.static(longest or 11), reference.by_size(text, longest or 11), None),
        (Patcher.byte(), reference.by_size(text, 1), None),
    ]
    for patcher, starts, limit in cases:
        explanation = check(patcher, text, block, model)
        limited = reference.cut(starts, len(text), limit or 10**9)
        found = [(patch.byte_span.start, patch.start.rule) for patch in explanation.patches]
        why = reference.reasons(text, starts, limited, patcher.rule)
        assert found == list(zip(limited, why, strict=True))
        assert explanation.entropies == (model.entropies(text).tolist() if scored else [])
        assert all(patch.start.entropy is None for patch in explanation.patches)


TOKENIZER = train_quietly(["ab ab ba \n\n aa  b", "éé A.A."] * 3, 275, pattern="gpt2")


@few
@given(small, limits, blocks)
def test_tokens(text, longest, block):
    patcher = Patcher.bpe(TOKENIZER, max_patch_length=longest)
    explanation = check(patcher, text, block)
    sizes = [len(TOKENIZER.id_to_bytes(token)) for token in TOKENIZER.encode_ordinary(text)]
    starts = np.cumsum([0, *sizes])[:-1].tolist()
    limited = reference.cut(starts, len(text), longest or 10**9)
    found = [(patch.byte_span.start, patch.start.rule) for patch in explanation.patches]
    assert found == list(zip(limited, reference.reasons(text, starts, limited, "bpe"), strict=True))

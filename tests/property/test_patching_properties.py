"""Patching against the plain rules, on texts and models that Hypothesis makes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import patching_reference as reference
from byteloom.patching import ByteEntropyModel, Patcher
from strategies import byte_texts, few

small = st.one_of(
    st.lists(st.sampled_from(list(b"ab \n")), max_size=60).map(bytes),
    st.lists(st.sampled_from(list(b"\x00\xff\xc3\xa9A.")), max_size=40).map(bytes),
    byte_texts,
)
corpora = st.lists(small, max_size=4)
smoothings = st.sampled_from(["backoff", "witten-bell"])
orders = st.integers(1, 8)
limits = st.one_of(st.none(), st.integers(1, 9))
resets = st.sampled_from([None, b"\n", b" a"])


@st.composite
def thresholds(draw):
    """Thresholds away from entropies that occur in more than one way of adding up."""
    theta = st.floats(0, 8, allow_nan=False).map(lambda value: value + 1e-7)
    rise = st.floats(-3, 3, allow_nan=False).map(lambda value: value + 1e-7)
    return draw(
        st.one_of(
            st.fixed_dictionaries({"theta": theta}),
            st.fixed_dictionaries({"rise": rise}),
            st.fixed_dictionaries({"theta": theta, "rise": rise}),
        )
    )


def both(corpus, order, smoothing):
    model = ByteEntropyModel(order, smoothing=smoothing).train(corpus)
    return model, reference.Model(order, smoothing=smoothing).train(*corpus)


def near(score, threshold):
    return threshold is not None and abs(score - threshold) < 1e-9


@given(corpora, small, small, orders, smoothings, resets)
def test_predictions_are_those_of_the_rule(corpus, text, history, order, smoothing, reset):
    model, plain = both(corpus, order, smoothing)
    found = model.entropies(text, reset_on=reset)
    np.testing.assert_allclose(found, plain.entropies(text, reset or b""), rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.distribution(history), plain.distribution(history), rtol=0, atol=1e-12)
    assert model.bits_per_byte(text) == pytest.approx(plain.bits_per_byte(text), abs=1e-10)


@given(corpora, small, orders, smoothings, resets, limits, thresholds())
def test_boundaries_are_those_of_the_rule(corpus, text, order, smoothing, reset, longest, options):
    model, plain = both(corpus, order, smoothing)
    bits = plain.entropies(text, reset or b"")
    rises = np.diff(bits) if bits else []
    if any(near(score, options.get("theta")) for score in bits):
        return
    if any(near(score, options.get("rise")) for score in rises):
        return
    starts = reference.by_entropy(text, bits, **options, reset_on=reset or b"")
    expected = reference.cut(starts, len(text), longest or 10**9)
    patcher = model.patcher(**options, units="bits", max_patch_length=longest, reset_on=reset)
    assert patcher.boundaries(text).tolist() == expected


@given(corpora, small, orders, smoothings, st.integers(0, 7), st.booleans())
def test_an_entropy_that_is_the_threshold_starts_nothing(corpus, text, order, smoothing, pick, rising):
    """Boundaries are what comparing the entropies gives, to the last bit."""
    model = ByteEntropyModel(order, smoothing=smoothing).train(corpus)
    bits = model.entropies(text)
    scores = np.diff(bits, prepend=bits[:1]) if rising else bits
    threshold = float(scores[pick % len(scores)]) if len(scores) else 1.0
    patcher = model.patcher(**{"rise" if rising else "theta": threshold}, units="bits")
    starts = scores > threshold
    starts[:1] = True
    assert patcher.boundaries(text).tolist() == np.flatnonzero(starts).tolist()


@given(small, limits)
def test_spaces_and_sizes_are_those_of_the_rule(text, longest):
    patcher = Patcher.space(max_patch_length=longest)
    expected = reference.cut(reference.by_space(text), len(text), longest or 10**9)
    assert patcher.boundaries(text).tolist() == expected
    size = longest or 11
    assert Patcher.static(size).boundaries(text).tolist() == reference.by_size(text, size)


@st.composite
def patchers(draw):
    longest = draw(limits)
    if draw(st.booleans()):
        return draw(
            st.sampled_from([Patcher.space(max_patch_length=longest), Patcher.static(3), Patcher.byte()])
        )
    model = ByteEntropyModel(draw(orders), smoothing=draw(smoothings)).train(draw(corpora))
    return model.patcher(**draw(thresholds()), units="nats", max_patch_length=longest, reset_on=draw(resets))


@given(patchers(), small)
def test_patches_joined_are_the_text(patcher, text):
    patches = patcher.patches(text)
    assert b"".join(patches) == text
    assert all(patches)
    assert int(patcher.lengths(text).sum()) == len(text)
    assert patcher.boundaries(text)[:1].tolist() == [0][: len(text)]
    assert max(map(len, patches), default=0) <= (patcher.max_patch_length or len(text))


@given(patchers(), small, st.data())
def test_any_pieces_give_the_same_patches(patcher, text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    stream = patcher.stream()
    found = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        found += stream.feed(text[start:end])
        after = set(patcher.boundaries(text + b"?").tolist())
        assert stream.next_starts == (end in after)
    last = stream.finish()
    assert found + [last] * (last is not None) == patcher.patches(text)
    assert last != b""


@given(patchers(), small, small)
def test_what_follows_changes_only_the_last_patch(patcher, text, more):
    boundaries = patcher.boundaries(text).tolist()
    longer = patcher.boundaries(text + more).tolist()
    assert longer[: len(boundaries)] == boundaries


@few
@given(patchers(), st.lists(small, max_size=12), st.integers(1, 6))
def test_a_batch_is_each_text_alone(patcher, texts, threads):
    assert patcher.batch(texts, threads=threads).tolist() == [
        patcher.lengths(text).tolist() for text in texts
    ]


@given(corpora, corpora, orders, smoothings)
def test_merging_is_training_on_both(first, second, order, smoothing):
    def trained(documents):
        return ByteEntropyModel(order, smoothing=smoothing).train(documents)

    whole = trained([*first, *second]).to_bytes()
    assert trained(first).merge(trained(second)).to_bytes() == whole
    assert trained(second).merge(trained(first)).to_bytes() == whole
    assert trained(first).update(second).to_bytes() == whole


@few
@given(corpora, orders, st.integers(2, 6))
def test_threads_and_kinds_of_text_change_nothing(corpus, order, threads):
    one = ByteEntropyModel(order).train(corpus, threads=1)
    assert ByteEntropyModel(order).train(iter(corpus), threads=threads).to_bytes() == one.to_bytes()
    strings = [text.decode("latin-1") for text in corpus]
    encoded = [text.encode() for text in strings]
    assert (
        ByteEntropyModel(order).train(strings).to_bytes() == ByteEntropyModel(order).train(encoded).to_bytes()
    )


@few
@given(corpora, orders, smoothings, small)
def test_files_keep_a_model(corpus, order, smoothing, text):
    model = ByteEntropyModel(order, 0.1, smoothing).train(corpus)
    again = ByteEntropyModel.from_bytes(model.to_bytes())
    assert again.to_bytes() == model.to_bytes()
    assert again.entropies(text).tolist() == model.entropies(text).tolist()


@settings(parent=few)
@given(
    corpora, small.filter(bool), st.floats(1, 40), orders, limits, st.sampled_from(["global", "monotonic"])
)
def test_the_threshold_found_is_the_best(corpus, text, target, order, longest, rule):
    model = ByteEntropyModel(order).train(corpus)
    found = model.threshold_for(text, target, rule=rule, max_patch_length=longest)
    name = "theta" if rule == "global" else "rise"
    bits = model.entropies(text)
    scores = np.unique(bits if rule == "global" else np.diff(bits, prepend=bits[:1]))

    def distance(threshold):
        patcher = model.patcher(**{name: float(threshold)}, units="bits", max_patch_length=longest)
        return abs(len(text) / len(patcher.boundaries(text)) - target)

    assert distance(found) == min(map(distance, [*scores, scores[0] - 1, found]))

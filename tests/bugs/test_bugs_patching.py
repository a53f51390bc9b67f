"""Faults of other patchers, and traps of the rule. Names hold the id of the record."""

import math

import numpy as np
import pytest

from byteloom import patching
from byteloom.patching import ByteEntropyModel, Patcher
from helpers import INVALID_BYTES

TEXT = ("Entropy is high where a word begins, and low within it. " * 4 + "\n") * 8


@pytest.fixture(scope="module")
def model():
    return ByteEntropyModel(order=4).train(TEXT)


def test_blt_001_entropy_of_certain_and_of_uniform():
    assert patching.byte_entropy([1 / 256] * 256) == 8.0
    certain = patching.byte_entropy([1.0, 0.0, 0.0])
    assert certain == 0.0
    assert math.copysign(1, certain) == 1  # not -0.0, which prints as such
    assert not np.isnan(patching.byte_entropy([0.0, 0.0, 1.0]))


def test_blt_002_nats_are_not_bits(model):
    """The published threshold is in nats; read as bits it gives other patches."""
    published = 1.335442066192627
    in_nats = model.patcher(theta=published, units="nats")
    assert in_nats.patches(TEXT) == model.patcher(theta=1.9266356462906138, units="bits").patches(TEXT)
    assert in_nats.patches(TEXT) != model.patcher(theta=published, units="bits").patches(TEXT)
    with pytest.raises(TypeError, match="units"):
        model.patcher(theta=published)


@pytest.mark.parametrize("kind", ["global", "monotonic", "both", "space", "static", "byte", "bpe"])
def test_blt_004_empty_and_one_byte(kind, model, tok):
    patcher = {
        "global": lambda: model.patcher(theta=2.0, units="bits"),
        "monotonic": lambda: model.patcher(rise=0.5, units="bits"),
        "both": lambda: model.patcher(theta=2.0, rise=0.5, units="bits"),
        "space": Patcher.space,
        "static": lambda: Patcher.static(4),
        "byte": Patcher.byte,
        "bpe": lambda: Patcher.bpe(tok),
    }[kind]()
    for text, expected in ((b"", []), (b"a", [b"a"]), (b"\x00", [b"\x00"]), ("", []), ("a", [b"a"])):
        assert patcher.patches(text) == expected
        assert patcher.boundaries(text).tolist() == [0][: len(expected)]
        assert patcher.lengths(text).tolist() == [1][: len(expected)]
    assert patcher.batch([b"", b"a", b""]).tolist() == [[], [1], []]
    report = patcher.report(["", ""])
    assert (report.patches, report.mean, report.relative_compute) == (0, 0.0, 0.0)
    if kind != "bpe":
        stream = patcher.stream()
        assert (stream.feed(b""), stream.finish()) == ([], None)
    assert model.entropies("").tolist() == []
    assert model.bits_per_byte("") == 0.0
    assert patching.average_patch_size([], 0) == 0.0


@pytest.mark.parametrize("theta", [-1.0, 0.0, 1.0, 2.0, 7.99, 8.0, 100.0, math.inf])
def test_blt_005_patches_are_total(model, theta):
    patcher = model.patcher(theta=theta, units="bits")
    for text in [*INVALID_BYTES, b"\x00" * 9, b"a\x00b\x00", TEXT.encode(), bytes(range(256)) * 3]:
        patches = patcher.patches(text)
        assert b"".join(patches) == text
        assert all(patches)
        assert int(patcher.lengths(text).sum()) == len(text)


def test_blt_007_no_context_is_lost_or_taken_from_another_text(model):
    whole = (TEXT * 30).encode()[:10_000]
    patcher = model.patcher(theta=1.2, units="bits")
    expected = patcher.patches(whole)
    for size in (1, 7, 4096, 8192):
        stream = patcher.stream()
        found = [patch for at in range(0, len(whole), size) for patch in stream.feed(whole[at : at + size])]
        assert [*found, stream.finish()] == expected or found == expected
    # In a batch and one after the other, a text is as it is alone.
    first, second = b"Entropy is hi", b"gh where a word begins"
    alone = [patcher.lengths(text).tolist() for text in (first, second)]
    assert alone[1] != patcher.lengths(first + second).tolist()[-len(alone[1]) :]
    assert patcher.batch([first, second]).tolist() == alone
    stream = patcher.stream()
    stream.feed(first)
    stream.finish()
    found = stream.feed(second)
    last = stream.finish()
    assert [len(patch) for patch in [*found, *([last] if last else [])]] == alone[1]
    # Nor does training carry a context over.
    assert ByteEntropyModel().train(["ab", "cd"]).entropies("bc")[1] == 8.0


def test_blt_008_longest_patch():
    text = b"x" * 1000
    patcher = ByteEntropyModel().train(text).patcher(theta=8.5, units="bits", max_patch_length=6)
    lengths = patcher.lengths(text)
    assert (len(lengths), int(lengths.max()), int(lengths.sum())) == (167, 6, 1000)
    assert lengths.tolist() == [6] * 166 + [4]


def test_blt_010_boundaries_do_not_hang_on_threads_batches_or_rounding(model):
    texts = [TEXT[start : start + 200].encode() for start in range(0, 1500, 13)]
    bits = np.unique(model.entropies(TEXT))
    # Thresholds that are entropies: the slightest difference in adding up would show.
    for theta in [*bits[:: max(1, len(bits) // 12)].tolist(), 1.0]:
        patcher = model.patcher(theta=theta, units="bits")
        expected = [patching.patch_boundaries_global(model.entropies(text), theta).tolist() for text in texts]
        assert [patcher.boundaries(text).tolist() for text in texts] == expected
        for threads in (1, 8):
            batch = patcher.batch(texts, threads=threads)
            assert [batch.boundaries(place).tolist() for place in range(len(texts))] == expected
    counted = ByteEntropyModel().train([TEXT], threads=1), ByteEntropyModel().train([TEXT], threads=8)
    assert counted[0].to_bytes() == counted[1].to_bytes()


def test_blt_011_unseen_contexts_are_uniform():
    untrained = ByteEntropyModel(order=4)
    np.testing.assert_allclose(untrained.entropies(bytes(range(256))), 8.0, rtol=0, atol=1e-12)
    trained = ByteEntropyModel(order=4).train("aaaa")
    for history in (b"", b"a", b"aaa", b"zzz", b"za"):
        distribution = trained.distribution(history)
        assert abs(distribution.sum() - 1) <= 1e-12
        assert (distribution > 0).all()
    np.testing.assert_allclose(trained.entropies("zzzz")[1:], 8.0, rtol=0, atol=1e-12)

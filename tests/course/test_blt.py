"""The byte-latent part of the third course: its printed lines, and its names."""

import pytest

import byteloom as bl
from byteloom.course import blt

# The figures of the course hang on these bytes.
NEXT = "the next token"
CORPUS = (
    f"the model learns to predict {NEXT} from the previous tokens. a language model predicts {NEXT}. "
    "the model reads the tokens and learns the patterns in the tokens. attention lets the model read every "
    "token. the transformer predicts tokens one token at a time. "
) * 6
DEMO = f"the model predicts {NEXT}"

# The first bytes of the sentence: what they are, their entropy and the length of its bar.
PRINTED = [
    ("t", 3.9, 11), ("h", 2.8, 8), ("e", 0.6, 1), (" ", 0.6, 1), ("m", 2.5, 7), ("o", 1.2, 3), ("d", 1.2, 3),
    ("e", 1.2, 3), ("l", 1.2, 3), (" ", 1.2, 3), ("p", 2.6, 7), ("r", 3.3, 9), ("e", 1.2, 3), ("d", 2.0, 5),
]  # fmt: skip
PATCHES = ["t", "he ", "model ", "p", "redict", "s", " the ", "n", "e", "x", "t", " ", "t", "oken"]


@pytest.fixture(scope="module")
def entropies():
    return blt.ByteEntropyModel(order=4).train(CORPUS).entropies(DEMO)


def test_entropy_of_the_two_extremes():
    assert f"{round(blt.byte_entropy([1 / 256] * 256), 2)} bits" == "8.0 bits"
    assert f"{blt.byte_entropy([1.0, 0.0, 0.0])} bits" == "0.0 bits"


def test_entropies_and_bars_of_the_first_bytes(entropies):
    shown = [(char, f"{bits:4.1f}", int(bits * 3)) for char, bits in zip(DEMO, entropies, strict=True)]
    assert shown[:14] == [(char, f"{bits:4.1f}", bar) for char, bits, bar in PRINTED]


def test_patches_their_mean_and_the_compute(entropies):
    boundaries = blt.patch_boundaries_global(entropies, 2.0)
    patches = blt.patches_from_boundaries(list(DEMO.encode()), boundaries)
    average = blt.average_patch_size(boundaries, len(DEMO.encode()))
    assert len(patches) == 14
    assert f"{average:.2f} {blt.relative_global_compute(average):.2f}" == "2.36 0.42"
    assert [bytes(patch).decode() for patch in patches] == PATCHES


def test_the_threshold_is_the_one_knob(entropies):
    counts = [len(blt.patch_boundaries_global(entropies, tenth / 10)) for tenth in range(81)]
    assert counts == sorted(counts, reverse=True)
    assert (counts[0], counts[20], counts[80]) == (33, 14, 1)


def test_all_results_are_plain(entropies):
    model = blt.ByteEntropyModel()
    assert model.train("abc") is model
    assert model.entropies("") == []
    assert {type(bits) for bits in entropies} == {float}
    assert type(blt.byte_entropy([0.5, 0.5])) is float
    for boundaries in (
        blt.patch_boundaries_global(entropies, 2.0),
        blt.patch_boundaries_monotonic(entropies, 1.0),
    ):
        assert type(boundaries) is list
        assert {type(place) for place in boundaries} == {int}
    assert blt.patch_boundaries_global([], 1.0) == blt.patch_boundaries_monotonic([], 1.0) == []
    assert type(model.distribution("a")) is list
    assert blt.patches_from_boundaries([1, 2, 3], [0, 2]) == [[1, 2], [3]]
    assert blt.patches_from_boundaries(b"abc", [0, 2]) == [b"ab", b"c"]
    assert blt.patches_from_boundaries([], []) == []
    assert (blt.average_patch_size([], 0), blt.relative_global_compute(0.0)) == (0.0, 0.0)


def test_a_context_never_seen_is_uniform_and_the_first_byte_is_not():
    model = blt.ByteEntropyModel(order=4).train(CORPUS)
    assert [round(bits, 2) for bits in model.entropies("你")] == [3.9, 8.0, 8.0]
    assert [round(bits, 2) for bits in model.entropies("qthe")] == [3.9, 8.0, 2.77, 0.57]
    assert [round(bits, 9) for bits in blt.ByteEntropyModel().entropies("ab")] == [8.0, 8.0]


def test_training_starts_afresh_and_takes_bytes():
    model = blt.ByteEntropyModel(order=3).train("something else")
    expected = blt.ByteEntropyModel(order=3).train("abcabd").entropies("abcab")
    for text in ("abcabd", b"abcabd", bytearray(b"abcabd")):
        assert model.train(text).entropies(b"abcab") == expected
    assert (model.order, model.alpha, repr(model)) == (3, 0.01, "ByteEntropyModel(order=3, alpha=0.01)")


def test_it_is_the_library_underneath():
    model = blt.ByteEntropyModel(order=4, alpha=0.5).train(CORPUS)
    assert model.model == bl.ByteEntropyModel(order=4, alpha=0.5).train(CORPUS)
    assert model.entropies(DEMO) == model.model.entropies(DEMO).tolist()
    assert model.bits_per_byte(DEMO) == model.model.bits_per_byte(DEMO)

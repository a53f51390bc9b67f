"""What is made of patches: plain functions, thresholds for a size, reports, examples for BLT."""

import io
import json
import math
import tracemalloc

import numpy as np
import pytest

import byteloom as bl
from byteloom import patching
from byteloom.patching import Agreement, ByteEntropyModel, Patcher
from helpers import INVALID_BYTES

TEXT = (
    "A patch is cut where the next byte is hard to foresee; the rest of a word follows from its start.\n"
    "Patches of a text, joined, are the text. Numbers such as 1024 and names such as Königsberg are hard.\n"
) * 12
SAMPLE = (
    "Where is the next patch to be cut? A name such as Kant, a number such as 1781 and the start of a word\n"
    "are hard to foresee. What follows from the start of a word is not.\n"
) * 3
THETA = 1.7


@pytest.fixture(scope="module")
def model():
    return ByteEntropyModel(order=4).train(TEXT)


# Plain functions.


def test_byte_entropy_of_simple_distributions():
    assert patching.byte_entropy(np.full(256, 1 / 256)) == 8.0
    assert patching.byte_entropy([0.25] * 4) == 2.0
    assert str(patching.byte_entropy([0.0, 1.0])) == "0.0"
    assert patching.byte_entropy(ByteEntropyModel().distribution("a")) == pytest.approx(8.0, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([0.5, 0.4], "0.9"),
        ([1.5, -0.5], "1 is -0.5"),
        ([math.nan, 1.0], "0 is NaN"),
        ([], "0"),
        ([[1.0]], "2"),
    ],
)
def test_what_is_no_distribution(values, said):
    with pytest.raises(bl.PatchingError, match=said):
        patching.byte_entropy(values)


def test_boundaries_by_the_plain_functions():
    found = patching.patch_boundaries_global([1.0, 2.0, 2.5, 0.0, 3.0], 2.0)
    assert (found.tolist(), found.dtype) == ([0, 2, 4], np.uint32)
    found = patching.patch_boundaries_monotonic(np.array([1.0, 1.5, 3.0, 2.0, 2.0, 4.5]), 1.0)
    assert (found.tolist(), found.dtype) == ([0, 2, 5], np.uint32)
    assert patching.patch_boundaries_monotonic([1.0, 2.0], 1.0).tolist() == [0]
    assert patching.patch_boundaries_global([], 1.0).tolist() == []
    for rule in (patching.patch_boundaries_global, patching.patch_boundaries_monotonic):
        with pytest.raises(bl.PatchingError, match="NaN"):
            rule([1.0, 2.0], math.nan)
        with pytest.raises(bl.PatchingError, match="value 1 is NaN"):
            rule([1.0, math.nan], 1.0)


def test_plain_functions_and_patchers_agree(model):
    bits = model.entropies(TEXT)
    for theta in (0.5, THETA, 3.0):
        expected = model.patcher(theta=theta, units="bits").boundaries(TEXT)
        assert patching.patch_boundaries_global(bits, theta).tolist() == expected.tolist()
        expected = model.patcher(rise=theta / 3, units="bits").boundaries(TEXT)
        assert patching.patch_boundaries_monotonic(bits, theta / 3).tolist() == expected.tolist()


def test_patches_of_any_sequence():
    for sequence in (b"abcde", [1, 2, 3, 4, 5], "abcde", (1, 2, 3, 4, 5)):
        found = patching.patches_from_boundaries(sequence, np.array([0, 2, 3], np.uint32))
        assert found == [sequence[:2], sequence[2:3], sequence[3:]]
    assert patching.patches_from_boundaries(b"", []) == []
    for wrong, said in (
        ([], "none"), ([1, 2], "first is 1"), ([0, 2, 2], "boundary 2 is 2 after 2"), ([0, 5], "5"),
        ([0, 3, 1], "ascend"), ([0.0, 1.5], "integers"), ([[0]], "one dimension"),
    ):  # fmt: skip
        with pytest.raises(bl.PatchingError, match=said):
            patching.patches_from_boundaries(b"abcde", wrong)
    with pytest.raises(bl.PatchingError, match="sequence of 0"):
        patching.patches_from_boundaries(b"", [0])


def test_averages():
    assert patching.average_patch_size(np.array([0, 3]), 9) == 4.5
    assert patching.average_patch_size([], 0) == 0.0
    assert (patching.relative_global_compute(4.0), patching.relative_global_compute(0.0)) == (0.25, 0.0)
    for wrong, said in ((-1.0, "-1.0"), (math.nan, "NaN")):
        with pytest.raises(bl.PatchingError, match=said):
            patching.relative_global_compute(wrong)
    for work in (
        lambda: patching.relative_global_compute("4"),
        lambda: patching.byte_entropy("ab"),
        lambda: patching.patch_boundaries_global([1.0], "2"),
        lambda: patching.patch_boundaries_monotonic([[1.0], 2.0], 1.0),
    ):
        with pytest.raises(TypeError, match="must be"):
            work()
    with pytest.raises(TypeError, match="integer"):
        Patcher.byte().batch(["ab"])[0:1]
    with pytest.raises(bl.PatchingError, match="-1"):
        patching.average_patch_size([0], -1)


def test_results_are_numpy_files(model):
    file = io.BytesIO()
    np.save(file, model.patcher(theta=THETA, units="bits").lengths(TEXT), allow_pickle=False)
    file.seek(0)
    assert int(np.load(file).sum()) == len(TEXT.encode())


# Thresholds for a size.


def means(model, sample, thresholds, name, **options):
    """The mean patch size of each threshold, by patching the sample."""
    found = []
    for threshold in thresholds:
        patcher = model.patcher(**{name: threshold}, units="bits", **options)
        report = patcher.report(sample)
        found.append(report.bytes / report.patches)
    return found


@pytest.mark.parametrize("target", [1, 1.5, 2, 3, 4.5, 7, 20, 1e9])
@pytest.mark.parametrize(
    "options",
    [
        {"rule": "global"}, {"rule": "monotonic"}, {"rule": "both", "rise": 0.2},
        {"rule": "both", "theta": 1.2},
        {"rule": "global", "max_patch_length": 5}, {"rule": "monotonic", "max_patch_length": 8},
        {"rule": "global", "reset_on": b"\n"}, {"rule": "both", "rise": -1.0, "reset_on": b" "},
    ],
    ids=str,
)  # fmt: skip
def test_no_other_threshold_is_nearer(model, target, options):
    sample = [SAMPLE, "", "Another document."]
    found = model.threshold_for(sample, target, **options)
    name = "rise" if options["rule"] == "monotonic" or "theta" in options else "theta"
    rest = {key: value for key, value in options.items() if key != "rule"}
    scores = np.concatenate([model.entropies(text, reset_on=options.get("reset_on")) for text in sample])
    steps = np.unique(scores if name == "theta" else np.diff(scores))
    candidates = [steps[0] - 1, *((steps[1:] + steps[:-1]) / 2), steps[-1] + 1]
    best = min(abs(mean - target) for mean in means(model, sample, candidates, name, **rest))
    (mean,) = means(model, sample, [found], name, **rest)
    assert abs(mean - target) == pytest.approx(best, abs=1e-12)


def test_a_threshold_in_nats_gives_the_same_patches(model):
    for target in (1.0, 2.0, 4.5, 30.0):
        for rule, name in (("global", "theta"), ("monotonic", "rise")):
            bits = model.threshold_for(SAMPLE, target, rule=rule)
            nats = model.threshold_for(SAMPLE, target, rule=rule, units="nats")
            assert nats == pytest.approx(bits * math.log(2), abs=1e-9)
            assert model.patcher(**{name: bits}, units="bits").patches(SAMPLE) == model.patcher(
                **{name: nats}, units="nats"
            ).patches(SAMPLE)
    theta = model.threshold_for(SAMPLE, 3, rule="both", rise=0.2 * math.log(2), units="nats")
    assert theta / math.log(2) == pytest.approx(model.threshold_for(SAMPLE, 3, rule="both", rise=0.2))


def test_rounding_a_threshold_changes_nothing(model):
    """It stands in the middle between two entropies that occur."""
    theta = model.threshold_for(SAMPLE, 4.5)
    around = np.sort(np.abs(model.entropies(SAMPLE) - theta))
    patches = model.patcher(theta=theta, units="bits").patches(SAMPLE)
    assert around[0] > 0
    for near in (theta - around[0] * 0.9, theta + around[0] * 0.9):
        assert model.patcher(theta=near, units="bits").patches(SAMPLE) == patches


def test_samples_of_one_byte_and_of_one_context(model):
    for sample in ("a", b"\x00", ["", "a"]):
        for rule in ("global", "monotonic"):
            assert math.isfinite(model.threshold_for(sample, 4.5, rule=rule))
    untrained = ByteEntropyModel()
    theta = untrained.threshold_for("some bytes", 4.5)
    assert untrained.patcher(theta=theta, units="bits").report("some bytes").mean in (1.0, 10.0)
    assert untrained.threshold_for("some bytes", 1.0) < 8.0 < untrained.threshold_for("some bytes", 10.0)


def test_samples_may_be_files(model, tmp_path):
    (tmp_path / "a.txt").write_text(SAMPLE, encoding="utf-8")
    (tmp_path / "b.txt").write_text(TEXT, encoding="utf-8")
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    assert model.threshold_for(paths) == model.threshold_for([SAMPLE, TEXT])
    assert model.threshold_for(paths[0]) == model.threshold_for(SAMPLE)
    assert Patcher.space().report(paths) == Patcher.space().report([SAMPLE, TEXT])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"sample": ""}, "no bytes"), ({"sample": []}, "no bytes"), ({"target_patch_size": 0.5}, "0.5"),
        ({"target_patch_size": math.nan}, "NaN"), ({"target_patch_size": math.inf}, "inf"),
        ({"rule": "space"}, "space"), ({"rule": "both"}, "needs one"), ({"theta": 1.0}, "leave out theta"),
        ({"rule": "both", "theta": 1.0, "rise": 1.0}, "needs one"), ({"max_patch_length": 0}, "0"),
        ({"units": "bytes"}, "bytes"), ({"rule": "both", "theta": math.nan}, "theta is NaN"),
    ],
)  # fmt: skip
def test_impossible_targets_say_what_was_given(model, arguments, said):
    with pytest.raises(bl.PatchingError, match=said):
        model.threshold_for(**{"sample": SAMPLE, **arguments})


# Reports.


def test_a_report_counts_what_the_patches_are(model, tok):
    documents = [SAMPLE, "", TEXT[:333], b"\xff\x00", "日本語 and words"]
    for patcher in (
        model.patcher(theta=THETA, units="bits"),
        Patcher.space(),
        Patcher.static(3),
        Patcher.bpe(tok, max_patch_length=3),
    ):
        report = patcher.report(documents, tokenizer=tok)
        lengths = [len(patch) for text in documents for patch in patcher.patches(text)]
        assert report.documents == 5
        assert report.bytes == sum(lengths)
        assert report.patches == len(lengths)
        assert report.mean == sum(lengths) / len(lengths)
        assert report.relative_compute == len(lengths) / sum(lengths)
        assert report.histogram == {size: lengths.count(size) for size in sorted(set(lengths))}
        for percent, size in report.percentiles.items():
            assert sum(length <= size for length in lengths) * 100 >= percent * len(lengths)
            assert sum(length < size for length in lengths) * 100 < percent * len(lengths)
        assert list(report.percentiles) == [50, 90, 95, 99, 100]
        assert json.loads(json.dumps(report.to_dict()))["patches"] == report.patches
        assert report == patcher.report(iter(documents), tokenizer=tok)


def test_a_report_of_a_long_patch_takes_no_memory_for_its_length():
    patcher = ByteEntropyModel().patcher(theta=9.0, units="bits")
    data = bytes(1 << 20)
    patcher.report(data[:9])  # what is imported and compiled once
    tracemalloc.start()
    report = patcher.report(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.histogram == {1 << 20: 1}
    assert set(report.percentiles.values()) == {1 << 20}
    assert peak < 6 << 20


def test_agreement_with_words_and_tokens(tok):
    text = "the cat, naïve  2026_x\n"  # words begin at 4, 9, 17 and 22; the first byte counts for nobody
    words = [4, 9, 17, 22]
    data = text.encode()
    for patcher in (Patcher.space(), Patcher.static(4), Patcher.byte()):
        starts = set(patcher.boundaries(data).tolist()) - {0}
        found = patcher.report(data, tokenizer=tok)
        assert found.word_starts == Agreement(len(starts), len(words), len(starts & set(words)))
        tokens = set(np.cumsum([len(tok.id_to_bytes(i)) for i in tok.encode(text)]).tolist()) - {len(data)}
        assert found.token_starts == Agreement(len(starts), len(tokens), len(starts & tokens))
    assert Patcher.bpe(tok).report(SAMPLE, tokenizer=tok).token_starts.f1 == 1.0
    assert Patcher.byte().report(SAMPLE).word_starts.recall == 1.0
    assert Patcher.byte().report(SAMPLE).token_starts is None


def test_figures_of_an_agreement():
    agreement = Agreement(starts=8, others=4, both=3)
    assert (agreement.precision, agreement.recall, agreement.f1) == (3 / 8, 3 / 4, 0.5)
    nothing = Agreement(0, 0, 0)
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)
    assert Agreement(0, 3, 0).f1 == 0.0


def test_a_report_of_nothing():
    for nothing, documents in (([], 0), ("", 1), (["", b""], 2)):
        report = Patcher.space().report(nothing)
        assert (report.documents, report.bytes, report.patches, report.mean) == (documents, 0, 0, 0.0)
        assert (report.percentiles, report.histogram, report.relative_compute) == ({}, {}, 0.0)
        assert json.dumps(report.to_dict())
    with pytest.raises(TypeError, match="document 1"):
        Patcher.space().report(["a", 5])
    with pytest.raises(bl.TextError, match=r"document 0 .*character 1"):
        Patcher.space().report(["a\ud800"])


# Examples for training code of BLT, read by a reader of the published layout.


def read_example(tokens, lengths):
    """The groups of tokens that patches are, for a reader that knows the layout alone."""
    assert sum(lengths) in (len(tokens), len(tokens) + 1)
    assert min(lengths, default=1) > 0
    assert all(0 <= token < 260 for token in tokens)
    groups, at = [], 0
    for length in lengths:
        groups.append(
            [
                token - 4 if token >= 4 else ("BOE", "BOS", "EOS", "BPE")[token]
                for token in tokens[at : at + length]
            ]
        )
        at += length
    return groups


def published_lengths(scores, theta, *, longest=None, include_next_token=False):
    """Patch lengths as they are published: by scores of tokens, the first two of which start patches anyway.

    `scores[t]` is the entropy of what the model says at token t about token t + 1. The first score is not
    looked at, and what is found in the others is moved by two.
    """
    size = len(scores) + include_next_token
    later = [place + 2 for place, score in enumerate(scores[1:]) if score > theta]
    starts = [start for start in [0, 1, *later] if start < size]
    lengths = [b - a for a, b in zip(starts, [*starts[1:], size], strict=True)]
    if longest is not None:
        lengths = [piece for n in lengths for piece in [longest] * (n // longest) + [n % longest] if piece]
    return lengths


@pytest.mark.parametrize("longest", [None, 1, 3, 6])
@pytest.mark.parametrize("include_next_token", [False, True])
@pytest.mark.parametrize("eos", [False, True])
def test_examples_follow_the_published_layout(model, longest, include_next_token, eos):
    patcher = model.patcher(theta=THETA, units="bits", max_patch_length=longest)
    for text in [b"", b"a", *INVALID_BYTES, SAMPLE.encode(), TEXT.encode()[:80]]:
        tokens, lengths = patcher.blt_example(text, eos=eos, include_next_token=include_next_token)
        assert tokens.dtype == lengths.dtype == np.int64
        assert tokens.tolist() == [1, *(byte + 4 for byte in text)] + [2] * eos
        # At token t the model has read the bytes before t; behind EOS a new sequence begins.
        scores = [*model.entropies(text + b"?").tolist(), *([math.inf] if eos else [])]
        expected = published_lengths(scores, THETA, longest=longest, include_next_token=include_next_token)
        assert lengths.tolist() == expected
        groups = read_example(tokens.tolist(), lengths.tolist())
        assert groups[0] == ["BOS"]
        read = [token for group in groups for token in group]
        assert bytes(token for token in read if not isinstance(token, str)) == text


def test_examples_of_the_other_rules(tok):
    text = "the cat"
    assert Patcher.byte().blt_example(text).patch_lengths.tolist() == [1] * 9
    assert Patcher.static(4).blt_example(text).patch_lengths.tolist() == [4, 4, 1]
    assert Patcher.static(4).blt_example(text, include_next_token=True).patch_lengths.tolist() == [4, 4, 2]
    assert Patcher.space().blt_example(text).patch_lengths.tolist() == [1, 4, 4]
    assert Patcher.space().blt_example("the ").patch_lengths.tolist() == [1, 4, 1]
    # BOS is like a space: a sign behind it ends no patch.
    assert Patcher.space().blt_example(" the cat").patch_lengths.tolist() == [1, 5, 4]
    assert Patcher.space().blt_example(" ").patch_lengths.tolist() == [1, 2]
    assert Patcher.space().blt_example(" the", bos=False).patch_lengths.tolist() == [1, 4]
    tokens = [len(tok.id_to_bytes(id_)) for id_ in tok.encode(text)]
    assert Patcher.bpe(tok).blt_example(text).patch_lengths.tolist() == [1, *tokens, 1]
    assert Patcher.bpe(tok).blt_example(text, eos=False).patch_lengths.tolist() == [1, *tokens]


def test_examples_without_bos_and_without_anything(model):
    patcher = model.patcher(theta=9.0, units="bits", max_patch_length=4)
    example = patcher.blt_example("abcdefgh", bos=False, eos=False)
    assert example.tokens.tolist() == [byte + 4 for byte in b"abcdefgh"]
    assert example.patch_lengths.tolist() == [1, 4, 3]
    for text, bos, eos, expected in (
        ("", False, False, []), ("", True, False, [1]), ("", False, True, [1]), ("", True, True, [1, 1]),
        ("a", False, False, [1]), ("a", True, False, [1, 1]),
    ):  # fmt: skip
        assert patcher.blt_example(text, bos=bos, eos=eos).patch_lengths.tolist() == expected


def test_ids_of_blt():
    assert (patching.BOE_ID, patching.BOS_ID, patching.EOS_ID, patching.BPE_ID) == (0, 1, 2, 3)
    assert patching.blt_ids(bytes(range(256)), bos=False, eos=False).tolist() == list(range(4, 260))
    assert patching.blt_ids("é").tolist() == [1, 0xC3 + 4, 0xA9 + 4, 2]
    assert patching.blt_ids("").tolist() == [1, 2]

"""`Patcher.explain` and `explain_stream`: what the records say, in how much memory, and how they look."""

import itertools
import json
import math
import re
import sys

import pytest

import byteloom as bl
from byteloom import render
from byteloom.patching import ByteEntropyModel, Contexts, Patcher
from helpers import INVALID_BYTES, RSS, run_python

TEXT = "the cat sat on the mat. " * 20


@pytest.fixture(scope="module")
def model():
    return ByteEntropyModel().train(TEXT)


def test_a_patch_byte_by_byte(model):
    explanation = model.patcher(theta=1.5, units="bits").explain("the xat")
    assert [patch.bytes for patch in explanation.patches] == [b"t", b"he ", b"x", b"at"]
    first, second, third, last = explanation.patches
    assert (first.index, first.byte_span, first.start.rule, first.text) == (0, (0, 1), "first", "t")
    assert [(one.byte, one.context, one.seen) for one in second.explained] == [
        (ord("h"), b"t", 100), (ord("e"), b"th", 40), (ord(" "), b"the", 40),
    ]  # fmt: skip
    assert (third.start.rule, third.start.threshold, third.start.increase) == ("global", 1.5, None)
    assert third.start.entropy == third.explained[0].entropy == pytest.approx(1.743, abs=0.001)
    # "x" was never seen: what follows it is open, and the byte after that is foretold from one byte.
    assert [(one.entropy, one.context, one.seen) for one in last.explained[:1]] == [(8.0, b"", 0)]
    assert last.explained[1].context == b"a"
    assert (explanation.patcher, explanation.theta) == ("global, theta 1.5 bits, order 4, backoff", 1.5)


def test_each_reason():
    model = ByteEntropyModel(3).train(TEXT)
    patcher = model.patcher(theta=0.5, rise=0.2, units="nats", max_patch_length=4, reset_on=b"\n")
    explanation = patcher.explain("the cat\nthe matsat")
    rules = {patch.start.rule for patch in explanation.patches}
    assert rules == {"first", "reset", "both", "max_length"}
    assert explanation.theta == pytest.approx(0.5 / math.log(2))
    assert explanation.rise == pytest.approx(0.2 / math.log(2))
    assert explanation.patcher == (
        "both, theta 0.5 nats, rise 0.2 nats, order 3, backoff, at most 4 bytes, anew after b'\\n'"
    )
    reset = next(patch for patch in explanation.patches if patch.start.rule == "reset")
    assert (reset.byte_span.start, reset.explained[0].context) == (8, b"")
    assert Patcher.static(3).explain("abcd").patcher == "static, 3 bytes"


def test_the_limit_is_the_reason_only_where_the_rule_is_not():
    explanation = Patcher.space(max_patch_length=4).explain("the long word")
    found = [(patch.bytes, patch.start.rule) for patch in explanation.patches]
    assert found == [(b"the ", "first"), (b"long", "space"), (b" ", "max_length"), (b"word", "space")]


def test_entropies_for_rules_without(model):
    patcher = Patcher.space()
    assert patcher.explain("the cat").entropies == []
    explanation = patcher.explain("the cat", model=model)
    assert explanation.entropies == model.entropies("the cat").tolist()
    assert [patch.start.entropy for patch in explanation.patches] == [None, None]


def test_what_is_refused_is_refused_at_once(model):
    patcher = model.patcher(theta=1.5, units="bits")
    for explain in (patcher.explain, patcher.explain_stream):
        with pytest.raises(bl.PatchingError, match="its own model"):
            explain("x", model=model)
        with pytest.raises(TypeError, match="int"):
            explain(7)
        with pytest.raises(bl.TextError, match="character 1"):
            explain("a\ud800")
    with pytest.raises(TypeError, match="ByteEntropyModel"):
        Patcher.space().explain_stream("x", model="model")


def test_the_answer_of_a_model_alone(model):
    found = model.contexts("thz\nt", reset_on=b"\n")
    assert isinstance(found, Contexts)
    assert found.lengths.tolist() == [0, 1, 2, 0, 0]
    assert found.seen.tolist() == [480, 100, 40, 0, 480]
    assert model.contexts("").lengths.tolist() == []
    assert ByteEntropyModel().contexts("ab").seen.tolist() == [0, 0]
    mixed = ByteEntropyModel(smoothing="witten-bell").train(TEXT).contexts("zt")
    assert (mixed.lengths.tolist(), mixed.seen.tolist()) == ([0, 0], [480, 480])


def test_contexts_that_were_given_up():
    """Beyond the memory limit the shorter context answers, as it does for the entropies."""
    state, data = 1, bytearray()
    for _ in range(300_000):
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        data.append(state >> 57)
    model = ByteEntropyModel(6, memory_limit=4 << 20).train(bytes(data))
    assert model.info()["dropped_contexts"] > 0
    sample = bytes(data[:500])
    lengths, seen = model.contexts(sample)
    assert lengths.max() < 5
    for at, (length, times) in enumerate(zip(lengths.tolist(), seen.tolist(), strict=True)):
        context = re.escape(sample[at - length : at])
        # What was given up during training and met again later counts from there.
        assert 0 < times <= sum(1 for _ in re.finditer(b"(?=" + context + b".)", data, re.DOTALL))


def test_json_has_every_number(model):
    explanation = model.patcher(theta=math.inf, units="bits").explain(b"\xff<b>")
    plain = json.loads(explanation.to_json(), parse_constant=pytest.fail)
    assert plain == explanation.to_dict()
    assert (plain["kind"], plain["theta"], plain["rise"]) == ("patch_explanation", "inf", None)
    assert plain["patches"][0]["explained"][0]["seen"] == 480
    assert (plain["patches"][0]["kind"], plain["patches"][0]["byte_span"]) == ("patch", [0, 4])


def test_long_patches_come_in_segments(model):
    text = TEXT * 10
    patcher = model.patcher(theta=9, units="bits")
    (whole,) = patcher.explain(text).patches
    assert (whole.segment, whole.segments, len(whole.explained)) == (0, 1, len(text))
    parts = list(patcher.explain_stream(text))
    assert [(part.index, part.segment, part.segments) for part in parts] == [(0, n, 5) for n in range(5)]
    assert sum((part.explained for part in parts), ()) == whole.explained


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("rule", ["theta", "one patch", "space", "bpe"])
def test_a_megabyte_is_explained_in_bounded_memory(rule):
    code = (
        RSS
        + f"""
import random
import byteloom as bl
from byteloom.patching import ByteEntropyModel, Patcher
rng = random.Random(5)
words = [f"{{rng.randrange(2**20):x}}" for _ in range(3_000)]
text = " ".join(rng.choice(words) for _ in range(2**20 // 6))
assert len(text) > 2**20 * 0.9
rule = {rule!r}
model = ByteEntropyModel().train(text[:100_000])
if rule == "space":
    patcher, extra = Patcher.space(), {{"model": model}}
elif rule == "bpe":
    patcher, extra = Patcher.bpe(bl.Tokenizer.train(text[:50_000], 1500)), {{}}
else:
    theta = 9 if rule == "one patch" else model.threshold_for(text[-20_000:], 6)
    patcher, extra = model.patcher(theta=theta, units="bits"), {{}}
for patch in patcher.explain_stream(text[:100_000], **extra):
    pass
patcher.lengths(text)
before = peak()
size = 0
for patch in patcher.explain_stream(text, **extra):
    size += len(patch.bytes)
print((peak() - before) / 2**20, size == len(text))
"""
    )
    grown, right = run_python(code, timeout=110).split()
    assert right == "True"
    assert float(grown) < 24


# Pictures.


def test_how_an_explanation_looks(model):
    patcher = model.patcher(theta=1.5, units="bits")
    explanation = patcher.explain("the xat")
    lines = render.terminal(explanation, color=False, details=True).splitlines()
    assert lines[:2] == ["Patches: global, theta 1.5 bits, order 4, backoff", "t│he·│x│at"]
    rows = [line.split() for line in lines]
    assert ["2", "4-5", "x", "global;", "entropy", "1.743", "against", "1.500", "bits"] in rows
    assert ["5", "a", "8.000", "█" * 16, "-", "0"] in rows
    assert ["2", "e", f"{explanation.entropies[2]:.3f}", "th", "40"] in [
        [word for word in row if "█" not in word] for row in rows
    ]
    assert render.terminal(patcher, "the xat", color=False, details=True).splitlines() == lines
    one = render.terminal(explanation.patches[2], color=False).splitlines()
    assert one[0] == "x  patch 3, bytes 4-5: global; entropy 1.743 against 1.500 bits"
    assert one[2].split() == ["4", "x", "1.743", "███", "he·", "40"]
    part = next(itertools.islice(model.patcher(theta=9, units="bits").explain_stream(TEXT * 5), 1, None))
    assert "patch 1, segment 2 of 3, bytes 1024-2048: first" in render.terminal(part, color=False)
    for record in (explanation, explanation.patches[0]):
        assert record._repr_html_() == render.html(record)


def test_long_explanations_are_cut(model):
    explanation = model.patcher(theta=9, units="bits").explain(TEXT * 20)
    drawn = render.terminal(explanation, color=False, details=True, limit=10)
    assert "Entropy of the first 80 bytes" in drawn
    assert len(drawn) < 15_000
    drawn = render.terminal(Patcher.byte(), "abcdef", color=False, limit=4)
    assert drawn.splitlines()[-1] == "and 2 more patches"


HOSTILE = b"\x1b]0;t\x07<script>&\"'\xff\xe2\x98\xe2\x80\xae\xd7\xa9\x00\r\n"


@pytest.mark.parametrize("data", [HOSTILE, *INVALID_BYTES], ids=range(1 + len(INVALID_BYTES)))
def test_hostile_bytes_are_harmless(data):
    """In the text, in the contexts of the model, and in the bytes that begin a context anew."""
    model = ByteEntropyModel().train(data * 3)
    patcher = model.patcher(theta=1, units="bits", max_patch_length=5, reset_on=b"\n\x1b<")
    explanation = patcher.explain(data)
    for item in (explanation, *explanation.patches):
        lines = render.terminal(item, color=False, details=True)
        # Right-to-left text stands between isolates, which end where they begin.
        assert lines.count("\u2068") == lines.count("\u2069")
        plain = lines.replace("\n", "").replace("\u2068", "").replace("\u2069", "")
        assert all(char.isprintable() for char in plain), ascii(lines)
        html = render.html(item)
        assert "<script" not in html
        assert not any(char in html for char in "\x1b\u202e\x00\ufffd\x07")

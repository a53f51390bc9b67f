"""Memory stays bounded: caches, failing calls, loading, one large text. Names hold the id of the record."""

import sys

import pytest

from helpers import RSS, run_python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

PREPARE = (
    RSS
    + """
import random, sys, warnings
import numpy
import byteloom as bl
warnings.simplefilter("ignore")
MIB = 2**20
tok = bl.Tokenizer.train("the cat and the can and the cat 0123456789abcdef " * 3, 300)
def hexes(start, count):
    return " ".join(f"{(start + i) * 0x9E3779B97F4A7C15 % 2**64:016x}" for i in range(count))
"""
)


@pytest.mark.parametrize(("limit", "most"), [(0, 8), (2**20, 12), (None, 110)])
def test_mem_001_remembered_pretokens_are_bounded(limit, most):
    code = (
        PREPARE
        + f"""
limit = {limit}
tok = tok if limit is None else tok.with_cache_bytes(limit)
plain = tok.with_cache_bytes(0)
for turn in range(2):
    tok.count(hexes(turn, 100))
before = rss()
for turn in range(60):
    text = hexes(1000 + turn * 10_000, 10_000)
    ids = tok.encode_array(text)
    if turn % 20 == 0:
        assert (ids == plain.encode_array(text)).all()
del text, ids
print((rss() - before) / MIB)
"""
    )
    assert float(run_python(code)) < most


def test_mem_001_threads_share_the_limit():
    code = (
        PREPARE
        + """
small = tok.with_cache_bytes(MIB)
texts = [hexes(i * 1000, 1000) for i in range(200)]
small.count_batch(texts, threads=4)
before = rss()
for turn in range(5):
    small.count_batch(texts, threads=4)
print((rss() - before) / MIB)
"""
    )
    assert float(run_python(code)) < 24


def test_mem_003_loading_leaks_nothing(data_dir):
    code = (
        PREPARE
        + """
path = sys.argv[1]
def load():
    return bl.Tokenizer.from_tiktoken(path).encode("hello world")
for _ in range(3):
    load()
before = rss()
for _ in range(8):
    load()
print((rss() - before) / MIB)
"""
    )
    assert float(run_python(code, data_dir / "vocab" / "cl100k_base.tiktoken", timeout=100)) < 12


def test_mem_003_making_and_dropping_leaks_nothing():
    code = (
        PREPARE
        + """
import pickle
data = tok.to_bytes()
def make():
    other = bl.Tokenizer.from_bytes(data)
    other.encode("the cat and the can " * 10)
    pickle.loads(pickle.dumps(other)).with_special_tokens(["<a>"]).stream_decoder().feed(97)
    bl.Tokenizer.train("low lower lowest", 258)
for _ in range(100):
    make()
before = rss()
for _ in range(400):
    make()
print((rss() - before) / MIB)
"""
    )
    assert float(run_python(code)) < 10


def test_mem_004_one_large_text_into_an_array():
    code = (
        PREPARE
        + """
text = "the cat and the can, 0123456789abcdef; " * 1_200_000
plain = tok.with_cache_bytes(0)
plain.count(text[:1000])
before = peak()
ids = plain.encode_array(text)
print((peak() - before - 4 * len(ids)) / MIB, len(text) / MIB)
"""
    )
    above, size = map(float, run_python(code).split())
    # The ids while they grow may take as much again as in the end; a second copy of the text may not.
    assert above < 128
    assert size > 40


def test_mem_004_counting_needs_no_ids():
    code = (
        PREPARE
        + """
text = "the cat and the can, 0123456789abcdef; " * 1_200_000
plain = tok.with_cache_bytes(0)
plain.count(text[:1000])
before = peak()
plain.count(text)
print((peak() - before) / MIB)
"""
    )
    assert float(run_python(code)) < 32


def test_mem_006_failing_calls_leak_nothing():
    code = (
        PREPARE
        + """
special = tok.with_special_tokens(["<|end|>"])
shared = "a<|end|>b"
array = numpy.array([97, 2**31], dtype=numpy.uint32)
calls = [
    lambda: special.encode(shared),
    lambda: special.encode_batch([shared, shared]),
    lambda: special.encode(None),
    lambda: special.encode_batch(["a", None]),
    lambda: special.encode("\\ud800"),
    lambda: special.decode([97, 10**9]),
    lambda: special.decode(array),
    lambda: special.decode([1.5]),
    lambda: special.id_to_bytes(10**9),
    lambda: special.encode_array("abc", out=numpy.zeros(1, numpy.uint32)),
    lambda: bl.Tokenizer.from_bytes(b"{}"),
    lambda: bl.Tokenizer.train("a", 3),
    lambda: special.with_special_tokens([""]),
]
def fail(times):
    for _ in range(times):
        for call in calls:
            try:
                call()
            except (ValueError, TypeError, KeyError):
                continue
            raise SystemExit("a call did not fail")
fail(200)
# The collector runs first: what is only waiting for it would be counted before and not after.
before = rss()
counts = [sys.getrefcount(thing) for thing in (shared, array, special, None, str, bl.SpecialTokenError)]
fail(1500)
now = rss()
after = [sys.getrefcount(thing) for thing in (shared, array, special, None, str, bl.SpecialTokenError)]
assert all(abs(new - old) < 50 for new, old in zip(after, counts)), (counts, after)
print((now - before) / MIB)
"""
    )
    assert float(run_python(code)) < 4


def test_repeated_calls_leak_nothing():
    code = (
        PREPARE
        + """
special = tok.with_special_tokens(["<|end|>"])
text = "the cat and the can <|end|> é日🚀" * 5
def use():
    ids = special.encode(text, allowed_special="all")
    special.encode_batch([text.encode()] * 3, disallowed_special=())
    array = special.encode_array(text, allowed_special="all")
    special.encode_batch_array([text], allowed_special="all").to_padded(0)
    special.encode_with_offsets(text, allowed_special="all")
    special.truncate(text, 5, disallowed_special=())
    special.chunk(text, 9, disallowed_special=())
    special.decode(ids), special.decode(array), special.decode_batch([ids, array])
    special.decode_with_offsets(ids)
    decoder = special.stream_decoder()
    decoder.feed(ids), decoder.flush()
    special.special_tokens, special.merges, special.info(), special.id_to_token(97), special.fingerprint
for _ in range(300):
    use()
before = rss()
for _ in range(2500):
    use()
print((rss() - before) / MIB)
"""
    )
    assert float(run_python(code)) < 6

"""`memory_limit` bounds training and the compiled model together."""

import random
import sys

import pytest

from byteloom.patching import ByteEntropyModel
from helpers import run_python

MIB = 1 << 20


def prose(size):
    """Words in random order: contexts of all frequencies."""
    source = random.Random(5)
    words = ["".join(source.choices("etaoinshrdlu", k=source.randint(1, 9))) for _ in range(3000)]
    text = " ".join(source.choices(words, [1 / (n + 1) for n in range(len(words))], k=size // 5))
    return text[:size].encode()


TEXTS = {"prose": prose(600_000), "random": random.Random(7).randbytes(300_000)}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("smoothing", ["backoff", "witten-bell"])
@pytest.mark.parametrize("order", [3, 4, 6, 8])
def test_counts_table_and_rows_together_are_within_the_limit(order, smoothing, kind):
    text = TEXTS[kind]
    for limit in (4 * MIB, 7 * MIB, 16 * MIB):
        model = ByteEntropyModel(order, smoothing=smoothing, memory_limit=limit).train(text, threads=1)
        model.bits_per_byte(text[:1000])  # keeps the rows
        info = model.info()
        used = info["count_bytes"] + info["compiled_bytes"] - info["table_bytes"]
        assert used <= limit
        assert info["table_bytes"] <= 5 * MIB
        if info["dropped_contexts"]:
            # Nothing is given up without need: a model that lost contexts fills a good part of its limit.
            assert used > limit / 8


def test_what_is_dropped_is_the_rarest():
    text = TEXTS["prose"]
    whole = ByteEntropyModel(6).train(text)
    limited = ByteEntropyModel(6, memory_limit=4 * MIB).train(text)
    assert limited.info()["dropped_contexts"] > 0
    lengths, seen = whole.contexts(text[:20_000])
    kept = limited.contexts(text[:20_000]).lengths
    assert (kept <= lengths).all()
    lost, left = seen[kept < lengths], seen[(kept == lengths) & (lengths == 5)]
    assert lost.size
    assert left.size
    assert lost.mean() < left.mean()
    # A context that was given up on the way and came again has lost counts, and none has too many.
    again = limited.contexts(text[:20_000])
    same = again.lengths == lengths
    assert (again.seen[same] <= seen[same]).all()


def test_merging_keeps_the_limit():
    parts = [TEXTS["random"][start : start + 100_000] for start in (0, 100_000, 200_000)]
    model = ByteEntropyModel(8, memory_limit=6 * MIB)
    for part in parts:
        model.merge(ByteEntropyModel(8).train(part))
    model.bits_per_byte(parts[0][:100])
    info = model.info()
    assert info["trained_bytes"] == 300_000
    assert info["dropped_contexts"] > 0
    assert info["count_bytes"] + info["compiled_bytes"] - info["table_bytes"] <= 6 * MIB


def test_threads_change_nothing_where_contexts_are_dropped():
    models = [
        ByteEntropyModel(7, memory_limit=4 * MIB).train(TEXTS["prose"], threads=threads)
        for threads in (1, 2, 5)
    ]
    assert models[0].info()["dropped_contexts"] > 0
    assert len({model.to_bytes() for model in models}) == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss has other units elsewhere")
@pytest.mark.parametrize("smoothing", ["backoff", "witten-bell"])
def test_the_peak_of_a_process_is_within_the_limit(smoothing):
    code = """
        import random, resource, sys
        from byteloom.patching import ByteEntropyModel
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        text = random.Random(3).randbytes(6 << 20)
        limit = 48 << 20
        # What the process takes by itself: the tables and the code are touched once.
        ByteEntropyModel(8, smoothing=sys.argv[1]).train(b"any text").bits_per_byte(b"any")
        before = peak()
        model = ByteEntropyModel(8, smoothing=sys.argv[1], memory_limit=limit).train(text, threads=1)
        model.bits_per_byte(text[:1000])
        model.patcher(theta=3.0, units="bits").boundaries(text[:1000])
        assert model.info()["dropped_contexts"] > 0
        print(peak() - before)
    """
    limit = 48 * MIB
    # Without a limit it is ten times as much.
    assert int(run_python(code, smoothing)) <= limit + limit // 4 + 16 * MIB

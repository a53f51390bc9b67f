"""Faults of other tokenizers with threads, processes and signals. Names hold the id of the record."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import byteloom as bl
from helpers import SAMPLES, raises_cleanly, run_python, train_quietly

posix = pytest.mark.skipif(os.name != "posix", reason="needs fork and signals")

PREPARE = """
    import os, sys, threading, time, warnings
    import byteloom as bl
    text = "the cat sat on the mat, and the other cat; naïve café 日本語 🚀 1234\\n"
    tok = bl.Tokenizer.train(text * 4, 300)
    texts = [text * (1 + i % 7) + str(i) for i in range(2000)]
    expected = [tok.encode(text) for text in texts]
"""


def in_threads(count, work):
    """Runs `work(index)` in threads and gives back what failed."""
    failures = []

    def run(index):
        try:
            work(index)
        except BaseException as error:  # noqa: BLE001 - a panic is one too
            failures.append(error)

    workers = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(100)
        assert not worker.is_alive()
    return failures


def test_thr_eight_threads_share_one_tokenizer(special_tok):
    texts = [*SAMPLES, "x" * 3000, *(f"word{index} {index * 7919}" for index in range(500))]
    expected = [special_tok.encode(text) for text in texts]
    decoded = special_tok.decode_batch(expected)

    def work(index):
        for turn in range(5):
            order = range(index + turn, index + turn + len(texts))
            for at in order:
                at %= len(texts)  # noqa: PLW2901
                assert special_tok.encode(texts[at]) == expected[at]
            assert special_tok.encode_batch(texts, threads=2) == expected
            assert special_tok.decode_batch(expected) == decoded
            assert special_tok.count_batch(texts) == [len(ids) for ids in expected]
            with raises_cleanly(bl.SpecialTokenError):
                special_tok.encode("<|pad|>")

    assert in_threads(8, work) == []


@posix
def test_thr_001_a_forked_child_after_parallel_use():
    code = (
        PREPARE
        + """
    warnings.simplefilter("ignore")
    assert tok.encode_batch(texts, threads=4) == expected
    for turn in range(5):
        child = os.fork()
        if child == 0:
            right = tok.encode_batch(texts, threads=4) == expected
            right = right and bl.Tokenizer.train(texts, 300, threads=2) == bl.Tokenizer.train(texts, 300)
            os._exit(0 if right else 3)
        deadline = time.monotonic() + 20
        while True:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                os.kill(child, 9)
                sys.exit("the child hangs")
            time.sleep(0.01)
        assert os.waitstatus_to_exitcode(status) == 0, status
    assert tok.encode_batch(texts, threads=4) == expected
    print("done")
    """
    )
    assert run_python(code, timeout=110).strip() == "done"


@posix
def test_thr_001_a_fork_while_other_threads_encode():
    code = (
        PREPARE
        + """
    warnings.simplefilter("ignore")
    stop = threading.Event()
    def busy():
        while not stop.is_set():
            tok.encode_batch(texts, threads=2)
    workers = [threading.Thread(target=busy) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        for turn in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if tok.encode_batch(texts[:200]) == expected[:200] else 3)
            deadline = time.monotonic() + 20
            while True:
                pid, status = os.waitpid(child, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() > deadline:
                    os.kill(child, 9)
                    stop.set()
                    sys.exit("the child hangs")
                time.sleep(0.01)
            assert os.waitstatus_to_exitcode(status) == 0, status
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    print("done")
    """
    )
    assert run_python(code, timeout=110).strip() == "done"


@posix
def test_thr_001_a_fork_while_memory_of_pretokens_grows():
    # A lock that another thread holds at the moment of the fork is held for ever in the child.
    code = (
        PREPARE
        + """
    warnings.simplefilter("ignore")
    def hexes(start):
        return " ".join(f"{(start + i) * 0x9E3779B97F4A7C15 % 2**64:016x}" for i in range(2000))
    words = [hexes(i * 2000) for i in range(30)]
    expected = tok.count(words[0])
    for turn in range(15):
        fresh = tok.with_cache_bytes(64 << 20)
        def busy():
            for text in words:
                fresh.count(text)
        workers = [threading.Thread(target=busy) for _ in range(3)]
        for worker in workers:
            worker.start()
        for _ in range(4):
            child = os.fork()
            if child == 0:
                os._exit(0 if fresh.count(words[0]) == expected else 3)
            deadline = time.monotonic() + 20
            while True:
                pid, status = os.waitpid(child, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() > deadline:
                    os.kill(child, 9)
                    os._exit(4)
                time.sleep(0.001)
            assert os.waitstatus_to_exitcode(status) == 0, status
        for worker in workers:
            worker.join()
    print("done")
    """
    )
    assert run_python(code, timeout=110).strip() == "done"


def encode_in_child(job):
    tok, texts = job
    return tok.fingerprint, tok.encode_batch(texts, threads=2)


@pytest.mark.parametrize("method", ["spawn", pytest.param("forkserver", marks=posix)])
def test_thr_001_worker_processes(tok, method):
    texts = SAMPLES * 5
    expected = (tok.fingerprint, tok.encode_batch(texts, threads=2))
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.map_async(encode_in_child, [(tok, texts)] * 4).get(timeout=60)
    assert results == [expected] * 4


def test_thr_002_a_tokenizer_has_no_settings_to_share(tok):
    expected = tok.encode("the cat " * 500)

    def work(index):
        for _ in range(50):
            if index % 2:
                tok.with_cache_bytes(index).with_special_tokens(["<a>"]).truncate("the cat " * 500, 5)
            else:
                assert tok.encode("the cat " * 500) == expected

    assert in_threads(6, work) == []


@pytest.mark.parametrize("call", ["encode", "encode_array", "count", "encode_batch", "decode", "train"])
def test_thr_004_other_threads_run_during_long_calls(tok, call):
    text = "the other cat, naïve café 日本語 " * 200_000
    ids = tok.encode_array(text)
    calls = {
        "encode": lambda: tok.with_cache_bytes(0).encode(text),
        "encode_array": lambda: tok.with_cache_bytes(0).encode_array(text),
        "count": lambda: tok.with_cache_bytes(0).count(text),
        "encode_batch": lambda: tok.with_cache_bytes(0).encode_batch([text], threads=1),
        "decode": lambda: [tok.decode_bytes(ids) for _ in range(30)],
        "train": lambda: train_quietly([text], 300, threads=1),
    }
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    time.sleep(0.02)
    started = time.perf_counter()
    calls[call]()
    ended = time.perf_counter()
    done.set()
    ticker.join()
    during = [at for at in ticks if started < at < ended]
    # A held lock would let the other thread in at most at the two ends.
    assert len(during) > 5 or ended - started < 0.03


def test_thr_005_a_generator_that_encodes_and_starts_threads(tok, small_text):
    def documents():
        for index in range(50):
            results = []
            worker = threading.Thread(
                target=lambda results=results: results.append(tok.encode_batch([small_text] * 4))
            )
            worker.start()
            yield f"{small_text} {tok.count(small_text)} {index}"
            worker.join(30)
            assert results
            if index % 20 == 0:
                yield str(train_quietly(small_text, 260).fingerprint)

    assert bl.Tokenizer.train(documents(), 300, threads=2).vocab_size == 300


def test_thr_005_batches_from_a_generator_that_encodes(tok):
    texts = (f"the cat {tok.count('the cat')} {tok.encode_batch(['x'] * 3)}" for _ in range(100))
    assert len(tok.encode_batch(texts)) == 100


def test_thr_007_an_error_in_one_item_leaves_everything_usable(special_tok):
    texts = ["fine"] * 500 + ["<|pad|>"] + ["fine"] * 500
    expected = [special_tok.encode("fine")] * 3

    def work(_):
        for _ in range(20):
            with raises_cleanly(bl.SpecialTokenError):
                special_tok.encode_batch(texts, threads=3)
            with raises_cleanly(bl.TextError):
                special_tok.encode_batch(["fine", "\ud800"] * 10, threads=3)
            with raises_cleanly(bl.UnknownTokenError):
                special_tok.decode_batch([[97], [999_999]] * 10, threads=3)
            assert special_tok.encode_batch(["fine"] * 3, threads=3) == expected

    assert in_threads(4, work) == []


@pytest.mark.parametrize("threads", [0, -1, -(10**30)])
def test_thr_008_thread_counts_out_of_range(tok, threads):
    for call in (
        lambda: tok.encode_batch(["a"], threads=threads),
        lambda: tok.encode_batch_array(["a"], threads=threads),
        lambda: tok.count_batch(["a"], threads=threads),
        lambda: tok.decode_batch([[97]], threads=threads),
        lambda: bl.Tokenizer.train("a", 256, threads=threads),
    ):
        with raises_cleanly(ValueError):
            call()


@pytest.mark.parametrize("threads", [10**9, 10**30])
def test_thr_008_huge_thread_counts(tok, threads):
    texts = ["the cat"] * 100
    with contextlib.suppress(ValueError):  # too many to be meant
        assert tok.encode_batch(texts, threads=threads) == [tok.encode("the cat")] * 100


@pytest.mark.parametrize("threads", ["x", "2", 1.5, [1]])
def test_thr_008_thread_counts_of_other_types(tok, threads):
    for call in (
        lambda: tok.encode_batch(["a"], threads=threads),
        lambda: tok.decode_batch([[97]], threads=threads),
        lambda: bl.Tokenizer.train("a", 256, threads=threads),
    ):
        with raises_cleanly(TypeError):
            call()


@pytest.mark.parametrize("value", ["0", "-1", "x", "1.5", "99999999999999999999"])
def test_thr_008_a_bad_number_in_the_environment_is_named(value):
    code = """
        import byteloom as bl
        tok = bl.Tokenizer.train("low lower", 257, threads=1)
        assert tok.encode_batch(["low"] * 1000, threads=2)
        for call in (lambda: tok.encode_batch(["low"] * 1000), lambda: bl.Tokenizer.train("low lower", 257)):
            try:
                call()
            except ValueError as error:
                assert "BYTELOOM_THREADS" in str(error), error
            else:
                raise SystemExit("accepted")
    """
    run_python(code, BYTELOOM_THREADS=value)


def test_thr_008_a_number_in_the_environment_is_used():
    code = (
        PREPARE
        + """
    assert tok.encode_batch(texts) == expected
    """
    )
    for value in ("1", "2", "16"):
        run_python(code, BYTELOOM_THREADS=value)


def test_thr_010_a_list_that_changes_during_the_call(tok):
    texts = ["the cat sat on the mat " * 20] * 300
    rows = [[97] * 100] * 300
    stop = threading.Event()

    def meddle():
        while not stop.is_set():
            texts.append("more")
            rows.append([98])
            texts.pop()
            rows.pop()
            texts[0], texts[-1] = texts[-1], texts[0]

    meddler = threading.Thread(target=meddle)
    meddler.start()
    try:
        for _ in range(30):
            for call in (
                lambda: tok.encode_batch(texts),
                lambda: tok.count_batch(texts),
                lambda: tok.decode_batch(rows),
            ):
                with contextlib.suppress(RuntimeError):  # a list that changed while it was read
                    assert len(call()) in (300, 301)
    finally:
        stop.set()
        meddler.join()


def test_thr_010_a_bytearray_that_changes_during_the_call(tok):
    data = bytearray(b"the cat sat on the mat " * 5000)
    clean = len(tok.encode(bytes(data)))
    stop = threading.Event()

    def meddle():
        turn = 0
        while not stop.is_set():
            turn += 1
            data[:1000] = bytes([turn % 256]) * 1000
            try:
                data.append(1)
                data.pop()
            except BufferError:
                pass

    meddler = threading.Thread(target=meddle)
    meddler.start()
    try:
        for _ in range(100):
            ids = tok.encode(data)
            assert len(data) - 1 <= len(tok.decode_bytes(ids)) <= len(data) + 1
            assert len(ids) > clean // 2
    finally:
        stop.set()
        meddler.join()


INTERRUPTED = {
    "train": 'bl.Tokenizer.train([big] * 2000, 3000, pattern="none")',
    "train one text": 'bl.Tokenizer.train(big * 20, 30_000, pattern="none")',
}


@posix
@pytest.mark.parametrize("call", INTERRUPTED)
def test_ctrl_c_ends_training_and_leaves_everything_usable(call):
    code = f"""
        import random, time, warnings
        import byteloom as bl
        warnings.simplefilter("ignore")
        big = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz ", k=1_000_000))
        tok = bl.Tokenizer.train("low lower", 257)
        print("ready", flush=True)
        try:
            while True:
                {INTERRUPTED[call]}
        except KeyboardInterrupt:
            assert tok.encode("low") == [256, 119]
            assert bl.Tokenizer.train("low lower", 257) == tok
            print("usable", flush=True)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline().strip() == "ready"
            time.sleep(0.7)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=10)
        finally:
            process.kill()
    assert out.strip() == "usable"
    assert process.returncode == 0

"""Ctrl-C and forks while a byte entropy model or a patcher is at work."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from helpers import run_python

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs fork and signals")

PREPARE = """
    import os, random, signal, sys, threading, time, warnings
    from byteloom import PatchingError
    from byteloom.patching import ByteEntropyModel
    # A shell starts background jobs with Ctrl-C ignored, and every process they start inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")
    TEXT = b"the cat sat on the mat, and the other cat; low lower lowest. " * 9
    big = random.Random(1).randbytes(1 << 20)
    model = ByteEntropyModel(6, smoothing="witten-bell").train(TEXT)
    before = model.to_bytes()
    expected = model.entropies(TEXT).tolist()
    patcher = model.patcher(theta=2.0, units="bits")
    patches = patcher.patches(TEXT)
    stream = patcher.stream()
    part = stream.feed(TEXT[:99])
"""

WAIT = """
    def wait(child):
        deadline = time.monotonic() + 30
        while True:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > deadline:
                os.kill(child, 9)
                os.waitpid(child, 0)
                return "the child hangs"
            time.sleep(0.01)
"""


def script(code):
    """`code` behind what all of these need."""
    return "".join(map(textwrap.dedent, (PREPARE, WAIT, code)))


# What takes long; each goes through all of its input without coming back to Python.
INTERRUPTED = {
    "train": "model.train([big] * 500)",
    "train one text": "model.train(big * 200)",
    "update": "model.update([big] * 500)",
    "entropies": "model.entropies(big * 200)",
    "bits per byte": "model.bits_per_byte(big * 100)",
    "boundaries": "patcher.boundaries(TEXT * 3_000_000)",
    "lengths": "patcher.lengths(TEXT * 3_000_000)",
    "feed": "stream.feed(TEXT * 200_000)",
    "batch": "patcher.batch([TEXT * 1_000_000] * 3, threads=2)",
}


@pytest.mark.parametrize("call", INTERRUPTED)
def test_ctrl_c_ends_the_call_and_changes_nothing(call):
    code = f"""
        print("ready", flush=True)
        try:
            while True:
                {INTERRUPTED[call]}
        except KeyboardInterrupt:
            assert model.to_bytes() == before
            assert model.entropies(TEXT).tolist() == expected
            assert patcher.patches(TEXT) == patches
            # Fed again, as if nothing had been: the interrupted piece left no trace.
            rest = stream.feed(TEXT[99:]) if {call != "feed"} else []
            last = stream.finish()
            if {call != "feed"}:
                assert part + rest + [last] * (last is not None) == patches
            print("usable", flush=True)
    """
    with subprocess.Popen([sys.executable, "-c", script(code)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline().strip() == "ready"
            time.sleep(0.7)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    assert out.strip() == "usable"
    assert process.returncode == 0


def test_ctrl_c_leaves_a_stream_as_it_was_before_the_piece():
    # One call only, so that the interrupted piece is known: it is fed again in full.
    code = """
        piece = TEXT[99:] + TEXT * 20_000
        whole = patcher.patches(TEXT[:99] + piece)
        def interrupt():
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)
        for turn in range(40):
            threading.Thread(target=interrupt).start()
            try:
                found = stream.feed(piece)
                time.sleep(1)
            except KeyboardInterrupt:
                pass
            if "found" not in globals():
                break
            # The call was faster than the interrupt: a longer piece.
            del found
            piece += piece
            whole = patcher.patches(TEXT[:99] + piece)
            stream = patcher.stream()
            part = stream.feed(TEXT[:99])
        else:
            sys.exit("never interrupted")
        found = part + stream.feed(piece)
        last = stream.finish()
        assert found + [last] * (last is not None) == whole
        print("same")
    """
    assert run_python(script(code), timeout=110).strip() == "same"


def test_a_fork_while_other_threads_update_leaves_the_child_usable():
    code = """
        counted = ByteEntropyModel(6).train(TEXT)
        # So large that adding up takes most of the time of an update.
        model = ByteEntropyModel(6).train(big[: 1 << 17])
        stop = threading.Event()
        def busy():
            while not stop.is_set():
                model.update(TEXT)
        workers = [threading.Thread(target=busy) for _ in range(2)]
        for worker in workers:
            worker.start()
        try:
            for turn in range(10):
                child = os.fork()
                if child == 0:
                    seen = model.info()["documents"]
                    model.update(TEXT)
                    right = model.info()["documents"] == seen + 1
                    right = right and ByteEntropyModel(6).update(TEXT) == counted
                    os._exit(0 if right else 3)
                code = wait(child)
                if code != 0:
                    sys.exit(f"the child: {code}")
        finally:
            stop.set()
            for worker in workers:
                worker.join()
        print("done")
    """
    assert run_python(script(code), timeout=110).strip() == "done"


def test_a_fork_while_another_thread_feeds_is_an_error_in_the_child_and_no_hang():
    code = """
        stop = threading.Event()
        much = TEXT * 4_000
        def busy():
            while not stop.is_set():
                stream.feed(much)
        worker = threading.Thread(target=busy)
        worker.start()
        codes = set()
        try:
            for turn in range(10):
                time.sleep(0.01)
                child = os.fork()
                if child == 0:
                    for use in (lambda: stream.feed(b"more"), lambda: stream.next_starts, stream.finish):
                        try:
                            use()
                        except PatchingError as error:
                            assert "forked" in str(error)
                            os._exit(7)
                    os._exit(0)
                codes.add(wait(child))
        finally:
            stop.set()
            worker.join()
        # The parent's stream was never locked for good.
        stream.feed(b"more")
        stream.finish()
        print(sorted(codes, key=str))
    """
    assert run_python(script(code), timeout=110).strip() in ("[7]", "[0, 7]")

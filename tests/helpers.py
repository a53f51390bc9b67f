"""What several test files need: errors that are ours, other processes, all ways to encode one text."""

import os
import subprocess
import sys
import textwrap
import warnings
from contextlib import contextmanager

import byteloom as bl

ALL_PATTERNS = (
    "gpt2", "cl100k", "o200k", "llama3", "qwen2",
    "simple", "course-words", "course-ws", "course-gpt2", "none",
)  # fmt: skip

CLEAN_ERRORS = (bl.ByteloomError, ValueError, TypeError, KeyError, OSError)

SAMPLES = [
    "",
    "a",
    "The cat sat on the mat; the other cat did not.",
    "don't DON'T it's we'll I'VE 'tis '1's",
    "  leading,   inner and trailing   ",
    "tabs\t\tand\r\nlines\n\n\nand\rmore \n ",
    "numbers 1 22 333 4444 55555 ½ ² ٣٤٥",
    "naïve café über Ärger straße",
    "Привет, мир! Γειά σου Κόσμε",
    "日本語のテキスト、中文文本。한국어 텍스트",
    "नमस्ते दुनिया ภาษาไทย שלום עולם مرحبا",
    "emoji 👍🏽 👨‍👩‍👧‍👦 🇺🇸 ❤️",
    "e\u0301 q\u0301x a\u0301\u0301\u0301 \u1112\u1161\u11ab",
    "\x00\x01\x1c\x1d\x1e\x1f\x7f\x85\xa0\u180e\u200b\u2028\u3000\ufeff\ufffd\uffff\U0010ffff",
    "def f(x):\n    return x**2  # square\n\n\tif x:\n\t\tpass\n",
    "x" * 300,
    "ab" * 300,
    " " * 300 + "x",
]
"""Small texts of every kind that pre-tokenizers tell apart."""

INVALID_BYTES = [
    b"\xff",
    b"ok \xff\xfe bad",
    b"\xf0\x9f\x91",
    b"\xe0\x80A",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"caf\xc3 caf\xe9 \xe6\x97 \xe6\x97\xa5",
    bytes(range(256)),
]
"""Bytes that are not UTF-8, each in its own way."""


def train_quietly(data, vocab_size, **options):
    """`Tokenizer.train` where running out of pairs is no surprise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bl.TrainingWarning)
        return bl.Tokenizer.train(data, vocab_size, **options)


def kept_report(tok):
    """The part of the training report that files and pickles hold: all but the figures of the merges."""
    report = tok.training_report
    return report and {key: value for key, value in report.items() if key not in ("counts", "tied")}


@contextmanager
def raises_cleanly(*expected):
    """The block must raise one of `expected`, or any documented error if none is given.

    A panic of the engine derives from `BaseException` only and never counts.
    """
    expected = expected or CLEAN_ERRORS
    try:
        yield
    except BaseException as error:
        name = type(error).__name__
        if "panic" in name.lower():
            message = f"the engine panicked: {error}"
            raise AssertionError(message) from None
        if not isinstance(error, expected):
            raise
        if not str(error):
            message = f"{name} without a message"
            raise AssertionError(message) from error
    else:
        message = f"nothing was raised, expected {', '.join(kind.__name__ for kind in expected)}"
        raise AssertionError(message)


def ids_by_entry_point(tok, text):
    """The ids of an ordinary text by every public way to get them."""
    ordinary = {"disallowed_special": ()}
    return {
        "encode": tok.encode(text, **ordinary),
        "encode_ordinary": tok.encode_ordinary(text),
        "encode_batch": tok.encode_batch([text], **ordinary)[0],
        "encode_batch among others": tok.encode_batch(["x", text, "yz"], threads=2, **ordinary)[1],
        "encode_array": tok.encode_array(text, **ordinary).tolist(),
        "encode_batch_array": tok.encode_batch_array([text], **ordinary)[0].tolist(),
        "encode_with_offsets": tok.encode_with_offsets(text, **ordinary)[0],
        "without a cache": tok.with_cache_bytes(0).encode_ordinary(text),
    }


def assert_entry_points_agree(tok, text):
    """Every way to encode `text` gives the same ids, and the counts fit them."""
    results = ids_by_entry_point(tok, text)
    ids = results["encode"]
    for name, result in results.items():
        assert result == ids, f"{name} differs on {text!r:.200}"
    assert tok.count(text, disallowed_special=()) == len(ids)
    assert tok.count_batch([text], disallowed_special=()) == [len(ids)]
    return ids


def run_python(code, *arguments, timeout=60, check=True, **environment):
    """Runs `code` in a new interpreter and returns what it printed; `environment` is added to ours."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env=os.environ | environment,
    )
    if check:
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout
    return done


RSS = """
def rss():
    import gc
    gc.collect()
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) * 1024
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) * 1024
"""
"""Source of `rss()` and `peak()`, in bytes, for code that `run_python` runs on Linux."""

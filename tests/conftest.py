"""Fixtures that all tests share, and how hard Hypothesis works."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import byteloom as bl

# A shell starts background jobs with Ctrl-C ignored, and every process they start inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `ci` repeats the same examples each run; `HYPOTHESIS_PROFILE=deep` looks further.
settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("deep", parent=settings.get_profile("ci"), derandomize=False, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

SMALL_TEXT = (
    "the cat sat on the mat, and the other cat sat on the other mat.\n"
    "low lower lowest; new newer newest; wide wider widest\n"
    "It's 2026: we've 1234 tokens, don't we? naïve café, 日本語, 🚀🚀\n"
) * 4
"""Text with repeats, contractions, digits and two-, three- and four-byte characters."""

SPECIAL_TOKENS = ["<|endoftext|>", "<|pad|>"]


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The unpacked corpora and vocabularies: english.txt, code.txt, multi.txt, cjk.txt, vocab/."""
    folder = os.environ.get("BYTELOOM_TEST_DATA")
    if not folder:
        pytest.skip("BYTELOOM_TEST_DATA is not set: it names the folder of the unpacked test corpora")
    path = Path(folder)
    if not (path / "english.txt").is_file():
        pytest.skip(f"BYTELOOM_TEST_DATA={folder} holds no english.txt")
    return path


@pytest.fixture(scope="session")
def small_text() -> str:
    """The text that `tok` and `special_tok` were trained on."""
    return SMALL_TEXT


@pytest.fixture(scope="session")
def tok() -> bl.Tokenizer:
    """300 tokens, cl100k pattern, no special tokens."""
    return bl.Tokenizer.train(SMALL_TEXT, vocab_size=300, pattern="cl100k")


@pytest.fixture(scope="session")
def special_tok() -> bl.Tokenizer:
    """302 tokens: `tok` with `<|endoftext|>` (the end of a sequence) and `<|pad|>`, ids 300 and 301."""
    return bl.Tokenizer.train(
        SMALL_TEXT,
        vocab_size=302,
        pattern="cl100k",
        special_tokens=SPECIAL_TOKENS,
        eos=SPECIAL_TOKENS[0],
        pad=SPECIAL_TOKENS[1],
    )


@pytest.fixture(scope="session")
def cl100k(data_dir: Path) -> bl.Tokenizer:
    """The published cl100k_base, pattern and special tokens known by its hash."""
    return bl.Tokenizer.load(data_dir / "vocab" / "cl100k_base.tiktoken")

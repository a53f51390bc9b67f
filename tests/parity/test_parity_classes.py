"""Every Unicode scalar is in the class that references at Unicode 16.0 put it in, in every pattern."""

import random
import re
import unicodedata

import numpy as np
import pytest

import byteloom as bl
from helpers import train_quietly
from oracle import COURSE_PATTERNS

PUBLISHED = ["gpt2", "cl100k", "o200k", "llama3", "qwen2"]

# Beyond these all scalars are unassigned or private; one short context each is enough for them.
VARIED = [*range(0xD800), *range(0xE000, 0x3_2FFF), *range(0xE_0000, 0xE_1000)]
UNIFORM = [*range(0x3_2FFF, 0xE_0000), *range(0xE_1000, 0x11_0000)]


def contexts(start, stop):
    """Texts of the scalars between two places of the lists: varied ones in many contexts, others in one."""
    for code in VARIED[start:stop]:
        c = chr(code)
        yield f"a{c}b1{c}2 {c}.{c} '{c}'s{c}{c}\n{c}\rA{c}/"
    chars = [chr(code) for code in UNIFORM[4 * start : 4 * stop]]
    for at in range(0, len(chars), 4):
        one, two, three, four = (chars[at : at + 4] * 4)[:4]
        yield f"a{one}1{two} {three}{four}\n"


STEP = 20_000
BLOCKS = range(0, max(len(VARIED), len(UNIFORM) // 4 + 1), STEP)


def test_the_blocks_hold_every_scalar():
    assert len(VARIED) + len(UNIFORM) == 1_112_064
    assert len(set(VARIED) | set(UNIFORM)) == 1_112_064
    assert BLOCKS[-1] + STEP >= len(VARIED)
    assert 4 * (BLOCKS[-1] + STEP) >= len(UNIFORM)


def pair_ranks():
    """All bytes and all pairs of bytes, so that ids show where a text was cut: no token stands across a cut.

    The ranks are shuffled, so that a cut in another place would seldom give the same ids.
    """
    pairs = [bytes([left, right]) for left in range(256) for right in range(256)]
    random.Random(5).shuffle(pairs)
    return {bytes([byte]): byte for byte in range(256)} | {
        pair: 256 + rank for rank, pair in enumerate(pairs)
    }


@pytest.mark.parametrize("pattern", PUBLISHED)
def test_every_scalar_as_tiktoken_cuts_it(published, pattern):
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    ranks = pair_ranks()
    theirs = tiktoken.Encoding(
        pattern, pat_str=published[pattern]["pattern"], mergeable_ranks=ranks, special_tokens={}
    )
    ours = bl.Tokenizer.from_tiktoken(ranks, pattern=pattern)
    for start in BLOCKS:
        text = "".join(contexts(start, start + STEP))
        expected = np.asarray(theirs.encode_to_numpy(text), dtype=np.uint32)
        if not np.array_equal(ours.encode_array(text), expected):
            wrong = [
                part for part in contexts(start, start + STEP) if ours.encode(part) != theirs.encode(part)
            ]
            pytest.fail(f"{len(wrong)} contexts differ, such as {wrong[:3]!a}")


def hugging_face_pieces(published, pattern):
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(published[pattern]["pattern"]), "isolated")
    return lambda text: [piece for piece, _ in split.pre_tokenize_str(text)]


# Hugging Face's `Regex` does not know cl100k's possessive spelling; llama3 is the same away from the end.
@pytest.mark.parametrize("pattern", ["gpt2", "o200k", "llama3", "qwen2"])
@pytest.mark.parametrize(
    "start", [0, 0x1F000, pytest.param(None, marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
)
def test_pretokens_as_hugging_face_cuts_them(published, pattern, start):
    pieces = hugging_face_pieces(published, pattern)
    tok = train_quietly("", 256, pattern=pattern)
    blocks = BLOCKS if start is None else [start]
    for block in blocks:
        text = "".join(contexts(block, block + (STEP if start is None else 4_000)))
        assert tok.pretokens(text) == pieces(text)


def assigned(code):
    return unicodedata.category(chr(code)) not in ("Cn", "Cs")


@pytest.mark.parametrize("pattern", [name for name in COURSE_PATTERNS if name != "none"])
def test_every_assigned_scalar_as_python_cuts_it(pattern):
    regex = re.compile(COURSE_PATTERNS[pattern])
    tok = train_quietly("", 256, pattern=pattern)
    codes = [code for code in range(0x11_0000) if assigned(code)]
    for start in range(0, len(codes), STEP):
        parts = [
            f"a{c}b{c}1 {c}.{c}'{c} {c}{c}\n{c}_{c}'s{c} " for c in map(chr, codes[start : start + STEP])
        ]
        text = "".join(parts)
        if tok.pretokens(text) != regex.findall(text):
            wrong = [part for part in parts if tok.pretokens(part) != regex.findall(part)]
            pytest.fail(f"{len(wrong)} contexts differ, such as {wrong[:3]!a}")

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

# Inside these ranges all scalars are alike: ideographs, Hangul syllables, private or unassigned ones.
ALIKE = [
    range(0x3410, 0x4DB0),
    range(0x4E10, 0x9FF0),
    range(0xAC10, 0xD790),
    range(0xE010, 0xF8F0),
    range(0x1_7010, 0x1_87F0),
    range(0x2_0010, 0x2_A6D0),
    range(0x2_A710, 0x2_B730),
    range(0x2_B830, 0x2_CEA0),
    range(0x2_CEC0, 0x2_EBD0),
    range(0x3_0010, 0x3_1340),
    range(0x3_23C0, 0xE_0000),
    range(0xE_1000, 0x11_0000),
]
UNIFORM = [code for codes in ALIKE for code in codes]
VARIED = sorted({*range(0xD800), *range(0xE000, 0x11_0000)} - {*UNIFORM})
RATIO = len(UNIFORM) // len(VARIED) + 1


def contexts(start, stop, keep=lambda _: True):
    """Texts of the scalars between two places of the lists: varied ones in many contexts, others in one."""
    for c in map(chr, filter(keep, VARIED[start:stop])):
        yield f"a{c}b1{c}2 {c}.{c} '{c}'s{c}{c}\n{c}\rA{c}/{c}_{c} "
    chars = [*map(chr, filter(keep, UNIFORM[RATIO * start : RATIO * stop]))]
    for at in range(0, len(chars), 4):
        one, two, three, four = (chars[at : at + 4] * 4)[:4]
        yield f"a{one}1{two} {three}{four}\n"


STEP = 20_000
BLOCKS = range(0, len(VARIED), STEP)


def test_the_blocks_hold_every_scalar():
    seen = set()
    for start in BLOCKS:
        seen.update(*contexts(start, start + STEP))
    assert len(seen) == 1_112_064


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
    "start", [0, 60_000, pytest.param(None, marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
)
def test_pretokens_as_hugging_face_cuts_them(published, pattern, start):
    pieces = hugging_face_pieces(published, pattern)
    tok = train_quietly("", 256, pattern=pattern)
    blocks = BLOCKS if start is None else [start]
    for block in blocks:
        text = "".join(contexts(block, block + (STEP if start is None else 4_000)))
        assert tok.pretokens(text) == pieces(text)


def assigned(code):
    return unicodedata.category(chr(code)) != "Cn"


@pytest.mark.parametrize("pattern", [name for name in COURSE_PATTERNS if name != "none"])
def test_every_assigned_scalar_as_python_cuts_it(pattern):
    regex = re.compile(COURSE_PATTERNS[pattern])
    tok = train_quietly("", 256, pattern=pattern)
    for start in BLOCKS:
        parts = [*contexts(start, start + STEP, assigned)]
        text = "".join(parts)
        if tok.pretokens(text) != regex.findall(text):
            wrong = [part for part in parts if tok.pretokens(part) != regex.findall(part)]
            pytest.fail(f"{len(wrong)} contexts differ, such as {wrong[:3]!a}")

"""Texts, documents and vocabularies for Hypothesis: small alphabets that force the interesting cases."""

from hypothesis import settings
from hypothesis import strategies as st

few = settings(max_examples=max(10, settings().max_examples // 4))
"""For a test that runs once for each pattern, or against a slow oracle."""

FRAGMENTS = [
    "a", "A", "ß", "é", "e\u0301", "Ж", "日", "本", "ก", "\u1c89", "\U000323b0", "👍", "👍🏽", "\u200d",
    "'", "'s", "'S", "'ll", "'\u017f", "’t", "1", "12", "²", "½", "٣", " ", "  ", "\t", "\n", "\r\n", "\r",
    "\n\n", "\x0b", "\x1c", "\x85", "\xa0", "\u2003", "\u2028", "\u3000", "\u180e", "\u200b", "_", "-", "/",
    "//", "!", "...", "=>", "\x00", "\x7f", "\ufeff", "\ufffd", "<", "<|", "|>", "the", " the", "and",
]  # fmt: skip
"""Pieces of text that pre-tokenizers and UTF-8 readers treat differently."""

texts = st.one_of(
    st.text(),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join),
    st.builds(
        lambda a, n, b: a * n + b, st.sampled_from(FRAGMENTS), st.integers(0, 70), st.sampled_from(FRAGMENTS)
    ),
)

bad_bytes = st.sampled_from(
    [
        b"\xff",
        b"\x80",
        b"\xc3",
        b"\xe6\x97",
        b"\xf0\x9f\x91",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b"\xf4\x90\x80\x80",
        b"\xe0\x80",
    ]
)

byte_texts = st.one_of(
    st.binary(),
    texts.map(str.encode),
    st.lists(st.one_of(bad_bytes, st.sampled_from(FRAGMENTS).map(str.encode)), max_size=20).map(b"".join),
)

ALPHABETS = [b"a", b"ab", b"abc", b"ab ", bytes(range(256))]


@st.composite
def pieces(draw, longest=400, alphabets=ALPHABETS):
    """A pre-token over a small alphabet, often with a long regular part."""
    alphabet = draw(st.sampled_from(alphabets))
    letters = st.sampled_from(alphabet)
    ends = st.lists(letters, max_size=20).map(bytes)
    unit = st.lists(letters, min_size=1, max_size=5).map(bytes)
    start, body, end = draw(ends), draw(unit), draw(ends)
    times = draw(st.integers(0, longest // len(body)))
    return (start + body * times + end)[:longest] or body


@st.composite
def rank_tables(draw):
    """Ranks of tokens over a tiny alphabet, in any order, with holes; all bytes are there."""
    alphabet = draw(st.sampled_from([b"a", b"ab", b"abc"]))
    token = st.lists(st.sampled_from(alphabet), min_size=2, max_size=6).map(bytes)
    tokens = draw(st.lists(token, max_size=25, unique=True))
    ids = draw(st.permutations(range(len(tokens))))
    step = draw(st.sampled_from([1, 1, 3]))
    first = draw(st.sampled_from([256, 256, 1000]))
    return {bytes([byte]): byte for byte in range(256)} | {
        token: first + step * number for token, number in zip(tokens, ids, strict=True)
    }


@st.composite
def merge_lists(draw):
    """Merges of ids over a tiny alphabet: any two tokens may be joined, even to bytes that are a token."""
    known = list(draw(st.sampled_from([b"a", b"ab", b"abc"])))
    merges = []
    for _ in range(draw(st.integers(0, 20))):
        pair = (draw(st.sampled_from(known)), draw(st.sampled_from(known)))
        if pair not in merges:
            known.append(256 + len(merges))
            merges.append(pair)
    return merges


TRAINING_ALPHABETS = ["a", "ab", "abc", "ab ", "ab \n", "abé ", "a日 b", "the and", "0a1 'st"]


@st.composite
def corpora(draw, specials=()):
    """Documents over a tiny alphabet, so that pairs tie and overlap; `specials` are strewn in."""
    letters = draw(st.sampled_from(TRAINING_ALPHABETS))
    part = st.one_of(
        st.text(letters, max_size=25),
        st.builds(
            lambda unit, times: unit * times, st.text(letters, min_size=1, max_size=4), st.integers(1, 12)
        ),
        *([st.sampled_from(sorted(specials))] if specials else []),
    )
    return draw(st.lists(st.lists(part, max_size=5).map("".join), max_size=6))

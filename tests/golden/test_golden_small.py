"""Values small enough to check by hand, and the printed results of the courses."""

import pytest

import byteloom as bl
from helpers import train_quietly

COURSE_SPECIALS = ["<pad>", "<bos>", "<eos>", "<user>", "<assistant>"]


def train_course(vocab_size):
    return bl.Tokenizer.train(
        "the cat and the can and the cat", vocab_size, pattern="course-words", special_tokens=COURSE_SPECIALS
    )


def test_course_step_1():
    tok = train_course(270)
    ids = tok.encode("the cat")
    assert tok.vocab_size == 270
    assert ids == [259, 263]
    assert [tok.decode([token]) for token in ids] == ["the", " cat"]
    assert tok.decode(ids) == "the cat"
    assert tok.special_tokens == {name: 265 + index for index, name in enumerate(COURSE_SPECIALS)}


def test_course_step_1_with_fewer_tokens():
    tok = train_course(265)
    assert len(tok.merges) == 4
    assert [tok.decode([token]) for token in tok.encode(" cat")] == [" c", "a", "t"]


@pytest.mark.parametrize(
    ("tie_break", "merges", "ids"),
    [
        # aaabdaaabac: `aa` four times; then `ab` and `(aa)a` tie at two.
        ("smallest_pair", [(97, 97), (97, 98), (256, 257)], [258, 100, 258, 97, 99]),
        ("first_seen", [(97, 97), (256, 97), (257, 98)], [258, 100, 258, 97, 99]),
    ],
)
def test_the_classic_example(tie_break, merges, ids):
    tok = bl.Tokenizer.train("aaabdaaabac", 259, pattern="none", tie_break=tie_break)
    assert tok.merges == merges
    assert tok.encode("aaabdaaabac") == ids


def test_runs_merge_from_the_left_and_count_their_overlaps():
    tok = bl.Tokenizer.train("aaaa", 257, pattern="none", min_frequency=3)
    assert tok.merges == [(97, 97)]
    assert tok.encode("aaaa") == [256, 256]
    assert tok.encode("aaaaa") == [256, 256, 97]


def test_hugging_face_prefers_printable_bytes():
    # Its trainer numbers `!` to `~` first, then Latin letters, then the rest: a tab comes after a `z`.
    for tie_break, pair in (("smallest_pair", (9, 9)), ("huggingface", (122, 122))):
        tok = train_quietly("\t\t\t_zzz", 257, pattern="none", tie_break=tie_break)
        assert tok.merges == [pair]


@pytest.mark.parametrize(
    ("pattern", "text", "pieces"),
    [
        ("course-words", "Wer da? Ich!", ["Wer", " da", "?", " Ich", "!"]),
        ("course-words", "two  spaces", ["two", "  ", "spaces"]),
        ("course-ws", "a\tb\n\nc", ["a", "\tb", "\n\n", "c"]),
        ("simple", "a  b!\n", ["a", "  ", "b!", "\n"]),
        ("none", "a  b!\n", ["a  b!\n"]),
        ("course-gpt2", "Don't stop_now 42x", ["Don", "'t", " stop", "_", "now", " 42", "x"]),
        ("gpt2", "Don't stop_now 42x", ["Don", "'t", " stop", "_", "now", " 42", "x"]),
        ("gpt2", "hello   world  ", ["hello", "  ", " world", "  "]),
        (
            "cl100k",
            "I'LL pay 12345\r\n\r\n  now",
            ["I", "'LL", " pay", " ", "123", "45", "\r\n\r\n", " ", " now"],
        ),
        ("cl100k", "x\n  ", ["x", "\n  "]),
        ("llama3", "x\n  ", ["x", "\n", "  "]),
        ("qwen2", "12345", ["1", "2", "3", "4", "5"]),
        ("o200k", "HelloWorld's it'sX ABC/def", ["Hello", "World's", " it's", "X", " ABC", "/def"]),
    ],
)
def test_pretokens(pattern, text, pieces):
    tok = train_quietly("", 256, pattern=pattern)
    assert tok.pretokens(text) == pieces
    assert tok.pretokens(text.encode()) == [piece.encode() for piece in pieces]

"""Faults that other tokenizers had when encoding, each as a test of its whole kind. Names hold their ids."""

import random

import pytest

import byteloom as bl
from helpers import ALL_PATTERNS, SAMPLES, assert_entry_points_agree, raises_cleanly, train_quietly
from oracle import encode_ranks

BYTES = {bytes([byte]): byte for byte in range(256)}


def check(tok, text, ids):
    assert assert_entry_points_agree(tok, text) == ids
    assert tok.decode(ids) == text


def pretokens(pattern, text):
    return train_quietly("", 256, pattern=pattern).pretokens(text)


@pytest.mark.parametrize("spaces", [999_998, 999_999, 1_000_000])
def test_enc_001_a_million_spaces_before_a_letter(cl100k, spaces):
    text = " " * spaces + "x"
    ids = cl100k.encode(text)
    assert cl100k.decode(ids) == text
    if spaces != 999_999:
        assert len(ids) == 7814
    assert cl100k.count(text) == len(ids)


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
@pytest.mark.parametrize("unit", [" ", "\n", "\t", "\u3000", "\r\n", " \n"])
def test_enc_001_long_runs_of_white_space_in_every_pattern(pattern, unit):
    tok = train_quietly((unit * 8 + "x") * 4, 270, pattern=pattern)
    for end in ("x", "", "\n", "1", "."):
        text = "a" + unit * 30_000 + end
        pieces = tok.pretokens(text)
        assert "".join(pieces) == text
        assert tok.decode(tok.encode(text)) == text
        # What the pattern does with a long run is what it does with a short one.
        short = tok.pretokens("a" + unit * 10 + end)
        assert (len(pieces) == len(short)) or len(unit) > 1 or unit in "\n\u3000"


def test_enc_002_a_million_times_the_same_letter(cl100k):
    assert set(cl100k.encode("a" * 1_000_000)) == {70540}
    assert cl100k.count("a" * 1_000_000) == 125_000


def test_enc_003_equal_ranks_merge_from_the_left(cl100k):
    assert cl100k.encode("ab" * 250 + "zzz")[-2:] == [10616, 89]
    ids = cl100k.encode("a" * 501)
    assert (len(ids), ids[0], ids[-1]) == (64, 70540, 64)


LENGTHS = [n + d for n in (64, 100, 128, 256, 500, 512) for d in (-2, -1, 0, 1, 2)]


@pytest.mark.parametrize("length", [*range(1, 40), *LENGTHS, 1000])
def test_enc_005_no_length_of_a_piece_is_special(length):
    seeded = random.Random(length)
    for alphabet in (b"a", b"ab", b"abcdefghijklmnopqrstuvwxyz", bytes(range(256))):
        tokens = {bytes(seeded.choices(alphabet, k=seeded.randint(2, 6))) for _ in range(80)}
        ranks = BYTES | {
            token: 256 + rank for rank, token in enumerate(seeded.sample(sorted(tokens), len(tokens)))
        }
        tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none")
        for _ in range(2):
            piece = bytes(seeded.choices(alphabet, k=length))
            assert tok.encode(piece) == encode_ranks(piece, ranks)


def test_enc_006_half_a_million_combining_marks(cl100k):
    text = "a" + "\u0301" * 500_000
    ids = cl100k.encode(text)
    assert len(ids) == 500_001
    assert cl100k.decode(ids) == text


CL100K_IDS = {
    "enc-007 NUL": ("a\0b\0\0", [64, 188, 65, 188, 188]),
    "enc-009 CR": ("a\rb\r\rc", [64, 201, 65, 201, 201, 66]),
    "enc-010 BOM": ("\ufeffhello", [3305, 15339]),
    "enc-010 BOM inside": ("a\ufeffb", [64, 3305, 65]),
    "enc-012 separators": ("a\x1c\x1d\x1e\x1fb", [64, 216, 217, 218, 219, 65]),
    "enc-013 no space": ("a\u180e\u180eb", [64, 157, 254, 236, 157, 254, 236, 65]),
    "enc-015 NBSP": ("\u00a0hello", [4194, 15339]),
    "enc-016 long s": ("it'\u017fx", [275, 6, 129, 123, 87]),
    "enc-018 Unicode 17": ("a\U000323b0b", [64, 172, 110, 236, 108, 65]),
    "enc-019 Unicode 16": ("a\u1c89\u1c8a b", [64, 157, 110, 231, 157, 110, 232, 293]),
    "enc-021 superscripts": ("m\u00b2\u00b3", [76, 30556, 44301]),
    "enc-022 digits": ("1234567890", [4513, 10961, 16474, 15]),
    "enc-022 Arabic digits": ("\u0661\u0662\u0663\u0664", [149, 94, 149, 95, 149, 96, 149, 97]),
    "enc-024 Jamo": ("\u1112\u1161\u11ab", [157, 226, 240, 157, 227, 94, 157, 228, 104]),
    "enc-025 ZWJ": (
        "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
        [9468, 239, 101, 378, 235, 9468, 239, 102, 378, 235, 9468, 239, 100, 378, 235, 9468, 239, 99],
    ),
    "enc-027 trailing": ("hello   ", [15339, 262]),
    "enc-027 only spaces": ("    ", [257]),
    "enc-027 tabs": ("\t\t\tx", [298, 10436]),
}


@pytest.mark.parametrize("name", CL100K_IDS)
def test_characters_that_others_lose_or_misread(cl100k, name):
    text, ids = CL100K_IDS[name]
    check(cl100k, text, ids)
    assert cl100k.encode(text.encode()) == ids


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
def test_enc_007_009_010_024_025_nothing_is_stripped_or_composed(pattern):
    tok = train_quietly("", 256, pattern=pattern)
    for text in (
        "\0",
        "\ufeff",
        "a\ufeff",
        "\r",
        "e\u0301",
        "\u1112\u1161\u11ab",
        "\ufb01",
        "\u212a",
        "\u200d\u200d",
        "\ufffe",
    ):
        assert tok.encode(text) == list(text.encode())
        assert tok.decode(tok.encode(text)) == text


PIECES = [
    ("enc-012", ["gpt2", "cl100k", "o200k"], "a\x1c\x1d b", ["a", "\x1c\x1d", " b"]),
    ("enc-013", ["gpt2", "cl100k", "o200k"], "a\u180e\u180eb", ["a", "\u180e\u180e", "b"]),
    ("enc-015", ["gpt2"], "a\u00a0\u00a0b", ["a", "\u00a0", "\u00a0", "b"]),
    ("enc-016", ["cl100k", "llama3"], "it'\u017fx", ["it", "'\u017f", "x"]),
    ("enc-016", ["gpt2"], "it'\u017fx", ["it", "'", "\u017fx"]),
    ("enc-016", ["o200k"], "it'\u017fx", ["it'\u017f", "x"]),
    ("enc-018", ["gpt2"], "a\U000323b0b", ["a", "\U000323b0", "b"]),
    ("enc-019", ["gpt2", "cl100k"], "\u1c89a", ["\u1c89a"]),
    ("enc-019", ["gpt2", "cl100k"], "\ua7cba", ["\ua7cba"]),
    ("enc-019", ["gpt2", "cl100k"], "\U00016d40\U00016d41", ["\U00016d40\U00016d41"]),
    ("enc-021", ["gpt2", "cl100k"], "m\u00b2\u00b3", ["m", "\u00b2\u00b3"]),
    ("enc-021", ["gpt2", "cl100k"], "1\u00bd2", ["1\u00bd2"]),
    ("enc-021", ["course-gpt2"], "m\u00b2\u00b3", ["m\u00b2\u00b3"]),
    ("enc-022", ["cl100k", "o200k"], "\u0661\u0662\u0663\u0664", ["\u0661\u0662\u0663", "\u0664"]),
    ("enc-022", ["qwen2"], "\u0661\u0662", ["\u0661", "\u0662"]),
    ("enc-025", ["gpt2", "cl100k"], "\U0001f468\u200d\U0001f469", ["\U0001f468\u200d\U0001f469"]),
    ("enc-027", ["gpt2", "cl100k"], "a   b", ["a", "  ", " b"]),
]


@pytest.mark.parametrize(("name", "patterns", "text", "pieces"), PIECES)
def test_classes_of_characters(name, patterns, text, pieces):
    for pattern in patterns:
        assert pretokens(pattern, text) == pieces, pattern


def test_enc_018_the_unicode_version_is_stated(cl100k, tmp_path):
    assert cl100k.info()["unicode"] == "16.0.0"
    assert b"16.0" in train_quietly("", 256).to_bytes()


def test_enc_028_lone_surrogates_in_every_entry_point(cl100k):
    repaired = [
        ("\ud83d", [5809]),
        ("a\udfffb", [64, 5809, 65]),
        ("\ud83d\udc4d", [9468, 239, 235]),
        ("\udc4d\ud83d", [10178]),
    ]
    for text, ids in repaired:
        index = next(i for i, char in enumerate(text) if "\ud800" <= char <= "\udfff")
        calls = [
            cl100k.encode,
            cl100k.encode_ordinary,
            lambda t, **o: cl100k.encode_batch(["x", t], **o)[1],
            lambda t, **o: cl100k.encode_array(t, **o).tolist(),
            lambda t, **o: cl100k.encode_batch_array([t], **o)[0].tolist(),
            lambda t, **o: cl100k.encode_with_offsets(t, **o)[0],
        ]
        for call in calls:
            with pytest.raises(bl.TextError, match=rf"\b{index}\b"):
                call(text)
            assert call(text, errors="replace") == ids
        for call in (
            cl100k.count,
            cl100k.pretokens,
            lambda t: cl100k.truncate(t, 9),
            lambda t: cl100k.chunk(t, 9),
        ):
            with raises_cleanly(bl.TextError):
                call(text)
        for data in (text, [text], ["fine", text]):
            with raises_cleanly(bl.TextError):
                bl.Tokenizer.train(data, 300)


def test_enc_030_a_wrong_element_of_a_batch_is_named(cl100k):
    for texts, index, kind in ((["a", None, "b"], 1, "NoneType"), (["a", 3], 1, "int"), ([["a"]], 0, "list")):
        for call in (cl100k.encode_batch, cl100k.encode_batch_array, cl100k.count_batch):
            with pytest.raises(TypeError) as caught:
                call(texts)
            assert str(index) in str(caught.value)
            assert kind in str(caught.value)
    assert cl100k.encode_batch(["a"]) == [[64]]


def test_enc_031_nothing_in_nothing_out(cl100k):
    assert cl100k.encode("") == cl100k.encode_batch([]) == cl100k.encode(b"") == []
    assert cl100k.encode_batch(["", "a", ""]) == [[], [64], []]
    assert cl100k.decode([]) == ""
    assert cl100k.decode_bytes([]) == b""
    assert cl100k.decode_batch([]) == []
    assert cl100k.decode_batch([[], []]) == ["", ""]
    assert cl100k.encode_with_offsets("") == ([], [])
    assert cl100k.decode_with_offsets([]) == ("", [])
    assert cl100k.truncate("", 5) == ""
    assert cl100k.pretokens("") == []
    assert cl100k.count("") == 0
    assert cl100k.stream_decoder().flush() == ""


@pytest.mark.parametrize("pattern", [r"\w+", r"[a-z]", "b", r"\d{2}", r"(?<=a)b", "xyz+"])
def test_enc_033_text_that_a_pattern_does_not_match_is_kept(pattern):
    tok = bl.Tokenizer.from_tiktoken(BYTES, pattern=pattern)
    for text in ("a, b", ", ", "a", "日b 12 3", ""):
        assert tok.decode(tok.encode(text)) == text
        assert "".join(tok.pretokens(text)) == text


@pytest.mark.parametrize("pattern", [r"x*", r"", r"\b", r"^", r"$", r"(?:a|)", r"\s*", r"(?=b)", r"(?!b)"])
def test_enc_034_a_pattern_that_matches_nothing_ends(pattern):
    try:
        tok = bl.Tokenizer.from_tiktoken(BYTES, pattern=pattern)
    except ValueError:
        return
    for text in ("abc", "xxabxx", "", "日本", "\n"):
        assert tok.decode(tok.encode(text)) == text
        assert tok.decode_bytes(tok.encode(b"\xff" + text.encode())) == b"\xff" + text.encode()


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+$", r"(a|a)*b", r"(\w+\s*)+:", r"(?=(a+)+$)a", r"(x+x+)+y", r"(?:a?){50}a{50}", r"(.*)*\1"],
)
def test_spd_a_custom_pattern_never_hangs(pattern):
    try:
        tok = bl.Tokenizer.from_tiktoken(BYTES, pattern=pattern)
        text = "a" * 5_000 + "!"
        assert tok.decode(tok.encode(text)) == text
    except bl.PatternError:
        pass  # it says that it gives up


def test_enc_036_entry_points_agree(cl100k):
    for text in ("q\u0301x", "\u00b2", "\x1c\t", "\U0001f468\u200d\U0001f469", *SAMPLES):
        assert_entry_points_agree(cl100k, text)
        assert_entry_points_agree(cl100k, text.encode())


def test_enc_037_a_piece_that_is_a_token_is_that_token():
    tok = bl.Tokenizer.from_tiktoken(BYTES | {b"abc": 256}, pattern=r"\S+|\s+")
    check(tok, "abc abcz", [256, 32, 97, 98, 99, 122])
    check(tok, "abc", [256])


def test_enc_039_every_byte_is_always_there():
    tok = train_quietly("ab", 300)
    assert tok.encode("xyz") == [120, 121, 122]
    assert (
        tok.decode_bytes(tok.encode(bytes(range(256)))) == tok.decode_bytes(range(256)) == bytes(range(256))
    )
    for missing in (b"a", b"\x00", b"\xff"):
        with raises_cleanly(bl.VocabularyError):
            bl.Tokenizer.from_tiktoken(
                {token: rank for token, rank in BYTES.items() if token != missing}, pattern="gpt2"
            )


def test_enc_040_no_space_is_added(cl100k):
    assert cl100k.decode(cl100k.encode("a")) == "a"
    assert cl100k.encode("a") == [64]

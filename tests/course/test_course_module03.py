"""The third course: tokenizers of characters and of bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import byteloom as bl
from byteloom.course import module03
from byteloom.course.module03 import (
    SPECIAL_TOKENS,
    BPETokenizer,
    ByteLevelBPETokenizer,
    CharTokenizer,
    bytes_to_unicode,
    count_pairs,
    demonstrate_byte_level,
    gpt2_pretokenize,
    merge,
)
from helpers import SAMPLES, raises_cleanly
from oracle import count_words, encode_merges, learn, number_characters, split
from strategies import corpora, few, texts

NAMES = list(SPECIAL_TOKENS)
KINDS = [
    BPETokenizer,
    ByteLevelBPETokenizer,
    lambda *args, **options: ByteLevelBPETokenizer(*args, pretokenizer="simple", **options),
]
CONTRACTIONS = "don't stop. I'll pay $20. don't wait. I'll go. " * 40
ASCII = "the code returns hello world def class self " * 20


def trained(text, vocab_size=1000, kind=BPETokenizer, **options):
    tok = kind(vocab_size, **options)
    tok.train(text, show_progress=False)
    return tok


def shown(tok, text):
    return [tok.id_to_token(i) for i in tok.encode(text)]


# Against the oracle

# Tiny alphabets, and texts that spell special tokens.
training_texts = st.one_of(
    corpora().map(" ".join),
    st.lists(st.sampled_from(["<PAD>", "<", "PAD", ">", "<UNK>", " ", "P", "<EOS>x"]), max_size=12).map(
        "".join
    ),
)
sizes = st.sampled_from([-3, 0, 4, 9, 20, 300])
frequencies = st.sampled_from([1, 2, 2, 3])


@few
@given(text=training_texts, size=sizes, min_frequency=frequencies, probe=texts)
def test_characters_are_the_oracle(text, size, min_frequency, probe):
    tok = trained(text, size, min_frequency=min_frequency)
    words = count_words([text], lambda part: split(part, "simple"))
    characters, numbers = number_characters(words)
    tokens, pairs = list(characters), []
    for pair, _ in learn(numbers, "first_seen", min_frequency, base=characters, taken=NAMES):
        if len(NAMES) + len(tokens) >= size:
            break
        pairs.append(pair)
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
    assert list(tok.vocab.items()) == [(token, i) for i, token in enumerate([*NAMES, *tokens])]
    assert list(tok.merges) == [(tokens[left], tokens[right]) for left, right in pairs]
    assert list(tok.merges.values()) == tokens[len(characters) :]
    for sample in (text, probe):
        expected = []
        for word in tok.to_tokenizer().pretokens(sample):
            symbols = [characters.index(c) if c in characters else None for c in word]
            ids = encode_merges(symbols, pairs, len(characters))
            expected += [SPECIAL_TOKENS["<UNK>"] if i is None else len(NAMES) + i for i in ids]
        assert tok.encode(sample) == expected
        known = "".join(c for c in sample if c in characters)
        assert tok.decode(expected) == known


@pytest.mark.parametrize(("pretokenizer", "pattern"), [("gpt2", "course-gpt2"), ("simple", "simple")])
@few
@given(text=training_texts, size=sizes, min_frequency=frequencies, probe=texts)
def test_bytes_are_the_oracle(pretokenizer, pattern, text, size, min_frequency, probe):
    tok = trained(
        text, 256 + size, ByteLevelBPETokenizer, min_frequency=min_frequency, pretokenizer=pretokenizer
    )
    words = count_words([text], lambda part: split(part, pattern))
    letters = bytes_to_unicode()
    tokens, pairs = list(letters.values()), []
    for pair, _ in learn(words, "first_seen", min_frequency, taken=[name.encode() for name in NAMES]):
        if len(NAMES) + len(tokens) >= 256 + size:
            break
        pairs.append(pair)
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
    assert list(tok.vocab.items()) == [(token, i) for i, token in enumerate([*NAMES, *tokens])]
    assert list(tok.merges) == [(tokens[left], tokens[right]) for left, right in pairs]
    for sample in (text, probe):
        pieces = tok.to_tokenizer().pretokens(sample)
        ids = [4 + i for piece in pieces for i in encode_merges(piece.encode(), pairs)]
        assert tok.encode(sample) == ids
        assert tok.decode(ids) == sample


@pytest.mark.parametrize("kind", KINDS, ids=["characters", "gpt2", "simple"])
@few
@given(text=training_texts, probe=texts)
def test_to_tokenizer_has_the_same_ids(kind, text, probe):
    tok = trained(text, 300, kind)
    other = tok.to_tokenizer()
    for sample in (text, probe, "<PAD> <UNK>x <EOS>"):
        ids = tok.encode(sample)
        assert other.encode_ordinary(sample) == other.encode(sample, disallowed_special=()) == ids
        assert other.decode(ids, skip_special_tokens=True) == tok.decode(ids)
        framed = tok.encode(sample, add_special_tokens=True)
        assert other.encode(sample, disallowed_special=(), add_special_tokens=True) == framed == [2, *ids, 3]
    assert other.special_tokens == SPECIAL_TOKENS
    assert other.vocab_size == len(tok.vocab)
    again = bl.Tokenizer.from_bytes(other.to_bytes())
    assert again == other
    assert again.encode_ordinary(probe) == tok.encode(probe)


# The tokenizer of characters


def test_characters_are_two_tables():
    tok = CharTokenizer("hello world")
    assert tok.chars == sorted("helo wrd")
    assert tok.stoi == {char: i for i, char in enumerate(tok.chars)}
    assert tok.itos == dict(enumerate(tok.chars))
    assert tok.encode("hello") == [3, 2, 4, 4, 5]
    assert tok.decode([3, 2, 4, 4, 5]) == "hello"
    with pytest.raises(KeyError) as unknown:
        tok.encode("hex")
    assert unknown.value.args == ("x",)
    with pytest.raises(bl.UnknownTokenError, match="id 8 at position 1"):
        tok.decode([0, 8])


# Training and what it prints


def test_special_tokens_come_first():
    assert SPECIAL_TOKENS == {"<PAD>": 0, "<UNK>": 1, "<BOS>": 2, "<EOS>": 3}
    for kind in KINDS:
        assert list(trained("ab ab", 300, kind).vocab)[:4] == NAMES


def test_the_report_of_a_small_training(capsys):
    tok = BPETokenizer(vocab_size=30, verbose=False)
    stats = tok.train("ab cd ab cd ab cd ab cd " * 20, show_progress=True)
    rule = "=" * 60
    assert capsys.readouterr().out == (
        f"{rule}\nBPE TOKENIZER TRAINING\n{rule}\nText length: 480 characters\nTarget vocab size: 30\n\n"
        "\nTraining complete!\n  Final vocab size: 11\n  Merges learned: 2\n\n"
    )
    assert stats == tok.training_stats == {"vocab_size": 11, "num_merges": 2, "num_special_tokens": 4}
    assert tok.merges == {("a", "b"): "ab", ("c", "d"): "cd"}


@pytest.mark.parametrize("kind", [BPETokenizer, ByteLevelBPETokenizer])
@pytest.mark.parametrize("verbose", [False, True])
def test_progress_lines(kind, verbose, corpus, capsys):
    text = corpus[:3000]
    tok = kind(vocab_size=400, verbose=verbose)
    tok.train(text)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith("BPE TOKENIZER TRAINING")
    assert lines[3:5] == ["Text length: 3,000 characters", "Target vocab size: 400"]
    base = 4 + (256 if kind is ByteLevelBPETokenizer else len(set(text)))
    if kind is ByteLevelBPETokenizer:
        words = count_words([text], lambda part: split(part, "course-gpt2"))
        counts = [count for _, count in learn(words, "first_seen")]
    else:
        characters, words = number_characters(count_words([text], lambda part: split(part, "simple")))
        counts = [count for _, count in learn(words, "first_seen", base=characters)]
    expected = [
        f"  Merge {done}: {a!r} + {b!r} → {a + b!r} "
        f"(count: {count}, progress: {100 * done / (400 - base):.1f}%)"
        for done, ((a, b), count) in enumerate(zip(tok.merges, counts, strict=False), 1)
        if verbose or done % 50 == 0
    ]
    assert len(expected) >= 2
    assert [line for line in lines if "Merge " in line] == expected


def test_nothing_is_printed_unasked(capsys):
    for kind in KINDS:
        tok = trained("ab ab cd", 300, kind, verbose=True)
        tok.decode(tok.encode("ab"))
    assert capsys.readouterr().out == ""


def test_vocab_size_counts_everything():
    sizes = {}
    for size in (3, 9, 10, 11, 12, 30):
        tok = trained("ab cd " * 20, size)
        assert tok.training_stats["vocab_size"] == len(tok.vocab)
        sizes[size] = len(tok.vocab), len(tok.merges)
    assert sizes == {3: (9, 0), 9: (9, 0), 10: (10, 1), 11: (11, 2), 12: (11, 2), 30: (11, 2)}
    assert trained("", 30).vocab == SPECIAL_TOKENS
    assert len(trained("hello world", 400, ByteLevelBPETokenizer).vocab) == 260


def test_a_pair_must_occur_min_frequency_times():
    def merges(text, **options):
        return len(trained(text, 100, **options).merges)

    assert (merges("ab ab"), merges("ab"), merges("ab", min_frequency=1)) == (1, 0, 1)
    assert (merges("ab ab", min_frequency=3), merges("ab ab ab", min_frequency=3)) == (0, 1)


def test_ties_are_judged_anew_each_round():
    assert next(iter(trained("yz ab yz ab").merges)) == ("y", "z")
    assert next(iter(trained("b ab yab yb b").merges)) == ("a", "b")
    merges = [("c", "a"), ("x", "a"), ("xa", "b"), ("xab", "y")]
    assert list(trained("xaby xaby ca ca ca").merges) == merges


def test_overlapping_pairs_count():
    assert list(trained("aaa bcbc").merges) == [("a", "a"), ("b", "c")]


def test_the_first_merges_of_two_words():
    merged = list(trained("hello world hello world hello world " * 10, 50).merges.values())
    assert merged == ["he", "hel", "hell", "hello", "wo", "wor", "worl", "world"]


def test_white_space_is_apart():
    tok = trained("a b  a b  a b  ", 100)
    assert list(tok.merges.values()) == ["  "]
    assert shown(tok, "a  b a") == ["a", "  ", "b", " ", "a"]
    code = trained("def foo():\n    return 1\ndef bar():\n    return 2", 100)
    assert shown(code, "def foo():") == ["def", " ", "f", "o", "o", "():"]
    assert shown(code, "    return") == ["  ", "  ", "return"]
    assert shown(code, "        x") == ["  ", "  ", "  ", "  ", "<UNK>"]


def test_repetition_compresses_worst():
    ratios = {}
    repetitive, varied = "the the the " * 100, " ".join(f"word{i}" for i in range(100))
    for name, text in {"repetitive": repetitive, "varied": varied}.items():
        ratios[name] = f"{len(text) / len(trained(text, 200).encode(text)):.2f}"
    assert ratios == {"repetitive": "2.00", "varied": "2.38"}


# Encoding and decoding


def test_with_and_without_special_tokens():
    tok = trained("ab cd ab cd ab cd ab cd " * 20, 30)
    assert tok.encode("ab cd") == [9, 4, 10]
    framed = tok.encode("ab cd", add_special_tokens=True)
    assert framed == [2, 9, 4, 10, 3]
    assert [tok.id_to_token(i) for i in framed] == ["<BOS>", "ab", " ", "cd", "<EOS>"]
    assert tok.decode(framed) == "ab cd"
    assert tok.decode(framed, skip_special_tokens=False) == "<BOS>ab cd<EOS>"
    assert tok.encode("") == []
    assert tok.encode("", add_special_tokens=True) == [2, 3]
    assert tok.decode([]) == ""
    assert (tok.token_to_id("cd"), tok.token_to_id("xy")) == (10, 1)


def test_unknown_characters():
    tok = trained("hello world", 50)
    assert tok.encode("hello world") == [7, 6, 8, 8, 9, 4, 11, 9, 10, 8, 5]
    ids = tok.encode("hello 123")
    assert ids == [7, 6, 8, 8, 9, 4, 1, 1, 1]
    assert tok.decode(ids) == "hello "
    assert tok.decode(ids, skip_special_tokens=False) == "hello <UNK><UNK><UNK>"
    assert shown(trained("ab ab ab", 50), "ab?ab é☕\nab") == [
        "ab", "<UNK>", "ab", " ", "<UNK>", "<UNK>", "<UNK>", "ab",
    ]  # fmt: skip
    for kind in KINDS[1:]:
        byte_tok = trained("hello world", 400, kind)
        for text, tokens in {"hello 123": 9, "hello ☕": 9, "你好": 6}.items():
            assert len(byte_tok.encode(text)) == tokens
            assert SPECIAL_TOKENS["<UNK>"] not in byte_tok.encode(text)
            assert byte_tok.decode(byte_tok.encode(text)) == text


def test_merges_apply_in_learned_order():
    tok = trained("bc bc bc ab ab", 100)
    assert list(tok.merges) == [("b", "c"), ("a", "b")]
    assert shown(tok, "abc ab cab") == ["a", "bc", " ", "ab", " ", "c", "ab"]


def test_a_word_never_seen_is_made_of_pieces():
    tok = trained("low lower newest widest " * 20, 100)
    ids = tok.encode("lowest")
    assert len(ids) < 6
    assert tok.decode(ids) == "lowest"


def test_ids_beyond_the_vocabulary_are_unknown():
    for kind in KINDS:
        tok = trained("ab ab", 300, kind)
        beyond = len(tok.vocab)
        assert tok.id_to_token(beyond) == "<UNK>"
        assert tok.decode([beyond, *tok.encode("ab"), beyond + 1]) == "ab"
        assert tok.decode([beyond], skip_special_tokens=False) == "<UNK>"


def test_the_name_of_a_special_token_stays_text():
    for kind in (BPETokenizer, KINDS[2]):
        tok = trained("<PAD> <PAD> <PAD> <EOS> <EOS>", 400, kind)
        ids = tok.encode("<PAD> <EOS>")
        assert min(ids) > 3
        assert tok.decode(ids) == "<PAD> <EOS>"
        assert (tok.vocab["<PAD>"], tok.vocab["<EOS>"]) == (0, 3)
        assert len(tok.vocab) == len(set(tok.vocab.values()))


# Bytes


def test_byte_letters():
    letters = bytes_to_unicode()
    assert list(letters) == list(range(256))
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    assert all(letters[byte] == chr(byte) for byte in printable)
    others = [letters[byte] for byte in range(256) if byte not in printable]
    assert others == [chr(0x100 + place) for place in range(68)]
    assert [letters[ord(c)] for c in " \n\tA"] == ["Ġ", "Ċ", "ĉ", "A"]
    letters.clear()
    assert len(bytes_to_unicode()) == 256


def test_byte_b_is_id_4_plus_b():
    tok = trained("hello world", 260, ByteLevelBPETokenizer)
    assert tok.encode("A ☕") == [69, 36, 230, 156, 153]
    assert (tok.id_to_token(36), tok.id_to_token(259)) == ("Ġ", "ÿ")
    assert set(bytes_to_unicode().values()) <= set(tok.vocab)


def test_characters_and_bytes_side_by_side(capsys):
    text = "café ☕ 你好 — 42"
    for kind, tokens, unknown in ((BPETokenizer, 14, 7), (ByteLevelBPETokenizer, 23, 0)):
        tok = trained(ASCII, 400, kind)
        ids = tok.encode(text)
        assert (len(ids), ids.count(1), tok.decode(ids) == text) == (tokens, unknown, unknown == 0)
    demonstrate_byte_level()
    out = capsys.readouterr().out
    for line in (
        "14 tokens, 7 <UNK>, round-trip=False",
        "23 tokens, 0 <UNK>, round-trip=True",
        "'é'    → codepoint U+00E9 → bytes [195, 169]",
        "'☕'    → codepoint U+2615 → bytes [226, 152, 149]",
    ):
        assert line in out


def test_bytes_of_a_character():
    tok = trained(ASCII, 400, ByteLevelBPETokenizer)
    counts = {text: len(tok.encode(text)) for text in ("🚀", "e", "é", "你好", "مرحبا", "\t", "\n")}
    assert list(counts.values()) == [4, 1, 2, 6, 10, 1, 1]


def test_a_cut_character_is_replaced():
    tok = trained("hello world", 400, ByteLevelBPETokenizer)
    assert tok.decode(tok.encode("hi ☕")[:-1]) == "hi \ufffd"
    assert tok.decode(tok.encode("é")[1:]) == "\ufffd"
    assert tok.decode([*tok.encode("🚀")[:2], *tok.encode("x")]) == "\ufffdx"


# Pre-tokens


def test_gpt2_rules():
    cases = {
        "Don't merge GPT2 across_words!": ["Don", "'t", " merge", " GPT", "2", " across", "_", "words", "!"],
        " the café costs €5.50": [" the", " café", " costs", " €", "5", ".", "50"],
        "wouldn't've": ["wouldn", "'t", "'ve"],
        "Route66 costs $1,024": ["Route", "66", " costs", " $", "1", ",", "024"],
        "the the the": ["the", " the", " the"],
        "def f():\n    return 1": ["def", " f", "():", "\n   ", " return", " 1"],
        "a  b \n": ["a", " ", " b", " \n"],
        "    ": ["    "],
        "": [],
    }
    for text, pieces in cases.items():
        assert gpt2_pretokenize(text) == pieces
    for sample in SAMPLES:
        assert "".join(gpt2_pretokenize(sample)) == sample


def test_every_character_is_in_one_piece():
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for text in ("".join(characters), " ".join(characters[::7]), "a1_".join(characters[::11])):
        assert "".join(gpt2_pretokenize(text)) == text


def test_the_split_decides_what_can_be_learned():
    merged = {}
    for pretokenizer in ("gpt2", "simple"):
        tok = trained(CONTRACTIONS, 300, ByteLevelBPETokenizer, pretokenizer=pretokenizer)
        assert tok.training_stats["num_merges"] == 22
        assert tok.decode(tok.encode("don't")) == "don't"
        merged[pretokenizer] = " ".join(tok.merges.values())
    assert merged == {
        "gpt2": "do don 't ĠI 'l 'll Ġdon Ġs Ġst Ġsto Ġstop Ġp Ġpa Ġpay Ġ$ 20 Ġw Ġwa Ġwai Ġwait Ġg Ġgo",
        "simple": "do don don' don't I' I'l I'll st sto stop stop. pa pay $2 $20 $20. wa wai wait wait. "
        "go go.",
    }
    default = trained(CONTRACTIONS, 300, ByteLevelBPETokenizer)
    assert " ".join(default.merges.values()) == merged["gpt2"]
    words = ["Route66", "$1,024", "GPT2", "don't"]
    for pretokenizer, there in (("gpt2", False), ("simple", True)):
        tok = trained(" ".join(words * 2), 400, ByteLevelBPETokenizer, pretokenizer=pretokenizer)
        assert [word in tok.vocab for word in words] == [there] * 4


def test_the_split_comes_before_the_merges():
    assert shown(trained("sit sit sit", 300, ByteLevelBPETokenizer), "'sit") == ["'", "s", "i", "t"]
    assert shown(trained("sit sit sit", 300, KINDS[2]), "'sit") == ["'", "sit"]
    leading = trained("the the the " * 20, 400, ByteLevelBPETokenizer)
    assert shown(leading, "the the the") == ["the", "Ġthe", "Ġthe"]


# Files


@pytest.mark.parametrize("kind", KINDS, ids=["characters", "gpt2", "simple"])
@pytest.mark.parametrize("text", ["", CONTRACTIONS, "é日 é日 <PAD> <PAD> 'quoted' \"\\ \n\n\t"])
def test_files_keep_everything(kind, text, tmp_path, capsys):
    tok = trained(text, 300, kind, min_frequency=3 if text == CONTRACTIONS else 2)
    path = tmp_path / "tok.json"
    tok.save(path)
    loaded = type(tok).load(str(path))
    size = len(tok.vocab)
    assert capsys.readouterr().out == (
        f"Tokenizer saved to {path}\nTokenizer loaded from {path}\n  Vocab size: {size}\n"
    )
    assert list(loaded.vocab.items()) == list(tok.vocab.items())
    assert list(loaded.merges.items()) == list(tok.merges.items())
    assert loaded.training_stats == tok.training_stats
    assert (loaded.vocab_size, loaded.min_frequency) == (300, tok.min_frequency)
    assert getattr(loaded, "pretokenizer", None) == getattr(tok, "pretokenizer", None)
    assert loaded.to_tokenizer() == tok.to_tokenizer()
    for sample in [*SAMPLES, CONTRACTIONS]:
        assert loaded.encode(sample) == tok.encode(sample)


def test_damaged_files_are_refused(tmp_path, capsys):
    tok = trained("ab ab abc abc", 30)
    path = tmp_path / "tok.json"
    tok.save(path)
    good = json.loads(path.read_text(encoding="utf-8"))

    def refused(match, **changes):
        path.write_text(json.dumps(good | changes), encoding="utf-8")
        with pytest.raises(bl.FormatError, match=match):
            BPETokenizer.load(path)

    vocab, merges = good["vocab"], good["merges"]
    refused("ByteLevelBPETokenizer, not a BPETokenizer", type="ByteLevelBPETokenizer")
    refused("must be an object", vocab=[])
    refused("merges a list", merges={})
    refused(r"merges\[0\]: must be a pair", merges=[["a"], *merges[1:]])
    refused(r"merges\[1\]: 'z' is not in vocab", merges=[merges[0], ["z", "c"]])
    refused(r"merges\[1\]", merges=[merges[0], merges[0]])
    refused("vocab: its tokens are not", merges=[["b", "a"], merges[1]])
    refused("there are 10 of them", merges=[["a", "b"]] * 10)
    refused("'abc' has id 99 where 9 comes next", vocab=vocab | {"abc": 99})
    refused("not an integer", vocab=vocab | {"abc": "9"})
    refused("first ids must be those of <PAD>", vocab={f"{token}!": i for token, i in vocab.items()})
    refused("min_frequency must be 1 or more", min_frequency=0)
    refused("unexpected", colour="red")
    for content in ("", "[1]", "{}", '{"merges": [[97, 98]]}', "\xff"):
        path.write_text(content, encoding="latin-1")
        with raises_cleanly(bl.FormatError):
            BPETokenizer.load(path)
    with pytest.raises(FileNotFoundError):
        BPETokenizer.load(tmp_path / "nowhere.json")
    assert capsys.readouterr().out == f"Tokenizer saved to {path}\n"


# Faulty input


def test_faulty_input_is_named():
    with pytest.raises(ValueError, match='"gpt2" or "simple", not \'words\''):
        ByteLevelBPETokenizer(pretokenizer="words")
    with pytest.raises(bl.TrainingError, match="min_frequency must be 1 or more, not 0"):
        BPETokenizer(min_frequency=0)
    for options in ({"vocab_size": "9"}, {"vocab_size": None}, {"min_frequency": 2.0}, {"vocab_size": True}):
        with pytest.raises(TypeError, match=f"{next(iter(options))} must be an integer"):
            BPETokenizer(**options)
    for kind in KINDS:
        with pytest.raises(TypeError, match="text must be str, not bytes"):
            kind().train(b"ab", show_progress=False)
        for method in ("encode", "decode", "save"):
            with pytest.raises(bl.TrainingError, match="learned nothing yet"):
                getattr(kind(), method)("x")
        tok = trained("ab", 300, kind)
        with pytest.raises(bl.TextError, match="index 1"):
            tok.encode("a\ud800")
        with pytest.raises(bl.UnknownTokenError, match="-1"):
            tok.decode([4, -1])
        with pytest.raises(bl.UnknownTokenError, match="-1"):
            tok.id_to_token(-1)
        with raises_cleanly(TypeError):
            tok.decode(["a"])
        with raises_cleanly(TypeError):
            tok.id_to_token("a")
    for function in (gpt2_pretokenize, CharTokenizer, CharTokenizer("a").encode):
        with pytest.raises(TypeError, match="text must be str"):
            function(3)


def test_a_failed_training_changes_nothing():
    tok = trained("ab ab", 30)
    with pytest.raises(bl.TextError):
        tok.train("cd cd \ud800", show_progress=False)
    assert tok.encode("ab") == [7]
    assert tok.merges == {("a", "b"): "ab"}


def test_the_moves_work_on_strings():
    tokens = list("hello hello")
    pairs = count_pairs(tokens)
    assert max(pairs, key=pairs.get) == ("h", "e")
    assert merge(tokens, ("l", "l"), "ll")[:4] == ["h", "e", "ll", "o"]


def test_every_name_is_described():
    for name in module03.__all__:
        value = getattr(module03, name)
        assert value.__doc__, name
        for method, member in vars(value).items() if isinstance(value, type) else ():
            if callable(member) and not method.startswith("_"):
                assert member.__doc__, f"{name}.{method}"

"""Alphabets of characters: what training learns, what encoding gives, and what is refused."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import byteloom as bl
from helpers import SAMPLES, assert_entry_points_agree, raises_cleanly, train_quietly
from oracle import count_words, encode_merges, learn, number_characters, split, train
from strategies import byte_texts, corpora, few, texts

OPTIONS = {"alphabet": "characters", "unk": "<UNK>", "special_tokens": ["<PAD>", "<UNK>"]}
TEXT = "é日 é日 ab é日 ab c"


def trained(data, vocab_size=300, **options):
    return train_quietly(data, vocab_size, **{"pattern": "simple", **OPTIONS, **options})


@pytest.fixture(scope="module")
def small():
    return trained(TEXT, tie_break="first_seen", special_position="first")


def test_ids_go_by_code_point(small):
    assert [small.id_to_bytes(i).decode() for i in range(10)] == [
        "<PAD>", "<UNK>", " ", "a", "b", "c", "é", "日", "é日", "ab",
    ]  # fmt: skip
    assert small.merges == [(6, 7), (3, 4)]
    assert small.encode("é日 ab") == [8, 2, 9]
    last = trained(TEXT, tie_break="first_seen")
    assert last.merges == [(4, 5), (1, 2)]
    assert last.special_tokens == {"<PAD>": 8, "<UNK>": 9}


def test_an_unknown_character_is_one_token(small):
    assert small.encode("🚀x 日\n") == [1, 1, 2, 7, 1]
    assert small.encode(b"\xffab") == [1, 9]
    assert small.decode([8, 1, 9]) == "é日<UNK>ab"
    assert small.decode([8, 1, 9], skip_special_tokens=True) == "é日ab"


def test_what_it_says_of_itself(small):
    info = small.info()
    assert (info["alphabet"], info["lossless"], info["vocab_size"]) == ("characters", False, 10)
    assert small.training_report["alphabet"] == "characters"
    assert small.training_report["counts"] == [3, 2]
    assert small.training_report["vocab_size_asked"] == 300
    assert pickle.loads(pickle.dumps(small)) == small


def test_offsets_of_unknown_characters(small):
    assert small.encode_with_offsets("é日🚀ab") == ([8, 1, 9], [(0, 2), (2, 3), (3, 5)])
    assert small.encode_with_offsets("é日🚀ab", unit="byte")[1] == [(0, 5), (5, 9), (9, 11)]
    assert small.truncate("é日🚀ab", 2) == "é日🚀"
    assert small.chunk("é日🚀ab", 2) == ["é日🚀", "ab"]


@given(text=texts)
def test_every_entry_point_agrees(small, text):
    ids = assert_entry_points_agree(small, text)
    _, offsets = small.encode_with_offsets(text)
    assert "".join(text[start:end] for start, end in offsets) == text
    assert len(ids) == len(offsets)


@given(text=byte_texts)
def test_any_bytes_encode(small, text):
    ids = small.encode_ordinary(text)
    assert small.encode_with_offsets(text, unit="byte", disallowed_special=())[0] == ids


@pytest.mark.parametrize("length", [60, 70, 70_000])
def test_long_pieces(length):
    tok = trained("abab ba", 100, min_frequency=1)
    for text in ("ab" * length, "ab🚀" * length, "🚀" * length):
        ids = tok.encode(text)
        assert len(ids) <= len(text)
        assert ids == tok.with_cache_bytes(0).encode(text)
        assert tok.decode(ids) == text.replace("🚀", "<UNK>")


@pytest.mark.parametrize("tie_break", ["smallest_pair", "first_seen"])
@pytest.mark.parametrize("pattern", ["none", "simple", "course-words"])
@few
@given(
    documents=corpora(),
    min_frequency=st.sampled_from([1, 2, 2, 3]),
    max_token_length=st.sampled_from([None, None, 2, 3]),
    threads=st.sampled_from([1, 3]),
    probe=texts,
)
def test_training_is_the_oracle(
    tie_break, pattern, documents, min_frequency, max_token_length, threads, probe
):
    words = count_words(documents, lambda part: split(part, pattern))
    characters, numbers = number_characters(words)
    size = len(characters) + 2 + 20
    options = {"tie_break": tie_break, "min_frequency": min_frequency, "max_token_length": max_token_length}
    tok = trained(documents, size, pattern=pattern, threads=threads, **options)
    expected = train(numbers, 20, base=characters, **options)
    assert tok.merges == expected
    known = [characters.index(c) if c in characters else None for c in probe]
    whole = tok.vocab_size - 1
    if pattern == "none" and probe:
        ids = encode_merges(known, expected, len(characters))
        assert tok.encode_ordinary(probe) == [whole if i is None else i for i in ids]


def test_a_corpus_of_samples_round_trips():
    tok = trained(SAMPLES, 2000)
    for sample in SAMPLES:
        assert tok.decode(tok.encode(sample)) == sample


def test_documents_and_special_tokens_are_boundaries():
    tok = trained(["ab", "ab<PAD>ab"], 300, pattern="none")
    assert tok.merges == [(0, 1)]
    assert tok.vocab_size == 2 + 1 + 2


def test_files_and_damaged_ones(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT * 1000, encoding="utf-8")
    assert trained(path) == trained(TEXT * 1000)
    path.write_bytes(b"ab \xff ab")
    with pytest.raises(bl.TextError, match="3"):
        trained(path)
    assert trained(path, errors="replace").token_to_id("�".encode()) is not None
    with pytest.raises(bl.TrainingError, match="cannot be kept"):
        trained(path, errors="keep")
    with pytest.raises(bl.TextError, match="document 1 is not UTF-8 from byte 2 on"):
        trained(["ok", b"ab\xff"])


def test_formats_that_hold_bytes_refuse_it(small, tmp_path):
    for save in (small.save_tiktoken, small.save_huggingface, small.save_gpt2_files):
        with pytest.raises(bl.FormatError, match="characters"):
            save(tmp_path / "out", lossy=True)


def test_faulty_requests_are_named():
    with pytest.raises(
        bl.TrainingError, match=r"from 8 \(the 6 characters of the text and 2 special tokens\)"
    ):
        trained(TEXT, 7)
    assert trained(TEXT, 8).merges == []
    with pytest.raises(bl.TrainingError, match=r'alphabet must be "bytes" or "characters", not "letters"'):
        trained(TEXT, alphabet="letters")
    with pytest.raises(bl.SpecialTokenError, match="needs unk"):
        trained(TEXT, unk=None)
    with pytest.raises(bl.SpecialTokenError, match="unk names"):
        trained(TEXT, unk="<unk>")
    with pytest.raises(bl.SpecialTokenError, match="unk is for alphabets of characters"):
        train_quietly(TEXT, 300, unk="<UNK>", special_tokens=["<UNK>"])
    with pytest.raises(bl.TrainingError, match="huggingface"):
        trained(TEXT, tie_break="huggingface")
    for size in (-1, 0, 10**10, 2**80):
        with raises_cleanly(bl.TrainingError):
            trained(TEXT, size)


# Special tokens as ordinary text

NAMES = ["<PAD>", "ab", "b a"]


@pytest.mark.parametrize("tie_break", ["smallest_pair", "huggingface", "first_seen"])
@few
@given(
    documents=st.lists(
        st.lists(st.sampled_from([*"<PAD> ab", "<PAD>", "<PAD>x", "ab", "b a"]), max_size=12).map("".join),
        max_size=4,
    ),
    min_frequency=st.sampled_from([1, 2, 3]),
)
def test_special_strings_as_ordinary_text(tie_break, documents, min_frequency):
    words = count_words(documents, lambda part: split(part, "none"))
    taken = [name.encode() for name in NAMES]
    options = {"tie_break": tie_break, "min_frequency": min_frequency}
    tok = train_quietly(
        documents, 300, pattern="none", special_tokens=NAMES, special_text="ordinary", **options
    )
    assert tok.merges == train(words, 300 - 256 - len(NAMES), taken=taken, **options)
    assert tok.training_report["special_tokens_seen"] == 0
    learned = [tok.id_to_bytes(256 + place) for place in range(len(tok.merges))]
    assert not set(learned) & set(taken)
    counts = [count for _, count in learn(words, tie_break, min_frequency, taken=taken)]
    assert tok.training_report["counts"] == counts[: len(learned)]


def test_special_text_has_two_values():
    boundary = train_quietly("ab<x>ab", 300, pattern="none", special_tokens=["<x>"])
    ordinary = train_quietly("ab<x>ab", 300, pattern="none", special_tokens=["<x>"], special_text="ordinary")
    assert boundary.training_report["special_tokens_seen"] == 1
    assert boundary.training_report["pretokens"] == 2
    assert ordinary.training_report["pretokens"] == 1
    with pytest.raises(bl.TrainingError, match='special_text must be "boundary" or "ordinary", not "text"'):
        bl.Tokenizer.train("ab", 300, special_text="text")


def test_why_training_stopped_does_not_count_what_is_forbidden():
    options = {"pattern": "none", "special_tokens": ["ab"], "special_text": "ordinary", "min_frequency": 1}
    assert train_quietly("ab", 300, **options).training_report["stopped"] == "no_pairs"
    assert train_quietly("abc", 300, **options).training_report["stopped"] == "no_pairs"
    stopped = train_quietly("ab cd", 300, **options | {"min_frequency": 2}).training_report["stopped"]
    assert stopped == "min_frequency"

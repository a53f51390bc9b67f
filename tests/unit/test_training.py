"""`Tokenizer.train`: what it learns from, its options, what it reports, and what it refuses."""

import json
import os
import re
import threading
import warnings
from pathlib import Path

import pytest

import byteloom as bl
from helpers import kept_report, raises_cleanly, train_quietly


def learned(tok):
    return [tok.id_to_bytes(token) for token in range(256, 256 + len(tok.merges))]


# What it learns from


@pytest.mark.parametrize(
    "data",
    [
        "low lower",
        b"low lower",
        bytearray(b"low lower"),
        ["low lower"],
        ("low lower",),
        iter(["low lower"]),
        [b"low lower"],
    ],
)
def test_every_kind_of_text(data):
    assert bl.Tokenizer.train(data, 257).merges == [(108, 111)]


def test_files(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("low lower", encoding="utf-8")
    expected = bl.Tokenizer.train("low lower", 258, pattern="none")
    assert bl.Tokenizer.train(path, 258, pattern="none") == expected
    assert bl.Tokenizer.train([path], 258, pattern="none") == expected

    class Somewhere:
        def __fspath__(self):
            return os.fspath(path)

    assert bl.Tokenizer.train(Somewhere(), 258, pattern="none") == expected
    mixed = bl.Tokenizer.train([path, "newest", b"widest"], 260)
    assert mixed == bl.Tokenizer.train(["low lower", "newest", "widest"], 260)


def test_a_str_is_text_and_never_a_path(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("zzzz", encoding="utf-8")
    tok = train_quietly(str(path), 300)
    assert b"zz" not in learned(tok)


@pytest.mark.parametrize("size", [0, 1, 2**16 - 1, 2**20 + 7])
def test_a_file_is_one_document_whatever_its_size(tmp_path, size):
    text = ("ab é日" * (size // 7 + 1))[: size // 2]
    path = tmp_path / "corpus.txt"
    path.write_text(text, encoding="utf-8", newline="")
    for pattern in ("cl100k", "course-words"):
        assert train_quietly(path, 270, pattern=pattern) == train_quietly(text, 270, pattern=pattern)


def test_a_bom_in_a_file_is_kept(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes("\ufeffab".encode())
    assert train_quietly(path, 300, pattern="none") == train_quietly("\ufeffab", 300, pattern="none")


def test_documents_are_boundaries():
    assert train_quietly(["ab", "ab"], 300, pattern="none").merges == [(97, 98)]
    assert train_quietly(["abab"], 300, pattern="none").merges == [(97, 98)]
    assert train_quietly(["aab", "aab"], 300, pattern="none", min_frequency=1) != train_quietly(
        ["aabaab"], 300, pattern="none", min_frequency=1
    )


def test_documents_are_taken_one_at_a_time():
    alive = []

    class Document(str):
        __slots__ = ("__weakref__",)

        def __del__(self):
            alive.remove(id(self))

    most = 0

    def documents():
        nonlocal most
        for index in range(20_000):
            document = Document(f"document {index} low lower " * 100)
            alive.append(id(document))
            most = max(most, len(alive))
            yield document
            del document

    bl.Tokenizer.train(documents(), 260)
    assert most < 10_000


def test_empty_data():
    for data in ("", b"", [], [""], iter(())):
        tok = train_quietly(data, 256)
        assert tok.vocab_size == 256
        assert tok.encode("a") == [97]


def test_an_error_of_the_iterable_passes_unchanged():
    def documents():
        yield "hello"
        raise RuntimeError("disk gone")

    with pytest.raises(RuntimeError, match="disk gone"):
        bl.Tokenizer.train(documents(), 300)


@pytest.mark.parametrize("documents", [["a", None], ["a", 3], ["a", ["b"]]])
def test_a_document_of_another_type_is_named_by_index(documents):
    with pytest.raises(
        TypeError, match=rf"1.*{type(documents[1]).__name__}|{type(documents[1]).__name__}.*1"
    ):
        bl.Tokenizer.train(documents, 300)


@pytest.mark.parametrize("data", [None, 3, 1.5, object()])
def test_data_of_another_type(data):
    with raises_cleanly(TypeError):
        bl.Tokenizer.train(data, 300)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".jsonl", ".zip", ".GZ"])
def test_text_is_never_taken_for_a_packed_file(tmp_path, suffix):
    path = tmp_path / f"corpus{suffix}"
    path.write_bytes(b"low lower")
    for data in (path, ["a", path]):
        with pytest.raises((bl.FormatError, bl.TrainingError), match=f"corpus{suffix}"):
            bl.Tokenizer.train(data, 300)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.txt"):
        bl.Tokenizer.train(tmp_path / "nothing.txt", 300)
    with raises_cleanly(bl.TrainingError, OSError):
        bl.Tokenizer.train(tmp_path, 300)


# Text that is not valid


def test_invalid_utf8_in_a_file_is_named_by_byte(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"ok\n\xff\xfe bad\nok2\n")
    with pytest.raises(bl.TextError, match=r"bad\.txt.*\b3\b"):
        bl.Tokenizer.train(path, 300)


def test_invalid_utf8_far_into_a_file(tmp_path):
    path = tmp_path / "bad.txt"
    at = 3_000_001
    path.write_bytes(b"low " * (at // 4) + b"x\xe6\x97" + b" lower" * 1000)
    with pytest.raises(bl.TextError, match=rf"{at // 4 * 4 + 1}"):
        bl.Tokenizer.train(path, 300)


def test_a_character_across_the_edge_of_a_piece_of_file_is_valid(tmp_path):
    path = tmp_path / "edges.txt"
    for offset in range(4):
        path.write_bytes(b"x" * offset + "🚀".encode() * 600_000)
        assert train_quietly(path, 260).training_report["bytes"] == offset + 2_400_000


def test_a_lone_surrogate_is_named_by_document_and_index():
    with pytest.raises(bl.TextError, match="1"):
        bl.Tokenizer.train(["fine", "a\ud800b"], 300)


def test_replace_puts_the_replacement_character_and_counts(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"ok \xff\xfe bad")
    tok = train_quietly(path, 300, errors="replace", min_frequency=1, pattern="none")
    assert tok == train_quietly("ok \ufffd\ufffd bad", 300, min_frequency=1, pattern="none")
    assert train_quietly(
        ["a\ud800b"], 300, errors="replace", min_frequency=1, pattern="none"
    ) == train_quietly("a\ufffdb", 300, min_frequency=1, pattern="none")
    assert any(
        value == 2 for key, value in tok.training_report.items() if "replace" in key or "invalid" in key
    )


def test_keep_learns_from_the_raw_bytes(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"\xff\xfe\xff\xfe")
    tok = train_quietly(path, 257, errors="keep", pattern="none")
    assert learned(tok) == [b"\xff\xfe"]


# Options


@pytest.mark.parametrize("tie_break", ["smallest_pair", "huggingface", "first_seen"])
def test_tie_breaks_differ_where_they_should(tie_break):
    # `bc` comes first in the text, `ab`... is smaller, and a space is last in GPT-2's order of bytes.
    tok = bl.Tokenizer.train("zy zy \n\n \n\n ab ab", 257, pattern="simple", tie_break=tie_break)
    expected = {"smallest_pair": (10, 10), "huggingface": (97, 98), "first_seen": (122, 121)}
    assert tok.merges == [expected[tie_break]]


def test_min_frequency():
    text = "ab ab ab cd cd ef"
    for minimum, tokens in ((1, {b"ab", b"cd", b"ef"}), (2, {b"ab", b"cd"}), (3, {b"ab"}), (4, set())):
        tok = train_quietly(text, 300, pattern="simple", min_frequency=minimum)
        assert set(learned(tok)) == tokens


def test_max_token_length():
    text = "abcdefgh " * 10
    for longest in (2, 3, 5, 8):
        tok = train_quietly(text, 400, max_token_length=longest)
        assert max(map(len, [b"x", *learned(tok)])) <= longest


def test_threads_never_change_the_result(small_text):
    documents = [small_text[at : at + 97] for at in range(0, len(small_text), 97)] * 3
    expected = bl.Tokenizer.train(documents, 330)
    for threads in (1, 2, 3, 8):
        assert bl.Tokenizer.train(documents, 330, threads=threads) == expected


def test_cache_bytes_is_handed_on():
    assert bl.Tokenizer.train("low lower", 257, cache_bytes=0).info()["cache_bytes"] == 0


BAD_OPTIONS = [
    {"vocab_size": 255},
    {"vocab_size": 0},
    {"vocab_size": -1},
    {"vocab_size": 257, "special_tokens": ["<a>", "<b>"]},
    {"vocab_size": 2**40},
    {"vocab_size": 300, "min_frequency": -1},
    {"vocab_size": 300, "max_token_length": 0},
    {"vocab_size": 300, "max_token_length": 1},
    {"vocab_size": 300, "max_token_length": -1},
    {"vocab_size": 300, "tie_break": "random"},
    {"vocab_size": 300, "errors": "nonsense"},
    {"vocab_size": 300, "special_position": "middle"},
    {"vocab_size": 300, "threads": 0},
    {"vocab_size": 300, "threads": -1},
    {"vocab_size": 300, "cache_bytes": -1},
]


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=str)
def test_options_out_of_range(options):
    with raises_cleanly(ValueError):
        bl.Tokenizer.train("low lower", **options)


@pytest.mark.parametrize("size", [255, 0, -1])
def test_the_smallest_vocabulary_is_in_the_message(size):
    with pytest.raises(bl.TrainingError, match="256"):
        bl.Tokenizer.train("low lower", size)
    with pytest.raises(bl.TrainingError, match="258"):
        bl.Tokenizer.train("low lower", size, special_tokens=["<a>", "<b>"])


WRONG_TYPES = [
    {"vocab_size": "300"},
    {"vocab_size": 300.0},
    {"vocab_size": None},
    {"vocab_size": 300, "min_frequency": "2"},
    {"vocab_size": 300, "pattern": None},
    {"vocab_size": 300, "pattern": 3},
    {"vocab_size": 300, "threads": "x"},
    {"vocab_size": 300, "progress": 3},
    {"vocab_size": 300, "special_tokens": 3},
    {"vocab_size": 300, "bos": 3},
]


@pytest.mark.parametrize("options", WRONG_TYPES, ids=str)
def test_options_of_another_type(options):
    with raises_cleanly(TypeError):
        bl.Tokenizer.train("low lower", **options)


def test_a_lazy_iterable_is_not_read_before_the_options_are_checked():
    def documents():
        raise AssertionError("read")
        yield

    with raises_cleanly(ValueError):
        bl.Tokenizer.train(documents(), 300, tie_break="random")


# Warning, report, progress


def test_a_vocabulary_that_ends_early_is_a_warning():
    with pytest.warns(bl.TrainingWarning, match=r"257.*1000"):
        tok = bl.Tokenizer.train("abab", 1000, pattern="none", min_frequency=2, max_token_length=2)
    assert tok.vocab_size == 257
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bl.Tokenizer.train("abab", 257, pattern="none")
        assert bl.Tokenizer.train("abab", 1000, pattern="none", allow_fewer=True).vocab_size == 257


def test_a_vocabulary_that_must_not_end_early():
    with pytest.raises(bl.TrainingError, match="257 tokens of the 1000"):
        bl.Tokenizer.train("abab", 1000, pattern="none", max_token_length=2, strict=True)
    assert bl.Tokenizer.train("abab", 257, pattern="none", strict=True).vocab_size == 257
    with pytest.raises(ValueError, match="allow_fewer"):
        bl.Tokenizer.train("abab", 257, strict=True, allow_fewer=True)


@pytest.mark.parametrize("names", [["<a>", "<a>"], [""], ["<a>", "x\ud800"]])
def test_special_tokens_that_cannot_be(names):
    with pytest.raises(bl.SpecialTokenError):
        bl.Tokenizer.train("abab", 300, special_tokens=names)
    with pytest.raises(bl.SpecialTokenError):
        bl.PretokenCounts("abab", special_tokens=names)


def test_special_tokens_that_are_spelled_like_others():
    # One that begins another, and one that is spelled like a byte: control tokens are ids of their own.
    tok = train_quietly("ababab <a>b", 400, special_tokens=["<a>", "<a>b", "b"])
    assert tok.special_tokens == {
        "<a>": tok.vocab_size - 3,
        "<a>b": tok.vocab_size - 2,
        "b": tok.vocab_size - 1,
    }
    assert tok.encode("<a>b", allowed_special="all") == [tok.vocab_size - 2]
    assert tok.encode_ordinary("b") == [98]


def test_special_tokens_follow_the_last_merge_when_training_ends_early():
    tok = train_quietly("abab", 1000, pattern="none", special_tokens=["<a>"], max_token_length=2)
    assert tok.special_tokens == {"<a>": 257}
    assert tok.vocab_size == 258


def test_the_report(tmp_path):
    tok = bl.Tokenizer.train(["low lower", "löw"], 258, special_tokens=["<a>"])
    report = tok.training_report
    assert json.loads(json.dumps(report)) == report
    assert report["documents"] == 2
    assert report["bytes"] == len("low lowerlöw".encode())
    assert report["pretokens"] == 3
    assert report["unique_pretokens"] == 3
    assert report["merges"] == 1
    assert report["pretoken_bytes"] == report["bytes"]
    assert report["reading"] is None
    assert all(seconds >= 0 for seconds in report["seconds"].values())
    assert report["seconds"].keys() == {"read", "count", "merge", "total"}
    assert report["seconds"]["total"] >= report["seconds"]["count"] + report["seconds"]["merge"]
    assert report["stopped"]
    tok.save(tmp_path / "tok.json")
    loaded = bl.Tokenizer.load(tmp_path / "tok.json")
    assert loaded.training_report == kept_report(tok) == kept_report(loaded)


def test_the_report_counts_each_pair_when_it_is_merged():
    tok = bl.Tokenizer.train("aaabdaaabac", 258, pattern="none", tie_break="first_seen")
    assert tok.merges == [(97, 97), (256, 97)]
    assert tok.training_report["counts"] == [4, 2]
    for same in (tok.with_cache_bytes(0), tok.with_special_tokens(["<a>"]), bl.Tokenizer(tok)):
        assert same.training_report["counts"] == [4, 2]
    assert not {"counts", "tied"} & bl.Tokenizer.from_bytes(tok.to_bytes()).training_report.keys()


@pytest.mark.parametrize("tie_break", ["smallest_pair", "huggingface", "first_seen"])
@pytest.mark.parametrize("options", [{}, {"min_frequency": 3}, {"max_token_length": 4}])
def test_the_report_says_where_the_rule_for_ties_decided(small_text, tie_break, options):
    tok = train_quietly(small_text, 600, tie_break=tie_break, trace=True, **options)
    plain = train_quietly(small_text, 600, tie_break=tie_break, **options).training_report
    tied = [step.tied > 1 for step in tok.training_trace().steps]
    assert True in tied
    assert False in tied
    assert tok.training_report["tied"] == plain["tied"] == tied
    assert tok.training_report["ties"] == plain["ties"] == sum(tied)


@pytest.mark.parametrize("vocab_size", [257, 300, 700, 20_000])
@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_coverage_is_what_encoding_the_text_gives(small_text, vocab_size, alphabet):
    options = {"special_tokens": ["<|x|>"]} | ({"unk": "<|x|>"} if alphabet == "characters" else {})
    documents = [small_text, "low lower é", small_text[:500]]
    tok = train_quietly(["<|x|>".join(documents)], vocab_size, alphabet=alphabet, **options)
    report = tok.training_report
    parts = [tok.encode_ordinary(part) for document in documents for part in tok.pretokens(document)]
    whole = {part for document in documents for part in tok.pretokens(document) if tok.count(part) == 1}
    assert report["pretoken_bytes"] == sum(len(document.encode()) for document in documents)
    tokens = sum(len(part) for part in parts)
    assert report["coverage"] == {
        "tokens": tokens,
        "bytes_per_token": report["pretoken_bytes"] / tokens,
        "whole_pretokens": sum(len(part) == 1 for part in parts),
        "whole_unique_pretokens": len(whole),
    }


def test_coverage_of_no_text_is_nothing():
    coverage = train_quietly("", 300).training_report["coverage"]
    assert coverage == {
        "tokens": 0, "bytes_per_token": None, "whole_pretokens": 0, "whole_unique_pretokens": 0,
    }  # fmt: skip


def test_the_report_says_why_training_ended():
    full = bl.Tokenizer.train("low low", 257).training_report["stopped"]
    dry = train_quietly("low low", 1000).training_report["stopped"]
    assert full != dry


def test_the_report_is_no_part_of_equality():
    one = bl.Tokenizer.train("low lower", 257)
    other = bl.Tokenizer.train("low lower low", 257)
    assert one.training_report != other.training_report
    assert one == other


def test_a_tokenizer_that_was_not_trained_has_no_report(bytes_tok):
    assert bytes_tok.training_report is None


def test_progress_calls():
    states = []
    bl.Tokenizer.train(["low lower lowest " * 100] * 50, 262, progress=states.append)
    assert states
    for state in states:
        assert state.keys() == {"stage", "done", "total", "seconds", "rate", "left"}
        assert state["rate"] is None or state["rate"] > 0
        if state["rate"] and state["total"] is not None:
            assert state["left"] == pytest.approx((state["total"] - state["done"]) / state["rate"])
        else:
            assert state["left"] is None
        assert state["total"] is None or 0 <= state["done"] <= state["total"]
    stages = [state["stage"] for state in states]
    assert stages == sorted(stages, key=stages.index)
    for stage in set(stages):
        done = [state["done"] for state in states if state["stage"] == stage]
        assert done == sorted(done)
    assert states[-1]["done"] == 6


def test_the_bar_shows_rate_and_time_left(tmp_path, capfd):
    path = tmp_path / "text.txt"
    path.write_text("low lower lowest " * 300_000, encoding="utf-8")
    train_quietly(path, 262, progress=True)
    shown = capfd.readouterr().err
    assert re.search(r"counting: +\d+%.*\[\d\d:\d\d<[\d:?]+, .*B/s\]", shown)
    assert re.search(r"merging: +\d+%.*\[\d\d:\d\d<[\d:?]+, .*merges/s\]", shown)


def test_progress_does_not_change_the_result(small_text, capfd):
    expected = bl.Tokenizer.train(small_text, 300)
    for progress in (None, False, True, lambda _: None, [].append):
        assert bl.Tokenizer.train(small_text, 300, progress=progress) == expected
    assert capfd.readouterr().out == ""


def test_an_error_in_the_progress_callable_ends_training(small_text):
    def stop(_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        bl.Tokenizer.train([small_text] * 50, 300, progress=stop)


def test_progress_may_use_the_tokenizers_of_others(tok, small_text):
    ids = []
    bl.Tokenizer.train([small_text] * 20, 300, progress=lambda _: ids.append(tok.encode("the cat")))
    assert all(one == tok.encode("the cat") for one in ids)


def test_training_in_many_threads(small_text):
    expected = bl.Tokenizer.train(small_text, 300)
    results = []
    workers = [
        threading.Thread(target=lambda: results.append(bl.Tokenizer.train(small_text, 300))) for _ in range(6)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert results == [expected] * 6


# Patterns


@pytest.mark.parametrize("pattern", ["(", "[", "*", r"\p{Nonsense}", "a{2,1}", "(?<n>a)(?<n>b)"])
def test_patterns_that_do_not_compile(pattern):
    with pytest.raises(bl.PatternError) as caught:
        bl.Tokenizer.train("low", 257, pattern=pattern)
    assert pattern in str(caught.value)


def test_text_that_a_pattern_skips_is_never_lost():
    tok = train_quietly("a, b; c", 300, pattern=r"\w+")
    assert tok.decode(tok.encode("a, b; c!")) == "a, b; c!"
    assert tok.pretokens("a, b") == ["a", ", ", "b"]


@pytest.mark.parametrize("pattern", ["x*", "", "(?:)", "$", r"\b", "(?=a)", "x*|y"])
def test_patterns_that_match_nothing(pattern):
    try:
        tok = train_quietly("abc xxy", 300, pattern=pattern)
    except ValueError:
        return
    assert tok.decode(tok.encode("abc xxxy日")) == "abc xxxy日"
    assert "".join(tok.pretokens("abc xxxy日")) == "abc xxxy日"


def test_train_paths_of_other_kinds(tmp_path):
    path = tmp_path / "no suffix"
    path.write_text("low lower", encoding="utf-8")
    assert bl.Tokenizer.train(Path(path), 257).merges == [(108, 111)]

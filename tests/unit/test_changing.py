"""`resized`, `prune`, `extend` and seed tokens: reports, files, and what they refuse."""

import json
import pickle
import warnings

import numpy as np
import pytest

import byteloom as bl
from helpers import raises_cleanly, train_quietly

TEXT = "low lower lowest, new newer newest, wide wider widest, quick quicker quickest. " * 4
SPECIALS = ["<|end|>", "<|pad|>"]


@pytest.fixture(scope="module")
def trained():
    return bl.Tokenizer.train(TEXT, 280, special_tokens=SPECIALS, eos="<|end|>", pad="<|pad|>")


def extend_quietly(tok, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bl.TrainingWarning)
        return tok.extend(*arguments, **options)


# What comes back


def test_a_change_has_names_and_a_report_that_is_data(trained):
    change = trained.resized(270)
    tokenizer, new_ids, report = change
    assert (change.tokenizer, change.report) == (tokenizer, report)
    assert isinstance(tokenizer, bl.Tokenizer)
    assert new_ids is change.new_ids
    assert new_ids.dtype == np.int64
    assert json.loads(report.to_json()) == report.to_dict()
    assert report == bl.ChangeReport(
        vocab_size=270, vocab_size_before=280, kept=270, dropped=10, builders=0, moved=2, moved_special=2
    )


def test_roles_and_special_tokens_move_along(trained):
    small = trained.resized(260).tokenizer
    assert small.special_tokens == {"<|end|>": 258, "<|pad|>": 259}
    assert (small.eos_id, small.pad_id, small.bos_id) == (258, 259, None)
    assert small.encode("low<|end|>", allowed_special="all")[-1] == 258


def test_nothing_changes_at_the_same_size(trained):
    same, new_ids, report = trained.resized(280)
    assert same == trained
    assert new_ids.tolist() == list(range(280))
    assert (report.dropped, report.moved) == (0, 0)
    assert same.training_report == trained.training_report


def test_embeddings_follow(trained):
    rows = np.random.default_rng(0).normal(size=(trained.vocab_size, 4))
    small, new_ids, _ = trained.prune(data="wide newest")
    table = np.empty((small.vocab_size, 4))
    table[new_ids[new_ids >= 0]] = rows[new_ids >= 0]
    for text in ("wide newest", "wide", "low"):
        if text != "low":
            assert (table[small.encode(text)] == rows[trained.encode(text)]).all()
    assert (table[small.eos_id] == rows[trained.eos_id]).all()


def test_holes_are_closed(abc_tok):
    small, new_ids, report = abc_tok.resized(258)
    assert len(new_ids) == 301
    assert small.special_tokens == {"<|end|>": 257}
    assert (new_ids[256:300] == [256, *[-1] * 43]).all()
    assert new_ids[300] == 257
    same, new_ids, report = abc_tok.resized(abc_tok.vocab_size)
    assert (report.dropped, report.moved) == (0, 1)
    assert same.special_tokens == {"<|end|>": 259}


# Files


@pytest.mark.parametrize("kind", ["resized", "prune", "extend", "seeds"])
def test_every_format_holds_the_result(trained, tmp_path, kind):
    made = {
        "resized": lambda: trained.resized(270).tokenizer,
        "prune": lambda: trained.prune(data="newest wide").tokenizer,
        "extend": lambda: trained.extend("the cat sat on the mat, the cat", 285),
        "seeds": lambda: bl.Tokenizer.train(TEXT, 280, seed_tokens=[" xyzzy"], special_tokens=SPECIALS),
    }[kind]()
    texts = [TEXT, "the cat xyzzy", "é<|end|>\xff"]
    ids = [made.encode(text, allowed_special="all") for text in texts]
    made.save(tmp_path / "tok.json")
    made.save_huggingface(tmp_path / "hf")
    made.save_tiktoken(tmp_path / "tok.tiktoken", lossy=True)
    made.save_gpt2_files(tmp_path / "gpt2", lossy=True)
    shared = {"pattern": made.pattern_name, "special_tokens": made.special_tokens}
    for again in (
        bl.Tokenizer.load(tmp_path / "tok.json"),
        bl.Tokenizer.load(tmp_path / "hf"),
        bl.Tokenizer.load(tmp_path / "tok.tiktoken", **shared),
        bl.Tokenizer.from_gpt2_files(
            tmp_path / "gpt2" / "vocab.json", tmp_path / "gpt2" / "merges.txt", **shared
        ),
        pickle.loads(pickle.dumps(made)),
    ):
        assert [again.encode(text, allowed_special="all") for text in texts] == ids
    assert bl.Tokenizer.load(tmp_path / "tok.json") == made == pickle.loads(pickle.dumps(made))
    other = pytest.importorskip("tokenizers").Tokenizer.from_file(str(tmp_path / "hf" / "tokenizer.json"))
    assert [other.encode(text, add_special_tokens=False).ids for text in texts] == ids


# Reports of training


def test_resizing_cuts_what_training_said():
    tok = bl.Tokenizer.train(TEXT, 275, trace=True)
    small = tok.resized(262).tokenizer
    report = small.training_report
    assert (report["vocab_size"], report["merges"], report["stopped"]) == (262, 6, "vocab_size")
    assert report["counts"] == tok.training_report["counts"][:6]
    assert bl.explain.replay(small.training_trace()) == small.merges
    # Ids of a trace mean nothing where tokens in between are gone.
    pruned = tok.prune(data="newest").tokenizer
    assert pruned.training_report["merges"] == 19
    assert "counts" not in pruned.training_report
    assert (pruned.training_report["vocab_size"], pruned.training_report["coverage"]) == (
        pruned.vocab_size,
        None,
    )
    with pytest.raises(bl.TrainingError, match="no training trace"):
        pruned.training_trace()


def test_extending_reports_the_new_merges(trained):
    more = trained.extend("the cat sat on the mat, the cat", 284, trace=True)
    report = more.training_report
    assert (report["extended_from"], report["vocab_size"], report["merges"]) == (280, 284, 4)
    assert len(report["counts"]) == 4
    steps = more.training_trace().steps
    assert [step.result for step in steps] == [280, 281, 282, 283]
    assert [(step.left, step.right) for step in steps] == more.merges[-4:]
    back = more.resized(282).tokenizer
    assert [step.result for step in back.training_trace().steps] == [280, 281]
    assert back.training_report["counts"] == report["counts"][:2]
    # Cut into the old merges, nothing is left of what the report is about.
    assert more.resized(270).tokenizer.training_report is None


def covered(tok, text):
    """What `coverage` says, by encoding."""
    parts = [tok.encode_ordinary(part) for part in tok.pretokens(text)]
    tokens = sum(map(len, parts))
    return {
        "tokens": tokens,
        "bytes_per_token": len(text.encode()) / tokens,
        "whole_pretokens": sum(len(part) == 1 for part in parts),
        "whole_unique_pretokens": len({part for part in tok.pretokens(text) if tok.count(part) == 1}),
    }


def test_coverage_is_of_the_vocabulary_that_came_out(trained):
    text = "the quickest lower cat é " * 3
    assert trained.training_report["coverage"] == covered(trained, TEXT)
    more = trained.extend(text, 283)
    assert more.training_report["coverage"] == covered(more, text)
    seeded = bl.Tokenizer.train(TEXT, 280, seed_tokens=["widely", " xyz"])
    assert seeded.training_report["coverage"] == covered(seeded, TEXT)
    behind = {"pattern": "none", "min_frequency": 1, "seed_tokens": ["abca", "abaabc"]}
    seeded = bl.Tokenizer.train("bba", 262, **behind)
    assert seeded.training_report["coverage"] == covered(seeded, "bba")
    # A character that is not in the vocabulary is in none of its words.
    options = {"alphabet": "characters", "unk": "<u>", "special_tokens": ["<u>"]}
    characters = train_quietly("the cat, the hat", 20, **options)
    assert characters.training_report["coverage"]
    assert extend_quietly(characters, "cat hat zat", 22).training_report["coverage"] is None


def test_ties_and_coverage_are_cut_with_the_merges(trained):
    small = trained.resized(262).tokenizer
    report = small.training_report
    assert report["tied"] == trained.training_report["tied"][: len(report["tied"])]
    assert report["ties"] == sum(report["tied"])
    assert report["coverage"] is None
    assert bl.Tokenizer.from_bytes(small.to_bytes()).training_report["ties"] is None
    seeded = bl.Tokenizer.train(TEXT, 280, seed_tokens=["widely"]).training_report
    assert len(seeded["tied"]) == len(seeded["counts"]) == seeded["merges"]


def test_extending_reports_what_was_skipped(trained, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "the cat sat"}\n{"text": 7}\n', encoding="utf-8")
    docs = bl.documents(tmp_path / "a.jsonl", on_error="skip")
    report = extend_quietly(trained, docs, 281, min_frequency=1).training_report
    assert (report["reading"]["documents"], report["reading"]["skipped"]) == (1, 1)
    assert report["seconds"]["total"] >= report["seconds"]["merge"]


# Data


def test_every_kind_of_data_prunes_and_extends_alike(trained, tmp_path):
    text = "the newest cat sat on the widest mat; the cat"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    lines = "".join(json.dumps({"text": text}) + "\n" for _ in range(1))
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    counts = bl.PretokenCounts(text, special_tokens=SPECIALS)
    kinds = [text, text.encode(), [text], iter([text]), tmp_path / "a.txt", tmp_path / "a.jsonl", counts]
    kinds.append(bl.documents(tmp_path / "a.txt"))
    pruned = {trained.prune(data=data, threads=2).tokenizer for data in kinds if data is not kinds[3]}
    assert len(pruned) == 1
    kinds[3] = iter([text])
    assert len({extend_quietly(trained, data, 284) for data in kinds}) == 1


def test_progress_is_reported(trained):
    seen = []
    trained.prune(data=TEXT * 1000, progress=seen.append)
    assert {state["stage"] for state in seen} >= {"count"}
    trained.extend(TEXT + " cat sat cat sat", 283, progress=seen.append)
    assert seen[-1]["stage"] == "merge"


def test_special_tokens_in_the_data_are_boundaries_or_text(trained):
    data = "xx<|end|>yy " * 3
    boundary = extend_quietly(trained, data, 300, min_frequency=1)
    learned = [boundary.id_to_bytes(token) for token in range(280, boundary.vocab_size)]
    assert not any(b"<" in token or b"|" in token for token in learned)
    ordinary = extend_quietly(trained, data, 300, min_frequency=1, special_text="ordinary")
    learned = [ordinary.id_to_bytes(token) for token in range(280, ordinary.vocab_size)]
    assert any(b"|>" in token for token in learned)
    assert b"<|end|>" not in learned


def test_a_normalizer_is_honoured_by_pruning_and_refused_by_extending(data_dir):
    tok = bl.Tokenizer.load(data_dir / "vocab" / "mistral_v1.model")
    data = ["The cat sat on the mat. 日本語 \U0001f680", "naïve café"]
    small, new_ids, report = tok.prune(data=data)
    assert report.dropped > 30_000
    for text in data:
        assert small.encode(text) == new_ids[tok.encode(text)].tolist()
    # A character that no token is left for becomes its bytes.
    assert small.decode(small.encode("Привет")) == "Привет"
    half = tok.resized(16_000)
    assert half.tokenizer.vocab_size == 16_000
    assert half.tokenizer.decode(half.tokenizer.encode("Привет, мир")) == "Привет, мир"
    with pytest.raises(bl.TrainingError, match="changes text before it cuts it"):
        tok.extend(data, tok.vocab_size + 1)
    with pytest.raises(ValueError, match="normalizes text first"):
        tok.prune(data=bl.PretokenCounts("a"))


# Seeds


def test_what_the_text_gives_behind_seeds_is_learned_last():
    # Without the text's next merge there is one token too few for the seeds, with it one too many.
    options = {"pattern": "none", "min_frequency": 1}
    tok = bl.Tokenizer.train(["bba", "baa"], 262, seed_tokens=["abca", "abaabc"], **options)
    added = tok.training_report["seed_tokens"]["added"]
    assert added[-1] < tok.vocab_size - 1
    assert tok.training_report["counts"][-1] > 0
    assert len(tok.encode("abca")) == len(tok.encode("abaabc")) == 1
    before = tok.resized(added[-1] + 1).tokenizer
    assert before.extend(["bba", "baa"], 262, min_frequency=1) == tok


def test_seeds_are_counted_and_may_be_there_already():
    tok = bl.Tokenizer.train(TEXT, 280, seed_tokens=["low", "a", b"low", " xyz"])
    report = tok.training_report["seed_tokens"]
    assert report == {"asked": 4, "added": [277, 278, 279]}
    assert [tok.id_to_bytes(token) for token in report["added"]] == [b" x", b" xy", b" xyz"]
    assert "seed_tokens" not in bl.Tokenizer.train(TEXT, 280).training_report
    counts = bl.PretokenCounts(TEXT)
    assert bl.Tokenizer.train(counts, 280, seed_tokens=["low", " xyz"]) == tok


def test_seeds_of_characters():
    options = {"alphabet": "characters", "unk": "<u>", "special_tokens": ["<u>"]}
    tok = train_quietly("the cat, the hat", 20, seed_tokens=["chat"], **options)
    assert len(tok.encode("chat")) == 1
    with pytest.raises(bl.TrainingError, match=r"seed_tokens\[1\] holds 'z'"):
        train_quietly("the cat", 20, seed_tokens=["cat", "catz"], **options)


@pytest.mark.parametrize(
    ("seeds", "options", "words"),
    [
        (["ok", ""], {}, r"seed_tokens\[1\] is empty"),
        (["two words"], {}, r'seed_tokens\[0\] "two words" is 2 pre-tokens \("two", " words"\)'),
        (["<s>"], {"special_tokens": ["<s>"]}, r'seed_tokens\[0\] "<s>" is a special token'),
        (["a<s>"], {"special_tokens": ["<s>"], "pattern": "none"}, 'holds the special token "<s>"'),
        (
            ["<s>"],
            {"special_tokens": ["<s>"], "special_text": "ordinary", "pattern": "none"},
            "is a special token",
        ),
        (["abcd"], {"max_token_length": 3}, r'"abcd" has a length of 4; the longest token allowed has 3'),
        (["x" * 70_000], {"pattern": "none"}, "has a length of 70000"),
        (["ABCDEFGHIJKLMNOPQRSTUVWXYZ"], {}, "need 13 more tokens than vocab_size leaves room for"),
        (["a"], {"trace": True}, "a trace tells how the text chose"),
        (["\ud800"], {}, r"seed_tokens\[0\].*lone surrogate"),
    ],
)
def test_seeds_that_cannot_be(seeds, options, words):
    with pytest.raises(bl.TrainingError, match=words):
        train_quietly(TEXT, 268, seed_tokens=seeds, **options)


@pytest.mark.parametrize("seeds", ["low", b"low", [3], [None], 5])
def test_seeds_of_another_type(seeds):
    with raises_cleanly(TypeError):
        bl.Tokenizer.train(TEXT, 270, seed_tokens=seeds)


def test_an_ordinary_special_token_is_made_around():
    options = {"special_tokens": ["<s>"], "special_text": "ordinary", "pattern": "none"}
    tok = train_quietly("", 300, seed_tokens=["<s>x"], **options)
    assert len(tok.encode_ordinary("<s>x")) == 1
    assert tok.token_to_id(b"<s>") in (None, tok.special_tokens["<s>"])


# What is refused


@pytest.mark.parametrize("size", [-1, 0, 257, 281, 10**30])
def test_sizes_that_cannot_be(trained, size):
    with pytest.raises(bl.VocabularyError, match=r"from 258 .* to 280"):
        trained.resized(size)
    with pytest.raises(bl.VocabularyError, match=r"from 258 .* to 280"):
        trained.prune(data="a", vocab_size=size)


@pytest.mark.parametrize("size", [-1, 0, 279, 2**22 + 1, 10**30])
def test_sizes_that_extending_cannot_give(trained, size):
    with pytest.raises(bl.TrainingError, match=r"from 280 .* to 4194304"):
        trained.extend("a", size)


@pytest.mark.parametrize("size", [None, "270", 270.0])
def test_sizes_of_another_type(trained, size):
    for method in (trained.resized, lambda size: trained.extend("a", size)):
        with pytest.raises(TypeError, match="vocab_size must be an integer"):
            method(size)


@pytest.mark.parametrize(
    ("keep", "kind", "words"),
    [
        ([97, 280], bl.VocabularyError, r"keep\[1\], 280, is no token"),
        ([-1], bl.VocabularyError, r"keep\[0\], -1, is no token"),
        ([10**30], bl.VocabularyError, r"keep\[0\]"),
        (["low", "nope"], bl.VocabularyError, r"keep\[1\], 'nope', is no token"),
        ([b"\xff\xff"], bl.VocabularyError, r"keep\[0\]"),
        ([1.5], TypeError, r"keep\[0\] must be an id, str or bytes, not float"),
        ([True], TypeError, r"keep\[0\].*bool"),
        ("low", TypeError, "not a single token"),
        (7, TypeError, "iterable"),
    ],
)
def test_what_cannot_be_kept(trained, keep, kind, words):
    with pytest.raises(kind, match=words):
        trained.prune(keep=keep)


def test_what_is_kept_may_be_an_array_or_empty(trained):
    bare = trained.prune(keep=[]).tokenizer
    assert bare.vocab_size == 258
    assert bare.encode("low") == [*b"low"]
    named = trained.prune(keep=np.array(trained.encode("newest")))
    assert named.tokenizer == trained.prune(data="newest").tokenizer
    assert trained.prune(keep=["<|end|>"]).tokenizer == bare


def test_prune_wants_one_of_two(trained):
    for both in ({}, {"keep": [1], "data": "a"}):
        with pytest.raises(ValueError, match="either keep"):
            trained.prune(**both)
    with pytest.raises(ValueError, match="vocab_size goes with data"):
        trained.prune(keep=[1], vocab_size=270)


def test_counts_must_fit(trained):
    for method in (lambda counts: trained.prune(data=counts), lambda counts: trained.extend(counts, 281)):
        with pytest.raises((ValueError, bl.TrainingError), match="pattern"):
            method(bl.PretokenCounts("a", pattern="gpt2", special_tokens=SPECIALS))
        with pytest.raises((ValueError, bl.TrainingError), match="special tokens"):
            method(bl.PretokenCounts("a"))


def test_faults_in_the_data_name_their_place(trained, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"ok \xff")
    for method in (lambda data: trained.prune(data=data), lambda data: trained.extend(data, 290)):
        with pytest.raises(bl.TextError, match=r"bad\.txt.*byte 3"):
            method([tmp_path / "bad.txt"])
        with pytest.raises(TypeError, match="document 1"):
            method(["a", 3])


def test_extending_says_where_the_text_ran_out(trained):
    with pytest.warns(bl.TrainingWarning, match=r"ended with 2\d\d tokens of the 400"):
        trained.extend("zz zz", 400)
    with pytest.raises(bl.TrainingError, match="ended with"):
        trained.extend("zz zz", 400, strict=True)
    assert trained.extend("", 400, allow_fewer=True) == trained
    with pytest.raises(ValueError, match="choose one"):
        trained.extend("zz", 400, strict=True, allow_fewer=True)


def test_a_vocabulary_without_merges_has_one_size(bytes_tok):
    assert bytes_tok.resized(259).tokenizer == bytes_tok
    with pytest.raises(bl.VocabularyError, match=r"from 259 .* to 259"):
        bytes_tok.resized(258)
    assert extend_quietly(bytes_tok, "low low", 260).id_to_bytes(259) == b"lo"


@pytest.mark.parametrize("wrong", [5, None, 2.5])
def test_what_is_no_sequence_is_named(trained, wrong):
    with pytest.raises(TypeError, match="seed_tokens must be a sequence"):
        bl.Tokenizer.train(TEXT, 280, seed_tokens=wrong)
    if wrong is not None:
        with pytest.raises(TypeError, match="keep must be an iterable"):
            trained.prune(keep=wrong)


def test_sizes_of_extending_are_explained(trained):
    with pytest.raises(bl.TrainingError, match=r"resized and prune make a vocabulary smaller"):
        trained.extend(TEXT, 200)
    for size in (2**22 + 1, 2**70):
        with pytest.raises(
            bl.TrainingError, match=r"new ids come behind the largest, and 4194303 is the last"
        ):
            trained.extend(TEXT, size)

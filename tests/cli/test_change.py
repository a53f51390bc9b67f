"""`byteloom resize`, `prune` and `extend`, and seed tokens of `train`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import byteloom as bl

TEXT = "low lower lowest, new newer newest, wide wider widest. " * 9


@pytest.fixture(autouse=True)
def _files(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "b.jsonl").write_text(json.dumps({"body": "lower lower newest"}) + "\n{\n")
    tok = bl.Tokenizer.train(TEXT, 275, special_tokens=["<|end|>"], eos="<|end|>")
    tok.save(tmp_path / "tok.json")


@pytest.fixture
def tok(tmp_path):
    return bl.Tokenizer.load(tmp_path / "tok.json")


def test_resize_writes_the_smaller_one_and_the_map(run, tmp_path, tok):
    done = run("resize", "tok.json", "-o", "small.json", "-n", "265", "--map", "ids.npy")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.decode().splitlines() == [
        "kept     265 tokens of 275",
        "moved    1 id, 1 of them special",
        "saved    265 tokens in small.json",
    ]
    expected = tok.resized(265)
    assert bl.Tokenizer.load(tmp_path / "small.json") == expected.tokenizer
    ids = np.load(tmp_path / "ids.npy")
    assert ids.dtype == np.int64
    assert (ids == expected.new_ids).all()


def test_prune_by_a_text(run, tmp_path, tok):
    options = ("--field", "body", "--on-error", "skip", "--map", "ids.npy", "--json")
    done = run("prune", "tok.json", "b.jsonl", "-o", "small.json", *options)
    assert done.returncode == 0, done.stderr
    assert b"1 skipped" in done.stderr
    expected = tok.prune(data="lower lower newest")
    report = json.loads(done.stdout)
    assert report["fingerprint"] == expected.tokenizer.fingerprint
    assert {name: report[name] for name in expected.report.to_dict()} == expected.report.to_dict()
    assert bl.Tokenizer.load(tmp_path / "small.json") == expected.tokenizer
    assert (np.load(tmp_path / "ids.npy") == expected.new_ids).all()
    done = run("prune", "tok.json", "a.txt", "-o", "other.json", "-n", "262")
    assert done.returncode == 0, done.stderr
    assert bl.Tokenizer.load(tmp_path / "other.json") == tok.prune(data=TEXT, vocab_size=262).tokenizer


def test_prune_by_ids(run, tmp_path, tok):
    ids = " ".join(map(str, tok.encode("lower newest"))).encode()
    done = run("prune", "tok.json", "-o", "small.json", "--keep", "-", stdin=ids)
    assert done.returncode == 0, done.stderr
    assert b"only as parts of others" in done.stderr
    expected = tok.prune(keep=tok.encode("lower newest"))
    assert bl.Tokenizer.load(tmp_path / "small.json") == expected.tokenizer


def test_extend_keeps_every_id(run, tmp_path, tok):
    other = "the cat sat on the mat and the other cat sat on the other mat"
    done = run("extend", "tok.json", "-", "-o", "more.json", "-n", "280", stdin=other.encode())
    assert done.returncode == 0, done.stderr
    assert b"ids 275 to 279" in done.stderr
    more = bl.Tokenizer.load(tmp_path / "more.json")
    assert more == tok.extend(other, 280)
    assert more.special_tokens == tok.special_tokens
    done = run("extend", "tok.json", "a.txt", "-o", "far.json", "-n", "9k", "--json")
    assert done.returncode == 0
    assert b"warning: training ended with" in done.stderr
    assert json.loads(done.stdout)["extended_from"] == 275
    done = run("extend", "tok.json", "a.txt", "-o", "none.json", "-n", "9k", "--strict")
    assert (done.returncode, (tmp_path / "none.json").exists()) == (1, False)


def test_seed_tokens(run, tmp_path):
    (tmp_path / "seeds.txt").write_text(" Kubernetes\n\nxyzzy\r\n")
    options = ("--seed-tokens", "seeds.txt", "--seed-token", "<<<", "--json")
    done = run("train", "a.txt", "-o", "seeded.json", "-n", "290", *options)
    assert done.returncode == 0, done.stderr
    seeded = bl.Tokenizer.load(tmp_path / "seeded.json")
    assert all(len(seeded.encode(seed)) == 1 for seed in (" Kubernetes", "xyzzy", "<<<"))
    assert json.loads(done.stdout)["seed_tokens"]["asked"] == 3
    # A byte order mark belongs to the file.
    (tmp_path / "marked.txt").write_bytes(b"\xef\xbb\xbfZebra\n")
    run("train", "a.txt", "-o", "marked.json", "-n", "290", "--seed-tokens", "marked.txt")
    assert len(bl.Tokenizer.load(tmp_path / "marked.json").encode("Zebra")) == 1


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (["resize", "tok.json", "-o", "x.json", "-n", "100"], 1, b"vocab_size must be from 257"),
        (["resize", "tok.json", "-o", "x.json", "-n", "1k"], 1, b"extend learns more"),
        (["resize", "tok.json", "-o", "x.json"], 2, b"--vocab-size"),
        (["resize", "tok.json", "-o", "x.json", "-n", "260", "--map", "x.csv"], 1, b"written as .npy"),
        (["resize", "tok.json", "-o", "-", "-n", "260", "--json"], 2, b"both want standard output"),
        (["resize", "tok.json", "-o", "a.txt", "-n", "260"], 1, b"a.txt exists; --force replaces it"),
        (["prune", "tok.json", "a.txt", "-o", "x.json", "--keep", "a.txt"], 2, b"--keep says what stays"),
        (["prune", "tok.json", "-o", "x.json", "--keep", "a.txt"], 1, b"a.txt: item 0, 'low', is no id"),
        (["prune", "tok.json", "-o", "x.json", "--keep", "gone.txt"], 1, b"gone.txt"),
        (["prune", "tok.json", "gone.txt", "-o", "x.json"], 1, b"gone.txt"),
        (["prune", "tok.json", "b.jsonl", "-o", "x.json", "--field", "body"], 1, b"--on-error skip"),
        (["extend", "tok.json", "a.txt", "-o", "x.json", "-n", "260"], 1, b"vocab_size must be from 275"),
        (["train", "a.txt", "-o", "x.json", "--seed-token", "a b"], 1, b"seed_tokens[0]"),
        (["train", "a.txt", "-o", "x.json", "--seed-token", "a", "--sizes", "1k"], 2, b"each size by itself"),
        (["train", "-o", "x.json", "--seed-tokens", "-"], 2, b"both want standard input"),
    ],
)
def test_wrong_requests_have_one_message(run, tmp_path, call, code, words):
    done = run(*call)
    assert (done.returncode, done.stdout) == (code, b"")
    assert words in done.stderr
    assert not (tmp_path / "x.json").exists()

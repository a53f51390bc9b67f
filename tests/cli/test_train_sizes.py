"""`byteloom train --sizes`: one run, a vocabulary of each size, and a table."""

from __future__ import annotations

import json

import pytest

import byteloom as bl
from helpers import train_quietly

TEXT = "low lower lowest, new newer newest, wide wider widest. " * 9
HELD_OUT = "the newest and lowest of the wide"


@pytest.fixture(autouse=True)
def _texts(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "other.jsonl").write_text("".join(json.dumps({"text": HELD_OUT}) + "\n" for _ in range(3)))


def test_each_size_is_what_training_for_it_gives(run, tmp_path):
    options = ("--special", "<|a|>", "--special", "<|b|>", "--special-position", "first", "--eos", "<|b|>")
    sizes = {"260": 260, "0.27k": 270, "2_75": 275}
    done = run(
        "train", "a.txt", "-o", "tok.json", "--sizes", ",".join(sizes), "--held-out", "other.jsonl", *options
    )
    assert done.returncode == 0, done.stderr
    rows = done.stdout.decode().splitlines()
    assert rows[0].split() == ["tokens", "bytes", "per", "token", "file"]
    for row, (label, size) in zip(rows[1:], sizes.items(), strict=True):
        tok = bl.Tokenizer.load(tmp_path / f"tok-{label}.json")
        assert tok == train_quietly(
            TEXT, size, special_tokens=["<|a|>", "<|b|>"], special_position="first", eos="<|b|>"
        )
        ratio = len(HELD_OUT) / tok.count(HELD_OUT)
        assert row.split() == [str(size), f"{ratio:.3f}", f"tok-{label}.json"]
    assert not (tmp_path / "tok.json").exists()


def test_json_and_a_plot(run, tmp_path):
    pytest.importorskip("matplotlib")
    options = ("--sizes", "258,270", "--held-out", "other.jsonl", "--plot", "out.svg", "--json")
    done = run("train", "a.txt", "-o", "tok.json", *options)
    assert done.returncode == 0, done.stderr
    sizes = json.loads(done.stdout)["sizes"]
    assert [size["vocab_size"] for size in sizes] == [258, 270]
    assert sizes[0]["held_out_bytes"] == 3 * len(HELD_OUT)
    assert sizes[0]["fingerprint"] == bl.Tokenizer.load(tmp_path / "tok-258.json").fingerprint
    assert "held-out text" in (tmp_path / "out.svg").read_text()


def test_without_a_held_out_text(run):
    done = run("train", "a.txt", "-o", "tok.json", "--sizes", "258")
    assert (done.returncode, done.stdout.split()[-3:]) == (0, [b"258", b"-", b"tok-258.json"])


def test_sizes_that_the_text_does_not_give_are_said(run, tmp_path):
    done = run("train", "a.txt", "-o", "tok.json", "--sizes", "258,32k")
    assert done.returncode == 0
    assert b"warning: no vocabulary of 32k: training ended with " in done.stderr
    assert [path.name for path in tmp_path.glob("tok*")] == ["tok-258.json"]
    done = run("train", "a.txt", "-o", "other.json", "--sizes", "32k,64k")
    assert done.returncode == 1
    assert b"before the smallest size" in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--sizes", "1k,x"], 2, b"'x' is not a count"),
        (["--sizes", "1k,1000"], 2, b"names a size twice"),
        (["--sizes", "1k", "-n", "1k"], 2, b"not both"),
        (["--sizes", "1k", "--plot", "a.svg"], 2, b"--held-out"),
        (["--sizes", "1k", "--held-out", "a.txt", "--plot", "a.gif"], 1, b".png or .svg"),
        (["--sizes", "1k", "--held-out", "gone.txt"], 1, b"gone.txt"),
        (["--sizes", "100,1k"], 1, b"256"),
        (["--sizes", "1k", "-o", "-"], 2, b"must name a file"),
        (["--held-out", "a.txt"], 2, b"belong to --sizes"),
    ],
)
def test_wrong_requests_have_one_message(run, tmp_path, options, code, words):
    done = run("train", "a.txt", "-o", "tok.json", *options)
    assert (done.returncode, done.stdout) == (code, b"")
    assert words in done.stderr
    assert not list(tmp_path.glob("tok*"))


def test_an_existing_file_is_kept(run, tmp_path):
    (tmp_path / "tok-258.json").write_text("precious")
    done = run("train", "a.txt", "-o", "tok.json", "--sizes", "257,258")
    assert (done.returncode, b"tok-258.json exists" in done.stderr) == (1, True)
    assert [path.name for path in tmp_path.glob("tok*")] == ["tok-258.json"]

"""`byteloom train`: documents in, a whole tokenizer file or none out."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

import byteloom as bl

TEXT = b"low lower lowest, new newer newest. " * 20


def test_a_file_becomes_the_tokenizer_that_the_library_trains(run, tmp_path):
    (tmp_path / "a.txt").write_bytes(TEXT)
    done = run("train", "a.txt", "-o", "tok.json", "--vocab-size", "270")
    assert (done.returncode, done.stdout) == (0, b"")
    assert bl.Tokenizer.load(tmp_path / "tok.json") == bl.Tokenizer.train(TEXT, 270)
    for figure in (b"720 bytes", b"1 document", b"14 merges", b"270 tokens in tok.json"):
        assert figure in done.stderr


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input_is_one_document(run, tmp_path, arguments):
    assert run("train", *arguments, "-o", "tok.json", "-n", "270", stdin=TEXT).returncode == 0
    assert bl.Tokenizer.load(tmp_path / "tok.json") == bl.Tokenizer.train(TEXT, 270)


def test_each_file_is_a_document(run, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"ababab")
    (tmp_path / "b.txt").write_bytes(b"cdcdcd")
    done = run("train", "a.txt", "b.txt", "-", "-o", "tok.json", "-n", "259", "--json", stdin=b"efefef")
    report = json.loads(done.stdout)
    assert (report["documents"], report["bytes"], report["merges"], report["vocab_size"]) == (3, 18, 3, 259)
    assert report["file"] == "tok.json"
    assert bl.Tokenizer.load(tmp_path / "tok.json").fingerprint == report["fingerprint"]


def test_every_option_reaches_the_trainer(run, tmp_path):
    options = (
        "--pattern=gpt2", "--special=<|a|>", "--special=<|é|>", "--special=<|p|>", "--special-position=first",
        "--bos=<|a|>", "--eos=<|é|>", "--pad=<|p|>", "--min-frequency=3", "--max-token-length=4",
        "--tie-break=first_seen", "--threads=1",
    )  # fmt: skip
    assert run("train", *options, "-o", "tok.json", "-n", "266", stdin=TEXT).returncode == 0
    assert bl.Tokenizer.load(tmp_path / "tok.json") == bl.Tokenizer.train(
        TEXT, 266, pattern="gpt2", special_tokens=["<|a|>", "<|é|>", "<|p|>"], special_position="first",
        bos="<|a|>", eos="<|é|>", pad="<|p|>", min_frequency=3, max_token_length=4, tie_break="first_seen",
    )  # fmt: skip


@pytest.mark.parametrize(("size", "tokens"), [("0.27k", 270), ("2_70", 270), ("1Ki", 1024)])
def test_sizes_may_be_short(run, size, tokens):
    text = " ".join(f"{n:b}" for n in range(20_000)).replace("0", "a").replace("1", "b")
    done = run("train", "-o", "-", "-n", size, stdin=text.encode())
    assert done.returncode == 0
    assert bl.Tokenizer.from_bytes(done.stdout).vocab_size == tokens


@pytest.mark.parametrize("size", ["many", "1.5", "-5", "32kk", "٣٢", "", "0x20"])
def test_other_sizes_are_a_wrong_call(run, size):
    done = run("train", "-o", "tok.json", f"--vocab-size={size}", stdin=TEXT)
    assert done.returncode == 2
    assert b"--vocab-size" in done.stderr


def test_too_little_text_warns_and_still_saves(run, tmp_path):
    done = run("train", "-o", "tok.json", stdin=b"aa aa")
    assert done.returncode == 0
    assert done.stderr.startswith(b"byteloom: warning: ")
    assert bl.Tokenizer.load(tmp_path / "tok.json").vocab_size < 300


def test_an_existing_file_is_kept_unless_forced(run, tmp_path):
    (tmp_path / "old.json").write_text("precious")
    done = run("train", "-o", "old.json", "-n", "258", stdin=TEXT)
    assert done.returncode == 1
    assert done.stderr == b"byteloom: old.json exists; --force replaces it\n"
    assert (tmp_path / "old.json").read_text() == "precious"
    assert run("train", "-o", "old.json", "-n", "258", "--force", stdin=TEXT).returncode == 0
    assert bl.Tokenizer.load(tmp_path / "old.json").vocab_size == 258


def test_a_link_stays_a_link_and_the_umask_is_kept(run, tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    old = os.umask(0o027)
    try:
        assert run("train", "-o", "link.json", "-n", "258", "--force", stdin=TEXT).returncode == 0
    finally:
        os.umask(old)
    assert (tmp_path / "link.json").is_symlink()
    assert stat.S_IMODE((tmp_path / "real.json").stat().st_mode) == 0o640


def test_a_device_is_written_to_and_never_replaced(run):
    assert run("train", "-o", "/dev/null", "-n", "258", "--force", stdin=TEXT).returncode == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize(
    ("output", "words"), [("nowhere/tok.json", b"no folder"), (".", b"is a folder")]
)  # fmt: skip
def test_an_impossible_output_is_refused_before_the_work(run, output, words):
    done = run("train", "missing.txt", "-o", output)
    assert done.returncode == 1
    assert words in done.stderr


def test_a_missing_file_is_named_before_the_work(run, tmp_path):
    (tmp_path / "a.txt").write_bytes(TEXT)
    done = run("train", "a.txt", "missing.txt", "-o", "tok.json")
    assert done.returncode == 1
    assert done.stderr == b"byteloom: missing.txt: No such file or directory\n"
    assert not (tmp_path / "tok.json").exists()


@pytest.mark.parametrize("source", ["a.txt", "-"])
def test_invalid_utf8_is_refused_with_its_place(run, tmp_path, source):
    (tmp_path / "a.txt").write_bytes(b"ok\xff")
    done = run("train", source, "-o", "tok.json", "-n", "256", stdin=b"ok\xff")
    assert done.returncode == 2
    assert b"byte 2" in done.stderr or b"offset 2" in done.stderr
    assert b"keep" in done.stderr
    assert (b"a.txt" if source == "a.txt" else b"standard input") in done.stderr
    for errors in ("replace", "keep"):
        done = run("train", source, "-o", f"{errors}.json", "-n", "256", "--errors", errors, stdin=b"ok\xff")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name", ["two words.txt", "two\nlines.txt", "-dash.txt", "日本🚀.txt", b"not utf8 \xff.txt"]
)
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_odd_file_names(run, tmp_path, name, locale):
    odd = os.fsencode(name)
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + odd))).write_bytes(TEXT)
    output = b"out " + odd + b".json"
    done = run("train", "-o", output, "-n", "260", "--", odd, env={"LC_ALL": locale})
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 4
    info = run("info", "--json", "--", output, env={"LC_ALL": locale})
    assert json.loads(info.stdout)["vocab_size"] == 260
    missing = run("encode", "--", b"gone " + odd, env={"LC_ALL": locale})
    assert (missing.returncode, len(missing.stderr.splitlines())) == (1, 1)


def test_special_tokens_are_utf8_in_any_locale(run):
    done = run("train", "-o", "-", "-n", "257", "--special", "<|é🚀|>", stdin=TEXT, env={"LC_ALL": "C"})
    assert bl.Tokenizer.from_bytes(done.stdout).special_tokens == {"<|é🚀|>": 256}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["-n", "10"], 1),
        (["--pattern", "(unclosed"], 1),
        (["--eos", "<|undeclared|>"], 1),
        (["--special", "<|a|>", "--special", "<|a|>"], 1),
        (["--tie-break", "luck"], 2),
        (["--threads", "0"], 2),
        (["--unknown"], 2),
    ],
)
def test_wrong_options_have_one_clear_message(run, tmp_path, arguments, code):
    done = run("train", "-o", "tok.json", *arguments, stdin=TEXT)
    assert done.returncode == code
    assert done.stderr.startswith(b"byteloom: ")
    assert len(done.stderr.splitlines()) == code
    assert list(tmp_path.iterdir()) == []


def test_progress_only_where_it_is_asked_for(run):
    assert b"\r" not in run("train", "-o", "a.json", "-n", "260", stdin=TEXT).stderr
    assert b"merging" in run("train", "-o", "b.json", "-n", "260", "--progress", stdin=TEXT).stderr


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_midway_the_old_file_stays(script, environment, tmp_path, how):
    (tmp_path / "tok.json").write_text("precious")
    feed = subprocess.Popen(
        [script, "train", "-o", "tok.json", "--force"],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=environment,
    )  # fmt: skip
    assert feed.stdin is not None
    feed.stdin.write(TEXT * 100)
    feed.stdin.flush()
    time.sleep(0.7)
    feed.send_signal(how)
    _, errors = feed.communicate(timeout=30)
    assert feed.returncode == (-signal.SIGKILL if how is signal.SIGKILL else 130)
    assert b"Traceback" not in errors
    assert (tmp_path / "tok.json").read_text() == "precious"

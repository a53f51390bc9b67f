"""`byteloom train` on files of every kind: read whole, limited, sampled, or with faults counted."""

from __future__ import annotations

import gzip
import json
import os

import pytest

import byteloom as bl
from helpers import train_quietly

TEXTS = ["low lower lowest", "new newer newest", "wide wider widest"] * 5


@pytest.fixture
def shards(tmp_path):
    """Three files in a folder: JSON lines, packed JSON lines, text, and one that is none of these."""
    folder = tmp_path / "shards"
    (folder / "more").mkdir(parents=True)
    lines = [json.dumps({"content": text}).encode() + b"\n" for text in TEXTS]
    (folder / "a.jsonl").write_bytes(b"".join(lines[:5]))
    (folder / "more" / "b.jsonl.gz").write_bytes(gzip.compress(b"".join(lines[5:])))
    (folder / "z.txt").write_bytes(b"low and wide")
    (folder / "readme.md").write_bytes(b"not read")
    return folder


def trained(data, size=280):
    return train_quietly(data, size)


def test_a_folder_of_files_of_every_kind(run, tmp_path, shards):
    done = run("train", "shards", "--field", "content", "-o", "tok.json", "-n", "280", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["documents"] == report["reading"]["documents"] == 16
    assert report["reading"]["files"] == 3
    assert report["reading"]["ignored"] == 1
    assert b"1 file in folders not read because of the ending, such as shards/readme.md" in done.stderr
    assert bl.Tokenizer.load(tmp_path / "tok.json") == trained([*TEXTS, "low and wide"])


def test_a_glob_in_quotes(run, tmp_path, shards):
    done = run("train", "shards/**/*.jsonl*", "--field=content", "-o", "tok.json", "-n", "280")
    assert done.returncode == 0, done.stderr
    assert bl.Tokenizer.load(tmp_path / "tok.json") == trained(TEXTS)
    none = run("train", "shards/*.nothing", "-o", "other.json")
    assert (none.returncode, none.stderr) == (1, b"byteloom: shards/*.nothing: No file matches\n")


def test_tables(run, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    pq.write_table(pa.table({"body": TEXTS}), tmp_path / "a.parquet")
    assert run("train", "a.parquet", "--column", "body", "-o", "tok.json", "-n", "280").returncode == 0
    assert bl.Tokenizer.load(tmp_path / "tok.json") == trained(TEXTS)
    done = run("train", "a.parquet", "-o", "other.json", "-n", "280")
    assert done.returncode == 1
    assert b"a.parquet: no column 'text'; the columns are 'body'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("form", ["jsonl", "jsonl.gz"])
def test_standard_input_of_every_format(run, form):
    data = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()
    stdin = gzip.compress(data) if form == "jsonl.gz" else data
    done = run("train", "-", "--format", form, "-o", "-", "-n", "280", stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert bl.Tokenizer.from_bytes(done.stdout) == trained(TEXTS)


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_a_named_pipe(script, environment, tmp_path):
    import subprocess

    os.mkfifo(tmp_path / "pipe")
    command = f'printf "low lower" > pipe & "{script}" train pipe -o tok.json -n 257'
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert bl.Tokenizer.load(tmp_path / "tok.json").merges == [(108, 111)]


def test_a_separator(run, tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    done = run("train", "a.txt", "--separator", r"\n", "-o", "tok.json", "-n", "280", "--json")
    assert json.loads(done.stdout)["documents"] == len(TEXTS)
    assert bl.Tokenizer.load(tmp_path / "tok.json") == trained(TEXTS)


def test_limits_and_samples(run, tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS * 20))
    options = ("--separator", r"\n", "--sample", "0.5", "--seed", "3", "--max-bytes", "1k")
    done = run("train", "a.txt", *options, "-o", "tok.json", "-n", "270")
    assert done.returncode == 0, done.stderr
    docs = bl.documents(tmp_path / "a.txt", separator="\n", sample=0.5, seed=3, max_bytes=1000)
    assert bl.Tokenizer.load(tmp_path / "tok.json") == trained(list(docs), 270)
    stats = docs.stats
    said = f"read     1,000 bytes in {stats.documents} documents, {stats.not_sampled} not in the sample"
    assert f"{said}, ended by --max-bytes\n".encode() in done.stderr


def test_a_faulty_line_stops_or_is_counted(run, tmp_path):
    lines = [json.dumps({"text": text}) for text in TEXTS]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines[:2], "{broken", '{"text": null}', *lines[2:]]))
    done = run("train", "a.jsonl", "-o", "tok.json", "-n", "280")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert done.stderr.startswith(b"byteloom: a.jsonl:3: no JSON: ")
    assert b"--on-error skip" in done.stderr
    assert not (tmp_path / "tok.json").exists()
    done = run("train", "a.jsonl", "-o", "tok.json", "-n", "280", "--on-error", "skip")
    assert done.returncode == 0, done.stderr
    assert b"warning: 2 skipped (1 no JSON, 1 no string); the first: a.jsonl:3: " in done.stderr
    done = run("train", "a.jsonl", "-o", "tok.json", "-n", "280", "--on-error", "skip", "--json", "--force")
    report = json.loads(done.stdout)
    assert (report["reading"]["skipped"], len(report["reading"]["faults"])) == (2, 2)
    assert report["reading"]["reasons"] == {"no JSON": 1, "no string": 1}
    assert len(report["counts"]) == len(report["tied"]) == report["merges"]
    assert report["ties"] == sum(report["tied"])
    assert report["coverage"]["tokens"] > 0
    assert bl.Tokenizer.load(tmp_path / "tok.json") == trained(TEXTS)


def test_a_damaged_archive(run, tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(os.urandom(1000))[:-10])
    done = run("train", "a.txt.gz", "-o", "tok.json", "--errors", "keep")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert done.stderr.startswith(b"byteloom: a.txt.gz: damaged gzip data near offset ")
    assert b"--on-error skip" in done.stderr


@pytest.mark.parametrize(
    "options",
    [["--sample", "0"], ["--sample", "2"], ["--max-bytes", "x"], ["--on-error", "stop"], ["--seed", "x"]],
)
def test_wrong_options_are_a_wrong_call(run, options):
    done = run("train", "-o", "tok.json", *options, stdin=b"low")
    assert done.returncode == 2
    assert options[0].encode() in done.stderr


def test_a_wrong_format_is_one_line(run):
    done = run("train", "-o", "tok.json", "--format", "csv", stdin=b"low")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert b"'csv'" in done.stderr


def test_strict_refuses_fewer_tokens(run, tmp_path):
    done = run("train", "-o", "tok.json", "--strict", stdin=b"aa aa")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert b"257 tokens of the 32000 asked for" in done.stderr
    assert not (tmp_path / "tok.json").exists()

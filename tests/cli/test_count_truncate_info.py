"""`byteloom count`, `truncate` and `info`."""

from __future__ import annotations

import json

import pytest

TEXT = "the cat sat on the mat 日本語 🚀 " * 3


def test_count_of_one_text(run, special_tok, tok_file):
    tokens, size = special_tok.count(TEXT), len(TEXT.encode())
    for done in (run("count", tok_file, stdin=TEXT.encode()), run("count", tok_file, "--text", TEXT)):
        header, row = done.stdout.decode().splitlines()
        assert header.split() == ["tokens", "bytes", "bytes/token"]
        assert row.split()[:3] == [str(tokens), str(size), f"{size / tokens:.2f}"]


def test_count_of_files_and_their_total(run, special_tok, tok_file, tmp_path):
    (tmp_path / "a b.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "empty.txt").write_bytes(b"")
    done = run("count", tok_file, "a b.txt", "empty.txt", "--json", "--threads", "2")
    figures = json.loads(done.stdout)
    tokens = special_tok.count(TEXT)
    assert figures["files"][0]["name"] == "a b.txt"
    assert figures["files"][1] == {"name": "empty.txt", "tokens": 0, "bytes": 0, "bytes_per_token": None}
    assert figures["total"]["tokens"] == figures["files"][0]["tokens"] == tokens
    table = run("count", tok_file, "a b.txt", "empty.txt").stdout.decode().splitlines()
    assert [line.split()[0] for line in table] == ["tokens", str(tokens), "0", str(tokens)]
    assert table[-1].endswith("total")


def test_count_names_the_file_at_fault(run, tok_file, tmp_path):
    (tmp_path / "fine.txt").write_bytes(b"fine")
    (tmp_path / "special.txt").write_bytes(b"<|pad|>")
    (tmp_path / "bad.txt").write_bytes(b"abc\xff")
    special = run("count", tok_file, "fine.txt", "special.txt")
    assert special.returncode == 1
    assert b"special.txt: " in special.stderr
    assert run("count", tok_file, "special.txt", "--ordinary").returncode == 0
    assert run("count", tok_file, "special.txt", "--allowed-special", "all").stdout.split()[3] == b"1"
    bad = run("count", tok_file, "fine.txt", "bad.txt")
    assert bad.returncode == 2
    assert b"bad.txt: byte 0xff at offset 3" in bad.stderr
    assert run("count", tok_file, "bad.txt", "--bytes").stdout.split()[3:5] == [b"4", b"4"]
    assert run("count", tok_file, "fine.txt", "--text", "x").returncode == 2


@pytest.mark.parametrize("tokens", [0, 1, 7, 18, 19, 20, 10_000])
def test_truncate_follows_the_library(run, special_tok, tok_file, tmp_path, tokens):
    done = run("truncate", tok_file, "-n", str(tokens), stdin=TEXT.encode())
    assert done.stdout.decode() == special_tok.truncate(TEXT, tokens)
    assert TEXT.encode().startswith(done.stdout)
    run("truncate", tok_file, "-n", str(tokens), "--text", TEXT, "-o", "short.txt")
    assert (tmp_path / "short.txt").read_bytes() == done.stdout
    assert run("truncate", tok_file, "-n", str(tokens), "--text", TEXT, "-o", "short.txt").returncode == 1


def test_truncate_of_raw_bytes(run, special_tok, tok_file):
    done = run("truncate", tok_file, "-n", "3", "--bytes", stdin=b"\xff\xfe\xfd\xfc")
    assert done.stdout == special_tok.truncate(b"\xff\xfe\xfd\xfc", 3)
    assert run("truncate", tok_file, "--text", "a").returncode == 2


def test_info_for_programs_and_for_people(run, special_tok, tok_file):
    assert json.loads(run("info", tok_file, "--json").stdout) == json.loads(json.dumps(special_tok.info()))
    summary = run("info", tok_file).stdout.decode()
    for words in ("302", "cl100k", "<|endoftext|>", "300", special_tok.fingerprint[:12]):
        assert words in summary


def test_a_known_rank_file_needs_no_pattern_and_others_do(run, data_dir, tmp_path):
    path = data_dir / "vocab" / "cl100k_base.tiktoken"
    assert run("encode", path, "--text", "hello world").stdout == b"15339 1917\n"
    (tmp_path / "few.tiktoken").write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:1000]))
    refused = run("encode", "few.tiktoken", "--text", "hello")
    assert refused.returncode == 1
    assert b"few.tiktoken" in refused.stderr
    assert b"pattern" in refused.stderr
    assert run("encode", "few.tiktoken", "--pattern", "cl100k", "--text", "hello").returncode == 0

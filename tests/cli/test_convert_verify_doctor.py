"""`byteloom convert`, `verify` and `doctor`."""

from __future__ import annotations

import base64
import json

import pytest

import byteloom as bl


@pytest.fixture
def rank_file(special_tok, tmp_path):
    """The ordinary tokens of `special_tok`, without pattern and special tokens."""
    special = set(special_tok.special_tokens.values())
    ids = [id_ for id_ in range(special_tok.max_token_id + 1) if id_ not in special]
    lines = [base64.b64encode(special_tok.id_to_bytes(id_)) + b" %d\n" % id_ for id_ in ids]
    (tmp_path / "small.tiktoken").write_bytes(b"".join(lines))
    return "small.tiktoken"


@pytest.fixture
def other_file(small_text, tmp_path):
    """Another tokenizer."""
    tok = bl.Tokenizer.train(small_text, vocab_size=290, pattern="gpt2")
    tok.save(tmp_path / "other.json")
    return "other.json"


# verify


def test_verify_of_equal_files(run, tok_file, special_tok, tmp_path):
    special_tok.save(tmp_path / "again.json")
    (tmp_path / "text.txt").write_bytes(b"the cat " * 1_000)
    done = run("verify", tok_file, "again.json", "--text", "text.txt")
    assert (done.returncode, done.stderr) == (0, b"")
    first, second = done.stdout.decode().splitlines()
    assert first == f"equal: {tok_file} and again.json"
    assert "texts" in second
    assert "tokens" in second
    report = json.loads(run("verify", tok_file, "again.json", "--json").stdout)
    assert report["equal"] is True
    assert report["first_difference"] is None


def test_verify_shows_the_first_difference(run, tok_file, other_file):
    done = run("verify", tok_file, other_file)
    assert (done.returncode, done.stderr) == (1, b"")
    text = done.stdout.decode()
    assert text.startswith(f"different: {tok_file} and other.json\n")
    for words in ("found in", "text ", "first:", "second:", "pre-tokens", "ids", "compared"):
        assert words in text
    done = run("verify", tok_file, other_file, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)["first_difference"]
    assert found["ids_a"] != found["ids_b"]


def test_verify_against_tiktoken(run, tok_file, rank_file):
    pytest.importorskip("tiktoken")
    done = run("verify", rank_file, "--pattern", "cl100k", "--reference", "tiktoken")
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"tiktoken " in done.stdout


def test_verify_on_the_published_cl100k(run, data_dir):
    pytest.importorskip("tiktoken")
    path = data_dir / "vocab" / "cl100k_base.tiktoken"
    done = run("verify", path, "--reference", "tiktoken")
    assert done.returncode == 0, done.stdout + done.stderr


def test_verify_that_cannot_be_done(run, tok_file):
    alone = run("verify", tok_file)
    assert alone.returncode == 2
    assert b"--reference" in alone.stderr
    assert run("verify", tok_file, "--reference", "word2vec").returncode == 2
    missing = run("verify", tok_file, "none.json")
    assert missing.returncode == 1
    assert b"none.json" in missing.stderr
    missing = run("verify", tok_file, tok_file, "--text", "none.txt")
    assert missing.returncode == 1
    assert b"none.txt" in missing.stderr


# doctor


def test_doctor_of_a_sound_file(run, tok_file):
    done = run("doctor", tok_file)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"error" not in done.stdout
    findings = json.loads(run("doctor", tok_file, "--json").stdout)
    assert all(set(finding) == {"severity", "code", "message", "mend"} for finding in findings)


def test_doctor_of_faults(run, tok_file, rank_file, tmp_path):
    done = run("doctor", tok_file, "--embedding-rows", "300")
    assert done.returncode == 1
    assert done.stdout.startswith(b"error    ids-beyond-embedding: ")
    (tmp_path / "cut.json").write_bytes(tok_file.read_bytes()[:200])
    done = run("doctor", "cut.json", "--json")
    assert done.returncode == 1
    assert "does-not-load" in [finding["code"] for finding in json.loads(done.stdout)]
    assert b"no-pattern" in run("doctor", rank_file).stdout
    assert b"no-pattern" not in run("doctor", rank_file, "--pattern", "cl100k").stdout


def test_doctor_of_patterns(run):
    done = run("doctor", r"\w+|\s+")
    assert done.returncode == 0
    assert b"pattern-loses-text" in done.stdout
    assert b"read as a pattern" in done.stderr
    assert run("doctor", "(a").returncode == 1
    assert run("doctor", "[a-z]|[^a-z]").stdout == b"[a-z]|[^a-z]: nothing found\n"


def test_doctor_that_cannot_be_done(run):
    assert run("doctor").returncode == 2
    assert run("doctor", "cl100k", "--embedding-rows", "many").returncode == 2
    for arguments in (["none.tiktoken"], ["gone", "--embedding-rows", "5"]):
        missing = run("doctor", *arguments)
        assert missing.returncode == 1
        assert b"No such file" in missing.stderr


# convert


def test_convert_to_native(run, rank_file, tmp_path):
    done = run("convert", rank_file, "out.json", "--pattern", "cl100k")
    assert done.returncode == 0, done.stderr
    assert b"small.tiktoken -> out.json (native)\n" in done.stdout
    assert b"equal ids, read by byteloom" in done.stdout
    ours = bl.Tokenizer.load(tmp_path / "small.tiktoken", pattern="cl100k")
    assert bl.Tokenizer.load(tmp_path / "out.json") == ours
    again = run("convert", rank_file, "out.json", "--pattern", "cl100k")
    assert again.returncode == 1
    assert b"--force" in again.stderr
    forced = run("convert", rank_file, "out.json", "--pattern", "cl100k", "--force", "--no-verify")
    assert forced.returncode == 0
    assert b"equal" not in forced.stdout
    assert b"not verified" in forced.stderr


def test_convert_that_cannot_be_done(run, tok_file, tmp_path):
    unknown = run("convert", tok_file, "out.xyz")
    assert unknown.returncode == 2
    assert b"--to" in unknown.stderr
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    full = run("convert", tok_file, "full", "--to", "gpt2")
    assert full.returncode == 1
    assert b"not empty" in full.stderr
    no_folder = run("convert", tok_file, tok_file, "--to", "gpt2")
    assert no_folder.returncode == 1
    assert b"no folder" in no_folder.stderr
    assert run("convert", tok_file, "no/such/out.json").returncode == 1
    assert run("convert", "none.json", "out.json").returncode == 1


# Formats of others: these need their readers and writers.


def test_convert_to_huggingface_and_back(run, tok_file, special_tok, tmp_path):
    done = run("convert", tok_file, "tokenizer.json", "--lossy")
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"(huggingface)" in done.stdout
    back = run("convert", "tokenizer.json", "back.json")
    assert back.returncode == 0, back.stdout + back.stderr
    text = "the cat<|endoftext|> sat 1234567  \n"
    ids = special_tok.encode(text, allowed_special="all")
    assert bl.Tokenizer.load(tmp_path / "back.json").encode(text, allowed_special="all") == ids
    folder = run("convert", tok_file, "model")
    assert folder.returncode == 0, folder.stdout + folder.stderr
    assert (tmp_path / "model" / "tokenizer.json").is_file()
    assert run("verify", tok_file, "model").returncode == 0


def test_convert_names_the_library_that_proved_it(run, tok_file):
    pytest.importorskip("tokenizers")
    assert b"equal ids, read by tokenizers " in run("convert", tok_file, "tokenizer.json", "--lossy").stdout
    assert run("verify", tok_file, "tokenizer.json", "--reference", "tokenizers").returncode == 0


def test_convert_refuses_to_lose_something(run, tok_file, tmp_path):
    done = run("convert", tok_file, "out.tiktoken")
    assert done.returncode == 1
    assert b"--lossy" in done.stderr
    assert not (tmp_path / "out.tiktoken").exists()
    done = run("convert", tok_file, "out.tiktoken", "--lossy")
    assert done.returncode == 0, done.stdout + done.stderr
    assert run("doctor", "out.tiktoken", "--pattern", "cl100k").returncode == 0


def test_convert_gpt2_into_its_files(run, data_dir, tmp_path):
    source = data_dir / "vocab" / "gpt2.tokenizer.json"
    done = run("convert", source, "files", "--to", "gpt2", "--lossy")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (tmp_path / "files").iterdir()} >= {"vocab.json", "merges.txt"}
    # The files do not say which token is special, and that shows where a text spells it.
    differ = run("verify", source, "files")
    assert differ.returncode == 1
    assert b"<|endoftext|>" in differ.stdout


def test_doctor_of_a_published_file(run, data_dir):
    done = run("doctor", data_dir / "vocab" / "gpt2.tokenizer.json", "--embedding-rows", "50256")
    assert done.returncode == 1
    assert done.stdout.startswith(b"error    ids-beyond-embedding: 1 id ")


def test_verify_tells_a_file_only_what_it_does_not_hold(run, tok_file, special_tok):
    assert run("convert", tok_file, "out.tiktoken", "--lossy").returncode == 0
    given = [f"--special={name}={i}" for name, i in special_tok.special_tokens.items()]
    same = run("verify", tok_file, "out.tiktoken", "--pattern", "cl100k", *given)
    assert same.returncode == 0, same.stdout + same.stderr
    differ = run("verify", "out.tiktoken", tok_file, "--pattern", "gpt2", *given)
    assert differ.returncode == 1
    assert run("verify", tok_file, "out.tiktoken", "--special", "nonsense").returncode == 2

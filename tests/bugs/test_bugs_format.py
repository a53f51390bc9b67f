"""Faults of files that other tokenizers had.

The rest is in `tests/unit/test_formats.py` and in the Rust tests of the formats: damaged rank files,
merges.txt, unknown parts, SentencePiece models, ten thousand mutations a format.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import byteloom as bl
from helpers import SAMPLES, raises_cleanly, run_python, train_quietly

ROWS = [base64.b64encode(bytes([byte])) + b" %d" % byte for byte in range(256)]


def hf_file(model, **parts):
    """A `tokenizer.json` with this model and nothing else that matters."""
    empty = dict.fromkeys(("truncation", "padding", "normalizer", "post_processor"))
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    file = {"version": "1.0", **empty, "added_tokens": [], "pre_tokenizer": level, "decoder": level}
    return json.dumps(file | {"model": {"type": "BPE", **model}} | parts)


def test_fmt_001_a_truncated_rank_file(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"\n".join([*ROWS, b"YWI= 2"]))
    with raises_cleanly(bl.FormatError, bl.VocabularyError):
        bl.Tokenizer.load(path, pattern="none")
    whole = b"\n".join([*ROWS, b"YWI= 256"])
    for cut in range(1, len(whole), 64):
        path.write_bytes(whole[:cut])
        with raises_cleanly(bl.FormatError, bl.VocabularyError):
            bl.Tokenizer.load(path, pattern="none")


def test_fmt_002_an_empty_file_is_no_vocabulary(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"")
    for load in (bl.Tokenizer.load, bl.Tokenizer.from_tiktoken):
        with raises_cleanly(bl.FormatError, bl.VocabularyError):
            load(path, pattern="gpt2")


def test_fmt_013_and_014_keys_and_ids_given_twice(tmp_path):
    path = tmp_path / "tokenizer.json"
    letters = {
        bl.Tokenizer.from_tiktoken({bytes([b]): b for b in range(256)}, pattern="none").id_to_token(i): i
        for i in range(256)
    }
    path.write_text(hf_file({"vocab": letters | {"ab": 97}, "merges": []}), "utf-8")
    with raises_cleanly(bl.FormatError, bl.VocabularyError):
        bl.Tokenizer.load(path)
    text = hf_file({"vocab": letters | {"ab": 256}, "merges": []}).replace(
        '"ab": 256', '"ab": 256, "ab": 257'
    )
    path.write_text(text, "utf-8")
    with pytest.raises(bl.FormatError, match="ab"):
        bl.Tokenizer.load(path)


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_fmt_022_a_killed_save_leaves_the_old_file_or_the_new(tmp_path):
    old = train_quietly(" ".join(SAMPLES), 300)
    new = train_quietly(" ".join(SAMPLES), 320)
    path, source = tmp_path / "tok.json", tmp_path / "new.json"
    new.save(source)
    code = textwrap.dedent(
        f"""
        import byteloom as bl
        tok = bl.Tokenizer.load({str(source)!r})
        print("ready", flush=True)
        while True:
            tok.save({str(path)!r})
        """
    )
    for turn in range(12):
        old.save(path)
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(turn * 0.003)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert bl.Tokenizer.load(path) in (old, new)


def test_fmt_025_a_fingerprint_is_the_same_in_every_process(tmp_path):
    tok = train_quietly(" ".join(SAMPLES), 300, special_tokens=["<b>", "<a>"])
    tok.save(tmp_path / "tok.json")
    code = f"import byteloom as bl; print(bl.Tokenizer.load({str(tmp_path / 'tok.json')!r}).fingerprint)"
    found = set()
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout.strip())
    assert found == {tok.fingerprint}


@pytest.mark.parametrize(
    "model",
    [
        {"vocab": {"a": 0, "b": 1}, "merges": [["a", "b"]]},
        {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]], "continuing_subword_prefix": "####"},
        {"vocab": {"a": 4_000_000_000}, "merges": []},
        {"vocab": {}, "merges": [["", ""]]},
    ],
    ids=["sec_001", "sec_002", "huge id", "empty"],
)
def test_sec_001_and_002_crafted_models(tmp_path, model):
    path = tmp_path / "tokenizer.json"
    path.write_text(hf_file(model), "utf-8")
    with raises_cleanly(bl.FormatError, bl.VocabularyError):
        bl.Tokenizer.load(path)


def test_sec_004_a_pattern_that_explodes_elsewhere(tmp_path):
    tok = train_quietly("a" * 40, 300, pattern="(a+)+$")
    assert tok.decode(tok.encode("a" * 24 + "b")) == "a" * 24 + "b"
    bounded = train_quietly("ab", 256, pattern="(?=(a+)+$)a|b")
    text = "a" * 40 + "!"
    try:
        assert bounded.decode(bounded.encode(text)) == text
    except bl.PatternError as error:
        assert "byte" in str(error)


def test_sec_005_a_token_of_megabytes(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"\n".join([*ROWS, base64.b64encode(b"a" * 4_000_000) + b" 256"]))
    with pytest.raises(bl.VocabularyError, match="65536"):
        bl.Tokenizer.load(path, pattern="none")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, '{"format":"byteloom","version":1e400}'])
def test_sec_016_deep_or_huge_json(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with raises_cleanly(bl.FormatError):
        bl.Tokenizer.load(path)
    assert "ok" in run_python(
        f"""
        import byteloom as bl
        try:
            bl.Tokenizer.from_bytes({text[:60_000]!r}.encode())
        except bl.FormatError:
            print("ok")
        """
    )

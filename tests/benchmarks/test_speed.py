"""The scripts of benchmarks/: they run, compare results first, and the README has what they measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import byteloom as bl

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
TEXT = "It's 2026: the cat and the other cats can't read 日本語, naïve as they are.\n"


def run(script, *arguments, **variables):
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    return subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder of corpora as the scripts want it, very small; its "cl100k" is a vocabulary of 300 tokens."""
    folder = tmp_path_factory.mktemp("data")
    text = "<|endoftext|>".join(TEXT * 20 for _ in range(10))
    for name in ("english", "cjk"):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    tok = bl.Tokenizer.train(text, vocab_size=300, pattern="llama3")
    tok.save_huggingface(folder / "vocab")
    (folder / "vocab" / "tokenizer.json").rename(folder / "vocab" / "cl100k.json")
    return folder


def compared(data, path, *arguments):
    """The JSON of a run with one round, of byteloom and the peer that the arguments name."""
    done = run("compare.py", "--data", data, "--rounds", 1, "--json", path, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text(encoding="utf-8")), done.stdout


SHAPES = ["corpus", "lists", "documents", "decode", "load", "train"]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_gives_figures_of_ours(data, tmp_path, shape):
    results, printed = compared(
        data,
        tmp_path / "results.json",
        *("--shapes", shape, "--corpora", "english", "--peers", "byteloom", "--vocab-size", 290),
    )
    (cell,) = results["cells"]
    assert (cell["shape"], cell["corpus"], cell["threads"]) == (shape, "english", 1)
    ours = cell["peers"]["byteloom"]
    assert ours["same"] is True
    assert all(figure >= 0 for figure in ours["best"].values())
    assert ours["best"]
    assert cell["best peer"] == {}
    assert shape in printed
    assert results["machine"]["cores"] >= 1
    assert results["software"]["versions"]["byteloom"] == bl.__version__


def test_a_peer_with_the_same_ids_counts(data, tmp_path):
    pytest.importorskip("tiktoken")
    results, printed = compared(
        data,
        tmp_path / "results.json",
        *("--shapes", "corpus", "lists", "--corpora", "english", "cjk", "--peers", "byteloom", "tiktoken"),
    )
    assert len(results["cells"]) == 4
    for cell in results["cells"]:
        assert cell["peers"]["tiktoken"]["same"] is True
        ratio = cell["best peer"]["first"]
        assert ratio["peer"] == "tiktoken"
        best = {name: peer["best"]["first"] for name, peer in cell["peers"].items()}
        assert ratio["ratio"] == pytest.approx(best["byteloom"] / best["tiktoken"], rel=0.01)
    assert printed.count("  first: byteloom") == 4


def test_a_peer_that_is_not_installed_or_fails_is_skipped_with_a_note(data, tmp_path):
    # Where rs_bpe is installed it gives no flat ids.
    results, printed = compared(
        data,
        tmp_path / "results.json",
        *("--shapes", "corpus", "--corpora", "english", "--peers", "byteloom", "rs_bpe"),
    )
    assert results["cells"][0]["peers"]["rs_bpe"]["rounds"] == []
    assert "rs_bpe       skipped: " in printed


def test_results_are_added_to(data, tmp_path):
    path = tmp_path / "results.json"
    options = ("--peers", "byteloom", "--corpora", "english", "--add", "--shapes")
    compared(data, path, *options, "decode")
    compared(data, path, *options, "lists")
    results, _ = compared(data, path, *options, "decode")
    assert [cell["shape"] for cell in results["cells"]] == ["lists", "decode"]
    assert [len(cell["peers"]["byteloom"]["rounds"]) for cell in results["cells"]] == [1, 2]


def test_wrong_arguments_say_what_is_missing(tmp_path):
    assert (
        "name their folder with --data or BYTELOOM_TEST_DATA"
        in run("compare.py", BYTELOOM_TEST_DATA="").stderr
    )
    assert "has no english.txt" in run("compare.py", "--data", tmp_path, "--corpora", "english").stderr


@pytest.fixture
def speed(monkeypatch):
    """The modules of the scripts, as the scripts import them."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import importlib

    return {name: importlib.import_module(f"speed.{name}") for name in ("rounds", "table", "shapes")}


def cell(**peers):
    """A cell of one corpus; a peer is its first-pass rates and its checksum."""
    return {
        "shape": "corpus",
        "corpus": "english",
        "vocabulary": "cl100k",
        "threads": 1,
        "megabytes": None,
        "vocab_size": None,
        "date": "2026-12-01",
        "peers": {
            name: {"rounds": [{"first": rate, "second": 2 * rate, "checksum": checksum} for rate in rates]}
            for name, (rates, checksum) in peers.items()
        },
    }


def test_only_peers_with_the_ids_of_tiktoken_count(speed):
    made = cell(
        byteloom=([90.0, 100.0], "a"), tiktoken=([10.0], "a"), slow=([20.0, 25.0], "a"), wrong=([500.0], "b")
    )
    speed["rounds"].summarize(made)
    assert made["best peer"]["first"] == {"peer": "slow", "ratio": 4.0}
    assert made["peers"]["wrong"]["same"] is False
    assert any("! other result" in line for line in speed["rounds"].lines(made))


def test_our_own_ids_are_compared_too(speed):
    made = cell(byteloom=([100.0], "b"), tiktoken=([10.0], "a"))
    speed["rounds"].summarize(made)
    assert made["peers"]["byteloom"]["same"] is False


def test_one_round_with_other_ids_is_enough_not_to_count(speed):
    made = cell(byteloom=([100.0], "a"), odd=([10.0, 10.0], "a"))
    made["peers"]["odd"]["rounds"][1]["checksum"] = "b"
    speed["rounds"].summarize(made)
    assert made["best peer"] == {}


def test_rounds_of_other_versions_are_replaced(speed):
    def results(version):
        made = cell(byteloom=([100.0], "a"))
        speed["rounds"].summarize(made)
        return {"machine": {}, "software": {"versions": {"byteloom": version}}, "cells": [made]}

    merged = speed["rounds"].merged
    assert len(merged(results("1"), results("1"))["cells"][0]["peers"]["byteloom"]["rounds"]) == 2
    assert len(merged(results("1"), results("2"))["cells"][0]["peers"]["byteloom"]["rounds"]) == 1


@pytest.mark.parametrize(
    ("result", "ids"),
    [
        ([1, 2], [1, 2]),
        ([[1], [2, 3]], [1, 2, 3]),
        ([], []),
        ((b"\x01\0\0\0\x02\0\0\0", b""), [1, 2]),
    ],
)
def test_ids_of_any_form_are_the_same_numbers(speed, result, ids):
    assert speed["shapes"].flat_ids(result).tolist() == ids


def test_the_readme_has_the_figures_of_the_committed_results():
    done = run("report.py", "--check")
    assert done.returncode == 0, done.stderr


def test_another_figure_in_the_readme_is_noticed(tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    changed = tmp_path / "README.md"
    place = text.index("MB/s", text.index("<!-- speed:")) - 2
    changed.write_text(text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :], encoding="utf-8")
    done = run("report.py", "--check", "--readme", changed)
    assert done.returncode == 1
    assert "other figures" in done.stderr


def test_the_picture_is_the_one_of_the_results(tmp_path):
    pytest.importorskip("matplotlib")
    document = tmp_path / "README.md"
    document.write_text("before\n<!-- speed: made by benchmarks/report.py --><!-- /speed -->\nafter\n")
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    for picture in (first, second):
        done = run("report.py", "--readme", document, "--picture", picture)
        assert done.returncode == 0, done.stderr
    assert first.read_bytes() == second.read_bytes()
    assert document.read_text(encoding="utf-8").startswith("before\n<!-- speed")
    assert "| encode, first pass: english, cl100k |" in document.read_text(encoding="utf-8")


def test_instruction_counts_beyond_the_tolerance_are_named(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import instructions

    kept = {"counts": {"portable": {"decode": 1000, "pretokenize": 1000}}}
    now = {"portable": {"decode": 1049, "pretokenize": 940}, "avx2": {"decode": 1}}
    different = instructions.compare(now, kept, 5.0)
    assert len(different) == 2
    assert "pretokenize" in different[0]
    assert different[1] == "avx2 decode has no count kept"
    assert "+4.90 %" in capsys.readouterr().out


def test_kept_instruction_counts_are_complete(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import instructions

    kept = json.loads(instructions.BASELINE.read_text(encoding="utf-8"))
    assert set(kept["counts"]) == set(instructions.PATHS)
    assert all(set(works) == set(instructions.WORKS) for works in kept["counts"].values())


def test_trainers_are_compared_by_their_own_rules(data, tmp_path):
    pytest.importorskip("rustbpe")
    pytest.importorskip("tokenizers")
    peers = ("byteloom", "rustbpe", "tokenizers")
    results, printed = compared(
        data,
        tmp_path / "results.json",
        *("--shapes", "train", "--corpora", "english", "--peers", *peers, "--vocab-size", 290),
    )
    assert [results["cells"][0]["peers"][peer]["same"] for peer in peers] == [True] * 3
    sums = {results["cells"][0]["peers"][peer]["rounds"][0]["checksum"] for peer in peers}
    assert {name.split(" by ")[1] for name in sums} == {"smallest_pair", "huggingface"}
    assert printed.count("  =") == 3


def test_the_table_of_training_has_medians_and_marks(speed):
    def peer(seconds, checksum):
        return {"rounds": [{"seconds": s, "peak": 10 * s, "checksum": checksum} for s in seconds]}

    made = cell() | {"shape": "train", "vocab_size": 300}
    made["peers"] = {
        "byteloom": peer([1.0, 2.0, 30.0], "a"), "tokenizers": peer([6.0], "a"), "rustbpe": peer([3.0], "b"),
    }  # fmt: skip
    speed["rounds"].summarize(made)
    machine = {"cpu": "x", "family and model": "unknown", "cores": 2, "os": "y"}
    results = {"machine": machine, "software": {"python": "3", "versions": {}}, "cells": [made]}
    table = speed["table"].training(results)
    assert "| english, 1 | 2 s, 20 MiB | 6 s, 60 MiB (3.0×, 3.0×) | 3 s, 30 MiB (1.5×, 1.5×) ! |" in table


def test_a_large_text_is_varied_and_the_same_each_time(data, tmp_path):
    for name in ("code", "multi"):
        (data / f"{name}.txt").write_text("Привет, мир! 日本語 and so on\n" * 300, encoding="utf-8")
    texts = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for text in texts:
        done = run("large.py", "corpus", data, text, "--bytes", 200_000)
        assert done.returncode == 0, done.stderr
    assert texts[0].read_bytes() == texts[1].read_bytes()
    first = (data / "english.txt").read_text(encoding="utf-8")
    written = texts[0].read_text(encoding="utf-8")
    assert written.startswith(first)
    assert len(set(written.split())) > 3 * len(set(first.split()))
    done = run("large.py", "run", texts[0], "--limits", "4MiB", "--vocab-size", 400)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == ["| count", *["| train from counts"] * 2, *["| train on the text"] * 2]
    merges = [row[-1] for row in rows[1:]]
    assert merges[:2] == merges[2:]
    assert merges[0] != merges[1]

"""`byteloom compare`, `vocab` and `explain`."""

from __future__ import annotations

import csv
import io
import json

import pytest

import byteloom as bl

TEXT = "the cat sat on the mat; 日本語 🚀"


@pytest.fixture(scope="module")
def other(small_text):
    return bl.Tokenizer.train(small_text, 280, pattern="gpt2")


@pytest.fixture
def other_file(other, tmp_path):
    path = tmp_path / "other.json"
    other.save(path)
    return path


def test_compare_for_programs(run, special_tok, other, tok_file, other_file, tmp_path):
    (tmp_path / "a b.txt").write_text(TEXT, encoding="utf-8")
    done = run("compare", tok_file, other_file, "--text", TEXT, "--file", "a b.txt", "--json")
    expected = bl.compare(
        [special_tok, other],
        {"text": TEXT, "a b.txt": TEXT},
        names=["tok", "other"],
        languages=False,
        max_differences=10,
    )
    assert json.loads(done.stdout) == json.loads(expected.to_json())
    done = run("compare", tok_file, other_file, "--text", TEXT, "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [(row["tokenizer"], int(row["tokens"])) for row in rows] == [
        ("tok", special_tok.count(TEXT)), ("other", other.count(TEXT)),
    ]  # fmt: skip
    done = run("compare", tok_file, other_file, "--languages", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    languages = bl.compare([special_tok, other], names=["tok", "other"]).languages
    assert [(row["code"], int(row["tokens"])) for row in rows] == [
        (row.code, row.tokens) for row in languages
    ]


def test_compare_for_people(run, special_tok, other, tok_file, other_file):
    shown = run("compare", tok_file, other_file, "--text", TEXT, "--differences", "1").stdout.decode()
    assert f"{special_tok.count(TEXT)}" in shown
    assert "Jaccard" in shown
    assert "Hindi" not in shown
    assert "\x1b" not in shown
    languages = run("compare", tok_file, other_file).stdout.decode()
    assert "Hindi" in languages
    assert "\x1b[" in run("compare", tok_file, "--color", "always", "--text", "x").stdout.decode()


def test_compare_names_files_that_have_one_name(run, tok_file, tmp_path):
    (tmp_path / "x").mkdir()
    copies = ["x/tok.json", "tok.json"]
    for copy in copies:
        (tmp_path / copy).write_bytes(tok_file.read_bytes())
    done = run("compare", *copies, "--text", "x", "--json")
    assert [one["name"] for one in json.loads(done.stdout)["tokenizers"]] == copies
    done = run("compare", "tok.json", "tok.json", "--text", "x", "--json")
    assert len({one["name"] for one in json.loads(done.stdout)["tokenizers"]}) == 2


def test_compare_refuses_what_makes_no_sense(run, tok_file, tmp_path):
    assert run("compare").returncode == 2
    assert run("compare", tok_file, "--json", "--csv").returncode == 2
    (tmp_path / "bad.txt").write_bytes(b"abc\xff")
    bad = run("compare", tok_file, "--file", "bad.txt")
    assert bad.returncode == 2
    assert b"bad.txt: byte 0xff at offset 3" in bad.stderr
    assert run("compare", tok_file, "--file", "bad.txt", "--errors", "replace").returncode == 0
    missing = run("compare", tok_file, "--file", "missing.txt")
    assert missing.returncode == 1
    assert b"missing.txt" in missing.stderr


@pytest.mark.parametrize("command", [["compare", "--text", "x"], ["vocab"]], ids=["compare", "vocab"])
def test_pages_and_plots(run, tok_file, tmp_path, command):
    pytest.importorskip("matplotlib")
    done = run(*command, tok_file, "--html", "page.html", "--plot", "plot.svg")
    assert (done.returncode, done.stdout) == (0, b"")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert b"<svg" in (tmp_path / "plot.svg").read_bytes()
    for option in (["--html", "page.html"], ["--plot", "plot.svg"]):
        refused = run(*command, tok_file, *option)
        assert refused.returncode == 1
        assert b"--force" in refused.stderr
    assert run(*command, tok_file, "--html", "page.html", "--force").returncode == 0
    assert run(*command, tok_file, "--plot", "plot.pdf").returncode == 1


def test_what_a_plot_shows(run, tok_file, other_file, tmp_path):
    pytest.importorskip("matplotlib")
    both = ["compare", tok_file, other_file, "--plot", "plot.svg", "--force"]
    for options, words in (
        (["--text", TEXT], "bytes per token"),
        (["--text", TEXT, "--plot-of", "sizes"], "vocabulary size"),
        (["--text", TEXT, "--plot-of", "languages"], "Hindi"),
    ):
        assert run(*both, *options).returncode == 0
        assert words in (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert run(*both, "--plot-of", "sizes").returncode == 2
    assert run("compare", tok_file, "--plot-of", "languages").returncode == 2


def test_vocab_lists_and_searches(run, special_tok, tok_file):
    vocab = bl.Vocabulary(special_tok)

    def ids(*options):
        return [row["id"] for row in json.loads(run("vocab", tok_file, "--json", *options).stdout)]

    assert ids("--all") == list(range(302))
    assert ids("--all", "--limit", "3") == [0, 1, 2]
    assert ids("--search", "th") == [entry.id for entry in vocab.search("th")]
    assert ids("--regex", "^ ?[a-z]{2}$") == [
        entry.id
        for entry in vocab
        if entry.text
        and len(entry.text.strip(" ")) == 2
        and entry.text.strip(" ").isalpha()
        and entry.text.isascii()
        and entry.text.islower()
        and len(entry.text) <= 3
    ]
    assert ids("--bytes", "E6 97") == [entry.id for entry in vocab.search(b"\xe6\x97")]
    assert ids("--script", "special") == [300, 301]
    assert (
        ids("--longest", "--limit", "4", "--script", "latin")
        == [entry.id for entry in vocab.longest(302) if entry.script == "Latin"][:4]
    )
    shown = run("vocab", tok_file, "--search", " ", "--limit", "2").stdout.decode()
    assert "·" in shown
    assert "more" in shown
    lines = run("vocab", tok_file, "--all", "--csv").stdout.decode().splitlines()
    assert lines[0] == "id,bytes,text,special,script"


def test_vocab_reports(run, special_tok, tok_file, tmp_path):
    vocab = bl.Vocabulary(special_tok)
    usage = vocab.usage({"text": TEXT})
    used = json.loads(run("vocab", tok_file, "--text", TEXT, "--first-use", "--json").stdout)
    assert used == [row.to_dict() for row in usage.used]
    never = json.loads(run("vocab", tok_file, "--text", TEXT, "--unused", "--json").stdout)
    assert [row["id"] for row in never] == [entry.id for entry in usage.never]
    scripts = json.loads(run("vocab", tok_file, "--scripts", "--json").stdout)
    assert {row["script"]: row["tokens"] for row in scripts} == {
        row.script: row.tokens for row in vocab.scripts()
    }
    summary = json.loads(run("vocab", tok_file, "--json").stdout)
    assert summary["vocab_size"] == 302
    assert summary["lengths"] == {str(size): count for size, count in vocab.lengths().items()}
    assert "302 tokens" in run("vocab", tok_file).stdout.decode()
    assert run("vocab", tok_file, "--unreachable").stdout == b"none\n"
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"1234": 256}
    bl.Tokenizer.from_tiktoken(ranks, pattern="cl100k").save(tmp_path / "digits.json")
    found = json.loads(run("vocab", "digits.json", "--unreachable", "--json").stdout)
    assert [(row["text"], row["reason"]) for row in found] == [("1234", "pattern")]


@pytest.mark.parametrize(
    "options",
    [
        ["--scripts", "--all"],
        ["--unused"],
        ["--first-use", "--unused", "--text", "x"],
        ["--text", "x"],
        ["--regex", "("],
        ["--bytes", "xyz"],
        ["--script", "Klingon"],
        ["--json", "--csv"],
    ],
)
def test_vocab_refuses_what_makes_no_sense(run, tok_file, options):
    done = run("vocab", tok_file, *options)
    assert done.returncode == 2
    assert done.stderr.startswith(b"byteloom: ")


def test_explain_shows_every_step(run, special_tok, tok_file):
    done = run("explain", tok_file, "--text", TEXT, "--trees").stdout.decode()
    explanation = special_tok.explain(TEXT)
    for part in explanation.parts:
        assert f"pre-token {part.index + 1}, matched by {part.match.category}" in done
        for token in part.tokens:
            assert f" {token.id}" in done
    assert "└─ " in done
    short = run("explain", tok_file, "--text", TEXT, "--limit", "2").stdout.decode()
    assert short.count("matched by") == 2
    assert short.endswith("\nand more; --limit 0 explains all\n")
    whole = run("explain", tok_file, "--text", TEXT, "--limit", "0").stdout.decode()
    assert "and more" not in whole
    assert "└─ " not in short


def test_explain_for_programs(run, special_tok, tok_file, tmp_path):
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    parts = [part.to_dict() for part in special_tok.explain(TEXT).parts]
    for source in (["--text", TEXT], ["a.txt"]):
        lines = run("explain", tok_file, *source, "--json").stdout.decode().splitlines()
        assert [json.loads(line) for line in lines] == json.loads(json.dumps(parts))
    run("explain", tok_file, "--text", "<b>", "--html", "page.html")
    assert "&lt;" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_explain_and_special_tokens(run, tok_file):
    assert run("explain", tok_file, "--text", "<|pad|>").returncode == 1
    allowed = run("explain", tok_file, "--text", "<|pad|>", "--allowed-special", "all").stdout.decode()
    assert "⟦<|pad|>⟧" in allowed
    assert "special token, id 301" in allowed
    assert "⟦" not in run("explain", tok_file, "--text", "<|pad|>", "--ordinary").stdout.decode()
    raw = run("explain", tok_file, "--bytes", stdin=b"\xff")
    assert "⟨FF⟩" in raw.stdout.decode()


def test_a_page_of_an_explanation_holds_what_was_asked_for(run, special_tok, tok_file, tmp_path):
    text = "low " * 5000
    run("explain", tok_file, "--text", text, "--limit", "2", "--html", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("matched by") == 2
    assert "the first 2 pre-tokens" in page
    assert len(page) < 1_000_000


def test_a_sample_from_standard_input(run, special_tok, tok_file):
    compared = run("compare", tok_file, "--file", "-", "--json", stdin=TEXT.encode())
    figures = json.loads(compared.stdout)["figures"]
    ordinary = special_tok.encode(TEXT, disallowed_special=())
    assert [(row["source"], row["tokens"]) for row in figures] == [("standard input", len(ordinary))]
    used = json.loads(
        run("vocab", tok_file, "--file", "-", "--first-use", "--json", stdin=TEXT.encode()).stdout
    )
    assert {row["id"] for row in used} == set(ordinary)


def test_no_text_hides_another_of_its_name(run, tok_file, tmp_path):
    (tmp_path / "text").write_text("low lower", encoding="utf-8")
    done = run("compare", tok_file, "--text", "hello", "--file", "text", "--json")
    figures = json.loads(done.stdout)["figures"]
    assert [row["byte_count"] for row in figures] == [5, 9]
    assert len({row["source"] for row in figures}) == 2


@pytest.mark.parametrize("command", [["compare"], ["vocab", "--unused"]])
def test_bytes_that_are_no_text_name_the_option_that_helps(run, tok_file, tmp_path, command):
    (tmp_path / "bad.txt").write_bytes(b"a\xff")
    done = run(command[0], tok_file, *command[1:], "--file", "bad.txt")
    assert done.returncode == 2
    assert b"bad.txt: byte 0xff at offset 1 is not valid UTF-8; --errors replace" in done.stderr


def test_a_list_without_tokens_says_so(run, tok_file, tmp_path):
    assert run("vocab", tok_file, "--search", "zzzz").stdout == b"none\n"
    assert run("vocab", tok_file, "--search", "zzzz", "--html", "page.html").stdout == b""
    assert "<p>none</p>" in (tmp_path / "page.html").read_text(encoding="utf-8")

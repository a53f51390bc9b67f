"""`byteloom encode` and `decode`: bytes in, ids between, the same bytes out."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest

TEXT = "the cat's naïve mat, 日本語 🚀\r\n\tlower\n\n"
TRICKY = [
    b"",
    b"\n",
    b"a\r\nb\r\n",
    TEXT.encode(),
    b"\x00\x1b[31m",
    "\ufeff\u202e e\u0301".encode(),
    b" " * 1000,
]


def ids_of(done):
    assert done.returncode == 0, done.stderr.decode()
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize("data", TRICKY)
def test_ids_are_the_librarys_and_bytes_come_back(run, special_tok, tok_file, data):
    done = run("encode", tok_file, stdin=data)
    assert ids_of(done) == special_tok.encode(data.decode())
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""
    assert run("decode", tok_file, stdin=done.stdout).stdout == data


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
@pytest.mark.parametrize(
    "utf8", [{}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_text_is_utf8_in_any_locale(run, special_tok, tok_file, tmp_path, locale, utf8):
    env = {"LC_ALL": locale, **utf8}
    ids = special_tok.encode("🚀 é")
    assert ids_of(run("encode", tok_file, stdin="🚀 é".encode(), env=env)) == ids
    assert ids_of(run("encode", tok_file, "--text", "🚀 é", env=env)) == ids
    assert run("decode", tok_file, stdin=str(ids).encode(), env=env).stdout == "🚀 é".encode()
    shown = run("encode", tok_file, "--show", "--text", "é<|x|>\n", env=env).stdout.decode()
    assert "↵" in shown


def test_a_file_standard_input_and_text_are_the_same(run, tok_file, tmp_path):
    (tmp_path / "a.txt").write_bytes(TEXT.encode())
    results = [
        run("encode", tok_file, "a.txt"),
        run("encode", tok_file, "-", stdin=TEXT.encode()),
        run("encode", tok_file, "--text", TEXT),
    ]
    assert len({done.stdout for done in results}) == 1
    assert run("encode", tok_file, "a.txt", "--text", "x").returncode == 2


def test_invalid_utf8_is_refused_repaired_or_kept(run, special_tok, tok_file, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"ok\xff")
    done = run("encode", tok_file, "-", stdin=b"ok\xff")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"standard input: byte 0xff at offset 2 is not valid UTF-8" in done.stderr
    assert b"bad.txt: byte 0xff at offset 2" in run("encode", tok_file, "bad.txt").stderr
    assert ids_of(run("encode", tok_file, "bad.txt", "--errors", "replace")) == special_tok.encode("ok\ufffd")
    kept = run("encode", tok_file, "bad.txt", "--bytes")
    assert ids_of(kept) == special_tok.encode(b"ok\xff")
    assert run("decode", tok_file, stdin=kept.stdout).stdout == b"ok\xff"


def test_no_output_file_is_left_by_a_refused_text(run, tok_file, tmp_path):
    done = run("encode", tok_file, "--lines", "-o", "ids.txt", stdin=b"fine\nok\xff\n")
    assert done.returncode == 2
    assert b"standard input, line 2: byte 0xff at offset 2" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_lines_are_documents(run, special_tok, tok_file):
    data = "the cat\n\nlow 🚀\r\nend".encode()
    done = run("encode", tok_file, "--lines", "--add-special-tokens", stdin=data)
    lines = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    texts = data.decode().split("\n")
    assert lines == [special_tok.encode(text, add_special_tokens=True) for text in texts]
    back = run("decode", tok_file, "--lines", "--skip-special-tokens", stdin=done.stdout)
    assert back.stdout == data + b"\n"


def test_many_lines_in_pieces_smaller_than_a_line(script, environment, special_tok, tok_file):
    with subprocess.Popen(
        [script, "encode", tok_file, "--lines"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        # Each line is answered before the next is sent.
        for text in ("the cat", "", "low lower"):
            for piece in (text[:2], text[2:] + "\n"):
                process.stdin.write(piece.encode())
                process.stdin.flush()
            assert process.stdout.readline() == (" ".join(map(str, special_tok.encode(text))) + "\n").encode()
        process.stdin.close()
        assert process.wait(timeout=30) == 0


@pytest.mark.parametrize("unit", ["char", "byte"])
def test_json_with_offsets(run, special_tok, tok_file, unit):
    plain = json.loads(run("encode", tok_file, "--json", "--text", TEXT).stdout)
    ids, offsets = special_tok.encode_with_offsets(TEXT, unit=unit)
    assert plain == {"ids": ids, "count": len(ids)}
    done = run("encode", tok_file, "--json", "--offsets", unit, "--text", TEXT)
    assert json.loads(done.stdout)["offsets"] == [list(span) for span in offsets]
    assert run("decode", tok_file, stdin=done.stdout).stdout == TEXT.encode()
    lines = run("encode", tok_file, "--json", "--lines", stdin=b"a\nb\n").stdout.splitlines()
    assert [json.loads(line)["count"] for line in lines] == [1, 1]


@pytest.mark.parametrize(("form", "dtype"), [("u16", "<u2"), ("u32", "<u4"), ("npy", None)])
def test_binary_ids_come_back(run, special_tok, tok_file, tmp_path, form, dtype):
    assert run("encode", tok_file, "--format", form, "-o", "ids.bin", "--text", TEXT).returncode == 0
    path = tmp_path / "ids.bin"
    ids = np.load(path) if dtype is None else np.fromfile(path, dtype)
    assert ids.tolist() == special_tok.encode(TEXT)
    assert ids.dtype.itemsize == (4 if form == "u32" else 2)
    options = [] if form == "npy" else ["--format", form]
    assert run("decode", tok_file, "ids.bin", *options).stdout == TEXT.encode()
    lines = run("encode", tok_file, "--format", form, "--lines", stdin=b"the\ncat\n")
    if form == "u32":
        assert np.frombuffer(lines.stdout, "<u4").tolist() == special_tok.encode("the") + special_tok.encode(
            "cat"
        )


def test_u16_is_refused_where_ids_do_not_fit(run, tmp_path, special_tok):
    special_tok.with_special_tokens({"<|far|>": 70_000}).save(tmp_path / "far.json")
    done = run("encode", "far.json", "--format", "u16", "-o", "ids", "--text", "a")
    assert done.returncode == 1
    assert b"70000" in done.stderr
    run("encode", "far.json", "--format", "npy", "-o", "ids.npy", "--text", "a")
    assert np.load(tmp_path / "ids.npy").dtype == np.uint32


def test_special_tokens_are_refused_allowed_or_ordinary(run, special_tok, tok_file):
    text = "the<|endoftext|>cat"
    refused = run("encode", tok_file, "--text", text)
    assert (refused.returncode, refused.stdout) == (1, b"")
    for words in (b"<|endoftext|>", b"--allowed-special", b"--ordinary"):
        assert words in refused.stderr
    allowed = special_tok.encode(text, allowed_special="all")
    assert ids_of(run("encode", tok_file, "--text", text, "--allowed-special", "all")) == allowed
    assert ids_of(run("encode", tok_file, "--text", text, "--allowed-special", "<|endoftext|>")) == allowed
    assert run("encode", tok_file, "--text", text, "--allowed-special", "<|pad|>").returncode == 1
    ordinary = run("encode", tok_file, "--text", text, "--ordinary")
    assert ids_of(ordinary) == special_tok.encode_ordinary(text)
    assert run("encode", tok_file, "--text", text, "--ordinary", "--allowed-special", "all").returncode == 2
    unknown = run("encode", tok_file, "--text", text, "--allowed-special", "<|nope|>")
    assert unknown.returncode == 2
    assert b"<|nope|>" in unknown.stderr
    skipped = run("decode", tok_file, "--skip-special-tokens", stdin=str(allowed).encode())
    assert skipped.stdout == b"thecat"


def test_show_marks_boundaries_with_and_without_colour(run, tok_file):
    text = "the cat\n\t☃\x1b[31m\u202e"
    plain = run("encode", tok_file, "--show", "--text", text).stdout.decode()
    assert "the│·cat" in plain
    assert "\x1b" not in plain
    assert "\u202e" not in plain
    for mark in ("↵\n", "→", "⟨E2⟩│⟨98⟩│⟨83⟩", "␛", "bytes per token"):
        assert mark in plain
    assert run("encode", tok_file, "--show", "--text", text, env={"NO_COLOR": "1"}).stdout.decode() == plain
    colour = run("encode", tok_file, "--show", "--color", "always", "--text", text).stdout
    assert b"\x1b[" in colour
    assert "│" not in colour.decode()


def test_show_is_coloured_on_a_terminal_unless_no_color(script, environment, tok_file):
    pty = pytest.importorskip("pty")
    for extra, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        ours, theirs = pty.openpty()
        env = environment | {"TERM": "xterm-256color"} | extra
        subprocess.run(
            [script, "encode", tok_file, "--show", "--text", "low cat"],
            stdout=theirs,
            env=env,
            check=True,
            timeout=60,
        )
        os.close(theirs)
        assert (b"\x1b[48;5;" in os.read(ours, 65536)) is coloured
        os.close(ours)


@pytest.mark.parametrize(
    "ids", [b"116 104 101", b"116,104,101\n", b" [116, 104,\n101] ", b'{"ids": [116,104,101]}']
)
def test_ids_come_in_several_forms(run, tok_file, tmp_path, ids):
    assert run("decode", tok_file, stdin=ids).stdout == b"the"
    (tmp_path / "ids.txt").write_bytes(ids)
    assert run("decode", tok_file, "ids.txt", "-o", "out.txt").stdout == b""
    assert (tmp_path / "out.txt").read_bytes() == b"the"
    assert run("decode", tok_file, "ids.txt", "-o", "out.txt").returncode == 1


def test_part_of_a_character_is_written_as_it_is(run, tok_file):
    assert run("decode", tok_file, stdin=b"226 152").stdout == b"\xe2\x98"
    assert run("decode", tok_file).stdout == b""


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (b"97 98 9999", b"id 9999 at position 2"),
        (b"97 -1", b"'-1' at position 1"),
        (b"97 x\xff", b"at position 1"),
        (b"97 1_0", b"'1_0' at position 1"),
        (b"97 1.0", b"'1.0' at position 1"),
        (b"1" * 30, b"at position 0"),
        (b"[97, 99999999999999999999]", b"id 99999999999999999999 at position 1"),
        (b"[97, -1]", b"id -1 at position 1"),
        (b"[97, true]", b"true at position 1"),
        (b'[97, "a"]', b"at position 1"),
        (b"[97, [1]]", b"[1] at position 1"),
        (b"[97", b"not valid JSON"),
        (b"[" * 100_000, b"not valid JSON"),
        (b'{"tokens": []}', b"'ids'"),
        (b"\x93NUMPY broken", b".npy"),
    ],
)
def test_bad_ids_name_their_place(run, tok_file, ids, words):
    done = run("decode", tok_file, stdin=ids)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"byteloom: standard input: ")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_bad_binary_ids(run, tok_file, tmp_path):
    assert b"no whole number" in run("decode", tok_file, "--format", "u16", stdin=b"abc").stderr
    np.save(tmp_path / "floats.npy", np.zeros(3))
    assert b"integers" in run("decode", tok_file, "floats.npy").stderr
    np.save(tmp_path / "ids.npy", np.zeros(3, np.uint8))
    assert b"leave out --format" in run("decode", tok_file, "ids.npy", "--format", "u32").stderr

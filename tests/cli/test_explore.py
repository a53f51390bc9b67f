"""`byteloom explore`: the page as a file, and the server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

import byteloom as bl


def test_out_writes_one_file(run, tok_file, tmp_path):
    done = run("explore", tok_file, "--text", "low <b>lower</b>", "--out", "page.html")
    assert (done.returncode, done.stdout) == (0, b"")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert done.stderr.decode() == f"byteloom: wrote page.html ({len(html.encode()):,} bytes)\n"
    assert '"name":"tok"' in html
    assert "low \\u003cb>lower" in html
    again = run("explore", tok_file, "--text", "x", "--out", "page.html")
    assert again.returncode == 1
    assert b"page.html exists; --force replaces it" in again.stderr
    assert run("explore", "--out", "page.html", "--force").returncode == 0


def test_the_text_of_a_file(run, tmp_path):
    (tmp_path / "text.txt").write_text("日本語 lowest", encoding="utf-8")
    assert run("explore", "--file", "text.txt", "--out", "page.html").returncode == 0
    assert "日本語 lowest" in (tmp_path / "page.html").read_text(encoding="utf-8")
    (tmp_path / "text.txt").write_bytes(b"ok\xff")
    done = run("explore", "--file", "text.txt", "--out", "other.html")
    assert done.returncode == 2
    assert b"byte 0xff at offset 2 is not valid UTF-8" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--text", "a", "--file", "b", "--out", "x"], 2, "give --text or --file, not both"),
        (["nothing.json", "--out", "x"], 1, "nothing.json: No such file"),
        (["--out", "folder/x"], 1, "there is no folder"),
        (["--port", "70000"], 2, "'--port'"),
        (["--text", "x" * 100_000 * 2 + "y", "--out", "x"], 1, "the text has 200,001 bytes"),
    ],
)
def test_what_cannot_be_done_is_said(run, arguments, code, words, tmp_path):
    if len(arguments[1]) > 1000:  # longer than an argument may be
        (tmp_path / "long.txt").write_text(arguments[1], encoding="utf-8")
        arguments = ["--file", "long.txt", *arguments[2:]]
    done = run("explore", *arguments)
    assert (done.returncode, done.stdout) == (code, b"")
    assert words in done.stderr.decode()


def test_two_files_of_one_name(run, tok_file, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / tok_file.name).write_bytes(tok_file.read_bytes())
    done = run("explore", f"a/{tok_file.name}", tok_file, "--out", "page.html")
    assert done.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_it_serves_until_ctrl_c(script, environment, tok_file, tmp_path):
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    process = subprocess.Popen(
        [script, "explore", tok_file, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=tmp_path,
    )
    try:
        line = process.stderr.readline().decode()
        address = re.fullmatch(
            r"byteloom: the explorer is at (http://127\.0\.0\.1:\d+/) \(Ctrl-C ends it\)\n", line
        )
        assert address, line
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{address[1]}api/session", timeout=20) as response:
            assert b'"name":"tok"' in response.read()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert out == b""
    assert b"Traceback" not in err
    assert process.returncode == 130


def test_a_port_that_is_taken(run):
    import socket

    pytest.importorskip("uvicorn")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("explore", "--no-browser", "--port", str(port))
    assert done.returncode == 1
    assert (
        f"port {port} of 127.0.0.1: Address already in use; --port 0 takes a free one" in done.stderr.decode()
    )


def test_a_missing_extra_is_named(run, environment, tmp_path):
    """As where `pip install byteloom` brought no FastAPI."""
    (tmp_path / "fastapi.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    paths = os.pathsep.join(filter(None, [str(tmp_path), environment.get("PYTHONPATH")]))
    done = run("explore", "--no-browser", env={"PYTHONPATH": paths})
    assert done.returncode == 1
    assert "pip install 'byteloom[explorer]'" in done.stderr.decode()
    assert run("explore", "--out", "page.html", env={"PYTHONPATH": paths}).returncode == 0


def test_the_page_is_not_needed_for_the_command_line():
    names = ("fastapi", "uvicorn", "byteloom.explorer")
    code = f"import sys, byteloom.cli.explore; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert bl.__version__

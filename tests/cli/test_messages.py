"""Help, exit codes, closed pipes and one-line errors: what holds for every command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import byteloom as bl
from byteloom.cli import commands

COMMANDS = sorted(commands.list_commands(None))
# What a command needs besides the tokenizer.
REST = {
    "truncate": ["-n", "1"],
    "convert": ["out.json"],
    "verify": ["tok"],
    "resize": ["-o", "out.json", "-n", "300"],
    "prune": ["-o", "out.json"],
    "extend": ["-o", "out.json", "-n", "300"],
}
PLAIN_TEXT_COMMANDS = ["encode", "count", "truncate", "decode"]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_shows_how_and_what_next(run, name):
    done = run(name, "--help", env={"COLUMNS": "100"})
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert text.startswith(f"Usage: byteloom {name}")
    examples = text[text.index("Examples:") : text.index("Next:")]
    assert 2 <= examples.count("byteloom ") <= 5
    assert run(name, "-h", env={"COLUMNS": "100"}).stdout == done.stdout


def test_the_help_of_all(run):
    done = run("--help")
    assert done.returncode == 0
    for name in COMMANDS:
        assert f"  {name} ".encode() in done.stdout
    bare = run()
    assert (bare.returncode, bare.stdout) == (2, b"")
    assert bare.stderr.strip() == done.stdout.strip()


def test_version(run):
    assert run("--version").stdout.decode() == f"byteloom {bl.__version__}\n"


def test_python_m_byteloom_is_the_same_command(run, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "byteloom", "--help"], capture_output=True, check=True, cwd=tmp_path
    )
    assert done.stdout == run("--help").stdout


def test_help_does_not_wait_for_numpy():
    code = (
        "import sys; from byteloom.cli import main; main(['encode', '--help']); "
        "sys.exit('numpy' in sys.modules or 'tqdm' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0
    )


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["encode"], ["encode", "a", "b", "c"], ["info", "--nope", "x"]]
)
def test_a_wrong_call_is_2_and_points_to_help(run, arguments):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"byteloom: ")
    assert b"--help" in done.stderr


@pytest.mark.parametrize(
    "name", [name for name in COMMANDS if name not in ("train", "doctor", "chat", "patch")]
)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, b"No such file"),
        (b"", b"tok"),
        (b"{}", b"tok"),
        (b"\xff\xfe", b"tok"),
        (b'{"format": "byteloom"}', b"tok"),
    ],
)
def test_a_tokenizer_that_cannot_be_loaded_is_one_line(run, tmp_path, name, content, words):
    if content is not None:
        (tmp_path / "tok").write_bytes(content)
    done = run(name, "tok", *REST.get(name, []))
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"byteloom: tok: ")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", PLAIN_TEXT_COMMANDS)
def test_a_missing_text_and_a_folder_are_one_line(run, tok_file, tmp_path, name):
    (tmp_path / "folder").mkdir()
    for source, words in (("gone", b"No such file"), ("folder", b"directory")):
        done = run(name, tok_file, source, *(["-n", "1"] if name == "truncate" else []))
        assert done.returncode == 1
        assert done.stderr.startswith(b"byteloom: " + source.encode())
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    "command",
    [
        '"$0" encode "$1" big.txt | head -c 1',
        '"$0" encode "$1" --lines big.txt | head -1',
        '"$0" encode "$1" --json big.txt | head -c 1',
        '"$0" encode "$1" --show big.txt | head -1',
        '"$0" truncate "$1" -n 1000k big.txt | head -1',
        '"$0" encode "$1" big.txt | "$0" decode "$1" | head -1',
        '"$0" count "$1" big.txt | true',
        '"$0" --help | true',
        '"$0" info "$1" --json | true',
    ],
)
def test_a_closed_pipe_is_no_fault(script, environment, tok_file, tmp_path, command):
    (tmp_path / "big.txt").write_text("the cat sat on the mat\n" * 50_000)
    done = subprocess.run(
        ["bash", "-c", f'{command}; echo "${{PIPESTATUS[@]}}" >&2', script, tok_file],
        capture_output=True, cwd=tmp_path, env=environment, timeout=60, check=True,
    )  # fmt: skip
    codes = done.stderr.split()
    assert all(code in (b"0", b"141") for code in codes), done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error(script, environment, tok_file):
    for arguments in (["encode", tok_file, "--text", "the"], ["info", tok_file], ["--help"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [script, *arguments],
                stdout=full,
                stderr=subprocess.PIPE,
                env=environment,
                timeout=60,
                check=False,
            )
        assert done.returncode == 1
        assert done.stderr == b"byteloom: standard output: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_give_no_traceback(script, environment, tok_file, closed):
    done = subprocess.run(
        ["bash", "-c", f'"$0" encode "$1" {closed}', script, tok_file],
        capture_output=True, stdin=subprocess.DEVNULL, env=environment, timeout=60, check=False,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr
    assert done.returncode == (0 if closed == "2>&-" else 1)


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_ctrl_c_is_130(script, environment, tok_file):
    process = subprocess.Popen(
        [script, "encode", tok_file], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors.strip()) == (130, b"byteloom: interrupted")


def test_a_reader_may_replace_what_it_read(run, tok_file, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"the cat")
    assert run("truncate", tok_file, "-n", "1", "a.txt", "-o", "a.txt", "--force").returncode == 0
    assert (tmp_path / "a.txt").read_bytes() == b"the"

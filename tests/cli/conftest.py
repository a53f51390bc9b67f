"""Run the real console script, as a shell would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import byteloom as bl

Result = subprocess.CompletedProcess[bytes]

SCRIPT = Path(sys.executable).with_name("byteloom")


@pytest.fixture(scope="session")
def script() -> str:
    """The console script of the environment that runs the tests."""
    if not SCRIPT.exists():
        pytest.fail(
            f"there is no {SCRIPT.name} beside {sys.executable}: install the package first (make dev)"
        )
    return str(SCRIPT)


@pytest.fixture
def run(script: str, environment: dict[str, str], tmp_path: Path) -> Callable[..., Result]:
    """`run(*arguments, stdin=b"…", env={…})`: the finished process, its output as bytes.

    It runs in `tmp_path`. No output may ever hold a traceback.
    """

    def call(*arguments: str | bytes | Path, stdin: bytes = b"", env: dict[str, str] | None = None) -> Result:
        done = subprocess.run(
            [script, *arguments],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env=environment | (env or {}),
            timeout=60,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return done

    return call


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The environment without what would change colours or encodings."""
    unwanted = ("NO_COLOR", "FORCE_COLOR", "LC_", "LANG", "PYTHONUTF8", "PYTHONIOENCODING")
    return {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}


@pytest.fixture(scope="session")
def tok_file(special_tok: bl.Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`special_tok` in a file."""
    path = tmp_path_factory.mktemp("tokenizer") / "tok.json"
    special_tok.save(path)
    return path

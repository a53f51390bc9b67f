"""Every snippet of the pages runs: `pycon` blocks as one doctest a page, `sh` blocks as one script a page."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path, language: str) -> str:
    text = page.read_text(encoding="utf-8")
    return "\n".join(body for name, body in FENCE.findall(text) if name == language)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    languages = {language for language, _ in FENCE.findall(text)}
    assert text.count("\n```") == 2 * len(FENCE.findall(text)), "a fence is not closed"
    assert languages <= {"", "pycon", "sh", "text"}


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "pycon")], ids=name)
def test_python_snippets(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parsed = doctest.DocTestParser().get_doctest(blocks(page, "pycon"), {}, name(page), str(page), 0)
    assert parsed.examples
    report: list[str] = []
    failed = doctest.DocTestRunner(optionflags=FLAGS).run(parsed, out=report.append).failed
    assert not failed, "".join(report)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=name)
def test_shell_snippets(page: Path, tmp_path: Path) -> None:
    scripts = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = "set -eu\n" + blocks(page, "sh")
    done = subprocess.run(
        ["sh"],
        input=script,
        cwd=tmp_path,
        env={**os.environ, "PATH": scripts},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{name(page)} links to {target}, which is not there"

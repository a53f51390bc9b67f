"""The examples of the courses print what is stored beside them, and their README lists every one.

`BYTELOOM_WRITE_EXPECTED=1` writes the stored outputs anew. Read the difference before keeping it:
what a course prints does not change.
"""

import os
import re
import runpy
from pathlib import Path

import pytest

COURSE = Path(__file__).resolve().parents[2] / "examples" / "course"
SCRIPTS = sorted(COURSE.glob("*/*.py"))
EXPECTED = sorted(COURSE.glob("*/expected/*.txt"))
WRITE = os.environ.get("BYTELOOM_WRITE_EXPECTED") == "1"

TEMPORARY = re.compile(r"\S*[/\\](?=\w+\.json$)", re.MULTILINE)


def name(path: Path) -> str:
    return path.relative_to(COURSE).as_posix()


def expected_of(script: Path) -> Path:
    return script.parent / "expected" / f"{script.stem}.txt"


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_prints_what_is_expected(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(script)])
    monkeypatch.syspath_prepend(script.parent)  # as Python does for a script
    runpy.run_path(str(script), run_name="__main__")

    printed = TEMPORARY.sub("FOLDER/", capsys.readouterr().out)
    expected = expected_of(script)
    if WRITE:
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(printed, encoding="utf-8")
    assert printed.splitlines() == expected.read_text(encoding="utf-8").splitlines()
    assert not list(tmp_path.iterdir()), "an example leaves files behind"


def test_every_expected_output_has_its_script() -> None:
    assert SCRIPTS
    assert sorted(expected_of(script) for script in SCRIPTS) == EXPECTED


def test_names_are_unique() -> None:
    """Scripts import their sample by name, and type checkers see all folders at once."""
    names = [script.stem for script in SCRIPTS]
    assert len(names) == len(set(names))


def test_the_readme_lists_every_script() -> None:
    text = (COURSE / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`[\w.]+`\]\(([\w/.]+)\) \|[^|]+\|[^|]+\|$", text, re.MULTILINE)
    assert sorted(rows) == [name(script) for script in SCRIPTS]
    for script in SCRIPTS:
        assert len(docstring(script)) > 40, f"{name(script)} says too little about itself"


def docstring(script: Path) -> str:
    code = compile(script.read_text(encoding="utf-8"), str(script), "exec")
    return next((const for const in code.co_consts if isinstance(const, str)), "")


# What the courses print, apart from the stored outputs, so that a rewritten output cannot lose it.
PRINTED = {
    "step1/the_cat": ["= 270", "[259, 263]", "['the', ' cat']", "[' c', 'a', 't']", "back again: True"],
    "step1/exactly_1024": ["tokens: 1,024 = 256 bytes + 763 merges + 5 special tokens", "271 asked for: 270"],
    "lesson2/one_example": ["aa -> Z: ZabdZabac", "Za -> Y: YbdYbac"],
    "lesson2/text_to_bytes": [
        "43 characters -> 55 bytes",
        "[224, 164, 168, 224, 164, 174, 224, 164, 184, 224, 165, 141]",
    ],
    "lesson2/excel_sample": ["256 merges", "28 bytes ->", "back again: True"],
    "module03/characters": [
        "{0: ' ', 1: 'd', 2: 'e', 3: 'h', 4: 'l', 5: 'o', 6: 'r', 7: 'w'}",
        "[3, 2, 4, 4, 5]",
        "[72, 101, 108, 108, 111, 33, 32, 240, 159, 152, 138]",
    ],
    "module03/first_training": [
        "{'<PAD>': 0, '<UNK>': 1, '<BOS>': 2, '<EOS>': 3}",
        "Text length: 480 characters",
        "  Final vocab size: 11",
        "[9, 4, 10] ['ab', ' ', 'cd']",
        "[2, 9, 4, 10, 3]",
    ],
    "module03/byte_level": ["14 tokens, 7 <UNK>, round-trip=False", "23 tokens, 0 <UNK>, round-trip=True"],
    "module03/byte_explorer": ["[240, 159, 154, 128]", "[195, 169]", "[9]", "[10]"],
    "module03/pretokenization": [
        """['Don', "'t", ' merge', ' GPT', '2', ' across', '_', 'words', '!']""",
        "[' the', ' café', ' costs', ' €', '5', '.', '50']",
        "gpt2: 22 merges, True",
        "simple: 22 merges, True",
    ],
    "module03/pretoken_splitter": ["[wouldn] ['t] ['ve]", "[the] [·the] [·the]"],
    "module03/chat_template": ["66 tokens", "{'<|im_start|>': 24, '<|im_end|>': 25}", "0..23"],
    "module03/chat_builder": ["closed turns 2: 2 + 2, with the prompt 3 + 2", "turn of its own: 1 + 1"],
    "module03/code_training": [
        "562 characters",
        "  Merge 50: 'self.res' + 'ul' → 'self.resul' (count: 9, progress: 32.1%)",
        "  Merge 100: 'sub' + 't' → 'subt' (count: 3, progress: 64.1%)",
        "  172: 'print(fibonacci(10))'",
        "  135: '__init__(self'",
    ],
    "module03/visualize_tokens": ["5.67", "3.00", "3.67", "1.28", "[64, 5, 110]", "[60, 5, 52]"],
    "module03/vocabulary_sizes": ["['d', 'e', 'f', ' ', 'c']", "['def', ' ', 'c', 'al', 'c']"],
    "module03/save_and_load": [
        "before: [64, 5, 41, 30, 40, 41, 8, 71]",
        "after:  [64, 5, 41, 30, 40, 41, 8, 71]",
    ],
    "module03/exercise_1_compression": ["2.00", "2.38", "2.70", "compresses worst"],
    "module03/exercise_2_first_merges": ["1. 'h' + 'e' = 'he'", "8. 'worl' + 'd' = 'world'"],
    "module03/exercise_3_unknown": [
        "[7, 6, 8, 8, 9, 4, 11, 9, 10, 8, 5]",
        "[7, 6, 8, 8, 9, 4, 1, 1, 1]",
        "'hello 123' -> 9 tokens, 0 <UNK>",
        "'hello ☕' -> 9 tokens, 0 <UNK>",
        "'你好' -> 6 tokens, 0 <UNK>",
    ],
    "module03/exercise_4_whitespace": [
        "['def', ' ', 'f', 'o', 'o', '():']",
        "['  ', '  ', 'return']",
        "['  ', '  ', '  ', '  ', '<UNK>']",
    ],
    "module03_blt/blt_entropy": ["8.0 bits", "0.0 bits", "'r'  3.3 █████████", "'d'  2.0 █████"],
    "module03_blt/blt_patches": [
        "14 patches of 2.36 bytes",
        "0.42",
        "['t', 'he ', 'model ', 'p', 'redict', 's', ' the ', 'n', 'e', 'x', 't', ' ', 't', 'oken']",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_the_courses_figures_are_there(script: Path) -> None:
    stored = expected_of(script).read_text(encoding="utf-8")
    for figure in PRINTED.get(name(script)[: -len(".py")], []):
        assert figure in stored

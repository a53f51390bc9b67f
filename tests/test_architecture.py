"""Rules about the code itself: who imports whom, what is public, how long files are."""

from __future__ import annotations

import ast
import inspect
import re
import types
from pathlib import Path

import pytest

import byteloom as bl
from byteloom.cli import commands

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "byteloom"
CORE = ROOT / "crates" / "byteloom-core"
BINDING = ROOT / "crates" / "byteloom-python"

PYTHON_FILES = sorted(PACKAGE.rglob("*.py"))
ALL_FILES = sorted(
    path
    for folder in ("python", "crates", "tests", "examples", "tools", "benchmarks")
    for suffix in ("*.py", "*.pyi", "*.rs", "*.sh")
    for path in (ROOT / folder).rglob(suffix)
)
GENERATED = {"unicode.rs"}
LONGEST = 600


def short(path):
    return str(path.relative_to(ROOT))


def imports(path):
    """Every module and name that a file imports, relative ones made absolute."""
    package = ["byteloom", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            yield from (f"{module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("folder", ["cli", "course", "explorer"])
def test_the_outer_parts_use_only_public_names(folder):
    files = sorted((PACKAGE / folder).rglob("*.py"))
    assert files
    for path in files:
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "byteloom" and parts[1:2] != [folder]:  # its own private modules are its own
                assert not any(part.startswith("_") for part in parts), f"{short(path)} imports {name}"
        used = re.findall(r"\b(?:byteloom|bl|tok)\.(_[a-z]\w*)", path.read_text(encoding="utf-8"))
        assert not used, f"{short(path)} uses {used}"


def test_nothing_inside_imports_the_outer_parts():
    for path in PYTHON_FILES:
        inside = path.relative_to(PACKAGE).parts[0]
        if inside in ("cli", "course", "explorer", "__main__.py"):
            continue
        for name in imports(path):
            assert not re.match(r"byteloom\.(cli|course|explorer)\b", name), f"{short(path)} imports {name}"


def test_all_names_the_public_namespace():
    values = {name: getattr(bl, name) for name in dir(bl)}  # those that are imported late as well
    public = {
        name
        for name, value in values.items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert public | {"__version__"} == set(bl.__all__)
    assert list(bl.__all__) == sorted(bl.__all__)


def test_every_public_name_is_described():
    for name in set(bl.__all__) - {"__version__"}:
        value = getattr(bl, name)
        assert value.__doc__, name
        if isinstance(value, type) and not issubclass(value, BaseException):
            for method, member in vars(value).items():
                if callable(member) and not method.startswith("_"):
                    assert getattr(member, "__doc__", None), f"{name}.{method}"


@pytest.mark.parametrize("path", ALL_FILES, ids=short)
def test_no_file_is_too_long(path):
    if path.name in GENERATED:
        pytest.skip("generated")
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{short(path)} has {lines} lines; split it"


def test_the_library_does_not_print():
    """Save for the course, which prints what the courses print, in one place."""
    for path in PYTHON_FILES:
        if path == PACKAGE / "course" / "report.py":
            continue
        calls = [
            node.lineno
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        ]
        assert not calls, f"{short(path)} prints in lines {calls}"


def test_every_command_has_help_with_examples():
    for name in commands.list_commands(None):
        command = commands.get_command(None, name)
        text = inspect.cleandoc(command.help)
        assert re.search(rf"^  byteloom {name} ", text, re.MULTILINE), name
        assert "\nNext: " in text, name
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert parameter.help, f"{name} {parameter.opts}"


def test_every_command_has_a_file_of_its_own():
    for name in commands.list_commands(None):
        assert (PACKAGE / "cli" / f"{name}.py").is_file()


def test_the_core_knows_nothing_of_python():
    manifest = (CORE / "Cargo.toml").read_text(encoding="utf-8")
    assert "pyo3" not in manifest
    assert "numpy" not in manifest


def test_the_core_does_not_print_or_give_up():
    """What clippy is told to deny stays denied; it checks the rest."""
    workspace = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    for lint in ("unwrap_used", "expect_used", "panic", "print_stdout", "print_stderr", "dbg_macro"):
        assert re.search(rf'^{lint} = "deny"', workspace, re.MULTILINE), lint
    for crate in (CORE, BINDING):
        assert "[lints]\nworkspace = true" in (crate / "Cargo.toml").read_text(encoding="utf-8")

"""The files of the page: which there are, and how they become one.

The page is plain ES modules in `static/`, without a build step. Only what the page itself imports is an
asset, so the list of what may be served is closed when the explorer starts. For the single file the modules
are put into one script, each in a function of its own; that needs no parser, because they are ours and keep
to a few forms of `import` and `export`, which are checked.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from . import TABS

__all__ = [
    "STYLES",
    "asset_names",
    "asset_text",
    "available_tabs",
    "bundle",
    "literal",
    "modules",
    "own_text",
    "style",
]

STYLES = ("style.css", "tabs.css")
"""The style sheets in their order."""

_PAGE = ("index.html", *STYLES)
_IMPORT = re.compile(r'^import\s+([^;]+?)\s+from\s+"(\.[^"\n]+\.js)";', re.MULTILINE)
_EXPORT = re.compile(r"^export\s+((?:async\s+)?function\*?|const|let|class)\s+(\w+)", re.MULTILINE)
_EXPORT_DEFAULT = re.compile(r"^export\s+default\s+", re.MULTILINE)
_LEFT_OVER = re.compile(r"^(?:import\s|import\{|export\b).*", re.MULTILINE)


def asset_text(name: str) -> str:
    """The text of an asset."""
    return files("byteloom.explorer").joinpath("static").joinpath(name).read_text(encoding="utf-8")


def available_tabs() -> list[str]:
    """The tabs that have both a view and a module."""
    folder = files("byteloom.explorer")
    return [
        tab
        for tab in TABS
        if folder.joinpath(f"static/tabs/{tab}.js").is_file() and folder.joinpath(f"views/{tab}.py").is_file()
    ]


def asset_names() -> list[str]:
    """Every file of the page, by its path under `static`."""
    return [*_PAGE, *modules()]


def modules() -> dict[str, str]:
    """The modules of the page by name, each after those that it imports."""
    found: dict[str, str] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in found:
            return
        if name in above:
            raise ValueError(f"modules import each other: {' → '.join((*above, name))}")
        text = asset_text(name)
        for match in _IMPORT.finditer(text):
            visit(_resolved(name, match[2]), (*above, name))
        found[name] = text

    for tab in available_tabs():
        visit(f"tabs/{tab}.js", ())
    visit("app.js", ())
    return found


def _resolved(importer: str, target: str) -> str:
    name = posixpath.normpath(posixpath.join(posixpath.dirname(importer), target))
    if name.startswith("..") or posixpath.isabs(name):
        raise ValueError(f"{importer} imports {target}, which is outside of the page")
    return name


def style() -> str:
    """All style sheets as one."""
    return "".join(asset_text(name) for name in STYLES)


def bundle() -> str:
    """All modules as one script."""
    parts = ["const byteloomModules = globalThis.byteloomModules = Object.create(null);"]
    parts += [_wrapped(name, text) for name, text in modules().items()]
    script = "\n".join(parts)
    for sequence in ("</script", "<!--"):
        if sequence in script.lower():
            raise ValueError(f"a module holds {sequence!r}, which would end the script")
    return script


def _wrapped(name: str, text: str) -> str:
    exported: dict[str, str] = {}

    def imported(match: re.Match[str]) -> str:
        names, module = match[1].strip(), f'byteloomModules["{_resolved(name, match[2])}"]'
        if names.startswith("{"):
            return f"const {names.replace(' as ', ': ')} = {module};"
        if whole := re.fullmatch(r"\*\s+as\s+(\w+)", names):
            return f"const {whole[1]} = {module};"
        if re.fullmatch(r"\w+", names):
            return f"const {names} = {module}.default;"
        raise ValueError(f"{name} has an import of another form: {match[0]}")

    def declared(match: re.Match[str]) -> str:
        exported[match[2]] = match[2]
        return f"{match[1]} {match[2]}"

    body = _IMPORT.sub(imported, text)
    body = _EXPORT.sub(declared, body)
    if _EXPORT_DEFAULT.search(body):
        exported["default"] = "byteloomDefault"
        body = _EXPORT_DEFAULT.sub("const byteloomDefault = ", body)
    if left := _LEFT_OVER.search(body):
        raise ValueError(f"{name} has an import or export of another form: {left[0]}")
    returned = ", ".join(f"{key}: {value}" for key, value in exported.items())
    return f'byteloomModules["{name}"] = (() => {{\n{body}\nreturn {{ {returned} }};\n}})();'


def own_text(module: str) -> str | None:
    """The text that a tab begins with where it has one of its own; `None` where it reads the shared one."""
    return literal(module, "text") if re.search(r"^export const text = ", module, re.MULTILINE) else None


# Literals of JavaScript.

_TOKEN = re.compile(
    r"""(?:\s|//[^\n]*|/\*.*?\*/)*(?:
    (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.|\$(?!\{))*`)
    |(?P<number>-?(?:0x[0-9a-fA-F]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?))
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<mark>[\[\]{}:,+;.()])
    |(?P<end>\Z))""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_NAMES = {"true": True, "false": False, "null": None}


def literal(text: str, name: str) -> Any:
    """The value of `export const <name> = …;` in a module, where it is a plain literal.

    >>> literal('export const cards = [{ id: "a", n: -1.5, look: "long" + " text", }];', "cards")
    [{'id': 'a', 'n': -1.5, 'look': 'long text'}]
    """
    begin = re.search(rf"^export const {name} = ", text, re.MULTILINE)
    if begin is None:
        raise ValueError(f"there is no `export const {name} = …;`")
    return _Reader(_tokens(text, begin.end())).value()


def _tokens(text: str, place: int) -> Iterator[tuple[str, str]]:
    while True:
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"no plain literal: {text[place : place + 40]!r}")
        yield str(match.lastgroup), match[str(match.lastgroup)]
        place = match.end()


class _Reader:
    """Reads one value of a literal after the other."""

    def __init__(self, tokens: Iterator[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._next = next(tokens)

    def _take(self, mark: str | None = None) -> tuple[str, str]:
        taken = self._next
        if mark is not None and taken != ("mark", mark):
            raise ValueError(f"no plain literal: expected {mark} and found {taken[1]!r}")
        if taken[0] != "end":
            self._next = next(self._tokens)
        return taken

    def _is(self, mark: str) -> bool:
        return self._next == ("mark", mark)

    def value(self) -> Any:
        kind, text = self._take()
        if kind == "string":
            return self._string(text)
        if kind == "number":
            return int(text, 16) if "x" in text else _number(text.replace("_", ""))
        if kind == "name" and text in _NAMES:
            return _NAMES[text]
        if (kind, text) == ("mark", "["):
            return self._items()
        if (kind, text) == ("mark", "{"):
            return self._members()
        raise ValueError(f"no plain literal: {text!r}")

    def _string(self, token: str) -> str:
        whole = _unescaped(token[1:-1])
        while self._is(".") or self._is("+"):
            if self._take()[1] == "+":
                kind, more = self._take()
                if kind != "string":
                    raise ValueError(f"no plain literal: + {more!r}")
                whole += self._string(more)
                break
            if self._take() != ("name", "repeat"):
                raise ValueError("no plain literal: only .repeat(n) may follow a string")
            self._take("(")
            whole *= int(self._take()[1])
            self._take(")")
        return whole

    def _items(self) -> list[Any]:
        found = []
        while not self._is("]"):
            found.append(self.value())
            if not self._is("]"):
                self._take(",")
        self._take("]")
        return found

    def _members(self) -> dict[str, Any]:
        found = {}
        while not self._is("}"):
            kind, key = self._take()
            if kind not in ("name", "string", "number"):
                raise ValueError(f"no plain literal: {key!r} is no name")
            self._take(":")
            found[_unescaped(key[1:-1]) if kind == "string" else key] = self.value()
            if not self._is("}"):
                self._take(",")
        self._take("}")
        return found


def _number(text: str) -> int | float:
    return float(text) if any(sign in text for sign in ".eE") else int(text)


def _unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        return chr(int(code, 16)) if code else _ESCAPED.get(match[4], match[4])

    # Two halves of a surrogate pair, escaped one by one, are one character.
    return _ESCAPE.sub(one, text).encode("utf-16", "surrogatepass").decode("utf-16")

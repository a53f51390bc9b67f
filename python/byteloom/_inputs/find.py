"""Which files are read, in which order, and what they are by their names."""

from __future__ import annotations

import errno
import fnmatch
import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from byteloom.errors import TrainingError

__all__ = ["STDIN", "Path", "Source", "find", "source_of"]

Path = str | os.PathLike[str]

STDIN = "-"

_PACKINGS = {".gz": "gz", ".zst": "zst", ".bz2": "bz2", ".xz": "xz"}
_KINDS = {
    ".txt": "text",
    ".text": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
_ARCHIVES = (".zip", ".tar", ".tgz", ".7z", ".rar")
_FORMATS = {"text": "text", "txt": "text", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet"}


@dataclass(frozen=True)
class Source:
    """A file, what it holds and how it is packed."""

    path: str
    kind: str
    packing: str | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == STDIN else self.path

    @property
    def is_file(self) -> bool:
        """Whether it can be read more than once."""
        return self.path != STDIN and os.path.isfile(self.path)  # noqa: PTH113 - pathlib costs import time


def source_of(path: str, form: str | None = None) -> Source:
    """What a file is by its name, or by `form` where that is given.

    >>> source_of("a.jsonl.zst")
    Source(path='a.jsonl.zst', kind='jsonl', packing='zst')
    >>> source_of("b.log", "jsonl")
    Source(path='b.log', kind='jsonl', packing=None)

    Raises:
        TrainingError: an archive of several files, or a packed table.
    """
    stem, ending = os.path.splitext(path.lower())  # noqa: PTH122
    packing = _PACKINGS.get(ending)
    inner = os.path.splitext(stem)[1] if packing else ending  # noqa: PTH122
    kind = _KINDS.get(inner, "text")
    if form is None and inner in _ARCHIVES:
        message = f"{path} is an archive of files; unpack it and give the folder"
        raise TrainingError(message)
    if form is not None:
        kind, asked = _parsed(form)
        packing = asked or packing
    if kind == "parquet" and packing:
        message = f"{path} is a table packed as .{packing}; unpack it, .parquet is compressed inside"
        raise TrainingError(message)
    return Source(path, kind, packing)


def _parsed(form: Any) -> tuple[str, str | None]:
    kind, _, packing = form.partition(".") if isinstance(form, str) else ("", "", "")
    if kind not in _FORMATS or (packing and f".{packing}" not in _PACKINGS):
        message = (
            f"format must be 'text', 'jsonl' or 'parquet', with '.gz', '.zst', '.bz2' or '.xz' behind it "
            f"for packed files, not {form!r}"
        )
        raise ValueError(message)
    return _FORMATS[kind], packing or None


def find(paths: Path | Iterable[Path], form: str | None = None) -> tuple[list[Source], list[str]]:
    """The files that `paths` stand for, and files in folders that are left out because of their endings.

    Folders are walked in the order of names, a folder once however many links lead to it; hidden files and
    whatever is no regular file (pipes, devices) are not read there. Globs are replaced by what they match, in
    order.

    Raises:
        FileNotFoundError: there is no such file, or nothing that matches.
        TrainingError: a folder without a file to read, an archive.
    """
    if form is not None:
        _parsed(form)
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: list[Source] = []
    ignored: list[str] = []
    for place, path in enumerate(given):
        _check_path(path, place)
        name = os.fsdecode(path)
        if name == STDIN and not isinstance(path, str):
            name = os.path.join(os.curdir, name)  # noqa: PTH118 - a file of that name
        for one in _expanded(name):
            if one != STDIN and os.path.isdir(one):  # noqa: PTH112
                found += _in_folder(one, form, ignored)
            else:
                found.append(source_of(one, form))
    return found, ignored


def _check_path(path: Any, place: int) -> None:
    if not isinstance(path, (str, os.PathLike)):
        message = f"paths must be strings or paths; number {place} is {type(path).__name__}"
        raise TypeError(message)


def _expanded(path: str) -> list[str]:
    if path == STDIN or os.path.lexists(path):
        return [path]
    if not glob.has_magic(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    # The standard library's `**` follows links without end.
    matches = _deep_matches(path) if "**" in path else sorted(glob.glob(path))  # noqa: PTH207
    if not matches:
        raise FileNotFoundError(errno.ENOENT, "No file matches", path)
    return matches


def _deep_matches(pattern: str) -> list[str]:
    parts = [part for part in re.split(r"[/\\]" if os.sep == "\\" else "/", pattern) if part]
    fixed = 0
    while not glob.has_magic(parts[fixed]):
        fixed += 1
    start = os.sep if os.path.isabs(pattern) else ""  # noqa: PTH117
    root = start + os.sep.join(parts[:fixed]) or os.curdir  # noqa: PTH118
    below = ((file, os.path.relpath(file, root)) for file in _walk(root))
    # Named as the pattern names them: without "./" where that has none.
    return sorted(
        relative if root == os.curdir else file for file, relative in below if _fits(relative, parts[fixed:])
    )


def _fits(path: str, parts: list[str]) -> bool:
    """Whether a path below a folder fits the parts of a glob, of which `**` is any number of folders."""
    names = path.split(os.sep)  # noqa: PTH206
    ends = {0}  # how many parts the names so far may have used up
    for number, name in enumerate(names):
        is_last = number == len(names) - 1
        after: set[int] = set()
        waiting = list(ends)
        while waiting:
            at = waiting.pop()
            if at == len(parts):
                continue
            if parts[at] == "**":
                after.add(at)
                if at + 1 < len(parts) or is_last:
                    waiting.append(at + 1)
            elif fnmatch.fnmatchcase(name, parts[at]):
                after.add(at + 1)
        ends = after
    return len(parts) in ends or (len(parts) - 1 in ends and parts[-1] == "**")


def _in_folder(folder: str, form: str | None, ignored: list[str]) -> list[Source]:
    found = []
    others = []
    for path in _walk(folder):
        stem, ending = os.path.splitext(path.lower())  # noqa: PTH122
        inner = os.path.splitext(stem)[1] if ending in _PACKINGS else ending  # noqa: PTH122
        if form is not None or inner in _KINDS:
            found.append(source_of(path, form))
        else:
            others.append(path)
    if not found:
        message = (
            f"{folder} has no file to read: .txt, .jsonl or .parquet, packed or not ({len(others)} others); "
            "a format, or a glob such as '*.py', reads files with other endings"
        )
        raise TrainingError(message)
    ignored += others
    return found


def _walk(folder: str) -> Iterator[str]:
    """The regular files in a folder and in its folders, in the order of names, hidden ones left out."""
    seen: set[tuple[int, int]] = set()
    # Folders that wait, and files that wait for the folders before them; the next one is last.
    waiting = [(folder, True)]
    while waiting:
        path, is_folder = waiting.pop()
        if not is_folder:
            yield path
            continue
        state = os.stat(path)  # noqa: PTH116
        if (state.st_dev, state.st_ino) in seen and state.st_ino:
            continue
        seen.add((state.st_dev, state.st_ino))
        inside = []
        for name in sorted(os.listdir(path), reverse=True):  # noqa: PTH208
            if name.startswith("."):
                continue
            joined = os.path.join(path, name)  # noqa: PTH118
            mode = _mode(joined)
            if stat.S_ISDIR(mode):
                inside.append((joined, True))
            elif stat.S_ISREG(mode) or not mode:
                inside.append((joined, False))
        waiting += inside


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode  # noqa: PTH116
    except OSError:
        return 0  # a link to nothing, which is reported when it is opened

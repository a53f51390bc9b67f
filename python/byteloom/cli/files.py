"""Bytes in and bytes out: sources, outputs, and messages on stderr."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

import click

import byteloom

__all__ = [
    "as_text",
    "check_output",
    "document_batches",
    "open_output",
    "read_source",
    "readable_error",
    "say",
    "short_names",
    "shown",
    "source_name",
]

_CHUNK = 1 << 22


def say(message: str, *, prefix: str = "byteloom: ") -> None:
    """One line for people, on stderr."""
    if sys.stderr is not None:
        click.echo(prefix + message, err=True)


def shown(path: str) -> str:
    """`path` as one line of readable text, whatever bytes it holds.

    >>> shown("two words"), shown("two\\nlines"), shown("not utf-8: \\udcff")
    ('two words', 'two\\\\nlines', 'not utf-8: \\\\xff')
    """
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def source_name(source: str | None) -> str:
    """What messages call a source: its path, or standard input."""
    return "standard input" if source in (None, "-") else shown(str(source))


def readable_error(error: BaseException) -> str:
    """One line that says what went wrong."""
    if isinstance(error, OSError) and error.strerror:
        parts = [error.strerror]
        if isinstance(error.filename, (str, bytes)):
            parts.insert(0, shown(os.fsdecode(error.filename)))
        return ": ".join(parts)
    if isinstance(error, MemoryError):
        return "not enough memory"
    text = error.format_message() if isinstance(error, click.ClickException) else str(error)
    if isinstance(error, byteloom.SpecialTokenError) and "; to encode it as ordinary text" in text:
        # The library's advice, in the words of the command line.
        fact = text.partition(". To encode it as id")[0]
        text = f"{fact}; --allowed-special all takes it as that token, --ordinary as plain text"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return shown(" ".join(lines)) or type(error).__name__


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Put `name` into an `OSError` that names no file."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or name
        raise


# Sources.


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise click.ClickException("standard input is closed")
    if sys.stdin.isatty():
        say("reading the terminal; end with Ctrl-D on a line of its own")
    return sys.stdin.buffer


@contextmanager
def _open_source(source: str | None) -> Iterator[BinaryIO]:
    if source in (None, "-"):
        with _named("standard input"):
            yield _stdin()
    else:
        with _named(str(source)), open(str(source), "rb") as file:
            yield file


def read_source(source: str | None) -> bytes:
    """All bytes of a file, or of standard input for `None` and `-`."""
    with _open_source(source) as file:
        return file.read()


def document_batches(source: str | None) -> Iterator[list[bytes]]:
    """The lines of a source without their newline, as many at a time as are there to be read."""
    with _open_source(source) as file:
        begun: list[bytes] = []
        read = getattr(file, "read1", file.read)
        while chunk := read(_CHUNK):
            first, *others = chunk.split(b"\n")
            begun.append(first)
            if others:
                last = others.pop()
                yield [b"".join(begun), *others]
                begun = [last]
        if rest := b"".join(begun):
            yield [rest]


def as_text(
    data: bytes,
    name: str,
    *,
    errors: str,
    advice: str = "--errors replace repairs it, --bytes takes the bytes as they are",
) -> str:
    """`data` as the text that it must be.

    Raises:
        TextError: for bytes that are not UTF-8 where `errors` is `"strict"`, with the source and the place.

    >>> as_text(b"caf\\xc3\\xa9", "a.txt", errors="strict"), as_text(b"ok\\xff", "a.txt", errors="replace")
    ('café', 'ok\ufffd')
    """
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        message = (
            f"{name}: byte 0x{data[error.start]:02x} at offset {error.start} is not valid UTF-8; {advice}"
        )
        raise byteloom.TextError(message) from None


# Outputs.


def check_output(path: str | None, *, force: bool) -> None:
    """Refuse an output that could not be written, before the work rather than after it."""
    if path is None or path == "-":
        return
    if os.path.isdir(path):
        raise click.ClickException(f"{shown(path)} is a folder; name a file")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise click.ClickException(f"there is no folder {shown(folder)} to write {shown(path)} in")
    if _is_device(path):
        return
    if os.path.exists(path) and not force:
        raise click.ClickException(f"{shown(path)} exists; --force replaces it")
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def _is_device(path: str) -> bool:
    """Whether `path` is there and no regular file: a device or a pipe is written to, never replaced."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


@contextmanager
def open_output(path: str | None, *, force: bool) -> Iterator[Callable[[bytes], object]]:
    """A function that writes to `path`, or to standard output for `None` and `-`.

    A file is written beside its place and renamed at the end, so that it is there whole or not at all.
    """
    if path is None or path == "-":
        if sys.stdout is None:
            raise click.ClickException("standard output is closed")
        out = sys.stdout.buffer

        def write(data: bytes) -> None:
            # At once, for a reader that answers line by line.
            out.write(data)
            out.flush()

        with _named("standard output"):
            yield write
    elif _is_device(path):
        with _named(path), open(path, "wb") as file:
            yield file.write
    else:
        place = os.path.realpath(path)
        draft = f"{place}.{os.getpid()}.tmp"
        try:
            # Opened with the usual mode, which tempfile would narrow to the owner.
            with _named(path), open(draft, "xb") as file:
                yield file.write
                file.flush()
                os.fsync(file.fileno())
            check_output(path, force=force)
            os.replace(draft, place)
        except BaseException as error:
            if not isinstance(error, FileExistsError) and os.path.exists(draft):
                os.unlink(draft)
            raise


def short_names(paths: Sequence[str]) -> list[str]:
    """File names without folders and endings, unless these are needed to tell them apart.

    >>> short_names(["a/tok.json", "b/tok.json"]), short_names(["a/one.json", "two.json"])
    (['a/tok.json', 'b/tok.json'], ['one', 'two'])
    """
    for shorten in (_stem, os.path.basename, str):
        names = [shown(shorten(path)) or shown(path) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{shown(path)} ({place})" for place, path in enumerate(paths, 1)]


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path.rstrip("/\\")))[0]

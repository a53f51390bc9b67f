"""What commands share that read documents and learn from them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

import byteloom
from byteloom.cli.files import say, shown
from byteloom.cli.options import SIZE, TEXT

__all__ = [
    "in_words_of_options",
    "learning_options",
    "open_documents",
    "progress_option",
    "reading_options",
    "say_what_is_missing",
    "split_reading",
    "wants_progress",
    "warnings_said",
]

F = TypeVar("F", bound=Callable[..., Any])

_READING = (
    click.option(
        "--errors", type=click.Choice(["strict", "replace", "keep"]), default="strict", show_default=True,
        help="Bytes that are not UTF-8: refuse them, put U+FFFD in their place, or keep them as they are.",
    ),
    click.option(
        "--format", metavar="NAME",
        help="text, jsonl or parquet, where the endings of the files do not say so; jsonl.gz if packed.",
    ),
    click.option(
        "--field", type=TEXT, default="text", show_default=True, metavar="NAME", help="Field of JSON lines.",
    ),
    click.option(
        "--column", type=TEXT, default="text", show_default=True, metavar="NAME", help="Column of tables.",
    ),
    click.option(
        "--separator", type=TEXT, metavar="STRING",
        help=r"What ends a document in text files, and is part of none; \n and \t are understood.",
    ),
    click.option("--max-bytes", type=SIZE, metavar="N", help="Stop after so many bytes of text, such as 2G."),
    click.option(
        "--sample", type=click.FloatRange(0, 1, min_open=True), metavar="SHARE",
        help="Take this share of the documents only, such as 0.1.",
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, metavar="N", help="Another number, another sample.",
    ),
    click.option(
        "--on-error", type=click.Choice(["raise", "skip"]), default="raise", show_default=True,
        help="Faulty lines, rows and files: stop there, or count them and go on.",
    ),
)  # fmt: skip
_READING_NAMES = {
    *("errors", "format", "field", "column", "separator"),
    *("max_bytes", "sample", "seed", "on_error"),
}

_LEARNING = (
    click.option(
        "--min-frequency", type=SIZE, default=2, show_default=True, metavar="N",
        help="Merge a pair only if it occurs this often.",
    ),
    click.option("--max-token-length", type=SIZE, metavar="N", help="Longest token to learn, in bytes."),
    click.option(
        "--tie-break", type=click.Choice(["smallest_pair", "huggingface", "first_seen"]),
        default="smallest_pair", show_default=True,
        help="Which of several equally frequent pairs comes first.",
    ),
)  # fmt: skip


def reading_options(function: F) -> F:
    """How files are read, as `byteloom.documents` takes it."""
    for option in reversed(_READING):
        function = option(function)
    return function


def learning_options(function: F) -> F:
    """Which pairs are merged, and in which order."""
    for option in reversed(_LEARNING):
        function = option(function)
    return function


def progress_option(function: F) -> F:
    """`--progress` and `--no-progress`."""
    return click.option(
        "--progress/--no-progress",
        default=None,
        help="Show progress on stderr; by default only where that is a terminal.",
    )(function)


def wants_progress(progress: bool | None) -> bool | None:
    """What the library is told of `progress_option`."""
    shows = progress if progress is not None else sys.stderr is not None and sys.stderr.isatty()
    return shows or None


def split_reading(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of `reading_options`, and all others."""
    reading = {name: value for name, value in options.items() if name in _READING_NAMES}
    return reading, {name: value for name, value in options.items() if name not in reading}


def open_documents(files: tuple[str, ...], reading: dict[str, Any]) -> byteloom.Documents:
    """The documents of the files, or of standard input; a name that is wrong is said before any is read."""
    separator: str | None = reading["separator"]
    if separator:
        reading = {**reading, "separator": separator.replace("\\n", "\n").replace("\\t", "\t")}
    documents = byteloom.documents(files or "-", **reading)
    if "-" in documents.files and sys.stdin is not None and sys.stdin.isatty():
        say("reading the terminal; end with Ctrl-D on a line of its own")
    return documents


@contextmanager
def warnings_said() -> Iterator[None]:
    """Say what training warns of, on one line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", byteloom.TrainingWarning)
        yield
    for warning in caught:
        say(f"warning: {warning.message}")


@contextmanager
def in_words_of_options() -> Iterator[None]:
    """Put the options of the command into errors that speak of arguments of the library."""
    try:
        yield
    except ImportError as error:
        raise click.ClickException(str(error)) from None
    except byteloom.ByteloomError as error:
        message = str(error).replace("on_error='skip'", "--on-error skip")
        message = message.replace("errors='replace' or 'keep'", "--errors replace or keep")
        raise type(error)(message) from None


def say_what_is_missing(documents: byteloom.Documents) -> None:
    """Say what was skipped, and which files of folders were not read."""
    stats = documents.stats
    if stats.skipped:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in sorted(stats.reasons.items()))
        say(f"warning: {stats.skipped:,} skipped ({reasons}); the first: {shown(stats.faults[0])}")
    if documents.ignored:
        number = len(documents.ignored)
        say(
            f"{number:,} file{'s' * (number != 1)} in folders not read because of the ending, "
            f"such as {shown(documents.ignored[0])}"
        )

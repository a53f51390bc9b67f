"""Arguments and options that several commands share, and the kinds of values they take."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypedDict, TypeVar

import click

import byteloom
from byteloom.cli.files import as_text, check_output, read_source, shown, source_name

__all__ = [
    "SIZE",
    "TEXT",
    "AnyPath",
    "SpecialChoice",
    "color_option",
    "fault_of",
    "load_one_of_several",
    "load_tokenizer",
    "output_options",
    "page_options",
    "sample",
    "sample_faults",
    "sample_options",
    "source_text",
    "special_choice",
    "special_options",
    "text_options",
    "threads_option",
    "tokenizer_argument",
    "write_html",
    "write_plot",
]

F = TypeVar("F", bound=Callable[..., Any])


class _Text(click.ParamType):  # type: ignore[type-arg]
    """Text of an argument, read as UTF-8 whatever the locale."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return os.fsencode(value).decode("utf-8")
        except UnicodeDecodeError as error:
            self.fail(f"byte {error.start} of the argument is not valid UTF-8", param, ctx)


class _Size(click.ParamType):  # type: ignore[type-arg]
    """A count, such as 32000, 32_000, 32k or 1.5M; `Ki`, `Mi` and `Gi` are powers of 1,024.

    >>> [SIZE.convert(text, None, None) for text in ("50257", "32_000", "32k", "64Ki", "1.5M")]
    [50257, 32000, 32000, 65536, 1500000]
    """

    name = "size"
    _form = re.compile(r"(\d+(?:[_,]\d+)*)(?:\.(\d{1,6}))?(|k|ki|m|mi|g|gi)", re.ASCII | re.IGNORECASE)
    _units = {"": 1, "k": 10**3, "ki": 2**10, "m": 10**6, "mi": 2**20, "g": 10**9, "gi": 2**30}  # noqa: RUF012

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        form = self._form.fullmatch(value.strip())
        if form is None:
            self.fail(f"{value!r} is not a count; write it as 32000, 32k or 1.5M", param, ctx)
        whole, fraction, unit = form[1].replace("_", "").replace(",", ""), form[2] or "", form[3].lower()
        scaled = int(whole + fraction) * self._units[unit]
        if scaled % 10 ** len(fraction):
            self.fail(f"{value!r} is not a whole number", param, ctx)
        return int(scaled // 10 ** len(fraction))


TEXT = _Text()
SIZE = _Size()


def tokenizer_argument(function: F) -> F:
    """The argument TOKENIZER, and `--pattern` for files that hold none."""
    function = click.option(
        "--pattern",
        type=TEXT,
        metavar="NAME",
        help="Pre-tokenizer pattern, only for a .tiktoken file that is not one of OpenAI's.",
    )(function)
    return click.argument("tokenizer", type=click.Path())(function)


def load_tokenizer(
    path: str, pattern: str | None = None, special_tokens: Mapping[str, int] | None = None
) -> byteloom.Tokenizer:
    """The tokenizer of a file."""
    try:
        return byteloom.Tokenizer.load(path, pattern=pattern, special_tokens=special_tokens)
    except byteloom.FormatError as error:
        if pattern is None and "holds no pattern" in str(error):
            raise click.ClickException(
                f"{shown(path)}: these ranks hold no pattern, and are none of the published ones; "
                "--pattern NAME says which pattern they were made with"
            ) from None
        raise


def load_one_of_several(
    path: str, pattern: str | None, special_tokens: Mapping[str, int] | None = None
) -> byteloom.Tokenizer:
    """The tokenizer of a file; what was given for files that do not hold it is left out where one does."""
    try:
        return load_tokenizer(path, pattern, special_tokens)
    except byteloom.FormatError as error:
        if "holds its own pattern" not in str(error):
            raise
        return load_tokenizer(path)


def color_option(function: F) -> F:
    """`--color`."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="Colours; auto means on a terminal, unless NO_COLOR is set.",
    )(function)


def sample_options(function: F) -> F:
    """`--text` and `--file`, each any number of times, and what to do with bytes that are not UTF-8."""
    for option in (
        click.option(
            "--errors",
            type=click.Choice(["strict", "replace"]),
            default="strict",
            show_default=True,
            help="Bytes that are not UTF-8: refuse them, or put U+FFFD in their place.",
        ),
        click.option(
            "-f",
            "--file",
            "files",
            multiple=True,
            type=click.Path(),
            metavar="FILE",
            help="Take this file, or - for standard input; may be given several times.",
        ),
        click.option(
            "-t",
            "--text",
            "texts",
            multiple=True,
            type=TEXT,
            metavar="TEXT",
            help="Take this text; may be given several times.",
        ),
    ):
        function = option(function)
    return function


class AnyPath:
    """A path that keeps whatever bytes its name holds."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return self._path


def sample(texts: tuple[str, ...], files: tuple[str, ...]) -> dict[str, str | bytes | os.PathLike[str]]:
    """What `sample_options` were given, by name."""
    named: dict[str, str | bytes | os.PathLike[str]] = {
        (f"text {place}" if len(texts) > 1 else "text"): text for place, text in enumerate(texts, 1)
    }
    for file in dict.fromkeys(files):  # a file that is given twice counts once
        name = source_name(file)
        if name in named:  # of a text, or two names that look alike
            name = f"{name} (file {len(named) + 1})"
        named[name] = read_source(file) if file == "-" else AnyPath(file)
    return named


@contextmanager
def sample_faults() -> Iterator[None]:
    """Say of a sample that is no valid text which option repairs it."""
    try:
        yield
    except byteloom.TextError as error:
        raise byteloom.TextError(str(error).replace("errors='replace'", "--errors replace")) from None


def page_options(function: F) -> F:
    """`--html`, `--plot` and `--force`."""
    for option in (
        click.option("--force", is_flag=True, help="Replace an output file that exists."),
        click.option(
            "--plot",
            type=click.Path(),
            metavar="FILE",
            help="Draw a plot to this .png or .svg file; needs matplotlib.",
        ),
        click.option("--html", type=click.Path(), metavar="FILE", help="Write a page of HTML to this file."),
    ):
        function = option(function)
    return function


def write_plot(path: str, draw: Callable[[], Any], *, force: bool) -> None:
    """Draw to a file; a missing matplotlib is said in words."""
    try:
        figure = draw()
    except ImportError as error:
        raise click.ClickException(str(error)) from None
    check_output(path, force=force)
    byteloom.plots.save(figure, path)


def write_html(path: str, *items: Any, title: str, force: bool) -> None:
    """Write a page of HTML."""
    check_output(path, force=force)
    byteloom.render.write_page(path, *items, title=title)


def text_options(function: F) -> F:
    """`--text`, and what to do with bytes that are not UTF-8."""
    for option in (
        click.option(
            "--bytes",
            "raw",
            is_flag=True,
            help="Take the bytes as they are: they need not be UTF-8.",
        ),
        click.option(
            "--errors",
            type=click.Choice(["strict", "replace"]),
            default="strict",
            show_default=True,
            help="Bytes that are not UTF-8: refuse them, or put U+FFFD in their place.",
        ),
        click.option("-t", "--text", type=TEXT, metavar="TEXT", help="Take this text instead of a file."),
    ):
        function = option(function)
    return function


def source_text(file: str | None, text: str | None, *, errors: str, raw: bool) -> str | bytes:
    """The text that a command works on: of `--text`, of the file, or of standard input."""
    if text is not None:
        if file is not None:
            raise click.UsageError("give a FILE or --text, not both", click.get_current_context())
        return text.encode() if raw else text
    data = read_source(file)
    return data if raw else as_text(data, source_name(file), errors=errors)


@contextmanager
def fault_of(name: str) -> Iterator[None]:
    """Begin the message of an error that comes from a text with the text's name."""
    try:
        yield
    except byteloom.ByteloomError as error:
        raise type(error)(f"{name}: {error}") from None


class SpecialChoice(TypedDict):
    """What `encode` and its kin are told about special tokens in a text."""

    allowed_special: Literal["all"] | Collection[str]
    disallowed_special: Literal["all"] | Collection[str]


def special_options(function: F) -> F:
    """What to do with text that spells a special token."""
    for option in (
        click.option(
            "--ordinary",
            is_flag=True,
            help="Read every text as text, also where it spells a special token.",
        ),
        click.option(
            "--allowed-special",
            multiple=True,
            type=TEXT,
            metavar="NAME",
            help="Special token that the text may hold, or 'all'; may be given several times. "
            "A text that spells any other is refused.",
        ),
    ):
        function = option(function)
    return function


def special_choice(tok: byteloom.Tokenizer, allowed: tuple[str, ...], *, ordinary: bool) -> SpecialChoice:
    """The choice of `special_options` as the library wants it."""
    ctx = click.get_current_context()
    if ordinary:
        if allowed:
            raise click.UsageError("--ordinary and --allowed-special exclude each other", ctx)
        return SpecialChoice(allowed_special=(), disallowed_special=())
    if "all" in allowed:
        return SpecialChoice(allowed_special="all", disallowed_special="all")
    for name in allowed:
        if name not in tok.special_tokens:
            known = ", ".join(tok.special_tokens) or "it has none"
            message = f"{name!r} is not a special token of this tokenizer ({known})"
            raise click.BadParameter(message, ctx, param_hint="'--allowed-special'")
    return SpecialChoice(allowed_special=set(allowed), disallowed_special="all")


def threads_option(function: F) -> F:
    """`--threads`; results never depend on it."""
    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of threads; all processors by default. Results do not depend on it.",
    )(function)


def output_options(*, required: bool, what: str) -> Callable[[F], F]:
    """`-o` and `--force`."""

    def add(function: F) -> F:
        function = click.option("--force", is_flag=True, help="Replace an output file that exists.")(function)
        return click.option(
            "-o", "--output", type=click.Path(), metavar="FILE", required=required, help=what
        )(function)

    return add

"""What `train --sizes` adds: vocabularies of several sizes from one run, and how well each packs a text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import click

import byteloom
from byteloom.cli.files import check_output, open_output, say, shown
from byteloom.cli.options import SIZE, write_plot

__all__ = ["SIZES", "Size", "check_sizes", "draw", "file_of", "table", "write_sizes"]


class _Sizes(click.ParamType):  # type: ignore[type-arg]
    """Sizes with commas between them, each with the way it was written.

    >>> SIZES.convert("1k,4_000", None, None)
    [('1k', 1000), ('4_000', 4000)]
    """

    name = "sizes"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[tuple[str, int]]:
        if isinstance(value, list):
            return value
        sizes = [(text.strip(), SIZE.convert(text, param, ctx)) for text in str(value).split(",")]
        if len({size for _, size in sizes}) < len(sizes):
            self.fail(f"{value!r} names a size twice", param, ctx)
        return sizes


SIZES = _Sizes()


@dataclass(frozen=True)
class Size:
    """A vocabulary that was written; figures of the held-out text, if there is one."""

    file: str
    vocab_size: int
    fingerprint: str
    held_out_bytes: int | None = None
    held_out_tokens: int | None = None
    bytes_per_token: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def file_of(output: str, label: str) -> str:
    """Where the vocabulary of a size is saved.

    >>> file_of("some/tok.json", "32k")
    'some/tok-32k.json'
    """
    stem, ending = os.path.splitext(output)
    return f"{stem}-{label}{ending}"


def check_sizes(
    output: str,
    sizes: Sequence[tuple[str, int]],
    least: int,
    held_out: Sequence[str],
    plot: str | None,
    *,
    force: bool,
) -> None:
    """Refuse outputs that could not be written, before the work rather than after it."""
    ctx = click.get_current_context()
    if output == "-":
        raise click.UsageError("--sizes writes several files: -o must name a file", ctx)
    if ctx.get_parameter_source("vocab_size") is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError("give --vocab-size or --sizes, not both", ctx)
    if plot is not None and not held_out:
        raise click.UsageError("--plot needs a text: --held-out names it", ctx)
    for label, size in sizes:
        if size < least:
            raise click.ClickException(
                f"a vocabulary of {label} cannot be: the bytes and special tokens are {least}"
            )
        check_output(file_of(output, label), force=force)
    if plot is not None:
        check_output(plot, force=force)
        if os.path.splitext(plot)[1].lower() not in (".png", ".svg"):
            raise click.ClickException(f"{shown(plot)}: plots are written as .png or .svg")


def write_sizes(
    tok: byteloom.Tokenizer,
    output: str,
    sizes: Sequence[tuple[str, int]],
    held_out: byteloom.Documents | None,
    *,
    force: bool,
) -> list[Size]:
    """Save the vocabulary of each size, and count the held-out text with each.

    Merges are a chain: the first merges of a large vocabulary are those that a smaller one would have
    learned.
    """
    made: list[tuple[str, byteloom.Tokenizer]] = []
    for label, size in sizes:
        if size > tok.vocab_size:
            say(f"warning: no vocabulary of {label}: training ended with {tok.vocab_size:,} tokens")
            continue
        made.append((file_of(output, label), tok.resized(size).tokenizer))
    if not made:
        raise click.ClickException("training ended before the smallest size; give it more text")
    for file, one in made:
        with open_output(file, force=force) as write:
            write(one.to_bytes())
    tokens, size = [0] * len(made), 0
    for document in held_out or ():
        size += len(document) if isinstance(document, bytes) else len(document.encode())
        for place, (_, one) in enumerate(made):
            tokens[place] += one.count(document, disallowed_special=())
    return [
        Size(file, one.vocab_size, one.fingerprint, *((size, number, size / number) if number else ()))
        for (file, one), number in zip(made, tokens, strict=True)
    ]


def table(rows: Sequence[Size]) -> str:
    """The sizes as lines of a table.

    >>> print(table([Size("a-1k.json", 1000, "", 1200, 400, 3.0), Size("a-32k.json", 32000, "")]))
    tokens  bytes per token  file
     1,000            3.000  a-1k.json
    32,000                -  a-32k.json
    """
    lines = [f"{'tokens':>6}  {'bytes per token':>15}  file"]
    for row in rows:
        ratio = "-" if row.bytes_per_token is None else f"{row.bytes_per_token:.3f}"
        lines.append(f"{row.vocab_size:>6,}  {ratio:>15}  {shown(row.file)}")
    return "\n".join(lines)


def draw(path: str, rows: Sequence[Size], *, force: bool) -> None:
    """Plot bytes per token against the size of the vocabulary."""
    points = {row.vocab_size: row.bytes_per_token for row in rows if row.bytes_per_token is not None}
    write_plot(path, lambda: byteloom.plots.sizes({"held-out text": points}), force=force)

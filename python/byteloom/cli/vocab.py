"""`byteloom vocab`: the tokens of a vocabulary."""

from __future__ import annotations

import json as jsonlib
import re
from collections.abc import Sequence
from typing import Any

import click

import byteloom
from byteloom.cli.display import wants_color
from byteloom.cli.files import shown
from byteloom.cli.options import (
    TEXT,
    color_option,
    load_tokenizer,
    page_options,
    sample,
    sample_faults,
    sample_options,
    tokenizer_argument,
    write_html,
    write_plot,
)

_REPORTS = ("scripts", "unreachable", "unused", "first-use")


@click.command("vocab")
@tokenizer_argument
@click.option("--all", "everything", is_flag=True, help="List the tokens, by id.")
@click.option("--search", type=TEXT, metavar="TEXT", help="List tokens that hold this text.")
@click.option(
    "--regex", type=TEXT, metavar="REGEX", help="List tokens in which this regex (of Python) is found."
)
@click.option(
    "--bytes", "hex_", type=TEXT, metavar="HEX", help="List tokens that hold these bytes, such as 'E2 98'."
)
@click.option(
    "--script", type=TEXT, metavar="NAME", help="List tokens of this script, such as Latin or partial."
)
@click.option("--longest", is_flag=True, help="List the longest first.")
@click.option("--scripts", is_flag=True, help="Count tokens by script.")
@click.option("--unreachable", is_flag=True, help="List tokens that their own bytes do not give.")
@click.option("--first-use", is_flag=True, help="List the tokens that a sample uses, by their first use.")
@click.option("--unused", is_flag=True, help="List the tokens that a sample never uses.")
@sample_options
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show at most this many, 0 for all; 20 by default, all with --json and --csv.",
)
@click.option("--json", is_flag=True, help="Print JSON.")
@click.option("--csv", is_flag=True, help="Print CSV.")
@page_options
@color_option
def command(
    *,
    tokenizer: str,
    pattern: str | None,
    everything: bool,
    search: str | None,
    regex: str | None,
    hex_: str | None,
    script: str | None,
    longest: bool,
    scripts: bool,
    unreachable: bool,
    first_use: bool,
    unused: bool,
    texts: tuple[str, ...],
    files: tuple[str, ...],
    errors: str,
    limit: int | None,
    json: bool,
    csv: bool,
    html: str | None,
    plot: str | None,
    force: bool,
    color: str,
) -> None:
    """List, search and judge the tokens of a vocabulary.

    Without options it is summed up: sizes, scripts, the longest tokens. --search, --regex, --bytes and
    --script narrow a list down together. A sample of --text or --file shows which tokens are used, and which
    never; a token is unreachable if its own bytes give other tokens.

    \b
    Examples:
      byteloom vocab tok.json
      byteloom vocab tok.json --search ing --longest
      byteloom vocab tok.json --bytes 'E2 98' --json
      byteloom vocab tok.json --file book.txt --unused --limit 0
      byteloom vocab tok.json --unreachable

    Next: `byteloom compare tok.json other.json --file book.txt` puts two side by side.
    """
    ctx = click.get_current_context()
    reports = [
        name for name, on in zip(_REPORTS, (scripts, unreachable, unused, first_use), strict=True) if on
    ]
    listing = everything or longest or any(part is not None for part in (search, regex, hex_, script))
    if len(reports) + listing > 1:
        raise click.UsageError(f"--{reports[0]} goes with no other list", ctx)
    if json and csv:
        raise click.UsageError("--json and --csv exclude each other", ctx)
    named = sample(texts, files)
    if (unused or first_use) and not named:
        raise click.UsageError(f"--{reports[0]} needs a sample: --text or --file", ctx)
    if named and not (unused or first_use):
        raise click.UsageError("a sample needs --first-use or --unused, which say what to do with it", ctx)
    vocab = byteloom.Vocabulary(load_tokenizer(tokenizer, pattern))
    if plot is not None:
        write_plot(plot, lambda: byteloom.plots.token_lengths({shown(tokenizer): vocab}), force=force)
    records: Sequence[Any] | None = None
    if listing:
        records = _listed(vocab, search, regex, hex_, script, longest=longest)
    elif scripts:
        records = vocab.scripts()
    elif unreachable:
        records = vocab.unreachable()
    elif named:
        with sample_faults():
            usage = vocab.usage(named, errors=errors)
        records = usage.never if unused else usage.used
    most = limit if limit is not None else 20 if not (json or csv) else 0
    item = vocab if records is None else records
    if html is not None:
        write_html(
            html, byteloom.render.view(item, limit=most or len(item)), title=shown(tokenizer), force=force
        )
    if json or csv:
        rows = vocab.longest(20) if records is None else records
        _for_programs(vocab, rows[: most or None], summary=records is None, as_csv=csv)
    elif plot is None and html is None:
        colored = wants_color(color)
        click.echo(byteloom.render.terminal(item, color=colored, limit=most or len(item)), color=colored)


def _listed(
    vocab: byteloom.Vocabulary,
    search: str | None,
    regex: str | None,
    hex_: str | None,
    script: str | None,
    *,
    longest: bool,
) -> list[Any]:
    kept = list(vocab)
    for what in (search, _bytes(hex_), _regex(regex)):
        if what is not None:
            found = {entry.id for entry in vocab.search(what)}
            kept = [entry for entry in kept if entry.id in found]
    if script is not None:
        kept = [entry for entry in kept if entry.script.casefold() == script.casefold()]
        if not kept and script.casefold() not in {row.script.casefold() for row in vocab.scripts()}:
            known = ", ".join(row.script for row in vocab.scripts())
            raise click.BadParameter(f"no token is of {script!r}; there are {known}", param_hint="--script")
    return sorted(kept, key=lambda entry: (-len(entry.bytes), entry.bytes)) if longest else kept


def _bytes(hex_: str | None) -> bytes | None:
    if hex_ is None:
        return None
    try:
        return bytes.fromhex(hex_)
    except ValueError:
        raise click.BadParameter(
            f"{hex_!r} is not bytes in hex, such as 'E2 98'", param_hint="--bytes"
        ) from None


def _regex(regex: str | None) -> re.Pattern[str] | None:
    if regex is None:
        return None
    try:
        return re.compile(regex)
    except (re.error, OverflowError, RecursionError) as error:
        raise click.BadParameter(f"{regex!r} is no regex: {error}", param_hint="--regex") from None


def _for_programs(vocab: byteloom.Vocabulary, rows: Sequence[Any], *, summary: bool, as_csv: bool) -> None:
    if as_csv:
        click.echo(byteloom.Vocabulary.to_csv(rows), nl=False)
    elif summary:
        figures = {
            "vocab_size": len(vocab),
            "lengths": {str(size): count for size, count in vocab.lengths().items()},
            "scripts": [row.to_dict() for row in vocab.scripts()],
            "longest": [entry.to_dict() for entry in rows],
        }
        click.echo(jsonlib.dumps(figures, ensure_ascii=False, indent=2))
    else:
        click.echo(jsonlib.dumps([row.to_dict() for row in rows], ensure_ascii=False, indent=1))

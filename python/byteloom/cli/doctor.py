"""`byteloom doctor`: what is wrong with a tokenizer file or a pattern."""

from __future__ import annotations

import errno
import json as jsonlib
import os

import click

import byteloom
from byteloom.cli.files import say, shown
from byteloom.cli.options import SIZE, TEXT

_COLORS = {"error": "red", "warning": "yellow", "note": "blue"}


@click.command("doctor")
@click.argument("target", metavar="FILE|PATTERN", type=click.Path())
@click.option(
    "--embedding-rows",
    type=SIZE,
    metavar="N",
    help="Rows of the model's embedding, to find ids beyond them; a folder's config.json says it too.",
)
@click.option(
    "--pattern",
    type=TEXT,
    metavar="NAME",
    help="Pre-tokenizer pattern, only for a .tiktoken file that is not one of OpenAI's.",
)
@click.option("--json", is_flag=True, help="Print a list of findings as JSON.")
def command(*, target: str, embedding_rows: int | None, pattern: str | None, json: bool) -> None:
    """Look for what is wrong with a tokenizer file, a folder or a pattern.

    Finds missing bytes, tokens that cannot be reached, holes, ids beyond the embedding, special tokens that
    text spells by chance, patterns that lose text, are slow, or mean something else in other engines, and
    chat templates that do not fit. The exit code is 1 if there is an error among the findings.

    \b
    Examples:
      byteloom doctor tokenizer.json
      byteloom doctor my-model/ --embedding-rows 128256
      byteloom doctor '\\w+|\\s+'

    Next: `byteloom verify tokenizer.json --reference tokenizers` compares ids.
    """
    if not os.path.exists(target) and target not in byteloom.pattern_names():
        if pattern is not None or embedding_rows is not None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), target)
        say(f"there is no file {shown(target)}, so it is read as a pattern")
    findings = byteloom.doctor(target, pattern=pattern, embedding_rows=embedding_rows)
    if json:
        click.echo(jsonlib.dumps([finding.to_dict() for finding in findings], indent=2))
    elif not findings:
        click.echo(f"{shown(target)}: nothing found")
    else:
        for finding in findings:
            # click leaves colours out where the output is no terminal.
            severity = click.style(f"{finding.severity:<8}", fg=_COLORS[finding.severity], bold=True)
            click.echo(f"{severity} {finding.code}: {shown(finding.message)}")
            click.echo(f"         {shown(finding.mend)}")
    failed = any(finding.severity == "error" for finding in findings)
    click.get_current_context().exit(1 if failed else 0)

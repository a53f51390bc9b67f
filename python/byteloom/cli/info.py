"""`byteloom info`: what a tokenizer is."""

from __future__ import annotations

import json as jsonlib

import click

from byteloom.cli.options import load_tokenizer, tokenizer_argument


@click.command("info")
@tokenizer_argument
@click.option("--json", is_flag=True, help="Print everything as JSON.")
def command(*, tokenizer: str, pattern: str | None, json: bool) -> None:
    """Show what a tokenizer file holds."""
    tok = load_tokenizer(tokenizer, pattern)
    click.echo(jsonlib.dumps(tok.info(), ensure_ascii=False, indent=2))

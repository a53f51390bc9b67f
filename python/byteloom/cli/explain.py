"""`byteloom explain`: every step from a text to its tokens."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import click

import byteloom
from byteloom.cli.display import wants_color
from byteloom.cli.options import (
    SpecialChoice,
    color_option,
    load_tokenizer,
    source_text,
    special_choice,
    special_options,
    text_options,
    tokenizer_argument,
    write_html,
)
from byteloom.explain import Part


@click.command("explain")
@tokenizer_argument
@click.argument("file", required=False, type=click.Path())
@text_options
@special_options
@click.option("--trees", is_flag=True, help="Show the merge tree of each token too.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="Explain at most this many pre-tokens, 0 for all.",
)
@click.option(
    "--json", is_flag=True, help="Print a line of JSON for each pre-token or special token, of all."
)
@click.option("--html", type=click.Path(), metavar="FILE", help="Write a page of HTML to this file.")
@click.option("--force", is_flag=True, help="Replace an output file that exists.")
@color_option
def command(
    *,
    tokenizer: str,
    pattern: str | None,
    file: str | None,
    text: str | None,
    errors: str,
    raw: bool,
    allowed_special: tuple[str, ...],
    ordinary: bool,
    trees: bool,
    limit: int,
    json: bool,
    html: str | None,
    force: bool,
    color: str,
) -> None:
    """Show how a text becomes tokens.

    For each pre-token: which part of the pattern matched it, the bytes that merging begins with, each merge
    with its rank and the pairs that had to wait, and the tokens that are left. The merges are those of the
    engine.

    \b
    Examples:
      byteloom explain tok.json --text "lowest"
      byteloom explain tok.json --text "lowest" --trees
      byteloom explain tok.json page.txt --html page.html
      byteloom explain tok.json page.txt --json | jq -r .text

    Next: `byteloom compare tok.json other.json --text "lowest"` shows how another tokenizer cuts it.
    """
    tok = load_tokenizer(tokenizer, pattern)
    whole = source_text(file, text, errors=errors, raw=raw)
    special = special_choice(tok, allowed_special, ordinary=ordinary)
    if html is not None:
        strip = byteloom.render.view(tok, whole, allowed_special=special["allowed_special"])
        shown, more = _first(tok.explain_stream(whole, **special), limit or None)
        title = f"From text to tokens: the first {limit} pre-tokens" if more else "From text to tokens"
        parts = byteloom.render.view(shown, limit=len(shown))
        write_html(html, strip, parts, title=title, force=force)
    if json:
        for part in tok.explain_stream(whole, **special):
            click.echo(part.to_json())
    elif html is None:
        _print(tok, whole, special, trees=trees, limit=limit or None, color=wants_color(color))


def _print(
    tok: byteloom.Tokenizer,
    text: str | bytes,
    special: SpecialChoice,
    *,
    trees: bool,
    limit: int | None,
    color: bool,
) -> None:
    allowed = special["allowed_special"]
    click.echo(byteloom.render.terminal(tok, text, color=color, allowed_special=allowed), color=color)
    parts = tok.explain_stream(text, **special)
    for part in islice(parts, limit):
        click.echo("\n" + byteloom.render.terminal(part, color=color, details=trees), color=color)
    if next(parts, None) is not None:
        click.echo("\nand more; --limit 0 explains all")


def _first(parts: Iterator[Part], limit: int | None) -> tuple[list[Part], bool]:
    """The first parts, and whether there are more; what is not shown is not explained."""
    shown = list(islice(parts, limit))
    return shown, next(parts, None) is not None

"""`byteloom compare`: tokenizers side by side."""

from __future__ import annotations

import click

import byteloom
from byteloom.cli.display import wants_color
from byteloom.cli.files import short_names
from byteloom.cli.options import (
    TEXT,
    color_option,
    load_one_of_several,
    page_options,
    sample,
    sample_faults,
    sample_options,
    write_html,
    write_plot,
)


@click.command("compare")
@click.argument("tokenizers", nargs=-1, required=True, type=click.Path(), metavar="TOKENIZER...")
@sample_options
@click.option("--languages", is_flag=True, help="Compare on the same sentences in several languages.")
@click.option(
    "--differences",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Show at most this many places where the cuts differ.",
)
@click.option(
    "--pattern",
    type=TEXT,
    metavar="NAME",
    help="Pre-tokenizer pattern, for files that hold none.",
)
@click.option("--json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--csv", is_flag=True, help="Print the figures of texts as CSV; with --languages, those of languages."
)
@page_options
@click.option(
    "--plot-of",
    type=click.Choice(["languages", "texts", "sizes"]),
    help="What to draw: parity of languages, bytes per token of texts, or these against vocabulary size.",
)
@color_option
def command(
    *,
    tokenizers: tuple[str, ...],
    texts: tuple[str, ...],
    files: tuple[str, ...],
    errors: str,
    languages: bool,
    differences: int,
    pattern: str | None,
    json: bool,
    csv: bool,
    html: str | None,
    plot: str | None,
    plot_of: str | None,
    force: bool,
    color: str,
) -> None:
    """Put tokenizers side by side, on texts and as vocabularies.

    For each text and tokenizer: tokens, bytes and characters per token, tokens per word, and tokens that hold
    only a part of a character. For languages: how many times the tokens of English the same sentences take.
    For vocabularies: what they share. For texts: where they are cut in different places. Texts are read as
    ordinary text. Without a text, languages are compared.

    \b
    Examples:
      byteloom compare small.json large.json --text "A text that matters to you"
      byteloom compare small.json large.json --file book.txt --csv
      byteloom compare a.json b.json c.json --languages --plot languages.svg

    Next: `byteloom explain small.json --text "A text"` shows how it becomes tokens.
    """
    ctx = click.get_current_context()
    if json and csv:
        raise click.UsageError("--json and --csv exclude each other", ctx)
    if plot_of is not None and (plot is None or (plot_of != "languages" and not (texts or files))):
        raise click.UsageError(f"--plot-of {plot_of} needs --plot and something to draw", ctx)
    texts_by_name = sample(texts, files)
    languages = languages or not texts_by_name or plot_of == "languages"
    toks = [load_one_of_several(path, pattern) for path in tokenizers]
    with sample_faults():
        result = byteloom.compare(
            toks,
            texts_by_name,
            names=short_names(tokenizers),
            languages=languages,
            max_differences=differences,
            errors=errors,
        )
    if plot is not None:
        kind = plot_of or ("languages" if languages else "texts")
        write_plot(plot, lambda: getattr(byteloom.plots, kind)(result), force=force)
    if html is not None:
        write_html(html, result, title="Comparison of tokenizers", force=force)
    if json:
        click.echo(result.to_json(indent=2))
    elif csv:
        click.echo(result.to_csv("languages" if languages else "figures"), nl=False)
    elif plot is None and html is None:
        colored = wants_color(color)
        shown_result = byteloom.render.terminal(result, color=colored, limit=max(differences, 1))
        click.echo(shown_result, color=colored)

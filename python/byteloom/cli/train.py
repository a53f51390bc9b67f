"""`byteloom train`: learn a vocabulary from text."""

from __future__ import annotations

import json as jsonlib
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import click

import byteloom
from byteloom.cli.files import as_text, check_output, open_output, read_source, say, shown, source_name
from byteloom.cli.options import SIZE, TEXT, output_options, threads_option


@click.command("train")
@click.argument("files", nargs=-1, type=click.Path())
@output_options(required=True, what="Where the tokenizer is saved.")
@click.option(
    "-n", "--vocab-size", type=SIZE, default=32_000, show_default=True, metavar="N",
    help="Tokens wanted, the 256 bytes and special tokens included; 32k is 32,000.",
)  # fmt: skip
@click.option(
    "--pattern", type=TEXT, default="cl100k", show_default=True, metavar="NAME",
    help=f"How text is cut before merging: {', '.join(byteloom.pattern_names())}, or a regex.",
)  # fmt: skip
@click.option("--special", type=TEXT, multiple=True, metavar="TOKEN", help="Special token; repeatable.")
@click.option(
    "--special-position", type=click.Choice(["last", "first"]), default="last", show_default=True,
    help="Where the ids of special tokens are.",
)  # fmt: skip
@click.option("--bos", type=TEXT, metavar="TOKEN", help="The special token that begins a sequence.")
@click.option("--eos", type=TEXT, metavar="TOKEN", help="The special token that ends a sequence.")
@click.option("--pad", type=TEXT, metavar="TOKEN", help="The special token that fills up padded rows.")
@click.option(
    "--min-frequency", type=SIZE, default=2, show_default=True, metavar="N",
    help="Merge a pair only if it occurs this often.",
)  # fmt: skip
@click.option("--max-token-length", type=SIZE, metavar="N", help="Longest token to learn, in bytes.")
@click.option(
    "--tie-break", type=click.Choice(["smallest_pair", "huggingface", "first_seen"]),
    default="smallest_pair", show_default=True, help="Which of several equally frequent pairs comes first.",
)  # fmt: skip
@click.option(
    "--errors", type=click.Choice(["strict", "replace", "keep"]), default="strict", show_default=True,
    help="Bytes that are not UTF-8: refuse them, put U+FFFD in their place, or keep them as they are.",
)  # fmt: skip
@threads_option
@click.option(
    "--progress/--no-progress", default=None,
    help="Show progress on stderr; by default only where that is a terminal.",
)  # fmt: skip
@click.option("--json", is_flag=True, help="Print the report as JSON on standard output.")
def command(
    *,
    files: tuple[str, ...],
    output: str,
    force: bool,
    special: tuple[str, ...],
    errors: str,
    progress: bool | None,
    json: bool,
    **options: Any,
) -> None:
    """Learn a vocabulary from text and save it.

    Each of FILES is one document of plain text; without FILES, or for `-`, standard input is one document.
    No token crosses the end of a document. The string of a special token in the text ends a document too,
    and is never learned.

    \b
    Examples:
      byteloom train books/*.txt -o tok.json --vocab-size 32k
      byteloom train corpus.txt -o tok.json --pattern o200k \\
          --special '<|endoftext|>' --eos '<|endoftext|>'
      zcat corpus.gz | byteloom train -o tok.json --vocab-size 1k

    Next: `byteloom info tok.json` shows what was learned, `byteloom encode tok.json` uses it.
    """
    if output == "-" and json:
        raise click.UsageError("-o - and --json both want standard output", click.get_current_context())
    check_output(output, force=force)
    for file in files:
        if file != "-":
            # A wrong name among many must not end the run after the first files were read.
            os.stat(file)
    documents = (_stdin(errors) if file == "-" else Path(file) for file in files or ("-",))
    show_progress = progress if progress is not None else sys.stderr is not None and sys.stderr.isatty()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", byteloom.TrainingWarning)
        tok = byteloom.Tokenizer.train(
            documents, special_tokens=special, errors=errors, progress=show_progress or None, **options
        )
    for warning in caught:
        say(f"warning: {warning.message}")
    with open_output(output, force=force) as write:
        write(tok.to_bytes())
    _report(tok, output, json=json)


def _stdin(errors: str) -> str | bytes:
    data = read_source(None)
    if errors == "keep":
        return data
    return as_text(
        data, source_name(None), errors=errors, otherwise="--errors keep takes the bytes as they are"
    )


def _report(tok: byteloom.Tokenizer, output: str, *, json: bool) -> None:
    report = tok.training_report or {}
    if json:
        whole = {"file": output, "vocab_size": tok.vocab_size, "fingerprint": tok.fingerprint, **report}
        click.echo(jsonlib.dumps(whole, ensure_ascii=False, indent=2))
        return
    documents = report["documents"]
    where = "standard output" if output == "-" else shown(output)
    for line in (
        f"read     {report['bytes']:,} bytes in {documents:,} document{'s' * (documents != 1)}",
        f"counted  {report['pretokens']:,} pre-tokens, {report['unique_pretokens']:,} of them different",
        f"learned  {report['merges']:,} merges in {report['seconds']['total']:.2f} s",
        f"saved    {tok.vocab_size:,} tokens in {where}",
    ):
        say(line, prefix="")

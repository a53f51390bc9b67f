"""`byteloom extend`: more tokens for a vocabulary, learned from text."""

from __future__ import annotations

import json as jsonlib
from typing import Any

import click

import byteloom
from byteloom.cli.changing import check_outputs
from byteloom.cli.files import open_output, say, shown
from byteloom.cli.options import SIZE, load_tokenizer, output_options, threads_option, tokenizer_argument
from byteloom.cli.reading import (
    in_words_of_options,
    learning_options,
    open_documents,
    progress_option,
    reading_options,
    say_what_is_missing,
    split_reading,
    wants_progress,
    warnings_said,
)


@click.command("extend")
@tokenizer_argument
@click.argument("files", nargs=-1, type=click.Path())
@output_options(required=True, what="Where the new tokenizer is saved.")
@click.option(
    "-n", "--vocab-size", type=SIZE, required=True, metavar="N",
    help="Tokens wanted, those that are there included; 32k is 32,000.",
)  # fmt: skip
@learning_options
@reading_options
@click.option("--strict", is_flag=True, help="Fail where the text gives fewer tokens than asked for.")
@threads_option
@progress_option
@click.option("--json", is_flag=True, help="Print the report as JSON on standard output.")
def command(
    *,
    tokenizer: str,
    pattern: str | None,
    files: tuple[str, ...],
    output: str,
    force: bool,
    vocab_size: int,
    progress: bool | None,
    json: bool,
    **options: Any,
) -> None:
    """Learn more tokens from text for a vocabulary that is there.

    Training goes on where that of TOKENIZER ended; FILES are read as by `byteloom train`. No id moves: new
    tokens get the ids after the largest, also where that is a special token.

    \b
    Examples:
      byteloom extend tok.json medicine.txt -o more.json --vocab-size 40k
      byteloom extend cl100k_base.tiktoken shards/ -o more.json -n 110k --field content

    Next: `byteloom compare tok.json more.json --file other.txt` shows what the new tokens gain.
    """
    check_outputs(output, None, json=json, force=force)
    tok = load_tokenizer(tokenizer, pattern)
    reading, learning = split_reading(options)
    documents = open_documents(files, reading)
    with warnings_said(), in_words_of_options():
        more = tok.extend(
            documents, vocab_size, errors=reading["errors"], progress=wants_progress(progress), **learning
        )
    say_what_is_missing(documents)
    with open_output(output, force=force) as write:
        write(more.to_bytes())
    _report(tok, more, documents, output, json=json)


def _report(
    tok: byteloom.Tokenizer,
    more: byteloom.Tokenizer,
    read: byteloom.Documents,
    output: str,
    *,
    json: bool,
) -> None:
    report = more.training_report or {}
    if json:
        whole = {"file": output, "vocab_size": more.vocab_size, "fingerprint": more.fingerprint, **report}
        whole["reading"] = read.stats.to_dict()
        click.echo(jsonlib.dumps(whole, ensure_ascii=False, indent=2))
        return
    documents, first = report["documents"], tok.max_token_id + 1
    ids = f", ids {first:,} to {more.max_token_id:,}" if report["merges"] else ""
    for line in (
        f"read     {report['bytes']:,} bytes in {documents:,} document{'s' * (documents != 1)}",
        f"learned  {report['merges']:,} merges in {report['seconds']['total']:.2f} s{ids}",
        f"saved    {more.vocab_size:,} tokens in {'standard output' if output == '-' else shown(output)}",
    ):
        say(line, prefix="")

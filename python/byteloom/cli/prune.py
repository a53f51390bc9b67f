"""`byteloom prune`: a vocabulary without the tokens that a text does not use."""

from __future__ import annotations

from typing import Any

import click

import byteloom
from byteloom.cli.changing import check_outputs, map_option, write_change
from byteloom.cli.files import as_text, read_source, source_name
from byteloom.cli.options import SIZE, load_tokenizer, output_options, threads_option, tokenizer_argument
from byteloom.cli.reading import (
    in_words_of_options,
    open_documents,
    progress_option,
    reading_options,
    say_what_is_missing,
    split_reading,
    wants_progress,
)

# Of a number that may be an id.
_MOST_DIGITS = 10


@click.command("prune")
@tokenizer_argument
@click.argument("files", nargs=-1, type=click.Path())
@output_options(required=True, what="Where the new tokenizer is saved.")
@click.option(
    "-n", "--vocab-size", type=SIZE, metavar="N",
    help="Drop the least used tokens until so many are left; by default all that are never used go.",
)  # fmt: skip
@click.option(
    "--keep", type=click.Path(), metavar="FILE",
    help="Instead of a text: a file of the ids to keep, with white space between them.",
)  # fmt: skip
@map_option
@reading_options
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
    vocab_size: int | None,
    keep: str | None,
    map_file: str | None,
    threads: int | None,
    progress: bool | None,
    json: bool,
    **options: Any,
) -> None:
    """Drop the tokens that a text does not use.

    FILES are read as by `byteloom train`. Bytes and special tokens stay, and so do tokens that a kept one is
    made of. The ids of the text are the old ones, renamed: --map says how, for tables of embeddings.

    \b
    Examples:
      byteloom prune tok.json corpus.txt -o small.json --map ids.npy
      byteloom prune cl100k_base.tiktoken shards/ -o small.json --vocab-size 32k
      byteloom encode tok.json book.txt | byteloom prune tok.json -o small.json --keep -

    Next: `byteloom compare tok.json small.json --file book.txt` shows what was lost on other text.
    """
    check_outputs(output, map_file, json=json, force=force)
    if keep is not None and (files or vocab_size is not None):
        raise click.UsageError(
            "--keep says what stays, so FILES and --vocab-size do not go with it", click.get_current_context()
        )
    tok = load_tokenizer(tokenizer, pattern)
    if keep is not None:
        change = tok.prune(keep=_ids(keep))
    else:
        reading, _ = split_reading(options)
        documents = open_documents(files, reading)
        with in_words_of_options():
            change = tok.prune(
                data=documents, vocab_size=vocab_size, errors=reading["errors"], threads=threads,
                progress=wants_progress(progress),
            )  # fmt: skip
        say_what_is_missing(documents)
    write_change(change, output, map_file, json=json, force=force)


def _ids(path: str) -> list[int]:
    name = source_name(path)
    words = as_text(read_source(path), name, errors="strict", advice="ids are digits").split()
    for place, word in enumerate(words):
        if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
            raise byteloom.FormatError(f"{name}: item {place}, {word[:40]!r}, is no id")
    return [int(word) for word in words]

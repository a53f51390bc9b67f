"""`byteloom train`: learn a vocabulary from text."""

from __future__ import annotations

import json as jsonlib
from typing import Any

import click

import byteloom
from byteloom.cli.files import as_text, check_output, open_output, read_source, say, shown, source_name
from byteloom.cli.options import SIZE, TEXT, output_options, threads_option
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
from byteloom.cli.sizes import SIZES, Size, check_sizes, draw, table, write_sizes


@click.command("train")
@click.argument("files", nargs=-1, type=click.Path())
@output_options(required=True, what="Where the tokenizer is saved.")
@click.option(
    "-n", "--vocab-size", type=SIZE, default=32_000, show_default=True, metavar="N",
    help="Tokens wanted, the 256 bytes and special tokens included; 32k is 32,000.",
)  # fmt: skip
@click.option(
    "--sizes", type=SIZES, metavar="N,N,…",
    help="Train once and save a vocabulary of each size, such as 1k,4k,16k, as tok-1k.json and so on.",
)  # fmt: skip
@click.option(
    "--held-out", type=click.Path(), multiple=True, metavar="FILE",
    help="With --sizes: show bytes per token of this text; repeatable.",
)  # fmt: skip
@click.option(
    "--plot", type=click.Path(), metavar="FILE",
    help="With --held-out: draw the sizes to this .png or .svg file; needs matplotlib.",
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
@click.option(
    "--seed-token", "seed_tokens", type=TEXT, multiple=True, metavar="TOKEN",
    help="A string that must become a token, whatever the text says; repeatable.",
)  # fmt: skip
@click.option(
    "--seed-tokens", "seed_file", type=click.Path(), metavar="FILE",
    help="A file of such strings, one a line; a leading space belongs to the string.",
)  # fmt: skip
@click.option("--bos", type=TEXT, metavar="TOKEN", help="The special token that begins a sequence.")
@click.option("--eos", type=TEXT, metavar="TOKEN", help="The special token that ends a sequence.")
@click.option("--pad", type=TEXT, metavar="TOKEN", help="The special token that fills up padded rows.")
@learning_options
@reading_options
@click.option("--strict", is_flag=True, help="Fail where the text gives fewer tokens than asked for.")
@threads_option
@progress_option
@click.option("--json", is_flag=True, help="Print the report as JSON on standard output.")
def command(
    *,
    files: tuple[str, ...],
    output: str,
    force: bool,
    vocab_size: int,
    sizes: list[tuple[str, int]] | None,
    held_out: tuple[str, ...],
    plot: str | None,
    special: tuple[str, ...],
    seed_tokens: tuple[str, ...],
    seed_file: str | None,
    progress: bool | None,
    json: bool,
    **options: Any,
) -> None:
    """Learn a vocabulary from text and save it.

    FILES are text, one document each, or .jsonl or .parquet, where each line or row is one; packed (.gz,
    .zst, .bz2, .xz) or not. A folder stands for such files in it, a quoted glob for what it matches. Without
    FILES, or for `-`, standard input is read. No token crosses the end of a document. The string of a special
    token in the text ends a document too, and is never learned.

    \b
    Examples:
      byteloom train books/*.txt -o tok.json --vocab-size 32k
      byteloom train corpus.txt -o tok.json --pattern o200k \\
          --special '<|endoftext|>' --eos '<|endoftext|>'
      byteloom train shards/ -o tok.json --field content --sample 0.1 --max-bytes 2G
      byteloom train corpus.txt -o tok.json --sizes 1k,4k,16k,32k --held-out other.txt
      byteloom train corpus.txt -o tok.json --seed-token ' Kubernetes'

    Next: `byteloom info tok.json` shows what was learned, `byteloom encode tok.json` uses it.
    """
    if output == "-" and json:
        raise click.UsageError("-o - and --json both want standard output", click.get_current_context())
    if sizes is None:
        if held_out or plot is not None:
            raise click.UsageError("--held-out and --plot belong to --sizes", click.get_current_context())
        check_output(output, force=force)
    else:
        if seed_tokens or seed_file is not None:
            message = "seed tokens come last, so smaller sizes would lose them: train each size by itself"
            raise click.UsageError(message, click.get_current_context())
        check_sizes(output, sizes, 256 + len(special), held_out, plot, force=force)
        vocab_size = max(size for _, size in sizes)
    if seed_file == "-" and (not files or "-" in files):
        message = "--seed-tokens - and the text both want standard input; name FILES"
        raise click.UsageError(message, click.get_current_context())
    # A wrong name among many ends the run here, and not after the first files were read.
    reading, learning = split_reading(options)
    seeds = [*seed_tokens, *(_lines(seed_file) if seed_file is not None else ())]
    documents = open_documents(files, reading)
    other = None
    if held_out:
        other = byteloom.documents(held_out, **{key: reading[key] for key in ("field", "column", "errors")})
    with warnings_said(), in_words_of_options():
        tok = byteloom.Tokenizer.train(
            documents, vocab_size, special_tokens=special, seed_tokens=seeds, errors=reading["errors"],
            progress=wants_progress(progress), **learning,
        )  # fmt: skip
    say_what_is_missing(documents)
    rows = None
    if sizes is None:
        with open_output(output, force=force) as write:
            write(tok.to_bytes())
    else:
        with in_words_of_options():
            rows = write_sizes(tok, output, sizes, other, force=force)
    _report(tok, documents, output, rows, json=json)
    if rows is not None and plot is not None:
        draw(plot, rows, force=force)


def _lines(path: str) -> list[str]:
    """The lines of a file that are not empty."""
    text = as_text(
        read_source(path), source_name(path), errors="strict", advice="seed tokens of a file are text"
    )
    text = text.removeprefix("\ufeff")  # a byte order mark belongs to the file, not to its first token
    return [line for line in text.replace("\r\n", "\n").split("\n") if line]


def _report(
    tok: byteloom.Tokenizer,
    read: byteloom.Documents,
    output: str,
    sizes: list[Size] | None,
    *,
    json: bool,
) -> None:
    report = tok.training_report or {}
    if json:
        whole = {"file": output, "vocab_size": tok.vocab_size, "fingerprint": tok.fingerprint, **report}
        whole["reading"] = read.stats.to_dict()
        if sizes is not None:
            whole["sizes"] = [size.to_dict() for size in sizes]
            del whole["file"]
        click.echo(jsonlib.dumps(whole, ensure_ascii=False, indent=2))
        return
    documents, left_out = report["documents"], ""
    if read.stats.not_sampled:
        left_out += f", {read.stats.not_sampled:,} not in the sample"
    if read.stats.limited:
        left_out += ", ended by --max-bytes"
    saved = f"{tok.vocab_size:,} tokens in {'standard output' if output == '-' else shown(output)}"
    if sizes is not None:
        saved = f"{len(sizes)} vocabular{'ies' if len(sizes) != 1 else 'y'}"
    for line in (
        f"read     {report['bytes']:,} bytes in {documents:,} document{'s' * (documents != 1)}{left_out}",
        f"counted  {report['pretokens']:,} pre-tokens, {report['unique_pretokens']:,} of them different",
        f"learned  {report['merges']:,} merges in {report['seconds']['total']:.2f} s",
        f"saved    {saved}",
    ):
        say(line, prefix="")
    if sizes is not None:
        click.echo(table(sizes))

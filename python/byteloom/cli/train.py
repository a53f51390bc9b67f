"""`byteloom train`: learn a vocabulary from text."""

from __future__ import annotations

import json as jsonlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

import byteloom
from byteloom.cli.files import check_output, open_output, say, shown
from byteloom.cli.options import SIZE, TEXT, output_options, threads_option
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
@click.option(
    "--format", "form", metavar="NAME",
    help="text, jsonl or parquet, where the endings of the files do not say so; jsonl.gz if packed.",
)  # fmt: skip
@click.option(
    "--field", type=TEXT, default="text", show_default=True, metavar="NAME", help="Field of JSON lines."
)
@click.option(
    "--column", type=TEXT, default="text", show_default=True, metavar="NAME", help="Column of tables."
)
@click.option(
    "--separator", type=TEXT, metavar="STRING",
    help=r"What ends a document in text files, and is part of none; \n and \t are understood.",
)  # fmt: skip
@click.option("--max-bytes", type=SIZE, metavar="N", help="Stop after so many bytes of text, such as 2G.")
@click.option(
    "--sample", type=click.FloatRange(0, 1, min_open=True), metavar="SHARE",
    help="Learn from this share of the documents only, such as 0.1.",
)  # fmt: skip
@click.option(
    "--seed", type=int, default=0, show_default=True, metavar="N", help="Another number, another sample."
)
@click.option(
    "--on-error", type=click.Choice(["raise", "skip"]), default="raise", show_default=True,
    help="Faulty lines, rows and files: stop there, or count them and go on.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Fail where the text gives fewer tokens than asked for.")
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
    vocab_size: int,
    sizes: list[tuple[str, int]] | None,
    held_out: tuple[str, ...],
    plot: str | None,
    special: tuple[str, ...],
    errors: str,
    form: str | None,
    field: str,
    column: str,
    separator: str | None,
    max_bytes: int | None,
    sample: float | None,
    seed: int,
    on_error: str,
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

    Next: `byteloom info tok.json` shows what was learned, `byteloom encode tok.json` uses it.
    """
    if output == "-" and json:
        raise click.UsageError("-o - and --json both want standard output", click.get_current_context())
    if sizes is None:
        if held_out or plot is not None:
            raise click.UsageError("--held-out and --plot belong to --sizes", click.get_current_context())
        check_output(output, force=force)
    else:
        check_sizes(output, sizes, 256 + len(special), held_out, plot, force=force)
        vocab_size = max(size for _, size in sizes)
    # A wrong name among many ends the run here, and not after the first files were read.
    documents = byteloom.documents(
        files or "-", format=form, field=field, column=column, separator=_unescaped(separator),
        max_bytes=max_bytes, sample=sample, seed=seed, errors=errors, on_error=on_error,
    )  # fmt: skip
    other = byteloom.documents(held_out, field=field, column=column, errors=errors) if held_out else None
    if "-" in documents.files and sys.stdin is not None and sys.stdin.isatty():
        say("reading the terminal; end with Ctrl-D on a line of its own")
    show_progress = progress if progress is not None else sys.stderr is not None and sys.stderr.isatty()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", byteloom.TrainingWarning)
        with _in_words_of_options():
            tok = byteloom.Tokenizer.train(
                documents, vocab_size, special_tokens=special, errors=errors, progress=show_progress or None,
                **options,
            )  # fmt: skip
    for warning in caught:
        say(f"warning: {warning.message}")
    _say_what_is_missing(documents)
    rows = None
    if sizes is None:
        with open_output(output, force=force) as write:
            write(tok.to_bytes())
    else:
        with _in_words_of_options():
            rows = write_sizes(tok, output, sizes, other, options=options, force=force)
    _report(tok, documents, output, rows, json=json)
    if rows is not None and plot is not None:
        draw(plot, rows, force=force)


def _unescaped(separator: str | None) -> str | None:
    return separator and separator.replace("\\n", "\n").replace("\\t", "\t")


@contextmanager
def _in_words_of_options() -> Iterator[None]:
    """Put the options of the command into errors that speak of arguments of the library."""
    try:
        yield
    except ImportError as error:
        raise click.ClickException(str(error)) from None
    except byteloom.ByteloomError as error:
        message = str(error).replace("on_error='skip'", "--on-error skip")
        message = message.replace("errors='replace' or 'keep'", "--errors replace or keep")
        raise type(error)(message) from None


def _say_what_is_missing(documents: byteloom.Documents) -> None:
    stats = documents.stats
    if stats.skipped:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in sorted(stats.reasons.items()))
        say(f"warning: {stats.skipped:,} skipped ({reasons}); the first: {shown(stats.faults[0])}")
    if documents.ignored:
        number = len(documents.ignored)
        say(
            f"{number:,} file{'s' * (number != 1)} in folders not read because of the ending, "
            f"such as {shown(documents.ignored[0])}"
        )


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

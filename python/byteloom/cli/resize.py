"""`byteloom resize`: a smaller vocabulary from the first merges of a large one."""

from __future__ import annotations

import click

from byteloom.cli.changing import check_outputs, map_option, write_change
from byteloom.cli.options import SIZE, load_tokenizer, output_options, tokenizer_argument


@click.command("resize")
@tokenizer_argument
@output_options(required=True, what="Where the new tokenizer is saved.")
@click.option(
    "-n", "--vocab-size", type=SIZE, required=True, metavar="N",
    help="Tokens wanted, bytes and special tokens included; 32k is 32,000.",
)  # fmt: skip
@map_option
@click.option("--json", is_flag=True, help="Print the report as JSON on standard output.")
def command(
    *,
    tokenizer: str,
    pattern: str | None,
    output: str,
    force: bool,
    vocab_size: int,
    map_file: str | None,
    json: bool,
) -> None:
    """Make a smaller vocabulary of the first merges of a large one.

    The merges of a small vocabulary are the first of a large one, so the result is what training to that size
    gives. Special tokens stay, and move up to the other tokens.

    \b
    Examples:
      byteloom resize tok.json -o small.json --vocab-size 4k
      byteloom resize cl100k_base.tiktoken -o cl50k.json -n 50k --map ids.npy

    Next: `byteloom compare tok.json small.json --file book.txt` shows what the smaller one costs.
    """
    check_outputs(output, map_file, json=json, force=force)
    change = load_tokenizer(tokenizer, pattern).resized(vocab_size)
    write_change(change, output, map_file, json=json, force=force)

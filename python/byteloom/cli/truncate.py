"""`byteloom truncate`: the beginning of a text that fits into a number of tokens."""

from __future__ import annotations

import click

from byteloom.cli.files import check_output, open_output
from byteloom.cli.options import (
    SIZE,
    load_tokenizer,
    output_options,
    source_text,
    special_choice,
    special_options,
    text_options,
    tokenizer_argument,
)


@click.command("truncate")
@tokenizer_argument
@click.argument("file", required=False, type=click.Path())
@click.option("-n", "--max-tokens", type=SIZE, required=True, metavar="N", help="Most tokens to keep.")
@text_options
@special_options
@output_options(required=False, what="Write here instead of to standard output.")
def command(
    *,
    tokenizer: str,
    pattern: str | None,
    file: str | None,
    max_tokens: int,
    text: str | None,
    errors: str,
    raw: bool,
    allowed_special: tuple[str, ...],
    ordinary: bool,
    output: str | None,
    force: bool,
) -> None:
    """Keep the longest beginning of a text that fits into N tokens.

    Reads FILE, --text or standard input and writes the beginning, never ending within a character. A text
    that fits is written as it is.

    \b
    Examples:
      byteloom truncate tok.json -n 1000 prompt.txt
      byteloom truncate tok.json -n 4k prompt.txt -o short.txt
      byteloom truncate tok.json -n 5 --text "The quick brown fox jumps over the lazy dog."

    Next: `byteloom count tok.json short.txt` counts what is left.
    """
    check_output(output, force=force)
    tok = load_tokenizer(tokenizer, pattern)
    special = special_choice(tok, allowed_special, ordinary=ordinary)
    whole = source_text(file, text, errors=errors, raw=raw)
    with open_output(output, force=force) as write:
        if isinstance(whole, str):
            write(tok.truncate(whole, max_tokens, **special).encode())
        else:
            write(tok.truncate(whole, max_tokens, **special))

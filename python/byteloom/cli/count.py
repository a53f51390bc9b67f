"""`byteloom count`: how many tokens a text has."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Iterator

import click

import byteloom
from byteloom.cli.files import as_text, read_source, source_name
from byteloom.cli.options import (
    SpecialChoice,
    fault_of,
    load_tokenizer,
    source_text,
    special_choice,
    special_options,
    text_options,
    threads_option,
    tokenizer_argument,
)

# Files are counted together, so that threads have work, as long as they fit in this many bytes.
_TOGETHER = 64 << 20


@click.command("count")
@tokenizer_argument
@click.argument("files", nargs=-1, type=click.Path())
@text_options
@special_options
@click.option("--json", is_flag=True, help="Print an object with 'files' and 'total'.")
@threads_option
def command(
    *,
    tokenizer: str,
    pattern: str | None,
    files: tuple[str, ...],
    text: str | None,
    errors: str,
    raw: bool,
    allowed_special: tuple[str, ...],
    ordinary: bool,
    json: bool,
    threads: int | None,
) -> None:
    """Count the tokens of each file, and of all together.

    Reads FILES, --text or standard input and prints tokens, bytes, and bytes per token: the more bytes a
    token stands for, the better the vocabulary fits the text.

    \b
    Examples:
      byteloom count tok.json books/*.txt
      byteloom count tok.json --text "How many tokens is this?"
      byteloom count tok.json prompt.txt --json | jq .total.tokens

    Next: `byteloom truncate tok.json -n 1000` cuts a text that is too long.
    """
    if text is not None and files:
        raise click.UsageError("give FILES or --text, not both", click.get_current_context())
    tok = load_tokenizer(tokenizer, pattern)
    special = special_choice(tok, allowed_special, ordinary=ordinary)
    if text is not None:
        whole = source_text(None, text, errors=errors, raw=raw)
        batches = iter([[("--text", whole)]])
    else:
        batches = _batches(files or ("-",), errors=errors, raw=raw)
    counted: list[tuple[str, int, int]] = []
    for batch in batches:
        tokens = _count(tok, batch, special, threads)
        counted += [(name, count, _size(text)) for (name, text), count in zip(batch, tokens, strict=True)]
    total = ("total", sum(row[1] for row in counted), sum(row[2] for row in counted))
    if json:
        files_figures = [{"name": name, **_figures(tokens, size)} for name, tokens, size in counted]
        figures = {"files": files_figures, "total": _figures(*total[1:])}
        click.echo(jsonlib.dumps(figures, ensure_ascii=False, indent=2))
    else:
        click.echo(_table([*counted, total] if len(counted) > 1 else counted))


def _batches(files: tuple[str, ...], *, errors: str, raw: bool) -> Iterator[list[tuple[str, str | bytes]]]:
    batch: list[tuple[str, str | bytes]] = []
    held = 0
    for file in files:
        data = read_source(file)
        name = source_name(file)
        batch.append((name, data if raw else as_text(data, name, errors=errors)))
        held += len(data)
        if held >= _TOGETHER:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _count(
    tok: byteloom.Tokenizer,
    batch: list[tuple[str, str | bytes]],
    special: SpecialChoice,
    threads: int | None,
) -> list[int]:
    try:
        return tok.count_batch([text for _, text in batch], **special, threads=threads)
    except byteloom.ByteloomError:
        # Once more, one by one, to name the file at fault.
        for name, text in batch:
            with fault_of(name):
                tok.count(text, **special)
        raise


def _size(text: str | bytes) -> int:
    return len(text.encode() if isinstance(text, str) else text)


def _figures(tokens: int, size: int) -> dict[str, int | float | None]:
    return {
        "tokens": tokens,
        "bytes": size,
        "bytes_per_token": round(size / tokens, 4) if tokens else None,
    }


def _table(rows: list[tuple[str, int, int]]) -> str:
    cells = [("tokens", "bytes", "bytes/token", "")]
    for name, tokens, size in rows:
        cells.append((str(tokens), str(size), f"{size / tokens:.2f}" if tokens else "-", name))
    widths = [max(len(row[column]) for row in cells) for column in range(3)]
    return "\n".join(
        "  ".join([*(row[column].rjust(widths[column]) for column in range(3)), row[3]]).rstrip()
        for row in cells
    )

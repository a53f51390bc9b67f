"""`byteloom info`: what a tokenizer is."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Iterator

import click

import byteloom
from byteloom.cli.display import plain_text, plain_token
from byteloom.cli.files import shown
from byteloom.cli.options import load_tokenizer, tokenizer_argument

# More of these than this are only counted.
_SPECIAL = 16
_LONGEST = 6
_MERGES = 10
# A longer token is shortened to this many characters.
_WIDEST = 30


@click.command("info")
@tokenizer_argument
@click.option("--json", is_flag=True, help="Print all figures as JSON.")
def command(*, tokenizer: str, pattern: str | None, json: bool) -> None:
    """Show what a tokenizer file holds.

    Its size, pattern and special tokens, what it was trained on, its first merges and longest tokens, and
    its fingerprint: two tokenizers with the same fingerprint give the same ids.

    \b
    Examples:
      byteloom info tok.json
      byteloom info cl100k_base.tiktoken
      byteloom info tok.json --json | jq .special_tokens

    Next: `byteloom encode tok.json --show --text "Any text"` shows it at work.
    """
    tok = load_tokenizer(tokenizer, pattern)
    if json:
        click.echo(jsonlib.dumps(tok.info(), ensure_ascii=False, indent=2))
        return
    click.echo(shown(tokenizer))
    for name, text in _rows(tok):
        click.echo(f"  {name:<15} {text}")


def _rows(tok: byteloom.Tokenizer) -> Iterator[tuple[str, str]]:
    info = tok.info()
    special = tok.special_tokens
    yield "vocabulary", f"{tok.vocab_size:,} tokens, ids 0 to {tok.max_token_id}"
    pattern = info["pattern_name"] or plain_text(info["pattern"])
    yield "pattern", f"{pattern} ({info['pattern_engine']}, Unicode {info['unicode']})"
    roles = {"bos": tok.bos_id, "eos": tok.eos_id, "pad": tok.pad_id}
    rows = sorted((id_, name) for name, id_ in special.items())
    for place, (id_, name) in enumerate(rows[:_SPECIAL]):
        role = ", ".join(role for role, of in roles.items() if of == id_)
        yield (
            "" if place else "special tokens",
            f"{id_}  {plain_text(name)}{f'  ({role})' * bool(role)}",
        )
    if len(rows) > _SPECIAL:
        yield "", f"and {len(rows) - _SPECIAL:,} more"
    report = tok.training_report
    if report:
        documents = report["documents"]
        yield "trained on", f"{report['bytes']:,} bytes in {documents:,} document{'s' * (documents != 1)}"
    merges = [plain_token(tok.id_to_bytes(a) + tok.id_to_bytes(b)) for a, b in tok.merges[:_MERGES]]
    if merges:
        yield "first merges", "  ".join(merges)
    longest = byteloom.Vocabulary(tok).longest(_LONGEST)
    yield "longest tokens", "  ".join(_short(entry.bytes) for entry in longest)
    yield "fingerprint", tok.fingerprint


def _short(token: bytes) -> str:
    text = plain_token(token)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 10]}…' ({len(token)} bytes)"

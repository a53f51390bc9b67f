"""`byteloom verify`: whether two tokenizers give the same ids."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Iterator

import click

import byteloom
from byteloom.cli.display import plain_token
from byteloom.cli.files import shown
from byteloom.cli.options import TEXT, AnyPath, load_one_of_several

__all__ = ["command", "compared", "difference_lines", "reference_of"]

_REFERENCES = ("tokenizers", "tiktoken", "sentencepiece")


@click.command("verify")
@click.argument("a", type=click.Path())
@click.argument("b", type=click.Path(), required=False)
@click.option(
    "--reference",
    type=click.Choice(_REFERENCES),
    help="Read B (or A, if it is alone) with this library, which must be installed.",
)
@click.option(
    "--text",
    "texts",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Compare on the beginning (4 MiB) of this file too; may be given several times.",
)
@click.option(
    "--pattern",
    type=TEXT,
    metavar="NAME",
    help="Pre-tokenizer pattern, for files that hold none.",
)
@click.option(
    "--special",
    "special",
    multiple=True,
    type=TEXT,
    metavar="NAME=ID",
    help="Special token of files that hold none; may be given several times.",
)
@click.option("--json", is_flag=True, help="Print the report as JSON.")
def command(
    *,
    a: str,
    b: str | None,
    reference: str | None,
    texts: tuple[str, ...],
    pattern: str | None,
    special: tuple[str, ...],
    json: bool,
) -> None:
    """Check that two tokenizer files give the same ids.

    Both encode texts that implementations are known to differ on, texts around their special tokens, random
    texts, and the files of --text. The first difference is made small and shown with its pre-tokens and
    ids. The exit code is 0 if there is none, and 1 if there is one.

    \b
    Examples:
      byteloom verify tok.json tokenizer.json
      byteloom verify tokenizer.json --reference tokenizers --text book.txt
      byteloom verify cl100k_base.tiktoken --reference tiktoken --json
      byteloom verify tok.json ranks.tiktoken --pattern gpt2 --special '<|end|>=5000'

    Next: `byteloom doctor tokenizer.json` says what else may be wrong with a file.
    """
    ctx = click.get_current_context()
    if b is None and reference is None:
        raise click.UsageError("name a second tokenizer, or a library with --reference", ctx)
    specials = dict(_named_id(text) for text in special) or None
    tok = load_one_of_several(a, pattern, specials)
    other: byteloom.Tokenizer | byteloom.Reference
    if reference is None:
        other, name = load_one_of_several(str(b), pattern, specials), shown(str(b))
    else:
        other = reference_of(reference, b or a, tok if b is None else None, pattern)
        name = shown(other.name)
    report = byteloom.verify(tok, other, texts=[AnyPath(text) for text in texts])
    if json:
        click.echo(jsonlib.dumps(report.to_dict(), ensure_ascii=True, indent=2))
    else:
        click.echo("\n".join(_lines(report, shown(a), name)))
    ctx.exit(0 if report else 1)


def _named_id(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not name or not number.isdecimal():
        raise click.BadParameter(f"{text!r} is not NAME=ID, such as '<|end|>=5000'", param_hint="--special")
    return name, int(number)


def reference_of(
    library: str, path: str, tok: byteloom.Tokenizer | None, pattern: str | None
) -> byteloom.Reference:
    """A file as `library` reads it; `tok` supplies what a .tiktoken file does not hold."""
    try:
        if library == "tiktoken":
            regex, special = (pattern, None) if tok is None else (tok.pattern, tok.special_tokens)
            return byteloom.reference(library, path, pattern=regex, special_tokens=special)
        return byteloom.reference(library, path)
    except ImportError as error:
        raise click.ClickException(str(error)) from None


def _lines(report: byteloom.VerifyReport, a: str, b: str) -> Iterator[str]:
    if report:
        yield f"equal: {a} and {b}"
    else:
        yield f"different: {a} and {b}"
        yield from difference_lines(report)
    yield compared(report)


def compared(report: byteloom.VerifyReport) -> str:
    """What was compared, as one line."""
    special = "as special tokens" if report.special_tokens else "as ordinary text"
    return (
        f"  compared       {report.texts:,} texts, {report.bytes:,} bytes, {report.tokens:,} tokens; "
        f"special tokens in texts read {special}"
    )


def difference_lines(report: byteloom.VerifyReport) -> Iterator[str]:
    """The first difference, for people."""
    found = report.first_difference
    if found is None:
        return
    yield f"  found in       {shown(found.source)}"
    yield f"  text           {_quoted(found.text)}"
    for side, pretokens, ids in (
        ("first", found.pretokens_a, found.ids_a),
        ("second", found.pretokens_b, found.ids_b),
    ):
        pieces = "not shown by it" if pretokens is None else "  ".join(map(_quoted, pretokens))
        yield f"  {side + ':':<8}pre-tokens  {pieces}"
        yield f"  {'':<8}ids         {' '.join(map(str, ids))}"


def _quoted(text: str) -> str:
    return plain_token(text.encode("utf-8", "surrogatepass"))

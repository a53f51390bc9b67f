"""`byteloom convert`: a tokenizer from one format into another, proven equal."""

from __future__ import annotations

import os

import click

import byteloom
from byteloom.cli.files import check_output, say, shown
from byteloom.cli.options import load_tokenizer, tokenizer_argument
from byteloom.cli.verify import compared, difference_lines, reference_of

_FORMATS = ("native", "tiktoken", "huggingface", "gpt2")
# The library that a format was made for, where it can read the file on its own.
_LIBRARIES = {"tiktoken": "tiktoken", "huggingface": "tokenizers"}


@click.command("convert")
@tokenizer_argument
@click.argument("output", type=click.Path())
@click.option(
    "--to",
    "format_",
    type=click.Choice(_FORMATS),
    help="Format to write. By default the name says it: .tiktoken is tiktoken's, tokenizer.json and a folder "
    "are Hugging Face's, any other .json is byteloom's own.",
)
@click.option("--lossy", is_flag=True, help="Write it even if the format cannot hold all of the tokenizer.")
@click.option("--no-verify", is_flag=True, help="Do not compare what was written with the original.")
@click.option("--force", is_flag=True, help="Replace output that exists.")
def command(
    *,
    tokenizer: str,
    pattern: str | None,
    output: str,
    format_: str | None,
    lossy: bool,
    no_verify: bool,
    force: bool,
) -> None:
    """Write a tokenizer in another format, and prove that its ids are the same.

    What a format cannot hold is listed and refused, unless --lossy. The result is read again, by byteloom
    and by the library of that format if it is installed, and compared with the original on hard and random
    texts. The exit code is 1 if they differ.

    \b
    Examples:
      byteloom convert tok.json tokenizer.json
      byteloom convert tok.json my-model/ --to huggingface
      byteloom convert tokenizer.json ranks.tiktoken --lossy

    Next: `byteloom verify tok.json tokenizer.json --text book.txt` compares them on your own text.
    """
    wanted = format_ or _format_of(output)
    folder = wanted == "gpt2" or (wanted == "huggingface" and not output.lower().endswith(".json"))
    _check(output, folder=folder, force=force)
    tok = load_tokenizer(tokenizer, pattern)
    _save(tok, output, wanted, lossy=lossy)
    click.echo(f"{shown(tokenizer)} -> {shown(output)} ({wanted})")
    if no_verify:
        say("not verified, as asked")
        return
    source = _source_library(tokenizer)
    if source is not None and (original := _reference(source, tokenizer, tok)) is not None:
        _prove(original, tok, original.name, output)
    if wanted in ("tiktoken", "gpt2"):
        # The file holds no pattern and no special tokens; the proof is about what it does hold.
        again = byteloom.Tokenizer.load(
            output, pattern=tok.pattern_name or tok.pattern, special_tokens=tok.special_tokens
        )
    else:
        again = byteloom.Tokenizer.load(output)
    _prove(tok, again, "byteloom", output)
    library = _LIBRARIES.get(wanted)
    if library is not None and (other := _reference(library, output, tok)) is not None:
        _prove(tok, other, other.name, output)


def _format_of(output: str) -> str:
    name = os.path.basename(output.rstrip(os.sep)).lower()
    if name.endswith(".tiktoken"):
        return "tiktoken"
    if name.endswith(".json") and name != "tokenizer.json":
        return "native"
    if name == "tokenizer.json" or os.path.isdir(output) or output.endswith(os.sep) or "." not in name:
        return "huggingface"
    message = f"the name {shown(output)} does not say a format; --to does"
    raise click.UsageError(message, click.get_current_context())


def _check(output: str, *, folder: bool, force: bool) -> None:
    if not folder:
        check_output(output, force=force)
    elif os.path.exists(output) and not os.path.isdir(output):
        raise click.ClickException(f"{shown(output)} is no folder, and this format is a folder of files")
    elif os.path.isdir(output) and os.listdir(output) and not force:
        raise click.ClickException(f"{shown(output)} is not empty; --force replaces the tokenizer in it")


def _save(tok: byteloom.Tokenizer, output: str, wanted: str, *, lossy: bool) -> None:
    try:
        if wanted == "native":
            tok.save(output)
        elif wanted == "tiktoken":
            tok.save_tiktoken(output, lossy=lossy)
        elif wanted == "huggingface":
            tok.save_huggingface(output, lossy=lossy)
        else:
            tok.save_gpt2_files(output, lossy=lossy)
    except byteloom.FormatError as error:
        if lossy or "lossy" not in str(error):
            raise
        words = str(error).replace("Pass lossy=True", "Pass --lossy")
        raise click.ClickException(words) from None


def _source_library(path: str) -> str | None:
    """The library that the input was made for, if that can be told by its name."""
    name = os.path.basename(path).lower()
    if name == "tokenizer.json" or os.path.isfile(os.path.join(path, "tokenizer.json")):
        return "tokenizers"
    return "tiktoken" if name.endswith(".tiktoken") else None


def _reference(library: str, path: str, tok: byteloom.Tokenizer) -> byteloom.Reference | None:
    try:
        return reference_of(library, path, tok, None)
    except click.ClickException:
        say(f"{library} is not installed, so {shown(path)} was not compared with it")
        return None


def _prove(
    a: byteloom.Tokenizer | byteloom.Reference,
    b: byteloom.Tokenizer | byteloom.Reference,
    reader: str,
    output: str,
) -> None:
    report = byteloom.verify(a, b)
    if report:
        click.echo(f"equal ids, read by {shown(reader)}")
        click.echo(compared(report))
        return
    for line in difference_lines(report):
        click.echo(line)
    raise click.ClickException(
        f"{shown(output)} was written, but read by {shown(reader)} it gives other ids: do not use it"
    )

"""`byteloom decode`: token ids to text."""

from __future__ import annotations

import io
import json as jsonlib
import re
from collections.abc import Iterator

import click

import byteloom
from byteloom.cli.files import check_output, document_batches, open_output, read_source, source_name
from byteloom.cli.options import load_tokenizer, output_options, tokenizer_argument

_NPY = b"\x93NUMPY"
_BETWEEN = re.compile(rb"[\s,]+")
_ID = re.compile(rb"[0-9]{1,20}")


@click.command("decode")
@tokenizer_argument
@click.argument("file", required=False, type=click.Path())
@click.option(
    "--format", "form", type=click.Choice(["text", "u16", "u32"]), default="text", show_default=True,
    help="Form of the ids: numbers or JSON as text, or bare little-endian numbers. NumPy files are known.",
)  # fmt: skip
@click.option(
    "--lines", is_flag=True, help="Take each line as a sequence of its own, and end each with a newline."
)
@click.option("--skip-special-tokens", is_flag=True, help="Leave special tokens out of the text.")
@output_options(required=False, what="Write here instead of to standard output.")
def command(
    *,
    tokenizer: str,
    pattern: str | None,
    file: str | None,
    form: str,
    lines: bool,
    skip_special_tokens: bool,
    output: str | None,
    force: bool,
) -> None:
    """Turn token ids into text.

    Reads ids from FILE or standard input: numbers with spaces, commas or newlines between them, a JSON
    list, or what `byteloom encode --json` printed. Writes exactly the bytes that the tokens stand for, which
    are not valid UTF-8 where the ids end within a character.

    \b
    Examples:
      echo "104 105" | byteloom decode tok.json
      byteloom encode tok.json book.txt | byteloom decode tok.json | cmp - book.txt
      byteloom decode tok.json train.bin --format u16 -o train.txt

    Next: `byteloom encode tok.json --show` shows where the tokens begin and end.
    """
    if lines and form != "text":
        raise click.UsageError("--lines reads text, not binary ids", click.get_current_context())
    check_output(output, force=force)
    tok = load_tokenizer(tokenizer, pattern)
    name = source_name(file)
    with open_output(output, force=force) as write:
        if lines:
            for where, line in _lines(file, name):
                write(
                    _decode(tok, parse_ids(line, where), where, skip_special_tokens=skip_special_tokens)
                    + b"\n"
                )
        else:
            data = read_source(file)
            ids = parse_ids(data, name) if form == "text" else _binary_ids(data, name, form)
            write(_decode(tok, ids, name, skip_special_tokens=skip_special_tokens))


def _lines(file: str | None, name: str) -> Iterator[tuple[str, bytes]]:
    number = 0
    for batch in document_batches(file):
        for line in batch:
            number += 1
            yield f"{name}, line {number}", line


def _decode(tok: byteloom.Tokenizer, ids: list[int], name: str, *, skip_special_tokens: bool) -> bytes:
    last = tok.max_token_id
    if ids and not 0 <= min(ids) <= max(ids) <= last:
        place, id_ = next((place, id_) for place, id_ in enumerate(ids) if not 0 <= id_ <= last)
        message = (
            f"{name}: id {id_} at position {place} is not in the vocabulary; its ids go from 0 to {last}"
        )
        raise click.ClickException(message)
    try:
        return tok.decode_bytes(ids, skip_special_tokens=skip_special_tokens)
    except byteloom.UnknownTokenError as error:
        raise click.ClickException(f"{name}: {error}") from None


def parse_ids(data: bytes, name: str) -> list[int]:
    r"""The ids that `data` holds as text, as JSON or as a NumPy file.

    >>> parse_ids(b"1 2,3\n", "a"), parse_ids(b"[1, 2]", "a"), parse_ids(b'{"ids": [7]}', "a")
    ([1, 2, 3], [1, 2], [7])
    """
    if data.startswith(_NPY):
        return _numpy_ids(data, name)
    if data.lstrip().startswith((b"[", b"{")):
        return _json_ids(data, name)
    words = [word for word in _BETWEEN.split(data) if word]
    for place, word in enumerate(words):
        if not _ID.fullmatch(word):
            shown = word[:40].decode("utf-8", "backslashreplace")
            raise click.ClickException(f"{name}: {shown!r} at position {place} is not a token id")
    return [int(word) for word in words]


def _json_ids(data: bytes, name: str) -> list[int]:
    try:
        found = jsonlib.loads(data)
    except (ValueError, RecursionError) as error:
        raise click.ClickException(f"{name}: not valid JSON: {error}") from None
    if isinstance(found, dict):
        found = found.get("ids")
    if not isinstance(found, list):
        raise click.ClickException(f"{name}: the JSON must be a list of ids, or an object with a list 'ids'")
    for place, id_ in enumerate(found):
        if type(id_) is not int:
            shown = jsonlib.dumps(id_, ensure_ascii=False)[:40]
            raise click.ClickException(f"{name}: {shown} at position {place} is not a token id")
    return found


def _numpy_ids(data: bytes, name: str) -> list[int]:
    import numpy as np

    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise click.ClickException(f"{name}: not a .npy file that can be read: {error}") from None
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise click.ClickException(
            f"{name}: the array must be one row of integers, not {array.dtype} {array.shape}"
        )
    ids: list[int] = array.tolist()
    return ids


def _binary_ids(data: bytes, name: str, form: str) -> list[int]:
    import numpy as np

    dtype = np.dtype("<u2" if form == "u16" else "<u4")
    if data.startswith(_NPY):
        raise click.ClickException(f"{name}: this is a .npy file; leave out --format {form}")
    if len(data) % dtype.itemsize:
        message = f"{name}: {len(data)} bytes are no whole number of {form} ids; is the file cut off?"
        raise click.ClickException(message)
    ids: list[int] = np.frombuffer(data, dtype).tolist()
    return ids

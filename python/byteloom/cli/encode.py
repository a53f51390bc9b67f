"""`byteloom encode`: text to token ids."""

from __future__ import annotations

import io
import json as jsonlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

import byteloom
from byteloom.cli.display import show_tokens, wants_color
from byteloom.cli.files import as_text, check_output, document_batches, open_output, source_name
from byteloom.cli.options import (
    SpecialChoice,
    fault_of,
    load_tokenizer,
    output_options,
    source_text,
    special_choice,
    special_options,
    text_options,
    threads_option,
    tokenizer_argument,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Write = Callable[[bytes], object]


@dataclass(frozen=True)
class _Batch:
    """Texts that were there to be read together, and what messages call them."""

    texts: list[str | bytes]
    source: str
    first_line: int | None = None

    def name(self, place: int) -> str:
        return self.source if self.first_line is None else f"{self.source}, line {self.first_line + place}"


@dataclass(frozen=True)
class _Encoder:
    """A tokenizer with the choices of one call."""

    tok: byteloom.Tokenizer
    special: SpecialChoice
    add_special_tokens: bool
    threads: int | None

    def lists(self, batch: _Batch) -> list[list[int]]:
        add = self.add_special_tokens
        try:
            return self.tok.encode_batch(
                batch.texts, **self.special, add_special_tokens=add, threads=self.threads
            )
        except byteloom.ByteloomError:
            # Once more, one by one, to name the text at fault as the user knows it.
            for place, text in enumerate(batch.texts):
                with fault_of(batch.name(place)):
                    self.tok.encode(text, **self.special, add_special_tokens=add)
            raise

    def plain(self, batches: Iterator[_Batch], write: Write) -> None:
        for batch in batches:
            write(b"".join(b" ".join(b"%d" % id_ for id_ in ids) + b"\n" for ids in self.lists(batch)))

    def json(self, batches: Iterator[_Batch], write: Write) -> None:
        for batch in batches:
            found = ({"ids": ids, "count": len(ids)} for ids in self.lists(batch))
            write(b"".join(jsonlib.dumps(one).encode() + b"\n" for one in found))

    def offsets(self, batches: Iterator[_Batch], write: Write, unit: Literal["char", "byte"]) -> None:
        for batch in batches:
            for place, text in enumerate(batch.texts):
                with fault_of(batch.name(place)):
                    ids, spans = self.tok.encode_with_offsets(
                        text, unit=unit, **self.special, add_special_tokens=self.add_special_tokens
                    )
                write(jsonlib.dumps({"ids": ids, "count": len(ids), "offsets": spans}).encode() + b"\n")

    def show(self, batches: Iterator[_Batch], write: Write, *, color: bool) -> None:
        tokens = size = 0
        for batch in batches:
            for text, ids in zip(batch.texts, self.lists(batch), strict=True):
                write(show_tokens(self.tok, ids, color=color).encode() + b"\n")
                tokens += len(ids)
                size += len(text.encode() if isinstance(text, str) else text)
        ratio = f", {size / tokens:.2f} bytes per token" if tokens else ""
        summary = f"{tokens:,} tokens, {size:,} bytes{ratio}"
        write(b"\n" + (click.style(summary, dim=True) if color else summary).encode() + b"\n")

    def binary(self, batches: Iterator[_Batch], write: Write, form: str) -> None:
        import numpy as np

        fits = self.tok.max_token_id <= np.iinfo(np.uint16).max
        if form == "u16" and not fits:
            message = f"ids of this tokenizer go up to {self.tok.max_token_id}; u16 ends at 65535, use u32"
            raise click.ClickException(message)
        dtype: Literal["uint16", "uint32"] = (
            "uint16" if form == "u16" or (form == "npy" and fits) else "uint32"
        )
        arrays = (self._array(batch, dtype) for batch in batches)
        if form == "npy":
            # The header of a .npy file holds the length, so the arrays have to be there first.
            file = io.BytesIO()
            np.save(file, np.concatenate([np.empty(0, dtype), *arrays]), allow_pickle=False)
            write(file.getvalue())
        else:
            for array in arrays:
                write(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())

    def _array(
        self, batch: _Batch, dtype: Literal["uint16", "uint32"]
    ) -> npt.NDArray[np.uint16] | npt.NDArray[np.uint32]:
        add = self.add_special_tokens
        try:
            return self.tok.encode_batch_array(
                batch.texts, **self.special, add_special_tokens=add, threads=self.threads, dtype=dtype
            ).ids
        except byteloom.ByteloomError:
            self.lists(batch)
            raise


@click.command("encode")
@tokenizer_argument
@click.argument("file", required=False, type=click.Path())
@text_options
@click.option("--show", is_flag=True, help="Show the tokens themselves, for people to look at.")
@click.option("--json", is_flag=True, help="Print an object with 'ids' and 'count'.")
@click.option(
    "--offsets", type=click.Choice(["char", "byte"]),
    help="With --json: where each token begins and ends, in characters or bytes.",
)  # fmt: skip
@click.option(
    "--format", "binary", type=click.Choice(["npy", "u16", "u32"]),
    help="Write binary ids: a NumPy file, or bare little-endian numbers of 16 or 32 bits.",
)  # fmt: skip
@click.option("--lines", is_flag=True, help="Take each line as a document of its own, without its newline.")
@click.option("--add-special-tokens", is_flag=True, help="Put the tokenizer's BOS and EOS around each text.")
@special_options
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
    help="Colours of --show.",
)  # fmt: skip
@threads_option
@output_options(required=False, what="Write here instead of to standard output.")
def command(
    *,
    tokenizer: str,
    pattern: str | None,
    file: str | None,
    text: str | None,
    errors: str,
    raw: bool,
    show: bool,
    json: bool,
    offsets: Literal["char", "byte"] | None,
    binary: str | None,
    lines: bool,
    add_special_tokens: bool,
    allowed_special: tuple[str, ...],
    ordinary: bool,
    color: str,
    threads: int | None,
    output: str | None,
    force: bool,
) -> None:
    """Turn text into token ids.

    Reads FILE, --text or standard input and prints the ids on one line. A text that spells a special
    token is refused unless --allowed-special or --ordinary says what to do with it.

    \b
    Examples:
      byteloom encode tok.json --show --text "Hello, world!"
      byteloom encode tok.json book.txt > ids.txt
      byteloom encode tok.json book.txt --json --offsets char
      byteloom encode tok.json corpus.txt --lines --add-special-tokens --format u16 -o train.bin

    Next: `byteloom decode tok.json ids.txt` gives the text back, `byteloom count` only counts.
    """
    ctx = click.get_current_context()
    if sum((show, json, binary is not None)) > 1:
        raise click.UsageError("--show, --json and --format exclude each other", ctx)
    if offsets is not None and not json:
        raise click.UsageError("--offsets needs --json", ctx)
    if lines and text is not None:
        raise click.UsageError("--lines reads a file or standard input, not --text", ctx)
    if binary is not None and output is None and sys.stdout is not None and sys.stdout.isatty():
        raise click.UsageError("binary ids are not for a terminal; name a file with -o", ctx)
    check_output(output, force=force)
    tok = load_tokenizer(tokenizer, pattern)
    encoder = _Encoder(
        tok, special_choice(tok, allowed_special, ordinary=ordinary), add_special_tokens, threads
    )
    batches = _batches(file, text, errors=errors, raw=raw, lines=lines)
    with open_output(output, force=force) as write:
        if binary is not None:
            encoder.binary(batches, write, binary)
        elif offsets is not None:
            encoder.offsets(batches, write, offsets)
        elif json:
            encoder.json(batches, write)
        elif show:
            encoder.show(batches, write, color=color == "always" or (output is None and wants_color(color)))
        else:
            encoder.plain(batches, write)


def _batches(file: str | None, text: str | None, *, errors: str, raw: bool, lines: bool) -> Iterator[_Batch]:
    name = source_name(file) if text is None else "--text"
    if not lines:
        yield _Batch([source_text(file, text, errors=errors, raw=raw)], name)
        return
    first = 1
    for batch in document_batches(file):
        texts: list[str | bytes] = list(batch)
        if not raw:
            texts = [
                as_text(line, f"{name}, line {number}", errors=errors)
                for number, line in enumerate(batch, first)
            ]
        yield _Batch(texts, name, first)
        first += len(batch)

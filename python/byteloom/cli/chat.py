"""`byteloom chat`: conversations as text and as token ids."""

from __future__ import annotations

import json as jsonlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import click

import byteloom
from byteloom.cli.display import readable
from byteloom.cli.files import check_output, document_batches, open_output, read_source, shown, source_name
from byteloom.cli.options import TEXT, fault_of, load_tokenizer, output_options

_PUBLISHED = (  # named here, so that --help need not wait for byteloom.chat; a test compares them
    "chatml", "qwen1.5", "qwen2", "qwen2.5", "smollm2", "yi", "internlm2",
)  # fmt: skip


@dataclass(frozen=True)
class _Conversation:
    name: str
    """What messages call it."""
    messages: list[Any]


@dataclass(frozen=True)
class _Options:
    """The choices of one call."""

    form: byteloom.chat.ChatFormat
    tok: byteloom.Tokenizer | None
    add_generation_prompt: bool
    continue_final_message: bool

    def segments(self, talk: _Conversation) -> list[byteloom.chat.Segment]:
        with fault_of(talk.name):
            return byteloom.chat.segments(
                talk.messages,
                format=self.form,
                add_generation_prompt=self.add_generation_prompt,
                continue_final_message=self.continue_final_message,
            )

    def encoded(self, talk: _Conversation) -> byteloom.chat.ChatEncoding:
        if self.tok is None:
            return byteloom.chat.ChatEncoding([], [], self.segments(talk))
        with fault_of(talk.name):
            return byteloom.chat.encode(
                self.tok,
                talk.messages,
                format=self.form,
                add_generation_prompt=self.add_generation_prompt,
                continue_final_message=self.continue_final_message,
            )


@click.command("chat")
@click.argument("file", required=False, type=click.Path())
@click.option(
    "--tokenizer", type=click.Path(), metavar="FILE",
    help="Tokenizer that encodes the conversation. Text needs none.",
)  # fmt: skip
@click.option(
    "--pattern", type=TEXT, metavar="NAME",
    help="Pre-tokenizer pattern, only for a .tiktoken file that is not one of OpenAI's.",
)  # fmt: skip
@click.option(
    "--add-control-tokens", is_flag=True,
    help="Give control tokens that the tokenizer lacks the next free ids, for this call.",
)  # fmt: skip
@click.option(
    "--format", "form", type=TEXT, metavar="NAME|FILE", default="chatml", show_default=True,
    help=f"Format of the model: {', '.join(_PUBLISHED)}, or a JSON file with the parts of another.",
)  # fmt: skip
@click.option("--add-generation-prompt", is_flag=True, help="End with an open turn for the model to fill.")
@click.option("--continue-final-message", is_flag=True, help="Leave the last turn open.")
@click.option(
    "--as", "view", type=click.Choice(["text", "ids", "mask", "segments"]),
    help="What to print. By default ids with --tokenizer, and text without.",
)  # fmt: skip
@click.option("--json", is_flag=True, help="Print all of it as one JSON object a conversation.")
@click.option("--lines", is_flag=True, help="One conversation a line, as in a .jsonl file.")
@output_options(required=False, what="Write here instead of to standard output.")
def command(
    *,
    file: str | None,
    tokenizer: str | None,
    pattern: str | None,
    add_control_tokens: bool,
    form: str,
    add_generation_prompt: bool,
    continue_final_message: bool,
    view: str | None,
    json: bool,
    lines: bool,
    output: str | None,
    force: bool,
) -> None:
    """Render a conversation as a chat model reads it, and encode it.

    Reads FILE or standard input: a JSON list of messages with 'role' and 'content', or an object that holds
    one as 'messages'; one conversation a line in a .jsonl file. No content can forge a turn: a content that
    spells a control token is encoded as plain text.

    \b
    Examples:
      byteloom chat talk.json --add-generation-prompt
      byteloom chat talk.json --tokenizer tok.json --format qwen2
      byteloom chat talk.json --tokenizer tok.json --as segments
      byteloom chat talks.jsonl --tokenizer tok.json --json -o talks.ids.jsonl

    Next: `byteloom chat talk.json --tokenizer tok.json | byteloom decode tok.json` gives the text back.
    """
    ctx = click.get_current_context()
    if json and view is not None:
        raise click.UsageError("--json prints all that --as chooses from; give one of them", ctx)
    if tokenizer is None:
        for given, option in ((pattern, "--pattern"), (add_control_tokens, "--add-control-tokens")):
            if given:
                raise click.UsageError(f"{option} needs --tokenizer", ctx)
        if view in ("ids", "mask"):
            raise click.UsageError(f"--as {view} needs --tokenizer", ctx)
    if add_generation_prompt and continue_final_message:
        message = "--add-generation-prompt and --continue-final-message exclude each other"
        raise click.UsageError(message, ctx)
    check_output(output, force=force)
    chosen = _format(form)
    tok = None if tokenizer is None else _tokenizer(tokenizer, pattern, chosen, add=add_control_tokens)
    options = _Options(chosen, tok, add_generation_prompt, continue_final_message)
    write_one = _json if json else _VIEWS[view or ("text" if tok is None else "ids")]
    with open_output(output, force=force) as write:
        for talk in _conversations(file, lines=lines):
            write(write_one(options, talk).encode())


# What is read


def _format(given: str) -> byteloom.chat.ChatFormat:
    if given in byteloom.chat.FORMATS:
        return byteloom.chat.FORMATS[given]
    if not (given.endswith(".json") or os.path.exists(given)):
        message = f"{given!r} is neither a file nor one of {', '.join(byteloom.chat.FORMATS)}"
        raise click.BadParameter(message, click.get_current_context(), param_hint="'--format'")
    name = shown(given)
    with fault_of(name):
        return byteloom.chat.ChatFormat.from_dict(_parsed(read_source(given), name))


def _tokenizer(
    path: str, pattern: str | None, form: byteloom.chat.ChatFormat, *, add: bool
) -> byteloom.Tokenizer:
    tok = load_tokenizer(path, pattern)
    special, added = tok.special_tokens, tok.added_tokens
    missing = [token for token in form.control_tokens if token not in special]
    if add:
        return tok.with_special_tokens(missing)
    if missing and missing[0] not in added:
        options = " ".join(f"--special '{token}'" for token in form.control_tokens)
        raise click.ClickException(
            f"{shown(path)}: the tokenizer lacks {', '.join(missing)}, of the chat format {form.name}; "
            f"train it with {options}, or try --add-control-tokens"
        )
    return tok


def _conversations(file: str | None, *, lines: bool) -> Iterator[_Conversation]:
    source = source_name(file)
    if not lines and not str(file).endswith((".jsonl", ".ndjson")):
        yield _Conversation(source, _messages(_parsed(read_source(file), source), source))
        return
    number = 0
    for batch in document_batches(file):
        for line in batch:
            number += 1
            if line.strip():
                name = f"{source}, line {number}"
                yield _Conversation(name, _messages(_parsed(line, source, number), name))


def _parsed(data: bytes, source: str, line: int = 0) -> Any:
    """The value of JSON; the lines before it are counted in what messages say."""
    name = f"{source}, line {line}" if line else source
    try:
        return jsonlib.loads(data.decode("utf-8-sig"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        message = (
            f"byte 0x{data[error.start]:02x} at offset {error.start} is not valid UTF-8, as JSON must be"
        )
        raise click.ClickException(f"{name}: {message}") from None
    except jsonlib.JSONDecodeError as error:
        name = f"{source}, line {line or error.lineno}"
        raise click.ClickException(f"{name}: not valid JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise click.ClickException(f"{name}: not valid JSON: nested too deeply") from None
    except _TwiceError as error:
        raise click.ClickException(f"{name}: an object has the key {error.args[0]!r} twice") from None


class _TwiceError(Exception):
    """A key that an object has twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; the json module would silently take the last of two equal keys."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _TwiceError(key)
        found[key] = value
    return found


def _messages(value: Any, name: str) -> list[Any]:
    if isinstance(value, dict):
        if "messages" not in value:
            raise click.ClickException(f"{name}: the object has no 'messages'")
        if value.get("tools"):
            raise click.ClickException(f"{name}: the format has no place for 'tools'")
        value = value["messages"]
    if not isinstance(value, list):
        message = (
            f"expected a list of messages, or an object that holds one as 'messages', not {_kind(value)}"
        )
        raise click.ClickException(f"{name}: {message}")
    return value


def _kind(value: Any) -> str:
    kinds = {dict: "an object", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


# What is printed


def _text(options: _Options, talk: _Conversation) -> str:
    return "".join(segment.text for segment in options.segments(talk))


def _ids(options: _Options, talk: _Conversation) -> str:
    return " ".join(map(str, options.encoded(talk).ids)) + "\n"


def _mask(options: _Options, talk: _Conversation) -> str:
    return " ".join(map(str, options.encoded(talk).mask)) + "\n"


def _json(options: _Options, talk: _Conversation) -> str:
    found = options.encoded(talk).to_dict()
    if options.tok is None:
        del found["ids"], found["mask"]
    return jsonlib.dumps(found, ensure_ascii=False) + "\n"


def _segments(options: _Options, talk: _Conversation) -> str:
    """A line for each segment: place, kind, whether it is trained, text."""
    unit = "characters" if options.tok is None else "tokens"
    rows = [(unit, "kind", "trained", "text")]
    for segment in options.encoded(talk).segments:
        begin, end = segment.tokens or segment.span
        text = readable(segment.text.encode())
        rows.append((f"{begin}-{end}", segment.kind, "yes" if segment.trained else "-", text))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "".join(
        "  ".join([*(row[column].ljust(widths[column]) for column in range(3)), row[3]]).rstrip() + "\n"
        for row in rows
    )


_VIEWS: dict[str, Callable[[_Options, _Conversation], str]] = {
    "text": _text,
    "ids": _ids,
    "mask": _mask,
    "segments": _segments,
}

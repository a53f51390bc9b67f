"""Files of every format: which reader a file needs, and what a writer may leave out."""

from __future__ import annotations

import os

from . import _native
from .errors import FormatError

# Type checkers take it for true; importing `typing` costs more than the rest of the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    T = TypeVar("T")
    Path = str | os.PathLike[str]

__all__ = ["read", "read_gpt2_files", "read_huggingface", "read_named", "refuse_losses", "write"]


def read(
    path: Path,
    *,
    pattern: str | None,
    special_tokens: Mapping[str, int] | None,
    cache_bytes: int | None,
) -> _native.NativeTokenizer:
    """The tokenizer in a file or folder, whatever its format."""
    if os.path.isdir(os.fspath(path)):  # noqa: PTH112 - pathlib costs import time
        return _read_folder(path, pattern, special_tokens, cache_bytes)
    data = read_bytes(path)
    if pattern is None and special_tokens is None:
        # Telling the kind of a file takes a look at all of it, which this saves for the most frequent one.
        plain = _native.from_plain_huggingface(data, lambda: _config_beside(path), cache_bytes=cache_bytes)
        if plain is not None:
            return plain
    kind = _native.sniff(data)
    if kind == "tiktoken":
        return read_named(
            path,
            lambda: _native.from_tiktoken(
                data, pattern=pattern, special_tokens=special_tokens, cache_bytes=cache_bytes
            ),
        )
    if kind in ("gpt2-vocab", "gpt2-merges"):
        beside = os.path.join(os.path.dirname(os.fspath(path)), _GPT2_PARTNER[kind])  # noqa: PTH118, PTH120
        if not os.path.exists(beside):  # noqa: PTH110
            message = (
                f"{os.fspath(path)}: is one of GPT-2's two files, and {_GPT2_PARTNER[kind]} is not beside "
                "it; name both with Tokenizer.from_gpt2_files(vocab, merges)"
            )
            raise FormatError(message)
        vocab, merges = (path, beside) if kind == "gpt2-vocab" else (beside, path)
        return read_gpt2_files(vocab, merges, pattern or "gpt2", special_tokens, cache_bytes)
    if pattern is not None or special_tokens is not None:
        message = f"{os.fspath(path)}: this file holds its own pattern and special tokens; leave both out"
        raise FormatError(message)
    if kind == "huggingface":
        return read_huggingface(path, data, cache_bytes)
    readers: dict[str, Callable[[], _native.NativeTokenizer]] = {
        "byteloom": lambda: _native.from_json(data, cache_bytes=cache_bytes),
        "sentencepiece": lambda: _native.from_sentencepiece(data, cache_bytes=cache_bytes),
        "minbpe": lambda: _native.from_minbpe(data, cache_bytes=cache_bytes),
    }
    if kind not in readers:
        message = (
            f"{os.fspath(path)}: is no tokenizer file that byteloom knows: not its own JSON, tokenizer.json, "
            ".tiktoken, vocab.json with merges.txt, or a model of SentencePiece or minbpe"
        )
        raise FormatError(message)
    return read_named(path, readers[kind])


_GPT2_PARTNER = {"gpt2-vocab": "merges.txt", "gpt2-merges": "vocab.json"}


def _read_folder(
    folder: Path,
    pattern: str | None,
    special_tokens: Mapping[str, int] | None,
    cache_bytes: int | None,
) -> _native.NativeTokenizer:
    names = ("tokenizer.json", "vocab.json", "tokenizer.model", "byteloom.json")
    for name in names:
        path = os.path.join(folder, name)  # noqa: PTH118
        if os.path.exists(path):  # noqa: PTH110
            return read(path, pattern=pattern, special_tokens=special_tokens, cache_bytes=cache_bytes)
    message = f"{os.fspath(folder)}: holds no tokenizer: none of {', '.join(names)} is in it"
    raise FormatError(message)


def read_huggingface(path: Path, data: bytes, cache_bytes: int | None) -> _native.NativeTokenizer:
    """A `tokenizer.json`, with the `tokenizer_config.json` beside it where there is one."""
    config = _config_beside(path)
    return read_named(path, lambda: _native.from_huggingface(data, config, cache_bytes=cache_bytes))


def _config_beside(path: Path) -> bytes | None:
    beside = os.path.join(os.path.dirname(os.fspath(path)), "tokenizer_config.json")  # noqa: PTH118, PTH120
    config = read_bytes(beside) if os.path.exists(beside) else None  # noqa: PTH110
    template = os.path.join(os.path.dirname(os.fspath(path)), "chat_template.jinja")  # noqa: PTH118, PTH120
    if os.path.exists(template):  # noqa: PTH110
        config = _with_chat_template(config, template, beside)
    return config


def _with_chat_template(config: bytes | None, template: str, name: str) -> bytes:
    """The config with the template of the file beside it, which newer versions of `transformers` write."""
    import json  # noqa: PLC0415

    try:
        merged = {} if config is None else json.loads(config)
        merged["chat_template"] = read_bytes(template).decode()
    except (ValueError, TypeError) as error:
        raise FormatError(f"{name} with {template}: {error}") from None
    return json.dumps(merged).encode()


def read_gpt2_files(
    vocab: Path,
    merges: Path,
    pattern: str,
    special_tokens: Mapping[str, int] | Sequence[str] | None,
    cache_bytes: int | None,
) -> _native.NativeTokenizer:
    """`vocab.json` and `merges.txt`."""
    named: list[tuple[str, int | None]] = []
    if special_tokens is not None:
        items = getattr(special_tokens, "items", None)
        named = list(items()) if items is not None else [(name, None) for name in special_tokens]
    texts = read_bytes(vocab), read_bytes(merges)
    return read_named(
        vocab,
        lambda: _native.from_gpt2_files(
            *texts, pattern=pattern, special_tokens=named, cache_bytes=cache_bytes
        ),
    )


def read_named(path: Path, reader: Callable[[], T]) -> T:
    """What `reader` reads; a fault of the file names the file."""
    try:
        return reader()
    except FormatError as error:
        raise FormatError(f"{os.fspath(path)}: {error}") from None


def read_bytes(path: Path) -> bytes:
    """The bytes of a file."""
    # A number would be a file descriptor to `open`.
    with open(os.fspath(path), "rb") as file:  # noqa: PTH123
        return file.read()


def refuse_losses(format_name: str, losses: list[str], *, lossy: bool) -> None:
    """Raises where a format cannot hold all of a tokenizer, unless that is wanted."""
    if losses and not lossy:
        message = (
            f"{format_name} cannot hold all of this tokenizer; it would lose: {'; '.join(losses)}. "
            "Pass lossy=True to write it all the same"
        )
        raise FormatError(message)


def write(path: Path, data: bytes) -> None:
    """Writes a file so that a reader never sees half of it."""
    _native.write_atomically(path, data)

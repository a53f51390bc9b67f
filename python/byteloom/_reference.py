"""Other libraries' tokenizers, as something `verify` can ask."""

from __future__ import annotations

import base64
import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._tokenizer import Tokenizer
from .errors import FormatError

__all__ = ["LIBRARIES", "Reference", "installed", "reference"]

LIBRARIES = ("tokenizers", "tiktoken", "sentencepiece")

Encode = Callable[[str], "list[int]"]


@dataclass(frozen=True)
class Reference:
    """A tokenizer of another library, as `reference` gives it."""

    name: str
    encode: Encode
    """Text to ids, where special tokens count as such if `reads_special`."""
    encode_ordinary: Encode
    """Text to ids, all of it read as text."""
    reads_special: bool = True
    special_tokens: dict[str, int] = field(default_factory=dict)
    _pretokens: Callable[[str], list[str]] | None = None

    def pretokens(self, text: str) -> list[str] | None:
        """How the library splits a text; `None` if it does not show that."""
        return None if self._pretokens is None else self._pretokens(text)


def installed(library: str) -> bool:
    """Whether a library can be imported."""
    try:
        importlib.import_module(library)
    except ImportError:
        return False
    return True


def reference(
    library: str,
    path: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Reference:
    """A tokenizer file as the library that it was written for reads it, for `verify`.

    Args:
        library: `"tokenizers"` for a `tokenizer.json`, or a folder with one, `"tiktoken"` for a `.tiktoken`
            file, `"sentencepiece"` for its `.model`. It must be installed.
        path: The file.
        pattern: The regex that belongs to a `.tiktoken` file; known for the published ones.
        special_tokens: Their special tokens, likewise.

    Raises:
        ImportError: the library is not installed.
        ValueError: there is no such library.
        FormatError: the library does not read the file.

    >>> import byteloom as bl
    >>> bl.reference("words", "vocab.txt")
    Traceback (most recent call last):
        ...
    ValueError: there is no reference 'words'; there are tokenizers, tiktoken, sentencepiece
    """
    if library not in LIBRARIES:
        message = f"there is no reference {library!r}; there are {', '.join(LIBRARIES)}"
        raise ValueError(message)
    if not installed(library):
        message = f"{library} is not installed; install it to compare with it: pip install {library}"
        raise ImportError(message)
    if library == "tiktoken":
        return _tiktoken(path, pattern, special_tokens)
    if pattern is not None or special_tokens is not None:
        message = f"{os.fspath(path)}: the files of {library} hold their own pattern and special tokens"
        raise FormatError(message)
    return _tokenizers(path) if library == "tokenizers" else _sentencepiece(path)


def _name(library: str, path: str | os.PathLike[str]) -> str:
    version = getattr(importlib.import_module(library), "__version__", None)
    return f"{library} {version or ''}".rstrip() + f" on {os.fspath(path)}"


def _tokenizers(path: str | os.PathLike[str]) -> Reference:
    tokenizers: Any = importlib.import_module("tokenizers")
    file = Path(path, "tokenizer.json") if Path(path).is_dir() else Path(path)
    data = file.read_text(encoding="utf-8")
    try:
        tok, plain = tokenizers.Tokenizer.from_str(data), tokenizers.Tokenizer.from_str(data)
    except Exception as error:  # noqa: BLE001 - the library raises nothing narrower
        message = f"{file}: tokenizers does not read it: {error}"
        raise FormatError(message) from None
    for one in (tok, plain):
        # Files may ask for both; ids are compared as they are.
        one.no_padding()
        one.no_truncation()
    plain.encode_special_tokens = True

    def pretokens(text: str) -> list[str]:
        if tok.normalizer is not None:
            text = tok.normalizer.normalize_str(text)
        if tok.pre_tokenizer is None:
            return [text]
        return [text[begin:end] for _, (begin, end) in tok.pre_tokenizer.pre_tokenize_str(text)]

    return Reference(
        name=_name("tokenizers", path),
        encode=lambda text: list(tok.encode(text, add_special_tokens=False).ids),
        encode_ordinary=lambda text: list(plain.encode(text, add_special_tokens=False).ids),
        special_tokens={token.content: id_ for id_, token in tok.get_added_tokens_decoder().items()},
        _pretokens=pretokens,
    )


def _tiktoken(
    path: str | os.PathLike[str], pattern: str | None, special_tokens: Mapping[str, int] | None
) -> Reference:
    tiktoken: Any = importlib.import_module("tiktoken")
    if pattern is None or special_tokens is None:
        # A known file brings both.
        ours = Tokenizer.load(path, pattern=pattern)
        pattern = pattern or ours.pattern
        special_tokens = ours.special_tokens if special_tokens is None else special_tokens
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(Path(path).read_bytes().splitlines(), 1):
        if line:
            try:
                token, rank = line.split()
                ranks[base64.b64decode(token)] = int(rank)
            except ValueError:
                message = (
                    f"{os.fspath(path)}: line {number} is not base64 and a rank, so tiktoken does not read it"
                )
                raise FormatError(message) from None
    special = dict(special_tokens)
    enc = tiktoken.Encoding(Path(path).name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    compiled = importlib.import_module("regex").compile(pattern) if installed("regex") else None
    return Reference(
        name=_name("tiktoken", path),
        encode=lambda text: list(enc.encode(text, allowed_special="all")),
        encode_ordinary=lambda text: list(enc.encode_ordinary(text)),
        special_tokens=special,
        _pretokens=None
        if compiled is None
        else lambda text: [match.group() for match in compiled.finditer(text)],
    )


def _sentencepiece(path: str | os.PathLike[str]) -> Reference:
    sentencepiece: Any = importlib.import_module("sentencepiece")
    model = sentencepiece.SentencePieceProcessor()
    try:
        model.Load(os.fspath(path))
    except (OSError, RuntimeError) as error:
        message = f"{os.fspath(path)}: sentencepiece does not read it: {error}"
        raise FormatError(message) from None

    def encode(text: str) -> list[int]:
        return list(model.EncodeAsIds(text))

    # Its control tokens are never read from text.
    return Reference(
        name=_name("sentencepiece", path), encode=encode, encode_ordinary=encode, reads_special=False
    )

"""Texts of any size, in pieces that may be encoded one by one without changing an id."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import TextError

if TYPE_CHECKING:
    from ._tokenizer import Tokenizer

__all__ = ["Source", "Text", "Texts", "named_sources"]

Text = str | bytes | os.PathLike[str]
Texts = Text | Iterable[Text] | Mapping[str, Text]

# A piece is at least this long, in characters, where there is more text.
PIECE = 1 << 18

# Patterns that always end a pre-token after a newline that stands between a character that is no white space
# and a letter; what comes later never changes what was before. `course-ws` lets the newline ride with the
# word, `none` ends nowhere, and of any other regex nothing is known.
_CUT_AFTER_LINES = frozenset(
    ("gpt2", "cl100k", "o200k", "llama3", "qwen2", "simple", "course-words", "course-gpt2")
)
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Source:
    """A named text."""

    name: str
    text: Text
    errors: str

    def pieces(self, tokenizers: Sequence[Tokenizer]) -> Iterator[str]:
        """The text in order, cut only where the ids of all `tokenizers` allow it; else in one piece."""
        cuts = all(_may_be_cut(tok) for tok in tokenizers)
        held = ""
        for block in self._blocks():
            held += block
            cut = _last_cut(held) if cuts and len(held) >= PIECE else 0
            if cut:
                yield held[:cut]
                held = held[cut:]
        if held:
            yield held

    def _blocks(self) -> Iterator[str]:
        if isinstance(self.text, str):
            for begin in range(0, len(self.text), PIECE):
                block = self.text[begin : begin + PIECE]
                found = _SURROGATE.search(block)
                if found is None:
                    yield block
                elif self.errors == "replace":
                    yield block.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
                else:
                    message = (
                        f"{self.name}: character {begin + found.start()} is the lone surrogate "
                        f"U+{ord(found.group()):04X}; errors='replace' repairs it"
                    )
                    raise TextError(message)
        elif isinstance(self.text, bytes):
            yield from self._decoded(
                self.text[begin : begin + PIECE] for begin in range(0, len(self.text), PIECE)
            )
        else:
            with open(self.text, "rb") as file:  # noqa: PTH123 - any path-like
                yield from self._decoded(iter(lambda: file.read(PIECE), b""))

    def _decoded(self, blocks: Iterator[bytes]) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")(self.errors)
        done = 0
        for block in blocks:
            waiting = len(decoder.getstate()[0])  # the beginning of a character, from the block before
            try:
                yield decoder.decode(block)
            except UnicodeDecodeError as error:
                raise self._invalid(done - waiting + error.start, error) from None
            done += len(block)
        waiting = len(decoder.getstate()[0])
        try:
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise self._invalid(done - waiting + error.start, error) from None

    def _invalid(self, offset: int, error: UnicodeDecodeError) -> TextError:
        return TextError(
            f"{self.name}: byte 0x{error.object[error.start]:02x} at offset {offset} is not valid UTF-8; "
            "errors='replace' puts U+FFFD in its place"
        )


def named_sources(texts: Texts, errors: str) -> tuple[Source, ...]:
    """The texts with their names: keys of a mapping, paths of files, else `text 1`, `text 2`, …

    >>> [source.name for source in named_sources(["a", "b"], "strict")]
    ['text 1', 'text 2']
    """
    if errors not in ("strict", "replace"):
        message = f'errors must be "strict" or "replace", not {errors!r}'
        raise ValueError(message)
    if isinstance(texts, Mapping):
        pairs = list(texts.items())
    else:
        several = [texts] if isinstance(texts, (str, bytes, os.PathLike)) else texts
        pairs = [
            (os.fspath(text) if isinstance(text, os.PathLike) else f"text {place}", text)
            for place, text in enumerate(several, 1)
        ]
    for name, text in pairs:
        if not isinstance(name, str) or not isinstance(text, (str, bytes, os.PathLike)):
            message = f"{name}: a text must be str, bytes or a path, not {type(text).__name__}"
            raise TypeError(message)
    return tuple(Source(name, text, errors) for name, text in pairs)


def _may_be_cut(tok: Tokenizer) -> bool:
    return tok.pattern_name in _CUT_AFTER_LINES and not tok.added_tokens and not tok.info()["normalizer"]


def _last_cut(text: str) -> int:
    """The last place where `text` may be cut, or 0."""
    end = len(text)
    while (newline := text.rfind("\n", 0, end)) > 0:
        if newline + 1 < len(text) and text[newline + 1].isalpha() and not text[newline - 1].isspace():
            return newline + 1
        end = newline
    return 0

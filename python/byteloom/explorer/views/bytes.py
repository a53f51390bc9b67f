"""The Bytes tab: characters, code points, bytes, GPT-2's letters; and what a cut inside a character does."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from byteloom import Tokenizer
from byteloom.course.module03 import bytes_to_unicode

from ._common import piece

if TYPE_CHECKING:
    from byteloom.explorer.session import Session

__all__ = ["view"]

_CHARACTERS = 200  # drawn; the rest is counted

_LETTERS = bytes_to_unicode()
_UNKNOWN = "unknown"  # the kind of a token that stands for what is lost


def view(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    """The characters of a text with their bytes, the tokens over them, and every cut inside a character."""
    tok = session.tokenizer(request).tokenizer
    text = session.text(request)
    data = text.encode()
    drawn = text[:_CHARACTERS]
    # All of the text is encoded: a token may reach over the last character that is drawn.
    ids, spans = tok.encode_with_offsets(text, unit="byte", disallowed_special=())
    size = len(drawn.encode())
    return {
        "counts": {
            "characters": len(text),
            "bytes": len(data),
            "tokens": len(ids),
            "wide": sum(byte >= 0xC0 for byte in data),  # noqa: PLR2004 - lead bytes: characters of several
        },
        "unknown": _unknown(tok, text),
        "alphabet": tok.info()["alphabet"],
        "characters": [_character(char) for char in drawn],
        "tokens": [
            {"id": id_, **piece(data[start:end]), "span": [start, end]}
            for id_, (start, end) in zip(ids, spans, strict=True)
            if start < size
        ],
        "left_out": len(text) - len(drawn),
    }


def _unknown(tok: Tokenizer, text: str) -> int:
    """How many bytes of the text no token stands for."""
    if tok.info()["alphabet"] == "bytes":
        data = text.encode()
        return sum(data.count(byte) for byte in set(data) if tok.token_to_id(bytes([byte])) is None)
    strange = [
        char
        for char in set(text)
        if any(token.token_kind == _UNKNOWN for token in tok.explain(char, disallowed_special=()).tokens)
    ]
    return sum(text.count(char) * len(char.encode()) for char in strange)


@lru_cache(maxsize=4096)
def _character(char: str) -> dict[str, Any]:
    data = char.encode()
    fallback = "control character" if unicodedata.category(char) == "Cc" else "no name"
    return {
        "char": char,
        "code": f"U+{ord(char):04X}",
        "name": unicodedata.name(char, fallback).lower(),
        "bytes": data.hex(),
        "letters": [_LETTERS[byte] for byte in data],
        "cuts": [_cut(data[:kept]) for kept in range(1, len(data))],
    }


@lru_cache(maxsize=1)
def _byte_tokens() -> Tokenizer:
    """The 256 bytes and no merges: whatever the tokenizer at hand, a cut can be made at every byte."""
    return Tokenizer.from_merges([], pattern="none")


def _cut(part: bytes) -> dict[str, Any]:
    """What the first bytes of a character become: decoded as they are, and fed to a streaming decoder."""
    tok = _byte_tokens()
    ids = tok.encode(part)
    stream = tok.stream_decoder()
    said = stream.feed(ids)
    return {
        "decoded": tok.decode(ids),
        "streamed": said,
        "held": len(part) - len(said.encode()),
        "flushed": stream.flush(),
    }

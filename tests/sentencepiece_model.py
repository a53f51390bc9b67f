"""Small SentencePiece models, written by hand so that tests need neither the library nor a download."""

import struct
import tempfile
from pathlib import Path

import byteloom as bl

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6


def varint(value):
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def piece(text, score, kind):
    return block(1, block(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score) + number(3, kind))


def sentencepiece_model(merged, characters, added=()):
    """A tokenizer with byte fallback: pieces that merges make, best first, and single characters.

    Ids: `<unk>` 0, `<s>` 1, `</s>` 2, 256 bytes, `merged`, `characters`, `added`.
    """
    pieces = [("<unk>", 0, UNKNOWN), ("<s>", 0, CONTROL), ("</s>", 0, CONTROL)]
    pieces += [(f"<0x{byte:02X}>", 0, BYTE) for byte in range(256)]
    pieces += [(text, -float(place), NORMAL) for place, text in enumerate(merged)]
    pieces += [(text, -1e6, NORMAL) for text in characters]
    pieces += [(text, 0, USER_DEFINED) for text in added]
    trainer = (
        number(3, 2) + number(35, 1) + number(40, 0) + number(41, 1) + number(42, 2) + number(4, len(pieces))
    )
    normalizer = block(1, b"identity") + number(3, 1) + number(4, 0)
    data = b"".join(piece(*one) for one in pieces) + block(2, trainer) + block(3, normalizer)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "small.model")
        path.write_bytes(data)
        return bl.Tokenizer.from_sentencepiece(path)

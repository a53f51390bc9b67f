"""Exercise 3, unknown characters: lost with an alphabet of characters, never with one of bytes.

The course says that SentencePiece avoids `<UNK>` in the same way. It does so by other means: where its
alphabet of characters ends, it falls back to tokens for single bytes.
"""

from __future__ import annotations

from byteloom.course.module03 import SPECIAL_TOKENS, BPETokenizer, ByteLevelBPETokenizer

unknown = SPECIAL_TOKENS["<UNK>"]

print("characters")
tok = BPETokenizer(vocab_size=50)
tok.train("hello world", show_progress=False)
for text in ("hello world", "hello 123"):
    ids = tok.encode(text)
    print(f"  {text!r} -> {ids}")
    print(f"    {[tok.id_to_token(id_) for id_ in ids]}")
    print(f"    back again: {tok.decode(ids)!r}")
    print(f"    with special tokens: {tok.decode(ids, skip_special_tokens=False)!r}")

print("bytes")
byte_tok = ByteLevelBPETokenizer(vocab_size=400)
byte_tok.train("hello world", show_progress=False)
for text in ("hello 123", "hello ☕", "你好"):
    ids = byte_tok.encode(text)
    same = byte_tok.decode(ids) == text
    print(f"  {text!r} -> {len(ids)} tokens, {ids.count(unknown)} <UNK>, back again: {same}")

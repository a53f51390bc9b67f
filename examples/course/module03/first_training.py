"""A first training, encoding with and without special tokens, and why the order of merges matters.

Answers "Training a BPE Tokenizer", "Encoding and Decoding" and "Handling Unknown Words" of the third course.
"""

from __future__ import annotations

from byteloom.course.module03 import SPECIAL_TOKENS, BPETokenizer


def tokens(tok: BPETokenizer, text: str) -> list[str]:
    """The text in tokens."""
    return [tok.id_to_token(id_) for id_ in tok.encode(text)]


print("special tokens, before any training:", SPECIAL_TOKENS)
tok = BPETokenizer(vocab_size=30)
print(tok.train("ab cd ab cd ab cd ab cd " * 20, show_progress=True))
print("merges:", tok.merges)

ids = tok.encode("ab cd")
print(f"'ab cd' -> {ids} {tokens(tok, 'ab cd')} -> {tok.decode(ids)!r}")
ids = tok.encode("ab cd", add_special_tokens=True)
print(f"with special tokens: {ids} -> {tok.decode(ids)!r}, {tok.decode(ids, skip_special_tokens=False)!r}")

ordered = BPETokenizer(vocab_size=100)
ordered.train("bc bc bc ab ab", show_progress=False)
print("learned in this order:", list(ordered.merges.values()), "so 'abc' is", tokens(ordered, "abc"))

words = BPETokenizer(vocab_size=100)
words.train("low lower newest widest " * 20, show_progress=False)
print("a word it never saw:", tokens(words, "lowest"))

"""Merging step by step: common words become one token, rare ones stay apart. A space is drawn as ␣.

Answers "Try This" 1 to 5 of "Interactive Exploration" in the third course. The course's demo has fixed merge
rules; these are learned from a small text. A step back is a tokenizer with one token less.
"""

from __future__ import annotations

from byteloom.course.module03 import BPETokenizer

TEXT = "the cat and the dog and the bird in the tree and the fox " * 10 + "xyz qz"


def trained(merges: int) -> BPETokenizer:
    """A tokenizer with that many merges."""
    tok = BPETokenizer(vocab_size=4 + len(set(TEXT)) + merges)
    tok.train(TEXT, show_progress=False)
    return tok


def show(tok: BPETokenizer, text: str) -> str:
    """The tokens, apart."""
    return "|".join(tok.id_to_token(id_).replace(" ", "␣") for id_ in tok.encode(text))


tok = trained(merges=400)
count = tok.training_stats["num_merges"]
print(f"{count} merges learned: {' '.join(tok.merges.values())}")

print("1. common words:", show(tok, "the"), show(tok, "and"))
print("2. step by step:")
for merges in range(6):
    print(f"   after {merges}: {show(trained(merges), 'the and then')}")
print(f"   after {count}: {show(tok, 'the and then')}")
print("3. rare words:", show(tok, "xyz"))
print("4. compression varies:")
for text in ("the the the", "qxz qxz qxz"):
    print(f"   {text!r}: {len(tok.encode(text))} tokens for {len(text)} characters")
print("5. spaces are tokens:", show(tok, "the cat"))
print("   The course calls this typical of BPE. It is so for this split; GPT-2's gives it to the word.")

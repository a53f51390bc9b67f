"""How lines of code come apart into tokens.

Answers "Visualizing Tokenization" of the third course.
"""

from __future__ import annotations

from sample_program import PROGRAM

from byteloom.course.module03 import BPETokenizer

tok = BPETokenizer(vocab_size=200)
tok.train(PROGRAM * 3, show_progress=False)


def show(text: str) -> None:
    """Print the tokens, ids and compression of a text."""
    ids = tok.encode(text)
    print(f"{text!r}: {len(ids)} tokens, {len(text) / len(ids):.2f} characters a token")
    print("  tokens:", [tok.id_to_token(id_) for id_ in ids])
    print("  ids:   ", ids)


for line in ("def fibonacci(n):", "self.result = 0", "return self", "    for i in range(10):"):
    show(line)
print("'g' does not occur in the training text: it is <UNK>.")

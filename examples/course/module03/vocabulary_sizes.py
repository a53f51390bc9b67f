"""What a larger vocabulary gives: shorter sequences, until there is nothing left to learn.

Answers "Vocabulary Size Tradeoffs" of the third course.
"""

from __future__ import annotations

from sample_program import PROGRAM

from byteloom.course.module03 import BPETokenizer

text = "def calculate_fibonacci(number):\n    return fibonacci(number)"
print(f"{len(text)} characters of text")
print("asked for  tokens in vocabulary  merges  tokens of the text  characters a token")
for vocab_size in (44, 50, 60, 80, 100, 150, 200, 500):
    tok = BPETokenizer(vocab_size=vocab_size)
    stats = tok.train(PROGRAM * 5, show_progress=False)
    ids = tok.encode(text)
    print(
        f"{vocab_size:9} {stats['vocab_size']:21} {stats['num_merges']:7} {len(ids):19}"
        f" {len(text) / len(ids):19.1f}"
    )
    if vocab_size in {50, 100}:
        print("          begins", [tok.id_to_token(id_) for id_ in ids[:5]])

# The course counts vocab_size - 4 learned tokens. The characters have their places too:
characters = len(set(PROGRAM))
print(f"The true figure: 4 special tokens, {characters} characters; 50 leaves {50 - 4 - characters} merges.")

"""Training on Python code: the report with its progress lines, and the longest tokens learned.

Answers "Code Walkthrough" and "Training on Python Code" of the third course.
"""

from __future__ import annotations

from sample_program import PROGRAM

from byteloom.course.module03 import BPETokenizer

print(f"{len(PROGRAM)} characters of Python, three times")
tok = BPETokenizer(vocab_size=200)
stats = tok.train(PROGRAM * 3, show_progress=True)
print(stats)

print("\nThe longest tokens")
learned = sorted(tok.merges.values(), key=len, reverse=True)
for token in learned[:15]:
    print(f"  {tok.vocab[token]}: {token!r}")

print("\nPatterns of code")
for pattern in ("def", "def ", "self.", "return", "    "):
    print(f"  {pattern!r}: {tok.vocab.get(pattern, 'no token')}")
print("The course lists 'def ' with its space. Spaces are pieces of their own here, so the token is 'def'.")

print("\nHow often a pair must occur")
for min_frequency in (2, 3, 4, 8):
    strict = BPETokenizer(vocab_size=400, min_frequency=min_frequency)
    strict.train(PROGRAM, show_progress=False)
    print(f"  {min_frequency} times: {strict.training_stats['num_merges']} merges")

"""Exercise 2, the first merges: the most frequent pairs first, until whole words stand there.

The eight pairs of "hello" and "world" are equally frequent, so the one met first in the text is merged first.
"""

from __future__ import annotations

from pathlib import Path

from byteloom.course.module03 import BPETokenizer

tok = BPETokenizer(vocab_size=50)
tok.train("hello world hello world hello world " * 10, show_progress=False)
print("asked for the first 10 merges; there are", len(tok.merges))
for place, ((left, right), merged) in enumerate(tok.merges.items(), 1):
    print(f"  {place}. {left!r} + {right!r} = {merged!r}")

english = (Path(__file__).parents[1] / "data" / "english.txt").read_text(encoding="utf-8")
tok = BPETokenizer(vocab_size=200)
tok.train(english, show_progress=False)
print("of English text:", list(tok.merges.values())[:10])

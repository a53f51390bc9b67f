"""Splitting into words first: a merge never leaves its word, and every word is worked on once.

Answers "A trick up front" of the first course.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from byteloom.course.step1 import PATTERN, Tokenizer

for line in ("Da sprach er:", "Lily said:"):
    print(f"{line!r} -> {PATTERN.findall(line)}")

text = (Path(__file__).parents[1] / "data" / "english.txt").read_text(encoding="utf-8")
words = Counter(PATTERN.findall(text))
print(
    f"{words.total():,} words in the text, {len(words)} different ones; ' the' occurs {words[' the']} times"
)

tok = Tokenizer.train(text, 1024)
inside = [piece for piece in tok.pieces[256:] if b" " in piece[1:].rstrip(b" ")]
print("tokens with a space between letters:", inside)

# A word that was met before comes out of the cache.
tok.encode("the cat, the cat")
print("words in the cache:", sorted(tok.cache))

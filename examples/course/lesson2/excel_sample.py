"""Steps 3 to 5 on a text of our own: 256 merges, one sample there and back, and bytes that are no text.

Answers "Step 5: decoding back to text" of the second course. `data/english.txt` stands for its `my_text.txt`.
"""

from __future__ import annotations

from pathlib import Path

from byteloom.course.lesson2 import build_vocab, decode, encode, train

corpus = (Path(__file__).parents[1] / "data" / "english.txt").read_text(encoding="utf-8")
merges = train(corpus, vocab_size=512)
vocab = build_vocab(merges)
print(f"{len(merges)} merges from {len(corpus.encode()):,} bytes; {len(vocab)} tokens")

sample = "Excel formulas are excellent"
ids = encode(sample, merges)
print(f"{len(sample)} bytes -> {len(ids)} tokens:", [decode([id_], vocab) for id_ in ids])
print("back again:", decode(ids, vocab) == sample)

# Part of a character decodes to the replacement character: a model that generates one does not stop.
rocket = list("🚀".encode())
print([decode(rocket[:length], vocab) for length in range(1, 5)])

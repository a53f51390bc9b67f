"""Exercise 3: merges to JSON and back, for use in a later lesson.

JSON has no pairs as keys, so the file is a list of [left, right, new id]. The order is the order of learning.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from byteloom.course.lesson2 import build_vocab, decode, encode, load_merges, save_merges, train

text = (Path(__file__).parents[1] / "data" / "english.txt").read_text(encoding="utf-8")
merges = train(text, vocab_size=512)

with TemporaryDirectory() as folder:
    path = Path(folder, "merges.json")
    save_merges(merges, path)
    print("the first three entries:", json.loads(path.read_text(encoding="utf-8"))[:3])
    again = load_merges(path)

print("merges:", len(again))
print("the same rules in the same order:", list(again.items()) == list(merges.items()))
sample = "The bread is warm."
ids = encode(sample, again)
print("the same ids:", ids == encode(sample, merges), ids)
print("back again:", decode(ids, build_vocab(again)) == sample)

"""The way out of the first course: its tokenizer becomes a `byteloom.Tokenizer` with the same ids.

Goes on from "Saving and loading": save, load, many texts at once, and a file that other programs read.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import byteloom as bl
from byteloom.course.step1 import Tokenizer

text = (Path(__file__).parents[1] / "data" / "english.txt").read_text(encoding="utf-8")
learned = Tokenizer.train(text, 1024)
tok = learned.to_tokenizer()

print("tokens:", learned.vocab_size, tok.vocab_size)
print("the same ids:", tok.encode(text) == learned.encode(text))
print("the same special tokens:", tok.special_tokens == learned.special)

with TemporaryDirectory() as folder:
    # The course's file holds the merge rules and nothing else; the package reads it too.
    rules, whole, exported = (Path(folder, name) for name in ("rules.json", "tok.json", "tokenizer.json"))
    learned.save(rules)
    stored = json.loads(rules.read_text(encoding="utf-8"))
    print("the course's file holds:", {name: len(value) for name, value in stored.items()})
    print("loaded by the package:", bl.Tokenizer.load(rules) == tok)

    tok.save(whole)
    again = bl.Tokenizer.load(whole)
    print("saved and loaded:", again == tok)

    tok.save_huggingface(exported)
    print("as a Hugging Face file:", json.loads(exported.read_text(encoding="utf-8"))["model"]["type"])

batch = ["The boats come back.", "", "The bread is warm."]
rows = again.encode_batch(batch)
print("tokens a row:", [len(row) for row in rows])
print("back again:", again.decode_batch(rows) == batch)
array = again.encode_batch_array(batch, dtype="uint16")
print("padded:")
print(array.to_padded(pad_id=again.special_tokens["<pad>"]).ids)

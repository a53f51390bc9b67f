"""Saving a trained tokenizer and loading it again.

Answers "Saving and Loading" of the third course.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from sample_program import PROGRAM

from byteloom.course.module03 import BPETokenizer

tok = BPETokenizer(vocab_size=200)
tok.train(PROGRAM * 3, show_progress=False)

with TemporaryDirectory() as folder:
    path = Path(folder, "code.json")
    tok.save(path)
    loaded = BPETokenizer.load(path)

text = "def test():"
print("before:", tok.encode(text))
print("after: ", loaded.encode(text))
print("the same on the whole program:", loaded.encode(PROGRAM) == tok.encode(PROGRAM))
print("the same vocabulary and merges:", loaded.vocab == tok.vocab, list(loaded.merges) == list(tok.merges))

"""The way out of the third course: its byte-level tokenizer becomes a `byteloom.Tokenizer` with the same ids.

Goes on from "Saving and Loading": save, load, many texts at once, text that arrives token by token.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import byteloom as bl
from byteloom.course.module03 import SPECIAL_TOKENS, ByteLevelBPETokenizer

text = (Path(__file__).parents[1] / "data" / "english.txt").read_text(encoding="utf-8")
learned = ByteLevelBPETokenizer(vocab_size=1000)
learned.train(text, show_progress=False)
tok = learned.to_tokenizer()

samples = [text, "don't stop: GPT2 costs $1,024", "café ☕ 你好\r\n\t42", ""]
print("tokens:", len(learned.vocab), tok.vocab_size)
print("the same ids:", all(tok.encode(sample) == learned.encode(sample) for sample in samples))
print("the same special tokens:", tok.special_tokens == SPECIAL_TOKENS)

with TemporaryDirectory() as folder:
    path = Path(folder, "tok.json")
    tok.save(path)
    again = bl.Tokenizer.load(path)
print("saved and loaded:", again == tok)

rows = again.encode_batch(samples)
print("tokens a row:", [len(row) for row in rows])
print("back again:", again.decode_batch(rows) == samples)

# A character of several tokens is shown when its last byte has come.
decoder = again.stream_decoder()
print("token by token:", [decoder.feed(id_) for id_ in again.encode("tea ☕")] + [decoder.flush()])

"""Exercise 4, whitespace: spaces apart from the words, or a leading space in the word.

Answers exercise 4 of the third course and its closing remark on other tokenizers.
"""

from __future__ import annotations

from byteloom.course.module03 import BPETokenizer, ByteLevelBPETokenizer

code = "def foo():\n    return 1\ndef bar():\n    return 2"
tok = BPETokenizer(vocab_size=100)
tok.train(code, show_progress=False)
for sample in ("def foo():", "    return", "        x"):
    print(f"{sample!r}: {[tok.id_to_token(id_) for id_ in tok.encode(sample)]}")

# Why no token of four spaces: once "  " is one, "\n" + "  " is as frequent as "  " + "  ", and stands first.
print("merges of whitespace:", [merged for merged in tok.merges.values() if merged.isspace()])

byte_tok = ByteLevelBPETokenizer(vocab_size=400)
byte_tok.train("say hello and hello again " * 20, show_progress=False)
tokens = [byte_tok.id_to_token(id_) for id_ in byte_tok.encode("say hello")]
print("with the space in the word:", [token.replace("Ġ", " ") for token in tokens])

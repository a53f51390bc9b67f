"""Exercise 1, compression: which text takes the fewest tokens for its length, and why not the repetitive one?

The course expects the repetitive text to compress best. Its own figures say otherwise: 2.00 is the least.
"""

from __future__ import annotations

from sample_program import PROGRAM

from byteloom.course.module03 import BPETokenizer, ByteLevelBPETokenizer

texts = {
    "repetitive": "the the the " * 100,
    "varied": " ".join(f"word{number}" for number in range(100)),
    "code": PROGRAM,
}
for name, text in texts.items():
    tok = BPETokenizer(vocab_size=200)
    tok.train(text, show_progress=False)
    ids = tok.encode(text)
    longest = max(tok.merges.values(), key=len)
    print(f"{name:10}: {len(text) / len(ids):.2f} characters a token, longest token {longest!r}")

# The reason: the split lets no token cross a space, so "the " is two tokens however often it comes.
print("The true figure: the repetitive text compresses worst.")
repetitive = texts["repetitive"]
tok = BPETokenizer(vocab_size=200)
tok.train(repetitive, show_progress=False)
print("  because:", [tok.id_to_token(id_) for id_ in tok.encode("the the")])
bytewise = ByteLevelBPETokenizer(vocab_size=400)
bytewise.train(repetitive, show_progress=False)
ratio = len(repetitive) / len(bytewise.encode(repetitive))
print(f"  with the space in the word, as in GPT-2's split: {ratio:.2f} characters a token")

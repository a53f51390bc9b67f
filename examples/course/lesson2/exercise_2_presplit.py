"""Exercise 2: split first, then train merges inside the pieces only.

Also answers "Real tokenizers add a few extras" of the second course: no token holds "dog" and a full stop.
"""

from __future__ import annotations

from byteloom.course.lesson2 import (
    build_vocab,
    decode,
    encode_presplit,
    presplit,
    train,
    train_presplit,
)

print(presplit("The dog. A dog! 3 dogs\n\nend"))

text = "a dog. a dog! a dog. a dog! " * 5
whole, split = train(text, vocab_size=300), train_presplit(text, vocab_size=300)
for name, merges in (("whole text", whole), ("split first", split)):
    tokens = [token.decode() for id_, token in build_vocab(merges).items() if id_ >= 256]
    crossing = [token for token in tokens if "g." in token or "g!" in token]
    print(f"{name}: {len(tokens)} merges, {len(crossing)} of them join a word with its punctuation")
    print("  the first of those:", crossing[:3])
print("all tokens of the split:", [token.decode() for token in list(build_vocab(split).values())[256:]])

sample = "a dog. 3 dogs!"
ids = encode_presplit(sample, split)
vocab = build_vocab(split)
print([vocab[id_].decode() for id_ in ids], decode(ids, vocab) == sample)

# A word character is what Python's `\w` says. Vowel signs of Hindi are none, so words come apart there:
print(presplit("नमस्ते"))

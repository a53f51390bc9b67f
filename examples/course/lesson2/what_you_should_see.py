"""What you should see: how much 256 merges save, and what the first twenty tokens are.

Answers "What you should see" of the second course.
"""

from __future__ import annotations

from pathlib import Path

from byteloom.course.lesson2 import build_vocab, encode, encode_presplit, train, train_presplit

text = (Path(__file__).parents[1] / "data" / "english.txt").read_text(encoding="utf-8")
cut = text.index("The orchestra")
seen, unseen = text[:cut], text[cut:]

merges = train(seen, vocab_size=512)
print(f"trained on {len(seen.encode()):,} bytes, {len(merges)} merges; saved, of 100 bytes:")
for name, part in (("unseen text", unseen), ("the training text", seen)):
    size = len(part.encode())
    print(f"  {name}: {100 * (1 - len(encode(part, merges)) / size):.0f} ({size:,} bytes)")
print("The course expects a third to a half. The true figure for unseen text is a little more here.")

print("\nThe first tokens")
vocab = build_vocab(merges)
for id_ in range(256, 276):
    print(id_, repr(vocab[id_].decode("utf-8", errors="replace")))

# The course tells of " t" and " the". A whole text also joins across words; split first, its story holds.
split = train_presplit(seen, vocab_size=512)
split_vocab = build_vocab(split)
print("\nThe first tokens with a split into words first")
print([split_vocab[id_].decode("utf-8", errors="replace") for id_ in range(256, 276)])
words = [(id_, token.decode()) for id_, token in split_vocab.items() if token in {b" the", b" Excel"}]
print(f"words among the {len(split)}: {words}; Excel occurs only {seen.count('Excel')} times in this text")
saved = 1 - len(encode_presplit(unseen, split)) / len(unseen.encode())
print(f"saved on unseen text, of 100 bytes: {100 * saved:.0f}")

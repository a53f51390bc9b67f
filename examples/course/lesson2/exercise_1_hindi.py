"""Exercise 1: train on English, encode Hindi. Why so many more tokens?

The answer is in the table: a Hindi character is 3 bytes, and no merge of an English text joins any of them.
An English character is 1 byte, and the merges join several. The course's 200 KB of English are 13 kB here.
"""

from __future__ import annotations

from pathlib import Path

from byteloom.course.lesson2 import build_vocab, encode, encoding_cost, train

DATA = Path(__file__).parents[1] / "data"
english = (DATA / "english.txt").read_text(encoding="utf-8")
*other_hindi, hindi = (DATA / "hindi.txt").read_text(encoding="utf-8").splitlines()

merges = train(english, vocab_size=512)
vocab = build_vocab(merges)

print("text     characters  bytes  tokens  bytes a char  tokens a char")
for name, text in (("English", english[: len(hindi)]), ("Hindi", hindi)):
    cost = encoding_cost(text, merges)
    counts = f"{cost['characters']:11} {cost['bytes']:6} {cost['tokens']:7}"
    print(f"{name:7} {counts} {cost['bytes_per_character']:13.2f} {cost['tokens_per_character']:14.2f}")

# The reason as data: tokens that hold more than one byte of a Hindi character.
joined = {token for token in encode(hindi, merges) if len(vocab[token]) > 1}
print("learned tokens used in the Hindi text:", [vocab[token].decode() for token in sorted(joined)])
print("bytes above 127 in learned tokens:", sum(byte > 127 for id_ in merges.values() for byte in vocab[id_]))

# The cure is Hindi in the training text: here six other sentences.
both = train(english + "\n".join(other_hindi), vocab_size=512)
cost = encoding_cost(hindi, both)
print(f"trained on both: {cost['tokens']} tokens, {cost['tokens_per_character']:.2f} a character")

"""The entropy before each byte: high where a word begins, low inside it.

Answers "The Math: next-byte entropy" and the first half of "From scratch" of the third course's last part.
"""

from __future__ import annotations

from blt_sample import CORPUS, SENTENCE

from byteloom.course.blt import ByteEntropyModel, byte_entropy

for name, chances in {"every byte alike": [1 / 256] * 256, "one byte for certain": [0.0, 1.0]}.items():
    print(f"{name}: {byte_entropy(chances):.1f} bits")

model = ByteEntropyModel(order=4).train(CORPUS)
surprise = model.entropies(SENTENCE)
for char, bits in list(zip(SENTENCE, surprise, strict=True))[:14]:
    print(f"{char!r} {bits:4.1f} {'█' * int(bits * 3)}")

print("the byte after 'the model predic' against the first of a word:")
for text in ("the model predict", "the model p"):
    print(f"  {text[-1]!r}: {model.entropies(text)[-1]:.2f} bits")

# After bytes it never saw, the model guesses all 256 alike. Only the first byte has none before it.
print("bytes never seen:", [round(bits, 2) for bits in model.entropies("你")])
print(
    "a model that has learned nothing:",
    [round(bits, 2) for bits in ByteEntropyModel(order=4).entropies("ab")],
)

"""Training to 1,024 tokens, the size of the course, and what happens when the text is too short for it.

Answers "What we build" and "Training" of the first course.
"""

from __future__ import annotations

from pathlib import Path

from byteloom.course.step1 import SPECIALS, Tokenizer

text = (Path(__file__).parents[1] / "data" / "english.txt").read_text(encoding="utf-8")

tok = Tokenizer.train(text, 1024)
print(f"text: {len(text.encode()):,} bytes")
print(f"tokens: {tok.vocab_size:,} = 256 bytes + {len(tok.merges)} merges + {len(SPECIALS)} special tokens")
print("special tokens:", tok.special)

sample = "The baker looks at the light on the water."
ids = tok.encode(sample)
print(f"{len(sample)} characters in {len(ids)} tokens:", [tok.decode([id_]) for id_ in ids])

# The course says that the size asked for comes out exactly. That needs enough pairs that occur twice:
print("The true figures: training stops early when no pair occurs twice.")
for asked, short in [(270, "the cat and the can and the cat"), (271, "the cat and the can and the cat")]:
    print(f"  {len(short)} characters, {asked} asked for: {Tokenizer.train(short, asked).vocab_size}")
print(f"  {len(text):,} characters, 5,000 asked for: {Tokenizer.train(text, 5000).vocab_size:,}")

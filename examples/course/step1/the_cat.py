"""Try it out: nine merges are enough for "the" and " cat"; with four, " cat" falls apart.

Answers the section "Try it out" of the first course, with 270 tokens and then with 265.
"""

from __future__ import annotations

from byteloom.course.step1 import SPECIALS, Tokenizer

text = "the cat and the can and the cat"

tok = Tokenizer.train(text, 270)
ids = tok.encode("the cat")
print("With 270 tokens")
print(f"  256 bytes + {len(SPECIALS)} special tokens + {len(tok.merges)} merges = {tok.vocab_size}")
for (left, right), piece in zip(tok.merges, tok.pieces[256:], strict=True):
    print(f"    {tok.rank[left, right]}: {tok.pieces[left]!r} + {tok.pieces[right]!r} = {piece!r}")
print("  ids:   ", ids)
print("  tokens:", [tok.decode([id_]) for id_ in ids])
print("  back again:", tok.decode(ids) == "the cat")

small = Tokenizer.train(text, 265)
print("With 265 tokens")
print("  merges:", len(small.merges))
print("  tokens of ' cat':", [small.decode([id_]) for id_ in small.encode(" cat")])
print("  back again:", small.decode(small.encode("the cat")) == "the cat")

"""The Pre-token Splitter's four things to try; the dot is the space before a word.

Answers "Try This" 1 to 4 of "Interactive: The Pre-token Splitter" in the third course.
"""

from __future__ import annotations

from byteloom.course.module03 import ByteLevelBPETokenizer, gpt2_pretokenize


def chips(text: str) -> str:
    """The pre-tokens in brackets."""
    return " ".join("[" + piece.replace(" ", "·") + "]" for piece in gpt2_pretokenize(text))


print("1. break a contraction:", chips("wouldn't've"))

print("2. numbers stay pure:", chips("Route66 costs $1,024"))
for split in ("gpt2", "simple"):
    tok = ByteLevelBPETokenizer(vocab_size=400, pretokenizer=split)
    tok.train("Route66 costs $1,024 GPT2 don't " * 20, show_progress=False)
    print(
        f"   tokens learned with {split}:",
        [w for w in ("Route66", "$1,024", "GPT2", "don't") if w in tok.vocab],
    )

print("3. the leading space:", chips("the the the"))
tok = ByteLevelBPETokenizer(vocab_size=400)
tok.train("the the the " * 20, show_progress=False)
ids = tok.encode("the the the")
print("  ", ids, [tok.id_to_token(id_) for id_ in ids])

print("4. switch to simple and train again:")
corpus = "don't stop. I'll pay $20. don't wait. I'll go. " * 40
gpt2, simple = (ByteLevelBPETokenizer(vocab_size=300, pretokenizer=split) for split in ("gpt2", "simple"))
for tok in (gpt2, simple):
    tok.train(corpus, show_progress=False)
shared = set(gpt2.merges.values()) & set(simple.merges.values())
print(f"   other merges: {list(gpt2.merges) != list(simple.merges)}; tokens in both: {sorted(shared)}")
for text in (corpus, "wouldn't've", "Route66 costs $1,024", "☕\r\n\t x"):
    same = all(tok.decode(tok.encode(text)) == text for tok in (gpt2, simple))
    print(f"   {text[:20]!r} back again from both: {same}")

"""Two ways to split before merging: as many merges, but other ones.

Answers "Pre-tokenization" and "From Scratch: gpt2_pretokenize" of the third course.
"""

from __future__ import annotations

from byteloom.course.module03 import ByteLevelBPETokenizer, gpt2_pretokenize

for text in ("Don't merge GPT2 across_words!", " the café costs €5.50"):
    print(gpt2_pretokenize(text))
text = "café ☕ 你好\n\t42"
print("round-trip-safe:", "".join(gpt2_pretokenize(text)) == text)

corpus = "don't stop. I'll pay $20. don't wait. I'll go. " * 40
for split in ("gpt2", "simple"):
    tok = ByteLevelBPETokenizer(vocab_size=300, pretokenizer=split)
    tok.train(corpus, show_progress=False)
    print(f"{split}: {tok.training_stats['num_merges']} merges, {tok.decode(tok.encode(corpus)) == corpus}")
    print("  ", " ".join(tok.merges.values()))

# Three sentences of the course are true only in part:
print("Whitespace runs give their last space to the word:", gpt2_pretokenize("\n    return"))
simple = ByteLevelBPETokenizer(vocab_size=300, pretokenizer="simple")
simple.train("the cat and the dog " * 20, show_progress=False)
print("The simple split has no ' the' at all:", "Ġthe" in simple.vocab, "the" in simple.vocab)
print(
    "Letters and digits mix where a digit is none for `\\d`:", gpt2_pretokenize("m²"), gpt2_pretokenize("m2")
)

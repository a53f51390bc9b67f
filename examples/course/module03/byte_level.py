"""Characters against bytes: seven unknown characters and a lost text, or none and the text itself.

Answers "Byte-Level BPE" of the third course up to "From Scratch: ByteLevelBPETokenizer".
"""

from __future__ import annotations

from byteloom.course.module03 import (
    SPECIAL_TOKENS,
    BPETokenizer,
    ByteLevelBPETokenizer,
    bytes_to_unicode,
)

for char in "Aé☕好":
    print(f"{char!r} U+{ord(char):04X} {list(char.encode())}")

glyphs = bytes_to_unicode()
print(
    "glyphs:",
    {repr(chr(byte)): glyphs[byte] for byte in b" \n\tA"},
    f"{len(set(glyphs.values()))} different ones",
)

corpus = "the code returns hello world def class self " * 20
text = "café ☕ 你好 — 42"
for name, tok in (
    ("Character-level", BPETokenizer(vocab_size=400)),
    ("Byte-level", ByteLevelBPETokenizer(vocab_size=400)),
):
    tok.train(corpus, show_progress=False)
    ids = tok.encode(text)
    unknown = ids.count(SPECIAL_TOKENS["<UNK>"])
    back = tok.decode(ids)
    print(f"{name}: {len(ids)} tokens, {unknown} <UNK>, round-trip={back == text}")
    print(f"  back again: {back!r}")

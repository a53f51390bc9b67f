"""The Byte Explorer's four things to try, and a cut inside a character.

Answers "Try This" 1 to 4 of "Interactive: Byte Explorer" in the third course, and the warning after it.
"""

from __future__ import annotations

from byteloom.course.module03 import SPECIAL_TOKENS, ByteLevelBPETokenizer

tok = ByteLevelBPETokenizer(vocab_size=400)
tok.train("the code returns hello world def class self " * 20, show_progress=False)

tries = {
    "1. an emoji fans out": ["🚀"],
    "2. accents cost two": ["e", "é"],
    "3. other scripts": ["你好", "مرحبا"],
    "4. whitespace is bytes too": ["\t", "\n"],
}
for title, texts in tries.items():
    print(title)
    for text in texts:
        ids = tok.encode(text)
        unknown = ids.count(SPECIAL_TOKENS["<UNK>"])
        print(f"  {text!r}: bytes {list(text.encode())}")
        print(f"    tokens: {len(ids)}, unknown: {unknown}, back again: {tok.decode(ids) == text}")

print("A cut inside a character")
for text, cut in (("hi ☕", -1), ("é", 1)):
    print(f"  {text!r} up to token {cut}: {tok.decode(tok.encode(text)[:cut])!r}")
broken = tok.encode("🚀")[:2] + tok.encode("x")
print(f"  half a rocket, then x: {tok.decode(broken)!r}")

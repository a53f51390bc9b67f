"""Step 1, text to bytes: characters take 1 to 4 bytes, Hindi characters 3.

Answers "Step 1: text to bytes" of the second course, whose two printed lines it gives.
"""

from __future__ import annotations

from byteloom.course.lesson2 import encode

text = "नमस्ते Excel! Excel formulas are excellent."
ids = list(text.encode("utf-8"))
print(len(text), "characters ->", len(ids), "bytes")
print(ids[:12])

# Without merges, encoding is the bytes and nothing else.
print("encoding without merges:", encode(text, {}) == ids)
for char in "aén🚀न":
    print(f"  {char}: {len(encode(char, {}))}")

"""Step 1, text to bytes: characters take 1 to 4 bytes, Hindi characters 3.

Answers "Step 1: text to bytes" of the second course, whose two printed lines it gives.
"""

from __future__ import annotations

from byteloom.course.lesson2 import encode

greeting = "नमस्ते Excel! Excel formulas are excellent."
data = greeting.encode()
print(f"{len(greeting)} characters -> {len(data)} bytes; the first four characters:")
print(list(data)[:12])

# Encoded without merges:
print("the bytes and nothing else:", encode(greeting, {}) == list(data))
for char in "aén🚀न":
    print(f"  {char}: {len(encode(char, {}))}")

"""The idea in one example: aaabdaaabac becomes ZabdZabac, then YbdYbac.

Answers "The idea in one example" and "Step 2" of the second course. Z is token 256 and Y is token 257.
"""

from __future__ import annotations

from byteloom.course.lesson2 import get_pairs, merge, train

LETTERS = {256: "Z", 257: "Y"}


def show(ids: list[int]) -> str:
    """The ids as letters."""
    return "".join(LETTERS.get(id_, chr(id_)) for id_ in ids)


ids = list(b"aaabdaaabac")
print(show(ids), {show(list(pair)): count for pair, count in get_pairs(ids).most_common()})
for pair, new_id in train("aaabdaaabac", vocab_size=258).items():
    ids = merge(ids, pair, new_id)
    counts = {show(list(two)): count for two, count in get_pairs(ids).most_common()}
    print(f"{show(list(pair))} -> {LETTERS[new_id]}: {show(ids)} {counts}")

# After Z, the pairs Za and ab both occur twice. The one that stands first in the text wins.
more = train("aaabdaaabac", vocab_size=400)
print(f"without a limit: {len(more)} merges, until one token is left")

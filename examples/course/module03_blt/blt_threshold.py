"""Driving the threshold: its extremes, the starts of words, and the rule that looks at jumps.

Answers "Try This" 1 to 3 of "Interactive: drive the threshold" in the third course.
"""

from __future__ import annotations

from blt_sample import CORPUS, SENTENCE

from byteloom.course.blt import (
    ByteEntropyModel,
    average_patch_size,
    patch_boundaries_global,
    patch_boundaries_monotonic,
    relative_global_compute,
)

size = len(SENTENCE)
surprise = ByteEntropyModel(order=4).train(CORPUS).entropies(SENTENCE)


def cut(boundaries: list[int]) -> str:
    """The sentence with a bar at every boundary."""
    return "|".join(SENTENCE[a:b] for a, b in zip(boundaries, [*boundaries[1:], size], strict=True))


print("1. the extremes")
for theta in (0.0, 0.6, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5):
    boundaries = patch_boundaries_global(surprise, theta)
    average = average_patch_size(boundaries, size)
    print(
        f"   θ = {theta}: {len(boundaries):2} patches, {average:5.2f} bytes a patch,"
        f" {relative_global_compute(average):.2f} of the work"
    )

print("2. the starts of words, at θ = 2.0")
boundaries = patch_boundaries_global(surprise, 2.0)
for word in ("model", "predicts", "token"):
    start = SENTENCE.index(word)
    inside = [SENTENCE[place] for place in boundaries if start < place < start + len(word)]
    print(f"   {word}: starts a patch: {start in boundaries}, patches that start inside: {inside}")

starts = [place for place in range(size) if place == 0 or SENTENCE[place - 1] == " "]
at_words = len(set(boundaries) & set(starts))
print(f"   {at_words} of {len(boundaries)} patches start at one of the {len(starts)} words")

print("3. the monotonic rule: a patch starts where surprise jumps")
for jump in (0.5, 1.0, 1.5):
    print(f"   by more than {jump}: {cut(patch_boundaries_monotonic(surprise, jump))}")
# It looks at differences only: more surprise everywhere moves the first rule and leaves the second.
drifted = [bits + 1.0 for bits in surprise]
print(
    "   1 bit more everywhere, global:   ", len(boundaries), "->", len(patch_boundaries_global(drifted, 2.0))
)
before, after = (patch_boundaries_monotonic(entropies, 1.0) for entropies in (surprise, drifted))
print("   1 bit more everywhere, monotonic:", len(before), "->", len(after))

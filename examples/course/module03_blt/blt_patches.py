"""Patches: a new one wherever the next byte surprises by more than a threshold, and what that saves.

Answers the second half of "From scratch" in the last part of the third course.
"""

from __future__ import annotations

from blt_sample import CORPUS, SENTENCE

from byteloom.course.blt import (
    ByteEntropyModel,
    average_patch_size,
    patch_boundaries_global,
    patches_from_boundaries,
    relative_global_compute,
)

data = list(SENTENCE.encode())
surprise = ByteEntropyModel(order=4).train(CORPUS).entropies(SENTENCE)

theta = 2.0
boundaries = patch_boundaries_global(surprise, theta)
patches = patches_from_boundaries(data, boundaries)
average = average_patch_size(boundaries, len(data))
print(f"cut above {theta} bits: {len(patches)} patches of {average:.2f} bytes on average")
print(f"the large model runs {relative_global_compute(average):.2f} times as often as on every byte")
print([bytes(patch).decode() for patch in patches])
print("joined again:", b"".join(map(bytes, patches)).decode() == SENTENCE)

print("a higher θ gives fewer patches, a lower one more:")
for theta in (1.0, 2.0, 3.0):
    patches = patches_from_boundaries(data, patch_boundaries_global(surprise, theta))
    print(f"  θ = {theta}:", "|".join(bytes(patch).decode() for patch in patches))

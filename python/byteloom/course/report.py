"""What the third course prints, word for word: the only place of the library that prints."""

from __future__ import annotations

__all__ = ["merge_learned", "say", "training_begins", "training_ends"]

_RULE = "=" * 60


def say(text: str = "") -> None:
    """One line on standard output, where the courses print."""
    print(text)  # noqa: T201 - the courses do


def training_begins(title: str, characters: int, vocab_size: int) -> None:
    """The head of a training report."""
    say(f"{_RULE}\n{title}\n{_RULE}")
    say(f"Text length: {characters:,} characters")
    say(f"Target vocab size: {vocab_size:,}\n")


def merge_learned(number: int, wanted: int, pair: tuple[str, str], count: int) -> None:
    """The line of one merge: the `number`-th of the `wanted` ones, of a pair that occurred `count` times."""
    left, right = pair
    progress = 100 * number / wanted
    say(
        f"  Merge {number}: {left!r} + {right!r} → {left + right!r} "
        f"(count: {count}, progress: {progress:.1f}%)"
    )


def training_ends(vocab_size: int, merges: int) -> None:
    """The foot of a training report."""
    say(f"\nTraining complete!\n  Final vocab size: {vocab_size:,}\n  Merges learned: {merges:,}\n")

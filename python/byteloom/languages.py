"""A small parallel sample: the same sentences in several languages and scripts.

It was written in English for byteloom and translated for it; it comes from no corpus. Seven sentences show
which scripts a vocabulary was made for; they are too little to rank two tokenizers that are close.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["Language", "parallel_sample"]


@dataclass(frozen=True)
class Language:
    """The sample in one language."""

    code: str
    """Two letters, such as `"hi"` (ISO 639-1)."""
    name: str
    script: str
    spaces: bool
    """Whether the language puts spaces between words. Where it does not, counting words makes no sense."""
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentences, one a line."""
        return "\n".join(self.sentences)


def parallel_sample() -> tuple[Language, ...]:
    """The sample: English first, the others by name. Sentence `i` says the same in each.

    >>> import byteloom as bl
    >>> sample = bl.languages.parallel_sample()
    >>> len(sample), sample[0].name, sample[0].sentences[5]
    (13, 'English', 'Nobody knows how long the light has been burning.')
    """
    data = json.loads(files("byteloom").joinpath("data/parallel.json").read_text(encoding="utf-8"))
    return tuple(
        Language(**{**language, "sentences": tuple(language["sentences"])}) for language in data["languages"]
    )

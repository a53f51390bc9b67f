"""Every error that byteloom raises on its own account.

    ByteloomError
    ├── TextError(ValueError)           text that is not well-formed Unicode
    ├── VocabularyError(ValueError)     a vocabulary that cannot work
    ├── FormatError(ValueError)         a file that is not what its format asks for
    ├── PatternError(ValueError)        a pre-tokenizer pattern
    ├── SpecialTokenError(ValueError)   special tokens, and texts that spell them
    ├── TrainingError(ValueError)       a training request that cannot be met
    ├── ChatError(ValueError)           a conversation
    ├── PatchingError(ValueError)       an entropy model or a patcher
    └── UnknownTokenError(KeyError)     an id that stands for no token

Files that cannot be read stay `OSError`, wrong types `TypeError`, options outside their range `ValueError`.
"""

__all__ = [
    "ByteloomError",
    "ChatError",
    "FormatError",
    "PatchingError",
    "PatternError",
    "SpecialTokenError",
    "TextError",
    "TrainingError",
    "TrainingWarning",
    "UnknownTokenError",
    "VocabularyError",
]


class ByteloomError(Exception):
    """Base of all errors that byteloom raises on its own account."""


class TextError(ByteloomError, ValueError):
    """Text that is not well-formed: a lone surrogate, or bytes that are not UTF-8 where they must be."""


class VocabularyError(ByteloomError, ValueError):
    """A vocabulary that no tokenizer can be built from."""


class FormatError(ByteloomError, ValueError):
    """A file that is damaged, or not what its format asks for."""


class PatternError(ByteloomError, ValueError):
    """A pre-tokenizer pattern that does not compile or ran out of its step limit."""


class SpecialTokenError(ByteloomError, ValueError):
    """A special token that cannot be declared, or that a text spells without leave."""


class TrainingError(ByteloomError, ValueError):
    """A training request that cannot be met."""


class ChatError(ByteloomError, ValueError):
    """A conversation that cannot be rendered or encoded."""


class PatchingError(ByteloomError, ValueError):
    """An entropy model or a patcher that was asked for something impossible."""


class UnknownTokenError(ByteloomError, KeyError):
    """An id that stands for no token.

    `args[0]` is the id, `position` its place in the sequence, `item` the sequence of a batch that held it.

    >>> error = UnknownTokenError(300, position=2)
    >>> str(error)
    'id 300 at position 2 is not in the vocabulary'
    >>> error.args
    (300,)
    """

    def __init__(self, id: int, position: int | None = None, item: str | None = None) -> None:  # noqa: A002
        super().__init__(id)
        self.position = position
        self.item = item

    def __str__(self) -> str:
        where = "" if self.position is None else f" at position {self.position}"
        if self.item is not None:
            where += f" of {self.item}"
        return f"id {self.args[0]}{where} is not in the vocabulary"

    def __reduce__(self) -> tuple[type["UnknownTokenError"], tuple[int, int | None, str | None]]:
        return type(self), (self.args[0], self.position, self.item)


class TrainingWarning(UserWarning):
    """Training ended earlier than asked, such as when no pair was left to merge."""

"""byteloom: train, use and understand tokenizers.

>>> import byteloom as bl
>>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=260)
>>> tok.decode(tok.encode("lowest"))
'lowest'
"""

from ._native import StreamDecoder, __version__, pattern_names
from ._ragged import Padded, Ragged
from ._tokenizer import Tokenizer
from .errors import (
    ByteloomError,
    ChatError,
    FormatError,
    PatchingError,
    PatternError,
    SpecialTokenError,
    TextError,
    TrainingError,
    TrainingWarning,
    UnknownTokenError,
    VocabularyError,
)

__all__ = [
    "ByteloomError",
    "ChatError",
    "FormatError",
    "Padded",
    "PatchingError",
    "PatternError",
    "Ragged",
    "SpecialTokenError",
    "StreamDecoder",
    "TextError",
    "Tokenizer",
    "TrainingError",
    "TrainingWarning",
    "UnknownTokenError",
    "VocabularyError",
    "__version__",
    "pattern_names",
]

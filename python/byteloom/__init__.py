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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import chat as chat
    from . import explain as explain
    from . import languages as languages
    from . import patching as patching
    from . import plots as plots
    from . import render as render
    from ._change import ChangeReport, VocabularyChange
    from ._compare import compare
    from ._comparison import Comparison
    from ._counts import PretokenCounts
    from ._doctor import Finding, doctor
    from ._inputs import Documents, ReadingStats, documents
    from ._verify import Reference, VerifyReport, reference, verify
    from ._vocabulary import Vocabulary
    from .explain import Explanation
    from .patching import ByteEntropyModel
del TYPE_CHECKING

# Imported when they are asked for: few programs need them, and they cost more than all the rest.
_LATER = {
    "ByteEntropyModel": "patching",
    "ChangeReport": "_change",
    "Comparison": "_comparison",
    "Documents": "_inputs",
    "Explanation": "explain",
    "Finding": "_doctor",
    "PretokenCounts": "_counts",
    "ReadingStats": "_inputs",
    "Reference": "_verify",
    "VerifyReport": "_verify",
    "Vocabulary": "_vocabulary",
    "VocabularyChange": "_change",
    "compare": "_compare",
    "doctor": "_doctor",
    "documents": "_inputs",
    "reference": "_verify",
    "verify": "_verify",
}

# Modules that are there as `byteloom.name` without an import of their own.
_MODULES = ("chat", "explain", "languages", "patching", "plots", "render")

__all__ = [
    "ByteEntropyModel",
    "ByteloomError",
    "ChangeReport",
    "ChatError",
    "Comparison",
    "Documents",
    "Explanation",
    "Finding",
    "FormatError",
    "Padded",
    "PatchingError",
    "PatternError",
    "PretokenCounts",
    "Ragged",
    "ReadingStats",
    "Reference",
    "SpecialTokenError",
    "StreamDecoder",
    "TextError",
    "Tokenizer",
    "TrainingError",
    "TrainingWarning",
    "UnknownTokenError",
    "VerifyReport",
    "Vocabulary",
    "VocabularyChange",
    "VocabularyError",
    "__version__",
    "compare",
    "doctor",
    "documents",
    "pattern_names",
    "reference",
    "verify",
]


def __getattr__(name: str) -> object:
    if name not in _LATER and name not in _MODULES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    import importlib  # noqa: PLC0415 - as said above

    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    value: object = getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_MODULES})

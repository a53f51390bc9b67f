"""`Finding`: one thing that the doctor has to say."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

__all__ = ["Finding", "Severity"]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """Something about a tokenizer or a pattern that may need mending.

    >>> Finding("note", "id-holes", "ids 3 and 4 stand for no token", "nothing has to be done").code
    'id-holes'
    """

    severity: Severity
    """`"error"`: it does not work; `"warning"`: it may surprise; `"note"`: good to know."""
    code: str
    """A name that stays the same, for programs."""
    message: str
    """What was found, with an example."""
    mend: str
    """What can be done."""

    def to_dict(self) -> dict[str, str]:
        """The finding as plain data."""
        return asdict(self)

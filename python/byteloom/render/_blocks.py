"""What is drawn, before it is known where: a page of blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "Block",
    "Chip",
    "Details",
    "Heading",
    "Inline",
    "Node",
    "Note",
    "Sparkline",
    "Strip",
    "Table",
    "Tree",
]


@dataclass(frozen=True)
class Chip:
    """A piece of text with visible boundaries: a token, a pre-token, a patch, a segment."""

    data: bytes
    shade: int = 0
    """Which of the colours that take turns."""
    kind: Literal["token", "special", "quiet"] = "token"
    """`special` stands out; `quiet` has boundaries and no colour."""
    title: str = ""
    """What is said of it where the pointer rests; nothing that is not said elsewhere too."""
    mark: bool | None = None
    """A loss mask: marked or not; `None` where there is none."""


Inline = str | Chip | tuple["str | Chip", ...]
"""Words, a chip, or several of both. Words may be anybody's: each face makes them harmless."""


@dataclass(frozen=True)
class Heading:
    """A heading of level 1, 2 or 3."""

    text: Inline
    level: int = 1


@dataclass(frozen=True)
class Note:
    """A line of words."""

    text: Inline


@dataclass(frozen=True)
class Strip:
    """Chips one after another: a text, cut."""

    chips: tuple[Chip, ...]
    label: str = ""
    mark_lines: bool = False
    """Whether a chip that begins a line shows it, where others run on over the end of a line."""


@dataclass(frozen=True)
class Table:
    """Rows under the names of their columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Inline, ...], ...]
    numbers: frozenset[int] = frozenset()
    """Columns that are set to the right."""
    caption: str = ""


@dataclass(frozen=True)
class Node:
    """A node of a tree."""

    label: Inline
    children: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Tree:
    """A tree."""

    root: Node


@dataclass(frozen=True)
class Sparkline:
    """Numbers as bars, from 0 to `top`, each with its chip beneath where there is room."""

    values: tuple[float, ...]
    top: float
    label: str = ""
    starts: frozenset[int] = field(default_factory=frozenset)
    """Values at which something begins."""


@dataclass(frozen=True)
class Details:
    """Blocks that are shown when they are asked for."""

    summary: str
    blocks: tuple[Block, ...]


Block = Heading | Note | Strip | Table | Tree | Sparkline | Details

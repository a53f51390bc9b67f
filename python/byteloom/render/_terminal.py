"""The terminal's face."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable, Iterator

from ._blocks import Block, Chip, Heading, Inline, Node, Note, Sparkline, Strip, Table, Tree
from ._signs import clean, isolated, visible, width

__all__ = ["color_wanted", "to_terminal"]

# Light backgrounds of the 256-colour palette, black text: readable on dark and on light terminals.
_BACKGROUNDS = (153, 157, 223, 218, 189, 159)
_BARS = " ▁▂▃▄▅▆▇█"


def color_wanted() -> bool:
    """Whether standard output is a terminal that wants colours: NO_COLOR and TERM=dumb say no."""
    terminal = sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    return terminal and not os.environ.get("NO_COLOR")


def to_terminal(blocks: Iterable[Block], *, color: bool, details: bool = False) -> str:
    """The blocks as lines, without a newline at the end.

    Args:
        blocks: What to draw.
        color: Whether escape sequences may colour it. Without them, boundaries are `│`, special tokens stand
            in `⟦ ⟧`, and what a loss mask marks is underlined with `^`.
        details: Whether to show what is folded away elsewhere.
    """
    face = _Face(color=color, details=details)
    return "\n".join(face.lines(blocks)).rstrip("\n")


class _Face:
    def __init__(self, *, color: bool, details: bool) -> None:
        self.color = color
        self.details = details

    def lines(self, blocks: Iterable[Block]) -> Iterator[str]:
        for place, block in enumerate(blocks):
            yield from self.block(block, first=place == 0)

    def block(self, block: Block, *, first: bool) -> Iterator[str]:
        if isinstance(block, Heading):
            if not first:
                yield ""
            yield self.style(self.inline(block.text), "1")
        elif isinstance(block, Note):
            yield self.inline(block.text)
        elif isinstance(block, Strip):
            yield from ([clean(block.label)] if block.label else [])
            yield from self.strip(block.chips, mark_lines=block.mark_lines)
        elif isinstance(block, Table):
            yield from self.table(block)
        elif isinstance(block, Tree):
            yield from self.tree(block.root, "", "")
        elif isinstance(block, Sparkline):
            yield from self.sparkline(block)
        elif self.details:
            yield ""
            yield self.style(clean(block.summary), "1")
            yield from self.lines(block.blocks)

    def style(self, text: str, codes: str) -> str:
        return f"\x1b[{codes}m{text}\x1b[0m" if self.color and text else text

    # Chips.

    def inline(self, inline: Inline) -> str:
        if isinstance(inline, str):
            return clean(inline)
        if isinstance(inline, Chip):
            return self.chip(inline)
        shown = ""
        for place, item in enumerate(inline):
            after_chip = place > 0 and isinstance(inline[place - 1], Chip)
            if isinstance(item, Chip) and after_chip and not self.color:
                shown += "│"
            shown += self.inline(item)
        return shown

    def chip(self, chip: Chip) -> str:
        text = isolated(chip.data)
        if chip.kind == "special":
            codes = "48;5;88;38;5;231;1" + ";4" * (chip.mark is True)
            return self.style(text, codes) if self.color else f"⟦{text}⟧"
        if chip.kind == "quiet":
            return self.style(text, "4") if self.color else text
        codes = f"48;5;{_BACKGROUNDS[chip.shade % len(_BACKGROUNDS)]};38;5;16"
        return self.style(text, codes + ";4" * (chip.mark is True))

    def strip(self, chips: tuple[Chip, ...], *, mark_lines: bool) -> Iterator[str]:
        """A line of the text is a line here, so that long texts stay readable."""
        line = marks = ""
        underlined = not self.color and any(chip.mark for chip in chips)
        for place, chip in enumerate(chips):
            if (line or (mark_lines and place)) and not self.color:
                line += "│"
                marks += " " * underlined
            # Pieces are styled one by one: a background that runs over a line's end fills the whole line.
            for piece in chip.data.splitlines(keepends=True) if b"\n" in chip.data else [chip.data]:
                part = chip if piece is chip.data else dataclasses.replace(chip, data=piece)
                line += self.chip(part)
                if underlined:
                    marks += ("^" if chip.mark else " ") * width(self.plain(part))
                if piece.endswith(b"\n"):
                    yield from self.marked(line, marks)
                    line = marks = ""
        if line:
            yield from self.marked(line, marks)

    def plain(self, chip: Chip) -> str:
        text = visible(chip.data)
        return f"⟦{text}⟧" if chip.kind == "special" and not self.color else text

    def marked(self, line: str, marks: str) -> Iterator[str]:
        yield line
        if "^" in marks:
            yield marks.rstrip()

    # Tables, trees, bars.

    def table(self, table: Table) -> Iterator[str]:
        if table.caption:
            yield self.style(clean(table.caption), "1")
        rows = [tuple(map(clean, table.columns))]
        rows += [tuple(self.inline(cell) for cell in row) for row in table.rows]
        plain = _Face(color=False, details=False)
        sizes = [[width(clean(name)) for name in table.columns]]
        # Escape sequences have no width, but the boundaries that stand for them do.
        sizes += [
            [width(self.bare(cell) if self.color else plain.inline(cell)) for cell in row]
            for row in table.rows
        ]
        widths = [max(row[column] for row in sizes) for column in range(len(table.columns))]
        for place, (row, size) in enumerate(zip(rows, sizes, strict=True)):
            cells = []
            for column, cell in enumerate(row):
                room = " " * (widths[column] - size[column])
                cells.append(room + cell if column in table.numbers else cell + room)
            line = "  ".join(cells).rstrip()
            if place or line:
                yield self.style(line, "2") if place == 0 else line

    def bare(self, inline: Inline) -> str:
        """What `inline` shows, without escape sequences."""
        if isinstance(inline, str):
            return clean(inline)
        if isinstance(inline, Chip):
            return visible(inline.data)
        return "".join(self.bare(item) for item in inline)

    def tree(self, node: Node, lead: str, below: str) -> Iterator[str]:
        yield lead + self.inline(node.label)
        for child in node.children:
            last = child is node.children[-1]
            yield from self.tree(
                child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")
            )

    def sparkline(self, block: Sparkline) -> Iterator[str]:
        if block.label:
            yield clean(block.label)
        bars = ""
        for place, value in enumerate(block.values):
            if place and place in block.starts:
                bars += "│"
            level = min(max(value / block.top, 0.0), 1.0) if block.top else 0.0
            bars += _BARS[round(level * (len(_BARS) - 1))]
        yield bars

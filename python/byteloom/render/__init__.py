"""What byteloom knows, as people see it: in a terminal, in a notebook, as a page of HTML.

One description of what is drawn, three faces. `view` takes a tokenizer, a text with its tokenizer, an
explanation, patches, a conversation, a vocabulary or a comparison; `terminal`, `html` and `page` are short
for its faces.

Spaces show as `·`, tabs as `→`, newlines as `↵`, control characters by their pictures; bytes that are a part
of a character as `⟨E2 98⟩`. Boundaries show without colour, right-to-left text stays in its order, and
everything is escaped.

>>> import byteloom as bl
>>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=259)
>>> print(bl.render.terminal(tok, "lowest ☕", color=False))
low│e│s│t│·│⟨E2⟩│⟨98⟩│⟨95⟩
8 tokens, 10 bytes, 8 characters; 1.25 bytes per token
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal

from byteloom import _native
from byteloom._tokenizer import Tokenizer

from ._blocks import Block, Chip, Note, Strip
from ._html import to_html, to_page
from ._patches import patch_blocks, patch_record_blocks
from ._signs import visible
from ._terminal import color_wanted, to_terminal
from ._views import (
    chat_blocks,
    comparison_blocks,
    encoding_blocks,
    ids_blocks,
    records_blocks,
    tokenizer_blocks,
    usage_blocks,
    vocabulary_blocks,
)

__all__ = ["View", "color_wanted", "html", "page", "pieces", "terminal", "view", "visible", "write_page"]

# More tokens or parts than this are counted and not drawn.
_LIMIT = 500
_PARTS = ("pretoken", "special")


class View:
    """Something drawn: `str()` is for a terminal, a notebook shows its HTML."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._blocks: tuple[Block, ...] = tuple(blocks)

    def terminal(self, *, color: bool | None = None, details: bool = False) -> str:
        """Lines for a terminal.

        Args:
            color: Whether to colour; by default where standard output is a terminal and NO_COLOR is not set.
            details: Whether to show what HTML folds away, such as merge trees.
        """
        return to_terminal(self._blocks, color=color_wanted() if color is None else color, details=details)

    def html(self) -> str:
        """A piece of HTML that brings its style and runs nothing."""
        return to_html(self._blocks)

    def page(self, title: str = "byteloom") -> str:
        """A whole HTML document."""
        return to_page([self._blocks], title)

    def __str__(self) -> str:
        return self.terminal()

    def __repr__(self) -> str:
        return f"<byteloom.render.View blocks={len(self._blocks)}>"

    def _repr_html_(self) -> str:
        return self.html()


def view(
    item: Any,
    text: str | bytes | Any = None,
    *,
    ids: Sequence[int] | None = None,
    allowed_special: Literal["all"] | Collection[str] = (),
    limit: int = _LIMIT,
) -> View:
    """Something that can be drawn.

    Args:
        item: A `Tokenizer`; a `Patcher` with a text; an explanation of a text or of patches, its parts or a
            part; a merge tree; a training trace; a `Vocabulary`, a list of its entries, a `Usage`, a
            `Comparison`; an encoded conversation or its segments; a list of patches, each `bytes` or
            `(bytes, start)`.
        text: With a tokenizer: the text to show in tokens, or a conversation that it encoded. With a patcher:
            the text to explain.
        ids: With a tokenizer: ids to show instead.
        allowed_special: Special tokens that the text may spell; all others are shown as the text they are.
        limit: Draw at most this many tokens, patches or steps, and say how many more there are.

    Raises:
        TypeError: there is no picture of such a thing.

    >>> import byteloom as bl
    >>> view([(b"the ", 0), (b"cat", 4)]).terminal(color=False).splitlines()
    ['Patches', 'the·│cat', '2 patches, 7 bytes; 3.50 bytes per patch']
    """
    if isinstance(item, Tokenizer):
        if ids is not None:
            return View(ids_blocks(item, list(ids), limit=limit))
        if isinstance(text, (str, bytes)):
            return View(encoding_blocks(item, text, allowed_special=allowed_special, limit=limit))
        if text is not None:
            return View(chat_blocks(text, item, limit=limit))
        return View(tokenizer_blocks(item))
    if isinstance(text, (str, bytes)) and (explain := getattr(item, "explain", None)) is not None:
        return View(patch_blocks(explain(text), limit=limit))
    return View(_blocks_of(item, limit))


def pieces(parts: Iterable[tuple[bytes, bool]], *, mark_lines: bool = False) -> View:
    r"""Any pieces of a text, one after another.

    Args:
        parts: The bytes of each, and whether it stands out as a special token does.
        mark_lines: Whether a piece that begins a line of the terminal shows it by `│`; for pieces that run on
            over the end of a line.

    >>> parts = [(b"a", False), (b"b\n", False), (b"c\nd", True)]
    >>> print(pieces(parts, mark_lines=True).terminal(color=False))
    a│b↵
    │⟦c↵⟧
    ⟦d⟧
    """
    chips = tuple(
        Chip(data, place, "special" if special else "token") for place, (data, special) in enumerate(parts)
    )
    return View([Strip(chips, mark_lines=mark_lines)])


def _blocks_of(item: Any, limit: int) -> Iterable[Block]:
    from byteloom._comparison import Comparison  # noqa: PLC0415 - each costs time
    from byteloom._vocabulary import Entry, ScriptShare, Unreachable, Usage, Used, Vocabulary  # noqa: PLC0415

    if isinstance(item, View):
        return item._blocks  # noqa: SLF001 - its own
    if isinstance(item, Comparison):
        return comparison_blocks(item, limit=limit)
    if isinstance(item, Vocabulary):
        return vocabulary_blocks(item)
    if isinstance(item, Usage):
        return usage_blocks(item, limit=limit)
    if isinstance(getattr(item, "segments", None), Sequence):
        return chat_blocks(item, None, limit=limit)
    if isinstance(item, Sequence) and not isinstance(item, (str, bytes)):
        if not item:
            return [Note("none")]
        if all(isinstance(one, (Entry, ScriptShare, Unreachable, Used)) for one in item):
            return records_blocks(item, limit=limit)
        if all(hasattr(one, "trained") and hasattr(one, "text") for one in item):
            return chat_blocks(item, None, limit=limit)
        if all(isinstance(one, (bytes, tuple)) for one in item):
            return patch_blocks(item, limit=limit)

    from . import _steps  # noqa: PLC0415

    if isinstance(item, Sequence) and all(_kind(one) in _PARTS for one in item):
        return _steps.parts_blocks(item, limit=limit)

    by_kind: dict[str, Callable[..., Iterable[Block]]] = {
        "explanation": _steps.explanation_blocks,
        "patch_explanation": patch_blocks,
        "training_trace": _steps.trace_blocks,
    }
    kind = _kind(item)
    if kind in by_kind:
        return by_kind[kind](item, limit=limit)
    if kind == "patch":
        return patch_record_blocks(item)
    if kind in _PARTS:
        return _steps.part_blocks(item)
    if type(item).__name__ == "MergeTree":
        return _steps.tree_blocks(item)
    message = f"there is no picture of {type(item).__name__}; view names what can be drawn"
    raise TypeError(message)


def _kind(item: Any) -> str:
    return str(getattr(item, "kind", ""))


def terminal(
    item: Any,
    text: str | bytes | Any = None,
    *,
    color: bool | None = None,
    details: bool = False,
    **options: Any,
) -> str:
    """`view(item, text, …)` as lines for a terminal; see `View.terminal`."""
    return view(item, text, **options).terminal(color=color, details=details)


def html(item: Any, text: str | bytes | Any = None, **options: Any) -> str:
    """`view(item, text, …)` as a piece of HTML.

    >>> import byteloom as bl
    >>> tok = bl.Tokenizer.train("low lower", vocab_size=257)
    >>> "&lt;" in bl.render.html(tok, "<b>")
    True
    """
    return view(item, text, **options).html()


def page(*items: Any, title: str = "byteloom") -> str:
    """A whole HTML document of several things, each a `View` or what `view` takes.

    It loads nothing, runs nothing, and can be kept or sent as it is.

    >>> import byteloom as bl
    >>> tok = bl.Tokenizer.train("low lower", vocab_size=257)
    >>> bl.render.page(tok, bl.render.view(tok, "lower"), title="A & B").partition("<title>")[2][:9]
    'A &amp; B'
    """
    views = [item if isinstance(item, View) else view(item) for item in items]
    return to_page([one._blocks for one in views], title)  # noqa: SLF001 - its own


def write_page(path: str | os.PathLike[str], *items: Any, title: str = "byteloom") -> None:
    """Write `page` to a file, which is there whole or not at all.

    Raises:
        OSError: the file cannot be written; an older one stays as it was.
    """
    _native.write_atomically(path, page(*items, title=title).encode())

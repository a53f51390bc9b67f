"""The explorer: a page in the browser that shows what a tokenizer does with a text of yours.

`server.Server` (and `byteloom explore`) serves it on this machine only; `page.page` makes one file of it that
anybody can open. Every number on the page comes from the library: the views in `byteloom.explorer.views` turn
its records into plain data, and the modules in `static/` draw them.
"""

from __future__ import annotations

from .session import Limits, NamedTokenizer, Session, ViewError

__all__ = ["TABS", "Limits", "NamedTokenizer", "Session", "ViewError"]

TABS = ("pipeline", "bytes", "split", "merges", "train", "chat", "patches", "compare", "vocabulary")
"""The tabs in their order: each has a module in `views` and one in `static/tabs`."""

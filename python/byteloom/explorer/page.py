"""The explorer as one file: the same page, with its answers in it instead of a server behind it."""

from __future__ import annotations

from .session import Session

__all__ = ["page"]


def page(session: Session) -> str:
    """One HTML document with the answers about the session's text, for every tab and every card."""
    raise NotImplementedError(session)

"""The explorer as one file: the same page, with its answers in it instead of a server behind it.

It loads nothing. Its policy lets only its own script and style run, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

from . import assets
from .server import answer

if TYPE_CHECKING:
    from .session import Session

__all__ = ["page"]


def page(session: Session) -> str:
    """One HTML document with the answers about the session's text, for every tab and every card.

    Args:
        session: Its `text_at_start` is the text that the page shows.

    Returns:
        The document.
    """
    session = session.unhurried()
    style, script = assets.style(), assets.bundle()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    tabs = assets.available_tabs()
    data = {"session": {**session.describe(), "tabs": tabs}, "answers": _answers(session, tabs)}
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<link rel="icon" href="data:,">\n'
        "<title>byteloom explorer</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#stage">Skip to the picture</a>\n'
        '<div id="app"><p class="wait">Loading …</p></div>\n'
        f'<script type="application/json" id="saved">{_island(data)}</script>\n'
        f'<script type="module">{script}</script>\n'
        "</body>\n</html>\n"
    )


def _answers(session: Session, tabs: list[str]) -> list[dict[str, Any]]:
    """What the page may ask: each tab as it begins, and each of its cards."""
    found = []
    for tab in tabs:
        module = assets.asset_text(f"tabs/{tab}.js")
        options = assets.literal(module, "options")
        own = assets.own_text(module)
        setups = [{}, *(card["setup"] for card in assets.literal(module, "cards"))]
        if own is not None:  # which can be exchanged for the one of the other tabs
            setups.append({"text": session.text_at_start})
        for setup in setups:
            question = {
                "tab": tab,
                "text": setup.get("text", session.text_at_start if own is None else own),
                "tokenizer": _place(session, setup.get("tokenizer", 0)),
                "options": {**options, **setup.get("options", {})},
            }
            request = {
                **question["options"],
                "text": question["text"],
                "tokenizer": question["tokenizer"],
            }
            found.append({"question": question, "answer": answer(session, tab, request)})
    return found


def _place(session: Session, tokenizer: int | str) -> int:
    """The place of a card's tokenizer, as the page finds it: one that is not there is the first."""
    if isinstance(tokenizer, int):
        return tokenizer
    names = [named.name for named in session.tokenizers]
    return names.index(tokenizer) if tokenizer in names else 0


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _island(data: dict[str, Any]) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").encode("utf-8", "backslashreplace").decode()

"""Faults of tokenizer viewers: text that becomes markup, half characters, text that drives the terminal."""

from __future__ import annotations

import pytest

import byteloom as bl
from byteloom import render


def test_sec_014_markup_is_text(cl100k):
    text = "<script>alert(1)</script>"
    assert cl100k.encode(text) == [7890, 53877, 7, 16, 12817, 2334, 29]
    tok = bl.Tokenizer.from_tiktoken(
        {bytes([byte]): byte for byte in range(256)} | {text.encode(): 256}, pattern="none"
    )
    for page in (
        render.page(render.view(cl100k, text), title=text),
        render.page(render.view(tok, text), tok),
    ):
        assert "<script" not in page
        assert "&lt;" in page
        assert "default-src 'none'" in page


@pytest.mark.parametrize("ids", [[9468], [9468, 239], [9468, 239, 235]])
def test_dec_004_part_of_a_character_is_shown_as_bytes(cl100k, ids):
    """A viewer that decodes token by token shows nothing but replacement marks."""
    shown = render.terminal(cl100k, ids=ids, color=False)
    assert "\ufffd" not in shown
    assert shown.replace("⟩│⟨", " ").strip("⟨⟩") == cl100k.decode_bytes(ids).hex(" ").upper()
    assert "\ufffd" not in render.html(cl100k, ids=ids)


@pytest.mark.parametrize("text", ["\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "\r\x08\x7f", "\u202eevil\u2066"])
def test_text_does_not_drive_the_terminal(cl100k, text):
    tok = cl100k.with_special_tokens([text])
    comparison = bl.compare([tok], {text: text}, names=[text], languages=False)
    for item in (render.view(tok, text), render.view(tok, text, allowed_special="all"), tok, comparison):
        shown = render.view(item).terminal(color=False, details=True).replace("\n", "")
        assert all(char.isprintable() for char in shown), ascii(shown)

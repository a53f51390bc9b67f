"""What is drawn: signs, boundaries, order, and the faces of everything that can be drawn."""

from __future__ import annotations

import io
import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import byteloom as bl
from byteloom import chat, explain, render
from byteloom.render import _signs
from helpers import SAMPLES, raises_cleanly, train_quietly
from strategies import byte_texts

HOSTILE = "<script>alert('x')</script>&lt;\"'><img src=x onerror=y>\x1b[31m\u202e\x00\ufffd"


def unstyled(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


# Signs.


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b" a\tb\nc\r\n", "·a→b↵c␍↵"),
        (b"\x00\x1b[31m\x7f", "␀␛[31m␡"),
        ("☘".encode()[:2], "⟨E2 98⟩"),
        (b"\xff caf\xc3\xa9\xe6", "⟨FF⟩·café⟨E6⟩"),
        ("\ufffd\u202e\u200b\xa0\x85\ufeff".encode(), "⟨U+FFFD⟩⟨U+202E⟩⟨U+200B⟩⟨U+00A0⟩⟨U+0085⟩⟨U+FEFF⟩"),
        ("\U0010ffff\ue000".encode(), "⟨U+10FFFF⟩⟨U+E000⟩"),
        ("👨‍👩‍👧".encode(), "👨‍👩‍👧"),
        ("\u200d👩".encode(), "⟨U+200D⟩👩"),
        ("\u0301 \u0301e\u0301".encode(), "◌\u0301·◌\u0301e\u0301"),
        (b"\xed\xa0\xbd", "⟨ED A0 BD⟩"),
        (b"", ""),
    ],
)
def test_signs(data, shown):
    assert render.visible(data) == shown


def test_spaces_may_stay():
    assert render.visible(b" a b\n", spaces=False) == " a b↵"


def has_hidden(text):
    """A character that cannot be seen, or the bare replacement character."""
    joiners = "\u200c\u200d"
    return [
        char
        for char in text
        if char == "\ufffd" or (char != " " and char not in joiners and not char.isprintable())
    ]


@given(byte_texts)
def test_nothing_hidden_is_shown(data):
    shown = render.visible(data)
    assert not has_hidden(shown)
    assert "".join(text for _, text in _signs.runs(data)) == shown


@given(st.lists(byte_texts, max_size=6))
def test_width_and_directions_of_any_chips(chips):
    base, directions = _signs.chip_directions(chips)
    assert len(directions) == len(chips)
    assert {base, *directions} <= {"ltr", "rtl"}
    assert _signs.width(render.visible(b"".join(chips))) >= 0


def test_directions():
    hebrew, arabic = "שלום".encode(), "مرحبا".encode()
    assert _signs.chip_directions([b"a ", hebrew, b" ", arabic, b"."])[1] == [
        "ltr",
        "rtl",
        "rtl",
        "rtl",
        "ltr",
    ]
    assert _signs.chip_directions([hebrew, b" ", b"hello", b" 12"]) == ("rtl", ["rtl", "rtl", "ltr", "rtl"])
    assert _signs.chip_directions([hebrew[:1], hebrew[1:2]]) == ("rtl", ["rtl", "rtl"])
    assert _signs.chip_directions([]) == ("ltr", [])


# Tokens of a text.


def test_boundaries_and_specials_without_colour(special_tok):
    text = "the cat<|pad|>\nx"
    lines = render.terminal(special_tok, text, color=False, allowed_special="all").splitlines()
    assert lines[:2] == ["the│·cat│⟦<|pad|>⟧│↵", "x"]
    assert lines[2] == "5 tokens, 16 bytes, 16 characters; 3.20 bytes per token"
    ordinary = render.terminal(special_tok, text, color=False)
    assert "⟦" not in ordinary


def test_colour_shows_the_same_text(special_tok):
    for text in SAMPLES:
        colored = render.terminal(special_tok, text, color=True)
        plain = render.terminal(special_tok, text, color=False)
        assert unstyled(colored) == plain.replace("│", "") or "│" in text
        if text:
            assert "\x1b[48;5;" in colored


def test_colours_alternate(special_tok):
    colored = render.terminal(special_tok, "the cat", color=True)
    backgrounds = re.findall(r"\x1b\[48;5;(\d+)", colored)
    assert len(backgrounds) == 2
    assert len(set(backgrounds)) == 2


@given(byte_texts)
def test_any_text_in_a_terminal(data):
    tok = train_quietly("the cat é日本 שלום" * 3, 290)
    for color in (False, True):
        shown = render.terminal(tok, data, color=color, details=True)
        shown = (
            (unstyled(shown) if color else shown)
            .replace("\n", "")
            .replace("\u2068", "")
            .replace("\u2069", "")
        )
        assert not has_hidden(shown)


def test_right_to_left_is_isolated_and_in_order(bytes_free_hebrew):
    tok, words = bytes_free_hebrew
    shown = render.terminal(tok, "".join(words), color=False).splitlines()[0]
    isolated = [f"\u2068{word.replace(' ', '·')}\u2069" for word in words]
    assert shown == "│".join(isolated)


@pytest.fixture(scope="module")
def bytes_free_hebrew():
    """A tokenizer with whole words of Hebrew, and the words of a text."""
    words = ["שלום", " עולם", " טוב"]
    tok = train_quietly(["שלום עולם טוב"] * 5, 280, pattern="gpt2")
    assert [tok.id_to_bytes(id_).decode() for id_ in tok.encode("".join(words))] == words
    return tok, words


def test_more_than_the_limit_is_counted(special_tok):
    shown = render.terminal(special_tok, "ab" * 50, color=False, limit=10)
    assert shown.splitlines()[0].count("│") == 9
    assert "and 90 more tokens" in shown


def test_ids_alone(special_tok):
    assert render.terminal(special_tok, ids=[300, 97], color=False) == "⟦<|endoftext|>⟧│a"
    with raises_cleanly(KeyError):
        render.terminal(special_tok, ids=[10_000])


def test_when_to_colour(monkeypatch, special_tok):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    view = render.view(special_tok, "the")
    assert "\x1b" not in str(view)
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert "\x1b" in str(view)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in str(view)
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in str(view)


def test_columns_line_up(special_tok):
    """A table is as wide as its widest cells, also where characters are wide or have no width."""
    names = {"日本語": "日本", "e\u0301": "e", "שלום": "x"}
    shown = render.terminal(bl.compare([special_tok], names, names=["T"], languages=False), color=False)
    rows = [line for line in shown.splitlines() if re.search(r" T +\d", line)]
    assert len(rows) == 4
    assert len({_signs.width(line[: line.index(" T ")]) for line in rows}) == 1


# Other things.


def test_a_card_of_a_tokenizer(special_tok):
    shown = render.terminal(special_tok, color=False)
    assert "302 tokens, cl100k" in shown
    assert "⟦<|endoftext|>⟧" in shown
    assert special_tok.fingerprint[:16] in shown
    html = special_tok._repr_html_()
    assert html == render.html(special_tok)
    assert len(html) < 10_000


def test_an_explanation(special_tok):
    explanation = special_tok.explain("the cat sat<|pad|>", allowed_special="all")
    shown = render.terminal(explanation, color=False, details=True)
    assert "the│·cat" in shown
    for part in explanation.parts:
        for token in part.tokens:
            assert f" {token.id}" in shown
    for step in explanation.parts[1].steps:
        result = render.visible(step.result_bytes)
        assert f"→ {result}" in shown
        assert f"  {step.rank:,}  " in shown
    assert "special token, id 301 (allowed)" in shown
    assert "no merge joins any of q│x│z" in render.terminal(special_tok.explain("qxz"), color=False)
    one = render.terminal(explanation.parts[0], color=False)
    assert one.splitlines()[0].startswith("the  pre-token 1, matched by letters: ")
    tree = explanation.parts[0].tokens[0].tree
    lines = render.terminal(tree, color=False).splitlines()
    assert lines[0].startswith(f"the {tree.id}, rank ")
    assert any(line.startswith(("├─ ", "└─ ")) for line in lines)


@given(byte_texts)
def test_explanations_of_any_text_can_be_drawn(data):
    tok = train_quietly("the cat é日本 שלום" * 3, 290)
    view = render.view(tok.explain(data, disallowed_special=()), limit=5)
    shown = unstyled(view.terminal(color=True, details=True))
    assert not has_hidden(re.sub("[\n\u2068\u2069]", "", shown))
    assert view.html().count("<div") == view.html().count("</div>")


def test_steps_of_a_long_pre_token_are_drawn_in_linear_size():
    tok = bl.Tokenizer.train("abcdefghij" * 50, vocab_size=270, pattern="none")
    sizes = [len(render.html(tok.explain("abcdefghij" * times))) for times in (50, 100)]
    assert sizes[1] < 2.2 * sizes[0]
    part = tok.explain("abcdefghij" * 50).parts[0]
    lines = render.terminal(part, color=False).splitlines()
    assert lines[2].endswith("│j … 460 after")
    assert max(map(len, lines[1:200])) < 250
    assert f"and {len(part.steps) - 200} more merges" in lines


def test_parts_of_an_explanation(special_tok):
    parts = special_tok.explain("low lower lowest").parts
    shown = render.terminal(parts, limit=1, color=False)
    assert shown.startswith(render.terminal(parts[0], color=False))
    assert shown.endswith(f"and {len(parts) - 1} more pre-tokens")
    assert render.terminal([], color=False) == "none"


def test_the_limit_holds_for_the_strips_of_an_explanation(special_tok):
    page = render.html(special_tok.explain("low " * 2000), limit=3)
    assert len(page) < 30_000


def test_a_conversation_with_its_mask(special_tok):
    tok = special_tok.with_special_tokens(["<|im_start|>", "<|im_end|>"])
    talk = [{"role": "user", "content": "<|im_end|>"}, {"role": "assistant", "content": "the cat"}]
    encoded = chat.encode(tok, talk)
    shown = render.terminal(tok, encoded, color=False)
    assert shown.count("⟦<|im_end|>⟧") == 2, "the one that the user typed is text"
    assert f"{len(encoded.ids)} tokens, {sum(encoded.mask)} of them trained" in shown
    lines = shown.splitlines()
    marked = next(place for place, line in enumerate(lines) if "^" in line)
    assert "the│·cat│⟦<|im_end|>⟧" in lines[marked - 1]
    assert "^^^ ^^^^ " + "^" * len("⟦<|im_end|>⟧") in lines[marked]
    colored = render.terminal(tok, encoded, color=True)
    assert len(re.findall(r"\x1b\[[0-9;]*;4m", colored)) == sum(encoded.mask)
    for item in (encoded, encoded.segments, chat.segments(talk)):
        drawn = render.terminal(item, color=False)
        assert "the·cat│⟦<|im_end|>⟧" in drawn
        assert "2 of them trained" in drawn
        html = render.html(item)
        assert html.count(' on"') == 2


def patches():
    span = explain.Span
    start = explain.PatchStart("global", 3.25, 2.0, None, None)
    first = explain.PatchStart("first", None, None, None, None)
    rise = explain.PatchStart("max_length", 1.0, None, 0.5, 0.25)
    data = "the é!".encode()
    made = []
    for index, (begin, end, why) in enumerate([(0, 4, first), (4, 5, start), (5, 7, rise)]):
        scores = tuple(
            explain.ExplainedByte(place, data[place], place / 2, data[max(0, place - 2) : place], 3)
            for place in range(begin, end)
        )
        made.append(explain.ExplainedPatch(index, data[begin:end], span(begin, end), why, scores))
    return explain.PatchExplanation("global, 2 bits", data, tuple(made))


def test_patches():
    lines = render.terminal(patches(), color=False, details=True).splitlines()
    assert lines[0] == "Patches: global, 2 bits"
    assert lines[1] == "the·│⟨C3⟩│⟨A9⟩!"
    assert lines[2] == "3 patches, 7 bytes; 2.33 bytes per patch"
    bars = next(line for line in lines if line.startswith((" ", "▁")) and "│" in line)
    assert [len(run) for run in bars.split("│")] == [4, 1, 2]
    assert any("global; entropy 3.250 against 2.000 bits" in line for line in lines)
    assert any("max length; entropy 1.000 bits; rise 0.500 against 0.250 bits" in line for line in lines)
    for plain in ([b"the ", b"\xc3"], [(b"the ", 0), (b"\xc3", 4)]):
        assert "the·│⟨C3⟩" in render.terminal(plain, color=False)
    assert render.terminal([], color=False) == "none"


def test_a_training_trace():
    runner = explain.RunnerUp(97, 98, b"a", b"b", 7)
    steps = (
        explain.TraceStep(0, 104, 101, b"h", b"e", 256, 9, 1, "count", (runner,)),
        explain.TraceStep(1, 97, 98, b"a", b"b", 257, 7, 3, "smallest_pair", ()),
    )
    trace = explain.TrainingTrace("smallest_pair", 2, steps, "vocab_size")
    lines = render.terminal(trace, color=False).splitlines()
    assert lines[0] == "Training: 2 merges, ties by smallest_pair"
    assert re.split(r"  +", lines[2].strip()) == ["0", "h + e", "256", "9", "count", "a + b (7)"]
    assert re.split(r"  +", lines[3].strip()) == ["1", "a + b", "257", "7", "smallest_pair, of 3 equals", "-"]


def test_vocabularies_and_their_records(special_tok):
    vocab = bl.Vocabulary(special_tok)
    usage = vocab.usage("the cat the")
    for item in (vocab, vocab.longest(3), vocab.scripts(), usage, usage.used, usage.never):
        assert "the" in render.terminal(item, color=False) or "·cat" in render.terminal(item, color=False)
    never = render.terminal(usage, color=False, limit=2)
    assert f"and {len(usage.never) - 2:,} more" in never
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"a b": 256}
    split = bl.Vocabulary(bl.Tokenizer.from_tiktoken(ranks, pattern="gpt2")).unreachable()
    assert render.terminal(split, color=False).splitlines()[1].split() == [
        "256",
        "a·b",
        "pattern",
        "97",
        "32",
        "98",
    ]


def test_every_number_of_a_comparison_is_the_librarys(special_tok, tok):
    text = SAMPLES[2]
    result = bl.compare([special_tok, tok], {"t": text}, names=["A", "B"])
    lines = render.terminal(result, color=False).splitlines()
    for name, one in (("A", special_tok), ("B", tok)):
        row = next(line for line in lines if re.match(rf"t +{name} ", line)).split()
        tokens = one.count(text)
        assert row[2:5] == [f"{tokens:,}", f"{len(text.encode()) / tokens:.2f}", f"{len(text) / tokens:.2f}"]
    hindi = next(line for line in lines if line.startswith("Hindi")).split()
    by_code = {(row.code, row.tokenizer): row for row in result.languages}
    expected = ["Hindi", "Devanagari"]
    for name in "AB":
        row = by_code["hi", name]
        expected += [f"{row.tokens:,}", f"{row.parity:.2f}", f"{row.partial_share:.1%}"]
    assert hindi == expected


def test_long_tokens_are_cut_in_tables():
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"=" * 500: 256, b"\xe6" * 300: 257}
    vocab = bl.Vocabulary(bl.Tokenizer.from_tiktoken(ranks, pattern="none"))
    shown = render.terminal(vocab.longest(2), color=False)
    assert "… (500 bytes)" in shown
    assert "… (300 bytes)" in shown
    assert max(map(len, shown.splitlines())) < 150


def test_what_cannot_be_drawn():
    for item in (None, 3, "text", {"a": 1}, object()):
        with raises_cleanly(TypeError):
            render.view(item)


def test_views_of_views(special_tok):
    view = render.view(special_tok, "the")
    assert render.view(view).html() == view.html() == view._repr_html_()
    assert "View" in repr(view)


def test_unicode_of_the_running_python_is_enough():
    """Characters that the running Python does not know are shown by number."""
    unknown = next(chr(code) for code in range(0x2FE0, 0x3000) if unicodedata.category(chr(code)) == "Cn")
    assert render.visible(unknown.encode()) == f"⟨U+{ord(unknown):04X}⟩"

"""The tab Train in a browser, and what each of its cards promises."""

from itertools import pairwise

import pytest

import byteloom as bl
from explorer_page import change, chips, step_to, texts, visible

pytestmark = pytest.mark.filterwarnings("ignore::byteloom.TrainingWarning")


def test_train_opens_on_a_text_that_repeats(page):
    page.open("train")
    text = page.js("return document.getElementById('text').value")
    tok = bl.Tokenizer.train(text, 280, pattern="gpt2", trace=True)
    learned = visible(tok, range(256, tok.vocab_size))
    assert {"·the", "est", "·thread", "·loom", "·cloth", "er"} <= set(learned)
    steps = tok.training_trace().steps
    assert {step.tied > 1 for step in steps} == {True, False}
    for number, step in enumerate(steps):
        step_to(page, number)
        cells = texts(page, "#round tbody tr td:nth-child(4)")
        assert cells[0] == ("tied, wins by the rule" if step.tied > 1 else "no: the most frequent")
        assert cells[1:] == [
            f"no: {step.count - other.count} fewer" if other.count < step.count else "tied, loses by the rule"
            for other in step.runners_up
        ]
        assert page.text("#round h2").startswith(f"Next, merge {number + 1}: ")
        assert page.text("#round h2").endswith(f", id {step.result}")
        more = step.tied - 1 - cells.count("tied, loses by the rule")
        said = {0: [], 1: ["and 1 more pair occurs as often"]}.get(
            more, [f"and {more} more pairs occur as often"]
        )
        assert texts(page, "#more-tied") == said
    step_to(page, len(steps))
    assert chips(page, "#vocabulary")[::-1] == learned
    assert chips(page, "#sample") == visible(tok, tok.encode(text))


def test_train_card_rounds(page):
    page.open("train")
    page.card("rounds")
    assert "occurs 4 times" in page.text("#reason")
    step_to(page, 1)
    assert "2 pairs occur 2 times each" in page.text("#reason")
    assert "first in the text" in page.text("#reason")
    assert texts(page, "#round tbody tr td:nth-child(4)")[:2] == [
        "tied, wins by the rule",
        "tied, loses by the rule",
    ]
    step_to(page, 3)
    assert chips(page, "#sample") == ["aaab", "d", "aaab", "a", "c"]


def test_train_card_code(page):
    page.open("train")
    page.card("code")
    learned = chips(page, "#vocabulary")[::-1]
    assert learned[:2] == ["··", "····"]
    assert {"self", "·def", "·return", "thread"} <= set(learned)


@pytest.mark.parametrize("tie_break", ["smallest_pair", "first_seen", "huggingface"])
def test_train_card_ties(page, tie_break):
    page.open("train")
    page.card("ties")
    change(page, "#tie_break", tie_break)
    words = page.js("return document.getElementById('text').value")
    tok = bl.Tokenizer.train(words, 270, pattern="simple", tie_break=tie_break, trace=True)
    for number, step in enumerate(tok.training_trace().steps):
        step_to(page, number)
        shown = [bl.render.visible(side) for side in (step.left_bytes, step.right_bytes)]
        assert chips(page, "#round tbody tr:first-child") == shown
        count = texts(page, "#round tbody tr:first-child td.n")[0]
        assert int(count) == step.count
    step_to(page, 4)
    assert "3 pairs occur 6 times" in page.text("#reason")
    first = chips(page, "#round tbody tr:first-child")
    assert first == {"smallest_pair": ["e", "w"], "first_seen": ["n", "e"]}.get(tie_break, first)


def test_train_card_sizes(page):
    page.open("train")
    page.card("sizes")
    text = page.js("return document.getElementById('text').value")
    for wanted in (0, 1, 20, 60):
        step_to(page, wanted)
        merges = page.js("return document.querySelector('#picture [data-stepper]').stepper.value()")
        tok = bl.Tokenizer.train(text, 256 + merges, pattern="gpt2")
        shown = chips(page, "#sample")
        assert shown == visible(tok, tok.encode(text))[: len(shown)]
        assert len(shown) > 50
    curve = page.js("return globalThis.byteloomShell.answered.answer.records.curve")
    gains = [b["bytes_per_token"] - a["bytes_per_token"] for a, b in pairwise(curve)]
    third = len(gains) // 3
    assert sum(gains[:third]) > sum(gains[-third:])


def test_train_card_once(page):
    page.open("train")
    page.card("once")
    assert "no pair occurs often enough" in page.text("#reason")
    assert not page.all("#picture [data-stepper]")
    change(page, "#min_frequency", 1)
    assert page.all("#picture [data-stepper]")


def test_train_on_the_page_of_english(page):
    page.open("train", text="short")
    page.find("#longer").click()
    page.ready()
    page.until(lambda: page.all("#picture [data-stepper]"), "a longer training")
    assert page.js("return globalThis.byteloomShell.answered.answer.records.vocab_size") == 280


def test_train_follows_the_text(page):
    page.open("train", text="ab ab ab")
    page.type("xy xy xy")
    assert chips(page, "#round tbody tr:first-child") == ["x", "y"]

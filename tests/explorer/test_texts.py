"""Whose text a tab reads: the shared one, one of its own, or none. What it does not read is not shown."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from byteloom.explorer import TABS, Session, assets
from byteloom.explorer.page import page as make_page

OWN = {"train": "low low lower lowest", "patches": "the model and the loom"}


def address(page):
    query = urlsplit(page.driver.current_url).fragment.partition("?")[2]
    return {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}


def shows(page, css):
    return page.js("return document.querySelector(arguments[0]).offsetParent !== null", css)


def go(page, tab):
    page.find(f"#tab-{tab}").click()
    page.ready()


def typed(page):
    return page.js("return document.getElementById('text').value")


@pytest.mark.parametrize("tab", TABS)
def test_a_tab_shows_the_text_that_it_reads_and_nothing_else(page, tab):
    page.open(tab)
    assert shows(page, "#text") == (tab != "chat")
    assert shows(page, "#strip") == (tab not in ("chat", "train", "patches"))
    assert shows(page, "#whose") == (tab in OWN)
    assert shows(page, "#tokenizer") == (tab != "train")
    own = assets.own_text(assets.asset_text(f"tabs/{tab}.js"))
    assert (own is not None) == (tab in OWN)


def test_texts_stay_with_their_tabs_and_in_the_address(page):
    page.open("pipeline", text="shared words")
    for tab, text in OWN.items():
        go(page, tab)
        assert typed(page) == assets.own_text(assets.asset_text(f"tabs/{tab}.js"))
        page.type(text)
        assert address(page)["text"] == text
        assert address(page)["shared"] == "shared words"
    page.driver.refresh()
    page.ready()
    assert typed(page) == OWN["patches"]
    go(page, "merges")
    assert typed(page) == "shared words"
    assert "shared" not in address(page)
    page.driver.back()
    page.ready()
    assert typed(page) == OWN["patches"]


def test_a_long_text_is_kept_for_each_tab(page):
    page.open("pipeline", text="x")
    page.type("shared " * 400)
    go(page, "train")
    page.type("own " * 600)
    assert {"long", "shared-long"} <= set(address(page))
    page.driver.refresh()
    page.ready()
    assert typed(page) == "own " * 600
    go(page, "pipeline")
    assert typed(page) == "shared " * 400


def test_the_text_of_the_other_tabs_is_taken_and_given_back(page):
    page.open("pipeline", text="the loom and the loom")
    go(page, "train")
    first = typed(page)
    page.find("#borrow").click()
    page.ready()
    assert typed(page) == "the loom and the loom"
    assert page.js("return byteloomShell.answered.answer.records.bytes") == 21
    page.find("#borrow").click()
    page.ready()
    assert typed(page) == first


def test_a_slash_leads_to_the_first_message_where_there_is_no_box(page):
    from selenium.webdriver import ActionChains

    page.open("chat")
    ActionChains(page.driver).send_keys("/").perform()
    assert page.js("return document.activeElement.id") == "chat-content-0"


def test_the_conversation_takes_the_text_of_the_other_tabs(page):
    page.open("pipeline", text="shared words")
    go(page, "chat")
    page.js("document.querySelector('[data-action=add-text]').click()")
    page.ready()
    assert page.js("return document.getElementById('chat-content-2').value") == "shared words"


@pytest.mark.usefixtures("session")
def test_a_saved_page_exchanges_the_text_too(page, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(make_page(Session(text="the loom and the loom")), encoding="utf-8")
    page.url = path.as_uri()
    for tab in OWN:
        page.open(tab)
        assert typed(page) == assets.own_text(assets.asset_text(f"tabs/{tab}.js"))
        page.find("#borrow").click()
        page.ready()
        assert typed(page) == "the loom and the loom"
        assert page.text("#alert") == ""
        page.find("#borrow").click()
        page.ready()
        assert page.text("#alert") == ""


def test_a_picture_follows_keys_that_do_not_pause(page):
    """No key waits for a pause: while keys keep coming, pictures keep coming."""
    page.open("pipeline", text="a")
    page.js(
        "const area = document.getElementById('text'); globalThis.seen = new Set(); let keys = 0;"
        "const draw = byteloomShell.draw.bind(byteloomShell);"
        "byteloomShell.draw = (what) => { draw(what); if (what) seen.add(what.question.text); };"
        "const timer = setInterval(() => {"
        "  area.value += ' a'; area.dispatchEvent(new Event('input', { bubbles: true })); keys += 1;"
        "  if (keys === 80) { clearInterval(timer); globalThis.ended = seen.size; }"
        "}, 25)"
    )
    assert page.until(lambda: page.js("return globalThis.ended"), "the last key") >= 3
    page.ready()
    assert page.figure("characters") == "161"

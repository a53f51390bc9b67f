"""The page as one file, and the assets that it is made of."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from byteloom.explorer import TABS, Session, assets
from byteloom.explorer.page import page as make_page


def test_the_assets_are_small():
    sizes = {name: len(assets.asset_text(name).encode()) for name in assets.asset_names()}
    assert sum(sizes.values()) <= 300_000, sizes


def test_every_asset_is_there_and_loads_nothing_from_elsewhere():
    for name in assets.asset_names():
        text = assets.asset_text(name)
        for match in re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"')]*", text):
            assert match.startswith("http://www.w3.org/"), (name, match)
        assert "@import" not in text
        assert "url(" not in text


def test_every_tab_is_there_or_none():
    """A tab without one of its halves is left out, which is only right while it is being written."""
    assert set(assets.available_tabs()) <= set(TABS)


TEXT = "low </script><b>lowest</b> <!-- 日本語 \u2028 🧵"


@pytest.fixture
def saved(trial_tabs, tmp_path, session):
    path = tmp_path / "page.html"
    path.write_text(make_page(Session(text=TEXT)), encoding="utf-8")
    return path


def test_the_single_file_shows_its_text_and_its_cards(driver, saved, trial_page, session):
    trial_page.url = saved.as_uri()
    trial_page.open()
    strip = session.strip(session.tokenizers[0], TEXT)
    assert trial_page.find("#text").get_attribute("value") == TEXT
    assert trial_page.figure("tokens") == str(strip["tokens"])
    assert len(trial_page.all("#picture > .strip .chip")) == strip["tokens"]
    assert "A saved page" in trial_page.text("#note")
    assert trial_page.find("#text").get_attribute("readonly")
    trial_page.card("far")
    assert trial_page.figure("tokens") == str(session.strip(session.tokenizers[1], "日本語")["tokens"])
    trial_page.card("wrong")
    assert trial_page.text("#alert p") == "it was told to fail: <b>&amp;"
    trial_page.find("#tab-second").click()
    trial_page.ready()
    assert trial_page.figure("tokens") == str(strip["tokens"])
    trial_page.find("#word").send_keys("w")
    trial_page.ready()
    assert "This saved page does not hold an answer to that" in trial_page.text("#alert")
    trial_page.find("#alert button").click()
    trial_page.ready()
    assert trial_page.text("#alert") == ""
    loaded = trial_page.js("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in loaded if not name.startswith("data:")] == []


def test_the_single_file_allows_only_its_own_script_and_style(saved):
    html = saved.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, directive in [('<script type="module">', "script-src"), ("<style>", "style-src")]:
        body = html.split(tag, 1)[1].split("</" + tag[1:].split(" ")[0].rstrip(">") + ">", 1)[0]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert html.count("<script") == 2
    assert html.count("</script>") == 2
    assert "<b>lowest" not in html


def test_the_single_file_is_good_html(saved):
    html5lib = pytest.importorskip("html5lib")
    parser = html5lib.HTMLParser(strict=False)
    parser.parse(saved.read_text(encoding="utf-8"))
    assert parser.errors == []


def test_the_single_file_holds_no_path_of_this_machine(saved, tmp_path):
    html = saved.read_text(encoding="utf-8")
    assert str(tmp_path.parent) not in html
    assert "/home/" not in html


# What reads our modules.


def test_literals():
    text = """
export const options = { a: 1, "b c": -2.5, 'd': [true, false, null,], e: 0x1f, f: 1_000, };
// export const cards = [9];
export const cards = [
  /* a comment */ { id: "x", text: "a\\n\\t\\"\\u{1F9F5}\\ud83e\\uddf5\\x41" + 'b' + `c
d`, n: "ab".repeat(3) + "!" }, // another
];
"""
    assert assets.literal(text, "options") == {
        "a": 1,
        "b c": -2.5,
        "d": [True, False, None],
        "e": 31,
        "f": 1000,
    }
    assert assets.literal(text, "cards") == [{"id": "x", "text": 'a\n\t"🧵🧵Abc\nd', "n": "ababab!"}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "export const cards = f();",
        "export const cards = [a];",
        "export const cards = `${x}`;",
        "export const cards = {...a};",
        'export const cards = "a" + b;',
        'export const cards = "a".concat("b");',
        "export const cards = [1 2];",
        "export const cards = [",
        "export const cards = {a};",
    ],
)
def test_what_is_no_literal_is_refused(text):
    with pytest.raises(ValueError, match=r"no plain literal|there is no"):
        assets.literal(text, "cards")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('export * from "./lib/dom.js";', "of another form"),
        ("export { a };", "of another form"),
        ('import "./lib/dom.js";', "of another form"),
        ('import a, { b } from "./lib/dom.js";', "of another form"),
        ('import { a } from "../../x.js";', "outside of the page"),
        ("const x = '</script>';", "would end the script"),
        ('import { a } from "./app.js";', "import each other"),
    ],
)
def test_modules_of_other_forms_are_refused(monkeypatch, text, words):
    real = assets.asset_text
    monkeypatch.setattr(assets, "available_tabs", list)
    monkeypatch.setattr(assets, "asset_text", lambda name: text if name == "app.js" else real(name))
    with pytest.raises(ValueError, match=words):
        assets.bundle()


def test_real_tabs_have_literals_and_cards():
    for tab in assets.available_tabs():
        text = assets.asset_text(f"tabs/{tab}.js")
        options, found = assets.literal(text, "options"), assets.literal(text, "cards")
        assert isinstance(options, dict)
        assert len({card["id"] for card in found}) == len(found)
        for card in found:
            assert {"id", "title", "setup", "look"} == set(card), (tab, card)
            assert set(card["setup"]) <= {"text", "options", "tokenizer"}
            assert set(card["setup"].get("options", {})) <= set(options), (tab, card["id"])

"""The page in a real browser: what all tabs share, and the single file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest

from byteloom import render
from byteloom.explorer import TABS, Session, assets
from byteloom.explorer.page import page as make_page

LONG = "The weavers don't know the lowest thread. 日本語 🧵 " * 2100  # 100 kB


def state(page):
    """What the address holds."""
    tab, _, query = urlsplit(page.driver.current_url).fragment.partition("?")
    return tab, {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}


def keys(page, *pressed):
    from selenium.webdriver.common.action_chains import ActionChains

    chain = ActionChains(page.driver)
    for key in pressed:
        chain.send_keys(key)
    chain.perform()


def focused(page):
    return page.js("return document.activeElement.id")


# Text, tabs and address.


def test_it_begins_with_the_first_tab_and_a_text(trial_page, session):
    trial_page.open()
    assert trial_page.driver.title == "Trial – byteloom explorer"
    assert trial_page.find("#text").get_attribute("value") == session.text_at_start
    assert trial_page.text('[role=tab][aria-selected="true"]') == "Trial"
    strip = session.strip(session.tokenizers[0], session.text_at_start)
    assert trial_page.figure("tokens") == str(strip["tokens"])
    assert trial_page.figure("bytes_per_token") == f"{strip['bytes_per_token']:.2f}"
    assert trial_page.figure("round_trip") == "✓ same bytes"
    assert trial_page.figure("unknown_bytes") == "0"


@pytest.mark.parametrize(
    "text", ["", "low lower", "naïve 日本語 👩‍🌾\t\n", "<b>&amp;</b>", "\u202eabc\0", "+&=#%?"]
)
def test_typing_changes_figures_and_address(trial_page, session, text):
    trial_page.open("trial", text="before")
    trial_page.type(text)
    for place, named in enumerate(session.tokenizers):
        if place:
            trial_page.js(
                "const m = document.getElementById('tokenizer'); m.selectedIndex = arguments[0]; m.dispatchEvent(new Event('change'))",
                place,
            )
            trial_page.ready()
        strip = session.strip(named, text)
        for name in ("characters", "bytes", "pretokens", "tokens"):
            assert trial_page.figure(name) == f"{strip[name]:,}"
    assert state(trial_page) == ("trial", {"text": text, "tokenizer": "1"})
    trial_page.driver.refresh()
    trial_page.ready()
    assert trial_page.figure("tokens") == f"{strip['tokens']:,}"


def test_the_address_is_the_state(trial_page):
    trial_page.open("second", text="low", tokenizer="1", options={"word": "w", "n": 5}, view={"step": 3})
    assert trial_page.find("#word").get_attribute("value") == "w"
    assert trial_page.find(".stepper input").get_attribute("value") == "3"
    assert trial_page.js("return document.getElementById('tokenizer').selectedIndex") == 1
    trial_page.find("#tab-trial").click()
    trial_page.ready()
    assert state(trial_page) == ("trial", {"text": "low", "tokenizer": "1"})
    trial_page.driver.back()
    trial_page.ready()
    tab, values = state(trial_page)
    assert (tab, json.loads(values["options"])) == ("second", {"word": "w", "n": 5})
    assert trial_page.text("#echo") == "w"


@pytest.mark.parametrize(
    "address",
    ["#nothing", "#trial?text=%", "#trial?tokenizer=99", "#trial?tokenizer=x", "#trial?options={", '#trial?options={"__proto__":{"a":1}}', "#trial?options=[1]", '#trial?options={"other":1}&view=7', "#trial?card=none", "#/trial", "#?"],
)  # fmt: skip
def test_an_address_of_nonsense_still_opens(trial_page, address):
    trial_page.driver.get("about:blank")
    trial_page.driver.get(trial_page.url + address)
    trial_page.ready()
    assert trial_page.figure("tokens")
    assert trial_page.js("return ({}).a === undefined")


def test_wrong_options_in_an_address_are_an_error_in_words(trial_page):
    trial_page.open("trial", options={"word": 5})
    assert trial_page.text("#alert p") == "word must be a string, not int"
    trial_page.find("#alert button").click()
    trial_page.ready()
    assert trial_page.text("#alert") == ""
    assert trial_page.all(".chip")


def test_a_long_text_is_not_in_the_address_but_is_kept(trial_page):
    text = "weave " * 1000
    trial_page.open("trial", text="x")
    trial_page.type(text)
    assert state(trial_page)[1] == {"long": ""}
    trial_page.driver.refresh()
    trial_page.ready()
    assert trial_page.figure("characters") == "6,000"


def test_100_kb_stay_responsive(trial_page):
    trial_page.open("trial", text="x")
    trial_page.type(LONG)
    assert trial_page.figure("characters") == f"{len(LONG):,}"
    # A key is taken at once: what it costs is not in the handler of the key.
    spent = trial_page.js(
        "const area = document.getElementById('text'); const start = performance.now();"
        "area.value += 'x'; area.dispatchEvent(new Event('input', { bubbles: true }));"
        "return performance.now() - start"
    )
    trial_page.ready()
    assert trial_page.figure("characters") == f"{len(LONG) + 1:,}"
    assert spent < 1000


def test_a_text_that_is_too_long_is_refused_before_it_is_sent(trial_page):
    trial_page.open("trial", text="x")
    trial_page.type("x" * 200_001)
    assert trial_page.text("#alert p").startswith(
        "The text has 200,001 bytes, and the explorer takes 200,000."
    )
    trial_page.type("x")
    assert trial_page.text("#alert") == ""


def test_the_newest_answer_wins(trial_page):
    trial_page.open("trial", text="x")
    trial_page.js(
        "const shell = globalThis.byteloomShell;"
        "for (let n = 1; n <= 30; n++) { shell.text = 'a '.repeat(n); shell.ask(); }"
    )
    trial_page.ready()
    assert trial_page.figure("characters") == "60"


# Errors, hostile texts.


def test_an_error_leaves_the_controls(trial_page):
    trial_page.open("trial", text="low")
    trial_page.find("#fail").click()
    trial_page.ready()
    assert trial_page.text("#alert p") == "it was told to fail: <b>&amp;"
    assert trial_page.find("#alert").get_attribute("role") == "alert"
    trial_page.find("#fail").click()
    trial_page.ready()
    assert trial_page.text("#alert") == ""


HOSTILE = "<img src=x onerror=globalThis.hit=1><script>globalThis.hit=1</script>\"'><svg onload=globalThis.hit=1>{{7*7}}"


def test_texts_never_become_markup(trial_page):
    trial_page.open("trial", text=HOSTILE, options={"word": HOSTILE})
    assert trial_page.text("#echo") == HOSTILE
    assert trial_page.js(
        "return [globalThis.hit ?? null, document.querySelectorAll('img, #stage script').length]"
    ) == [None, 0]


def test_the_code_has_no_way_from_text_to_markup():
    for name, text in assets.modules().items():
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
            "srcdoc",
            "createContextualFragment",
            "setHTML",
        ):
            uses = [
                line
                for line in text.splitlines()
                if word in line and not line.lstrip().startswith(("/*", "*", "//"))
            ]
            assert not uses, (name, uses)


def test_the_policy_holds(trial_page):
    trial_page.open("trial")
    blocked = trial_page.js(
        "const before = document.body.childElementCount; const s = document.createElement('script');"
        "s.textContent = 'globalThis.hit = 1'; document.body.append(s); s.remove(); return globalThis.hit ?? null"
    )
    assert blocked is None
    messages = trial_page.messages()
    assert len(messages) == 1
    assert "Content Security Policy" in messages[0]


# Keys and focus.


def test_tabs_by_arrow_keys(trial_page):
    from selenium.webdriver.common.keys import Keys

    trial_page.open("trial")
    trial_page.js("document.getElementById('tab-trial').focus()")
    for key, tab in [
        (Keys.ARROW_RIGHT, "second"),
        (Keys.ARROW_RIGHT, "trial"),
        (Keys.ARROW_LEFT, "second"),
        (Keys.HOME, "trial"),
        (Keys.END, "second"),
    ]:
        keys(trial_page, key)
        trial_page.ready()
        assert focused(trial_page) == f"tab-{tab}"
        assert state(trial_page)[0] == tab
    stops = trial_page.js("return [...document.querySelectorAll('[role=tab]')].map((tab) => tab.tabIndex)")
    assert stops == [-1, 0]


def test_a_slash_leads_to_the_text(trial_page):
    trial_page.open("trial", text="low")
    keys(trial_page, "/")
    assert focused(trial_page) == "text"
    keys(trial_page, "new/er ")
    trial_page.until(lambda: state(trial_page)[1]["text"] == "new/er ", "the text in the address")
    trial_page.ready()


def test_the_stepper_by_keys(trial_page):
    from selenium.webdriver.common.keys import Keys

    trial_page.open("trial", text="low")
    slider = trial_page.find(".stepper input")
    keys(trial_page, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert slider.get_attribute("value") == "1"
    assert trial_page.text(".stepper .says") == "step 1"
    assert slider.get_attribute("aria-valuetext") == "step 1"
    keys(trial_page, Keys.SPACE)
    trial_page.until(lambda: slider.get_attribute("value") == "5", "the end of the play")
    trial_page.until(
        lambda: trial_page.text(".stepper button:nth-of-type(2)") == "▶ play", "the end of the play"
    )
    trial_page.until(
        lambda: json.loads(state(trial_page)[1].get("view", "{}")) == {"step": 5}, "the step in the address"
    )
    assert trial_page.js("return window.scrollY") == 0


def test_chips_are_one_stop_with_arrows_inside(trial_page):
    from selenium.webdriver.common.keys import Keys

    trial_page.open("trial", text="one two three four")
    chips = trial_page.all(".strip button.chip")
    assert [chip.get_attribute("tabindex") for chip in chips].count("0") == 1
    trial_page.js("arguments[0].focus()", chips[0])
    keys(trial_page, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ENTER)
    assert trial_page.text("#inspector dd") == chips[2].text.split("\n")[-1]
    assert trial_page.find(".stepper input").get_attribute("value") == "0"


def test_the_focus_stays_while_the_picture_changes(trial_page):
    trial_page.open("trial", text="low")
    trial_page.find("#word").click()
    keys(trial_page, "a", "b", "c")
    trial_page.until(lambda: trial_page.text("#echo") == "abc", "the echo")
    assert focused(trial_page) == "word"
    keys(trial_page, "d")
    trial_page.until(lambda: trial_page.text("#echo") == "abcd", "the echo")


def test_a_line_of_a_chart_by_keys(trial_page):
    from selenium.webdriver.common.keys import Keys

    trial_page.open("trial", text="low")
    handle = trial_page.find(".handle")
    trial_page.js("arguments[0].focus()", handle)
    keys(trial_page, Keys.ARROW_UP)
    trial_page.until(
        lambda: json.loads(state(trial_page)[1].get("options", "{}")).get("n") == 110, "the line"
    )
    trial_page.ready()


def test_keys_are_explained(trial_page):
    from selenium.webdriver.common.keys import Keys

    trial_page.open("trial")
    keys(trial_page, "?")
    assert "play and stop" in trial_page.text("#keys-dialog")
    keys(trial_page, Keys.ESCAPE)
    trial_page.until(
        lambda: not trial_page.js("return document.getElementById('keys-dialog').open"), "its end"
    )


# Cards and examples.


def test_a_card_sets_up_and_says_what_to_look_for(trial_page):
    trial_page.open("trial", text="mine")
    assert trial_page.card("far") == "Look for: many bytes"
    tab, values = state(trial_page)
    assert (tab, values["text"], values["tokenizer"], values["card"], json.loads(values["options"])) == (
        "trial",
        "日本語",
        "1",
        "far",
        {"n": 4},
    )
    trial_page.driver.refresh()
    trial_page.ready()
    assert trial_page.text(".look") == "Look for: many bytes"
    trial_page.open("trial", text="mine")
    trial_page.card("ends")
    trial_page.card("ends")
    assert trial_page.find("#text").get_attribute("value") == "mine"
    assert state(trial_page) == ("trial", {"text": "mine"})


def test_examples(trial_page):
    trial_page.open("trial", text="mine")
    for place in range(1, trial_page.js("return document.getElementById('examples').length")):
        trial_page.js(
            "const m = document.getElementById('examples'); m.selectedIndex = arguments[0]; m.dispatchEvent(new Event('change'))",
            place,
        )
        trial_page.ready()
        assert int(trial_page.figure("characters")) > 20
        assert trial_page.figure("round_trip") == "✓ same bytes"


# Looks.


def ground(page):
    return page.js("return getComputedStyle(document.body).backgroundColor")


def test_light_and_dark(trial_page):
    trial_page.open("trial")
    light = ground(trial_page)
    trial_page.resize(1280, dark=True)
    dark = ground(trial_page)
    assert light != dark
    trial_page.find("#theme").click()
    assert (trial_page.text("#theme"), ground(trial_page)) == ("○ light", light)
    trial_page.resize(1280, dark=False)
    trial_page.find("#theme").click()
    assert (trial_page.text("#theme"), ground(trial_page)) == ("● dark", dark)
    trial_page.driver.refresh()
    trial_page.ready()
    assert ground(trial_page) == dark
    trial_page.find("#theme").click()
    assert (trial_page.text("#theme"), ground(trial_page)) == ("◐ system", light)


CONTRAST = """
const number = (color) => color.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }; return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
const under = (node) => { for (; node; node = node.parentElement) { const c = number(getComputedStyle(node).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
const weak = [];
for (const node of document.querySelectorAll('#app *')) {
  const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
  if (!own || node.closest('svg, option, [hidden], dialog') || !node.getClientRects().length || node.disabled) continue;
  const [a, b] = [light(number(getComputedStyle(node).color)), light(under(node))];
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) weak.push(`${node.tagName}.${node.className} ${node.textContent.slice(0, 20)} ${ratio.toFixed(2)}`);
}
return weak;
"""  # fmt: skip


@pytest.mark.parametrize("dark", [False, True])
def test_words_are_dark_enough(trial_page, dark):
    trial_page.resize(1280, dark=dark)
    trial_page.open("trial", text="one two\tthree 日本語", card="ends")
    assert trial_page.js(CONTRAST) == []


@pytest.mark.parametrize("width", [360, 390, 768, 1280])
@pytest.mark.parametrize("text", ["low lower", "x" * 400, LONG[:9000], "👩‍🌾" * 60])
def test_no_width_scrolls_sideways(trial_page, width, text):
    trial_page.resize(width)
    trial_page.open("trial", text=text[:1500])
    trial_page.type(text)
    assert trial_page.sideways() == 0


def test_everything_has_a_name_and_an_outline(trial_page):
    trial_page.open("trial", card="ends")
    nameless = trial_page.js(
        "return [...document.querySelectorAll('button, input, select, textarea, [role=slider], [role=img]')]"
        ".filter((n) => !(n.textContent.trim() || n.getAttribute('aria-label') || n.labels?.length)).map((n) => n.outerHTML)"
    )
    assert nameless == []
    doubled = trial_page.js(
        "const ids = [...document.querySelectorAll('[id]')].map((n) => n.id); return ids.filter((id, i) => ids.indexOf(id) !== i)"
    )
    assert doubled == []
    # Boundaries are lines, not only colours.
    assert trial_page.js("return getComputedStyle(document.querySelector('.chip')).borderLeftWidth") == "1px"
    from selenium.webdriver.common.keys import Keys

    keys(trial_page, Keys.TAB)
    assert trial_page.js("return getComputedStyle(document.activeElement).outlineStyle") != "none"


# The library modules.


def module(page, name, expression, *arguments):
    """The value of an expression in which `m` is a module of ours and `a` the arguments."""
    script = f"import('/' + arguments[0]).then((m) => done({expression}), (e) => done(`failed: ${{e}}`));"
    setting = "const [name, a, done] = arguments;"
    return page.driver.execute_async_script(setting + script, name, list(arguments))


SIGNS = [
    "",
    "a b",
    "\t\n\r\x0b\x7f\x1b\0",
    "naïve",
    "e\u0301",
    "\u0301e",
    " \u0301",
    "👩‍🌾",
    "\u200d",
    "a\u200d b",
    "\u202eabc\u202c",
    "\ufeff",
    "\ufffd",
    "\u00a0\u00ad\u2028",
    "日本語",
    "שלום",
    "\U000e0001",
    "\ue000",
]


def visible(data):
    from byteloom.render import _signs

    return _signs.visible(data)


def test_signs_are_the_library_s(trial_page):
    trial_page.open("trial")
    for text in SIGNS:
        assert module(trial_page, "lib/signs.js", "m.visible(a[0])", text) == visible(text.encode())


BYTES = [
    b"\xe2\x98",
    b"a\xe2\x98b",
    b"\xff\xfe",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe6\x97\tx",
    b"\xf0\x9f\xa7\xb5\xf0\x9f",
    b"\xef\xbb\xbfa",
    b"\xc3\xa9\xc3",
]


def test_bytes_are_shown_as_the_library_does(trial_page):
    trial_page.open("trial")
    for data in BYTES:
        assert module(trial_page, "lib/signs.js", "m.visibleBytes(a[0])", data.hex()) == visible(data)


def test_a_strip_draws_a_part_of_very_many(trial_page):
    trial_page.open("trial", text="x")
    trial_page.type("a b " * 2500)
    assert len(trial_page.all("#picture .strip .chip")) == 2000
    assert trial_page.text(".strip .rest") == "and 1,000 more"


def test_tables_sort_and_grow(trial_page):
    trial_page.open("trial", text="zebra apple " * 40)
    rows = "return [...document.querySelectorAll('#picture > .scroll tbody th')].map((n) => Number(n.textContent.replace(',', '')))"
    head = trial_page.find("#picture > .scroll thead button")
    plain = trial_page.js(rows)
    head.click()
    assert trial_page.js(rows) == sorted(plain, reverse=True) or len(plain) == 200
    assert trial_page.find("#picture > .scroll thead th").get_attribute("aria-sort") == "descending"
    head.click()
    assert trial_page.js(rows)[0] == min(trial_page.js(rows))
    head.click()
    assert trial_page.js(rows) == plain
    before = len(plain)
    more = trial_page.find("#picture > .scroll .more")
    if more.is_displayed():
        more.click()
        assert len(trial_page.js(rows)) > before


# Sizes and the single file.


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


@pytest.mark.parametrize("text", ["", "export const cards = f();", "export const cards = [a];", "export const cards = `${x}`;", "export const cards = {...a};", 'export const cards = "a" + b;', 'export const cards = "a".concat("b");', "export const cards = [1 2];", "export const cards = [", "export const cards = {a};"])  # fmt: skip
def test_what_is_no_literal_is_refused(text):
    with pytest.raises(ValueError, match="no plain literal|there is no"):
        assets.literal(text, "cards")


@pytest.mark.parametrize(
    ("text", "words"),
    [("export * from \"./lib/dom.js\";", "of another form"), ("export { a };", "of another form"), ('import "./lib/dom.js";', "of another form"), ('import a, { b } from "./lib/dom.js";', "of another form"), ('import { a } from "../../x.js";', "outside of the page"), ("const x = '</script>';", "would end the script"), ('import { a } from "./app.js";', "import each other")],
)  # fmt: skip
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

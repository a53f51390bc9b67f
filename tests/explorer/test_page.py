"""The page in a real browser: what all tabs share."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from byteloom.explorer import assets
from byteloom.render import _signs

LONG = "The weavers don't know the lowest thread. 日本語 🧵 " * 2100  # 100 kB

CHOOSE = """
const choose = (id, place) => {
  const menu = document.getElementById(id);
  menu.selectedIndex = place;
  menu.dispatchEvent(new Event('change'));
};
"""


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
                CHOOSE + "choose('tokenizer', arguments[0])",
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
    [
        "#nothing",
        "#trial?text=%",
        "#trial?tokenizer=99",
        "#trial?tokenizer=x",
        "#trial?options={",
        '#trial?options={"__proto__":{"a":1}}',
        "#trial?options=[1]",
        '#trial?options={"other":1}&view=7',
        "#trial?card=none",
        "#/trial",
        "#?",
    ],
)
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


HOSTILE = "<img src=x onerror=globalThis.hit=1><script>globalThis.hit=1</script>\"'><svg onload=hit=1>{{7*7}}"


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
    refused = trial_page.js(
        "const s = document.createElement('script'); s.append('globalThis.hit = 1'); document.body.append(s);"
        "s.remove(); const found = [globalThis.hit ?? null];"
        "try { document.createElement('p').innerHTML = '<b>x</b>'; found.push('markup'); }"
        "catch (error) { found.push(error.name); } return found"
    )
    assert refused == [None, "TypeError"]
    messages = trial_page.messages()
    assert messages
    for message in messages:
        assert any(word in message for word in ("Content Security Policy", "TrustedHTML", "TrustedScript"))


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
            CHOOSE + "choose('examples', arguments[0])",
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
const linear = (v) => v <= 10 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4;
const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
const under = (node) => {
  for (; node; node = node.parentElement) {
    const color = number(getComputedStyle(node).backgroundColor);
    if (color.length < 4 || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
const weak = [];
for (const node of document.querySelectorAll('#app *')) {
  const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
  if (!own || node.closest('svg, option, dialog') || !node.getClientRects().length || node.disabled) continue;
  const [a, b] = [light(number(getComputedStyle(node).color)), light(under(node))];
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) weak.push(`${node.tagName} ${node.className} ${node.textContent.slice(0, 20)} ${ratio}`);
}
return weak;
"""


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
        ".filter((n) => !(n.textContent.trim() || n.getAttribute('aria-label') || n.labels?.length))"
        ".map((n) => n.outerHTML)"
    )
    assert nameless == []
    doubled = trial_page.js(
        "const ids = [...document.querySelectorAll('[id]')].map((n) => n.id);"
        "return ids.filter((id, i) => ids.indexOf(id) !== i)"
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
    rows = (
        "return [...document.querySelectorAll('#picture > .scroll tbody th')].map((n) => Number(n.innerText))"
    )
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

"""The tabs Pipeline, Bytes, Split and Merges in a browser; the first five tabs and their cards."""

import re
from importlib.resources import files

import pytest

import byteloom as bl
from byteloom.course import module03
from explorer_page import change, chips, slide, step_to, texts, visible

TABS = ("pipeline", "bytes", "split", "merges", "train")
ENGLISH = "built-in, English"

pytestmark = pytest.mark.filterwarnings("ignore::byteloom.TrainingWarning")


@pytest.fixture(scope="module")
def english(session):
    return session.named(ENGLISH).tokenizer


def cards_of(tab):
    text = files("byteloom.explorer").joinpath(f"static/tabs/{tab}.js").read_text(encoding="utf-8")
    cards = text[text.index("export const cards") : text.index("];", text.index("export const cards"))]
    return re.findall(r'^    id: "([\w-]+)"', cards, re.MULTILINE)


CARDS = [(tab, card) for tab in TABS for card in cards_of(tab)]


# Every tab, every card.


@pytest.mark.parametrize("tab", TABS)
def test_any_text_is_drawn(page, tab):
    page.open(tab)
    for text in ("", "a", "\u202eאבג abc\u0000 \u200d e\u0301", "<b onclick=x>&amp;</b>", "ab" * 6000):
        page.type(text)
        assert page.text("#alert") == ""
        assert page.text("#picture") != ""
        assert page.sideways() <= 0
        assert page.all("#picture [onclick]") == []


@pytest.mark.parametrize(("tab", "card"), CARDS)
def test_a_card_sets_up_its_example(page, tab, card):
    page.open(tab)
    look = page.card(card)
    assert look.startswith("Look for:")
    assert len(look) > 60
    assert page.text("#alert") == ""
    # A tab with a text of its own has no figures of the shared one.
    assert page.figure("unknown_bytes") == ("" if tab == "train" else "0")


@pytest.mark.parametrize("tab", TABS)
def test_a_phone_shows_it_without_scrolling_sideways(page, tab):
    page.resize(360, 800, dark=True)
    page.open(tab)
    assert page.sideways() <= 0
    for card in cards_of(tab):
        page.card(card)
        assert page.sideways() <= 0, card


@pytest.mark.parametrize("tab", TABS)
def test_everything_that_acts_has_a_name_and_is_reached_by_keys(page, tab):
    page.open(tab)
    nameless = page.js(
        """const label = (node) => node.getAttribute("aria-label") || node.labels?.[0]?.innerText;
        const name = (node) => node.textContent || label(node);
        return Array.from(document.querySelectorAll("#picture :is(button, input, select, summary)"))
          .filter((node) => !name(node)).map((node) => node.outerHTML)"""
    )
    assert nameless == []
    # A strip is one stop for Tab; arrows go inside.
    stops = page.js(
        """return Array.from(document.querySelectorAll("#picture .strip"))
          .map((strip) => strip.querySelectorAll('button.chip[tabindex="0"]').length)"""
    )
    assert all(stop <= 1 for stop in stops)
    # The picture has a table for screen readers, made when it is opened.
    page.js("for (const one of document.querySelectorAll('#picture details')) one.open = true")
    assert page.find("#picture details table")


# Pipeline.


def test_pipeline_shows_ids_and_steps_through_stages(page, english):
    text = "The weavers know naïve 日本."
    page.open("pipeline", text=text, tokenizer="0")
    ids = english.encode(text)
    step_to(page, 6)
    assert [int(one) for one in texts(page, "#pieces .strip .chip small")] == ids
    assert chips(page, "#pieces .strip") == visible(english, ids)
    assert f"same {len(text.encode())} bytes" in page.text("#back")
    step_to(page, 0)
    assert page.all("#pieces .strip") == []
    assert "28 characters" not in page.text("#stage-words")
    assert f"{len(text)} characters" in page.text("#stage-words")
    step_to(page, 1)
    assert texts(page, "#pieces .piece > .chip bdi") == [
        bl.render.visible(piece.encode()) for piece in english.pretokens(text)
    ]
    step_to(page, 2)
    assert page.text("#pieces .hex") == "54 68 65"


def test_pipeline_opens_at_the_first_of_seven_numbered_stages(page, english):
    text = "The weavers know naïve 日本."
    page.open("pipeline", text=text)
    assert page.text("#stage-name") == "Stage 1: text"
    assert page.text("#pieces") == text
    assert texts(page, "#stages .stage-number") == [str(number) for number in range(1, 8)]
    ids = english.encode(text)
    size = f"{len(text.encode())} bytes"
    amounts = [f"{len(text)} characters", f"{len(english.pretokens(text))} pre-tokens", size]
    amounts += [f"{len(ids)} {kind}" for kind in ("tokens", "ids", "rows")]
    assert texts(page, "#stages .stage-amount") == [*amounts, size]
    seen = texts(page, "#stages .stage-seen")
    assert seen[1].split("|") == [bl.render.visible(piece.encode()) for piece in english.pretokens(text)]
    assert seen[2] == text.encode().hex(" ").upper()
    assert seen[3].split("|") == visible(english, ids)
    assert seen[4] == " ".join(map(str, ids))
    page.find("#stage-4").click()
    assert page.text("#stage-name") == "Stage 4: tokens"
    assert page.text("#stages [aria-current] .stage-title") == "tokens"


def test_pipeline_stage_by_key(page):
    page.open("pipeline", text="the", view={"stage": 0})
    assert page.text("#stage-name").startswith("Stage 1: text")
    page.find("body").send_keys("\ue014")  # the right arrow
    assert page.text("#stage-name").startswith("Stage 2: pre-tokens")
    page.until(
        lambda: '"stage":1' in page.js("return decodeURIComponent(location.hash)").replace("+", ""),
        "the address",
    )


def test_pipeline_card_stages(page, english):
    page.open("pipeline")
    page.card("stages")
    step_to(page, 3)
    sizes = {"ï": 2, "☕": 3, "你": 3, "好": 3}
    assert all(len(char.encode()) == size for char, size in sizes.items())
    shown = chips(page, "#pieces .strip")
    assert shown == visible(english, english.encode("naïve ☕ 你好"))
    assert sum("⟨" in one for one in shown) > len(shown) / 2
    assert page.figure("round_trip").startswith("✓")


def test_pipeline_card_words(page):
    page.open("pipeline")
    page.card("words")
    tokens = {role: len(page.all(f'[data-role="{role}"] .chip')) for role in ("known", "new", "script")}
    word = page.find("#word-script").get_attribute("value")
    assert tokens["known"] == 1 < tokens["new"] < tokens["script"] == len(word.encode())
    for role in tokens:
        facts = page.text(f'[data-role="{role}"] .facts')
        assert re.search(r"unknown\s+0", facts)
        assert "✓ the same" in facts


def test_pipeline_own_word(page, english):
    page.open("pipeline")
    change(page, "#word-new", "weaverlike")
    assert chips(page, '[data-role="new"]') == visible(english, english.encode("weaverlike"))


def test_pipeline_card_first_stage(page, english):
    page.open("pipeline")
    page.card("first-stage")
    step_to(page, 5)
    assert page.text("#stages .now .stage-title") == "what a model receives"
    assert "transformer" in page.text("#stages .model")
    thread = english.encode(" thread")
    assert len(thread) == 1
    ids = english.encode("the thread and the thread")
    shades = page.js(
        "return Array.from(document.querySelectorAll('#embedding .cell'), (c) => c.getAttribute('opacity'))"
    )
    width = len(shades) // len(ids)
    rows = [tuple(shades[place * width : (place + 1) * width]) for place in range(len(ids))]
    assert rows[-1] == rows[ids.index(thread[0])]
    assert len(set(rows)) == len(set(ids))


# Bytes.


def cells(page):
    return texts(page, "#signs .byte")


def counted(page, css):
    """How many such elements each of the characters has."""
    return page.js(
        "return Array.from(document.querySelectorAll('#signs .sign'),"
        " (sign) => sign.querySelectorAll(arguments[0]).length)",
        css,
    )


def test_bytes_card_emoji(page):
    page.open("bytes")
    page.card("emoji")
    assert texts(page, "#signs .chip bdi") == ["U+1F680"]
    assert cells(page) == ["F0", "9F", "9A", "80"]
    assert len(page.all("#signs .byte.lead")) == 1
    assert len(page.all("#signs .byte.cont")) == 3
    assert page.text("#unknown") == "0"
    letters = module03.bytes_to_unicode()
    assert texts(page, "#signs .letter") == [letters[byte] for byte in "🚀".encode()]


def test_bytes_bases(page):
    page.open("bytes", text="é")
    assert cells(page) == ["C3", "A9"]
    page.find("#base-dec").click()
    assert cells(page) == ["195", "169"]
    page.find("#base-bits").click()
    assert cells(page) == ["11000011", "10101001"]
    assert texts(page, "#signs .byte u") == ["110", "10"]
    assert page.find("#base-bits").get_attribute("aria-pressed") == "true"


def test_bytes_card_accents(page):
    page.open("bytes")
    page.card("accents")
    assert cells(page) == ["65", "20", "C3", "A9"]


def test_bytes_card_scripts(page):
    page.open("bytes")
    page.card("scripts")
    assert counted(page, ".byte") == [3, 3, 1, 2, 2, 2, 2, 2]
    assert page.text("#unknown") == "0"


def test_bytes_card_spaces(page):
    page.open("bytes")
    page.card("spaces")
    faces = dict(zip(texts(page, "#signs .face"), cells(page), strict=True))
    assert (faces["↵"], faces["→"]) == ("10", "9")


def test_bytes_card_cut(page, english):
    page.open("bytes")
    page.card("cut")
    assert "U+2615" in page.text("#cut-where")
    assert "2 of its 3 bytes are left" in page.text("#cut-where")
    data = "café ☕ to go".encode()[:8]
    decoder = english.stream_decoder()
    said = decoder.feed(english.encode(data))
    assert english.decode(english.encode(data)) == said + "\ufffd" == "café \ufffd"
    rows = texts(page, "#cut-result dd")
    assert rows[0] == "café·⟨U+FFFD⟩"
    assert rows[1] == "café·, and 2 bytes held back: E2 98"
    assert "\ufffd" not in page.text("#picture")
    assert len(page.all("#signs .after")) == len("café ☕ to go".encode()) - 8


def test_bytes_cut_by_slider_and_keys(page):
    page.open("bytes", text="aé")
    slide(page, "#cut", 2)
    assert page.text("label[for=cut]") == "Cut after byte 2"
    assert "1 of its 2 bytes is left" in page.text("#cut-where")
    page.find("#cut").send_keys("\ue014")
    assert "Nothing is cut off" in page.text("#cut-where")
    slide(page, "#cut", 1)
    assert "nothing is broken" in page.text("#cut-where")


def test_bytes_card_family(page):
    page.open("bytes")
    page.card("family")
    points = counted(page, ".point")
    assert points == [7, 1, 4, 1, 2, 1, 2]
    assert page.text(".counter").endswith(
        f" {sum(points)} code points, {sum(points) - 4} of them made of two or more bytes, "
        f"in {len(points)} boxes of what a reader sees as one character."
    )
    assert "U+200D" in texts(page, "#signs .chip bdi")


def test_bytes_inspects_a_character(page):
    page.open("bytes", text="é")
    page.find("#signs button.chip").click()
    assert "latin small letter e with acute" in page.text("#inspector")
    assert "195 169" in page.text("#inspector")


# Split.


def test_split_card_contraction(page):
    page.open("split")
    page.card("contraction")
    assert chips(page, "#side-0 .strip") == ["wouldn", "'t", "'ve"]
    assert texts(page, "#side-0 .strip small") == ["letters", "contraction", "contraction"]
    assert page.text("[data-badge]") == "✓ lossless"


def test_split_card_numbers(page):
    page.open("split")
    page.card("numbers")
    assert chips(page, "#side-0 .strip") == ["Route", "66", "·costs", "·$", "1", ",", "024"]


def test_split_card_space(page):
    page.open("split")
    page.card("space")
    assert chips(page, "#side-0 .strip") == ["the", "·the", "·the"]


def test_split_card_retrain(page):
    page.open("split")
    page.card("retrain")
    panels = page.all("#trained .panel")
    assert [panel.text.count("✓ exact") for panel in panels] == [1, 1]
    gpt2, simple = (chips(page, f"#trained .panel:nth-child({side}) .strip") for side in (1, 2))
    assert "'t" in gpt2
    assert "20" in gpt2
    assert "can't" in simple
    assert "$20," in simple
    assert [piece for piece in gpt2 if "'t" in piece] == ["'t"]
    assert page.all("#trained .chip.differs")


def test_split_card_underscores(page):
    page.open("split")
    page.card("underscores")
    assert "cut differently" in page.text("#differences h2")
    a, b = (chips(page, f"#side-{side} .strip") for side in (0, 1))
    text = "x² foo_!bar naïve नमस्ते"
    for shown, pattern in ((a, "gpt2"), (b, "course-gpt2")):
        pieces = bl.Tokenizer.from_merges([], pattern=pattern).pretokens(text)
        assert shown == [bl.render.visible(piece.encode()) for piece in pieces]
    assert "_!" in a
    assert "_!" not in b
    assert "x²" in b
    assert page.all("#side-0 .chip.differs")


def test_split_card_gaps(page):
    page.open("split")
    page.card("gaps")
    assert "unmatched" in texts(page, "#side-0 .strip small")
    assert page.text("[data-badge]") == "✓ lossless"
    assert "another library might drop them" in page.text("#side-0")


def test_split_any_regex_and_its_errors(page):
    page.open("split", text="abc 123", options={"pattern": "gpt2"})
    field = page.find("#pattern-regex")
    field.clear()
    field.send_keys("[a-z]|\\d+")
    page.until(
        lambda: chips(page, "#side-0 .strip") == ["a", "b", "c", "·", "123"], "the pre-tokens of the regex"
    )
    assert page.js("return document.activeElement.id") == "pattern-regex"
    page.find("#pattern-regex").send_keys("(")
    page.until(lambda: "unclosed group" in page.text("#side-0 .bad"), "the error in words")
    assert page.find("#pattern-menu").get_attribute("value") == "own"


def test_split_lights_the_alternative(page):
    page.open("split", text="it's", options={"pattern": "gpt2"})
    page.js("document.querySelectorAll('#side-0 button.chip')[1].focus()")
    assert "contraction" in page.text("#side-0 li.lit")
    page.all("#side-0 button.chip")[1].click()
    assert "'s" in page.text("#inspector")


def test_split_shows_the_space_of_a_regex(page):
    page.open("split", text="it's", options={"pattern": "gpt2"})
    assert "·?\\p{L}+" in texts(page, "#side-0 .alternatives code")


def test_split_card_marks(page):
    page.open("split")
    page.card("marks")
    a, b = (chips(page, f"#side-{side} .strip") for side in (0, 1))
    for shown, pattern in ((a, "cl100k"), (b, "o200k")):
        pieces = bl.Tokenizer.from_merges([], pattern=pattern).pretokens("नमस्ते दुनिया")
        assert len(shown) == len(pieces)
    assert (len(a), len(b)) == (7, 2)
    assert "What cl100k takes for a word does not include marks" in page.text("#marks")
    page.open("split", text="no marks here")
    assert not page.all("#marks")


def test_split_shows_the_whole_regex(page):
    for width in (1280, 390):
        page.resize(width)
        page.open("split", text="x", options={"pattern": "o200k"})
        assert page.js(
            "const field = document.getElementById('pattern-regex');"
            "return field.value === byteloomShell.answered.answer.records.sides[0].regex"
            " && field.scrollHeight <= field.clientHeight + 1 && field.scrollWidth <= field.clientWidth"
        )


# Merges.


def test_merges_card_words(page, english):
    page.open("merges")
    page.card("words")
    assert [len(english.encode(word)) for word in (" the", " and")] == [1, 1]
    for place, text in enumerate(english.pretokens("in the house and the loom")):
        if text in (" the", " and"):
            page.all("#picture > .strip button.chip")[place].click()
            merges = len(english.explain(text).parts[0].steps)
            assert 2 <= merges <= 3
            step_to(page, merges)
            assert chips(page, "#symbols") == [bl.render.visible(text.encode())]


def test_merges_card_steps(page, english):
    page.open("merges")
    page.card("steps")
    part = english.explain("the weavers").parts[1]
    for step, state in enumerate(part.states()):
        step_to(page, step)
        expected = [bl.render.visible(part.bytes[span.start : span.end]) for _, span in state]
        assert chips(page, "#symbols") == expected
    for number, step in enumerate(english.explain("the weavers", max_losers=4).parts[1].steps):
        step_to(page, number)
        ranks = [int(one) for one in texts(page, "#step tbody td.n")]
        assert ranks[0] == step.rank == min(ranks)
        assert ranks[1:] == [loser.rank for loser in step.losers]


def test_merges_play_and_keys(page):
    page.open("merges", text=" weavers")
    length = len(chips(page, "#symbols"))
    page.find("body").send_keys("\ue014")
    assert len(chips(page, "#symbols")) == length - 1
    page.find("body").send_keys(" ")
    page.until(lambda: len(chips(page, "#symbols")) < length - 1, "a step of the play")
    page.find("body").send_keys(" ")


def test_merges_card_order(page, english):
    page.open("merges")
    page.card("order")
    step = english.explain(" whether").parts[0].steps[0]
    assert step.losers
    assert f"the lowest, {step.rank}, goes first" in page.text("#why")
    assert "has to wait" in page.text("#step")


def test_merges_card_rare(page):
    page.open("merges")
    page.card("rare")
    assert chips(page, "#symbols") == ["x", "y", "z"]
    assert "nothing is merged" in page.text("#why")
    assert page.figure("tokens") == "3"


def test_merges_card_compression(page, english):
    page.open("merges")
    page.card("compression")
    assert [len(english.encode(one)) for one in (" the", " qxz", "qxz")] == [1, 4, 3]
    assert page.figure("tokens") == str(english.count("the the the\nqxz qxz qxz"))
    assert english.count("qxz qxz qxz") > 2 * english.count("the the the")


def test_merges_card_spaces(page, english):
    page.open("merges")
    page.card("spaces")
    pretokens = chips(page, "#picture > .strip:first-of-type")
    assert pretokens[:2] == ["one", "·two"]
    assert "·" in pretokens
    assert english.pretokens("one two  three") == ["one", " two", " ", " three"]


def test_merges_card_unwind(page, english):
    page.open("merges")
    page.card("unwind")
    page.all("#picture > .strip:last-of-type button.chip")[0].click()
    tree = english.explain(" weaver").parts[0].tokens[0].tree
    ids = re.findall(r"id (\d+)", page.text("#unwound"))
    expected = []

    def walk(node):
        expected.append(str(node.id))
        for half in (node.left, node.right):
            if half is not None:
                walk(half)

    walk(tree)
    assert ids == expected

"""The tabs Chat, Patches, Compare and Vocabulary in a browser: each tab, each card, keys, small screens."""

from __future__ import annotations

import re

import pytest

import byteloom as bl
from byteloom.explorer.assets import asset_text, literal
from byteloom.explorer.views._sample import SAMPLE
from explorer_page import controls, figure, patches

TABS = ("chat", "patches", "compare", "vocabulary")
DEMO = "the model predicts the next token"
MODEL = {"train": "models", "order": 4, "smoothing": "backoff"}
CARDS = [(tab, card["id"]) for tab in TABS for card in literal(asset_text(f"tabs/{tab}.js"), "cards")]


def press(page, css, key):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    page.js("arguments[0].focus()", page.find(css))
    ActionChains(page.driver).send_keys(getattr(Keys, key)).perform()
    settled(page)


def click(page, css):
    page.js("arguments[0].click()", page.find(css))
    page.ready()


def choose(page, css, value):
    """Choose the entry of a menu that begins with `value`."""
    page.js(
        "const menu = document.querySelector(arguments[0]);"
        "menu.selectedIndex = [...menu.options].findIndex((one) => one.text.startsWith(arguments[1]));"
        "menu.dispatchEvent(new Event('change', { bubbles: true }));",
        css,
        value,
    )
    settled(page)


def enter(page, css, value, event="input"):
    page.js(
        "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
        "field.dispatchEvent(new Event(arguments[2], { bubbles: true }));",
        css,
        value,
        event,
    )
    settled(page)


def settled(page):
    """What a field says is asked a moment later."""
    import time

    time.sleep(0.12)
    page.ready()


# Every tab and card.


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("dark", [False, True])
def test_a_tab_draws_and_fits(page, tab, width, dark):
    page.resize(width, dark=dark)
    page.open(tab)
    assert page.text("#picture").strip()
    assert not page.text("#alert")
    assert page.sideways() == 0


@pytest.mark.parametrize(("tab", "card"), CARDS)
def test_a_card_sets_up_its_example(page, tab, card):
    page.open(tab)
    assert page.card(card).startswith("Look for: ")
    assert not page.text("#alert")
    assert page.text("#picture").strip()
    assert page.sideways() == 0


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize(
    "text", ["", "\x00\u202e\ufeff", "<img src=x onerror=alert(1)>", "שלום עולם 12", "नमस्ते 👩‍🌾"]
)
def test_a_tab_draws_any_text(page, tab, text):
    page.open(tab, text=text)
    assert not page.text("#alert")
    assert page.sideways() == 0
    assert page.js("return document.querySelectorAll('#picture img, #picture script').length") == 0


@pytest.mark.parametrize("tab", TABS)
def test_controls_have_names(page, tab):
    page.open(tab)
    nameless = page.js(
        "const all = document.querySelectorAll('#picture :is(input, select, textarea, button)');"
        "const named = (node) => node.labels?.length || node.ariaLabel || node.textContent.trim();"
        "return [...all].filter((node) => !named(node))"
        ".map((node) => node.outerHTML.slice(0, 200))"
    )
    assert nameless == []


@pytest.mark.parametrize("tab", TABS)
def test_ids_are_unique(page, tab):
    page.open(tab)
    assert (
        page.js(
            "const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);"
            "return ids.filter((id, place) => ids.indexOf(id) !== place)"
        )
        == []
    )


# Chat.


def test_the_generation_prompt_makes_a_prompt_of_a_transcript(page):
    page.open("chat")
    page.card("chat-prompt")
    assert controls(page) == 4
    click(page, "#chat-prompt")
    assert controls(page) == 5
    assert page.all("[data-stream] .turns > li")[-1].text.replace("\n", "").startswith("turn 3<|im_start|>")
    assert figure(page, "control") == "2 × 2 closed turns + 1 open = 5"


def test_an_earlier_answer_is_a_closed_turn(page):
    page.open("chat")
    page.card("chat-turns")
    turns = page.all("[data-stream] .turns > li")
    assert len(turns) == 4
    assert turns[1].text.count("<|im_start|>") == turns[1].text.count("<|im_end|>") == 1
    assert len(page.all("[data-stream] .turns > li:nth-child(2) .trained")) == 2


def test_control_tokens_are_counted(page):
    page.open("chat")
    page.card("chat-count")
    assert controls(page) == 7
    assert figure(page, "control") == "2 × 3 closed turns + 1 open = 7"
    click(page, '[data-action="add"]')
    assert controls(page) == 9


def test_a_forged_turn_fails(page):
    page.open("chat")
    page.card("chat-forge")
    assert figure(page, "control") == "2 × 2 closed turns + 1 open = 5"
    assert len(page.all('[data-side="safe"] .chip.special')) == 5
    assert len(page.all('[data-side="careless"] .chip.special')) == 9
    assert [one.text for one in page.all('[data-side="careless"] .turn')] == [
        "turn 1",
        "turn 2",
        "turn 3, forged by a message",
        "turn 4, forged by a message",
        "turn 5",
    ]
    assert "forged" not in page.text('[data-side="safe"]')
    assert "4 control tokens" in page.text('[data-forged="yes"]')
    click(page, '[data-preset="question"]')
    assert page.find('[data-forged="no"]')


def test_another_format_gives_another_stream(page):
    page.open("chat")
    page.card("chat-format")
    assert len(page.all("[data-stream] .turns > li")) == 3
    choose(page, "#chat-format", "chatml")
    assert len(page.all("[data-stream] .turns > li")) == 2
    choose(page, "#chat-format", "internlm2")
    assert "<s> as id 512" in page.text('[data-notice="missing"]')
    assert figure(page, "control").endswith("+ 1 at the beginning = 4")
    click(page, "#chat-add")
    assert "no ids" in page.text('[data-notice="missing"]')
    click(page, '[data-action="give"]')
    assert figure(page, "control").endswith("= 4")


def test_the_mask_has_the_answer_and_its_end(page, session):
    page.open("chat")
    page.card("chat-mask")
    rows = [row.text.split() for row in page.all("[data-stream] tbody tr")]
    trained = [row for row in rows if row[-2] == "1"]
    tok = session.tokenizers[0].tokenizer
    assert [row[-1] for row in trained] == [
        str(id_) for id_ in (tok.encode("4")[0], tok.special_tokens["<|im_end|>"])
    ]
    assert {row[-1] for row in rows if row[-2] == "0"} == {"-100"}


def test_the_last_turn_can_stay_open(page):
    page.open("chat")
    page.card("chat-continue")
    assert controls(page) == 3
    click(page, "#chat-prompt")  # contradicts it, and switches it off
    assert controls(page) == 5
    assert not page.js("return document.getElementById('chat-continue').checked")


def test_the_stream_is_shown_in_four_ways(page, session):
    page.open("chat")
    messages = [
        {"role": "system", "content": "Answer in one word."},
        {"role": "user", "content": "What is 2 + 2?"},
    ]
    found = bl.chat.encode(session.tokenizers[0].tokenizer, messages, add_generation_prompt=True)
    choose(page, "#chat-view-show", "ids")
    assert [int(row.text.split()[-3]) for row in page.all("[data-stream] tbody tr")] == found.ids
    choose(page, "#chat-view-show", "text")
    assert page.js("return document.querySelector('[data-stream] pre').textContent") == found.text
    choose(page, "#chat-view-show", "segments")
    assert len(page.all("[data-stream] tbody tr")) == len(found.segments)


def test_messages_are_typed_moved_and_removed(page):
    page.open("chat")
    field = page.find("#chat-content-1")
    field.send_keys(" Quick!")
    settled(page)
    assert page.js("return document.activeElement.id") == "chat-content-1"
    assert page.js("return document.getElementById('chat-content-1').value") == "What is 2 + 2? Quick!"
    click(page, '[aria-label="Move message 2 up"]')
    assert page.js("return document.getElementById('chat-role-0').value") == "user"
    click(page, '[aria-label="Remove message 2"]')
    assert len(page.all(".message")) == 1
    click(page, '[data-action="add-text"]')
    assert page.js("return document.getElementById('chat-content-1').value") == page.js(
        "return byteloomShell.text"
    )
    click(page, '[data-preset="none"]')
    assert controls(page) == 1


def test_a_token_says_what_it_is(page):
    page.open("chat")
    click(page, "[data-stream] .chip.special")
    assert "the structure: a control token" in page.text("#inspector")


# Patches.


def test_patches_open_on_a_text_whose_words_they_show(page, session):
    page.open("patches")
    text = page.js("return document.getElementById('text').value")
    patcher = session.entropy_model(order=5, smoothing="witten-bell").patcher(theta=2, units="bits")
    report = patcher.report(text)
    assert 4 < report.mean < 5
    assert figure(page, "mean") == f"{report.mean:.2f} bytes"
    drawn = page.js(
        "return [...document.querySelectorAll('#patches-text .chip')].map((one) => one.textContent)"
    )
    assert drawn == patches(page) == [patch.decode().replace(" ", "·") for patch in patcher.patches(text)]
    words = {f"{word}·" for word in text.split()}
    assert sum(patch in words for patch in drawn) > len(drawn) / 3
    # Why few tokens begin a patch.
    tokens = session.tokenizers[0].tokenizer.encode(text)
    begin = [session.tokenizers[0].tokenizer.id_to_bytes(id_).startswith(b" ") for id_ in tokens]
    assert sum(begin) > len(begin) / 2
    assert sum(patch.endswith("·") for patch in drawn) > len(drawn) / 2
    assert page.text("#patches-apart").startswith("Few tokens begin a patch")
    # Every stage is filled in from the beginning.
    assert page.js(
        "return [...document.querySelectorAll('#patches-stages tbody tr')]"
        ".map((row) => [...row.cells].every((cell) => cell.textContent.length > 0))"
    ) == [True, True, True, True]


def test_patches_follow_a_slider_while_it_moves(page):
    page.open("patches")
    page.js(
        "const slider = document.getElementById('patches-theta-slider'); globalThis.seen = new Set();"
        "new MutationObserver(() => seen.add(document.querySelector('[data-figure=patches]').textContent))"
        "  .observe(document.getElementById('picture'), { subtree: true, childList: true });"
        "let step = 0; const drag = setInterval(() => {"
        "  slider.value = Number(slider.value) + 0.05; step += 1;"
        "  slider.dispatchEvent(new Event('input', { bubbles: true }));"
        "  if (step === 60) { clearInterval(drag); globalThis.ended = seen.size; }"
        "}, 16)"
    )
    assert page.until(lambda: page.js("return globalThis.ended"), "the end of the movement") >= 3
    page.ready()
    assert page.js("return byteloomShell.answered.question.options.theta") == 5


def test_a_low_threshold_makes_bytes_of_patches(page):
    page.open("patches")
    page.card("patches-low")
    assert patches(page) == [char.replace(" ", "·") for char in DEMO]
    assert figure(page, "patches") == "33"


def test_a_high_threshold_makes_one_patch(page):
    page.open("patches")
    page.card("patches-high")
    assert patches(page) == [DEMO.replace(" ", "·")]
    enter(page, "#patches-theta", "3.2", "change")
    assert patches(page) == ["the·", "model·predicts·the·", "next·token"]


def test_patches_begin_with_words(page):
    page.open("patches")
    page.card("patches-words")
    drawn = patches(page)
    assert drawn == ["t", "he·", "model·", "predicts·the·", "next·", "t", "oken"]
    report = bl.ByteEntropyModel(4).train(SAMPLE).patcher(theta=1.9, units="bits").report(DEMO)
    assert figure(page, "patches") == str(report.patches)
    assert figure(page, "mean") == f"{report.mean:.2f} bytes"
    assert figure(page, "compute").startswith(f"{report.relative_compute:.2f} ×")


def test_the_monotonic_rule_cuts_at_jumps(page):
    page.open("patches")
    page.card("patches-jumps")
    assert patches(page) == ["the·", "model·", "predict", "s·the·", "next·", "token"]
    # The claims of the card.
    entropies = bl.ByteEntropyModel(4).train(SAMPLE).entropies(DEMO)
    h, s = 1, DEMO.index("s")
    assert entropies[h] > entropies[s]
    assert entropies[h] < entropies[h - 1]
    assert entropies[s] > entropies[s - 1] + 0.5


def test_what_was_never_seen_has_eight_bits(page):
    page.open("patches")
    page.card("patches-novel")
    for place in (11, 12, 13):
        label = page.find(f"#patches-byte-{place}").get_attribute("aria-label")
        assert "entropy 8.00 bits" in label


def test_a_threshold_for_a_wanted_mean_is_found_and_used(page):
    page.open("patches")
    page.card("patches-target")
    text = page.js("return byteloomShell.text")
    model = bl.ByteEntropyModel(4).train(SAMPLE)
    theta = model.threshold_for(text, 4.5)
    assert f"θ = {theta:.3f} bits" in page.text("#picture .found")
    click(page, "#patches-find")
    settled(page)
    report = model.patcher(theta=theta, units="bits").report(text)
    assert figure(page, "mean") == f"{report.mean:.2f} bytes"


def test_tokens_lie_under_the_same_bytes(page, session):
    page.open("patches")
    page.card("patches-tokens")
    starts = page.js(
        "return [...document.querySelectorAll('.byte.token-start')].map((b) => Number(b.id.split('-')[2]))"
    )
    tok = session.tokenizers[0].tokenizer
    assert starts == [begin for _, (begin, _) in zip(*tok.encode_with_offsets(DEMO), strict=True)]
    choose(page, "#patches-rule", "bpe")
    assert patches(page) == [tok.decode([id_]).replace(" ", "·") for id_ in tok.encode(DEMO)]


def test_the_three_stages_are_stepped_through(page):
    page.open("patches")
    page.card("patches-stages")
    assert page.find("#patches-stages").get_attribute("data-stage") == "0"
    for stage, words in (
        (1, "makes one vector"),
        (2, "once for each patch"),
        (3, "bytes of the next patch"),
    ):
        press(page, "[data-stepper] input", "ARROW_RIGHT")
        assert page.find("#patches-stages").get_attribute("data-stage") == str(stage)
        assert words in page.text("#patches-stages")
    assert page.text("[data-stepper] .says") == "step 4 of 4: Local decoder"
    cells = [cell.text for cell in page.all("#patches-stages tbody tr:last-child td")]
    assert cells[0].startswith("he·")
    assert "what follows the text" in cells[-1]


def test_the_threshold_moves_with_keys_and_pointer(page):
    from selenium.webdriver import ActionChains

    page.open("patches")
    page.card("patches-words")
    press(page, "#picture [role=slider]", "ARROW_UP")
    assert page.js("return document.getElementById('patches-theta').value") == "1.95"
    assert page.js("return document.activeElement.getAttribute('role')") == "slider"
    handle = page.find("#picture [role=slider]")
    page.js("arguments[0].scrollIntoView({ block: 'center' })", handle)
    ActionChains(page.driver).click_and_hold(handle).move_by_offset(0, 15).pause(0.2).move_by_offset(
        0, 20
    ).release().perform()
    settled(page)
    assert float(page.js("return document.getElementById('patches-theta').value")) < 1.6
    assert len(patches(page)) > 7


def test_a_slider_that_is_moved_stays_in_the_hand(page):
    page.open("patches")
    page.js(
        "document.getElementById('patches-theta-slider').focus(); globalThis.before = document.activeElement;"
    )
    enter(page, "#patches-theta-slider", "4")
    assert page.js("return document.activeElement === globalThis.before && globalThis.before.isConnected")
    assert page.js("return byteloomShell.options.patches.theta") == 4


def test_units_keep_the_patches(page):
    page.open("patches")
    page.card("patches-words")
    before = patches(page)
    choose(page, "#patches-units", "nats")
    assert patches(page) == before
    assert page.js("return document.getElementById('patches-theta').value") == "1.317"


@pytest.mark.parametrize("rule", ["both", "space", "static", "byte"])
def test_every_rule_draws_its_patches(page, rule):
    page.open("patches", text=DEMO, options={**MODEL, "rule": rule, "theta": 1, "rise": 0.5})
    model = bl.ByteEntropyModel(4).train(SAMPLE)
    patcher = {
        "both": lambda: model.patcher(theta=1, rise=0.5, units="bits"),
        "space": bl.patching.Patcher.space,
        "static": lambda: bl.patching.Patcher.static(4),
        "byte": bl.patching.Patcher.byte,
    }[rule]()
    assert patches(page) == [patch.decode().replace(" ", "·") for patch in patcher.patches(DEMO)]


def test_bytes_are_one_stop_of_the_tab_key(page):
    page.open("patches", text=DEMO, options=MODEL)
    assert page.js("return document.querySelectorAll('.byte[tabindex=\"0\"]').length") == 1
    press(page, "#patches-byte-0", "ARROW_RIGHT")
    assert page.js("return document.activeElement.id") == "patches-byte-1"


def test_a_byte_says_what_the_model_expected(page):
    page.open("patches", text=DEMO, options=MODEL)
    click(page, "#patches-byte-5")
    settled(page)
    assert "What the model expected" in page.text("#inspector")
    assert "← came" in page.text("#inspector")


# Compare.


def test_rings_show_where_tokenizers_disagree(page, session):
    page.open("compare")
    page.card("compare-rings")
    text = page.js("return byteloomShell.text")
    rows = [named.tokenizer.encode_with_offsets(text)[1] for named in session.tokenizers]
    for place, (mine, other) in enumerate((rows, rows[::-1])):
        drawn = page.js(
            "const chips = document.querySelectorAll(`[data-row='${arguments[0]}'] .chip`);"
            "return [...chips].map((chip) => chip.classList.contains('ringed'))",
            place,
        )
        assert drawn == [span not in other for span in mine]
        assert any(drawn)


def test_a_script_that_was_not_learned_costs_tokens(page):
    page.open("compare")
    page.card("compare-script")
    assert "37 tokens" in page.text('[data-row="0"] h3')
    assert "14 tokens" in page.text('[data-row="1"] h3')


def test_languages_have_their_multiple_of_english(page, session):
    page.open("compare")
    page.card("compare-languages")
    names = [named.name for named in session.tokenizers]
    found = bl.compare([named.tokenizer for named in session.tokenizers], names=names)
    hindi = [row.parity for row in found.languages if row.code == "hi"]
    line = next(row.text for row in page.all("#compare-languages tbody tr") if row.text.startswith("Hindi"))
    assert [float(number) for number in re.findall(r"([\d.]+) ×", line)] == [
        round(parity, 2) for parity in hindi
    ]
    # The claims of the card.
    assert max(row.parity for row in found.languages if row.tokenizer == names[0]) == hindi[0]
    tokens = [row.tokens for row in found.languages if row.code == "hi"]
    assert tokens[1] < tokens[0] / 2
    assert hindi[1] < hindi[0] / 2


def test_the_cost_is_tokens_times_the_prices_of_the_reader(page, session):
    page.open("compare")
    page.card("compare-cost")
    text = page.js("return byteloomShell.text")
    tokens = [len(named.tokenizer.encode(text)) for named in session.tokenizers]
    assert tokens[1] < tokens[0]
    assert "Example prices" in page.text("#compare-cost")
    enter(page, "#compare-input-0", "250")
    enter(page, "#compare-answer", "0")
    enter(page, "#compare-calls", "10000")
    enter(page, "#compare-window", "100")
    assert re.search(r"Prices entered on \d{4}-\d\d-\d\d\.", page.text("#compare-cost"))
    row = page.js(
        "const bill = [...document.querySelectorAll('#compare-cost table')].at(-1);"
        "return [...bill.querySelector('tbody tr').children].map((cell) => cell.textContent)"
    )
    assert float(row[3].replace(",", "")) == pytest.approx(tokens[0] * 250 / 1e6 * 10_000, abs=0.01)
    assert f"fits: {tokens[0]:.1f} %" in page.text("#compare-cost .windows")
    enter(page, "#compare-window", str(tokens[0] - 1))
    assert "✗ does not fit" in page.text("#compare-cost .windows li:first-child")
    # It is in the address.
    page.until(lambda: "cost" in page.js("return decodeURIComponent(location.hash)"), "the address")


# Vocabulary.


def tokens_listed(page):
    return [cell.text for cell in page.all("[data-found] tbody td:nth-child(2)")]


def test_the_longest_tokens_come_first(page, session):
    page.open("vocabulary")
    page.card("vocabulary-longest")
    vocab = bl.Vocabulary(session.tokenizers[0].tokenizer)
    assert tokens_listed(page) == [entry.text.replace(" ", "·") for entry in vocab.longest(40)]
    assert {"·weaver", "·threads", "·valley"} <= set(tokens_listed(page))


def test_it_begins_with_what_training_made(page, session):
    page.open("vocabulary")
    tok = session.tokenizers[0].tokenizer
    merged = [tok.id_to_bytes(a) + tok.id_to_bytes(b) for a, b in tok.merges]
    assert tokens_listed(page) == [bl.render.visible(token) for token in merged[:40]]
    assert page.find("[data-found]").get_attribute("data-found") == str(len(merged))
    assert "joining two shorter tokens" in page.text("#vocabulary-about")


def test_tokens_are_searched(page, session):
    page.open("vocabulary")
    page.card("vocabulary-search")
    vocab = bl.Vocabulary(session.tokenizers[0].tokenizer)
    assert page.find("[data-found]").get_attribute("data-found") == str(len(vocab.search("the")))
    page.find("#vocabulary-query").send_keys("r")
    settled(page)
    assert tokens_listed(page) == [entry.text.replace(" ", "·") for entry in vocab.search("ther")]
    assert page.js("return document.activeElement.id") == "vocabulary-query"


def test_the_search_stands_open_in_every_list(page, session):
    page.open("vocabulary")
    field = page.find("#vocabulary-query")
    assert field.is_displayed()
    field.send_keys("th")
    settled(page)
    vocab = bl.Vocabulary(session.tokenizers[0].tokenizer)
    assert page.text("[data-found] .caption").startswith('Tokens that hold "th": 1 to ')
    assert page.find("[data-found]").get_attribute("data-found") == str(len(vocab.search("th")))
    assert page.js("return document.activeElement.id") == "vocabulary-query"


def test_what_a_text_does_not_use_is_listed(page, session):
    page.open("vocabulary")
    page.card("vocabulary-unused")
    usage = bl.Vocabulary(session.tokenizers[0].tokenizer).usage(page.js("return byteloomShell.text"))
    assert figure(page, "never") == str(len(usage.never))
    assert page.find("[data-found]").get_attribute("data-found") == str(len(usage.never))
    click(page, "#vocabulary-after")
    settled(page)
    assert page.all("[data-found] tbody th")[0].text == str(usage.never[40].id)


def test_parts_of_characters_are_shown_as_bytes(page):
    page.open("vocabulary")
    page.card("vocabulary-parts")
    assert all("⟨" in token for token in tokens_listed(page))


def test_every_token_of_a_trained_vocabulary_is_reached(page):
    page.open("vocabulary")
    page.card("vocabulary-unreachable")
    assert page.text('[data-found="0"]').startswith("✓ None")


def test_a_kind_is_chosen_in_its_table(page):
    page.open("vocabulary", tokenizer="1")
    page.js(
        "const scripts = [...document.querySelectorAll('#picture button.link')];"
        "scripts.find((one) => one.textContent === 'Greek').click()"
    )
    settled(page)
    assert page.js("return byteloomShell.options.vocabulary.kind") == "Greek"
    assert {cell.text for cell in page.all("[data-found] tbody td:last-child")} == {"Greek"}

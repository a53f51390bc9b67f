"""The HTML faces: well-formed, escaped whatever comes in, and the same tokens as everywhere."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given

import byteloom as bl
from byteloom import chat, explain, render
from helpers import SAMPLES, train_quietly
from strategies import byte_texts, few

html5lib = pytest.importorskip("html5lib")

HOSTILE = (
    "</title></style></table><script>alert('x')</script>&lt;\"'><img src=x onerror=y>`-->"
    "\x1b[31m\u202e\x00\ufffd"
)
HOSTILE_SHOWN = render.visible(HOSTILE.encode(), spaces=False)


def parse(html):
    """The elements of a piece of HTML, or of a page; anything out of order is an error."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    whole = html.startswith("<!DOCTYPE")
    tree = parser.parse(html) if whole else parser.parseFragment(html)
    return list(tree.iter())


def text_of(element):
    return "".join(element.itertext())


def check(html, hostile=0):
    """Nothing but our own elements and attributes; the hostile text, that often at least, as text."""
    elements = parse(html)
    names = {element.tag for element in elements if isinstance(element.tag, str)}
    ours = {
        "DOCUMENT_FRAGMENT", "html", "head", "meta", "title", "style", "body", "section", "div", "h1", "h2",
        "h3", "p", "bdi", "i", "b", "br", "wbr", "span", "table", "caption", "thead", "tbody", "tr", "th",
        "td", "ul", "li", "details", "summary",
    }  # fmt: skip
    assert names <= ours, names - ours
    for element in elements:
        assert not {name for name in element.attrib if name.startswith(("on", "src", "href"))}
    shown = [text_of(element) for element in elements if element.tag != "style"]
    found = sum(HOSTILE_SHOWN.replace(" ", "") in text.replace(" ", "").replace("·", "") for text in shown)
    assert found >= hostile
    assert not any(char in html for char in "\x1b\u202e\x00\ufffd")
    return elements


def chips(elements):
    return [
        element for element in elements if element.tag == "bdi" and "t" in element.get("class", "").split()
    ]


@pytest.mark.parametrize("text", [*SAMPLES, HOSTILE], ids=range(len(SAMPLES) + 1))
def test_a_text_is_its_tokens(special_tok, text):
    elements = check(render.html(special_tok, text, limit=10_000))
    strip = next(element for element in elements if element.get("class") == "strip")
    tokens = [special_tok.id_to_bytes(id_) for id_ in special_tok.encode(text)]
    drawn = chips(list(strip.iter()))
    assert [text_of(chip) for chip in drawn] == list(map(render.visible, tokens))
    assert [int(chip.get("title").split()[1].rstrip(":")) for chip in drawn] == special_tok.encode(text)


@few
@given(byte_texts)
def test_any_text_is_well_formed(data):
    tok = train_quietly("the cat é日本 שלום" * 3, 290)
    elements = check(render.html(tok, data))
    strip = next(element for element in elements if element.get("class") == "strip")
    expected = [render.visible(tok.id_to_bytes(id_)) for id_ in tok.encode_ordinary(data)]
    assert [text_of(chip) for chip in chips(list(strip.iter()))] == expected
    check(render.html(tok.explain(data), limit=5))


def test_partial_characters_signs_and_specials_are_marked(special_tok):
    html = render.html(special_tok, "☘ \n<|pad|>", allowed_special="all")
    assert "<b>⟨E2⟩</b>" in html
    assert "<i>·</i>" in html
    assert "<i>↵</i></bdi><br>" in html
    assert "t special" in html


def test_right_to_left_text_stays_in_order():
    words = ["שלום", " עולם", "!", " abc"]
    tok = train_quietly(["שלום עולם! abc"] * 5, 290, pattern="gpt2")
    elements = check(render.html(tok, "".join(words)))
    strip = next(element for element in elements if element.get("class") == "strip")
    assert strip.get("dir") == "rtl"
    assert [text_of(chip) for chip in chips(list(strip.iter()))] == [word.replace(" ", "·") for word in words]
    turned = [element for element in strip.iter() if element.tag == "span"]
    assert [(element.get("dir"), text_of(element)) for element in turned] == [("ltr", "·abc")]
    inside = check(render.html(tok, "abc עולם!"))
    strip = next(element for element in inside if element.get("class") == "strip")
    assert strip.get("dir") == "ltr"
    assert [text_of(element) for element in strip.iter() if element.tag == "span"] == ["·עולם"]


def hostile_tokenizer():
    """Hostile in its pattern, its special tokens and its vocabulary."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"<script>": 256, b"\"'><b>": 257}
    pattern = r"<script>|[^<]+|<|\"'><img src=x onerror=alert>"
    return bl.Tokenizer.from_tiktoken(ranks, pattern=pattern, special_tokens={HOSTILE.replace("\0", ""): 300})


def hostile_things():
    """One of each thing that can be drawn, hostile in every field that holds text."""
    tok = hostile_tokenizer()
    yield "tokenizer", tok, 0
    yield "tokens", render.view(tok, HOSTILE), 0
    yield "special", render.view(tok, ids=[300, 256]), 0
    special = HOSTILE.replace("\0", "")
    explanation = tok.explain(HOSTILE + special, allowed_special="all")
    yield "explanation", explanation, 1
    match = explain.PatternMatch(0, 0, HOSTILE, HOSTILE, explain.Span(0, 1))
    part = next(part for part in explanation.parts if part.kind == "pretoken")
    yield "pre-token", dataclasses.replace(part, matches=(match,), bytes=part.bytes, original=b"x"), 1
    yield "training", explain.TrainingTrace(
        HOSTILE, 2,
        (explain.TraceStep(0, 1, 2, HOSTILE.encode(), b"<b>", 3, 1, 2, HOSTILE,
                           (explain.RunnerUp(1, 2, b"<i>", HOSTILE.encode(), 1),)),),
        HOSTILE,
    ), 3  # fmt: skip
    data = HOSTILE.encode()
    start = explain.PatchStart(HOSTILE, 1.0, 0.5, 1.0, 0.5)
    scores = tuple(explain.ExplainedByte(place, byte, 1.5, data, 1) for place, byte in enumerate(data))
    patch = explain.ExplainedPatch(0, data, explain.Span(0, len(data)), start, scores)
    yield "patches", explain.PatchExplanation(HOSTILE, data, (patch,)), 3 + len(data)
    yield "patch", patch, 2 + len(data)
    model = bl.ByteEntropyModel().train(HOSTILE * 3)
    yield "explained", model.patcher(theta=1, units="bits", reset_on=data).explain(HOSTILE), 0
    yield "plain patches", [(data, 0)], 1
    yield "segments", chat.segments([{"role": "user", "content": HOSTILE}]), 1
    names = [HOSTILE, "<b>"]
    yield "comparison", bl.compare([tok, tok], {HOSTILE: HOSTILE}, names=names, languages=["hi"]), 3
    vocab = bl.Vocabulary(tok)
    yield "vocabulary", vocab, 0
    yield "entries", list(vocab)[-3:], 0
    yield "usage", vocab.usage({HOSTILE: HOSTILE}), 0
    yield "unreachable", [bl.Vocabulary(tok).unreachable()[0]] if vocab.unreachable() else [(b"<b>", 0)], 0


@pytest.mark.parametrize(
    ("item", "times"), [pytest.param(item, times, id=name) for name, item, times in hostile_things()]
)
def test_hostile_text_in_every_field(item, times):
    check(render.html(item), times)
    page = render.page(item, title=HOSTILE)
    elements = check(page, times)
    title = next(element for element in elements if element.tag == "title")
    assert text_of(title) == HOSTILE_SHOWN


def test_a_page_of_everything(tmp_path):
    things = [item for _, item, _ in hostile_things()]
    path = tmp_path / "page.html"
    render.write_page(path, *things, title="All")
    html = path.read_text(encoding="utf-8")
    elements = check(html)
    assert html == render.page(*things, title="All")
    assert sum(element.tag == "section" for element in elements) == len(things)
    assert sum(element.tag == "style" for element in elements) == 1
    policy = next(element for element in elements if element.get("http-equiv"))
    assert policy.get("content") == "default-src 'none'; style-src 'unsafe-inline'"
    assert "http://" not in html
    assert "https://" not in html


def test_a_page_is_written_whole_or_not_at_all(tmp_path, special_tok):
    path = tmp_path / "page.html"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(TypeError):
        render.write_page(path, special_tok, None)
    assert path.read_text(encoding="utf-8") == "old"
    with pytest.raises(OSError, match="missing"):
        render.write_page(tmp_path / "missing" / "page.html", special_tok)


def test_what_notebooks_ask_for(special_tok):
    result = bl.compare([special_tok], "x", names=["A"], languages=False)
    explanation = special_tok.explain("the cat")
    talk = chat.encode(
        special_tok.with_special_tokens(["<|im_start|>", "<|im_end|>"]), [{"role": "user", "content": "x"}]
    )
    usage = bl.Vocabulary(special_tok).usage("x")
    drawn = (special_tok, bl.Vocabulary(special_tok), result, render.view(special_tok, "x"), usage)
    for item in (*drawn, explanation, explanation.parts[0], explanation.tokens[0].tree, talk):
        html = item._repr_html_()
        check(html)
        assert html == render.html(item)
    assert explanation.parts[0].symbols[0]._repr_html_() is None

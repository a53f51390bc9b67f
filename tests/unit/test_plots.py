"""Plots: their bars and lines are the numbers, their files are what their endings say."""

from __future__ import annotations

import importlib
import xml.etree.ElementTree as ET

import pytest

import byteloom as bl
from byteloom import explain
from helpers import raises_cleanly, run_python

pytest.importorskip("matplotlib")

HOSTILE = "$\\frac{1}{0}$ <script>&\x1b\u202e日本"


@pytest.fixture(scope="module")
def result(tok, special_tok):
    texts = {"first": "the cat sat", HOSTILE: "日本語 🚀", "": "x"}
    return bl.compare([tok, special_tok], texts, names=[HOSTILE, "_B"])


def heights(figure):
    """The heights of the bars, a list for each group of equal looks."""
    return [[bar.get_height() for bar in bars] for bars in figure.axes[0].containers]


@pytest.mark.parametrize("value", ["bytes_per_token", "tokens", "tokens_per_word", "partial_share"])
def test_bars_of_texts_are_the_figures(result, value):
    figure = bl.plots.texts(result, value)
    expected = [
        [getattr(row, value) for row in result.figures if row.tokenizer == name] for name in result.names
    ]
    assert heights(figure) == expected


@pytest.mark.parametrize("value", ["parity", "tokens", "characters_per_token"])
def test_bars_of_languages_are_the_figures(result, value):
    figure = bl.plots.languages(result, value)
    expected = [
        [getattr(row, value) for row in result.languages if row.tokenizer == name] for name in result.names
    ]
    assert heights(figure) == expected
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == list(dict.fromkeys(row.source for row in result.languages))


def test_points_of_sizes_are_the_figures(result):
    figure = bl.plots.sizes(result)
    lines = figure.axes[0].get_lines()
    assert len(lines) == 3
    rows = [row for row in result.figures if row.source == "first"]
    assert list(lines[0].get_xdata()) == [300, 302]
    assert list(lines[0].get_ydata()) == [row.bytes_per_token for row in rows]


def test_bars_of_lengths_are_the_vocabulary(special_tok):
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"=" * 40: 256, b"=" * 50: 257}
    long = bl.Vocabulary(bl.Tokenizer.from_tiktoken(ranks, pattern="none"))
    vocab = bl.Vocabulary(special_tok)
    figure = bl.plots.token_lengths({"a": vocab, "b": long})
    assert heights(figure) == [list(vocab.lengths().values()), [256, 2]]


def test_entropy_along_a_text():
    data = "a é".encode()
    scores = tuple(explain.ExplainedByte(place, byte, place + 0.5, b"", 1) for place, byte in enumerate(data))
    why = explain.PatchStart("global", None, None, None, None)
    patches = tuple(
        explain.ExplainedPatch(number, data[a:b], explain.Span(a, b), why, scores[a:b])
        for number, (a, b) in enumerate([(0, 2), (2, 4)])
    )
    for figure in (
        bl.plots.entropy(explain.PatchExplanation("p", data, patches), threshold=2),
        bl.plots.entropy([score.entropy for score in scores], [0, 2], data, threshold=2),
    ):
        axes = figure.axes[0]
        line, first, second, limit = axes.get_lines()
        assert list(line.get_ydata()) == [0.5, 1.5, 2.5, 3.5]
        assert (first.get_xdata()[0], second.get_xdata()[0]) == (-0.5, 1.5)
        assert limit.get_ydata()[0] == 2
        assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "·", "C3", "A9"]


def test_entropy_of_an_explanation():
    model = bl.ByteEntropyModel().train("the cat sat on the mat. " * 9)
    explanation = model.patcher(theta=0.7, units="nats").explain("the mat")
    line, *starts, limit = bl.plots.entropy(explanation).axes[0].get_lines()
    assert list(line.get_ydata()) == model.entropies("the mat").tolist()
    assert [start.get_xdata()[0] + 0.5 for start in starts] == [
        patch.byte_span.start for patch in explanation.patches
    ]
    assert limit.get_ydata()[0] == explanation.theta
    other = bl.plots.entropy(explanation, threshold=3).axes[0].get_lines()[-1]
    assert other.get_ydata()[0] == 3
    assert len(bl.plots.entropy(bl.patching.Patcher.space().explain("")).axes[0].get_lines()) == 1
    with pytest.raises(ValueError, match="no entropies"):
        bl.plots.entropy(bl.patching.Patcher.space().explain("the mat"))
    unlimited = model.patcher(theta=float("inf"), units="bits").explain("the mat")
    assert len(bl.plots.entropy(unlimited).axes[0].get_lines()) == 2


def all_plots(result, vocab):
    yield bl.plots.texts(result)
    yield bl.plots.languages(result)
    yield bl.plots.sizes(result)
    yield bl.plots.token_lengths({HOSTILE: vocab})
    yield bl.plots.entropy([1.0, 2.0], [0], b"$x")


def test_files_are_what_they_are_called(result, special_tok, tmp_path):
    for place, figure in enumerate(all_plots(result, bl.Vocabulary(special_tok))):
        png, svg = tmp_path / f"{place}.PNG", tmp_path / f"{place}.svg"
        bl.plots.save(figure, svg)
        bl.plots.save(figure, png)
        assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        root = ET.fromstring(svg.read_text(encoding="utf-8"))  # noqa: S314 - our own file
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert not [element for element in root.iter() if element.tag.endswith("script")]
    for place, figure in enumerate(all_plots(result, bl.Vocabulary(special_tok))):
        bl.plots.save(figure, tmp_path / "again.svg")
        assert (tmp_path / "again.svg").read_bytes() == (tmp_path / f"{place}.svg").read_bytes()
    names = (tmp_path / "3.svg").read_text(encoding="utf-8")
    assert "$\\frac{1}{0}$ &lt;script&gt;&amp;␛⟨U+202E⟩日本" in names


def test_every_name_is_in_the_legend(result):
    legend = [text.get_text() for text in bl.plots.languages(result).axes[0].get_legend().get_texts()]
    assert [name.strip() for name in legend] == ["$\\frac{1}{0}$ <script>&␛⟨U+202E⟩日本", "_B"]


def test_what_cannot_be_drawn_or_written(result, tmp_path):
    with raises_cleanly(ValueError):
        bl.plots.languages(result, "nonsense")
    with raises_cleanly(ValueError):
        bl.plots.texts(result, "parity")
    figure = bl.plots.texts(result)
    for name in ("plot.pdf", "plot", ".png"):
        with raises_cleanly(ValueError):
            bl.plots.save(figure, tmp_path / name)
    with pytest.raises(OSError, match="missing"):
        bl.plots.save(figure, tmp_path / "missing" / "plot.svg")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch, result):
    real = importlib.import_module

    def without(name, *arguments):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(ImportError, match=r"byteloom\[plots\]"):
        bl.plots.texts(result)


def test_matplotlib_is_not_imported_before_it_is_needed():
    code = """
    import sys, byteloom as bl
    bl.plots, bl.render, bl.compare, bl.Vocabulary
    print("matplotlib" in sys.modules)
    tok = bl.Tokenizer.train("low low", 257)
    bl.plots.token_lengths({"a": bl.Vocabulary(tok)})
    print("matplotlib.pyplot" in sys.modules)
    """
    assert run_python(code).split() == ["False", "False"]

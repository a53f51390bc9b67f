"""Plots of comparisons, vocabularies and entropies, as matplotlib figures.

matplotlib is an extra, `pip install 'byteloom[plots]'`, and is imported when a plot is drawn. Nothing here
touches `pyplot` or its state, so plots can be drawn in threads and on servers; `save` writes `.png` and
`.svg`.

>>> import byteloom as bl, pathlib, tempfile
>>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=259)
>>> figure = bl.plots.token_lengths({"small": bl.Vocabulary(tok)})
>>> with tempfile.TemporaryDirectory() as folder:
...     bl.plots.save(figure, pathlib.Path(folder, "lengths.svg"))
"""

from __future__ import annotations

import importlib
import io
import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _native
from ._patch_records import PatchExplanation
from .render import visible

if TYPE_CHECKING:
    from ._comparison import Comparison, Figures
    from ._vocabulary import Vocabulary

    Figure = Any  # matplotlib's, which need not be installed
    Axes = Any

__all__ = ["entropy", "languages", "save", "sizes", "texts", "token_lengths"]

# Colours that colour-blind eyes tell apart (Okabe and Ito), and hatches and markers for those who see none.
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---")
_MARKERS = "os^Dvx"
_LABELLED = 80  # bytes that have room for a label each

_VALUES = {
    "tokens": "tokens",
    "parity": "tokens as a multiple of English",
    "bytes_per_token": "bytes per token",
    "characters_per_token": "characters per token",
    "tokens_per_word": "tokens per word",
    "partial_share": "share of partial tokens",
}


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure to a `.png` or `.svg` file, which is there whole or not at all.

    A figure of the same numbers gives the same file. In SVG, text stays text.

    Raises:
        ValueError: another ending.
        OSError: the file cannot be written.
    """
    form = os.path.splitext(os.fspath(path))[1].lower().removeprefix(".")  # noqa: PTH122 - any path-like
    if form not in ("png", "svg"):
        message = f"{os.fspath(path)}: plots are written as .png or .svg"
        raise ValueError(message)
    matplotlib = _matplotlib()
    out = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    with (
        warnings.catch_warnings(),
        matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "byteloom"}),
    ):
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure.savefig(out, format=form, metadata=metadata, dpi=150)
    _native.write_atomically(path, out.getvalue())


def sizes(result: Comparison | Mapping[str, Mapping[int, float]]) -> Figure:
    """Bytes per token against the size of the vocabulary: a line a text, a point a tokenizer.

    Args:
        result: What `compare` gave, or for each text by its name the bytes per token of each size.
    """
    figure, axes = _axes(7, 4)
    if isinstance(result, Mapping):
        lines = {name: list(line.items()) for name, line in result.items()}
    else:
        lines = _lines(result)
    for place, (source, line) in enumerate(lines.items()):
        points = sorted(line)
        axes.plot(
            [size for size, _ in points],
            [value for _, value in points],
            color=_COLORS[place % len(_COLORS)],
            marker=_MARKERS[place % len(_MARKERS)],
            label=_name(source),
        )
    axes.set_xscale("log", base=2)
    axes.set_xlabel("vocabulary size (tokens)")
    axes.set_ylabel("bytes per token")
    return _finished(figure, axes)


def _lines(result: Comparison) -> dict[str, list[tuple[int, float]]]:
    vocab_size = {side.name: side.vocab_size for side in result.tokenizers}
    lines: dict[str, list[tuple[int, float]]] = {}
    for row in result.figures:
        line = lines.setdefault(row.source, [])
        if row.bytes_per_token is not None:
            line.append((vocab_size[row.tokenizer], row.bytes_per_token))
    return lines


def texts(result: Comparison, value: str = "bytes_per_token") -> Figure:
    """A group of bars for each text, a bar for each tokenizer.

    Args:
        result: What `compare` gave for some texts.
        value: A ratio of `Figures`: `"bytes_per_token"`, `"tokens_per_word"`, …, or `"tokens"`.
    """
    return _bars(result, list(result.figures), value)


def languages(result: Comparison, value: str = "parity") -> Figure:
    """A group of bars for each language of the parallel sample, a bar for each tokenizer.

    Args:
        result: What `compare` gave with `languages`.
        value: `"parity"`, `"tokens"`, `"bytes_per_token"`, `"characters_per_token"`, `"tokens_per_word"` or
            `"partial_share"`.
    """
    return _bars(result, list(result.languages), value)


def token_lengths(vocabularies: Mapping[str, Vocabulary]) -> Figure:
    """How many tokens have each length in bytes; those of more than 32 bytes are counted together."""
    figure, axes = _axes(8, 4)
    last = 32
    width = 0.8 / max(len(vocabularies), 1)
    for place, (name, vocab) in enumerate(vocabularies.items()):
        counts: dict[int, int] = {}
        for size, count in vocab.lengths().items():
            counts[min(size, last + 1)] = counts.get(min(size, last + 1), 0) + count
        axes.bar(
            [size + (place + 0.5) * width - 0.4 for size in counts],
            list(counts.values()),
            width,
            label=_name(name),
            **_look(place),
        )
    axes.set_xlabel(f"bytes of a token (the last: more than {last})")
    axes.set_ylabel("tokens")
    return _finished(figure, axes)


def entropy(
    explained: PatchExplanation | Iterable[float],
    starts: Sequence[int] = (),
    data: bytes = b"",
    *,
    threshold: float | None = None,
) -> Figure:
    """Entropy along a text, with lines where patches start.

    Args:
        explained: A `PatchExplanation`, or the entropies in bits, one a byte.
        starts: Where patches start, in bytes; from the explanation if that is given.
        data: The bytes, to label up to 80 of them; likewise.
        threshold: Draw a line at this entropy, in bits; by default at the `theta` of the explanation.

    Raises:
        ValueError: an explanation without entropies: explain with a model.
    """
    if isinstance(explained, PatchExplanation):
        values = explained.entropies
        if explained.bytes and not values:
            message = "the explanation holds no entropies; pass a model to explain"
            raise ValueError(message)
        starts = [patch.byte_span.start for patch in explained.patches]
        data = explained.bytes
        threshold = explained.theta if threshold is None else threshold
    else:
        values = list(explained)
    figure, axes = _axes(10, 3.5)
    axes.step(range(len(values)), values, where="mid", color=_COLORS[0])
    for start in starts:
        axes.axvline(start - 0.5, color="#888888", linewidth=0.8, linestyle=":")
    if threshold is not None and math.isfinite(threshold):
        axes.axhline(
            threshold, color=_COLORS[5], linewidth=1, linestyle="--", label=f"threshold {threshold:g}"
        )
    if data and len(data) <= _LABELLED:
        axes.set_xticks(range(len(data)), [_byte_label(byte) for byte in data], fontsize=8)
        for label in axes.get_xticklabels():
            label.set_parse_math(False)
    axes.set_xlabel("byte")
    axes.set_ylabel("entropy (bits)")
    axes.set_ylim(bottom=0)
    return _finished(figure, axes)


def _bars(result: Comparison, rows: list[Figures], value: str) -> Figure:
    if value not in _VALUES or (rows and not hasattr(rows[0], value)):
        message = f"there is no value {value!r} to draw; there are {', '.join(_VALUES)}"
        raise ValueError(message)
    groups = list(dict.fromkeys(row.source for row in rows))
    figure, axes = _axes(max(6.0, 1.5 + 0.7 * len(groups)), 4)
    width = 0.8 / max(len(result.names), 1)
    for place, name in enumerate(result.names):
        heights = {row.source: getattr(row, value) or 0 for row in rows if row.tokenizer == name}
        axes.bar(
            [group + (place + 0.5) * width - 0.4 for group in range(len(groups))],
            [heights.get(source, 0) for source in groups],
            width,
            label=_name(name),
            **_look(place),
        )
    axes.set_xticks(range(len(groups)), list(map(_name, groups)), rotation=45, ha="right")
    for label in axes.get_xticklabels():
        label.set_parse_math(False)
    axes.set_ylabel(_VALUES[value])
    if value == "parity":
        axes.axhline(1, color="#888888", linewidth=0.8)
    return _finished(figure, axes)


def _matplotlib() -> Any:
    try:
        return importlib.import_module("matplotlib")
    except ImportError:
        message = "plots need matplotlib: pip install 'byteloom[plots]'"
        raise ImportError(message) from None


def _axes(width: float, height: float) -> tuple[Figure, Axes]:
    _matplotlib()
    figure = importlib.import_module("matplotlib.figure").Figure(
        figsize=(width, height), layout="constrained"
    )
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _look(place: int) -> dict[str, Any]:
    hatch = _HATCHES[place % len(_HATCHES)]
    return {"color": _COLORS[place % len(_COLORS)], "hatch": hatch, "edgecolor": "white"}


def _finished(figure: Figure, axes: Axes) -> Figure:
    if axes.get_legend_handles_labels()[0]:
        for text in axes.legend(frameon=False).get_texts():
            text.set_parse_math(False)  # a name with $ is a name
    return figure


def _name(name: str) -> str:
    """A name for a label; a legend would leave out one that begins with an underscore."""
    shown = visible(name.encode("utf-8", "surrogatepass"), spaces=False)
    return f" {shown}" if shown.startswith("_") else shown


def _byte_label(byte: int) -> str:
    char = chr(byte)
    return {" ": "·", "\n": "↵", "\t": "→"}.get(char) or (char if "!" <= char <= "~" else f"{byte:02X}")

"""The picture of the README: rates of the first and second pass, a panel a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from speed.rounds import OURS
from speed.table import cells

GREY, BLUE, PALE_GREY, PALE_BLUE = "#80858f", "#3b82f6", "#c3c6cc", "#a3c4fb"
"""Readable on white and on black."""
MOST = 6
"""Peers in a panel, the fastest."""


def draw(results: dict[str, Any], path: Path) -> None:
    """Writes an SVG with a transparent ground; the same results give the same bytes."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    shown = cells(results, "corpus")
    names = {cell["vocabulary"] for cell in shown}
    first_name = "cl100k" if "cl100k" in names else next(iter(sorted(names)), "")
    shown = [cell for cell in shown if cell["vocabulary"] == first_name]
    if not shown:
        raise ValueError("the results hold no whole corpus on one thread, which the picture shows")
    style: dict[Any, Any] = {
        "svg.hashsalt": "byteloom",
        "svg.fonttype": "path",
        "font.size": 9,
        "text.color": GREY,
        "axes.edgecolor": GREY,
        "axes.labelcolor": GREY,
        "xtick.color": GREY,
        "ytick.color": GREY,
    }
    with mpl.rc_context(style):
        figure, panels = plt.subplots(1, len(shown), figsize=(2.6 * len(shown) + 0.8, 2.9), squeeze=False)
        for cell, axes in zip(shown, panels[0], strict=True):
            found = {
                name: peer["best"]
                for name, peer in cell["peers"].items()
                if peer["counts"] and "second" in peer.get("best", {})
            }
            order = sorted(found, key=lambda name: (name == OURS, found[name]["second"]))[-MOST - 1 :]
            for place, name in enumerate(order):
                dark, pale = (BLUE, PALE_BLUE) if name == OURS else (GREY, PALE_GREY)
                axes.barh(place + 0.2, found[name]["second"], height=0.38, color=pale)
                axes.barh(place - 0.2, found[name]["first"], height=0.38, color=dark)
            axes.set_yticks(range(len(order)), order)
            axes.set_title(cell["corpus"], color=GREY, fontsize=10)
            axes.set_xlabel("MB/s")
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
        figure.suptitle("documents to ids: first pass (dark), second pass (pale)", color=GREY, fontsize=10)
        figure.tight_layout()
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None, "Creator": "byteloom"})
        plt.close(figure)

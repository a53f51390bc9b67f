"""The tables of the README, from the results alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from speed.rivals import RIVALS
from speed.rounds import OURS, Cell
from speed.shapes import SHAPES
from speed.trainers import TRAINERS

START = "<!-- speed: made by benchmarks/report.py -->"
END = "<!-- /speed -->"
TRAINING_START = "<!-- training: made by benchmarks/report.py -->"
TRAINING_END = "<!-- /training -->"


def number(figure: float) -> str:
    """Three digits, as much as a shared machine is worth."""
    text = f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"
    return text if "e" not in text else f"{figure:.5f}".rstrip("0")


def cells(results: dict[str, Any], shape: str, *, threads: int = 1) -> list[Cell]:
    return [cell for cell in results["cells"] if cell["shape"] == shape and cell["threads"] == threads]


def rows(results: dict[str, Any]) -> Iterable[tuple[str, ...]]:
    """Work, byteloom's figure, the best peer's, its name, the ratio."""

    def row(work: str, cell: Cell, metric: str) -> Iterable[tuple[str, ...]]:
        ours = cell["peers"].get(OURS, {}).get("best", {}).get(metric)
        if ours is None:
            return
        unit = SHAPES[cell["shape"]].metrics[metric]
        against = cell["best peer"].get(metric)
        if against is None:
            yield work, f"{number(ours)} {unit}", "", "", ""
            return
        theirs = cell["peers"][against["peer"]]["best"][metric]
        yield work, f"{number(ours)} {unit}", number(theirs), against["peer"], f"{against['ratio']:.2f}\u00d7"

    for cell in cells(results, "corpus"):
        about = f"{cell['corpus']}, {cell['vocabulary']}"
        yield from row(f"encode, first pass: {about}", cell, "first")
        yield from row(f"encode, second pass: {about}", cell, "second")
    for cell in cells(results, "lists"):
        yield from row(f"to lists, second pass: {cell['corpus']}", cell, "second")
    for cell in cells(results, "documents"):
        yield from row(f"2,000 characters a call: {cell['corpus']}", cell, "second")
    for cell in cells(results, "small"):
        for metric in SHAPES["small"].metrics:
            yield from row(f"one call, {metric} characters", cell, metric)
    for cell in cells(results, "decode"):
        yield from row("decode", cell, "tokens")
    for cell in cells(results, "load"):
        yield from row("read a vocabulary, first call included", cell, "together")
    for cell in cells(results, "hostile"):
        metrics = [metric for metric in SHAPES["hostile"].metrics if metric in cell["best peer"]]
        if metrics:
            worst = min(metrics, key=lambda metric: cell["best peer"][metric]["ratio"])
            yield from row(f"the hard text that is worst beside a peer: {worst}", cell, worst)
    for threads in (1, 2):
        for cell in cells(results, "train", threads=threads):
            about = f"{cell['corpus']}, {cell['vocab_size']:,} tokens, {threads} thread{'s' * (threads > 1)}"
            yield from row(f"train: {about}", cell, "seconds")


def scaling(results: dict[str, Any]) -> Iterable[str]:
    """How much faster two threads are than one, on the same corpus."""
    alone = {
        (cell["corpus"], cell["vocabulary"], cell["megabytes"]): cell for cell in cells(results, "corpus")
    }
    for cell in cells(results, "corpus", threads=2):
        one = alone.get((cell["corpus"], cell["vocabulary"], cell["megabytes"]))
        if one is None:
            continue
        two_rates, one_rates = (found["peers"].get(OURS, {}).get("best", {}) for found in (cell, one))
        if "second" in two_rates and "second" in one_rates:
            yield f"{cell['corpus']} {two_rates['second'] / one_rates['second']:.2f}\u00d7"


def conditions(results: dict[str, Any]) -> str:
    """Where and with what the figures were measured."""
    machine, software = results["machine"], results["software"]
    dates = sorted({cell["date"] for cell in results["cells"]})
    day = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    cpu = machine["cpu"]
    if machine["family and model"] != "unknown":
        cpu += f" (family and model {machine['family and model']})"
    path = software.get("byteloom path")
    counted = [
        len(peer["rounds"]) for cell in results["cells"] for peer in cell["peers"].values() if peer["rounds"]
    ]
    rounds = str(min(counted)) if min(counted) == max(counted) else f"{min(counted)} to {max(counted)}"
    measured = {name for cell in results["cells"] for name, peer in cell["peers"].items() if peer["rounds"]}
    distributions = {
        known[name].distribution for known in (RIVALS, TRAINERS) for name in measured & set(known)
    }
    versions = ", ".join(
        f"{name} {version}" for name, version in software["versions"].items() if name in distributions
    )
    return (
        f"Measured {day}: {cpu}, {machine['cores']} cores, {machine['os']}, Python {software['python']}"
        f"{f', the {path} path' if path else ''}; {versions}. One thread unless said, the best of {rounds} "
        "round(s) of fresh processes taking turns. Only peers with the same result count; trainers may break "
        "ties by another rule."
    )


def markdown(results: dict[str, Any]) -> str:
    """What stands between the markers."""
    lines = ["| work | byteloom | best peer | | ratio |", "|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows(results)]
    two = list(scaling(results))
    if two:
        lines += ["", f"Two threads against one, second pass: {', '.join(two)}."]
    return "\n".join([*lines, "", conditions(results), ""])


def training(results: dict[str, Any]) -> str:
    """Medians of seconds and peak of every trainer, and how many times ours they are.

    Medians, since a best of more rounds is a better one, and slow peers are run less often.
    """

    def median(peer: dict[str, Any], metric: str) -> float:
        return statistics.median(figures[metric] for figures in peer["rounds"])

    found = [cell for cell in results["cells"] if cell["shape"] == "train"]
    names = list(dict.fromkeys(name for cell in found for name in cell["peers"]))
    lines = [f"| text, threads | {' | '.join(names)} |", "|---" * (1 + len(names)) + "|"]
    for cell in found:
        ours = cell["peers"][OURS]
        row = [f"{cell['corpus']}, {cell['threads']}"]
        for name in names:
            peer = cell["peers"].get(name, {"rounds": []})
            if not peer["rounds"]:
                row.append("")
                continue
            text = f"{number(median(peer, 'seconds'))} s, {number(median(peer, 'peak'))} MiB"
            if name != OURS:
                seconds, peak = (
                    median(peer, metric) / median(ours, metric) for metric in ("seconds", "peak")
                )
                text += f" ({seconds:.1f}\u00d7, {peak:.1f}\u00d7)"
            row.append(text + {True: "", False: " !", None: " ?"}[peer["same"]])
        lines.append("| " + " | ".join(row) + " |")
    sizes = sorted({cell["vocab_size"] for cell in found})
    about = (
        f"{' and '.join(f'{size:,}' for size in sizes)} tokens; medians of all rounds. In brackets: how many "
        "times byteloom's seconds and memory. `!` marks other tokens than byteloom's by the same rules, `?` "
        "tokens that are not compared."
    )
    return "\n".join([*lines, "", about, "", conditions(results).split(" One thread unless said")[0], ""])


def replaced(document: str, block: str, markers: tuple[str, str] = (START, END)) -> str:
    """The document with the block between its markers."""
    before, start, rest = document.partition(markers[0])
    _, end, after = rest.partition(markers[1])
    if not start or not end:
        raise ValueError(f"has no {markers[0]} … {markers[1]}")
    return f"{before}{start}\n{block}{end}{after}"

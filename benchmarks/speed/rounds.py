"""Rounds of fresh processes, and what they come to."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from speed import machine
from speed.rivals import RIVALS
from speed.shapes import SHAPES, Job, higher_is_better
from speed.texts import CORPORA
from speed.trainers import TRAINERS

OURS = "byteloom"
REFERENCE = "tiktoken"
HERE = Path(__file__).resolve().parent
Cell = dict[str, Any]


@dataclass
class Settings:
    """What to measure, and how."""

    data: Path
    shapes: list[str]
    corpora: list[str]
    vocabularies: list[str]
    peers: list[str] | None = None
    rounds: int = 3
    megabytes: float | None = None
    """Instead of what each shape takes by itself."""
    threads: int = 1
    vocab_size: int = 32_000
    python: str = sys.executable
    launcher: list[str] = field(default_factory=list)
    """A command that starts each measurement, such as `taskset -c 1`."""
    timeout: float = 600.0
    cache: Path = Path(".cache")

    def environment(self) -> dict[str, str]:
        """Threads for the libraries that take them from the environment, and byteloom from this tree."""
        threads = str(self.threads)
        path = [str(HERE.parent.parent / "python"), os.environ.get("PYTHONPATH", "")]
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(part for part in path if part),
            "RAYON_NUM_THREADS": threads,
            "TOKENIZERS_PARALLELISM": "true" if self.threads > 1 else "false",
            # The threads of numpy's algebra spin while they wait.
            "OPENBLAS_NUM_THREADS": "1",
        }


class WorkerError(Exception):
    """A fresh process that gave no figures."""


def worker(settings: Settings, kind: str, argument: str, *, launched: bool = True) -> dict[str, Any]:
    start = settings.launcher if launched else []
    command = [*start, settings.python, str(HERE / "worker.py"), kind, argument]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=settings.environment(),
            timeout=settings.timeout,
        )
    except subprocess.TimeoutExpired:
        raise WorkerError(f"no result after {settings.timeout:g} s") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise WorkerError(last)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def jobs(settings: Settings, tokenizers: dict[str, str]) -> Iterable[list[Job]]:
    """The jobs of each cell, one for each peer."""
    for shape in settings.shapes:
        training = shape == "train"
        known = TRAINERS if training else RIVALS
        peers = [peer for peer in settings.peers or known if peer in known]
        for vocabulary in ["" if training else name for name in settings.vocabularies][
            : 1 if training else None
        ]:
            for corpus in settings.corpora if SHAPES[shape].by_corpus else settings.corpora[:1]:
                yield [
                    Job(
                        shape,
                        peer,
                        str(settings.data),
                        tokenizers.get(vocabulary, ""),
                        vocabulary,
                        corpus,
                        settings.megabytes or SHAPES[shape].megabytes,
                        settings.threads,
                        settings.vocab_size,
                    )
                    for peer in peers
                ]


def key(cell: Cell) -> tuple[Any, ...]:
    """Two cells of one key measure the same thing."""
    names = ("shape", "corpus", "vocabulary", "threads", "megabytes", "vocab_size")
    return tuple(cell[name] for name in names)


def measure(settings: Settings, say: Any = print) -> dict[str, Any]:
    """All cells. In every round the peers take turns, so that a slow moment meets all of them."""
    try:
        software = worker(settings, "versions", "", launched=False)
    except WorkerError as error:
        raise WorkerError(f"{settings.python} runs no measurements: {error}") from None
    needed = settings.vocabularies if set(settings.shapes) != {"train"} else []
    tokenizers = {
        name: worker(
            settings,
            "vocabulary",
            json.dumps([str(settings.data), name, str(settings.cache)]),
            launched=False,
        )["path"]
        for name in needed
    }
    results: dict[str, Any] = {"machine": machine.hardware(), "software": software, "cells": []}
    for cell_jobs in jobs(settings, tokenizers):
        first = cell_jobs[0]
        cell: Cell = {
            **{
                name: getattr(first, name)
                for name in ("shape", "corpus", "vocabulary", "threads", "megabytes")
            },
            "vocab_size": first.vocab_size if first.shape == "train" else None,
            "date": dt.datetime.now(dt.timezone.utc).date().isoformat(),
            "peers": {job.peer: {"rounds": []} for job in cell_jobs},
        }
        for _ in range(settings.rounds):
            for job in cell_jobs:
                peer = cell["peers"][job.peer]
                if "unavailable" in peer:
                    continue
                try:
                    figures = worker(settings, "measure", json.dumps(asdict(job)))
                except WorkerError as error:
                    figures = {"unavailable": str(error)}
                if "unavailable" in figures:
                    peer["unavailable"] = figures["unavailable"]
                else:
                    peer["rounds"].append(rounded(figures))
        summarize(cell)
        results["cells"].append(cell)
        for line in lines(cell):
            say(line)
    return results


def rounded(figures: dict[str, Any]) -> dict[str, Any]:
    """Four digits: no figure here is known better."""
    return {name: float(f"{x:.4g}") if isinstance(x, float) else x for name, x in figures.items()}


def best(rounds: list[dict[str, Any]], metric: str, unit: str) -> float | None:
    found: list[float] = [figures[metric] for figures in rounds if metric in figures]
    if not found:
        return None
    return max(found) if higher_is_better(unit) else min(found)


def references(cell: Cell) -> set[str]:
    """The checksums that others may have: of tiktoken where it ran, else ours, by each rule of trainers."""
    for name in (REFERENCE, OURS):
        for figures in cell["peers"].get(name, {}).get("rounds", []):
            if "checksum" in figures:
                return {figures["checksum"], *figures.get("other checksums", [])}
    return set()


def summarize(cell: Cell) -> None:
    """Fills in the best of all rounds, whether results are the same, and how many times better ours is."""
    metrics = SHAPES[cell["shape"]].metrics
    wanted = references(cell)
    for peer in cell["peers"].values():
        rounds = peer["rounds"]
        peer["best"] = {
            metric: figure
            for metric, unit in metrics.items()
            if (figure := best(rounds, metric, unit)) is not None
        }
        sums = {figures["checksum"] for figures in rounds if "checksum" in figures}
        # None: nothing that could be compared, as merges under another rule for ties.
        peer["same"] = len(sums) == 1 and sums <= wanted if sums else None
        peer["counts"] = peer["same"] is not False and all(
            figures.get("same work", True) for figures in rounds
        )
    cell["best peer"] = {}
    ours = cell["peers"].get(OURS, {}).get("best", {})
    for metric, unit in metrics.items():
        high = higher_is_better(unit)
        found = {
            name: peer["best"][metric]
            for name, peer in cell["peers"].items()
            if name != OURS and peer["counts"] and metric in peer["best"]
        }
        if found and ours.get(metric):
            name = (max if high else min)(found, key=lambda name: found[name])
            ratio = ours[metric] / found[name] if high else found[name] / ours[metric]
            cell["best peer"][metric] = {"peer": name, "ratio": float(f"{ratio:.3g}")}


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Rounds of one machine and one set of versions, taken together; else the new cells replace the old."""
    alike = all(old.get(part) == new[part] for part in ("machine", "software"))
    cells = {key(cell): cell for cell in old.get("cells", [])}
    for cell in new["cells"]:
        before = cells.get(key(cell))
        if before is not None and alike:
            for name, peer in before["peers"].items():
                mine = cell["peers"].setdefault(name, {"rounds": []})
                mine["rounds"] = peer["rounds"] + mine["rounds"]
                if "unavailable" in peer and not mine["rounds"]:
                    mine["unavailable"] = peer["unavailable"]
            summarize(cell)
        cells[key(cell)] = cell
    order = list(SHAPES)
    corpora = list(CORPORA)
    ordered = sorted(
        cells.values(),
        key=lambda cell: (
            order.index(cell["shape"]),
            cell["vocabulary"],
            cell["threads"],
            corpora.index(cell["corpus"]) if cell["corpus"] in corpora else len(corpora),
        ),
    )
    return new | {"cells": ordered}


def lines(cell: Cell) -> Iterable[str]:
    """A cell as text: one line a peer, and the ratios."""
    about = [cell["corpus"], cell["vocabulary"], f"{cell['threads']} thread{'s' * (cell['threads'] > 1)}"]
    yield f"{cell['shape']}: {', '.join(part for part in about if part)}"
    metrics = SHAPES[cell["shape"]].metrics
    for name, peer in cell["peers"].items():
        if not peer["rounds"]:
            yield f"  {name:12} skipped: {peer.get('unavailable', 'not measured')}"
            continue
        sign = {True: "=", False: "! other result, does not count", None: ""}[peer["same"]]
        if peer["same"] is not False and not peer["counts"]:
            sign = "other work, does not count"
        figures = (f"{metric} {figure:.4g} {metrics[metric]}" for metric, figure in peer["best"].items())
        yield f"  {name:12} {'  '.join(figures)}  {sign}"
    for metric, against in cell["best peer"].items():
        yield f"  {metric}: byteloom {against['ratio']:.2f} times the best peer, {against['peer']}"

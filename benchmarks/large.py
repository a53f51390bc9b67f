"""Counts and trains on a text larger than the memory it may take, and says what that takes.

    python benchmarks/large.py corpus DATA TEXT           # a GB of DATA's corpora, over and over, varied
    python benchmarks/large.py run TEXT                   # under three limits, and without counts
    python benchmarks/large.py run TEXT --limits 64MB --rules huggingface

DATA is a folder with `english.txt`, `code.txt`, `multi.txt` and `cjk.txt`. Their first turn is as it is; in
every later one, one letter in 200 becomes another, so that each turn brings pre-tokens that were not there
before, as new text does. The same DATA gives the same TEXT.

`run` counts TEXT under each limit, then trains on the counts, and trains on TEXT itself, with each rule for
ties; every step is a fresh process. Merges must be the same with all of them, or the script says so and ends
with 1. Peaks are what the step added to the memory of the process, the interpreter and the package left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from speed import memory
from speed.texts import CORPORA, SEPARATOR

import byteloom

CHANGED = 200
"""One letter in so many changes."""
MIB = 1 << 20
RULES = ("smallest_pair", "huggingface", "first_seen")


def varied(text: bytes, seed: int) -> bytes:
    """The text with some letters changed: small a to z, Cyrillic, Han; it stays UTF-8."""
    import numpy as np

    random = np.random.default_rng(seed)
    raw = np.frombuffer(text, np.uint8).copy()
    places = np.flatnonzero(random.random(len(raw), np.float32) < 1 / CHANGED)
    places = places[places >= 2]
    here, before, first = raw[places], raw[places - 1], raw[places - 2]
    small = places[(here >= ord("a")) & (here <= ord("z"))]
    raw[small] = random.integers(ord("a"), ord("z") + 1, len(small))
    # D0 and D1 lead Cyrillic letters of two bytes; E4 to E8 characters of three, nearly all of them Han.
    last = places[
        (before == 0xD0) | (before == 0xD1) | ((first >= 0xE4) & (first <= 0xE8) & (here & 0xC0 == 0x80))
    ]
    raw[last] = random.integers(0x80, 0xC0, len(last))
    return raw.tobytes()


def write_corpus(data: Path, path: Path, size: int) -> None:
    parts = [(data / f"{name}.txt").read_bytes() for name in CORPORA]
    written = turn = 0
    with path.open("wb") as file:
        while written < size:
            for number, part in enumerate(parts):
                text = varied(part, turn * len(parts) + number) if turn else part
                text.decode()  # ends here, and not in a benchmark, where a change left UTF-8
                written += file.write(text + SEPARATOR.encode())
            turn += 1
    print(f"{path}: {written:,} bytes in {turn} turns")


def step(job: dict[str, Any]) -> dict[str, Any]:
    """One step, in a process of its own."""
    options: dict[str, Any] = {"pattern": "gpt2", "special_tokens": [SEPARATOR]}
    threads, text, kept = job["threads"], Path(job["text"]), Path(job["counts"])
    figures: dict[str, Any] = {}
    data: Any = text
    before = memory.resident() or 0
    start = time.perf_counter()
    if job["step"] == "count":
        counts = byteloom.PretokenCounts(
            text, **options, threads=threads, memory_limit=job["limit"], folder=kept.parent
        )
        figures["seconds"] = time.perf_counter() - start
        counts.save(kept)
        info = counts.info()
        figures |= {name: info[name] for name in ("bytes", "pretokens", "unique_pretokens", "spilled_bytes")}
    else:
        if job["step"] == "train from counts":
            data = byteloom.PretokenCounts.load(kept, memory_limit=job["limit"], folder=kept.parent)
        tok = byteloom.Tokenizer.train(
            data, job["vocab_size"], **options, threads=threads, tie_break=job["rule"]
        )
        figures["seconds"] = time.perf_counter() - start
        figures["merges"] = hashlib.sha256(repr(tok.merges).encode()).hexdigest()[:16]
    peak = memory.peak()
    return figures | {"peak": None if peak is None else (peak - before) / MIB}


def fresh(**job: Any) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "step", json.dumps(job)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"large.py: {job['step']}: {done.stderr.strip()}")
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def run(options: argparse.Namespace) -> None:
    """All steps, a line of a table each."""
    merges: dict[str, set[str]] = {rule: set() for rule in options.rules}
    print("| step | limit | seconds | peak, MiB | |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(dir=options.text.parent) as folder:
        job = {
            "text": str(options.text),
            "counts": str(Path(folder, "kept.counts")),
            "threads": options.threads,
            "vocab_size": options.vocab_size,
        }

        def line(step: str, limit: str | None, **more: Any) -> None:
            figures = fresh(step=step, limit=limit, **job, **more)
            about = figures.get("merges", "")
            if step == "count":
                about = f"{figures['unique_pretokens']:,} of {figures['pretokens']:,} pre-tokens differ; "
                about += f"{figures['spilled_bytes'] / 1e6:,.0f} MB in files"
            else:
                merges[more["rule"]].add(about)
                about = f"{more['rule']}, merges {about[:8]}"
            peak = "" if figures["peak"] is None else f"{figures['peak']:,.0f}"
            print(f"| {step} | {limit or ''} | {figures['seconds']:.1f} | {peak} | {about} |", flush=True)

        for limit in options.limits:
            line("count", limit)
            for rule in options.rules:
                line("train from counts", limit, rule=rule)
        for rule in options.rules:
            line("train on the text", None, rule=rule)
    differing = [rule for rule, found in merges.items() if len(found) > 1]
    if differing:
        sys.exit(f"large.py: other merges by other ways with {', '.join(differing)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    corpus = commands.add_parser("corpus", help="write the text")
    corpus.add_argument("data", type=Path)
    corpus.add_argument("text", type=Path)
    corpus.add_argument("--bytes", type=int, default=1_000_000_000, help="at least so many")
    steps = commands.add_parser("run", help="count and train")
    steps.add_argument("text", type=Path)
    steps.add_argument("--limits", nargs="+", default=["64MB", "256MB", "1GB"], metavar="SIZE")
    steps.add_argument("--rules", nargs="+", default=["smallest_pair", "huggingface"], choices=RULES)
    steps.add_argument("--threads", type=int, default=1)
    steps.add_argument("--vocab-size", type=int, default=32_000)
    commands.add_parser("step").add_argument("job", type=json.loads)
    options = parser.parse_args()
    if options.command == "corpus":
        write_corpus(options.data, options.text, options.bytes)
    elif options.command == "run":
        run(options)
    else:
        print(json.dumps(step(options.job)))


if __name__ == "__main__":
    main()

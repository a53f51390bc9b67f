"""Times the byte entropy model and its patches, and says how well the model predicts.

    python benchmarks/patching.py speed DATA    # MB/s and peak memory, orders 2 to 8
    python benchmarks/patching.py bits DATA     # held-out bits per byte, beside gzip, xz and PPMd

DATA is a folder with `english.txt`, `code.txt` and `multi.txt`. Every line of `speed` is a fresh process on
one thread; patching is the best of several passes, tables warm. `bits` trains on the 16 MiB before the last
MiB of a corpus and predicts that: the model is frozen, so its figure is that of a table of counts. gzip, xz
and PPMd (package `pyppmd`) adapt as they go, once on the last MiB alone and once behind the training text,
whose own size is taken off; gzip looks back 32 KiB only. Random bytes show that nothing goes below 8.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import resource
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from byteloom import _native

HELD_OUT = 1 << 20
MOST_TRAINED = 16 << 20  # PPMd and xz read it twice
RANDOM_BYTES = 8 << 20
MEAN_PATCH = 4.5
CORPORA = ("english", "code", "multi", "random")


def model_of(order: int, smoothing: str, data: bytes) -> _native.NativeEntropyModel:
    model = _native.NativeEntropyModel(order=order, alpha=0.01, smoothing=smoothing, memory_limit=None)
    model.update(iter([data]), errors="keep", threads=1, expected_bytes=None, progress=None)
    return model


def corpus(data: Path, name: str) -> bytes:
    if name == "random":
        return random.Random(1).randbytes(RANDOM_BYTES)  # noqa: S311 - nothing secret
    return (data / f"{name}.txt").read_bytes()


def rate(size: int, work: Callable[[], object], passes: int) -> float:
    """MB/s, the best of several passes."""
    best = float("inf")
    for _ in range(passes):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return round(size / 1e6 / best, 1)


def peak() -> int:
    """Peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def speed(data: Path, name: str, order: int, smoothing: str, passes: int) -> dict[str, Any]:
    """One line of the table; its own process."""
    import numpy as np

    text = corpus(data, name)
    before = peak()
    start = time.perf_counter()
    model = model_of(order, smoothing, text)
    train = time.perf_counter() - start
    trained = peak()
    start = time.perf_counter()
    info = model.info()
    compiled = time.perf_counter() - start
    sample = text[: 4 << 20]
    entropies = np.sort(model.entropies(sample))
    theta = float(entropies[-int(len(sample) / MEAN_PATCH)])
    cuts = {"max_patch_length": None, "reset_on": None}
    by_theta = _native.NativePatcher.entropy(model, theta=theta, rise=None, **cuts)
    by_rise = _native.NativePatcher.entropy(model, theta=None, rise=0.5, **cuts)
    if order > 4:
        text = sample  # the rest would tell the same, slowly
    return {
        "order": order,
        "train": round(len(corpus(data, name)) / 1e6 / train, 1),
        "compile_s": round(compiled, 2),
        "entropies": rate(len(sample), lambda: model.entropies(sample), passes),
        "boundaries": rate(len(text), lambda: by_theta.boundaries(text), passes),
        "lengths": rate(len(text), lambda: by_theta.lengths(text), passes),
        "rise": rate(len(sample), lambda: by_rise.lengths(sample), passes),
        "train_peak_MiB": trained - before,
        "counts_MiB": info["count_bytes"] >> 20,
        "compiled_MiB": info["compiled_bytes"] >> 20,
        "contexts": sum(info["contexts"]),
    }


def ppmd_size(data: bytes) -> int | None:
    try:
        import pyppmd
    except ImportError:
        return None
    return len(pyppmd.compress(data, max_order=6, mem_size=256 << 20))


def bits(data: Path, name: str, orders: list[int]) -> dict[str, Any]:
    """Held-out bits per byte of one corpus."""
    text = corpus(data, name)[-MOST_TRAINED - HELD_OUT :]
    train, held_out = text[:-HELD_OUT], text[-HELD_OUT:]
    row: dict[str, Any] = {"corpus": name}
    for smoothing in ("backoff", "witten-bell"):
        for order in orders:
            model = model_of(order, smoothing, train)
            row[f"{smoothing} {order}"] = model.bits_per_byte(held_out)
    sizes: dict[str, Callable[[bytes], int | None]] = {
        "gzip": lambda part: len(zlib.compress(part, 9)),
        "xz": lambda part: len(lzma.compress(part, preset=9)),
        "ppmd": ppmd_size,
    }
    for peer, size in sizes.items():
        alone, whole, before = size(held_out), size(text), size(train)
        if alone is None or whole is None or before is None:
            row[peer] = None
            continue
        row[peer] = 8 * alone / len(held_out)
        row[f"{peer} after train"] = 8 * (whole - before) / len(held_out)
    return row


def show(rows: list[dict[str, Any]]) -> None:
    """The rows as a table of Markdown."""
    names = list(rows[0])
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))
    for row in rows:
        cells = (row[name] for name in names)
        print(
            "| "
            + " | ".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells)
            + " |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("speed", "bits"))
    parser.add_argument("data", type=Path)
    parser.add_argument("--orders", type=int, nargs="+", default=[2, 3, 4, 5, 6, 7, 8])
    parser.add_argument("--corpora", nargs="+", default=None, choices=CORPORA)
    parser.add_argument("--smoothing", default="backoff", choices=("backoff", "witten-bell"))
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    corpora = options.corpora or (["english"] if options.what == "speed" else list(CORPORA))
    if options.child:
        row = speed(options.data, corpora[0], options.orders[0], options.smoothing, options.passes)
        print(json.dumps(row))
        return
    if options.what == "bits":
        rows = [bits(options.data, name, options.orders) for name in corpora]
        if any(row["ppmd"] is None for row in rows):
            print("PPMd is left out: the package pyppmd is not installed", file=sys.stderr)
        show(rows)
        return
    for name in corpora:
        print(f"{name}, {options.smoothing}, one thread: MB/s, seconds, MiB")
        rows = []
        for order in options.orders:
            command = [sys.executable, __file__, "speed", str(options.data), "--child", "--corpora", name]
            command += ["--orders", str(order), "--smoothing", options.smoothing]
            command += ["--passes", str(options.passes)]
            rows.append(
                json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            )
        show(rows)


if __name__ == "__main__":
    main()

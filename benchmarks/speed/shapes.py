"""The shapes of work, each measured inside one fresh process."""

from __future__ import annotations

import functools
import importlib
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from speed import memory, texts
from speed.rivals import RIVALS, Methods
from speed.trainers import TRAINERS, byteloom_by_rules, byteloom_tokens

MIB = 1 << 20


@dataclass(frozen=True)
class Job:
    """One measurement of one rival. It crosses to the fresh process as JSON."""

    shape: str
    peer: str
    data: str
    tokenizer: str
    """Path of a `tokenizer.json`; empty for training."""
    vocabulary: str
    corpus: str
    megabytes: float | None
    threads: int
    vocab_size: int = 32_000

    def path(self) -> Path:
        return Path(self.data) / f"{self.corpus}.txt"


@dataclass(frozen=True)
class Shape:
    title: str
    measure: Callable[[Job], dict[str, Any]]
    metrics: dict[str, str]
    """The figures and their units. Rates are better high, times and memory low."""
    by_corpus: bool
    megabytes: float | None
    """How much text unless told; None for whole corpora."""


def higher_is_better(unit: str) -> bool:
    return unit.endswith("/s")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def flat_ids(result: Any) -> Any:
    """Ids of any form as one array of uint32."""
    import numpy as np

    if hasattr(result, "layout"):  # an awkward array
        content = result.layout.content
        return np.asarray(getattr(content, "data", content), dtype=np.uint32)
    if isinstance(result, tuple):  # ids, and where rows end
        result = result[0]
    if isinstance(result, bytes):
        return np.frombuffer(result, dtype=np.uint32)
    result = getattr(result, "ids", result)
    if isinstance(result, list) and result and not isinstance(result[0], int):
        rows = [flat_ids(row) for row in result]
        return np.concatenate(rows)
    return np.asarray(result, dtype=np.uint32)


def checksum(result: Any) -> str:
    import numpy as np

    return f"{zlib.crc32(np.ascontiguousarray(flat_ids(result)).tobytes()):08x}"


def load(job: Job) -> Methods:
    rival = RIVALS[job.peer]
    for module in rival.modules:
        importlib.import_module(module)
    return rival.load(Path(job.tokenizer), job.vocabulary, job.threads)


def warmed(job: Job) -> Methods:
    """With what is built late already built; the shape `load` shows its price."""
    methods = load(job)
    tiny = texts.Corpus(["warm up"], b"warm up")
    for method in (methods.call, methods.ids):
        method("warm up")
    for batch in (methods.rows, methods.flat):
        if batch is not None:
            batch(tiny)
    return methods


def two_passes(size: int, work: Callable[[], Any]) -> dict[str, Any]:
    """Rates of a first and a second pass, peak memory beyond the result, and what came out."""
    memory.reset_peak()
    before = memory.resident()
    first, result = timed(work)
    peak = memory.peak()
    ids = flat_ids(result)
    produced = ids.nbytes if hasattr(result, "layout") or isinstance(result, tuple) else 0
    if hasattr(result, "ids"):
        produced = result.ids.nbytes
    same = checksum(result)
    figures: dict[str, Any] = {"first": size / 1e6 / first, "checksum": same, "tokens": len(ids)}
    if produced and before is not None and peak is not None:
        figures["memory"] = max(0.0, (peak - before - produced) / MIB)
    del result, ids
    second, _ = timed(work)
    return figures | {"second": size / 1e6 / second}


def measure_corpus(job: Job) -> dict[str, Any]:
    corpus = texts.corpus(job.path(), job.megabytes)
    work = warmed(job).flat
    if work is None:
        raise ValueError("gives no flat ids")
    return two_passes(corpus.bytes, lambda: work(corpus))


def measure_lists(job: Job) -> dict[str, Any]:
    corpus = texts.corpus(job.path(), job.megabytes)
    work = warmed(job).rows
    return two_passes(corpus.bytes, lambda: work(corpus))


def measure_documents(job: Job) -> dict[str, Any]:
    pieces = texts.pieces(job.path(), job.megabytes)
    size = sum(len(piece.encode()) for piece in pieces)
    call = warmed(job).call
    # What a call returns is dropped before the next, as a program that goes through documents would.
    first, _ = timed(lambda: [None for piece in pieces if call(piece) is None])
    second = min(timed(lambda: [None for piece in pieces if call(piece) is None])[0] for _ in range(3))
    same = checksum([call(piece) for piece in pieces])
    return {"first": size / 1e6 / first, "second": size / 1e6 / second, "checksum": same}


def microseconds(work: Callable[[Any], Any], argument: Any, calls: int) -> float:
    """The best mean of several runs."""
    work(argument)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(calls):
            work(argument)
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e6


def measure_small(job: Job) -> dict[str, Any]:
    text = texts.read_start(job.path(), 1.0).replace(texts.SEPARATOR, "\n")
    encode = warmed(job).ids
    middle = len(text) // 4
    hundred, thousand = text[middle : middle + 100], text[2 * middle : 2 * middle + 1000]
    return {
        "13": microseconds(encode, "Hello, world!", 20_000),
        "100": microseconds(encode, hundred, 10_000),
        "1000": microseconds(encode, thousand, 2_000),
        "checksum": checksum([encode(part) for part in ("Hello, world!", hundred, thousand)]),
    }


def measure_decode(job: Job) -> dict[str, Any]:
    text = texts.read_start(job.path(), job.megabytes).replace(texts.SEPARATOR, "\n")
    methods = warmed(job)
    ids = list(methods.ids(text))
    decoded = methods.decode(ids)
    best = min(timed(lambda: methods.decode(ids))[0] for _ in range(4))
    return {
        "tokens": len(ids) / 1e6 / best,
        "200": microseconds(methods.decode, ids[:200], 2_000),
        "checksum": f"{zlib.crc32(decoded.encode()):08x}",
    }


def measure_hostile(job: Job) -> dict[str, Any]:
    encode = warmed(job).call
    figures: dict[str, Any] = {}
    for name, text in texts.hostile(job.megabytes or 1.0).items():
        size = len(text.encode()) / 1e6
        # Three different texts, so that no cache of whole pre-tokens hides the work.
        figures[name] = min(timed(functools.partial(encode, text[start:]))[0] for start in (0, 7, 14)) / size
    # Whole texts of a smaller size: long runs are where results differ.
    small = min(0.02, job.megabytes or 1.0)
    return figures | {"checksum": checksum([encode(text) for text in texts.hostile(small).values()])}


def measure_load(job: Job) -> dict[str, Any]:
    text = texts.read_start(job.path(), 0.2).replace(texts.SEPARATOR, "\n")
    part = text[len(text) // 2 :][:80]
    rival = RIVALS[job.peer]
    for module in rival.modules:
        importlib.import_module(module)
    seconds, methods = timed(lambda: rival.load(Path(job.tokenizer), job.vocabulary, job.threads))
    first, ids = timed(lambda: methods.ids(part))
    return {
        "load": seconds * 1e3,
        "first call": first * 1e3,
        "together": (seconds + first) * 1e3,
        "checksum": checksum(ids),
        "same work": rival.reads_file,
    }


def measure_train(job: Job) -> dict[str, Any]:
    trainer = TRAINERS[job.peer]
    path = job.path()
    scratch = None
    if job.megabytes is not None:
        import tempfile

        scratch = tempfile.NamedTemporaryFile(suffix=".txt")  # noqa: SIM115 -- closed at the end of the process
        scratch.write(texts.read_start(path, job.megabytes).encode())
        scratch.flush()
        path = Path(scratch.name)
    documents: list[str] = []
    if trainer.takes_documents:
        documents = path.read_text(encoding="utf-8").split(texts.SEPARATOR)
    for module in trainer.modules:
        importlib.import_module(module)
    memory.reset_peak()
    seconds, result = timed(lambda: trainer.train(path, documents, job.vocab_size, job.threads))
    figures: dict[str, Any] = {"seconds": seconds}
    peak = memory.peak()
    if peak is not None:
        figures["peak"] = peak / MIB
    tokens = trainer.tokens(result, job.vocab_size)
    if tokens is not None:
        figures["checksum"] = f"{checksum_of_tokens(tokens)} by {trainer.rules}"
    if job.peer == "byteloom":
        others = byteloom_by_rules(path, job.vocab_size, job.threads)
        figures["other checksums"] = [
            f"{checksum_of_tokens(byteloom_tokens(tok))} by {rules}" for rules, tok in others.items()
        ]
    return figures


def checksum_of_tokens(tokens: list[bytes]) -> str:
    sums = 0
    for token in tokens:
        sums = zlib.crc32(len(token).to_bytes(4, "little") + token, sums)
    return f"{sums:08x}"


PASSES = {"first": "MB/s", "second": "MB/s"}

SHAPES: dict[str, Shape] = {
    "corpus": Shape(
        "a corpus of documents to flat ids", measure_corpus, PASSES | {"memory": "MiB"}, True, None
    ),
    "lists": Shape("a corpus of documents to lists", measure_lists, PASSES, True, 16.0),
    "documents": Shape("2,000-character documents, one call each", measure_documents, PASSES, True, 8.0),
    "small": Shape(
        "short texts, one call each", measure_small, {"13": "µs", "100": "µs", "1000": "µs"}, False, 1.0
    ),
    "decode": Shape("decoding", measure_decode, {"tokens": "M tokens/s", "200": "µs"}, False, 4.0),
    "hostile": Shape(
        "texts made to be hard", measure_hostile, dict.fromkeys(texts.hostile(0.0001), "s/MB"), False, 1.0
    ),
    "load": Shape(
        "reading a vocabulary",
        measure_load,
        {"load": "ms", "first call": "ms", "together": "ms"},
        False,
        1.0,
    ),
    "train": Shape("training on a file", measure_train, {"seconds": "s", "peak": "MiB"}, True, None),
}

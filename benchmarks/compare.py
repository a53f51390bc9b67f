"""Times byteloom beside its peers: the same text, the same ids, turn about.

    python benchmarks/compare.py encode DATA   # a folder with english.txt … and vocab/cl100k_base.tiktoken
    python benchmarks/compare.py train DATA

Each measurement is a fresh process, so that no library warms another. Peers take turns in every round, so
that a slow moment of the machine meets all of them. What they produce is compared first; a peer with other
ids is shown with `!` and no ratio. The figures are the best of all rounds, and the ratio of byteloom to each
peer.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

CORPORA = ("english", "code", "multi", "cjk")
SEPARATOR = "<|endoftext|>"
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
    r"|\s*[\r\n]|\s+(?!\S)|\s"
)

Run = Callable[[], Any]


def encoder(peer: str, data: Path) -> Callable[[list[str]], Iterable[Iterable[int]]]:
    """The function of `peer` that encodes a list of documents on one thread, cl100k."""
    ranks = data / "vocab" / "cl100k_base.tiktoken"
    if peer == "byteloom":
        import byteloom

        tok = byteloom.Tokenizer.load(ranks)
        return lambda texts: tok.encode_batch_array(texts, threads=1)
    if peer == "byteloom-list":
        import byteloom

        tok = byteloom.Tokenizer.load(ranks)
        return lambda texts: tok.encode_batch(texts, threads=1)
    if peer == "tiktoken":
        import base64

        import tiktoken

        lines = (line.split() for line in ranks.read_bytes().splitlines())
        encoding = tiktoken.Encoding(
            "cl100k",
            pat_str=CL100K_PATTERN,
            mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines},
            special_tokens={},
        )
        return lambda texts: [encoding.encode_ordinary(text) for text in texts]
    raise ValueError(peer)


def trainer(peer: str, path: Path, vocab_size: int, threads: int) -> Callable[[], Iterable[bytes]]:
    """A function that trains `peer` on a file with GPT-2's pattern and gives the tokens in order."""
    if peer == "byteloom":
        import byteloom

        def train() -> Iterable[bytes]:
            tok = byteloom.Tokenizer.train(
                path, vocab_size, pattern="gpt2", special_tokens=[SEPARATOR], threads=threads
            )
            return (tok.id_to_bytes(i) for i in range(vocab_size - 1))

        return train
    documents = path.read_text(encoding="utf-8").split(SEPARATOR)
    if peer == "rustbpe":
        import rustbpe

        def train() -> Iterable[bytes]:
            tok = rustbpe.Tokenizer()
            tok.train_from_iterator(iter(documents), vocab_size - 1, pattern=GPT2_PATTERN)
            return (bytes(token) for token, _ in tok.get_mergeable_ranks())

        return train
    if peer == "tokenizers":
        import tokenizers as hf

        def train() -> Iterable[bytes]:
            tok = hf.Tokenizer(hf.models.BPE())
            tok.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
            alphabet = hf.pre_tokenizers.ByteLevel.alphabet()
            options = hf.trainers.BpeTrainer(
                vocab_size=vocab_size - 1, initial_alphabet=alphabet, show_progress=False
            )
            tok.train_from_iterator(documents, options)
            return ()  # another rule for ties, so its tokens are not ours

        return train
    raise ValueError(peer)


def measure(kind: str, peer: str, data: Path, corpus: str, options: argparse.Namespace) -> dict[str, Any]:
    """One fresh process' worth: time, peak memory and a checksum of what came out."""
    import resource

    path = data / f"{corpus}.txt"
    if kind == "encode":
        text = path.read_text(encoding="utf-8")[: options.characters]
        documents = text.split(SEPARATOR)
        size = sum(len(document.encode()) for document in documents)
        encode = encoder(peer, data)
        list(encode(["warm up"]))
        seconds = []
        for _ in range(2):
            start = time.perf_counter()
            result = encode(documents)
            seconds.append(time.perf_counter() - start)
        checksum = 0
        for row in result:
            checksum = zlib.crc32(b"".join(int(i).to_bytes(4, "little") for i in row), checksum)
        return {"rates": [size / 1e6 / second for second in seconds], "checksum": checksum}
    train = trainer(peer, path, options.vocab_size, options.threads)
    start = time.perf_counter()
    tokens = train()
    seconds = time.perf_counter() - start
    checksum = 0
    for token in tokens:
        checksum = zlib.crc32(len(token).to_bytes(4, "little") + token, checksum)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "peak_mib": peak, "checksum": checksum}


def in_fresh_process(arguments: list[str]) -> dict[str, Any]:
    environment = {**os.environ, "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        sys.exit(f"{' '.join(arguments)}: {last}")
    return json.loads(done.stdout)


def compare(kind: str, peers: list[str], options: argparse.Namespace, arguments: list[str]) -> dict[str, Any]:
    """All rounds of all peers on all corpora; prints a row as soon as its corpus is done."""
    results: dict[str, Any] = {}
    for corpus in options.corpora:
        rounds: dict[str, list[dict[str, Any]]] = {peer: [] for peer in peers}
        for _ in range(options.rounds):
            for peer in peers:
                rounds[peer].append(in_fresh_process([*arguments, "--only", peer, corpus]))
        results[corpus] = rounds
        ours = rounds[peers[0]]
        for peer in peers:
            figures = rounds[peer]
            same = all(figure["checksum"] == ours[0]["checksum"] for figure in figures)
            if kind == "encode":
                first = max(figure["rates"][0] for figure in figures)
                second = max(figure["rates"][1] for figure in figures)
                our_first = max(figure["rates"][0] for figure in ours)
                our_second = max(figure["rates"][1] for figure in ours)
                row = f"first pass {first:7.1f} MB/s, second {second:7.1f} MB/s"
                ratio = f"byteloom {our_first / first:5.1f}x, {our_second / second:5.1f}x"
            else:
                best = min(figure["seconds"] for figure in figures)
                our_best = min(figure["seconds"] for figure in ours)
                row = f"{best:7.2f} s, peak {min(figure['peak_mib'] for figure in figures):5.0f} MiB"
                ratio = f"byteloom {best / our_best:5.1f}x"
            if peer == peers[0]:
                ratio = ""
            elif not same and peer != "tokenizers":
                ratio = "! other result"
            print(f"{corpus:8} {peer:14} {row}   {ratio}", flush=True)
    return results


def machine() -> dict[str, Any]:
    cpu = next(
        (line.split(":", 1)[1].strip() for line in _cpu_lines() if line.startswith("model name")),
        platform.processor(),
    )
    names = ("byteloom", "tiktoken", "rustbpe", "tokenizers")
    installed = {name: importlib.metadata.version(name) for name in names if _installed(name)}
    return {"cpu": cpu, "cores": os.cpu_count(), "python": platform.python_version(), "versions": installed}


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("encode", "train"))
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpora", nargs="+", default=None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--characters", type=int, default=8_000_000, help="of each corpus, for encode")
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", nargs="+", default=None)
    parser.add_argument("--json", type=Path, help="write all measurements here")
    parser.add_argument("--only", nargs=2, metavar=("PEER", "CORPUS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        peer, corpus = options.only
        print(json.dumps(measure(options.kind, peer, options.data, corpus, options)))
        return
    encoding = options.kind == "encode"
    if options.corpora is None:
        options.corpora = CORPORA if encoding else CORPORA[:3]
    defaults = (
        ["byteloom", "byteloom-list", "tiktoken"] if encoding else ["byteloom", "rustbpe", "tokenizers"]
    )
    arguments = [options.kind, str(options.data), "--characters", str(options.characters)]
    arguments += ["--vocab-size", str(options.vocab_size), "--threads", str(options.threads)]
    results = compare(options.kind, options.peers or defaults, options, arguments)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

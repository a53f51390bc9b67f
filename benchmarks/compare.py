"""Times byteloom beside its peers: the same text, the same result, turn about.

    python benchmarks/compare.py --data DATA                     # DATA: english.txt … and vocab/
    python benchmarks/compare.py --shapes corpus --corpora cjk --peers byteloom gigatoken --rounds 5
    python benchmarks/compare.py --python PEERS/bin/python --json results.json --add

Each measurement is a fresh process, so that no library warms another. In every round the peers take turns, so
that a slow moment of the machine meets all of them. What they produce is compared first: a peer with another
result is shown with `!` and does not count. The figures are the best of all rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path

from speed.rivals import RIVALS
from speed.rounds import Settings, WorkerError, measure, merged
from speed.shapes import SHAPES
from speed.texts import CORPORA
from speed.trainers import TRAINERS
from speed.vocabularies import FILES


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = os.environ.get("BYTELOOM_TEST_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(folder) if folder else None,
        help="the folder with english.txt … and vocab/ (default: the variable BYTELOOM_TEST_DATA)",
    )
    shapes = [shape for shape in SHAPES if shape != "train"]
    parser.add_argument("--shapes", nargs="+", default=shapes, choices=SHAPES, help="default: all but train")
    parser.add_argument(
        "--corpora", nargs="+", default=list(CORPORA), metavar="NAME", help="NAME.txt in DATA"
    )
    parser.add_argument("--vocabularies", nargs="+", default=["cl100k"], choices=FILES)
    known = list(dict.fromkeys([*RIVALS, *TRAINERS]))
    parser.add_argument("--peers", nargs="+", choices=known, metavar="PEER", help=", ".join(known))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=float, help="of each text, instead of what its shape takes")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--vocab-size", type=int, default=32_000, help="for training")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--launcher", default="", help="a command that starts each measurement")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds a measurement may take")
    parser.add_argument("--json", type=Path, help="write all measurements here")
    parser.add_argument("--add", action="store_true", help="to what the file of --json holds already")
    options = parser.parse_args(arguments)
    if options.data is None:
        parser.error("no corpora: name their folder with --data or BYTELOOM_TEST_DATA")
    needed = {f"{corpus}.txt" for corpus in options.corpora}
    missing = sorted(name for name in needed if not (options.data / name).is_file())
    if missing:
        parser.error(f"{options.data} has no {', '.join(missing)}")
    if options.rounds < 1:
        parser.error(f"--rounds is {options.rounds}; at least one is needed")
    if options.add and not options.json:
        parser.error("--add needs --json, the file to add to")
    return options


def main(arguments: list[str] | None = None) -> None:
    options = parsed(arguments)
    settings = Settings(
        data=options.data.resolve(),
        shapes=options.shapes,
        corpora=options.corpora,
        vocabularies=options.vocabularies,
        peers=options.peers,
        rounds=options.rounds,
        megabytes=options.megabytes,
        threads=options.threads,
        vocab_size=options.vocab_size,
        python=options.python,
        launcher=shlex.split(options.launcher),
        timeout=options.timeout,
        cache=Path(__file__).resolve().parent.parent / ".cache" / "vocabularies",
    )
    try:
        results = measure(settings)
    except WorkerError as error:
        sys.exit(f"compare.py: {error}")
    if options.json:
        if options.add and options.json.exists():
            results = merged(json.loads(options.json.read_text(encoding="utf-8")), results)
        options.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

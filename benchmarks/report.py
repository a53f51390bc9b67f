"""Makes the README's table and picture of speed, and the table of training here, from measured results.

python benchmarks/report.py             # write all three
python benchmarks/report.py --check     # say whether both documents have what the results give
python benchmarks/report.py --show      # print the table
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from speed import picture, table

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results.json")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    parser.add_argument("--training", type=Path, default=ROOT / "benchmarks" / "training.json")
    parser.add_argument("--training-readme", type=Path, default=ROOT / "benchmarks" / "README.md")
    parser.add_argument("--picture", type=Path, default=ROOT / "docs" / "images" / "speed.svg")
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--check", action="store_true", help="write nothing; end with 1 where the README differs"
    )
    only.add_argument("--show", action="store_true", help="print the table and write nothing")
    options = parser.parse_args(arguments)
    results = json.loads(options.json.read_text(encoding="utf-8"))
    trained = json.loads(options.training.read_text(encoding="utf-8"))
    blocks = (
        (options.readme, options.json, table.markdown(results), (table.START, table.END)),
        (
            options.training_readme,
            options.training,
            table.training(trained),
            (table.TRAINING_START, table.TRAINING_END),
        ),
    )
    if options.show:
        print("\n".join(block for _, _, block, _ in blocks), end="")
        return
    written = []
    for path, source, block, markers in blocks:
        document = path.read_text(encoding="utf-8")
        try:
            made = table.replaced(document, block, markers)
        except ValueError as error:
            sys.exit(f"{path} {error}")
        if options.check and made != document:
            sys.exit(f"{path} has other figures than {source}: run benchmarks/report.py")
        written.append((path, made))
    if options.check:
        return
    picture.draw(results, options.picture)
    for path, made in written:
        path.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()

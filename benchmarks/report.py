"""Makes the README's table and picture of speed from the results of compare.py.

python benchmarks/report.py             # write both
python benchmarks/report.py --check     # say whether the README has what the results give
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
    parser.add_argument("--picture", type=Path, default=ROOT / "docs" / "images" / "speed.svg")
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--check", action="store_true", help="write nothing; end with 1 where the README differs"
    )
    only.add_argument("--show", action="store_true", help="print the table and write nothing")
    options = parser.parse_args(arguments)
    results = json.loads(options.json.read_text(encoding="utf-8"))
    block = table.markdown(results)
    if options.show:
        print(block, end="")
        return
    document = options.readme.read_text(encoding="utf-8")
    try:
        made = table.replaced(document, block)
    except ValueError as error:
        sys.exit(f"{options.readme} {error}")
    if options.check:
        if made != document:
            sys.exit(f"{options.readme} has other figures than {options.json}: run benchmarks/report.py")
        return
    picture.draw(results, options.picture)
    options.readme.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()

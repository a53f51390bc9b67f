"""Counts the instructions of the core's hot paths and compares them with the counts that are kept.

    python benchmarks/instructions.py          # compare with instructions.json; ends with 1 where one differs
    python benchmarks/instructions.py --write  # keep today's counts

Instructions are the same on a busy machine and on an idle one, so they show a change that no clock would.
They are no times: what waits for memory costs none. valgrind's callgrind counts; without valgrind nothing is
compared, and that is said.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BASELINE = ROOT / "benchmarks" / "instructions.json"
PATHS = ("portable", "avx2")
WORKS = ("encode-first", "encode-second", "decode", "pretokenize")
TOLERANCE = 5.0
"""Per cent. Hashes are seeded anew in each run, which moves counts by up to two per cent."""


def skipped(reason: str) -> None:
    print(f"instruction counts are not compared: {reason}")
    raise SystemExit(0)


def compiler() -> str:
    done = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.split("(")[0].strip()


def build() -> Path:
    command = ["cargo", "build", "--quiet", "--release", "-p", "byteloom-core", "--example", "instructions"]
    subprocess.run(command, check=True, cwd=ROOT)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return (target if target.is_absolute() else ROOT / target) / "release" / "examples" / "instructions"


def count(program: Path, path: str, work: str) -> tuple[int, str] | None:
    """Instructions, and the checksum of the result; None where this CPU does not have the path."""
    command = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        "--toggle-collect=*measured*",
        str(program),
        work,
    ]
    environment = {**os.environ, "BYTELOOM_SIMD": path}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        if "does not have" in done.stderr:
            return None
        sys.exit(f"{work} on the {path} path: {done.stderr.strip()}")
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None or int(found[1]) == 0:
        sys.exit(f"{work} on the {path} path: callgrind counted nothing below `measured`")
    return int(found[1]), done.stdout.strip()


def measured(program: Path) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    results: dict[str, set[str]] = {}
    for path in PATHS:
        for work in WORKS:
            found = count(program, path, work)
            if found is None:
                print(f"this CPU does not have the {path} path")
                break
            counts.setdefault(path, {})[work] = found[0]
            results.setdefault(work, set()).add(found[1])
    different = [work for work, sums in results.items() if len(sums) > 1]
    if different:
        sys.exit(f"the paths disagree about {', '.join(different)}: the result is wrong, whatever the count")
    return counts


def compare(now: dict[str, dict[str, int]], kept: dict[str, Any], tolerance: float) -> list[str]:
    """One line for each count that differs by more than `tolerance` per cent; prints all of them."""
    different = []
    for path, works in now.items():
        for work, instructions in works.items():
            before = kept["counts"].get(path, {}).get(work)
            if before is None:
                different.append(f"{path} {work} has no count kept")
                continue
            change = 100 * (instructions / before - 1)
            line = f"{path:9} {work:14} {instructions:12,d}  {change:+6.2f} %"
            print(line)
            if abs(change) > tolerance:
                different.append(line)
    return different


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="keep the counts of this run")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, help="per cent (default: %(default)s)")
    parser.add_argument("--baseline", type=Path, default=BASELINE)
    options = parser.parse_args(arguments)
    if platform.machine() not in ("x86_64", "AMD64"):
        skipped(f"they are kept for x86_64, and this is {platform.machine()}")
    if shutil.which("valgrind") is None:
        skipped("valgrind is not installed")
    rustc = compiler()
    now = measured(build())
    if options.write:
        kept = {"compiler": rustc, "target": "x86_64", "counts": now}
        options.baseline.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        print(f"wrote {options.baseline}")
        return
    kept = json.loads(options.baseline.read_text(encoding="utf-8"))
    different = compare(now, kept, options.tolerance)
    if not different:
        return
    if kept["compiler"] != rustc:
        print(f"the counts kept are those of {kept['compiler']}, this is {rustc}: differences are no error")
        return
    sys.exit(
        f"{len(different)} counts differ by more than {options.tolerance:g} %. Where that is wanted, keep "
        "the new ones: make instructions WRITE=1"
    )


if __name__ == "__main__":
    main()

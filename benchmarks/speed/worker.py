"""The fresh process: one job as JSON in, its figures as JSON out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from speed import machine, vocabularies
from speed.shapes import SHAPES, Job


def main() -> None:
    kind, argument = sys.argv[1:]
    if kind == "versions":
        figures = machine.software()
    elif kind == "vocabulary":
        data, name, cache = json.loads(argument)
        figures = {"path": str(vocabularies.tokenizer_json(Path(data), name, Path(cache)))}
    else:
        job = Job(**json.loads(argument))
        try:
            figures = SHAPES[job.shape].measure(job)
        except ImportError as error:
            figures = {"unavailable": f"not installed: {error}"}
        except Exception as error:  # noqa: BLE001 -- a peer that fails is reported, and the others go on
            figures = {"unavailable": f"{type(error).__name__}: {error}"}
        except BaseException as error:
            # A panic of a Rust extension is no Exception.
            if type(error).__name__ != "PanicException":
                raise
            figures = {"unavailable": f"panic: {error}"}
    # A library may have printed; the figures are the last line.
    print()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

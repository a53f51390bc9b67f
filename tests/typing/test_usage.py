"""The consumer example runs as well as type-checks, so that the stub cannot promise what is not there."""

from __future__ import annotations

import runpy
from pathlib import Path


def test_the_consumer_example_runs():
    runpy.run_path(str(Path(__file__).with_name("usage.py")), run_name="__main__")

"""Memory of this process in bytes, from Linux; None elsewhere."""

from __future__ import annotations

import contextlib
from pathlib import Path


def _status(field: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":")), None)


def resident() -> int | None:
    return _status("VmRSS")


def peak() -> int | None:
    """The most that was resident since `reset_peak`, or since the start where that is not allowed."""
    return _status("VmHWM")


def reset_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")

"""What was measured on, and with which versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

from speed.rivals import RIVALS
from speed.trainers import TRAINERS


def _field(path: str, name: str, separator: str) -> str | None:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    found = (line.split(separator, 1)[1].strip().strip('"') for line in lines if line.startswith(name))
    return next(found, None)


def hardware() -> dict[str, Any]:
    flags = (_field("/proc/cpuinfo", "flags", ":") or "").split()
    wanted = ("avx2", "bmi2", "vaes", "avx512f", "avx512vbmi2")
    memory = _field("/proc/meminfo", "MemTotal", ":")
    family, model = (_field("/proc/cpuinfo", name, ":") for name in ("cpu family", "model\t"))
    return {
        "cpu": _field("/proc/cpuinfo", "model name", ":") or platform.processor() or "unknown",
        "family and model": f"{family} {model}" if family else "unknown",
        "cores": os.cpu_count(),
        "features": [flag for flag in wanted if flag in flags],
        "memory": memory or "unknown",
        "os": _field("/etc/os-release", "PRETTY_NAME", "=") or platform.platform(),
        "kernel": platform.release(),
    }


def version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def software() -> dict[str, Any]:
    """Versions of the interpreter and of every library that is measured, or that one stands on."""
    distributions = {rival.distribution for rival in RIVALS.values()}
    distributions |= {trainer.distribution for trainer in TRAINERS.values()}
    versions = {name: version(name) for name in sorted(distributions | {"numpy", "awkward"})}
    found: dict[str, Any] = {name: number for name, number in versions.items() if number is not None}
    try:
        import byteloom
        from byteloom import _native
    except ImportError:
        return {"python": platform.python_version(), "versions": found}
    found["byteloom"] = byteloom.__version__
    path = getattr(_native, "simd_path", lambda: None)()
    return {"python": platform.python_version(), "versions": found, "byteloom path": path}

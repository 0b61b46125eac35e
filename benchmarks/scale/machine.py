"""The machine and the versions of what is measured."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

import equigraph as eg

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "scikit-network",
    "igraph",
    "networkit",
    "torch",
)


def machine() -> dict[str, Any]:
    """Return the CPU model, the cores that may be used, and the memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cpu": cpu_model(), "cores": cores, "memory_gib": round(memory, 1), "system": platform.system()}


def cpu_model() -> str:
    """Return the name of the CPU; its numbers too, because a virtual machine may hide the name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    found = dict(map(str.strip, line.split(":", 1)) for line in lines if ":" in line)
    numbers = " ".join(
        f"{word} {found[key]}" for word, key in (("family", "cpu family"), ("model", "model")) if key in found
    )
    return f"{found.get('model name', platform.machine())} ({numbers})"


def versions(packages: tuple[str, ...] = PACKAGES) -> dict[str, str | None]:
    """Return the installed versions; None where a package is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version(), "equigraph": eg.__version__}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    return found


def source_digest(*roots: Path) -> str:
    """Return a digest of all Python files below some folders, or of single files: it changes when the code does."""
    total = hashlib.sha256()
    for root in roots:
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:16]

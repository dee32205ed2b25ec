"""How much memory a process has, on the systems that tell: Linux by /proc, others by getrusage and ps, Windows not at all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

MEGABYTE = 2**20
PEAK = re.compile(r"VmHWM:\s+(\d+)")


def peak_megabytes() -> float | None:
    """The most memory that this process has had so far; None where the system does not tell.

    On Linux not by getrusage: what it tells begins with the memory of the program that started this one.

    Example:
        >>> peak_megabytes() > 1
        True
    """
    status = Path("/proc/self/status")
    if status.exists():
        found = PEAK.search(status.read_text(encoding="ascii", errors="replace"))
        return int(found[1]) / 1024 if found else None
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE


def megabytes_of(process: int) -> float | None:
    """The memory that another process has right now; None where it is gone or the system does not tell.

    Example:
        >>> megabytes_of(os.getpid()) > 1
        True
    """
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
    except (OSError, IndexError):
        return None if sys.platform in ("linux", "win32") else _by_ps(process)


def _by_ps(process: int) -> float | None:
    told = subprocess.run(  # noqa: S603  # a number is all that goes in
        ["/bin/ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return int(told.stdout) / 1024 if told.stdout.strip().isdigit() else None

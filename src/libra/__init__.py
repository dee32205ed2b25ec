"""Libra: event logs for process mining, anonymized, in and out of every usual format, with measures of what a copy lost.

    import libra

    log = libra.read("log.csv", case_id="Patient")
    release = libra.anonymize(log, epsilon=1.0, delta=1e-5)
    libra.write(release.log, "anonymized.xes.gz")

Everything is loaded on first use, so that `import libra` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from libra._version import __version__

if TYPE_CHECKING:
    from libra.api import anonymize, audit, compare, convert, describe, inspect, process_map, read, verify, write
    from libra.errors import LibraError
    from libra.eventlog.log import EventLog
    from libra.example.stream import simulate
    from libra.mechanisms.mechanism import mechanisms
    from libra.pairs import measure, report
    from libra.privacy.guarantee import Guarantee
    from libra.release import Release

_HOMES = {
    **dict.fromkeys(("anonymize", "audit", "compare", "convert", "describe", "inspect"), "libra.api"),
    **dict.fromkeys(("process_map", "read", "verify", "write"), "libra.api"),
    **dict.fromkeys(("measure", "report"), "libra.pairs"),
    "simulate": "libra.example.stream",
    "EventLog": "libra.eventlog.log",
    "Release": "libra.release",
    "mechanisms": "libra.mechanisms.mechanism",
    "Guarantee": "libra.privacy.guarantee",
    "LibraError": "libra.errors",
}
__all__ = ["EventLog", "Guarantee", "LibraError", "Release", "__version__", "anonymize", "audit", "compare", "convert"]
__all__ += ["describe", "inspect", "measure", "mechanisms", "process_map", "read", "report", "simulate", "verify", "write"]


def __getattr__(name: str) -> Any:
    """Load a public name from the module it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module 'libra' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

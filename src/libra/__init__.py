"""Libra: event logs for process mining, in and out of every usual format, with measures of what a copy still tells.

    import libra

    log = libra.read("log.csv", case_id="Patient")
    libra.write(log, "log.xes.gz")

Everything is loaded on first use, so that `import libra` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from libra._version import __version__

if TYPE_CHECKING:
    from libra.api import convert, inspect, measure, read, write
    from libra.errors import LibraError
    from libra.eventlog.log import EventLog

__all__ = ["EventLog", "LibraError", "__version__", "convert", "inspect", "measure", "read", "write"]

_HOMES = {
    **dict.fromkeys(("convert", "inspect", "measure", "read", "write"), "libra.api"),
    "EventLog": "libra.eventlog.log",
    "LibraError": "libra.errors",
}


def __getattr__(name: str) -> Any:
    """Load a public name from the module it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module 'libra' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

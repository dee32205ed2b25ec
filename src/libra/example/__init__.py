"""A simulated hospital emergency process to try everything on: no real patient, no real hospital.

`path()` is where the bundled log lies; `libra.example.simulate` wrote it, `python -m libra.example` writes it anew.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

FILE_NAME = "emergency.xes.gz"


def path() -> Path:
    """Where the bundled example log is.

    Example:
        >>> path().name
        'emergency.xes.gz'
    """
    return Path(str(resources.files(__name__) / FILE_NAME))

"""Commands for people to copy: how Libra was called, and the pip that belongs to the Python that runs it."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def libra_command() -> str:
    """What to type to call Libra again: `libra` where the shell finds this one under that name, else the way it was called."""
    called = Path(sys.argv[0])
    if called.stem != "libra":
        return f"{shlex.quote(sys.executable)} -m libra"
    found = shutil.which("libra")
    return "libra" if found and called.exists() and called.samefile(found) else shlex.quote(sys.argv[0])


def pip_install(*what: str) -> str:
    """The command that installs packages, or extras such as `libra-pm[pandas]`, beside this Libra.

    Example:
        >>> pip_install("libra-pm[pandas]").partition(" -m ")[2]
        'pip install "libra-pm[pandas]"'
    """
    packages = " ".join(f'"{name}"' if "[" in name else name for name in what)
    return f"{shlex.quote(sys.executable)} -m pip install {packages}"

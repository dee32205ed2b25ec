"""Finished runs on disk, so that an interrupted comparison goes on where it was.

A file a run, named by a SHA-256 of all that decides the outcome: the log as read, the mechanism and its parameters, the seed, and
the code that computes it. It holds measures, no log, and is confidential: only the user may read it. Whatever cannot be read or
does not fit is as good as absent.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from libra._system.files import atomic_output, reason
from libra._version import __version__
from libra.comparison.comparison import LIMITS, Limits, Missing, Result
from libra.comparison.plan import Run
from libra.errors import InputError

FORM = 1  # of the files; a change of it makes all of them old
ROOMS = ("_system", "engines", "eventlog", "measures", "mechanisms", "privacy")  # what decides the outcome of a run
MODULES = ("comparison/child.py", "errors.py")
LIBRARIES = ("numpy", "polars", "scipy")


def user_cache() -> Path:
    """Where this user's caches are kept, by the custom of the system."""
    homes = {"win32": os.environ.get("LOCALAPPDATA") or "~/AppData/Local", "darwin": "~/Library/Caches"}
    home = homes.get(sys.platform) or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "libra" / "compare"


@dataclass
class Cache:
    """A folder with finished runs."""

    folder: Path
    trouble: str | None = field(default=None, init=False)  # why nothing can be kept

    def found(self, run: Run, content: str, limits: Limits) -> Result | Missing | None:
        """What was found of a run before; None where it has to be done, because a limit is no longer in its way for example."""
        try:
            plain = json.loads(self._file(run, content).read_text(encoding="utf-8"))
            if plain["form"] != FORM or plain["run"] != self._identity(run, content):
                return None
            if "result" in plain:
                return Result.from_dict(plain["result"])
            missing = Missing(**plain["missing"])
            before = Limits(**plain["limits"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        if missing.why not in ("time", "memory"):
            return missing
        no_wider = limits.seconds <= before.seconds if missing.why == "time" else limits.gigabytes <= before.gigabytes
        return limits.exceeded(missing.why) if no_wider else None

    def keep(self, run: Run, content: str, found: Result | Missing, limits: Limits) -> None:
        """Write down what was found, whole or not at all; a failure is not kept, since trying again may help."""
        plain: dict[str, Any] = {"form": FORM, "run": self._identity(run, content)}
        if isinstance(found, Result):
            plain["result"] = found.to_dict()
        elif found.why in (*LIMITS, "refused"):
            plain |= {"missing": asdict(found), "limits": asdict(limits)}
        else:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with atomic_output(self._file(run, content), private=True) as stream:
                stream.write(json.dumps(plain, indent=1, allow_nan=False).encode())
        except (OSError, InputError) as error:
            why = error.what if isinstance(error, InputError) else reason(error)
            self.trouble = f"Finished runs could not be kept in {self.folder} ({why}). Name a folder with --cache."

    def _file(self, run: Run, content: str) -> Path:
        return self.folder / f"{sha256(self._identity(run, content).encode()).hexdigest()}.json"

    def _identity(self, run: Run, content: str) -> str:
        """All that decides the outcome, in one text; the name of the log plays no part."""
        asked = {"mechanism": run.setting.mechanism, "parameters": dict(run.parameters), "seed": run.seed}
        return json.dumps(asked | {"content": content, "code": self._code | _plug_ins(run)}, sort_keys=True)

    @cached_property
    def _code(self) -> dict[str, str]:
        libraries = {name: " ".join(one.version for one in distributions(name=name)) for name in LIBRARIES}
        return libraries | {"libra": __version__, "source": source_fingerprint(), "python": sys.version.split()[0]}


def source_fingerprint() -> str:
    """A SHA-256 of the source files that decide what a run gives: a changed mechanism is not served from an old cache."""
    home = Path(__file__).resolve().parents[1]
    files = [*(home / module for module in MODULES), *(file for room in ROOMS for file in (home / room).rglob("*.py"))]
    return _hash_of(files, home)


def _plug_ins(run: Run) -> dict[str, str]:
    """Of the mechanisms from other packages that a run names, itself or in a parameter: their versions and their source."""
    from libra.mechanisms.mechanism import plugins

    named = {run.setting.mechanism, *(value for value in run.parameters.values() if isinstance(value, str))}
    found = {}
    for name, entry in plugins().items():
        if name in named:
            found[f"{name}, version"] = entry.dist.version if entry.dist is not None else "none"
            found[f"{name}, source"] = _source_of(entry.value.partition(":")[0].partition(".")[0])
    return found


def _source_of(package: str) -> str:
    """A SHA-256 of the source files of a module or of a whole package; of what cannot be found, that of nothing."""
    spec = None
    with contextlib.suppress(ImportError, ValueError):
        spec = find_spec(package)
    if spec is None or spec.origin is None:
        return _hash_of((), Path())
    origin = Path(spec.origin)
    return _hash_of(origin.parent.rglob("*.py") if spec.submodule_search_locations else [origin], origin.parent)


def _hash_of(files: Iterable[Path], home: Path) -> str:
    digest = sha256()
    for file in sorted(files):
        with contextlib.suppress(OSError):
            data = file.read_bytes()
            digest.update(f"{file.relative_to(home).as_posix()} {len(data)}\n".encode() + data)
    return digest.hexdigest()

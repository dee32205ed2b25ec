"""Certificates of real releases, and ways to change them: each leaf by itself, with the checksum left or computed anew."""

from __future__ import annotations

import atexit
import copy
import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import libra
from attributed import EVERY, SCANNED, WARD, attributed
from libra.certificate.check import Check
from libra.certificate.document import checksum
from libra.certificate.verify import self_checks
from libra.example.simulate import simulate
from libra.release import Release

Document = dict[str, Any]
Place = tuple[str | int, ...]
OPTIONS: dict[str, dict[str, Any]] = {
    "libra": {"cases": 150},
    "public labels": {"labels": "public", "budget": "control=0.7"},
    "nearest": {"tail": "nearest"},
    "drop": {"tail": "drop"},
    "subsample": {"gamma": 0.5},
    "subsamples": {"subsamples": 3},
    "individuals": {"individual": "case:concept:name"},
    "attributes": {"attributes": EVERY},
    "attributes of lists": {"attributes": (WARD, SCANNED), "tail": "drop", "most_cases": 2, "individual": "case:concept:name"},
    "after a look": {"budget": "control=0.95"},
    "counted once": {"budget": "control=0.95", "tail": "drop"},
    "seeded": {"seed": 1},
    "libra2022": {"mechanism": "libra2022"},
    "paper": {"mechanism": "libra2022", "subsamples": "paper"},
    "no trace noise": {"mechanism": "libra2022", "trace_noise": False},
}
PROVED, CLAIMED = tuple(OPTIONS)[:11], tuple(OPTIONS)[12:]
OF_OTHERS: dict[str, dict[str, Any]] = {
    "travas": {"mechanism": "travas", "epsilon": 4.0, "delta": 1e-3},
    "travas with times": {"mechanism": "travas", "epsilon": 4.0, "delta": 1e-3, "times": "model", "repeats": 2},
    "split prefixes": {
        "mechanism": "prefix-laplace",
        "epsilon": 4.0,
        "split_budget": True,
        "times": "model",
        "prune": 30,
        "max_length": 6,
    },
    "split prefixes, all asked": {"mechanism": "prefix-laplace", "epsilon": 8.0, "split_budget": True, "prune": 0.2},
    "prefixes": {"mechanism": "prefix-laplace", "epsilon": 2.0},
    "sacofa with times": {"mechanism": "sacofa", "epsilon": 2.0, "times": "model"},
    "pripel": {"mechanism": "pripel", "epsilon": 2.0},
    "amun": {"mechanism": "amun", "guessing_advantage": 0.4},
    "amun by epsilon": {"mechanism": "amun", "epsilon": 1.0},
    "another anonymizer": {"mechanism": "libra2022", "anonymizer": "travas"},
}
PROVED_OF_OTHERS = tuple(OF_OTHERS)[:4]


@cache
def released(name: str) -> Release:
    """A release."""
    options = (OPTIONS | OF_OTHERS)[name]
    asked: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-3} if "mechanism" not in options else {}
    log = attributed(400) if "attributes" in options else simulate(cases=400)
    return libra.anonymize(log, **asked, **options)


@cache
def files(name: str) -> tuple[Path, Path]:
    """The certificate and the log of a release, in a folder of their own."""
    folder = Path(mkdtemp(prefix="libra-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    released(name).write(folder / "log.csv", certificate=folder / "certificate.json")
    return folder / "certificate.json", folder / "log.csv"


def document(name: str) -> Document:
    """A fresh copy of the document in it."""
    made: Document = json.loads(files(name)[0].read_text(encoding="utf-8"))
    return made


def leaves(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value in a document that is neither an object nor a list, and where it is."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def numbers(found: Document) -> list[tuple[Place, float]]:
    """The leaves that are numbers."""
    return [(path, value) for path, value in leaves(found) if isinstance(value, int | float) and not isinstance(value, bool)]


def others(value: Any) -> tuple[Any, ...]:
    """What a value might be changed into."""
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, max(value - 1, 0))
    if isinstance(value, float):
        return (value * 1.0001, value * 0.9999, value * 2) if value else (1e-6,)
    return ("changed",) if value is None else (f"{value} ", value.swapcase())


def changed(found: Document, path: Place, value: Any, *, anew: bool = True) -> Document:
    """A copy with another value there; the checksum computed anew, or not."""
    other: Any = copy.copy(found)
    inner = other
    for key in path[:-1]:  # what is not on the way is shared
        inner[key] = copy.copy(inner[key])
        inner = inner[key]
    inner[path[-1]] = value
    return with_checksum(other) if anew else other


def with_checksum(found: Document) -> Document:
    """A copy with the checksum that its content has."""
    return found | {"checksum": checksum(found)}


def failed(found: Document) -> list[str]:
    """The names of the checks that a document does not pass, without its file."""
    return [check.name for check in all_checks(found) if not check.ok]


def all_checks(found: Document) -> list[Check]:
    """All checks of a document, without its file."""
    return list(self_checks(found))

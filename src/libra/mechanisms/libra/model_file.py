"""A released model as a file: the figures that a log was generated from, to generate others of any size.

It holds figures that carry their noise, all labels (public, or chosen privately), and the promise that was made of them. A log
that is made from it keeps that promise, whatever its size.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from libra._system.arguments import checked, checked_whole
from libra._system.files import atomic_output
from libra._system.randomness import LARGEST_SEED, Randomness, derived_seed
from libra._version import __version__
from libra.engines.time_tables import FINE_BINS, WEIGHT, YEARS
from libra.errors import InputError, UsageError
from libra.eventlog.files import open_input
from libra.eventlog.instances import STARTED
from libra.mechanisms.libra.dividing import MOST_BOUND
from libra.mechanisms.libra.figures import Figures, weighted
from libra.mechanisms.libra.generate import Flow, PlannedLog, planned, sharing_cases
from libra.mechanisms.libra.plan import checked_time_zone
from libra.mechanisms.libra.times.release import FINEST, TimeFigures
from libra.mechanisms.release import Release

DOCUMENT = "Libra model"
FORMAT = 2
LARGEST = 1_000_000_000  # bytes
TRIED = 20  # cases that are generated to see whether a model is one
REMEDY = "Name the file that libra anonymize --model wrote"


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """What a log was generated from."""

    figures: tuple[Figures, ...]  # of every run
    flows: tuple[Flow, ...]  # the control flow that follows from them
    statement: str  # what is promised of whatever is made from them
    seeded: bool  # whether the noise came from a seed; then nothing is private

    def planned(self, cases: int, seed: int | None = None) -> PlannedLog:
        """The plan of a log of so many cases; a seed gives another one of the same size. It is no secret."""
        runs: Sequence[Figures] = self.figures
        if seed is not None:
            runs = [replace(run, draw=derived_seed(seed, number)) for number, run in enumerate(runs)]
        return planned(sharing_cases(runs, [float(flow.weights.sum()) > 0 for flow in self.flows], cases), self.flows)


def write_model(release: Release, path: Path) -> None:
    """Write the figures of a release.

    Example:
        >>> import tempfile, libra, libra.example
        >>> file = Path(tempfile.mkdtemp()) / "model.json"
        >>> write_model(libra.anonymize(libra.example.path()), file)
        >>> read_model(file).planned(cases=5000).n_cases
        5000
    """
    if not release.figures:
        raise UsageError(f"{release.mechanism} has no model to write: its logs are not generated from released figures.")
    document = {
        "document": DOCUMENT,
        "format": FORMAT,
        "version": __version__,
        "statement": release.guarantee.statement,
        "seeded": release.seeded,
        "figures": [run.to_dict() for run in release.figures],
    }
    with atomic_output(path) as stream:
        stream.write((json.dumps(document, allow_nan=False) + "\n").encode())


def read_model(path: Path) -> Model:
    """The model in a file; an `InputError` where it is no such file."""
    with open_input(path, "none") as stream:
        raw = stream.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise InputError("this file is too large to be a model", place=str(path), remedy=REMEDY)
    document = _parsed(path, raw)
    if not isinstance(document, dict) or document.get("document") != DOCUMENT:
        raise InputError("this is JSON, but no Libra model", place=str(path), remedy=REMEDY)
    if document.get("format") != FORMAT:
        what = f"this model is of format {json.dumps(document.get('format'))[:40]}, and this version of Libra knows {FORMAT}"
        raise InputError(
            what,
            place=str(path),
            remedy="Use the version of Libra that wrote it, or write the model again with libra anonymize --model",
        )
    try:
        statement, seeded = document["statement"], document["seeded"]
        if not isinstance(statement, str) or not isinstance(seeded, bool):
            raise TypeError("the promise is a sentence, and whether there was a seed is yes or no")
        figures = tuple(_checked(Figures.from_dict(run)) for run in document["figures"])
        if not figures:
            raise ValueError("a model has figures")
        asked = {tuple(one.attribute for one in run.each_attribute) for run in figures} - {()}
        if len(asked) > 1:
            raise ValueError("all runs have the same attributes, or none")
        with np.errstate(all="ignore"):
            flows = tuple(Flow(*weighted(run.control, Randomness(run.draw))) for run in figures)
            model = Model(figures, flows, statement, seeded)
            model.planned(TRIED).log(0, seeded=seeded)  # shows that logs can be generated from it
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, UsageError) as error:
        raise InputError("the figures of this model do not fit together", place=str(path), remedy=REMEDY) from error
    return model


def _parsed(path: Path, raw: bytes) -> Any:
    try:
        return json.loads(raw.decode())
    except UnicodeError as error:
        raise InputError("this is not text in UTF-8", place=str(path), remedy=REMEDY) from error
    except json.JSONDecodeError as error:
        what = f"this is not JSON ({error.msg.lower()})"
        raise InputError(what, place=f"{path}, line {error.lineno}", remedy=REMEDY) from error
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number of thousands of digits
        raise InputError("this is no JSON that can be read", place=str(path), remedy=REMEDY) from error


def _checked(run: Figures) -> Figures:
    """The figures, as far as a few cases would not show that they are wrong."""
    control, codes = run.control, run.control.kept.codes
    checked_whole("draw", run.draw, 0, LARGEST_SEED)
    checked("weight", run.weight, lambda weight: weight > 0, "above 0")
    checked_time_zone(run.time_zone)
    if not all(isinstance(label, str) for label in run.labels) or len(set(run.labels)) < len(run.labels):
        raise ValueError("labels are texts, each of them once")
    if any(label.endswith(STARTED) and label.removesuffix(STARTED) not in run.labels for label in run.labels):
        raise ValueError("what can be started can be completed")
    if ((codes < 0) | (codes >= len(run.labels))).any():
        raise ValueError("every code stands for a label")
    looks = [look for look in (control.first, control.second) if look is not None]
    if any(len(control.kept) != look.counts.size for look in looks):
        raise ValueError("every kept variant has a count in each look")
    if control.decay is not None:
        checked("decay", control.decay, lambda decay: decay > 0, "above 0")
        if (control.first.values < control.threshold).any():
            raise ValueError("every kept variant has a count above the largest noise")
        checked("threshold", control.threshold, lambda at: 1 < at <= MOST_BOUND + 1, f"above 1 (up to {MOST_BOUND + 1:,})")
    if len(codes) and not run.times.noisy:
        raise ValueError("where there are events there are times")
    _check_times(run.times, len(run.labels))
    return run


def _check_times(times: TimeFigures, n_labels: int) -> None:
    """Refuse what would take gigabytes, or make no sense."""
    if any(not (table.scale >= 1 and 0 < table.sd < math.inf) for table in times.noisy.values()):
        raise ValueError("noise has a scale and a deviation")
    if not all(0 <= part <= FINEST for part in times.parts) or not all(0 <= year < YEARS for year in times.years):
        raise ValueError("parts and years are within their bounds")
    for cells in times.cells:
        rows = len(cells.weights)
        if cells.n_labels != n_labels or rows != len(cells.edges) + len(cells.targets) + 1:
            raise ValueError("rows are those of edges and of targets, and one more")
        if not all(1 <= weight <= WEIGHT for weight in cells.weights) or not all(0 <= part <= FINEST for part in cells.parts):
            raise ValueError("weights and parts are within their bounds")
        if len(cells.parts) != rows * len(cells.ends) or list(cells.ends) != sorted(set(cells.ends)):
            raise ValueError("every group of every row has parts, and groups follow each other")
        if not cells.ends or cells.ends[0] < 1 or cells.ends[-1] > FINE_BINS:
            raise ValueError("groups are made of fine bins")
    if times.pairs is not None and (len(times.uses) != len(times.pairs.pairs) or min(times.uses, default=0) < 0):
        raise ValueError("every pair has a number of uses")
    if times.grouped is not None and not set(np.diff(times.grouped.groups, prepend=0).tolist()) <= {0, 1}:
        raise ValueError("groups of totals follow each other")

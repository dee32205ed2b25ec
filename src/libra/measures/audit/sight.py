"""What somebody who gets a release can see of it, in figures; the attacker knows the canary and every other case.

In: a released log. Out: one number a figure: how many cases, events and variants there are, how many cases follow each variant
the attacker knows of, how often each of the canary's directly-follows edges occurs, lengths, durations, starts, values of
attributes. The telling event of an audit is one of these figures reaching a threshold, or not.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import polars.selectors as cs

from libra.eventlog.cases import Traces, traces_of
from libra.eventlog.log import HOUR, EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME
from libra.measures.audit.canaries import Canary, Case, case_id
from libra.measures.distances import Floats, Integers

WEEK = 168 * HOUR
MOST_EDGES = 24  # of a canary that are looked at one by one
UNITS = (("years", 31_557_600.0), ("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0))
SHOWN_LABELS = 4  # of a variant, where it is named
WORDS: dict[str, str] = {
    "cases": "the number of cases",
    "events": "the number of events",
    "variants": "the number of variants",
    "unknown variant": "cases of variants that nobody had",
    "longest trace": "the length of the longest trace",
    "longest case": "the duration of the longest case",
    "longest step": "the duration of the longest step",
    "earliest start": "the week of the earliest start",
    "latest start": "the week of the latest start",
    "columns": "the names of the columns",
    "header": "the header",
    "largest number": "the largest number in an attribute",
    "variant": "cases of the variant {}",
    "edge": "occurrences of {}",
    "own edges": "steps that nobody else takes",
    "length": "cases of {} events",
    "as long": "cases of {} or more events",
    "as slow": "cases that take {} or more",
    "step as slow": "steps that take {} or more",
    "week": "cases that start in the week of {}",
    "before": "cases that start before {}",
    "after": "cases that start after the week of {}",
    "moments": "events at exactly the moments of the canary's",
    "gaps": "steps that take exactly as long as the canary's",
    "hour": "cases that start at {} o'clock",
    "first": "where the first case of the canary's variant is",
    "id": "cases with the canary's id",
    "value": "events and cases with the value {}",
}


@dataclass(frozen=True)
class Figure:
    """One thing to look at: a key of `WORDS`, and what of the canary it is about."""

    kind: str
    of: tuple[str, ...] | tuple[int, ...] | float | None = None

    def __str__(self) -> str:
        """What it is, in words."""
        if self.kind in ("variant", "edge", "value") and isinstance(self.of, tuple):
            shown = self.of if len(self.of) <= SHOWN_LABELS else (*self.of[:SHOWN_LABELS], f"… ({len(self.of)} events)")
            return WORDS[self.kind].format(" > ".join(str(label) or "(start or end)" for label in shown))
        if self.of is None or isinstance(self.of, tuple):
            return WORDS[self.kind]
        if self.kind in ("as slow", "step as slow"):
            return WORDS[self.kind].format(_duration(self.of))
        return WORDS[self.kind].format(_week(self.of) if self.kind in ("week", "before", "after") else f"{self.of:g}")

    def told(self, value: float) -> str:
        """A value of this figure, as people write it."""
        if self.kind in ("longest case", "longest step"):
            return _duration(10**value - 1)
        return _week(value) if self.kind in ("earliest start", "latest start") else f"{value:.6g}"


def _edges(trace: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The steps of a trace, from the start, which has no name, to the end, which has none either."""
    return pairwise(("", *trace, ""))


def _week(number: float) -> str:
    """The day on which a week begins."""
    return str(np.datetime64(7 * math.ceil(number), "D"))


def _duration(seconds: float) -> str:
    """A duration in the largest unit that it has some of."""
    name, unit = next(((name, unit) for name, unit in UNITS if seconds >= unit), ("seconds", 1.0))
    return f"{seconds / unit:.4g} {name}"


def figures_of(canary: Canary) -> list[Figure]:
    """What to look at for a canary: the log as a whole, and everything that the canary would add to."""
    case = canary.cases[0]
    edges = list(dict.fromkeys(_edges(case.trace)))[:MOST_EDGES]
    week = case.start // WEEK
    return [
        *(Figure(kind) for kind in OF_LOG),
        Figure("variant", case.trace),
        *(Figure("edge", edge) for edge in edges),
        Figure("own edges", case.trace),
        Figure("length", len(case.trace)),
        Figure("as long", max(len(case.trace) // 2, 1)),
        Figure("as slow", round(case.seconds / 2, 1)),
        Figure("step as slow", round(case.longest_gap / 2, 1)),
        Figure("week", week),
        Figure("before", week + 1),
        Figure("after", week - 1),
        Figure("moments", case.micros),
        Figure("gaps", tuple(later - earlier for earlier, later in pairwise(case.micros))),
        Figure("hour", case.start // HOUR % 24),
        Figure("first", case.trace),
        Figure("id"),
        Figure("value", (case.value,)),
    ]


class Sight:
    """Looks at released logs, always for the same figures."""

    def __init__(self, base: Sequence[Case], canaries: Sequence[Canary]) -> None:
        """Settle what to look at: the figures of all canaries, each once."""
        self.figures = list(dict.fromkeys(figure for canary in canaries for figure in figures_of(canary)))
        known = dict.fromkeys(case.trace for case in (*base, *(one for canary in canaries for one in canary.cases)))
        self._labels = {label: code for code, label in enumerate(dict.fromkeys(label for trace in known for label in trace))}
        prints = traces_of([[self._labels[label] for label in trace] for trace in known]).fingerprints()
        self._variants = dict(zip(known, prints.tolist(), strict=True))
        self._id = case_id(len(base))
        self._usual_edges = {edge for case in base for edge in _edges(case.trace)}
        self._known = np.sort(prints)

    def columns(self, canary: Canary) -> Integers:
        """Which of the figures are about this canary."""
        place = {figure: column for column, figure in enumerate(self.figures)}
        return np.array([place[figure] for figure in figures_of(canary)])

    def of(self, log: EventLog) -> Floats:
        """The figures of a released log; an empty one has a 0 wherever something is counted."""
        seen = _Seen(log, self._labels, self._known)
        return np.array([self._look(seen, figure) for figure in self.figures], np.float64)

    def _codes(self, labels: Sequence[str]) -> list[int]:
        return [self._labels.get(label, len(self._labels)) for label in labels]

    def _look(self, seen: _Seen, figure: Figure) -> Any:
        of: Any = figure.of
        match figure.kind:
            case "variant":
                return (seen.prints == self._variants[of]).sum()
            case "edge":
                return seen.edges[*self._codes(of)]
            case "own edges":
                return sum(seen.edges[*self._codes(edge)] for edge in {*_edges(of)} - self._usual_edges)
            case "first":
                return np.append(np.flatnonzero(seen.prints == self._variants[of]), -1)[0]
            case "id":
                return (seen.log.cases[CASE_NAME] == self._id).sum()
        if figure.kind in HITS:
            return HITS[figure.kind](seen, of).sum()
        return OF_LOG[figure.kind](seen) if len(seen.lengths) or figure.kind in ("columns", "header") else 0


class _Seen:
    """One released log, taken apart once."""

    def __init__(self, log: EventLog, labels: dict[str, int], known: npt.NDArray[np.uint64]) -> None:
        self.log, self.known = log, known
        n = len(labels) + 1  # what is unknown or beyond the ends comes last
        codes = np.array([labels.get(label, n - 1) for label in log.activities], np.int64)[log.activity_codes]
        offsets, micros = log.case_offsets, log.timestamps
        self.prints = Traces(codes, offsets).fingerprints()
        self.lengths = np.diff(offsets)
        first, last = np.isin(np.arange(len(codes)), offsets[:-1]), np.isin(np.arange(len(codes)), offsets[1:] - 1)
        earlier = np.concatenate((np.where(first, n - 1, np.roll(codes, 1)), codes[last]))
        later = np.concatenate((codes, np.full(last.sum(), n - 1)))
        self.edges = np.bincount(earlier * n + later, minlength=n * n).reshape(n, n)
        self.micros, self.gaps = micros, np.diff(micros)[~first[1:]]
        earliest, latest = log.case_spans
        self.weeks, self.hours = earliest // WEEK, earliest // HOUR % 24
        self.seconds = (latest - earliest) / 1e6


def _largest_number(seen: _Seen) -> float:
    frames = seen.log.events.drop(CASE_INDEX), seen.log.cases
    largest = [column.max() for frame in frames for column in frame.select(cs.numeric())]
    return max((float(value) for value in largest if isinstance(value, int | float)), default=0.0)


def _with_value(seen: _Seen, of: tuple[str]) -> Integers:
    """For each column of text, how often it has a value."""
    frames = ((seen.log.events, ACTIVITY), (seen.log.cases, CASE_NAME))
    columns = [column for frame, own in frames for column in frame if column.dtype == pl.String and column.name != own]
    return np.array([(column == of[0]).sum() for column in columns], np.int64)


OF_LOG: dict[str, Callable[[_Seen], float]] = {  # of the log as a whole
    "cases": lambda seen: len(seen.lengths),
    "events": lambda seen: seen.lengths.sum(),
    "variants": lambda seen: len(np.unique(seen.prints)),
    "unknown variant": lambda seen: (~np.isin(seen.prints, seen.known)).sum(),
    "longest trace": lambda seen: seen.lengths.max(),
    "longest case": lambda seen: np.log10(1 + seen.seconds.max()),
    "longest step": lambda seen: np.log10(1 + max(seen.gaps.max(initial=0), 0) / 1e6),
    "earliest start": lambda seen: seen.weeks.min(),
    "latest start": lambda seen: seen.weeks.max(),
    "columns": lambda seen: zlib.crc32(repr((seen.log.events.columns, seen.log.cases.columns)).encode()),
    "header": lambda seen: zlib.crc32(repr(seen.log.metadata).encode()),
    "largest number": _largest_number,
}
HITS: dict[str, Callable[[_Seen, Any], Any]] = {  # the cases, events or steps that are like the canary's
    "length": lambda seen, of: seen.lengths == of,
    "as long": lambda seen, of: seen.lengths >= of,
    "as slow": lambda seen, of: seen.seconds >= of,
    "step as slow": lambda seen, of: seen.gaps >= 1e6 * of,
    "week": lambda seen, of: seen.weeks == of,
    "before": lambda seen, of: seen.weeks < of,
    "after": lambda seen, of: seen.weeks > of,
    "moments": lambda seen, of: np.isin(seen.micros, of),
    "gaps": lambda seen, of: np.isin(seen.gaps, of),
    "hour": lambda seen, of: seen.hours == of,
    "value": _with_value,
}

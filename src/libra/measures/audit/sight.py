"""What somebody who gets a release can see of it, in figures; the attacker knows the canary and every other case.

In: a released log. Out: one number a figure: how many cases, events and variants there are, how many cases follow each variant
the attacker knows of, how often each of the canary's directly-follows edges occurs, lengths, durations, starts, values of
attributes. The telling event of an audit is one of these figures reaching a threshold, or not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.log import HOUR, EventLog
from libra.eventlog.names import ACTIVITY, CASE_NAME
from libra.eventlog.traces import Traces, traces_of
from libra.measures.audit.canaries import Canary
from libra.measures.audit.cases import Case

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
WEEK = 168 * HOUR
MOST_EDGES = 24  # of a canary that are looked at one by one
SHOWN_LABELS = 4  # of a variant, where it is named
OfLog = Literal[
    "cases",
    "events",
    "variants",
    "unknown variant",
    "longest trace",
    "longest case",
    "longest step",
    "earliest start",
    "latest start",
]
OfCanary = Literal[
    "variant", "edge", "own edges", "length", "as long", "as slow", "step as slow", "week", "before", "after", "value"
]
Kind: TypeAlias = OfLog | OfCanary
OF_LOG: tuple[OfLog, ...] = get_args(OfLog)
WORDS: dict[Kind, str] = {
    "cases": "the number of cases",
    "events": "the number of events",
    "variants": "the number of variants",
    "unknown variant": "cases of variants that nobody had",
    "longest trace": "the length of the longest trace",
    "longest case": "the seconds of the longest case, log10",
    "longest step": "the seconds of the longest step, log10",
    "earliest start": "the week of the earliest start",
    "latest start": "the week of the latest start",
    "variant": "cases of the variant {}",
    "edge": "occurrences of {}",
    "own edges": "steps that nobody else takes",
    "length": "cases of {} events",
    "as long": "cases of {} or more events",
    "as slow": "cases that take {} or more seconds",
    "step as slow": "steps that take {} or more seconds",
    "week": "cases that start in the week of {}",
    "before": "cases that start before {}",
    "after": "cases that start after the week of {}",
    "value": "events and cases with the value {}",
}


@dataclass(frozen=True)
class Figure:
    """One thing to look at.

    Example:
        >>> str(Figure("edge", ("triage", "leave")))
        'occurrences of triage > leave'
    """

    kind: Kind
    of: tuple[str, ...] | float | None = None

    def __str__(self) -> str:
        """What it is, in words."""
        if isinstance(self.of, tuple) and self.kind != "own edges":
            shown = self.of if len(self.of) <= SHOWN_LABELS else (*self.of[:SHOWN_LABELS], f"… ({len(self.of)} events)")
            return WORDS[self.kind].format(" > ".join(label or "(start or end)" for label in shown))
        if self.of is None or isinstance(self.of, tuple):
            return WORDS[self.kind]
        return WORDS[self.kind].format(_week(self.of) if self.kind in ("week", "before", "after") else f"{self.of:g}")

    def told(self, value: float) -> str:
        """A value of this figure, as people write it."""
        return _week(value) if self.kind in ("earliest start", "latest start") else f"{value:.6g}"


def _edges(trace: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The steps of a trace, from the start, which has no name, to the end, which has none either."""
    return pairwise(("", *trace, ""))


def _week(number: float) -> str:
    """The day on which a week begins."""
    return str(np.datetime64(7 * math.ceil(number), "D"))


def figures_of(canary: Canary) -> list[Figure]:
    """What to look at for a canary: the log as a whole, and everything that the canary would add to.

    Example:
        >>> figures = figures_of(Canary("usual", (Case(("triage", "leave"), (0, HOUR)),)))
        >>> print(figures[0], figures[9], sep=", ")
        the number of cases, cases of the variant triage > leave
    """
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
        Figure("value", (case.value,)),
    ]


class Sight:
    """Looks at released logs, always for the same figures.

    Example:
        >>> from libra.measures.audit.cases import log_of_cases
        >>> case = Case(("triage", "leave"), (0, HOUR))
        >>> sight = Sight([case], [Canary("usual", (case,))])
        >>> seen = sight.of(log_of_cases([case, case]))
        >>> {str(figure): value for figure, value in zip(sight.figures, seen.tolist())}["occurrences of triage > leave"]
        2.0
    """

    def __init__(self, base: Sequence[Case], canaries: Sequence[Canary]) -> None:
        """Settle what to look at: the figures of all canaries, each once."""
        self.figures = list(dict.fromkeys(figure for canary in canaries for figure in figures_of(canary)))
        known = dict.fromkeys(case.trace for case in (*base, *(one for canary in canaries for one in canary.cases)))
        self._labels = {label: code for code, label in enumerate(dict.fromkeys(label for trace in known for label in trace))}
        prints = traces_of([[self._labels[label] for label in trace] for trace in known]).fingerprints()
        self._variants = dict(zip(known, prints.tolist(), strict=True))
        self._usual_edges = {edge for case in base for edge in _edges(case.trace)}
        self._known = np.sort(prints)

    def columns(self, canary: Canary) -> Integers:
        """Which of the figures are about this canary."""
        place = {figure: column for column, figure in enumerate(self.figures)}
        return np.array([place[figure] for figure in figures_of(canary)])

    def of(self, log: EventLog) -> Floats:
        """The figures of a released log; an empty one has a 0 wherever something is counted."""
        seen = _Seen(log, self._labels)
        return np.array([self._look(seen, figure) for figure in self.figures])

    def _codes(self, labels: Sequence[str]) -> list[int]:
        return [self._labels.get(label, len(self._labels)) for label in labels]

    def _look(self, seen: _Seen, figure: Figure) -> float:
        of = figure.of
        if isinstance(of, tuple):
            if figure.kind == "variant":
                return float((seen.prints == self._variants[of]).sum())
            if figure.kind == "edge":
                return seen.edges(*self._codes(of))
            if figure.kind == "own edges":
                return sum(seen.edges(*self._codes(edge)) for edge in {*_edges(of)} - self._usual_edges)
            return seen.value(of[0])
        if of is None:
            return (
                float((~np.isin(seen.prints, self._known)).sum()) if figure.kind == "unknown variant" else seen.whole(figure.kind)
            )
        return seen.counted(figure.kind, of)


class _Seen:
    """One released log, taken apart once."""

    def __init__(self, log: EventLog, labels: dict[str, int]) -> None:
        self.log = log
        n = len(labels) + 1  # what is unknown or beyond the ends comes last
        codes = np.array([labels.get(label, n - 1) for label in log.activities], np.int64)[log.activity_codes]
        offsets, micros = log.case_offsets, log.timestamps
        self.prints = Traces(codes, offsets).fingerprints()
        self.lengths = np.diff(offsets)
        first, last = np.isin(np.arange(len(codes)), offsets[:-1]), np.isin(np.arange(len(codes)), offsets[1:] - 1)
        earlier = np.concatenate((np.where(first, n - 1, np.roll(codes, 1)), codes[last]))
        later = np.concatenate((codes, np.full(last.sum(), n - 1)))
        self._edges = np.bincount(earlier * n + later, minlength=n * n).reshape(n, n)
        self.gaps = np.diff(micros)[~first[1:]] / 1e6 if len(codes) else np.zeros(0)
        earliest, latest = log.case_spans
        self.weeks = earliest // WEEK
        self.seconds = (latest - earliest) / 1e6

    def edges(self, earlier: int, later: int) -> float:
        return float(self._edges[earlier, later])

    def value(self, value: str) -> float:
        frames = ((self.log.events, ACTIVITY), (self.log.cases, CASE_NAME))
        columns = [column for frame, own in frames for column in frame if column.dtype == pl.String and column.name != own]
        return float(sum((column == value).sum() for column in columns))

    def whole(self, kind: Kind) -> float:
        """A figure of the log as a whole."""
        if not len(self.lengths):
            return 0.0
        match kind:
            case "cases":
                return float(len(self.lengths))
            case "events":
                return float(self.lengths.sum())
            case "variants":
                return float(len(np.unique(self.prints)))
            case "longest trace":
                return float(self.lengths.max())
            case "longest case":
                return float(np.log10(1 + self.seconds.max()))
            case "longest step":
                return float(np.log10(1 + max(self.gaps.max(initial=0), 0)))
            case "earliest start":
                return float(self.weeks.min())
            case _:
                return float(self.weeks.max())

    def counted(self, kind: Kind, of: float) -> float:
        """How many cases, or steps, are like that."""
        match kind:
            case "length":
                hits = self.lengths == of
            case "as long":
                hits = self.lengths >= of
            case "as slow":
                hits = self.seconds >= of
            case "step as slow":
                hits = self.gaps >= of
            case "week":
                hits = self.weeks == of
            case "before":
                hits = self.weeks < of
            case _:
                hits = self.weeks > of
        return float(hits.sum())

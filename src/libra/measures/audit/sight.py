"""What somebody who gets a release can see of it, in figures; the attacker knows the canary and every other case.

The telling event of an audit is one of these figures reaching a threshold, or not.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from libra.eventlog.attributes import Attribute, by_level, case_values, event_values
from libra.eventlog.cases import Traces, traces_of
from libra.eventlog.log import HOUR, EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME
from libra.measures.audit.canaries import COMMON, RELEASED, Canary, Case, case_id, plain_value
from libra.measures.distances import Floats, Integers

WEEK = 168 * HOUR
MOST_EDGES = 24  # of a canary that are looked at one by one
UNITS = (("years", 31_557_600.0), ("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0))
SHOWN_LABELS = 4  # of a variant, where it is named


@dataclass(frozen=True)
class Figure:
    """One thing to look at: a key of `OF_LOG`, or of `OF_CANARY` and what of the canary it is about."""

    kind: str
    of: tuple[str, ...] | tuple[int, ...] | tuple[str, int] | float | None = None

    def __str__(self) -> str:
        """What it is, in words."""
        words, _ = (OF_LOG | OF_CANARY)[self.kind]
        if self.kind in ("variant", "edge", "value") and isinstance(self.of, tuple):
            shown = self.of if len(self.of) <= SHOWN_LABELS else (*self.of[:SHOWN_LABELS], f"… ({len(self.of)} events)")
            return words.format(" > ".join(str(label) or "(start or end)" for label in shown))
        if self.kind in ("as large", "together", "next") and isinstance(self.of, tuple):
            return words.format(", ".join(map(str, self.of[1:] if self.kind == "as large" else self.of)), self.of[0])
        if self.of is None or isinstance(self.of, tuple):
            return words
        if self.kind in ("as slow", "step as slow"):
            return words.format(_duration(self.of))
        return words.format(_week(self.of) if self.kind in ("week", "before", "after") else f"{self.of:g}")

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


def figures_of(canary: Canary, attributes: Sequence[Attribute] = RELEASED) -> list[Figure]:
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
        *_figures_of_values(case, attributes),
    ]


def _figures_of_values(case: Case, attributes: Sequence[Attribute]) -> Iterator[Figure]:
    """What to look at in attributes: texts that the canary has, numbers as large as its own, values that come together."""
    of_cases, of_events = by_level(attributes)
    plain = {one: [plain_value(one, which, case.start) for which in case.values] for one in attributes}
    own = [(one, plain[one][number % 2]) for number, one in enumerate(of_cases)]
    own += [(one, value) for one in of_events for value in plain[one]]
    yield from dict.fromkeys(Figure("value", (value,)) for one, value in own if one.kind == "category")
    for one, value in own:
        if one.kind in ("number", "date"):
            yield Figure("as large", (one.name, (plain_value(one, COMMON, case.start) + value + 1) // 2))
    if of_cases:
        yield Figure("together", tuple(str(value) for _, value in own[: len(of_cases)]))
    if of_events:
        yield Figure("next", tuple(str(value) for one in of_events for value in plain[one]))


class Sight:
    """Looks at released logs, always for the same figures."""

    def __init__(self, base: Sequence[Case], canaries: Sequence[Canary], attributes: Sequence[Attribute] = RELEASED) -> None:
        """Settle what to look at: the figures of all canaries, each once."""
        self.attributes = attributes
        self.figures = list(dict.fromkeys(figure for canary in canaries for figure in figures_of(canary, attributes)))
        known = dict.fromkeys(case.trace for case in (*base, *(one for canary in canaries for one in canary.cases)))
        self.labels = {label: code for code, label in enumerate(dict.fromkeys(label for trace in known for label in trace))}
        prints = traces_of([[self.labels[label] for label in trace] for trace in known]).fingerprints()
        self.variants = dict(zip(known, prints.tolist(), strict=True))
        self.id = case_id(len(base))
        self.usual_edges = {edge for case in base for edge in _edges(case.trace)}
        self.known = np.sort(prints)

    def columns(self, canary: Canary) -> Integers:
        """Which of the figures are about this canary."""
        place = {figure: column for column, figure in enumerate(self.figures)}
        return np.array([place[figure] for figure in figures_of(canary, self.attributes)])

    def of(self, log: EventLog) -> Floats:
        """The figures of a released log; an empty one has a 0 wherever something is counted."""
        seen = _Seen(log, self)
        return np.array([seen.look(figure) for figure in self.figures], np.float64)


class _Seen:
    """One released log, taken apart once, by somebody who looks for the figures of a sight."""

    def __init__(self, log: EventLog, sight: Sight) -> None:
        self.log, self.sight = log, sight
        n = len(sight.labels) + 1  # what is unknown or beyond the ends comes last
        codes = np.array([sight.labels.get(label, n - 1) for label in log.activities], np.int64)[log.activity_codes]
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
        of_cases, of_events = by_level(sight.attributes)
        self.of_cases = {one.name: case_values(log, one) for one in of_cases}
        self.of_events = {one.name: event_values(log, one) for one in of_events}

    def look(self, figure: Figure) -> Any:
        """The value of a figure."""
        if figure.kind in OF_CANARY:
            return OF_CANARY[figure.kind][1](self, figure.of)
        return OF_LOG[figure.kind][1](self) if len(self.lengths) or figure.kind in ("columns", "header") else 0

    def of_variant(self, trace: tuple[str, ...]) -> Integers:
        """The cases of a variant."""
        return np.flatnonzero(self.prints == self.sight.variants[trace])

    def edge(self, labels: tuple[str, str]) -> int:
        """How often one label follows on the other."""
        return int(self.edges[*(self.sight.labels.get(label, len(self.sight.labels)) for label in labels)])


def _checksum(names: object) -> int:
    return zlib.crc32(repr(names).encode())


def _largest_number(seen: _Seen) -> float:
    frames = seen.log.events.drop(CASE_INDEX), seen.log.cases
    largest = [column.max() for frame in frames for column in frame.select(cs.numeric())]
    return max((float(value) for value in largest if isinstance(value, int | float)), default=0.0)


def _with_value(seen: _Seen, of: tuple[str]) -> int:
    """How often columns of text have a value."""
    frames = ((seen.log.events, ACTIVITY), (seen.log.cases, CASE_NAME))
    columns = [column for frame, own in frames for column in frame if column.dtype == pl.String and column.name != own]
    return sum(int((column == of[0]).sum()) for column in columns)


def _as_large(seen: _Seen, of: tuple[str, int]) -> int:
    """How many values of an attribute reach a number."""
    return int(((seen.of_cases | seen.of_events)[of[0]] >= of[1]).sum())


def _together(seen: _Seen, of: tuple[str, ...]) -> int:
    """How many cases have the values of an attribute and of the next one, for all that there are."""
    has = [_texts(values) == text for values, text in zip(seen.of_cases.values(), of, strict=True)]
    return sum(int((one & other).sum()) for one, other in zip(has, has[1:] or has, strict=False))


def _next(seen: _Seen, of: tuple[str, ...]) -> int:
    """How often one value comes after another within a case, for all attributes of events."""
    case, found = seen.log.events[CASE_INDEX], 0
    for values, first, second in zip(seen.of_events.values(), of[::2], of[1::2], strict=True):
        texts = _texts(values)
        found += int(((texts.shift(1) == first) & (texts == second) & (case.shift(1) == case)).sum())
    return found


def _texts(values: pl.Series) -> pl.Series:
    return values.cast(pl.String).fill_null("None")


OF_LOG: dict[str, tuple[str, Callable[..., Any]]] = {  # figures of the log as a whole: what they are, and how to see them
    "cases": ("the number of cases", lambda seen: len(seen.lengths)),
    "events": ("the number of events", lambda seen: seen.lengths.sum()),
    "variants": ("the number of variants", lambda seen: len(np.unique(seen.prints))),
    "unknown variant": ("cases of variants that nobody had", lambda seen: (~np.isin(seen.prints, seen.sight.known)).sum()),
    "longest trace": ("the length of the longest trace", lambda seen: seen.lengths.max()),
    "longest case": ("the duration of the longest case", lambda seen: np.log10(1 + seen.seconds.max())),
    "longest step": ("the duration of the longest step", lambda seen: np.log10(1 + max(seen.gaps.max(initial=0), 0) / 1e6)),
    "earliest start": ("the week of the earliest start", lambda seen: seen.weeks.min()),
    "latest start": ("the week of the latest start", lambda seen: seen.weeks.max()),
    "columns": ("the names of the columns", lambda seen: _checksum((seen.log.events.columns, seen.log.cases.columns))),
    "header": ("the header", lambda seen: _checksum(seen.log.metadata)),
    "largest number": ("the largest number in an attribute", _largest_number),
}
OF_CANARY: dict[str, tuple[str, Callable[..., Any]]] = {  # the same of cases, events or steps that are like the canary's
    "variant": ("cases of the variant {}", lambda seen, of: len(seen.of_variant(of))),
    "edge": ("occurrences of {}", lambda seen, of: seen.edge(of)),
    "own edges": ("steps that nobody else takes", lambda seen, of: sum(map(seen.edge, {*_edges(of)} - seen.sight.usual_edges))),
    "length": ("cases of {} events", lambda seen, of: (seen.lengths == of).sum()),
    "as long": ("cases of {} or more events", lambda seen, of: (seen.lengths >= of).sum()),
    "as slow": ("cases that take {} or more", lambda seen, of: (seen.seconds >= of).sum()),
    "step as slow": ("steps that take {} or more", lambda seen, of: (seen.gaps >= 1e6 * of).sum()),
    "week": ("cases that start in the week of {}", lambda seen, of: (seen.weeks == of).sum()),
    "before": ("cases that start before {}", lambda seen, of: (seen.weeks < of).sum()),
    "after": ("cases that start after the week of {}", lambda seen, of: (seen.weeks > of).sum()),
    "moments": ("events at exactly the moments of the canary's", lambda seen, of: np.isin(seen.micros, of).sum()),
    "gaps": ("steps that take exactly as long as the canary's", lambda seen, of: np.isin(seen.gaps, of).sum()),
    "hour": ("cases that start at {} o'clock", lambda seen, of: (seen.hours == of).sum()),
    "first": ("where the first case of the canary's variant is", lambda seen, of: np.append(seen.of_variant(of), -1)[0]),
    "id": ("cases with the canary's id", lambda seen, of: (seen.log.cases[CASE_NAME] == seen.sight.id).sum()),
    "value": ("events and cases with the value {}", _with_value),
    "as large": ("values of {1} of {0} or more", _as_large),
    "together": ("cases with the values {} together", _together),
    "next": ("events with one of the values {} after the other", _next),
}

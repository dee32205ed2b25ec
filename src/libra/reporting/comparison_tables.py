"""The tables of a comparison: a row for every setting and epsilon, the empty log first, and below what needs a word.

A figure that is missing is a dash, and the reason stands below; where a mechanism releases no times, the table says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from libra.comparison.comparison import MEASURES, OF_TIMES, ComparedLog, Comparison, Mean, Row
from libra.comparison.plan import PUBLISHED
from libra.privacy.unit import CASE, Unit
from libra.reporting.numbers import number

NONE = "-"
UNITS = {str(CASE): "cases", str(Unit(most_cases=1)): "individuals"}
MOST_PLACES = 5  # behind the point
NO_TIMES = "no times"
AS_SET = "as set"
EMPTY_LOG = "empty log"
FIRST = ("mechanism", "epsilon")
LAST = ("seconds", "peak MB", "guarantee", "audit")
HEADINGS = (*FIRST, *MEASURES.values(), *LAST)
ESSENTIAL = (*FIRST, "dfg_l1", "EMD Freq", "edge durations, log10", "seconds", "guarantee")
NARROWER = ((*FIRST, "dfg_l1", "edge durations, log10", "guarantee"), (*FIRST, "dfg_l1", "guarantee"), (*FIRST, "dfg_l1"))
SPREAD = " ± "
LEGEND = (
    "0 is equal to the original, lower is closer. ±: standard deviation over the seeds. Seconds are those of anonymizing alone; "
    "peak MB is the most memory that the process of a run had, interpreter and log included."
)
FAVOURABLE = (
    "libra2022 takes no epsilon. It is run with the b at which its subsampled Laplace releases would be (epsilon, delta)-"
    "differentially private, if they were all that it releases: the reading most favourable to it."
)


@dataclass(frozen=True)
class Table:
    """A table of text: `rows` are as long as `headings`."""

    log: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    footnotes: tuple[str, ...]

    def only(self, headings: tuple[str, ...]) -> Table:
        """The same with some of the columns."""
        kept = [self.headings.index(heading) for heading in headings]
        return replace(self, headings=headings, rows=tuple(tuple(row[column] for column in kept) for row in self.rows))

    def without_spread(self) -> Table:
        """The same with means alone."""
        return replace(self, rows=tuple(tuple(cell.partition(SPREAD)[0] for cell in row) for row in self.rows))


def table_of(comparison: Comparison, log: ComparedLog) -> Table:
    """The table of a log."""
    rows = comparison.rows(log.name)
    body = (_empty(log), *(_cells(row, _promise(row, log)) for row in rows))
    return Table(log.name, HEADINGS, body, tuple(_footnotes(rows)))


def shown(figure: Mean | None) -> str:
    """A mean with three digits that count, and its spread to the same place."""
    if figure is None:
        return NONE
    if figure.spread is None:
        return number(figure.mean)
    size = math.floor(math.log10(abs(figure.mean))) if figure.mean else 0
    places = min(max(2 - size, 0), MOST_PLACES)
    return f"{figure.mean:,.{places}f} ± {figure.spread:,.{places}f}"


def _cells(row: Row, promise: str) -> tuple[str, ...]:
    seconds, peak = row.seconds, row.peak_megabytes
    return (
        row.setting.label,
        AS_SET if row.epsilon is None else f"{row.epsilon:g}",
        *(NO_TIMES if row.results and not row.has_times and name in OF_TIMES else shown(row.measure(name)) for name in MEASURES),
        NONE if seconds is None else f"{seconds.mean:,.2f}" if seconds.mean < 100 else number(seconds.mean),
        NONE if peak is None else f"{peak:,.0f}",
        promise,
        row.audit or NONE,
    )


def _promise(row: Row, log: ComparedLog) -> str:
    """Whether the guarantee is proved or claimed; where a person may have several cases, for which of the two."""
    if row.guarantee is None or row.unit is None:
        return NONE
    unit = next((several for one, several in UNITS.items() if row.unit.startswith(one)), row.unit)
    return f"{row.guarantee}, {unit}" if log.has_individuals else row.guarantee


def _empty(log: ComparedLog) -> tuple[str, ...]:
    figures = (getattr(log.empty, name) for name in MEASURES)
    return EMPTY_LOG, "", *(NONE if figure is None else number(figure) for figure in figures), *("" for _ in LAST)


def _footnotes(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        where = row.setting.label if row.epsilon is None else f"{row.setting.label} at {row.epsilon:g}"
        for missing in {missing.why: missing for missing in reversed(row.missing)}.values():
            gone = sum(outcome.missing is not None and outcome.missing.why == missing.why for outcome in row.outcomes)
            some = f" ({gone} of {len(row.outcomes)} runs)" if gone < len(row.outcomes) else ""
            said = "refused" if missing.why == "refused" else "no result"
            yield f"{where}, {said}{some}: {missing.reason.rstrip('.')}."
        empty = sum(result.cases == 0 for result in row.results)
        if empty:
            all_of = "the release" if len(row.results) == 1 else "the releases"
            which = all_of if empty == len(row.results) else f"{empty} of {len(row.results)} releases"
            yield f"{where}: {which} {'is an empty log' if empty == 1 else 'are empty logs'}."
    if any(row.setting.mechanism == PUBLISHED and row.epsilon is not None for row in rows):
        yield FAVOURABLE

"""A comparison as a page: utility against epsilon, one small chart a log, then the table of each log.

In: a comparison. Out: a `Report`, a page that loads nothing from elsewhere. It compares with the originals and is confidential.
Whatever the comparison holds, the page stays below 5 MB: it shows so many settings, budgets and logs, and says what it left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from libra.charts import Chart
from libra.charts.curves import Curve, curves, legend
from libra.charts.style import PALETTE, STYLE
from libra.charts.text import shown
from libra.comparison.comparison import CHOICE, CONFIDENTIAL, MEASURES, Comparison, Row
from libra.comparison.labels import labels_of
from libra.comparison.nearest import MEASURE, nearest_of
from libra.comparison.plot import lines_of
from libra.comparison.tables import EMPTY_LOG, LEGEND, NONE, Table, table_of
from libra.reporting.page import page
from libra.reporting.report import Report

TITLE = "A comparison of mechanisms"
TEMPLATE = "comparison.html"
BEST = "Which is best?"
MOST_SETTINGS, MOST_EPSILONS, MOST_LOGS = 16, 10, 8
MOST_NAMES = 30  # in a line
MOST_NOTES = 60  # below the table of a log
LONGEST = 400  # characters of a note
LAYOUT = """\
.multiples{display:grid;gap:.5rem 1.5rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,22.5rem),1fr))}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;list-style:none;padding:0;margin:.5rem 0}
"""
WORDS = {
    "dfg_l1": ("Directly-follows counts", "All differences together, as a share of the steps in the original."),
    "dfg_tv": ("Directly-follows shares", "What would have to be moved to make the proportions equal."),
    "emd_freq": ("EMD Freq", "The paper's distance of frequencies. It is blind to labels, and an empty log can score well."),
    "emd_time": ("EMD Time", "The paper's distance of summed durations, in hours. It is blind to labels too."),
    "variant_tv": ("Variants", "What would have to be moved: much, wherever most cases have a trace of their own."),
    "edge_duration_w1_log": ("Durations of steps", "Edge by edge, by logarithm: 1 is a factor of ten."),
    "case_duration_w1_hours": ("Durations of cases", "How far off, in hours."),
    "arrival_w1_days": ("Arrivals", "How far off the starts of cases are, in days."),
}
PROMISES = {
    "proved": "proved for everything that is released",
    "claimed": "as claimed by its authors: not a guarantee",
    None: "no run gave a result",
}


@dataclass(frozen=True)
class Entry:
    """A setting on the page: its name, that with its promise behind, its look in all charts, the promise, and the audit of it."""

    short: str
    name: str
    look: int
    promise: str | None
    audit: str | None


@dataclass(frozen=True)
class Section:
    """The charts of a measure, one a log."""

    anchor: str
    name: str
    said: str
    charts: tuple[Chart, ...]


def report_of(comparison: Comparison) -> Report:
    """The page of a comparison.

    Example:
        >>> import libra, libra.example
        >>> found = libra.compare(libra.example.path(), mechanisms="libra", epsilon=1.0, seeds=1, cache=False)
        >>> report_of(found).title
        'A comparison of mechanisms'
    """
    part, left_out = _part(comparison)
    entries = _entries(part)
    refuted = [label for label, one in entries.items() if one.audit == "refuted"]
    nearest = nearest_of(part, {label: one.short for label, one in entries.items()}, refuted)
    sections = [section for measure in MEASURES if (section := _section(part, measure, entries)) is not None]
    html = page(
        TEMPLATE,
        title=TITLE,
        styles=(PALETTE, STYLE, LAYOUT),
        today=datetime.now(UTC).date().isoformat(),
        confidential=CONFIDENTIAL,
        choice=CHOICE,
        best=BEST,
        nearest=nearest,
        ranked_by=(MEASURE, WORDS[MEASURE][0]),
        asked=_asked(comparison),
        left_out=left_out,
        mechanisms=[(shown(label, LONGEST), PROMISES[one.promise], one.audit or NONE) for label, one in entries.items()],
        sections=sections,
        legend=legend(_drawn(part, entries)),
        empty_log=EMPTY_LOG,
        tables=[_table(table_of(part, log)) for log in part.logs],
        said=LEGEND,
    )
    return Report(TITLE, html, public=False, answers=((BEST, nearest[0]),))


def _part(comparison: Comparison) -> tuple[Comparison, list[str]]:
    """As much of a comparison as a page can show, and what that leaves out."""
    settings = list(dict.fromkeys(outcome.run.setting.label for outcome in comparison.outcomes))
    kept = settings[:MOST_SETTINGS], comparison.epsilons[:MOST_EPSILONS], comparison.logs[:MOST_LOGS]
    logs = {log.name for log in kept[2]}
    outcomes = tuple(
        outcome
        for outcome in comparison.outcomes
        if outcome.run.setting.label in kept[0]
        and (outcome.run.epsilon is None or outcome.run.epsilon in kept[1])
        and outcome.run.log in logs
    )
    every = (("settings", settings), ("budgets", comparison.epsilons), ("logs", comparison.logs))
    left_out = [
        f"Of {len(of)} {what} the first {len(some)} are shown. All are in what --output writes."
        for (what, of), some in zip(every, kept, strict=True)
        if len(some) < len(of)
    ]
    return replace(comparison, logs=kept[2], epsilons=tuple(kept[1]), outcomes=outcomes), left_out


def _entries(comparison: Comparison) -> dict[str, Entry]:
    """The settings by their labels, in the order in which they were named."""
    rows: dict[str, list[Row]] = {}
    for log in comparison.logs:
        for row in comparison.rows(log.name):
            rows.setdefault(row.setting.label, []).append(row)
    short = labels_of([of[0].setting for of in rows.values()])
    entries = {}
    for look, ((label, of), lines) in enumerate(zip(rows.items(), short, strict=True)):
        telling = next((row for row in of if row.guarantee), of[0])
        name = shown("".join(lines), LONGEST)
        promised = f" ({telling.guarantee})" if telling.guarantee else ""
        entries[label] = Entry(name, name + promised, look, telling.guarantee, telling.audit)
    return entries


def _section(comparison: Comparison, measure: str, entries: Mapping[str, Entry]) -> Section | None:
    charts = []
    for log in comparison.logs:
        lines = _curves(comparison, log.name, measure, entries)
        if lines:
            empty = getattr(log.empty, measure)
            reference = None if empty is None else (EMPTY_LOG, empty)
            chart = curves(
                shown(log.name), lines, x_ticks=sorted(comparison.epsilons), y_name=MEASURES[measure], reference=reference
            )
            charts.append(chart)
    return Section(measure, *WORDS[measure], tuple(charts)) if charts else None


def _curves(comparison: Comparison, log: str, measure: str, entries: Mapping[str, Entry]) -> list[Curve]:
    found = []
    for line in lines_of(comparison, log, measure):
        entry = entries[line.setting.label]
        points = tuple((epsilon, point.mean, point.spread) for epsilon, point in line.points)
        found.append(Curve(entry.name, points, entry.look))
    return found


def _drawn(comparison: Comparison, entries: Mapping[str, Entry]) -> list[Curve]:
    """Every setting that is drawn anywhere, once."""
    drawn = {
        line.look: line
        for log in comparison.logs
        for measure in MEASURES
        for line in _curves(comparison, log.name, measure, entries)
    }
    return [drawn[look] for look in sorted(drawn)]


def _asked(comparison: Comparison) -> list[tuple[str, str]]:
    """What was compared and how, as a list of terms."""
    limits = comparison.limits
    done = sum(outcome.result is not None for outcome in comparison.outcomes)
    return [
        ("Logs", _listed([shown(log.name) for log in comparison.logs])),
        ("Budgets", f"epsilon {_listed([f'{epsilon:g}' for epsilon in comparison.epsilons])}; {comparison.said_delta}"),
        ("Seeds", _listed(list(map(str, comparison.seeds)))),
        ("Limits of a run", f"{limits.seconds:g} seconds, {limits.gigabytes:g} GB"),
        ("Runs", f"{done} of {len(comparison.outcomes)} gave a result"),
    ]


def _listed(names: list[str]) -> str:
    """Names with commas between, not too many of them."""
    rest = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _table(table: Table) -> Table:
    """A table as the page shows it: labels made safe to read, and not more footnotes than anybody reads."""
    notes = [shown(note, LONGEST) for note in _few(table.footnotes)]
    rows = tuple(tuple(shown(cell, LONGEST) if cell else "" for cell in row) for row in table.rows)
    return Table(shown(table.log), table.headings, rows, tuple(notes))


def _few(notes: Sequence[str]) -> list[str]:
    rest = len(notes) - MOST_NOTES
    return [*notes[:MOST_NOTES], *([f"{rest} more such remarks are in what --output writes."] if rest > 0 else [])]

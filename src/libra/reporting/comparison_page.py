"""A comparison as a page: which setting is nearest, then charts against epsilon and the table of each log. Confidential.

Only what is proved is ranked, and only where all runs gave a result; a claim that is ahead is called a claim. The page has
less than 5 MB: it shows so many settings, budgets and logs, and says what it leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from libra.comparison.comparison import CHOICE, CONFIDENTIAL, MEASURES, Comparison, Row
from libra.reporting.comparison_files import LEGEND, NONE, Table, table_of
from libra.reporting.curves import EMPTY_LOG, Curve, curves, curves_of, labels_of, legend
from libra.reporting.drawing import resource
from libra.reporting.numbers import number
from libra.reporting.page import Report, page
from libra.reporting.text import listed, shown

TITLE = "A comparison of mechanisms"
BEST = "Which is best?"
RANKED_BY = "dfg_l1"
NOTHING, NO_RESULT = "nothing that beats an empty log", "no result"
MOST = {"settings": 16, "budgets": 10, "logs": 8}
MOST_NAMES = 30  # in a line
MOST_NOTES = 60  # below the table of a log
LONGEST = 400  # characters of a note
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


@dataclass
class _Race:
    """What is counted at one epsilon: on how many logs a setting is nearest, and on how many a claim is nearer still."""

    nearest: Counter[str] = field(default_factory=Counter)
    nearer: Counter[str] = field(default_factory=Counter)
    ties: int = 0


def report_of(comparison: Comparison) -> Report:
    """The page of a comparison."""
    part, left_out = _part(comparison)
    entries = _entries(part)
    refuted = [label for label, one in entries.items() if one.audit == "refuted"]
    nearest = nearest_of(part, {label: one.short for label, one in entries.items()}, refuted)
    sections, drawn = _sections(part, entries)
    html = page(
        "comparison.html",
        title=TITLE,
        styles=(resource("comparison.css"),),
        confidential=CONFIDENTIAL,
        choice=CHOICE,
        best=BEST,
        nearest=nearest,
        ranked_by=(RANKED_BY, WORDS[RANKED_BY][0]),
        asked=_asked(comparison),
        left_out=left_out,
        mechanisms=[(shown(label, LONGEST), PROMISES[one.promise], one.audit or NONE) for label, one in entries.items()],
        sections=sections,
        legend=legend([drawn[look] for look in sorted(drawn)]),
        empty_log=EMPTY_LOG,
        tables=[_table(table_of(part, log)) for log in part.logs],
        said=LEGEND,
    )
    return Report(TITLE, html, public=False, answers=((BEST, nearest[0]),))


def _part(comparison: Comparison) -> tuple[Comparison, list[str]]:
    """As much of a comparison as a page can show, and what that leaves out."""
    every: dict[str, tuple[Any, ...]] = {
        "settings": tuple(dict.fromkeys(outcome.run.setting.label for outcome in comparison.outcomes)),
        "budgets": comparison.epsilons,
        "logs": comparison.logs,
    }
    kept = {what: every[what][:most] for what, most in MOST.items()}
    settings, epsilons, logs = kept["settings"], (None, *kept["budgets"]), {log.name for log in kept["logs"]}
    runs = ((outcome, outcome.run) for outcome in comparison.outcomes)
    outcomes = tuple(
        outcome for outcome, run in runs if run.setting.label in settings and run.epsilon in epsilons and run.log in logs
    )
    left_out = [
        f"Of {len(every[what])} {what} the first {most} are shown. All are in what --output writes."
        for what, most in MOST.items()
        if most < len(every[what])
    ]
    return replace(comparison, logs=kept["logs"], epsilons=kept["budgets"], outcomes=outcomes), left_out


def _entries(comparison: Comparison) -> dict[str, Entry]:
    """The settings by their labels, in the order in which they were named."""
    rows: dict[str, list[Row]] = {}
    for log in comparison.logs:
        for row in comparison.rows(log.name):
            rows.setdefault(row.setting.label, []).append(row)
    names = labels_of([of[0].setting for of in rows.values()])
    entries = {}
    for look, ((label, of), lines) in enumerate(zip(rows.items(), names, strict=True)):
        telling = next((row for row in of if row.guarantee), of[0])
        name = shown("".join(lines), LONGEST)
        promised = f" ({telling.guarantee})" if telling.guarantee else ""
        entries[label] = Entry(name, name + promised, look, telling.guarantee, telling.audit)
    return entries


def _sections(comparison: Comparison, entries: Mapping[str, Entry]) -> tuple[list[dict[str, Any]], dict[int, Curve]]:
    """The measures that have charts, one a log, and the curves in them by their look."""
    drawn: dict[int, Curve] = {}
    sections, epsilons = [], sorted(comparison.epsilons)
    for measure, name in MEASURES.items():
        charts = []
        for log in comparison.logs:
            found = ((entries[setting.label], curve) for setting, curve in curves_of(comparison, log.name, measure))
            lines = [replace(curve, name=entry.name, look=entry.look) for entry, curve in found]
            drawn |= {line.look: line for line in lines}
            if lines:
                empty = getattr(log.empty, measure)
                charts.append(curves(shown(log.name), lines, epsilons=epsilons, y_name=name, empty=empty))
        if charts:
            title, said = WORDS[measure]
            sections.append({"anchor": measure, "name": title, "said": said, "charts": charts})
    return sections, drawn


def _asked(comparison: Comparison) -> list[tuple[str, str]]:
    """What was compared and how, as a list of terms."""
    limits = comparison.limits
    done = sum(outcome.result is not None for outcome in comparison.outcomes)
    return [
        ("Logs", _with_commas([shown(log.name) for log in comparison.logs])),
        ("Budgets", f"epsilon {_with_commas([f'{epsilon:g}' for epsilon in comparison.epsilons])}; {comparison.said_delta}"),
        ("Seeds", _with_commas(list(map(str, comparison.seeds)))),
        ("Limits of a run", f"{limits.seconds:g} seconds, {limits.gigabytes:g} GB"),
        ("Runs", f"{done} of {len(comparison.outcomes)} gave a result"),
    ]


def _with_commas(names: list[str]) -> str:
    rest = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _table(table: Table) -> Table:
    """A table as the page shows it: labels made safe to read, and not more footnotes than anybody reads."""
    rest = len(table.footnotes) - MOST_NOTES
    more = [f"{rest} more such remarks are in what --output writes."] if rest > 0 else []
    notes = tuple(shown(note, LONGEST) for note in (*table.footnotes[:MOST_NOTES], *more))
    rows = tuple(tuple(shown(cell, LONGEST) if cell else "" for cell in row) for row in table.rows)
    return Table(shown(table.log), table.headings, rows, notes)


def nearest_of(comparison: Comparison, names: Mapping[str, str], refuted: Collection[str] = ()) -> list[str]:
    """Which setting is nearest to the originals, in sentences, of which the first is the answer; settings go by these names."""
    every = [row for log in comparison.logs for row in comparison.rows(log.name)]
    rows = [row for row in every if row.results]
    if not rows:
        return ["No run gave a result, so there is no best."]
    proved_rows = [row for row in rows if _is_proved(row, refuted)]
    proved = {row.setting.label for row in proved_rows}
    ranked = {row.setting.label for row in proved_rows if row.epsilon is not None}
    called_proved = {row.setting.label for row in rows if row.guarantee == "proved"}
    lacking = {row.setting.label for row in every if row.missing}
    n_logs = len(comparison.logs)
    races = {epsilon: _race(comparison, epsilon, refuted) for epsilon in sorted(comparison.epsilons)}
    not_ranked = ((proved - ranked, ", since epsilon is part of the setting"), (lacking, " where a run gave no result"))
    return [
        _answer(races, n_logs, proved, ranked, names),
        *_claims(races, n_logs, names, called_proved),
        *(f"An audit refuted what is promised of {names[label]}." for label in names if label in refuted),
        *(f"Not ranked{why}: {listed([names[one] for one in names if one in labels])}." for labels, why in not_ranked if labels),
        *_unlike([row for row in rows if row.setting.label in ranked]),
    ]


def _is_proved(row: Row, refuted: Collection[str]) -> bool:
    return row.guarantee == "proved" and row.setting.label not in refuted


def _race(comparison: Comparison, epsilon: float, refuted: Collection[str]) -> _Race:
    race = _Race()
    for log in comparison.logs:
        proved, others = {}, {}
        for row in comparison.rows(log.name):
            found = row.measure(RANKED_BY)
            if row.epsilon not in (epsilon, None) or found is None or row.missing:
                continue  # where a run lacks, those that came out may be the easy ones
            if not _is_proved(row, refuted):
                others[row.setting.label] = found.mean
            elif row.epsilon is not None:
                proved[row.setting.label] = found.mean
        best, empty = min(proved.values(), default=None), getattr(log.empty, RANKED_BY)
        if best is None:
            race.nearest[NO_RESULT] += 1
            continue
        first = [label for label, mean in proved.items() if number(mean) == number(best)]
        if empty is not None and best >= empty:
            first = [NOTHING]
        race.nearest.update(first)
        race.ties += len(first) > 1
        bound = best if empty is None else min(best, empty)
        race.nearer.update(label for label, mean in others.items() if mean < bound)
    return race


def _answer(
    races: Mapping[float, _Race], n_logs: int, proved: Collection[str], ranked: Collection[str], names: Mapping[str, str]
) -> str:
    if not proved:
        return "Nothing here is proved, so there is no best: a claimed epsilon is not a guarantee."
    if not ranked:
        return "Nothing that is proved was asked at these epsilons, so there is no best."
    seen = {label for race in races.values() for label in race.nearest}
    (first, *others) = [label for label in names if label in ranked]
    if not others and seen == {first}:
        return f"Only {names[first]} is proved here, so there is nothing to rank it with."
    if len(seen) == 1 and seen <= set(ranked):
        on_all = " and on every log" if n_logs > 1 else ""
        return f"Among what is proved, {names[seen.pop()]} is nearest to the original at every epsilon{on_all}."
    alike = _alike({epsilon: (race.nearest, race.ties) for epsilon, race in races.items()})
    told = "; ".join(f"{_at(epsilons)} {_told(races[epsilons[0]], n_logs, names)}" for epsilons in alike)
    ties = " Those that are alike count both." if n_logs > 1 and any(race.ties for race in races.values()) else ""
    return f"Among what is proved, nearest to the original is: {told}.{ties}"


def _told(race: _Race, n_logs: int, names: Mapping[str, str]) -> str:
    order = [label for label in (*names, NOTHING, NO_RESULT) if race.nearest[label]]
    if n_logs == 1:
        return listed([names.get(label, label) for label in order]) + (" alike" if race.ties else "")
    order.sort(key=lambda label: (label in (NOTHING, NO_RESULT), -race.nearest[label]))
    return listed([f"{names.get(label, label)} on {_of(race.nearest[label], n_logs, i)}" for i, label in enumerate(order)])


def _claims(races: Mapping[float, _Race], n_logs: int, names: Mapping[str, str], called_proved: Collection[str]) -> Iterator[str]:
    """What is ahead without a proof, or with one that does not hold."""
    for label, name in names.items():
        ahead = {epsilon: race.nearer[label] for epsilon, race in races.items() if race.nearer[label]}
        if ahead:
            where = [
                _at(epsilons) + (f" on {_of(ahead[epsilons[0]], n_logs, i)}" if n_logs > 1 else "")
                for i, epsilons in enumerate(_alike(ahead))
            ]
            why = "refuted" if label in called_proved else "claimed, not proved"
            yield f"{name} is nearer still {listed(where)}, but {why}, so its epsilon is not comparable."


def _unlike(ranked: Sequence[Row]) -> Iterator[str]:
    """In what the promises differ that are ranked with each other."""
    units: dict[str, set[str | None]] = {}
    for row in ranked:
        units.setdefault(row.log, set()).add(row.unit)
    differ = ["whom they protect"] if any(len(of) > 1 for of in units.values()) else []
    differ += ["their delta"] if len({row.delta for row in ranked} - {None}) > 1 else []
    if differ:
        yield f"What is proved is not the same for all: they differ in {listed(differ)}."


def _alike(found: Mapping[float, object]) -> list[list[float]]:
    """Epsilons in groups of which the same was found, in their order."""
    groups: list[tuple[object, list[float]]] = []
    for epsilon, what in found.items():
        same = next((group for other, group in groups if other == what), None)
        if same is None:
            groups.append((what, [epsilon]))
        else:
            same.append(epsilon)
    return [group for _, group in groups]


def _at(epsilons: Sequence[float]) -> str:
    return f"at epsilon {listed([f'{epsilon:g}' for epsilon in epsilons])}"


def _of(some: int, n_logs: int, place: int) -> str:
    """So many logs; of how many is said once."""
    return f"{some} of {n_logs} logs" if place == 0 else str(some)

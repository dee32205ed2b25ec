"""Which setting comes nearest to the originals, in words, and no further than the figures go.

In: a comparison. Out: sentences. The promise: only what is proved is ranked, at each epsilon and on each log, and only where all
runs gave a result; a claim that is ahead is called a claim; a proof that an audit refuted counts as none; and being no better
than an empty log is no merit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from libra.charts.numbers import number
from libra.comparison.comparison import Comparison, Row

MEASURE = "dfg_l1"
NOTHING, NO_RESULT = "nothing that beats an empty log", "no result"
PROVED = "proved"


@dataclass
class _Race:
    """What is counted at one epsilon: on how many logs a setting is nearest, and on how many a claim is nearer still."""

    nearest: Counter[str] = field(default_factory=Counter)
    nearer: Counter[str] = field(default_factory=Counter)
    ties: int = 0


def nearest_of(comparison: Comparison, names: Mapping[str, str], refuted: Collection[str] = ()) -> list[str]:
    """Who is best, in sentences, of which the first is the answer.

    Args:
        comparison: What was found.
        names: What people read for a setting, by its label.
        refuted: The labels of those that an audit refuted.

    Example:
        >>> import libra, libra.example
        >>> found = libra.compare(libra.example.path(), mechanisms="libra", epsilon=8.0, seeds=1, cache=False)
        >>> nearest_of(found, {"libra": "libra"})
        ['Only libra is proved here, so there is nothing to rank it with.']
    """
    every = [row for log in comparison.logs for row in comparison.rows(log.name)]
    rows = [row for row in every if row.results]
    if not rows:
        return ["No run gave a result, so there is no best."]
    proved = {row.setting.label for row in rows if _is_proved(row, refuted)}
    ranked = {row.setting.label for row in rows if _is_proved(row, refuted) and row.epsilon is not None}
    races = {epsilon: _race(comparison, epsilon, refuted) for epsilon in sorted(comparison.epsilons)}
    return [
        _answer(races, len(comparison.logs), proved, ranked, names),
        *_claims(races, len(comparison.logs), names, {row.setting.label for row in rows if row.guarantee == PROVED}),
        *(f"An audit refuted what is promised of {names[label]}." for label in names if label in refuted),
        *_left_out(every, proved - ranked, names),
        *_unlike([row for row in rows if row.setting.label in ranked]),
    ]


def _is_proved(row: Row, refuted: Collection[str]) -> bool:
    return row.guarantee == PROVED and row.setting.label not in refuted


def _race(comparison: Comparison, epsilon: float, refuted: Collection[str]) -> _Race:
    race = _Race()
    for log in comparison.logs:
        rows = [row for row in comparison.rows(log.name) if row.epsilon in (epsilon, None) and _figure(row) is not None]
        proved = {row.setting.label: _figure(row) for row in rows if _is_proved(row, refuted) and row.epsilon is not None}
        others = {row.setting.label: _figure(row) for row in rows if not _is_proved(row, refuted)}
        best = min((mean for mean in proved.values() if mean is not None), default=None)
        empty = getattr(log.empty, MEASURE)
        if best is None:
            race.nearest[NO_RESULT] += 1
            continue
        first = [label for label, mean in proved.items() if number(mean) == number(best)]
        if empty is not None and best >= empty:
            first = [NOTHING]
        race.nearest.update(first)
        race.ties += len(first) > 1
        bound = best if empty is None else min(best, empty)
        race.nearer.update(label for label, mean in others.items() if mean is not None and mean < bound)
    return race


def _figure(row: Row) -> float | None:
    """What a row is ranked by; None where a run lacks, since those that came out may be the easy ones."""
    found = row.measure(MEASURE)
    return None if found is None or row.missing else found.mean


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
    told = "; ".join(
        f"at epsilon {_listed([f'{epsilon:g}' for epsilon in epsilons])} {_told(races[epsilons[0]], n_logs, names)}"
        for epsilons in _alike({epsilon: (race.nearest, race.ties) for epsilon, race in races.items()})
    )
    ties = " Those that are alike count both." if n_logs > 1 and any(race.ties for race in races.values()) else ""
    return f"Among what is proved, nearest to the original is: {told}.{ties}"


def _told(race: _Race, n_logs: int, names: Mapping[str, str]) -> str:
    order = [label for label in (*names, NOTHING, NO_RESULT) if race.nearest[label]]
    if n_logs == 1:
        alike = " alike" if race.ties else ""
        return _listed([names.get(label, label) for label in order]) + alike
    order.sort(key=lambda label: (label in (NOTHING, NO_RESULT), -race.nearest[label]))
    return _listed([f"{names.get(label, label)} on {_of(race.nearest[label], n_logs, i)}" for i, label in enumerate(order)])


def _claims(races: Mapping[float, _Race], n_logs: int, names: Mapping[str, str], called_proved: Collection[str]) -> Iterator[str]:
    """What is ahead without a proof, or with one that does not hold."""
    for label, name in names.items():
        ahead = {epsilon: race.nearer[label] for epsilon, race in races.items() if race.nearer[label]}
        if not ahead:
            continue
        where = [
            f"at epsilon {_listed([f'{epsilon:g}' for epsilon in epsilons])}"
            + (f" on {_of(ahead[epsilons[0]], n_logs, i)}" if n_logs > 1 else "")
            for i, epsilons in enumerate(_alike(ahead))
        ]
        why = "refuted" if label in called_proved else "claimed, not proved"
        yield f"{name} is nearer still {_listed(where)}, but {why}, so its epsilon is not comparable."


def _left_out(rows: Sequence[Row], fixed: Collection[str], names: Mapping[str, str]) -> Iterator[str]:
    """What is not ranked."""
    if fixed:
        who = _listed([names[label] for label in names if label in fixed])
        yield f"Not ranked, since epsilon is part of the setting: {who}."
    lacking = {row.setting.label for row in rows if row.missing}
    if lacking:
        who = _listed([names[label] for label in names if label in lacking])
        yield f"Not ranked where a run gave no result: {who}."


def _unlike(ranked: Sequence[Row]) -> Iterator[str]:
    """In what the promises differ that are ranked with each other."""
    units: dict[str, set[str | None]] = {}
    for row in ranked:
        units.setdefault(row.log, set()).add(row.unit)
    differ = [
        *(["whom they protect"] if any(len(of) > 1 for of in units.values()) else []),
        *(["their delta"] if len({row.delta for row in ranked} - {None}) > 1 else []),
    ]
    if differ:
        yield f"What is proved is not the same for all: they differ in {_listed(differ)}."


def _alike(found: Mapping[float, object]) -> list[list[float]]:
    """Epsilons in groups of which the same was found, in their order."""
    groups: list[list[float]] = []
    for epsilon, what in found.items():
        same = next((group for group in groups if found[group[0]] == what), None)
        if same is None:
            groups.append([epsilon])
        else:
            same.append(epsilon)
    return groups


def _of(some: int, n_logs: int, place: int) -> str:
    """So many logs; of how many is said once."""
    return f"{some} of {n_logs} logs" if place == 0 else str(some)


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last

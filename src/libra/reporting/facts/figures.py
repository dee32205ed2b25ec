"""Single figures for people: the value, how it is written, and what it means.

In: what `libra measure` found, or a count. Out: `Figure`s. Those of `libra measure` carry the name that they have in its JSON
(`empty.emd_freq` is `emd_freq` within `empty`), so that every figure of a page can be found there again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from libra.charts.numbers import MISSING, duration, number, share
from libra.measures import Utility

HOUR, DAY = 3600.0, 86400.0  # seconds
FEWEST_EVENTS = 0.01  # a difference below which more digits say nothing


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
        name: Its key in the JSON of `libra measure`, or a dotted name of its own such as `sizes.anonymized.cases`.
        value: The exact value; None where it is not defined.
        text: How it is written.
        meaning: What it says, in a few words.
    """

    name: str
    value: float | None
    text: str
    meaning: str


def _hours(value: float | None) -> str:
    return duration(None if value is None else HOUR * value)


def events(value: float | None) -> str:
    """A difference in events; below a hundredth more digits would say nothing.

    Example:
        >>> events(0.0), events(0.00098), events(1.234), events(None)
        ('0 events', '< 0.01 events', '1.23 events', '–')
    """  # noqa: RUF002  the dash of a missing figure
    if value is None:
        return MISSING
    return f"< {FEWEST_EVENTS:g} events" if 0 < value < FEWEST_EVENTS else f"{number(value)} events"


def _days(value: float | None) -> str:
    return duration(None if value is None else DAY * value)


def factor(decades: float | None) -> str:
    """A difference in powers of ten, as the factor that it is.

    Example:
        >>> factor(0.0), factor(1.0), factor(0.214)
        ('factor 1', 'factor 10', 'factor 1.64')
    """
    return MISSING if decades is None else f"factor {number(10**decades)}"


MEASURED: dict[str, tuple[Callable[[float | None], str], str]] = {
    "dfg_l1": (share, "differences of all step counts in sum, as a share of the original's steps"),
    "dfg_tv": (share, "share of steps that would have to be others to match the original's proportions"),
    "emd_freq": (number, "EMD Freq of the Libra paper, which does not look at labels"),
    "empty.emd_freq": (number, "EMD Freq of an empty log"),
    "variant_tv": (share, "share of cases that would have to follow another variant to match the original's proportions"),
    "unseen_variant_share": (share, "share of anonymized cases whose variant never occurs in the original"),
    "length_w1": (events, "mean difference of trace lengths, matched from shortest to longest"),
    "edge_duration_w1_log": (factor, "mean difference of step durations by edge, in powers of ten: 1 is a factor of ten"),
    "edge_duration_w1_relative": (share, "mean difference of step durations by edge, as a share of the mean step"),
    "edge_duration_w1_hours": (_hours, "mean difference of step durations by edge"),
    "emd_time": (_hours, "EMD Time of the Libra paper, which does not look at labels"),
    "empty.emd_time": (_hours, "EMD Time of an empty log"),
    "case_duration_w1_hours": (_hours, "mean difference of case durations, matched from shortest to longest"),
    "arrival_w1_days": (_days, "mean difference of the cases' starts, matched from first to last"),
}


def measured(found: Utility, *names: str) -> tuple[Figure, ...]:
    """Figures of `libra measure` by their names.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.measures import measure
        >>> log = simulate(cases=20)
        >>> [figure.text for figure in measured(measure(log, log), "dfg_l1", "length_w1")]
        ['0 %', '0 events']
    """
    return tuple(_measured(found, name) for name in names)


def _measured(found: Utility, name: str) -> Figure:
    written, meaning = MEASURED[name]
    value: float | None = getattr(found.empty, name.removeprefix("empty.")) if "." in name else getattr(found, name)
    return Figure(name, value, written(value), meaning)

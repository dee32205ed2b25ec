"""What is kept of a log, aspect by aspect: a verdict, a sentence that needs no statistics, and the figures behind both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from libra.eventlog.log import EventLog
from libra.measures import Utility
from libra.reporting.facts.pair import Pair
from libra.reporting.facts.yardsticks import Yardsticks
from libra.reporting.numbers import MISSING, count, duration, number, share
from libra.reporting.text import listed

Verdict = Literal["kept", "close", "rough", "lost", "unknown"]
BOUNDS: tuple[tuple[Verdict, float], ...] = (("kept", 0.05), ("close", 0.2), ("rough", 0.6))
NEAR = 1.25  # times the distance of a fresh sample
FROM_BEST: tuple[Verdict, ...] = ("kept", "close", "rough", "lost")
MEANINGS: dict[Verdict, str] = {
    "kept": "as good as a fresh sample of the original, or next to equal",
    "close": "right, with figures a little off",
    "rough": "the coarse shape is right, details are not",
    "lost": "not to be relied on",
    "unknown": "cannot be said",
}


def verdict_of(value: float | None, sample: float | None, empty: float | None) -> Verdict:
    """Judge a distance by those of a fresh sample and of an empty log; the module's text has the rule and its reasons.

    Example:
        >>> [verdict_of(value, sample=0.3, empty=1.0) for value in (0.0, 0.3, 0.31, 0.4, 0.61)]
        ['kept', 'kept', 'close', 'rough', 'lost']
        >>> verdict_of(7.0, sample=7.0, empty=1.0), verdict_of(None, sample=None, empty=1.0)
        ('lost', 'unknown')
    """
    if value is None or empty is None:
        return "unknown"
    farthest = BOUNDS[-1][1] * empty
    by_scale: Verdict = next((verdict for verdict, bound in BOUNDS if value <= bound * empty), "lost")
    if sample is None or sample > farthest or value > NEAR * sample:
        return by_scale
    return better("kept" if value <= sample else "close", by_scale)


def better(one: Verdict, other: Verdict) -> Verdict:
    """The better of two verdicts, neither of them unknown."""
    return min(one, other, key=FROM_BEST.index)


def worse(one: Verdict, other: Verdict) -> Verdict:
    """The worse of two verdicts, neither of them unknown."""
    return max(one, other, key=FROM_BEST.index)


def middle(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict in the middle, those that are unknown aside: more than half of them are this good or better.

    One bad aspect does not condemn a log, as most questions do not need it; nor does one good aspect save it.
    """
    known = sorted(FROM_BEST.index(verdict) for verdict in verdicts if verdict != "unknown")
    return FROM_BEST[known[len(known) // 2]] if known else "unknown"


HOUR, DAY = 3600.0, 86400.0  # seconds
FEWEST_EVENTS = 0.01  # a difference below which more digits say nothing


@dataclass(frozen=True)
class Figure:
    """A figure."""

    name: str  # its key in the JSON of `libra measure`, or a dotted name of its own such as `sizes.anonymized.cases`
    value: float | None  # the exact value; None where it is not defined
    text: str  # how it is written
    meaning: str  # what it says, in a few words


def _hours(value: float | None) -> str:
    return duration(None if value is None else HOUR * value)


def events(value: float | None) -> str:
    """A difference in events; below a hundredth more digits would say nothing."""
    if value is None:
        return MISSING
    return f"< {FEWEST_EVENTS:g} events" if 0 < value < FEWEST_EVENTS else f"{number(value)} events"


def _days(value: float | None) -> str:
    return duration(None if value is None else DAY * value)


def factor(decades: float | None) -> str:
    """A difference in powers of ten, as the factor that it is."""
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
    """Figures of `libra measure` by their names."""
    return tuple(_figure_of(found, name) for name in names)


def _figure_of(found: Utility, name: str) -> Figure:
    written, meaning = MEASURED[name]
    value: float | None = getattr(found.empty, name.removeprefix("empty.")) if "." in name else getattr(found, name)
    return Figure(name, value, written(value), meaning)


PLACEHOLDERS = "The timestamps of the anonymized log are placeholders and say nothing."
NOT_DEFINED = "There is nothing to compare here."
NOTHING_LEFT = "The anonymized log has no case, so nothing of it is left."
HOUR, DAY = 3600.0, 86400.0
OFF_BY = "a fresh sample of {} cases would be off by {}"
OF_A_SAMPLE = "of a fresh sample of {} cases, {}"


def about_cases(before: int, after: int) -> str:
    """How many cases there are."""
    if before == after:
        return f"There are {count(after)} cases, as many as in the original."
    change = f": {share(abs(after - before) / before)} {'more' if after > before else 'fewer'}" if before else ""
    return f"There are {count(after)} cases where the original has {count(before)}{change}."


def about_activities(kept: int, of: int, foreign: int, carried: float | None, by: Yardsticks) -> str:
    """Which activities come out, and how far their shares of all events are off."""
    said = [f"All {count(of)} activities come out" if kept == of else f"{count(kept)} of {count(of)} activities come out"]
    if kept:
        said[0] += "" if kept == of else f"; they carry {share(carried)} of the original's events"
        again = _again(by, share(by.sample_activity_tv), OF_A_SAMPLE)
        said.append(
            f"{share(by.activity_tv)} of the events would have to be other activities to match the original's proportions{again}"
        )
    if foreign:
        are = "1 activity is" if foreign == 1 else f"{count(foreign)} activities are"
        said.append(f"{are} not in the original at all: these two logs do not belong together")
    return ". ".join(said) + "."


def about_edges(by: Yardsticks) -> str:
    """How far the counts of steps are off."""
    off, again = share(by.anonymized.dfg_l1), _again(by, share(by.sample.dfg_l1))
    return f"The counts of steps from one activity to the next are off by {off} in sum{again}."


def about_variants(by: Yardsticks) -> str:
    """How many cases follow other variants."""
    found = by.anonymized
    again = _again(by, share(by.sample.variant_tv), OF_A_SAMPLE)
    return (
        f"{share(found.variant_tv)} of the cases would have to follow another variant to match the original's proportions"
        f"{again}. {share(found.unseen_variant_share)} follow a variant that the original never has."
    )


def about_lengths(original: EventLog, by: Yardsticks) -> str:
    """How far trace lengths are off."""
    mean = original.n_events / max(original.n_cases, 1)
    return (
        f"Matched from shortest to longest, traces differ by {events(by.anonymized.length_w1)} on average"
        f"{_again(by, events(by.sample.length_w1))}. The original's have {events(mean)}."
    )


def about_step_durations(by: Yardsticks) -> str:
    """By what factor step durations are off."""
    found, again = (
        None if one.edge_duration_w1_log is None else 10**one.edge_duration_w1_log for one in (by.anonymized, by.sample)
    )
    said = _again(by, number(again), "those of a fresh sample of {} cases by {}")
    return f"Matched from shortest to longest on each edge, durations of steps differ by a factor of about {number(found)}{said}."


def about_case_durations(by: Yardsticks) -> str:
    """How far case durations are off."""
    found, again, mean = (duration(HOUR * one.case_duration_w1_hours) for one in (by.anonymized, by.sample, by.empty))
    return (
        f"Matched from shortest to longest, cases differ in duration by {found} on average{_again(by, again)}. "
        f"The original's take {mean}."
    )


def about_arrivals(by: Yardsticks) -> str:
    """How far the starts of cases are off."""
    days = (by.anonymized.arrival_w1_days, by.sample.arrival_w1_days, by.empty_arrival_days)
    found, again, spread = (duration(None if one is None else DAY * one) for one in days)
    return (
        f"Matched from first to last, cases begin {found} earlier or later on average{_again(by, again)}. "
        f"The original's begin {spread} from the middle one."
    )


def _again(by: Yardsticks, text: str, said: str = OFF_BY) -> str:
    return f"; {said.format(count(by.sample_cases), text)}" if by.sample_cases else ""


TIMED = ("step_durations", "case_durations", "arrivals")
GOOD_FOR = {
    "cases": "numbers of cases",
    "activities": "activities",
    "edges": "process maps",
    "variants": "variants",
    "lengths": "trace lengths",
    "step_durations": "step durations",
    "case_durations": "case durations",
    "arrivals": "arrivals",
}
STEP_FIGURES = ("edge_duration_w1_log", "edge_duration_w1_relative", "edge_duration_w1_hours", "emd_time", "empty.emd_time")


@dataclass(frozen=True)
class Aspect:
    """One aspect of a log, judged. Confidential."""

    key: str  # a name for programs, one of those of `GOOD_FOR`
    title: str  # a name for people
    verdict: Verdict  # how much of it is kept; `verdicts.MEANINGS` says what the word stands for
    sentence: str  # what that comes to, for somebody who does not know the measure
    figures: tuple[Figure, ...]  # the figures, the most telling one first
    value: float | None  # the distance that was judged: 0 is equal
    sample: float | None  # that of a fresh sample of the original
    empty: float | None  # that of an empty log


def aspects_of(pair: Pair, yardsticks: Yardsticks | None, *, has_times: bool = True) -> tuple[Aspect, ...]:
    """Judge all aspects; `has_times` says whether the anonymized log's timestamps mean anything."""
    if pair.original is None or yardsticks is None:
        return ()
    original, by = pair.original, yardsticks
    judged: tuple[Aspect, ...] = (
        _cases(original, pair.anonymized),
        _activities(original, pair.anonymized, by),
        _measured(by, "edges", "Steps", ("dfg_l1", "dfg_tv", "emd_freq", "empty.emd_freq"), about_edges(by)),
        _measured(by, "variants", "Variants", ("variant_tv", "unseen_variant_share"), about_variants(by)),
        _measured(by, "lengths", "Trace lengths", ("length_w1",), about_lengths(original, by)),
        _measured(by, "step_durations", "Step durations", STEP_FIGURES, about_step_durations(by)),
        _measured(by, "case_durations", "Case durations", ("case_duration_w1_hours",), about_case_durations(by)),
        _measured(by, "arrivals", "Arrivals", ("arrival_w1_days",), about_arrivals(by)),
    )
    if not original.n_cases:
        return tuple(replace(aspect, verdict="unknown") for aspect in judged)
    if not pair.anonymized.n_cases:
        judged = (judged[0], *(_of_nothing(aspect) for aspect in judged[1:]))
    return judged if has_times else tuple(_without_times(aspect) for aspect in judged)


def overall(aspects: Sequence[Aspect]) -> Verdict:
    """One verdict for the log: the one in the middle (see `verdicts.middle`), or that on its steps if it is worse.

    Process mining begins with a process map: a log whose steps are rough is not called better than that.
    """
    together = middle([aspect.verdict for aspect in aspects])
    steps = [aspect.verdict for aspect in aspects if aspect.key == "edges" and aspect.verdict != "unknown"]
    return together if together == "unknown" else max((together, *steps), key=FROM_BEST.index)


def summary_of(aspects: Sequence[Aspect]) -> str:
    """What the log is good for and what not, in a few words; empty where nothing was judged."""
    kinds: tuple[tuple[str, tuple[Verdict, ...]], ...] = (
        ("Good for", ("kept", "close")),
        ("Rough:", ("rough",)),
        ("Lost:", ("lost",)),
        ("Not measured:", ("unknown",)),
    )
    named = ((words, [GOOD_FOR[one.key] for one in aspects if one.verdict in verdicts]) for words, verdicts in kinds)
    return " ".join(f"{words} {listed(names)}." for words, names in named if names)


def _cases(original: EventLog, anonymized: EventLog) -> Aspect:
    before, after = original.n_cases, anonymized.n_cases
    value, empty = (abs(after - before) / before, 1.0) if before else (None, None)
    figures = (
        Figure(
            "aspects.cases.difference", value, share(value), "difference of the number of cases, as a share of the original's"
        ),
        *_sizes("cases", before, after),
        *_sizes("events", original.n_events, anonymized.n_events),
    )
    sentence = about_cases(before, after)
    return Aspect("cases", "Cases", verdict_of(value, None, empty), sentence, figures, value, None, empty)


def _activities(original: EventLog, anonymized: EventLog, by: Yardsticks) -> Aspect:
    """Activities are judged by their shares of events, and by whether they are there at all: the worse of both counts."""
    labels, released = original.activities, set(anonymized.activities)
    is_kept = np.array([label in released for label in labels], bool)
    kept = int(is_kept.sum())
    events = np.bincount(original.activity_codes, minlength=len(labels))
    carried = int(events[is_kept].sum()) / original.n_events if original.n_events else None
    value, sample, empty = by.activity_tv, by.sample_activity_tv, by.empty_activity_tv
    gone = len(labels) - kept
    figures = (
        Figure(
            "aspects.activities.vanished", gone, _vanished(gone, len(labels)), "activities of the original that do not come out"
        ),
        Figure("aspects.activities.tv", value, share(value), "half the summed differences of the activities' shares of events"),
        Figure("aspects.activities.carried", carried, share(carried), "share of the original's events whose activity comes out"),
        Figure("aspects.activities.kept", kept, count(kept), "activities of the original that come out"),
        *_sizes("activities", len(labels), len(released)),
    )
    sentence = about_activities(kept, len(labels), len(released) - kept, carried, by)
    at_best: Verdict = "kept" if not gone else "close" if kept >= gone else "lost"
    verdict = worse(at_best, verdict_of(value, sample, empty))
    return Aspect("activities", "Activities", verdict, sentence, figures, value, sample, empty)


def _vanished(gone: int, of: int) -> str:
    return f"{count(gone)} of {count(of)} vanished" if gone else "none vanished"


def _sizes(what: str, before: int, after: int) -> tuple[Figure, Figure]:
    return (
        Figure(f"sizes.original.{what}", before, count(before), f"{what} of the original"),
        Figure(f"sizes.anonymized.{what}", after, count(after), f"{what} of the anonymized log"),
    )


def _measured(by: Yardsticks, key: str, title: str, names: tuple[str, ...], sentence: str) -> Aspect:
    """An aspect that is judged by a figure of `libra measure`."""
    value, sample, empty = (_figure(found, names[0]) for found in (by.anonymized, by.sample, by.empty))
    if key == "arrivals":
        empty = by.empty_arrival_days
    said = NOT_DEFINED if value is None else sentence
    return Aspect(key, title, verdict_of(value, sample, empty), said, measured(by.anonymized, *names), value, sample, empty)


def _figure(found: Utility, name: str) -> float | None:
    value: float | None = getattr(found, name)
    return value


def _of_nothing(aspect: Aspect) -> Aspect:
    """An aspect of an empty log: what it measures is as far away as can be, also where that has no figure."""
    return replace(aspect, verdict="lost", sentence=NOTHING_LEFT, value=aspect.empty)


def _without_times(aspect: Aspect) -> Aspect:
    if aspect.key not in TIMED:
        return aspect
    return replace(aspect, verdict="unknown", sentence=PLACEHOLDERS, value=None, sample=None, empty=None)

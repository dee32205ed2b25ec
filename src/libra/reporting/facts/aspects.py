"""What is kept of a log, aspect by aspect: a verdict, a sentence that needs no statistics, and the figures behind both.

There are always the same eight aspects; none in public mode, because all of them compare with the original. Distances are held
against those of an empty log and of fresh samples of the original: drawn from its cases with replacement and fixed seeds, as many
as the anonymized log has, they are what the same process might have written, had nothing been anonymized.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

import numpy as np

from libra._system.randomness import Randomness
from libra.eventlog.cases import DAY, cases_of
from libra.eventlog.log import EventLog, empty_log
from libra.eventlog.names import START_TIMESTAMP
from libra.measures.distances import total_variation
from libra.measures.utility import FIGURES, Utility, measure
from libra.mechanisms.fresh_log import log_of
from libra.reporting.facts.pair import Pair
from libra.reporting.numbers import MISSING, count, duration, number, share
from libra.reporting.text import listed

Verdict = Literal["kept", "close", "rough", "lost", "unknown"]
Written = Callable[[float | None], str]
SEED = 1
DRAWS = 5  # samples of which the one in the middle counts: one alone may lie anywhere
MANY_CASES = 20_000  # from which on one is enough, since large samples hardly differ
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
TIMED = ("step_durations", "case_durations", "arrivals")
SUMMARY: tuple[tuple[str, tuple[Verdict, ...]], ...] = (
    ("Good for", ("kept", "close")),
    ("Rough:", ("rough",)),
    ("Lost:", ("lost",)),
    ("Not measured:", ("unknown",)),
)
PLACEHOLDERS = "The timestamps of the anonymized log are placeholders and say nothing."
NOT_DEFINED = "There is nothing to compare here."
NOTHING_LEFT = "The anonymized log has no case, so nothing of it is left."
OFF_BY, OF_A_SAMPLE = "a fresh sample of {} cases would be off by {}", "of a fresh sample of {} cases, {}"
FEWEST_EVENTS = 0.01  # a difference below which more digits say nothing


@dataclass(frozen=True)
class Figure:
    """A figure, which is None where it is not defined: its name for programs, how it is written, and what it says.

    Figures of `libra measure` carry the name that they have in its JSON (`empty.emd_freq` is `emd_freq` within `empty`).
    """

    name: str
    value: float | None
    text: str
    meaning: str


@dataclass(frozen=True)
class Aspect:
    """One aspect of a log, judged. Confidential."""

    key: str  # a name for programs, one of those of `ASPECTS`
    title: str  # a name for people
    verdict: Verdict
    sentence: str  # what that comes to, for somebody who does not know the measure
    figures: tuple[Figure, ...]  # the most telling one first
    value: float | None  # the distance that was judged: 0 is equal
    sample: float | None  # that of a fresh sample of the original
    empty: float | None  # that of an empty log


@dataclass(frozen=True)
class Yardsticks:
    """The figures of `libra measure` for three logs, each against the original, and two that it does not have. Confidential."""

    anonymized: Utility  # of the anonymized log
    sample: Utility  # of a sample of the original's cases, the median of some
    empty: Utility  # of a log without cases
    sample_cases: int  # how many cases the sample has
    activity_tv: tuple[float, float, float]  # half the summed differences of the activities' shares of events, of the three logs
    # what stands for an empty log's arrivals, which have no figure: the mean distance of the original's starts from their median,
    # in days, as if all cases had begun at once. None where the original has no case
    empty_arrival_days: float | None


def events(value: float | None) -> str:
    """A difference in events; below a hundredth more digits would say nothing."""
    if value is None:
        return MISSING
    return f"< {FEWEST_EVENTS:g} events" if 0 < value < FEWEST_EVENTS else f"{number(value)} events"


def hours(value: float | None) -> str:
    """A duration given in hours."""
    return duration(None if value is None else 3600.0 * value)


def days(value: float | None) -> str:
    """A duration given in days."""
    return duration(None if value is None else 86400.0 * value)


def factor(decades: float | None) -> str:
    """A difference in powers of ten, as the factor that it is."""
    return MISSING if decades is None else f"factor {number(10**decades)}"


MEASURED: dict[str, tuple[Written, str]] = {
    "dfg_l1": (share, "differences of all step counts in sum, as a share of the original's steps"),
    "dfg_tv": (share, "share of steps that would have to be others to match the original's proportions"),
    "emd_freq": (number, "EMD Freq of the Libra paper, which does not look at labels"),
    "empty.emd_freq": (number, "EMD Freq of an empty log"),
    "variant_tv": (share, "share of cases that would have to follow another variant to match the original's proportions"),
    "unseen_variant_share": (share, "share of anonymized cases whose variant never occurs in the original"),
    "length_w1": (events, "mean difference of trace lengths, matched from shortest to longest"),
    "edge_duration_w1_log": (factor, "mean difference of step durations by edge, in powers of ten: 1 is a factor of ten"),
    "edge_duration_w1_relative": (share, "mean difference of step durations by edge, as a share of the mean step"),
    "edge_duration_w1_hours": (hours, "mean difference of step durations by edge"),
    "emd_time": (hours, "EMD Time of the Libra paper, which does not look at labels"),
    "empty.emd_time": (hours, "EMD Time of an empty log"),
    "case_duration_w1_hours": (hours, "mean difference of case durations, matched from shortest to longest"),
    "arrival_w1_days": (days, "mean difference of the cases' starts, matched from first to last"),
}
BY_EDGE = ("edge_duration_w1_log", "edge_duration_w1_relative", "edge_duration_w1_hours", "emd_time", "empty.emd_time")
ASPECTS: dict[str, tuple[str, str, tuple[str, ...]]] = {  # title, what it is good for, figures of which the first is judged
    "cases": ("Cases", "numbers of cases", ()),
    "activities": ("Activities", "activities", ()),
    "edges": ("Steps", "process maps", ("dfg_l1", "dfg_tv", "emd_freq", "empty.emd_freq")),
    "variants": ("Variants", "variants", ("variant_tv", "unseen_variant_share")),
    "lengths": ("Trace lengths", "trace lengths", ("length_w1",)),
    "step_durations": ("Step durations", "step durations", BY_EDGE),
    "case_durations": ("Case durations", "case durations", ("case_duration_w1_hours",)),
    "arrivals": ("Arrivals", "arrivals", ("arrival_w1_days",)),
}


def words_of(aspect: Aspect) -> Written:
    """How the distance that an aspect is judged by is written."""
    figures = ASPECTS[aspect.key][2]
    return MEASURED[figures[0]][0] if figures else share


def aspects_of(pair: Pair, *, has_times: bool = True) -> tuple[Aspect, ...]:
    """Judge all aspects; `has_times` says whether the anonymized log's timestamps mean anything."""
    if pair.original is None:
        return ()
    by = yardsticks_of(pair.original, pair.anonymized)
    measured = (_measured(by, key, sentence) for key, sentence in _sentences(pair.original, by).items())
    judged = (_cases(pair.original, pair.anonymized), _activities(pair.original, pair.anonymized, by), *measured)
    if not pair.original.n_cases:
        return tuple(replace(aspect, verdict="unknown") for aspect in judged)
    if not pair.anonymized.n_cases:  # what they measure is as far away as can be, also where that has no figure
        lost = (replace(aspect, verdict="lost", sentence=NOTHING_LEFT, value=aspect.empty) for aspect in judged[1:])
        judged = (judged[0], *lost)
    if has_times:
        return judged
    unknown = {"sentence": PLACEHOLDERS, "value": None, "sample": None, "empty": None}
    return tuple(replace(one, verdict="unknown", **unknown) if one.key in TIMED else one for one in judged)  # type: ignore[arg-type]  # fields of an aspect


def yardsticks_of(original: EventLog, anonymized: EventLog) -> Yardsticks:
    """Measure the anonymized log, samples of the original and nothing."""
    cases, nothing = anonymized.n_cases or original.n_cases, empty_log(original)
    samples = [sample_of(original, cases, seed) for seed in range(SEED, SEED + (DRAWS if cases <= MANY_CASES else 1))]
    found = [measure(original, sample) for sample in samples]
    middle: dict[str, float | None] = {}
    for name in FIGURES:
        values = [getattr(one, name) for one in found]
        middle[name] = None if None in values else median(values)
    of_samples = median(activity_tv(original, sample) for sample in samples)
    starts = np.sort(original.case_spans[0])
    return Yardsticks(
        anonymized=measure(original, anonymized),
        sample=replace(found[0], **middle),  # type: ignore[arg-type]  # fields that are never None have no None among their values
        empty=measure(original, nothing),
        sample_cases=samples[0].n_cases,
        activity_tv=(activity_tv(original, anonymized), of_samples, activity_tv(original, nothing)),
        empty_arrival_days=float(np.abs(starts - starts[len(starts) // 2]).mean()) / DAY if len(starts) else None,
    )


def sample_of(log: EventLog, cases: int, seed: int = SEED) -> EventLog:
    """So many cases of a log, drawn with replacement, under ids of their own."""
    if not log.n_cases:
        return empty_log(log)
    rows, whole = Randomness(seed).below(log.n_cases, cases), cases_of(log)
    sample = log_of(whole.take(rows), log.activities, seeded=True)
    if log.instances != "pair":
        return sample
    events = replace(whole, codes=np.arange(log.n_events)).take(rows).codes
    return replace(sample, events=sample.events.with_columns(log.events[START_TIMESTAMP][events]), instances="pair")


def activity_tv(original: EventLog, other: EventLog) -> float:
    """Half the summed differences of the activities' shares of events: 0 for equal ones, 1 where no activity is common."""
    labels = sorted({*original.activities, *other.activities})
    by_label = [
        dict(zip(log.activities, np.bincount(log.activity_codes, minlength=len(log.activities)).tolist(), strict=True))
        for log in (original, other)
    ]
    return total_variation(*(np.array([of.get(label, 0) for label in labels], np.int64) for of in by_label))


def verdict_of(value: float | None, sample: float | None, empty: float | None) -> Verdict:
    """Judge a distance by those of a fresh sample and of an empty log.

    The scale is the same for every aspect and every log: 0 is an equal log, 1 is where an empty log stands. Its bounds are round
    numbers that were not fitted to any log: up to a twentieth nobody would draw another conclusion, up to a fifth the picture is
    right, up to three fifths only the coarse shape is, and beyond that one sees more noise than process. But who drew the cases
    of the same process once more would not get equal figures either: what is as near as a fresh sample counts as kept, and what
    is a quarter farther at most as close. If that sample is itself beyond three fifths, the scale alone decides.
    """
    if value is None or empty is None:
        return "unknown"
    by_scale: Verdict = next((verdict for verdict, bound in BOUNDS if value <= bound * empty), "lost")
    if sample is None or sample > BOUNDS[-1][1] * empty or value > NEAR * sample:
        return by_scale
    return min("kept" if value <= sample else "close", by_scale, key=FROM_BEST.index)


def middle(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict in the middle, those that are unknown aside: more than half of them are this good or better.

    One bad aspect does not condemn a log, as most questions do not need it; nor does one good aspect save it.
    """
    known = sorted(FROM_BEST.index(verdict) for verdict in verdicts if verdict != "unknown")
    return FROM_BEST[known[len(known) // 2]] if known else "unknown"


def overall(aspects: Sequence[Aspect]) -> Verdict:
    """One verdict for the log: the one in the middle, or that on its steps if it is worse.

    Process mining begins with a process map: a log whose steps are rough is not called better than that.
    """
    together = middle([aspect.verdict for aspect in aspects])
    steps = [aspect.verdict for aspect in aspects if aspect.key == "edges" and aspect.verdict != "unknown"]
    return together if together == "unknown" else max((together, *steps), key=FROM_BEST.index)


def summary_of(aspects: Sequence[Aspect]) -> str:
    """What the log is good for and what not, in a few words; empty where nothing was judged."""
    named = ((words, [ASPECTS[one.key][1] for one in aspects if one.verdict in verdicts]) for words, verdicts in SUMMARY)
    return " ".join(f"{words} {listed(names)}." for words, names in named if names)


def _cases(original: EventLog, anonymized: EventLog) -> Aspect:
    before, after = original.n_cases, anonymized.n_cases
    value, empty = (abs(after - before) / before, 1.0) if before else (None, None)
    meaning = "difference of the number of cases, as a share of the original's"
    figures = (
        Figure("aspects.cases.difference", value, share(value), meaning),
        *_sizes("cases", before, after),
        *_sizes("events", original.n_events, anonymized.n_events),
    )
    change = f": {share(value)} {'more' if after > before else 'fewer'}" if before else ""
    said = f"There are {count(after)} cases where the original has {count(before)}{change}."
    if before == after:
        said = f"There are {count(after)} cases, as many as in the original."
    return Aspect("cases", "Cases", verdict_of(value, None, empty), said, figures, value, None, empty)


def _activities(original: EventLog, anonymized: EventLog, by: Yardsticks) -> Aspect:
    """Activities are judged by their shares of events, and by whether they are there at all: the worse of both counts.

    Shares alone would be too kind: whoever looks for a rare activity and finds none draws a wrong conclusion. So activities are
    kept only if none vanished, at best close if some did, and lost if more than half did.
    """
    labels, released = original.activities, set(anonymized.activities)
    is_kept = np.array([label in released for label in labels], bool)
    kept, of = int(is_kept.sum()), len(labels)
    counts = np.bincount(original.activity_codes, minlength=of)
    carried = int(counts[is_kept].sum()) / original.n_events if original.n_events else None
    value, sample, empty = by.activity_tv
    gone, foreign = of - kept, len(released) - kept
    vanished = f"{count(gone)} of {count(of)} vanished" if gone else "none vanished"
    figures = (
        Figure("aspects.activities.vanished", gone, vanished, "activities of the original that do not come out"),
        Figure("aspects.activities.tv", value, share(value), "half the summed differences of the activities' shares of events"),
        Figure("aspects.activities.carried", carried, share(carried), "share of the original's events whose activity comes out"),
        Figure("aspects.activities.kept", kept, count(kept), "activities of the original that come out"),
        *_sizes("activities", of, len(released)),
    )
    said = [f"{count(kept)} of {count(of)} activities come out" if gone else f"All {count(of)} activities come out"]
    if kept:
        said[0] += f"; they carry {share(carried)} of the original's events" if gone else ""
        again = _again(by, share(sample), OF_A_SAMPLE)
        said.append(f"{share(value)} of the events would have to be other activities to match the original's proportions{again}")
    if foreign:
        are = "1 activity is" if foreign == 1 else f"{count(foreign)} activities are"
        said.append(f"{are} not in the original at all: these two logs do not belong together")
    at_best: Verdict = "kept" if not gone else "close" if kept >= gone else "lost"
    verdict = max(at_best, verdict_of(value, sample, empty), key=FROM_BEST.index)
    return Aspect("activities", "Activities", verdict, ". ".join(said) + ".", figures, value, sample, empty)


def _sizes(what: str, before: int, after: int) -> tuple[Figure, Figure]:
    return (
        Figure(f"sizes.original.{what}", before, count(before), f"{what} of the original"),
        Figure(f"sizes.anonymized.{what}", after, count(after), f"{what} of the anonymized log"),
    )


def _measured(by: Yardsticks, key: str, sentence: str) -> Aspect:
    """An aspect that is judged by a figure of `libra measure`."""
    title, _, names = ASPECTS[key]
    value, sample, empty = (getattr(found, names[0]) for found in (by.anonymized, by.sample, by.empty))
    if key == "arrivals":
        empty = by.empty_arrival_days
    figures = []
    for name in names:
        written, meaning = MEASURED[name]
        figure = getattr(by.anonymized.empty if "." in name else by.anonymized, name.removeprefix("empty."))
        figures.append(Figure(name, figure, written(figure), meaning))
    said = NOT_DEFINED if value is None else sentence
    return Aspect(key, title, verdict_of(value, sample, empty), said, tuple(figures), value, sample, empty)


def _sentences(original: EventLog, by: Yardsticks) -> dict[str, str]:
    """What the measured aspects come to, by their key."""
    found, sample = by.anonymized, by.sample
    again = {key: MEASURED[names[0]][0](getattr(sample, names[0])) for key, (_, _, names) in ASPECTS.items() if names}
    off = {key: _again(by, text) for key, text in again.items()}
    of_steps = _again(by, again["step_durations"].removeprefix("factor "), "those of a fresh sample of {} cases by {}")
    return {
        "edges": f"The counts of steps from one activity to the next are off by {share(found.dfg_l1)} in sum{off['edges']}.",
        "variants": f"{share(found.variant_tv)} of the cases would have to follow another variant to match the original's "
        f"proportions{_again(by, again['variants'], OF_A_SAMPLE)}. {share(found.unseen_variant_share)} follow a variant that the "
        "original never has.",
        "lengths": f"Matched from shortest to longest, traces differ by {events(found.length_w1)} on average{off['lengths']}. "
        f"The original's have {events(original.n_events / max(original.n_cases, 1))}.",
        "step_durations": "Matched from shortest to longest on each edge, durations of steps differ by a factor of about "
        f"{factor(found.edge_duration_w1_log).removeprefix('factor ')}{of_steps}.",
        "case_durations": f"Matched from shortest to longest, cases differ in duration by {hours(found.case_duration_w1_hours)} "
        f"on average{off['case_durations']}. The original's take {hours(by.empty.case_duration_w1_hours)}.",
        "arrivals": f"Matched from first to last, cases begin {days(found.arrival_w1_days)} earlier or later on average"
        f"{off['arrivals']}. In the original, cases start {days(by.empty_arrival_days)} from the median start on average.",
    }


def _again(by: Yardsticks, text: str, said: str = OFF_BY) -> str:
    return f"; {said.format(count(by.sample_cases), text)}" if by.sample_cases else ""

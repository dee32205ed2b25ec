"""What is kept of a log, aspect by aspect: a verdict, a sentence that needs no statistics, and the figures behind both.

In: two logs and their yardsticks. Out: `Aspect`s, always the same eight in the same order; none in public mode, because all of
them compare with the original. The first figure of an aspect is the one that is judged; of activities it is how many vanished,
which can only make the verdict worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from libra.charts.numbers import count, share
from libra.eventlog.log import EventLog
from libra.measures import Utility
from libra.reporting.facts import sentences
from libra.reporting.facts.figures import Figure, measured
from libra.reporting.facts.pair import Pair
from libra.reporting.facts.verdicts import FROM_BEST, Verdict, middle, verdict_of, worse
from libra.reporting.facts.yardsticks import Yardsticks

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
    """One aspect of a log, judged. Confidential.

    Attributes:
        key: A name for programs, one of those of `GOOD_FOR`.
        title: A name for people.
        verdict: How much of it is kept; `verdicts.MEANINGS` says what the word stands for.
        sentence: What that comes to, for somebody who does not know the measure.
        figures: The figures, the most telling one first.
        value: The distance that was judged: 0 is equal.
        sample: That of a fresh sample of the original.
        empty: That of an empty log.
    """

    key: str
    title: str
    verdict: Verdict
    sentence: str
    figures: tuple[Figure, ...]
    value: float | None
    sample: float | None
    empty: float | None


def aspects_of(pair: Pair, yardsticks: Yardsticks | None, *, has_times: bool = True) -> tuple[Aspect, ...]:
    """Judge all aspects; `has_times` says whether the anonymized log's timestamps mean anything.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.reporting.facts.yardsticks import yardsticks_of
        >>> pair = Pair(simulate(cases=50), simulate(cases=50))
        >>> {aspect.verdict for aspect in aspects_of(pair, yardsticks_of(pair))}
        {'kept'}
    """
    if pair.original is None or yardsticks is None:
        return ()
    original, by = pair.original, yardsticks
    judged: tuple[Aspect, ...] = (
        _cases(original, pair.anonymized),
        _activities(original, pair.anonymized, by),
        _measured(by, "edges", "Steps", ("dfg_l1", "dfg_tv", "emd_freq", "empty.emd_freq"), sentences.about_edges(by)),
        _measured(by, "variants", "Variants", ("variant_tv", "unseen_variant_share"), sentences.about_variants(by)),
        _measured(by, "lengths", "Trace lengths", ("length_w1",), sentences.about_lengths(original, by)),
        _measured(by, "step_durations", "Step durations", STEP_FIGURES, sentences.about_step_durations(by)),
        _measured(by, "case_durations", "Case durations", ("case_duration_w1_hours",), sentences.about_case_durations(by)),
        _measured(by, "arrivals", "Arrivals", ("arrival_w1_days",), sentences.about_arrivals(by)),
    )
    if not original.n_cases:
        return tuple(replace(aspect, verdict="unknown") for aspect in judged)
    if not pair.anonymized.n_cases:
        judged = (judged[0], *(_of_nothing(aspect) for aspect in judged[1:]))
    return judged if has_times else tuple(_without_times(aspect) for aspect in judged)


def overall(aspects: Sequence[Aspect]) -> Verdict:
    """One verdict for the log: the one in the middle (see `verdicts.middle`), or that on its steps if it is worse.

    Process mining begins with a process map: a log whose steps are rough is not called better than that.

    Example:
        >>> overall(())
        'unknown'
    """
    together = middle([aspect.verdict for aspect in aspects])
    steps = [aspect.verdict for aspect in aspects if aspect.key == "edges" and aspect.verdict != "unknown"]
    return together if together == "unknown" else max((together, *steps), key=FROM_BEST.index)


def summary_of(aspects: Sequence[Aspect]) -> str:
    """What the log is good for and what not, in a few words; empty where nothing was judged.

    Example:
        >>> one = Aspect("edges", "Steps", "kept", "", (), 0.0, 0.0, 1.0)
        >>> summary_of([one, replace(one, key="lengths", verdict="close"), replace(one, key="variants", verdict="lost")])
        'Good for process maps and trace lengths. Lost: variants.'
    """
    kinds: tuple[tuple[str, tuple[Verdict, ...]], ...] = (
        ("Good for", ("kept", "close")),
        ("Rough:", ("rough",)),
        ("Lost:", ("lost",)),
        ("Not measured:", ("unknown",)),
    )
    named = ((words, [GOOD_FOR[one.key] for one in aspects if one.verdict in verdicts]) for words, verdicts in kinds)
    return " ".join(f"{words} {listed(names)}." for words, names in named if names)


def listed(names: Sequence[str]) -> str:
    """Names in a row, as one would say them.

    Example:
        >>> listed(["a", "b", "c"]), listed(["a"])
        ('a, b and c', 'a')
    """
    return " and ".join((", ".join(names[:-1]), names[-1]) if len(names) > 1 else names)


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
    sentence = sentences.about_cases(before, after)
    return Aspect("cases", "Cases", verdict_of(value, None, empty), sentence, figures, value, None, empty)


def _activities(original: EventLog, anonymized: EventLog, by: Yardsticks) -> Aspect:
    """Activities are judged by their shares of events, and by whether they are there at all: the worse of both counts.

    Shares alone would be too kind. Rare activities weigh next to nothing in them, yet whoever looks for one and finds none draws
    a wrong conclusion. So they are kept only if none vanished, at best close if some did, and lost if more than half did.
    """
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
    sentence = sentences.about_activities(kept, len(labels), len(released) - kept, carried, by)
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
    said = sentences.NOT_DEFINED if value is None else sentence
    return Aspect(key, title, verdict_of(value, sample, empty), said, measured(by.anonymized, *names), value, sample, empty)


def _figure(found: Utility, name: str) -> float | None:
    value: float | None = getattr(found, name)
    return value


def _of_nothing(aspect: Aspect) -> Aspect:
    """An aspect of an empty log: what it measures is as far away as can be, also where that has no figure."""
    return replace(aspect, verdict="lost", sentence=sentences.NOTHING_LEFT, value=aspect.empty)


def _without_times(aspect: Aspect) -> Aspect:
    if aspect.key not in TIMED:
        return aspect
    return replace(aspect, verdict="unknown", sentence=sentences.PLACEHOLDERS, value=None, sample=None, empty=None)

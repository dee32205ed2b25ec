"""What not to conclude from an anonymized log.

In: the logs, what was judged, the certificate and the notes of the release. Out: `Warning`s, in the order of their weight. What
names or counts something of the original is left out in public mode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from libra.charts.numbers import count, share
from libra.charts.text import shown
from libra.measures.distances import total_variation
from libra.reporting.facts.aspects import Aspect
from libra.reporting.facts.attributes import attribute_count, held_back
from libra.reporting.facts.calendar import week_counts
from libra.reporting.facts.edges import edges_of
from libra.reporting.facts.of_mechanism import of_mechanism, of_the_promise
from libra.reporting.facts.pair import Pair
from libra.reporting.facts.warning import Warning  # noqa: A004  # the word of the page; nothing is raised here
from libra.reporting.facts.yardsticks import sample_of

BLURRED = 0.6  # of the way to an even week: as for verdicts
MOST_LABELS = 20
MOST_STEPS = 10
MOST_NOTES = 20


def warnings_of(
    pair: Pair,
    aspects: Sequence[Aspect] = (),
    certificate: Mapping[str, Any] | None = None,
    *,
    notes: Sequence[str] = (),
    has_times: bool = True,
) -> tuple[Warning, ...]:
    """Collect what holds of this log.

    Args:
        pair: The logs.
        aspects: What was judged; none in public mode.
        certificate: The certificate of the anonymized log; None where there is none.
        notes: What the release says of itself.
        has_times: Whether the anonymized log's timestamps mean anything.

    Example:
        >>> from libra.example.simulate import simulate
        >>> [warning.title for warning in warnings_of(Pair(None, simulate(cases=5)))][0]
        'Nothing is known of how this log was made'
    """
    promise = tuple(of_the_promise(certificate))
    notes = [note for note in notes if note not in {one.text for one in promise}]
    if not pair.anonymized.n_cases:
        return (*promise, *_of_nothing(pair), *_of_notes(notes))
    return (
        *_of_another_process(pair),
        *promise,
        *_of_what_is_lost(pair, aspects),
        *_of_activities(pair),
        *_of_steps(pair),
        *_of_variants(aspects),
        *(_of_hours(pair) if has_times else ()),
        *of_mechanism(certificate, has_times=has_times),
        *_of_attributes(pair),
        *_of_notes(notes),
    )


def _of_nothing(pair: Pair) -> Iterator[Warning]:
    if not pair.anonymized.n_cases:
        yield Warning("The anonymized log is empty", "That says nothing about the process: the original may be full of cases.")


def _of_another_process(pair: Pair) -> Iterator[Warning]:
    if pair.original is None:
        return
    foreign = set(pair.anonymized.activities) - set(pair.original.activities)
    if 2 * len(foreign) > len(pair.anonymized.activities):
        yield Warning(
            "Is this the right original?",
            f"{count(len(foreign))} of the anonymized log's {count(len(pair.anonymized.activities))} activities are not in it.",
        )


def _of_hours(pair: Pair) -> Iterator[Warning]:
    """Hours of the week that came out nearer to an even week than to the original's."""
    if pair.original is None or not pair.original.n_cases:
        return
    of_original, of_anonymized, of_sample = (
        week_counts(log) for log in (pair.original, pair.anonymized, sample_of(pair.original, pair.anonymized.n_cases))
    )
    even = total_variation(of_original, np.ones_like(of_original))
    found = total_variation(of_original, of_anonymized)
    if found > max(BLURRED * even, total_variation(of_original, of_sample)):
        yield Warning(
            "Hours of the week are blurred",
            f"{share(found)} of the events would have to happen in another hour of the week to match the original; if all hours "
            f"were alike it would be {share(even)}. Do not study working hours, shifts or nights with this log.",
        )


def _of_what_is_lost(pair: Pair, aspects: Sequence[Aspect]) -> Iterator[Warning]:
    lost = tuple(f"{aspect.title}: {aspect.sentence}" for aspect in aspects if aspect.verdict == "lost")
    if lost and pair.anonymized.n_cases:
        text = "In these respects the anonymized log is nearer to an empty log than to the original."
        yield Warning("Not to be relied on", text, lost)


def _of_activities(pair: Pair) -> Iterator[Warning]:
    """Activities that vanished, the most frequent first."""
    if pair.original is None or not pair.anonymized.n_cases:
        return
    labels, released = pair.original.activities, set(pair.anonymized.activities)
    gone = np.array([place for place, label in enumerate(labels) if label not in released], np.int64)
    if not len(gone):
        return
    counts = np.bincount(pair.original.activity_codes, minlength=len(labels))
    order = gone[np.argsort(-counts[gone], kind="stable")]
    part = share(int(counts[order].sum()) / pair.original.n_events)
    yield Warning(
        f"{count(len(order))} {'activity' if len(order) == 1 else 'activities'} vanished",
        f"Of the original's events, {part} do not come out for this reason. That an activity is missing does not mean that "
        f"nobody did it.{_and_more(len(order), MOST_LABELS)}",
        tuple(f"{shown(labels[place])}: {count(int(counts[place]))} events" for place in order[:MOST_LABELS].tolist()),
    )


def _of_steps(pair: Pair) -> Iterator[Warning]:
    """Steps that nobody took, the most frequent first."""
    if pair.original is None:
        return
    edges = edges_of(pair)
    taken = edges.use.anonymized.counts
    false = np.flatnonzero((taken > 0) & (edges.use.original.counts == 0))
    if not len(false):
        return
    false = false[np.argsort(-taken[false], kind="stable")]
    part = share(int(taken[false].sum()) / int(taken.sum()))
    listed = [(*edges.names[place], count(int(taken[place]))) for place in false[:MOST_STEPS].tolist()]
    yield Warning(
        "Some steps were taken by nobody",
        f"{count(len(false))} of the {count(int((taken > 0).sum()))} different steps from one activity to the next do not occur "
        f"in the original; {part} of all steps are of that kind. Draw no conclusion from a rare step by itself, neither from its "
        f"being there nor from its absence.{_and_more(len(false), MOST_STEPS)}",
        tuple(f"{shown(source)} → {shown(target)}: {times} times" for source, target, times in listed),
    )


def _of_variants(aspects: Sequence[Aspect]) -> Iterator[Warning]:
    unseen = [figure for aspect in aspects for figure in aspect.figures if figure.name == "unseen_variant_share" and figure.value]
    for figure in unseen:
        yield Warning(
            "Some variants were followed by nobody",
            f"{figure.text} of the anonymized cases follow a variant that the original never has. Never look up a single variant "
            "to learn whether somebody did just that.",
        )


def _and_more(found: int, most: int) -> str:
    return f" The {most} most frequent are listed, {count(found - most)} more are not." if found > most else ""


def _of_attributes(pair: Pair) -> Iterator[Warning]:
    withheld = held_back(pair)
    if withheld:
        more = len(withheld) - MOST_LABELS
        yield Warning(
            f"{count(len(withheld))} {'attribute was' if len(withheld) == 1 else 'attributes were'} not released",
            "Resources, costs and whatever else the original says of its cases and events cannot be studied with this log."
            + (f" {MOST_LABELS} are listed, {count(more)} more are not." if more > 0 else ""),
            tuple(map(shown, withheld[:MOST_LABELS])),
        )
    elif not attribute_count(pair):
        yield Warning("There are no attributes", "This log has activities and times, and nothing else of its cases and events.")


def _of_notes(notes: Sequence[str]) -> Iterator[Warning]:
    if notes:
        yield Warning("What the release says of itself", "These notes came with it.", tuple(notes)[:MOST_NOTES])

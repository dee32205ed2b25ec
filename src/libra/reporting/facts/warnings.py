"""What not to conclude from an anonymized log, because of how it was made and of what it looks like.

What names or counts something of the original is left out in public mode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from libra.eventlog.log import EventLog
from libra.measures.distances import total_variation
from libra.privacy.guarantee import TOO_WEAK, strength_of
from libra.reporting.facts.distributions import week_counts
from libra.reporting.facts.pair import Pair
from libra.reporting.facts.tables import attribute_names, edges_of
from libra.reporting.facts.yardsticks import sample_of
from libra.reporting.numbers import count, share
from libra.reporting.text import shown

Document = Mapping[str, Any] | None


@dataclass(frozen=True)
class Caution:
    """A warning of the page: what it is about, what to mind, and single points, if any. Labels in it are fit to be shown."""

    title: str
    text: str
    points: tuple[str, ...] = ()


EMPTY = Caution("The anonymized log is empty", "That says nothing about the process: the original may be full of cases.")
UNKNOWN = Caution(
    "Nothing is known of how this log was made",
    "No certificate that holds says how well this log protects anyone. Treat it as if it showed real cases.",
)
SEEDED = Caution(
    "Drawn with a seed", "Whoever knows or guesses the seed can undo the noise. This log is for tests: do not hand it out."
)
NOT_PROVED = "Nothing is proved about this log"
CLAIMED = "What is claimed for the mechanism is not proved. Do not rely on it to hand out personal data."
REAL_CASES = {
    "libra2022": "Each case in this log is a real one, its start moved by some days and its steps by some minutes.",
    "amun": "Every case of the original is in this log, some of them several times, with noise on their times.",
    "pripel": "Times and attributes in this log are taken from real cases and changed at random.",
}
COUNTS = {
    "libra2022": "Rare variants are left out; of the others, some cases are copied and some are dropped.",
    "amun": "Cases were copied until the noise was reached, so all counts are too large.",
}
MADE_UP = Caution(
    "Rare traces are made up",
    "Cases with a rare trace are not shown. New ones take their place, drawn from a model of how such cases go on. Most likely "
    "nobody followed exactly that trace: count frequent variants and frequent steps, and never look up a rare one. "
    "Dependencies between steps that are more than two apart are mostly lost in such traces; at best it is kept which "
    "activities occur together.",
)
NEAREST = Caution(
    "Rare traces are counted for others",
    "A case with a rare trace counts for the most similar frequent variant, so frequent variants have too many cases.",
)
LEFT_OUT = Caution("Rare traces are left out", "Only frequent variants are in this log. What rarely happens is missing.")
NOISE = Caution(
    "Small counts are noise", "All counts are noisy. What a few dozen cases do cannot be distinguished from what no case does."
)
PREFIXES = Caution(
    "Some traces are made of noise",
    "A trace that nobody followed can pass the threshold by noise alone. Rare traces and long ones are missing or cut.",
)
DRAWN_ANEW = Caution(
    "Times are drawn anew",
    "Starts follow the calendar by the week, steps their usual durations. Cases may begin before the first of the original or "
    "end after its last. How long the longest durations are is noise, so trust medians more than means. In small logs a "
    "few invented long steps can make a false bottleneck. Bursts within a week are lost. Whether slow cases take another path is "
    "kept for frequent variants and by length.",
)
NEW_IDS = Caution(
    "Case ids are new", "They lead to no person and to no row of another table. Nothing can be joined with this log."
)
INDEPENDENT = Caution(
    "Cases have nothing to do with each other",
    "Each was made, or moved in time, by itself. Do not study queues, workload, batches or who works with whom: whatever shows "
    "is chance.",
)
NO_TIMES = Caution(
    "Timestamps are placeholders",
    "Each case begins with the year 2000 and goes on by the minute, whatever happened. Look at no duration and at no date.",
)
TIES = Caution(
    "Neither a missing association of attributes nor an odd combination is evidence",
    "Only the strongest associations of attributes with each other, with activities and with durations were measured. Values "
    "with few cases were counted in groups, and what sets a value apart from others of its group does not show. So values may "
    "stand together that never did, such as adults in a ward for children.",
)
BY_THEMSELVES = Caution(
    "Attributes of events were made one by one",
    "A value of an event depends on its activity and on the value before, and on no other attribute of the event or of its case. "
    "Do not study how such attributes go together: whatever shows is due to activities alone.",
)
NUMBERS = Caution(
    "Means and sums of numbers can be far off",
    "How large the largest numbers are is noise, so trust medians more than means, above all by activity or by group. Within an "
    "interval, numbers are made up.",
)
TAILS = {"model": MADE_UP, "nearest": NEAREST, "drop": LEFT_OUT}
TRACES = {"travas": (LEFT_OUT, NOISE), "prefix-laplace": (PREFIXES,), "sacofa": (PREFIXES,), "pripel": (PREFIXES,)}
KNOWN = ("libra", "libra2022", "amun", *TRACES)
BLURRED = 0.6  # of the way to an even week: as for verdicts
MOST_LABELS, MOST_STEPS, MOST_NOTES = 20, 10, 20


def of_the_promise(certificate: Document) -> Iterator[Caution]:
    """Whether anything is proved of the log, and whether it is enough."""
    if certificate is None:
        yield UNKNOWN
        return
    guarantee = certificate.get("guarantee") or {}
    own = "anonymizer" not in (certificate.get("parameters") or {})  # otherwise it depends on that one
    real = REAL_CASES.get(str(certificate.get("mechanism"))) if own else None
    if guarantee.get("seeded"):
        yield SEEDED
    if guarantee.get("kind") != "proved":
        yield Caution(NOT_PROVED, CLAIMED if real is None else f"{CLAIMED} {real}")
    worth = strength_of(certificate)
    if worth is not None and worth.warning:
        how = "too large" if worth.level == "exposed" else "large"
        yield Caution(f"Delta is {how} for so many cases", worth.warning)
    if worth is not None and worth.level == "void":
        yield Caution(TOO_WEAK.removesuffix("."), "Treat the log as if it showed real cases.")


def of_mechanism(certificate: Document, *, has_times: bool) -> Iterator[Caution]:
    """What follows from how the log was made; `has_times` says whether its timestamps mean anything."""
    said = certificate or {}
    made_by = said.get("mechanism")
    if made_by == "libra":
        yield TAILS.get((said.get("parameters") or {}).get("tail", "model"), MADE_UP)
        yield NOISE
        yield from _of_released((said.get("parameters") or {}).get("attributes") or ())
    yield from TRACES.get(str(made_by), ())
    if made_by in COUNTS:
        yield Caution("Counts are not those of the original", COUNTS[str(made_by)])
    if not has_times:
        yield NO_TIMES
    elif made_by in KNOWN and made_by not in REAL_CASES:
        yield DRAWN_ANEW
    if made_by in KNOWN:
        yield NEW_IDS
        yield INDEPENDENT


def _of_released(attributes: Sequence[Mapping[str, Any]]) -> Iterator[Caution]:
    """What is lost of attributes that libra releases, as they are declared."""
    of_events = [one.get("level") == "event" for one in attributes]
    if not all(of_events):
        yield TIES
    if any(of_events) and len(of_events) > 1:
        yield BY_THEMSELVES
    if any(one.get("kind") == "number" for one in attributes):
        yield NUMBERS


def warnings_of(
    pair: Pair, certificate: Document = None, *, notes: Sequence[str] = (), has_times: bool = True
) -> tuple[Caution, ...]:
    """Collect what holds of this log; `has_times` says whether the anonymized log's timestamps mean anything."""
    promise = tuple(of_the_promise(certificate))
    notes = [note for note in notes if note not in {one.text for one in promise}][:MOST_NOTES]
    said = [Caution("What the release says of itself", "These notes came with it.", tuple(notes))] if notes else []
    if not pair.anonymized.n_cases:
        return (*promise, EMPTY, *said)
    original, anonymized = pair.original, pair.anonymized
    return (
        *(() if original is None else _of_another_process(original, anonymized)),
        *promise,
        *(() if original is None else _of_activities(original, anonymized)),
        *(() if original is None else _of_steps(pair)),
        *(() if original is None or not original.n_cases or not has_times else _of_hours(original, anonymized)),
        *of_mechanism(certificate, has_times=has_times),
        *_of_attributes(pair),
        *said,
    )


def _of_another_process(original: EventLog, anonymized: EventLog) -> Iterator[Caution]:
    foreign, of = len(set(anonymized.activities) - set(original.activities)), len(anonymized.activities)
    if 2 * foreign > of:
        text = f"{count(foreign)} of the anonymized log's {count(of)} activities are not in it."
        yield Caution("Is this the right original?", text)


def _of_hours(original: EventLog, anonymized: EventLog) -> Iterator[Caution]:
    """Hours of the week that came out nearer to an even week than to the original's."""
    week, sample = week_counts(original), week_counts(sample_of(original, anonymized.n_cases))
    even, found = total_variation(week, np.ones_like(week)), total_variation(week, week_counts(anonymized))
    if found > max(BLURRED * even, total_variation(week, sample)):
        yield Caution(
            "Hours of the week are blurred",
            f"{share(found)} of the events would have to happen in another hour of the week to match the original; if all hours "
            f"were alike it would be {share(even)}. Do not study working hours, shifts or nights with this log.",
        )


def _of_activities(original: EventLog, anonymized: EventLog) -> Iterator[Caution]:
    """Activities that vanished, the most frequent first."""
    labels, released = original.activities, set(anonymized.activities)
    counts = np.bincount(original.activity_codes, minlength=len(labels)).tolist()
    gone = [place for place, label in enumerate(labels) if label not in released]
    gone.sort(key=lambda place: -counts[place])
    if gone:
        yield Caution(
            f"{count(len(gone))} {'activity' if len(gone) == 1 else 'activities'} vanished",
            f"That an activity is missing does not mean that nobody did it.{_and_more(len(gone), MOST_LABELS)}",
            tuple(f"{shown(labels[place])}: {count(counts[place])} events" for place in gone[:MOST_LABELS]),
        )


def _of_steps(pair: Pair) -> Iterator[Caution]:
    """Steps that nobody took, the most frequent first."""
    edges = edges_of(pair).paired
    taken = edges.anonymized.counts
    false = np.flatnonzero((taken > 0) & (edges.original.counts == 0))
    if not len(false):
        return
    false = false[np.argsort(-taken[false], kind="stable")]
    named = ((" → ".join(map(shown, edges.name(place))), int(taken[place])) for place in false[:MOST_STEPS].tolist())
    yield Caution(
        "Some steps were taken by nobody",
        "They do not occur in the original. Draw no conclusion from a rare step by itself, neither from its being there nor from "
        f"its absence.{_and_more(len(false), MOST_STEPS)}",
        tuple(f"{name}: {count(times)} times" for name, times in named),
    )


def _and_more(found: int, most: int) -> str:
    return f" The {most} most frequent are listed, {count(found - most)} more are not." if found > most else ""


def _of_attributes(pair: Pair) -> Iterator[Caution]:
    """Said of a log by itself; a page that compares says which attributes are absent on its first screen."""
    if pair.is_public and not attribute_names(pair):
        yield Caution("There are no attributes", "This log has activities and times, and nothing else of its cases and events.")

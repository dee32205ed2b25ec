"""What distances come to, in sentences for somebody who does not know the measures.

In: the yardsticks of two logs. Out: text. A Wasserstein distance is put as what it is: the mean difference of what is matched
from smallest to largest. Each sentence says what a fresh sample of the original would show in its place.
"""

from __future__ import annotations

from libra.charts.numbers import count, duration, number, share
from libra.eventlog.log import EventLog
from libra.reporting.facts.figures import events
from libra.reporting.facts.yardsticks import Yardsticks

PLACEHOLDERS = "The timestamps of the anonymized log are placeholders and say nothing."
NOT_DEFINED = "There is nothing to compare here."
NOTHING_LEFT = "The anonymized log has no case, so nothing of it is left."
HOUR, DAY = 3600.0, 86400.0
OFF_BY = "a fresh sample of {} cases would be off by {}"
OF_A_SAMPLE = "of a fresh sample of {} cases, {}"


def about_cases(before: int, after: int) -> str:
    """How many cases there are.

    Example:
        >>> about_cases(1050, 1010)
        'There are 1,010 cases where the original has 1,050: 3.8 % fewer.'
    """
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

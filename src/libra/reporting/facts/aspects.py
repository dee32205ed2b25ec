"""What is kept of a log, aspect by aspect: a verdict, a sentence that needs no statistics, and the figures behind both.

There are the same eight aspects for every log, service times if the original has starts, and attributes and their associations
if both logs have some; none in public mode, because all of them compare with the original. `yardsticks` has what is measured,
`verdicts` the bounds and the words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from libra.eventlog.log import EventLog
from libra.measures.utility import OF_ATTRIBUTES, OF_INSTANCES, SHARES_KEPT, Utility
from libra.measures.within_cases import has_starts
from libra.reporting.facts.verdicts import BOUNDS, MOST, SUMMARY, Loss, Verdict, worst
from libra.reporting.facts.yardsticks import Yardsticks
from libra.reporting.numbers import MISSING, count, duration, number, share
from libra.reporting.text import shown

Written = Callable[[float | None], str]
TIMED = ("step_durations", "service_times", "case_durations", "arrivals")
PLACEHOLDERS = "The timestamps of the anonymized log are placeholders and say nothing."
NOT_DEFINED = "There is nothing to compare here."
NOTHING_LEFT = "The anonymized log has no case, so nothing of it is left."
OFF_BY, OF_A_SAMPLE = "a fresh sample of {} cases would be off by {}", "of a fresh sample of {} cases, {}"
ASSOCIATED = ("association_l1", "attribute_pair_tv", "attribute_activity_tv_given", "handover_tv")
JUDGED = {"attributes": ("attribute_tv", "event_attribute_tv"), "associations": ASSOCIATED}
ON_AVERAGE = (  # over what, of what, and what would have to be another
    ("attribute_tv", "attributes of cases", "the cases", "another value"),
    ("event_attribute_tv", "attributes of events", "the events", "another activity or value"),
    ("attribute_pair_tv", "pairs of attributes", "the cases", "other values"),
    ("attribute_activity_tv_given", "attributes and activities", "the cases with or without the activity", "another value"),
    ("handover_tv", "attributes of events", "the values", "another next value"),
)
FEWEST_EVENTS = 0.01  # a difference below which more digits say nothing


@dataclass(frozen=True)
class Figure:
    """A figure, which is None where it is not defined: its name for programs, how it is written, and what it says.

    Figures of `libra measure` carry the name that they have in its JSON (`empty.emd_freq` is `emd_freq` within `empty`), and also
    say what a fresh sample of the original has.
    """

    name: str
    value: float | None
    text: str
    meaning: str
    of_sample: str = ""


@dataclass(frozen=True)
class Aspect:
    """One aspect of a log, judged. Confidential."""

    key: str  # a name for programs, one of those of `ASPECTS`
    verdict: Verdict
    sentence: str  # what that comes to, for somebody who does not know the measure
    figures: tuple[Figure, ...]  # the most telling one first
    loss: Loss  # the one that decided
    analyses: tuple[tuple[str, Verdict], ...]  # what the aspect is needed for, and whether the log is good for it

    @property
    def title(self) -> str:
        """A name for people."""
        return ASPECTS[self.key][0]

    @property
    def around(self) -> tuple[str, str]:
        """The words before and after the first figure, where it stands alone."""
        words = PROPORTIONS if self.figures and self.figures[0].name == "dfg_tv" else ASPECTS[self.key][3]
        before, _, after = words.partition("{}")
        return before, after


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
    "edge_precision": (share, "share of distinct steps, first and last activities that the original has: 100 % if none is false"),
    "edge_recall": (share, "share of the original's distinct steps, first and last activities that come out"),
    "edge_recall_weighted": (share, "likewise, each counted as often as it occurs in the original"),
    "emd_freq": (number, "EMD Freq of the Libra paper, which does not look at labels"),
    "empty.emd_freq": (number, "EMD Freq of an empty log"),
    "variant_tv": (share, "share of cases that would have to follow another variant to match the original's proportions"),
    "unseen_variant_share": (share, "share of anonymized cases whose variant never occurs in the original"),
    "length_w1": (events, "mean difference of trace lengths, matched from shortest to longest"),
    "edge_duration_w1_log": (factor, "mean difference of step durations by edge, in powers of ten: 1 is a factor of ten"),
    "edge_duration_w1_relative": (share, "mean difference of step durations by edge, as a share of the mean step"),
    "edge_duration_w1_hours": (hours, "mean difference of step durations by edge"),
    "edge_duration_p90_log": (factor, "likewise for the 90th percentiles of step durations by edge, in powers of ten"),
    "edge_time_share_l1": (number, "summed differences of the steps' shares of all time between events: 2 if no step shares any"),
    "pair_correlation_difference": (number, "difference of the correlations of the durations of consecutive steps"),
    "pair_duration_correlation.original": (number, "this correlation in the original"),
    "pair_duration_correlation.anonymized": (number, "this correlation in the anonymized log"),
    "path_eta2_difference": (share, "difference of the shares of the variance of case durations that the variant explains"),
    "path_duration_eta2.original": (share, "this share in the original"),
    "path_duration_eta2.anonymized": (share, "this share in the anonymized log"),
    "cooccurrence_slope": (number, "how much is left of the correlations of the activities of a case: 1 if all"),
    "emd_time": (hours, "EMD Time of the Libra paper, which does not look at labels"),
    "empty.emd_time": (hours, "EMD Time of an empty log"),
    "service_time_w1_log": (factor, "mean difference of service times by activity, in powers of ten: 1 is a factor of ten"),
    "waiting_time_w1_log": (factor, "mean difference of waiting times by edge, in powers of ten: 1 is a factor of ten"),
    "overlap_share": (share, "difference of the shares of steps to an instance that starts before the last one ends"),
    "case_duration_w1_hours": (hours, "mean difference of case durations, matched from shortest to longest"),
    "arrival_w1_days": (days, "mean difference of the cases' starts, matched from first to last"),
    "attribute_tv": (
        share,
        "share of cases that would have to have another value of an attribute, mean over attributes of cases",
    ),
    "attribute_activity_tv": (share, "likewise for an attribute and whether an activity occurs"),
    "attribute_duration_tv": (share, "likewise for an attribute and the quartile of the case's duration"),
    "number_w1_relative": (share, "mean difference of numbers, as a share of their mean distance from the median"),
    "event_attribute_tv": (
        share,
        "share of events that would have to have another activity or value, mean over attributes of events",
    ),
    "association_l1": (
        share,
        "differences of the original's strong associations of attributes (Cramér's V) in sum, as a share of their strength",
    ),
    "attribute_pair_tv": (share, "share of cases that would have to have other values of two attributes, mean over pairs"),
    "attribute_activity_tv_given": (
        share,
        "likewise for an attribute, among cases with an activity and among those without, as many as originally",
    ),
    "handover_tv": (share, "share of values with the next one in the case that would have to be others"),
}
BY_EDGE = (
    *(
        "edge_duration_w1_log",
        "edge_duration_w1_relative",
        "edge_duration_w1_hours",
        "edge_duration_p90_log",
        "edge_time_share_l1",
    ),
    *("pair_correlation_difference", "pair_duration_correlation.original", "pair_duration_correlation.anonymized"),
    *("emd_time", "empty.emd_time"),
)
BY_CASE = ("case_duration_w1_hours", "path_eta2_difference", "path_duration_eta2.original", "path_duration_eta2.anonymized")
OFF, PROPORTIONS = "off by {}", "proportions {} off"
OTHER_SIZE = 0.1  # difference of the numbers of cases from which on counts say more about that than about steps
ASPECTS: dict[str, tuple[str, str, tuple[str, ...], str]] = {  # title, what it is good for, figures, words around the first
    "cases": ("Cases", "numbers of cases", (), "{}"),
    "activities": ("Activities", "activities", (), "{}"),
    "edges": ("Steps", "process maps", ("dfg_l1", "dfg_tv", *SHARES_KEPT, "emd_freq", "empty.emd_freq"), "counts {} off"),
    "variants": ("Variants", "variants", ("variant_tv", "unseen_variant_share", "cooccurrence_slope"), "{} of cases differ"),
    "lengths": ("Trace lengths", "trace lengths", ("length_w1",), OFF),
    "step_durations": ("Step durations", "step durations", BY_EDGE, OFF),
    "service_times": ("Service times", "service and waiting times", OF_INSTANCES, OFF),
    "case_durations": ("Case durations", "case durations", BY_CASE, OFF),
    "arrivals": ("Arrivals", "arrivals", ("arrival_w1_days",), OFF),
    "attributes": (
        "Attributes",
        "shares of attribute values",
        tuple(name for name in OF_ATTRIBUTES if name not in ASSOCIATED),
        "values {} off",
    ),
    "associations": ("Associations", "associations of case attributes", ASSOCIATED, OFF),
}
NEXT_VALUES = "next values of event attributes"


def aspects_of(original: EventLog, anonymized: EventLog, by: Yardsticks, *, has_times: bool = True) -> tuple[Aspect, ...]:
    """Judge all aspects by what was measured; `has_times` says whether the anonymized log's timestamps mean anything."""
    losses, sentences = _losses(by), _sentences(original, by)
    aspects = [_cases(original, anonymized), _activities(original, anonymized, by, losses["activities"])]
    for key, (_, _, names, _) in ASPECTS.items():
        if key in JUDGED:  # what decides comes first
            judged = dict(zip(JUDGED[key], losses[key], strict=True))
            names = tuple(name for name in names if getattr(by.anonymized, name) is not None)
            names = tuple(sorted(names, key=lambda name: judged.get(name) != worst(losses[key])))
        if names and (names != OF_INSTANCES or has_starts(original)):
            defined = getattr(by.anonymized, names[0]) is not None
            of_it, said = (losses[key], sentences[key]) if defined else ((), NOT_DEFINED)
            if key == "edges" and abs(anonymized.n_cases - original.n_cases) > OTHER_SIZE * original.n_cases:
                names = ("dfg_tv", *(name for name in names if name != "dfg_tv"))
            aspect = _aspect(key, of_it, said, _figures(by, names), _medians(key, by))
            aspects.append(replace(aspect, analyses=_associations(of_it)) if key == "associations" else aspect)
    if not original.n_cases:
        return tuple(_called(aspect, "unknown") for aspect in aspects)
    if not anonymized.n_cases:  # what they measure is as far away as can be, also where that has no figure
        lost = (replace(_called(aspect, "lost"), sentence=NOTHING_LEFT, loss=Loss(1.0)) for aspect in aspects[1:])
        aspects = [aspects[0], *lost]
    if has_times:
        return tuple(aspects)
    return tuple(
        replace(_called(one, "unknown"), sentence=PLACEHOLDERS, loss=Loss(None)) if one.key in TIMED else one for one in aspects
    )


def _called(aspect: Aspect, verdict: Verdict) -> Aspect:
    return replace(aspect, verdict=verdict, analyses=((ASPECTS[aspect.key][1], verdict),))


def _associations(losses: Sequence[Loss]) -> tuple[tuple[str, Verdict], ...]:
    """What was measured of them: how attributes of cases go together, and which values of events follow each other."""
    measured = zip((ASPECTS["associations"][1], NEXT_VALUES), (worst(losses[:-1]), worst(losses[-1:])), strict=True)
    return tuple((name, loss.verdict) for name, loss in measured if loss.share is not None)


def _off(decades: float | None) -> float | None:
    """A factor, in powers of ten, as a loss."""
    return None if decades is None else 1 - 10**-decades


def _losses(by: Yardsticks) -> dict[str, tuple[Loss, ...]]:
    """What is lost of each aspect, beside the number of cases.

    Shares of events alone would be too kind: whoever looks for a rare activity and finds none draws a wrong conclusion. So a
    missing activity is missed whatever a sample misses, and activities are close at best. Distinct edges are mostly rare: that
    they are missing makes steps rough at worst, since the counts say how much is gone.
    """
    gone = by.found.missing.share_of("activities")
    missing_edges = by.loss(lambda one: one.missing.share_of("edges"))
    log = Loss(*(_off(of.edge_duration_w1_log) for of in (by.anonymized, by.sample)))
    return {
        "activities": (by.loss(lambda one: one.activity_tv), Loss(max(gone, BOUNDS[1][1]) if gone else 0.0)),
        "edges": (
            by.relative("dfg_l1", 1.0),
            replace(missing_edges, share=min(missing_edges.share or 0.0, MOST)),
            by.loss(lambda one: one.missing.share_of("false")),
        ),
        "variants": (by.relative("variant_tv", 1.0),),
        "lengths": (by.relative("length_w1", by.empty.length_w1),),
        "step_durations": (log, by.loss(lambda one: _off(one.means))),
        "service_times": (
            *(Loss(*(_off(getattr(of, name)) for of in (by.anonymized, by.sample))) for name in OF_INSTANCES[:2]),
            by.relative("overlap_share", 1.0),
        ),
        "case_durations": (by.relative("case_duration_w1_hours", by.empty.case_duration_w1_hours),),
        "arrivals": (by.relative("arrival_w1_days", by.empty_arrival_days),),
        **{key: tuple(by.relative(name, 1.0) for name in names) for key, names in JUDGED.items()},
    }


def _medians(key: str, by: Yardsticks) -> Loss | None:
    """What is lost of medians, for aspects of which they may be right where means are not."""
    if key == "step_durations":
        return by.loss(lambda one: _off(one.medians))
    return by.loss(lambda one: one.case_median) if key == "case_durations" else None


def _aspect(key: str, losses: Sequence[Loss], said: str, figures: Sequence[Figure], medians: Loss | None = None) -> Aspect:
    decided, name = worst(losses), ASPECTS[key][1]
    verdict = decided.verdict
    analyses: tuple[tuple[str, Verdict], ...] = ((name, verdict),)
    if medians is not None and "unknown" not in (verdict, medians.verdict) and SUMMARY[medians.verdict] != SUMMARY[verdict]:
        analyses = ((f"median {name}", medians.verdict), (f"mean {name}", verdict))
    return Aspect(key, verdict, said, tuple(figures), decided, analyses)


def _cases(original: EventLog, anonymized: EventLog) -> Aspect:
    before, after = original.n_cases, anonymized.n_cases
    value = abs(after - before) / before if before else None
    change = f"{share(value)} {'more' if after > before else 'fewer'}" if before != after else "as many"
    figures = (
        Figure("aspects.cases.difference", value, change, "difference of the number of cases, as a share of the original's"),
        *_sizes("cases", before, after),
        *_sizes("events", original.n_events, anonymized.n_events),
    )
    said = f"There are {count(after)} cases where the original has {count(before)}{f': {change}' if before else ''}."
    if before == after:
        said = f"There are {count(after)} cases, as many as in the original."
    return _aspect("cases", [Loss(value)], said, figures)


def _activities(original: EventLog, anonymized: EventLog, by: Yardsticks, losses: Sequence[Loss]) -> Aspect:
    found, tv = by.found.missing, by.found.activity_tv
    gone, of, there = found.activities_gone, found.activities, len(anonymized.activities)
    carried, kept = 1 - found.events_gone if original.n_events else None, of - gone
    said = [f"{count(kept)} of {count(of)} activities come out" if gone else f"All {count(of)} activities come out"]
    if kept:
        said[0] += f"; they carry {share(carried)} of the original's events" if gone else ""
        again = _again(by, share(losses[0].sample), OF_A_SAMPLE)
        said.append(f"{share(tv)} of the events would have to be other activities to match the original's proportions{again}")
    if there > kept:
        are = "1 activity is" if there - kept == 1 else f"{count(there - kept)} activities are"
        said.append(f"{are} not in the original at all: these two logs do not belong together")
    figures = (
        Figure(
            "aspects.activities.vanished",
            gone,
            f"{count(gone)} of {count(of)} missing" if gone else f"all {count(of)} there",
            "activities of the original that do not come out",
        ),
        Figure("aspects.activities.tv", tv, share(tv), "half the summed differences of the activities' shares of events"),
        Figure("aspects.activities.carried", carried, share(carried), "share of the original's events whose activity comes out"),
        Figure("aspects.activities.kept", kept, count(kept), "activities of the original that come out"),
        *_sizes("activities", of, there),
    )
    return _aspect("activities", losses, f"{'. '.join(said)}.", figures)


def _sizes(what: str, before: int, after: int) -> tuple[Figure, Figure]:
    return (
        Figure(f"sizes.original.{what}", before, count(before), f"{what} of the original"),
        Figure(f"sizes.anonymized.{what}", after, count(after), f"{what} of the anonymized log"),
    )


def _figures(by: Yardsticks, names: Sequence[str]) -> list[Figure]:
    figures = []
    for name in names:
        written, meaning = MEASURED[name]
        figure, sample = (attrgetter(name)(one) for one in (by.anonymized, by.sample))
        of_both = name.startswith("empty.") or name.endswith(".original")  # the same for any copy
        figures.append(Figure(name, figure, written(figure), meaning, "" if of_both else written(sample)))
    return figures


def _sentences(original: EventLog, by: Yardsticks) -> dict[str, str]:
    """What the aspects come to, by their key."""
    found, sample = by.anonymized, by.sample
    again = {key: MEASURED[names[0]][0](getattr(sample, names[0])) for key, (_, _, names, _) in ASPECTS.items() if names}
    off = {key: _again(by, text) for key, text in again.items()}
    of_steps = _again(by, again["step_durations"].removeprefix("factor "), "those of a fresh sample of {} cases by {}")
    of_service = _again(by, again["service_times"].removeprefix("factor "), "those of a fresh sample of {} cases by {}")
    lost, edges = by.loss(lambda one: one.missing.share_of("edges")), by.found.missing.edges
    missed = round((lost.sample or 0.0) * edges)
    return {
        "edges": f"The counts of steps from one activity to the next are off by {share(found.dfg_l1)} in sum{off['edges']}"
        + (f" and miss {count(missed)} of {count(edges)} distinct steps." if lost.share and off["edges"] else "."),
        "variants": f"{share(found.variant_tv)} of the cases would have to follow another variant to match the original's "
        f"proportions{_again(by, again['variants'], OF_A_SAMPLE)}.",
        "lengths": f"Matched from shortest to longest, traces differ by {events(found.length_w1)} on average{off['lengths']}. "
        f"The original's have {events(original.n_events / max(original.n_cases, 1))}.",
        "step_durations": "Matched from shortest to longest on each edge, durations of steps differ by a factor of about "
        f"{factor(found.edge_duration_w1_log).removeprefix('factor ')}{of_steps}. Their medians are off by "
        f"{factor(by.found.medians)}, their means by {factor(by.found.means)}.",
        "service_times": "Matched from shortest to longest for each activity, service times differ by a factor of about "
        f"{factor(found.service_time_w1_log).removeprefix('factor ')}{of_service}; waiting times by "
        f"{factor(found.waiting_time_w1_log)}. {_overlapping(by.anonymized)}",
        "case_durations": f"Matched from shortest to longest, cases differ in duration by {hours(found.case_duration_w1_hours)} "
        f"on average{off['case_durations']}. The original's take {hours(by.empty.case_duration_w1_hours)}.",
        "arrivals": f"Matched from first to last, cases begin {days(found.arrival_w1_days)} earlier or later on average"
        f"{off['arrivals']}. In the original, cases start {days(by.empty_arrival_days)} from the median start on average.",
        "attributes": " ".join(_on_average(by, JUDGED["attributes"])),
        "associations": " ".join([*_associated(by, again["associations"]), *_on_average(by, ASSOCIATED)]),
    }


def _on_average(by: Yardsticks, names: Sequence[str]) -> Iterator[str]:
    """What the figures of these names that are defined come to."""
    for name, over, of, other in ON_AVERAGE:
        if name in names and (value := getattr(by.anonymized, name)) is not None:
            yield (
                f"On average over {over}, {share(value)} of {of} would have to have {other} to match the original's proportions"
                f"{_again(by, share(getattr(by.sample, name)), OF_A_SAMPLE)}."
            )


def _associated(by: Yardsticks, again: str) -> Iterator[str]:
    """What is lost of associations in sum, and of which one most."""
    if by.anonymized.association_l1 is None:
        return
    yield (
        "How strongly attributes of cases go together with each other, with activities and with durations is off by "
        f"{share(by.anonymized.association_l1)} in sum{_again(by, again)}."
    )
    most = max(by.anonymized.associations, key=lambda one: abs(one.original - one.anonymized))
    if most.original != most.anonymized:
        both = f"{shown(most.attribute)} and {shown(most.other)}"
        yield f"{both} change most: {most.original:.2f} before, {most.anonymized:.2f} after (0: none, 1: one tells the other)."


def _overlapping(found: Utility) -> str:
    """How often an activity starts before the last one is completed, in both logs."""
    if found.overlaps is None:
        return ""
    before, after = found.overlaps.original, found.overlaps.anonymized
    overlapping = f"{share(after)} of steps lead to an activity that starts before the last one is completed"
    return f"{overlapping}; {share(before)} do in the original."


def _again(by: Yardsticks, text: str, said: str = OFF_BY) -> str:
    return f"; {said.format(count(by.sample_cases), text)}" if by.sample_cases else ""

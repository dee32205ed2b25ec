"""Released attributes beside those of the original: distances, and what a classifier learns from them.

For each log, the attributes of cases that are declared here are released at epsilon 1 and delta 1e-4, with a seed each. The
figures are means. A classifier (logistic regression on one-hot values) learns from the released cases whether an activity occurs,
and is tested on the original: 0.5 is guessing. Beside the release: the original itself, a fresh sample of it, and independent
attributes, for which the original's values are dealt to the released cases at random; and what one could take instead:

- MST learns the table of cases: their attributes, and as further columns which activities they have, their length and their
  duration. It spends what the release spends on attributes, and each of its rows is attached to a case of the release with the
  same features, or to any other where there is none. "MST, given" draws the attributes of each case given its features instead:
  no case has those of a row that differs, and the shares of values follow the released features. Both are favoured: the values
  of categories, the bins of numbers (the original's deciles, which the figures use, too) and the bounds of lengths and durations
  come from the original, and so does the number that is written for a bin. The last row is a release that is favoured likewise
  in categories: their values are declared.
- PRIPEL has cases of its own, and takes over values of similar original cases, each randomized at epsilon 1. What it promises is
  claimed by its authors and does not hold: a case has many values. It knows events only, so attributes of cases stand on these.

Use public logs: nothing here is private.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.stats import rankdata

import libra
from benchmarks.measured import logs, tell
from benchmarks.mst import any_with, drawn, learnt, matched
from libra.eventlog.attributes import Attribute, case_values, event_values
from libra.eventlog.log import EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, CASE_PREFIX, LIFECYCLE, OTHER, START_TIMESTAMP, TIMESTAMP
from libra.eventlog.tables.values import as_text
from libra.measures import Utility, measure
from libra.measures.attributes import AttributesKept, attribute_figures, coded_values, shared_attributes
from libra.mechanisms.libra.attributes.pairs import SHARED
from libra.mechanisms.libra.attributes.shares import private_values
from libra.privacy.gaussian import mu_of
from libra.reporting.facts.yardsticks import sample_of

SEEDS = range(900, 906)
EPSILON, DELTA, ATTRIBUTES = 1.0, 1e-4, 0.2  # the last is the share of attributes
BUDGET = f"attributes={ATTRIBUTES}"
NEARLY_ALL = 0.95  # of the cases are no longer than the longest trace of PRIPEL
RIDGE = 1.0  # half the squared weights of the classifier are added to its loss
FIGURES = (
    *("attribute_tv", "attribute_pair_tv", "attribute_activity_tv", "attribute_activity_tv_given"),
    *("attribute_duration_tv", "number_w1_relative"),
)
OUTCOMES = {
    "sepsis": "Release A",
    "bpic12": "A_ACCEPTED",
    "bpic13": "Queued",
    "roadtraffic": "Send for Credit Collection",
}
DECLARED = {
    "bpic12": [Attribute("case:AMOUNT_REQ", "number", lowest=0)],
    "bpic13": [Attribute(name, "category") for name in ("impact", "product", "organization country")],
    "roadtraffic": [
        Attribute("amount", "number", at="Create Fine", lowest=0, decimals=2),
        Attribute("vehicleClass", "category", at="Create Fine"),
        Attribute("article", "category", at="Create Fine"),
        Attribute("points", "number", at="Create Fine", lowest=0),
        Attribute("expense", "number", at="Send Fine", lowest=0, decimals=2),
        Attribute("notificationType", "category", at="Insert Fine Notification"),
        Attribute("lastSent", "category", at="Insert Fine Notification"),
    ],
}
OF_EVENTS = {
    "sepsis": ["org:group", "CRP"],
    "bpic12": ["org:resource"],
    "bpic13": ["org:role", "lifecycle:transition", "org:group"],
    "bpic20": ["org:role", "org:resource"],
    "roadtraffic": ["totalPaymentAmount"],
}
OTHERS_OF_EVENTS = {
    "CRP": Attribute("CRP", "number", level="event", lowest=0),
    "totalPaymentAmount": Attribute("totalPaymentAmount", "number", level="event", lowest=0, decimals=2, counter=True),
}
BUDGET_OF_EVENTS = "attributes=0.1"
REGISTRATION = "ER Registration"  # of sepsis: its attributes are declared by the types of their columns
NOT_OF_THE_FORM = (CASE_INDEX, ACTIVITY, TIMESTAMP, START_TIMESTAMP, LIFECYCLE, "org:group")


def main() -> None:
    """Print the table."""
    table = Table(title=f"attributes of cases (mean of {len(SEEDS)} releases), and the AUC of a classifier on the original")
    for heading in ("log", "", *FIGURES, "AUC"):
        table.add_column(heading.removeprefix("attribute_"), justify="left" if heading in ("log", "") else "right")
    for path in logs(*OUTCOMES):
        name, log = path.name.partition(".")[0], libra.read(path)
        if name not in OUTCOMES:
            continue
        declared, outcome = declared_of(name, log), OUTCOMES[name]
        releases = [released(log, declared, seed) for seed in SEEDS]
        original, copies = of_cases(log, declared), [of_cases(release, declared) for release in releases]
        kinds = [Attribute(f"{CASE_PREFIX}{one.name.removeprefix(CASE_PREFIX)}", one.kind) for one in declared]
        rows = {
            "original": [original],
            "fresh sample": [sample_of(original, log.n_cases, seed, like=original) for seed in SEEDS],
            "independent": [independent(original, copy, seed) for seed, copy in enumerate(copies)],
            "MST": [with_mst(original, copy, kinds, seed) for seed, copy in zip(SEEDS, copies, strict=True)],
            "MST, given": [with_mst(original, copy, kinds, seed, given=True) for seed, copy in zip(SEEDS, copies, strict=True)],
            "PRIPEL (claimed)": [pripel(log, declared, seed) for seed in SEEDS],
            "release": copies,
        }
        known = with_values(log, declared)
        if known != declared:
            pairs = [(of_chosen(original, copy, kinds), copy, seed) for seed, copy in zip(SEEDS, copies, strict=True)]
            cost = cost_of_values(declared)
            rows["MST, values chosen"] = [with_mst(own, copy, kinds, seed, cost=cost) for own, copy, seed in pairs]
            rows["MST, given, values chosen"] = [
                with_mst(own, copy, kinds, seed, given=True, cost=cost) for own, copy, seed in pairs
            ]
            rows["release, values declared"] = [of_cases(released(log, known, seed), declared) for seed in SEEDS]
        tell(f"{name}: released")
        for what, found in rows.items():
            figures = [measure(original, one, kinds) for one in found]
            table.add_row(name, what, *(mean(figures, one) for one in FIGURES), auc_cell(found, original, kinds, outcome))
    Console(width=160).print(table, event_table())


def event_table() -> Table:
    """The same for attributes of events, each alone in its release: values by activity, and who hands over to whom."""
    table = Table("log", "attribute", "", "event_attribute_tv", "handover_tv", title="attributes of events")
    for path in logs(*OF_EVENTS):
        name, log = path.name.partition(".")[0], libra.read(path)
        for attribute in OF_EVENTS.get(name, ()):
            one = OTHERS_OF_EVENTS.get(attribute, Attribute(attribute, "category", level="event"))
            original = of_events(log, one)
            copies = [of_events(released(log, [one], seed, BUDGET_OF_EVENTS), one) for seed in SEEDS]
            rows = {
                "fresh sample": [sample_of(original, log.n_cases, seed, like=original) for seed in SEEDS],
                "independent": [independent_events(original, copy, one, seed) for seed, copy in enumerate(copies)],
                "release": copies,
            }
            for what, found in rows.items():
                figures = [attribute_figures(original, copy, [one]) for copy in found]
                table.add_row(name, one.name, what, *(mean(figures, figure) for figure in ("event_attribute_tv", "handover_tv")))
            tell(f"{name}, {one.name}: released")
    return table


def of_events(log: EventLog, one: Attribute) -> EventLog:
    """The log with this attribute of events, and with no other."""
    events = log.events[[name for name in log.events.columns if name in (CASE_INDEX, ACTIVITY, TIMESTAMP, START_TIMESTAMP)]]
    values = event_values(log, one).alias(one.name)
    return EventLog(events.with_columns(values), log.cases[[CASE_NAME]], instances=log.instances)


def independent_events(original: EventLog, release: EventLog, one: Attribute, seed: int) -> EventLog:
    """The events of a release with the original's values, dealt at random. Not private."""
    random = np.random.Generator(np.random.PCG64(seed))
    dealt = np.resize(random.permutation(original.n_events), release.n_events)
    return replace(release, events=release.events.with_columns(original.events[one.name][dealt]))


def declared_of(name: str, log: EventLog) -> list[Attribute]:
    """What is declared of the attributes to release; of sepsis, all that the first form has and that do not change later."""
    if name in DECLARED:
        return DECLARED[name]
    first = log.events.filter(pl.col(ACTIVITY) == REGISTRATION)
    kinds: dict[Any, Any] = {pl.Boolean: "boolean", pl.Int64: "number", pl.String: "category"}
    named = [column for column in first.columns if first[column].null_count() < first.height and column not in NOT_OF_THE_FORM]
    return [Attribute(column, kinds[first.schema[column]], at=REGISTRATION) for column in named]


def of_cases(log: EventLog, declared: Sequence[Attribute]) -> EventLog:
    """The log with a column of cases for each of these attributes, and with no other; one that is lost is missing everywhere."""
    found = {one.name.removeprefix(CASE_PREFIX): of_kind(case_values(log, one), one) for one in declared}
    events = log.events[[name for name in log.events.columns if name in (CASE_INDEX, ACTIVITY, TIMESTAMP, START_TIMESTAMP)]]
    return EventLog(events, pl.DataFrame({CASE_NAME: log.cases[CASE_NAME], **found}), instances=log.instances)


def of_kind(values: pl.Series, attribute: Attribute) -> pl.Series:
    """Values of an attribute as a column whose type says the kind: 0 and 1 would be measured as numbers."""
    return values.cast(pl.Boolean) if attribute.kind == "boolean" else values


def released(log: EventLog, declared: Sequence[Attribute], seed: int, budget: str = BUDGET) -> EventLog:
    """A release with these attributes, which get a fifth of the budget if nothing else is said."""
    return libra.anonymize(log, epsilon=EPSILON, delta=DELTA, seed=seed, attributes=list(declared), budget=budget).log


def with_values(log: EventLog, declared: Sequence[Attribute]) -> list[Attribute]:
    """The attributes, with a list of the values that each category has in this log. Not private, where the list is not public."""
    values = [case_values(log, one).unique().drop_nulls().sort() if one.kind == "category" else None for one in declared]
    return [one if own is None else replace(one, values=tuple(own)) for one, own in zip(declared, values, strict=True)]


def independent(original: EventLog, release: EventLog, seed: int) -> EventLog:
    """The cases of a release with the original's values, dealt at random and attribute by attribute. Not private."""
    random = np.random.Generator(np.random.PCG64(seed))
    dealt = {name: np.resize(random.permutation(original.n_cases), release.n_cases) for name in original.cases.columns[1:]}
    values = [original.cases[name][rows] for name, rows in dealt.items()]
    return replace(release, cases=release.cases[[CASE_NAME]].hstack(values))


def of_chosen(original: EventLog, release: EventLog, declared: Sequence[Attribute]) -> EventLog:
    """The original with "(other)" instead of all values of categories that the release does not have."""
    found = []
    for one in declared:
        values, own = (as_text(log.cases[one.name.removeprefix(CASE_PREFIX)]) for log in (original, release))
        kept = values.is_in(own.unique().implode()) | values.is_null()
        found.append(values.set(~kept, OTHER).alias(one.name.removeprefix(CASE_PREFIX)) if one.kind == "category" else None)
    return replace(original, cases=original.cases.with_columns(one for one in found if one is not None))


def cost_of_values(declared: Sequence[Attribute]) -> float:
    """The share of the budget of attributes that it costs to choose the values of categories."""
    chosen = private_values(declared)
    return sum(share.square for number, share in chosen.items() if declared[number].kind == "category")


def with_mst(
    original: EventLog, release: EventLog, declared: Sequence[Attribute], seed: int, *, given: bool = False, cost: float = 0.0
) -> EventLog:
    """The cases of a release with attributes by MST: those of rows with the same features, or drawn given the features.

    `cost` is the share of its budget that was spent before.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    coded = [coded_values(one.kind, one.values).original for one in shared_attributes((original, original), declared)]
    columns = [np.unique(one, return_inverse=True)[1] for one in (*coded, *features(original, original))]
    mu = math.sqrt(ATTRIBUTES * (1 - cost)) * mu_of(EPSILON, DELTA)
    tree = learnt(columns, [int(one.max()) + 1 for one in columns], mu, release.n_cases, random)
    wanted = features(release, original)
    rows = drawn(tree, dict(enumerate(wanted, len(coded))) if given else {}, release.n_cases, random)
    order = np.arange(release.n_cases) if given else matched(rows[len(coded) :], wanted, random)
    of_attributes = zip(original.cases.columns[1:], columns, rows, strict=False)
    values = [original.cases[name].gather(pl.Series(any_with(codes[order], own, random))) for name, own, codes in of_attributes]
    return replace(release, cases=release.cases[[CASE_NAME]].hstack(values))


def features(log: EventLog, original: EventLog) -> list[np.ndarray]:
    """For every case whether it has an activity that neither nearly all nor nearly no original cases have; length; duration."""
    names = [name for name in original.activities if SHARED[0] <= _has(original, name).mean() <= SHARED[1]]
    found = [_has(log, name).astype(np.int64) for name in names]
    for parts, of_log in ((3, _lengths), (4, _durations)):
        cuts = np.unique(np.quantile(of_log(original), np.arange(1, parts) / parts, method="inverted_cdf"))
        found.append(np.searchsorted(cuts, of_log(log)))
    return found


def pripel(log: EventLog, declared: Sequence[Attribute], seed: int) -> EventLog:
    """A release of PRIPEL, for which each event has the attributes of its case; a case has its first value.

    Categories are words, also where they are digits. Traces may be as long as nearly all cases are: by default they are cut.
    """
    columns = {}
    for one in declared:
        name = one.name.removeprefix(CASE_PREFIX)
        own = log.cases[name].gather(log.events[CASE_INDEX]) if one.in_cases else log.events[name]
        columns[name] = as_text(own) if one.kind == "category" else own
    known = replace(log, events=log.events.with_columns(**columns))
    longest = int(np.quantile(_lengths(log), NEARLY_ALL))
    release = libra.anonymize(known, mechanism="pripel", epsilon=EPSILON, seed=seed, max_length=longest).log
    return of_cases(release, [replace(one, name=one.name.removeprefix(CASE_PREFIX)) for one in declared])


def auc(release: EventLog, original: EventLog, declared: Sequence[Attribute], activity: str) -> float:
    """How well attributes tell whether an activity occurs: learnt from the release, tested on the original.

    The share of pairs of an original case with the activity and one without that are put in the right order, ties as a half.
    """
    found = [
        coded_values(one.kind, one.values) for one in shared_attributes((original, release), declared) if one.level == "case"
    ]
    has, learnt = (_has(log, activity) for log in (original, release))
    if not found or len(np.unique(learnt)) < 2 or len(np.unique(has)) < 2:
        return 0.5
    tested, training = ([getattr(one, side) for one in found] for side in ("original", "anonymized"))
    sizes = [one.size for one in found]
    weights = _fitted(_one_hot(training, sizes), learnt)
    ranks = rankdata(_one_hot(tested, sizes) @ weights)
    positive = int(has.sum())
    return float((ranks[has].sum() - positive * (positive + 1) / 2) / (positive * (len(has) - positive)))


def _has(log: EventLog, activity: str) -> np.ndarray:
    """For every case whether it has an activity."""
    has = np.zeros(log.n_cases, bool)
    has[log.events.filter(pl.col(ACTIVITY) == activity)[CASE_INDEX].to_numpy()] = True
    return has


def _lengths(log: EventLog) -> np.ndarray:
    """For every case how many events it has."""
    return np.bincount(log.events[CASE_INDEX].to_numpy(), minlength=log.n_cases)


def _durations(log: EventLog) -> np.ndarray:
    """For every case how long it takes."""
    earliest, latest = log.case_spans
    return latest - earliest


def _one_hot(codes: Sequence[np.ndarray], sizes: Sequence[int]) -> csr_array:
    """A column for each value of each attribute, and one that is 1 throughout."""
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    columns = np.stack(
        [*(own + offset for own, offset in zip(codes, offsets[:-1], strict=True)), np.full_like(codes[0], offsets[-1])], 1
    )
    rows, width = columns.shape
    return csr_array((np.ones(columns.size), columns.ravel(), np.arange(rows + 1) * width), shape=(rows, int(offsets[-1]) + 1))


def _fitted(table: csr_array, outcome: np.ndarray) -> np.ndarray:
    """The weights of a logistic regression with a ridge on all but the last."""
    signs, ridge = np.where(outcome, 1.0, -1.0), np.full(table.shape[1], RIDGE)
    ridge[-1] = 0

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (table @ weights)
        slope = table.T @ (-signs / (1 + np.exp(np.clip(margins, -500, 500))))
        return float(np.logaddexp(0, -margins).sum() + ridge @ weights**2 / 2), slope + ridge * weights

    return np.asarray(minimize(loss, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x)


def mean(figures: Sequence[Utility | AttributesKept], name: str) -> str:
    """A figure as the table shows it."""
    values = [value for one in figures if (value := getattr(one, name)) is not None]
    return f"{fmean(values):.4f}" if values else "-"


def auc_cell(found: Sequence[EventLog], original: EventLog, declared: Sequence[Attribute], outcome: str) -> str:
    """The mean AUC of some logs."""
    return f"{fmean(auc(one, original, declared, outcome) for one in found):.3f}" if found else "-"


if __name__ == "__main__":
    main()

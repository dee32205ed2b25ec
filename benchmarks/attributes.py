"""Released attributes beside those of the original: distances, and what a classifier learns from them.

For each log, the attributes of cases that are declared here are released at epsilon 1 and delta 1e-4, with a seed each. The
figures are means. A classifier (logistic regression on one-hot values) learns from the released cases whether an activity occurs,
and is tested on the original: 0.5 is guessing. Beside the release: the original itself, a fresh sample of it, and independent
attributes, for which the original's values are dealt to the released cases at random. Use public logs: nothing here is private.
"""

from __future__ import annotations

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
from libra.eventlog.attributes import Attribute, case_values
from libra.eventlog.log import EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, CASE_PREFIX, LIFECYCLE, START_TIMESTAMP, TIMESTAMP
from libra.measures import Utility, measure
from libra.measures.attributes import coded_values, shared_attributes
from libra.reporting.facts.aspects import sample_of

SEEDS = range(900, 906)
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
        tell(f"{name}: released")
        rows = {
            "original": [original],
            "fresh sample": [sample_of(original, log.n_cases, seed, like=original) for seed in SEEDS],
            "independent": [independent(original, copy, seed) for seed, copy in enumerate(copies)],
            "release": copies,
        }
        kinds = [Attribute(f"{CASE_PREFIX}{one.name.removeprefix(CASE_PREFIX)}", one.kind) for one in declared]
        for what, found in rows.items():
            figures = [measure(original, one, kinds) for one in found]
            table.add_row(name, what, *(mean(figures, one) for one in FIGURES), auc_cell(found, original, kinds, outcome))
    Console(width=160).print(table)


def declared_of(name: str, log: EventLog) -> list[Attribute]:
    """What is declared of the attributes to release; of sepsis, all that the first form has and that do not change later."""
    if name in DECLARED:
        return DECLARED[name]
    first = log.events.filter(pl.col(ACTIVITY) == REGISTRATION)
    kinds: dict[Any, Any] = {pl.Boolean: "boolean", pl.Int64: "number", pl.String: "category"}
    named = [column for column in first.columns if first[column].null_count() < first.height and column not in NOT_OF_THE_FORM]
    return [Attribute(column, kinds[first.schema[column]], at=REGISTRATION) for column in named]


def of_cases(log: EventLog, declared: Sequence[Attribute]) -> EventLog:
    """The log with a column of cases for each of these attributes that it has, and with no other."""
    found = {one.name.removeprefix(CASE_PREFIX): case_values(log, one) for one in declared if has_column(log, one)}
    events = log.events[[name for name in log.events.columns if name in (CASE_INDEX, ACTIVITY, TIMESTAMP, START_TIMESTAMP)]]
    return EventLog(events, pl.DataFrame({CASE_NAME: log.cases[CASE_NAME], **found}), instances=log.instances)


def has_column(log: EventLog, one: Attribute) -> bool:
    """Whether a log has a column of that name."""
    return one.name.removeprefix(CASE_PREFIX) in log.cases.columns if one.in_cases else one.name in log.events.columns


def released(log: EventLog, declared: Sequence[Attribute], seed: int) -> EventLog:
    """A release with these attributes, which get a fifth of the budget."""
    budget = "control=0.44,times=0.36,attributes=0.2"
    return libra.anonymize(log, epsilon=1.0, delta=1e-4, seed=seed, attributes=list(declared), budget=budget).log


def independent(original: EventLog, release: EventLog, seed: int) -> EventLog:
    """The cases of a release with the original's values, dealt at random and attribute by attribute. Not private."""
    random = np.random.Generator(np.random.PCG64(seed))
    dealt = {name: np.resize(random.permutation(original.n_cases), release.n_cases) for name in original.cases.columns[1:]}
    values = [original.cases[name][rows] for name, rows in dealt.items()]
    return replace(release, cases=release.cases[[CASE_NAME]].hstack(values))


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


def mean(figures: Sequence[Utility], name: str) -> str:
    """A figure as the table shows it."""
    values = [value for one in figures if (value := getattr(one, name)) is not None]
    return f"{fmean(values):.4f}" if values else "-"


def auc_cell(found: Sequence[EventLog], original: EventLog, declared: Sequence[Attribute], outcome: str) -> str:
    """The mean AUC of some logs."""
    return f"{fmean(auc(one, original, declared, outcome) for one in found):.3f}" if found else "-"


if __name__ == "__main__":
    main()

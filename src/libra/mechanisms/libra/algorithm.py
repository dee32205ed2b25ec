"""Libra, the sound version: clip, subsample, anonymize, balance, combine, each in a form whose guarantee is proved.

An engine counts small tables, the gate puts noise on them, and the log is generated from the noisy tables alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from libra._system.arguments import checked_whole, delta_of_guarantee
from libra._system.randomness import SEED_NOTE, Randomness
from libra.engines.contract import CASE, Origin, Unit
from libra.engines.polars import LogInMemory
from libra.errors import UsageError, did_you_mean
from libra.eventlog.attributes import Attribute
from libra.eventlog.instances import SEPARATOR
from libra.eventlog.log import EventLog
from libra.eventlog.names import OTHER, RESOURCE
from libra.eventlog.notes import listed
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms import parameters as p
from libra.mechanisms.libra import plan as plans
from libra.mechanisms.libra.attributes.bins import ends_of
from libra.mechanisms.libra.attributes.release import ReleasedAttribute
from libra.mechanisms.libra.attributes.shares import usual_share
from libra.mechanisms.libra.expected import expected_of
from libra.mechanisms.libra.figures import Figures, with_pseudonyms
from libra.mechanisms.libra.generate import planned, sharing_cases
from libra.mechanisms.libra.plan import DEFAULT_BUDGET, ONE_IN, PRIVATE, PUBLIC, Budget, Edges, Labels, Plan, Tail, make_plan
from libra.mechanisms.libra.release_run import STAGES, release_run
from libra.mechanisms.libra.releases import departures_from_plan
from libra.mechanisms.libra.times.histogram import years_standing_out
from libra.mechanisms.peers import (
    ATTRIBUTES_DECLARED,
    CALLED,
    EMPLOYEES,
    EMPLOYEES_IN_VALUES,
    LABELS_LISTED,
    LABELS_PRIVATE,
    LABELS_PUBLIC,
    LISTED_RESOURCES,
    CertifiedMechanism,
    counted_cases,
    proved,
    resources_called,
)
from libra.mechanisms.release import Release, contents_of
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.gate import Gate
from libra.privacy.gaussian import checked_epsilon
from libra.privacy.guarantee import A_SECOND_RUN, MODERATE, Guarantee, from_even_odds
from libra.privacy.ledger import Entry, Ledger

MOST_CASES = 100_000_000
MOST_SUBSAMPLES = 1_000
NEARLY_ALL = 0.9  # of the values that are not among those declared: these may be written otherwise
LONG = 20  # values in a declared list that may be too many
MANY_WIDE = 0.3  # of the numbers of an attribute: of long-tailed ones, a few are always in wide intervals
WOULD_HELP = f"More cases or a larger --epsilon would help. {A_SECOND_RUN}"


@dataclass(frozen=True)
class Libra(CertifiedMechanism):
    """Libra, the sound version: a generated log with a proved guarantee of (epsilon, delta)-differential privacy.

    Where the log says whose case is whose, individuals are protected instead of cases.

    Example:
        >>> from libra.example.simulate import simulate
        >>> release = Libra(epsilon=1.0, delta=1e-4).anonymize(simulate(cases=500), Randomness())
        >>> release.guarantee.kind, release.log.events.columns
        ('proved', ['@case', 'concept:name', 'time:timestamp'])
    """

    name: ClassVar[str] = "libra"
    accepts_empty: ClassVar[bool] = True

    epsilon: float = p.EPSILON.field(1.0)
    delta: float = p.DELTA.field(1e-5)
    tail: Tail = p.TAIL.field("model")
    edges: Edges = p.EDGES.field("certain")
    budget: Budget | Mapping[str, float] | str = p.BUDGET.field(DEFAULT_BUDGET)
    labels: str | Sequence[str] = p.LABELS.field("private")
    time_zone: str = p.TIME_ZONE.field("UTC")
    gamma: float | None = p.GAMMA.field(None)
    subsamples: int | None = p.SUBSAMPLES.field(None)
    cases: int | None = p.CASES.field(None)
    most_cases: int | None = p.MOST_CASES.field(None)
    attributes: Sequence[Attribute | Mapping[str, Any]] = p.ATTRIBUTES.field(())
    resource_names: bool = p.RESOURCE_NAMES.field(False)
    plan: Plan = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Normalize the parameters and refuse invalid ones."""
        for name, allowed in (("tail", plans.TAILS), ("edges", plans.EDGES)):
            if (chosen := getattr(self, name)) not in allowed:
                raise UsageError(f"{name} is one of {', '.join(allowed)}, not {chosen!r}.")
        if not isinstance(self.resource_names, bool):
            raise UsageError(f"resource_names has to be True or False, not {self.resource_names!r}.")
        attributes = plans.checked_attributes(self.attributes)
        if not self.resource_names and any(one.name == RESOURCE and one.kind != "category" for one in attributes):
            raise UsageError(f'"{RESOURCE}" says who did it: describe it as a category, or ask for names with --resource-names.')
        epsilon, delta = checked_epsilon(self.epsilon), delta_of_guarantee(self.delta)
        budget = plans.checked_budget(self.budget, usual_share(attributes))
        subsamples = None if self.subsamples is None else checked_whole("subsamples", self.subsamples, 1, MOST_SUBSAMPLES)
        rate, runs, unit = plans.checked_rate_of(self.gamma, subsamples), subsamples or 1, Unit(self.most_cases)
        labels = plans.checked_labels(self.labels)
        said: Labels = "private" if labels == PRIVATE else "public" if labels == PUBLIC else "listed"
        kept: dict[str, Any] = {"tail": self.tail, "edges": self.edges, "labels": said}
        made = make_plan(epsilon, delta, budget, **kept, rate=rate, runs=runs, unit=unit, attributes=attributes)
        zone = plans.checked_time_zone(self.time_zone)
        cases = None if self.cases is None else checked_whole("cases", self.cases, 1, MOST_CASES)
        self._set(epsilon=epsilon, delta=delta, budget=budget.to_dict(), labels=labels, time_zone=zone)
        self._set(gamma=rate, subsamples=runs, cases=cases, attributes=attributes, plan=made)

    @property
    def private_labels(self) -> bool:
        """Whether labels are chosen privately."""
        return self.labels == PRIVATE

    def anonymize(self, log: EventLog | Origin, random: Randomness, progress: Progress = no_progress) -> Release:
        """The release of a log; `progress` is called with the stages done and the stages in all."""
        begin = perf_counter()
        stages = itertools.count(1)
        in_all = STAGES * self.plan.runs + 2  # finding the variants before, generating after

        def stage_done() -> None:
            progress(next(stages), in_all)

        origin = LogInMemory(log) if isinstance(log, EventLog) else log
        made = self.for_individuals() if origin.has_individual else self
        plan = made.plan
        if plan.unit != CASE and not origin.has_individual:
            raise UsageError("most_cases needs a column of individuals. Name it with --individual.")
        time_zone = self.time_zone if origin.has_zone else "UTC"
        listed = None if isinstance(self.labels, str) else tuple(self.labels)
        # Several cases of an individual take part together or not at all: such subsamples are drawn where the log comes from.
        anew = plan.runs > 1 and (plan.unit.most_cases or 1) > 1
        while_reading = plan.rate if plan.runs == 1 or anew else 1.0
        engine = origin.engine(plan.unit, random, while_reading, listed, plan.attributes)
        counted = perf_counter() - begin
        stage_done()
        public = None if self.private_labels else engine.labels
        runs, flows, gates = [], [], []
        for number in range(plan.runs):
            if anew and number:
                engine = origin.engine(plan.unit, random, while_reading, listed, plan.attributes)
            gate = Gate(engine, random, rate=while_reading, most_cases=plan.calibration.cases)
            gates.append(gate.subsampled(plan.rate) if plan.rate < while_reading else gate)
            draw = int(random.words(1)[0] >> np.uint64(1))
            run, flow = release_run(gates[-1], plan, public, time_zone, draw, stage_done)
            runs.append(run)
            flows.append(flow)
        ledgers = [made.complete(gate.ledger(plan.runs, asked=plan.calibration.mu)) for gate in gates]
        ledger = max(ledgers, key=made._delta_of_a_run)
        if delta_of_ledger(ledger, self.epsilon) > self.delta:
            raise AssertionError("more was released than the guarantee allows; nothing is given out")
        runs = runs if self.resource_names else with_pseudonyms(runs)
        figures = sharing_cases(runs, [flow.weights.sum() > 0 for flow in flows], self.cases)
        released = planned(figures, flows).in_parts(seeded=random.seeded)
        stage_done()
        aggregate = counted + sum(gate.seconds.aggregate for gate in gates)
        privatize = sum(gate.seconds.privatize for gate in gates)
        generate = perf_counter() - begin - aggregate - privatize
        tail = figures[0].control.tail
        expected = expected_of(figures, [flow[:2] for flow in flows], plan.rate)
        notes = [
            *made._notes(released, random.seeded, plan.taken(ledger.entries)[0]),
            *notes_on_zone(self.time_zone, has_zone=origin.has_zone),
        ]
        if released.n_cases:
            notes += [expected.warning] if expected.warning else []
            notes += (*notes_on_years(figures), *notes_on_attributes(figures))
        if released.n_cases and tail is not None and tail.base is not None:
            notes.append(noise_on_edges(tail.base.sd * figures[0].weight, certain=tail.certain))
            if tail.certain:
                notes.append(left_out(*tail.left_out()))
        return Release(
            log=released,
            mechanism=self.name,
            parameters=made.parameters() | {"time_zone": time_zone},
            guarantee=made.guarantee(seeded=random.seeded),
            seeded=random.seeded,
            notes=tuple(notes),
            ledger=ledger,
            figures=tuple(figures),
            expected=expected,
            contents=contents_of(released.instances, attributes=bool(plan.attributes)),
            seconds={"aggregate": aggregate, "privatize": privatize, "generate": generate},
        )

    def _delta_of_a_run(self, ledger: Ledger) -> float:
        """What one of the runs costs by itself: some may have chosen fewer values than others."""
        return delta_of_ledger(replace(ledger, rate=1.0, times=1), self.plan.calibration.epsilon)

    def for_individuals(self) -> Libra:
        """The same for a log that says whose case is whose: a case of each individual counts, where no other number is said."""
        return self if self.most_cases is not None else replace(self, most_cases=1)

    def guarantee(self, *, seeded: bool) -> Guarantee:
        """What is promised of a release."""
        labels = {PRIVATE: LABELS_PRIVATE, PUBLIC: LABELS_PUBLIC}.get(str(self.labels), LABELS_LISTED)
        released = [ATTRIBUTES_DECLARED] if self.plan.attributes else []
        categories = any(one.kind == "category" and one.name != RESOURCE for one in self.plan.attributes)
        released += [EMPLOYEES_IN_VALUES] if categories else []
        released += [EMPLOYEES, CALLED.format(self._called)] if self._called else []
        return proved(self.epsilon, self.delta, labels, seeded=seeded, most_cases=self.most_cases, released=released)

    @property
    def _called(self) -> str:
        """What resources are called; empty where none are released."""
        return resources_called([one.to_dict() for one in self.plan.attributes], names=self.resource_names)

    def parameters(self) -> dict[str, Any]:
        """The parameters, JSON-ready, as a certificate has them."""
        labels = self.labels if isinstance(self.labels, str) else list(self.labels)
        attributes = [attribute.to_dict() for attribute in self.plan.attributes]
        return super().parameters() | {"labels": labels, "attributes": attributes}

    def guarantees(self, *, seeded: bool) -> list[Guarantee]:
        """All guarantees that a release with these parameters may have: one."""
        return [self.guarantee(seeded=seeded)]

    @property
    def possible_contents(self) -> tuple[str, ...]:
        """What a release may hold: that depends on how the log was read."""
        return tuple(contents_of(mode, attributes=bool(self.plan.attributes)) for mode in (None, "pair", "events"))

    @property
    def planned_ledger(self) -> Ledger:
        """The ledger of a run, without entries: how cases are drawn, and what may be spent."""
        return Ledger((), self.plan.rate, self.plan.runs, self.most_cases or 1, self.plan.calibration.mu)

    def complete(self, ledger: Ledger) -> Ledger:
        """A ledger that a run has written, with what would have been released, had the look at rare cases come out otherwise."""
        return replace(ledger, otherwise=self.plan.taken(ledger.entries)[1])

    def departures(self, entries: Sequence[Entry]) -> Iterator[str]:
        """How the entries of a ledger differ from what a run with these parameters writes."""
        return departures_from_plan(entries, self.plan)

    def _notes(self, released: EventLog, seeded: bool, plan: Plan) -> Iterator[str]:
        if seeded:
            yield SEED_NOTE
        if self.epsilon > MODERATE[0]:
            yield (
                f"Epsilon {self.epsilon:g} is a weak guarantee: somebody who knows all else may go from even odds to at most "
                f"{from_even_odds(self.epsilon)} that {self.plan.unit} was in the log, rare outcomes aside. "
                "Most practitioners recommend 1 or less."
            )
        yield from notes_on_delta(self.guarantee(seeded=seeded), released.n_cases)
        if self.most_cases is not None:
            yield (
                f"The promise is for individuals as a whole. Of each, {counted_cases(self.most_cases)} counted, drawn at random; "
                "--most-cases counts more, with more noise. The release is about as large as what counted: --cases "
                "makes it larger."
            )
        if self._called:
            yield EMPLOYEES
            if self._called == LISTED_RESOURCES:
                yield f"{CALLED.format(LISTED_RESOURCES)} These names go out."
        elif self.resource_names:
            yield f"No resources were asked for, so --resource-names did not count. --attribute {RESOURCE} releases them."
        if bounded := [one.name for one in self.plan.attributes if (one.lowest, one.highest) != (None, None)]:
            yield f"Values of {listed(bounded)} beyond the declared bounds count as the bound."
        if self.cases is not None and released.n_cases:
            yield f"The expected error is that of the log before it was brought to {self.cases:,} cases."
        if not released.n_cases:
            said = "The anonymized log is empty: too little in this log stood out from the noise to make traces of."
            yield f"{said} {plan.survives()} {WOULD_HELP}"


def notes_on_delta(promised: Guarantee, released_cases: int) -> Iterator[str]:
    """That delta is large for so many cases, and what to ask for."""
    worth = promised.strength(released_cases)
    if worth is not None and worth.warning:
        yield worth.warning


def notes_on_zone(time_zone: str, *, has_zone: bool) -> Iterator[str]:
    """That a zone did not count, where the times of the log have none."""
    if not has_zone and time_zone != "UTC":
        yield "The times of this log are in no zone, so their hours and days are kept as they stand; --time-zone did not count."


def notes_on_years(runs: Sequence[Figures]) -> Iterator[str]:
    """That no year stood out, where cases start in one that was not chosen from the log."""
    if any(run.times.noisy and not years_standing_out(run.times.noisy["years"]) for run in runs):
        yield "No year stood out from the noise, so cases start in 2000, which says nothing of when they did."


def notes_on_attributes(runs: Sequence[Figures]) -> Iterator[str]:
    """Which attributes have no value in the release, or none but "(other)", and numbers of which little is known."""
    activities = {label.partition(SEPARATOR)[0] for run in runs for label in run.labels}
    lost, wide, noise, nowhere = list[str](), list[str](), list[str](), dict[str, list[str]]()
    for several in zip(*(each for run in runs if (each := run.each_attribute)), strict=True):
        attribute = several[0].attribute
        if attribute.at is not None and attribute.at not in activities:
            nowhere.setdefault(attribute.at, []).append(attribute.name)
        elif attribute.values is not None and _others(several) >= NEARLY_ALL:
            yield f'Nearly all values of "{attribute.name}" are "{OTHER}": check the declared values and their spelling.'
        elif len(attribute.values or ()) >= LONG and _doubtful(several) >= MANY_WIDE:
            noise.append(attribute.name)
        elif attribute.kind == "category" and not any(one.texts for one in several):
            lost.append(attribute.name)
        elif attribute.kind == "number" and _wide(several) >= MANY_WIDE:
            wide.append(attribute.name)
    for at, names in nowhere.items():
        have, its = ("has", "its") if len(names) == 1 else ("have", "their")
        hint = did_you_mean(at, sorted(activities))
        yield f'{listed(names)} {have} no value in the anonymized log: "{at}", {its} activity, is not in it.{hint}'
    if lost:
        yield f'No value of {listed(lost)} is frequent enough to be released: all are "{OTHER}". Declared values stay.'
    if noise:
        so_many = "The declared list is long for this noise: without one, the frequent values are found"
        yield f"Many released values of {listed(noise)} may be noise, and be those of no case. {so_many}."
    if wide:
        remedy = "Declare lowest and highest in the description to keep them in range"
        yield f"Many released numbers of {listed(wide)} may be off by a factor of two or more. {remedy}."


def _others(runs: Sequence[ReleasedAttribute]) -> float:
    """The released share of "(other)" among all values of a category."""
    with_value = sum(float(one.counts[1:].sum()) for one in runs)
    return sum(float(one.counts[1 + len(one.texts) :].sum()) for one in runs) / max(with_value, 1e-9)


def _doubtful(runs: Sequence[ReleasedAttribute]) -> float:
    """The released share of values that do not stand out from the noise, among those of a declared list."""
    counts, sds = (np.concatenate([getattr(one, name)[1 : 1 + len(one.texts)] for one in runs]) for name in ("counts", "sds"))
    return float(counts[counts < plans.STANDS_OUT * sds].sum()) / max(float(counts.sum()), 1e-9)


def _wide(runs: Sequence[ReleasedAttribute]) -> float:
    """The released share of numbers without bounds in intervals that end at twice where they begin, or farther."""
    found = 0.0
    for one in (one for one in runs if one.attribute.lowest is None or one.attribute.highest is None):
        begins, ends = ends_of(one.coding, one.attribute)
        sizes = np.sort(np.abs((begins, ends - 1)), axis=0)
        wide = (ends - begins > 1) & (sizes[1] + 1 >= 2 * sizes[0])
        found += float(one.counts[1 + len(one.coding.atoms) :][wide].sum())
    return found / max(sum(float(one.counts[1:].sum()) for one in runs), 1e-9)


def noise_on_edges(sd: float, *, certain: bool) -> str:
    """What noise of this standard deviation on the steps of rare cases means for whoever reads the log."""
    noise = max(round(sd), 1)
    about = f"Step counts from rare cases have noise of about {noise:,}"
    if certain:
        return (
            f"{about}. Steps, first and last activities that do not stand out from it are left out; about {ONE_IN} of those in "
            "this log may occur in no original case."
        )
    return (
        f"{about}: a step, first activity or last activity with a count below about {3 * noise:,} may occur in no original case."
    )


HARDLY_ANY = 50.0  # percent of the steps of rare cases that may be left out, from which on a figure would say nothing


def left_out(share: float, noise: float) -> str:
    """How many steps the log lacks because their edges did not stand out, from released figures."""
    most = 100 * (share if share > 2 * noise else max(share, 0.0) + 2 * noise)
    if most >= HARDLY_ANY:
        return (
            "Hardly any step of the rare cases stood out from the noise, by the released figures; all others were left out. "
            "--edges all keeps more of them, and adds false ones."
        )
    found = f"{'about' if share > 2 * noise else 'less than about'} {most:.{0 if most >= 10 else 1}f} %"
    return (
        f"Rare steps were left out because they did not stand out from the noise: {found} of the steps of rare cases, "
        "by the released figures. --edges all keeps more of them, and adds false ones."
    )

"""One run: the gate is asked in a few rounds, each request being made from what the rounds before released.

Control flow is generated between the rounds, because what is asked about times depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from libra._system.randomness import Randomness
from libra.engines.control_flow_tables import NearestCounts, RareCases, VariantCounts
from libra.errors import UsageError
from libra.eventlog.attributes import by_level
from libra.eventlog.instances import SEPARATOR
from libra.mechanisms.libra.attributes.columns import able_to_have
from libra.mechanisms.libra.attributes.events import release_events
from libra.mechanisms.libra.attributes.pairs import with_pairs
from libra.mechanisms.libra.attributes.release import in_places, release_attributes
from libra.mechanisms.libra.figures import ControlFigures, Figures, case_counts, completion_of, weighted
from libra.mechanisms.libra.generate import Flow, planned
from libra.mechanisms.libra.plan import Plan
from libra.mechanisms.libra.tail.release import release_tail
from libra.mechanisms.libra.times.release import release_times
from libra.privacy.gate import Gate

MOST_LABELS = 5_000  # tables of edges have a cell for every pair: 25 million of them
STAGES = 3  # of a run, after each of which the caller is told


def release_run(
    gate: Gate, plan: Plan, public: tuple[str, ...] | None, zone: str, draw: int, stage_done: Callable[[], None] = lambda: None
) -> tuple[Figures, Flow]:
    """The released figures of one run, and its control flow; `draw` is the seed of the generation.

    `public` are the labels that are, None where they are chosen privately; hours and days are those of the zone. `stage_done` is
    called after each of the `STAGES`: control flow released, control flow generated, times released.
    """
    labels, control = _release_control(gate, plan, public)
    stage_done()
    traces, weights = weighted(control, Randomness(draw))
    stage_done()
    counts = case_counts(weights, 1.0, None, Randomness(draw ^ 2))
    of_labels = gate.with_labels(labels)
    times = release_times(of_labels, traces, len(labels), plan.mu_times, zone, counts)
    figures = Figures(labels, control, times, zone, 1 / (plan.rate * plan.runs), None, draw)
    flow = Flow(traces, weights)
    if plan.attributes:
        as_counted = planned([replace(figures, weight=1.0)], [flow])
        like = as_counted.runs[0].first(as_counted.n_parts)
        flow = Flow(traces, weights, like)
        mu, n_cases, scale, of_cases = plan.mu_of_cases, float(counts.sum()), plan.calibration.scale, by_level(plan.attributes)[0]
        able = able_to_have(of_cases, labels, like)
        shares = [float(one.sum()) / max(len(like), 1) for one in able]
        found = release_attributes(of_labels, of_cases, mu, plan.choices, scale, n_cases, shares)
        found = in_places(with_pairs(of_labels, found, able, mu, like, n_cases))
        of_events = release_events(of_labels, plan.attributes, plan.mu_of_events, plan.choices, labels, like, n_cases)
        figures = replace(figures, attributes=found, of_events=tuple(one.in_places() for one in of_events))
    stage_done()
    return figures, flow


def _release_control(gate: Gate, plan: Plan, public: tuple[str, ...] | None) -> tuple[tuple[str, ...], ControlFigures]:
    """The labels that are released, and the control flow in their codes.

    Variants are chosen first, of whole traces, and a case belongs to a kept one or to the tail by its whole trace. Labels that
    kept variants have are out with them. What else is asked about traces is asked without the events of labels that are not.
    """
    rare_cases = None
    if plan.look is not None:
        rare_cases = gate.release(RareCases(plan.look.most), plan.look.mu)
        plan = plan.after(float(rare_cases.values[0]))
    noise = plan.calibration
    if public is not None and len(public) > MOST_LABELS:  # before any noise is drawn: a refusal after that would be a release
        forms = ", starts and transitions included" if any(SEPARATOR in label for label in public) else ""
        why = f"There are more than {MOST_LABELS:,} activity labels{forms}, too many for a figure for every pair of them."
        raise UsageError(f"{why} Group them into fewer labels, or leave labels private, which keeps frequent ones alone.")
    if noise.geometric is None:
        kept, first = gate.select_variants(noise.mu_variants, noise.variant_threshold, noise.scale)
    else:
        kept, first = gate.count_variants(*noise.geometric)
    labels = gate.labels_of(kept) if public is None else public
    tail, second = None, None
    if plan.tail == "nearest":
        released = gate.recoded(kept, labels)
        second = gate.with_labels(labels).release(NearestCounts(released, len(labels)), plan.mu_second)
    else:
        if plan.mu_second:
            second = gate.release(VariantCounts(kept), plan.mu_second, group="kept")
        rare = gate.tail(kept) if plan.tail == "model" else None
        if rare is not None:
            for each in noise.label_rounds:
                labels = rare.select_labels(labels, each.mu, each.threshold, most=max(MOST_LABELS - len(labels), 0))
        released = gate.recoded(kept, labels)
        if rare is not None and len(labels) <= MOST_LABELS:
            certain = plan.edges == "certain"
            rare, starts = rare.with_labels(labels), completion_of(labels)
            tail = release_tail(rare, released, len(labels), plan.mu_tail, certain=certain, completion=starts)
    nearest, completion = plan.tail == "nearest", completion_of(labels)
    decay = None if noise.geometric is None else noise.geometric.epsilon
    found = ControlFigures(len(labels), released, first, second, noise.least_count, tail, nearest, completion, decay, rare_cases)
    return labels, found

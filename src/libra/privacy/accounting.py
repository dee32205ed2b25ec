"""The accountant: from a ledger to (epsilon, delta), for adding and for removing one case.

In: a `Ledger`. Out: delta at an epsilon, or epsilon at a delta; always an upper bound. Gaussian noise is counted in closed form,
private selections by the two-sided analysis of docs/guarantees.md, whole-numbered noise by its few losses, Laplace noise by
privacy loss distributions (dp-accounting, loaded when it is needed), subsamples of the whole by amplification. The promise: an
entry of a kind it does not know is refused.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from libra.privacy.arguments import checked_delta
from libra.privacy.calibration import selections_delta
from libra.privacy.composition import Curve, repeated, subsampled
from libra.privacy.discrete_losses import losses_of
from libra.privacy.gaussian import delta_of, least
from libra.privacy.ledger import (
    DISCRETE_LAPLACE,
    GAUSSIAN,
    LABEL_SELECTION,
    LAPLACE,
    TRUNCATED_GEOMETRIC,
    VARIANT_SELECTION,
    Entry,
    Ledger,
)

SELECTIONS = (VARIANT_SELECTION, LABEL_SELECTION)
LARGEST = 1000.0  # epsilons are looked for up to here
INTERVAL = 1e-4  # of the grid for privacy losses
LARGEST_EXPONENT = 700.0  # e^epsilon in floats; by then tables are off by more than any delta
LOST = 1e-12  # of a distribution's mass, to the library's floats


class UnknownReleaseError(Exception):
    """A ledger has an entry that the accountant cannot count: a mistake in the program, never in its use."""


def delta_of_ledger(ledger: Ledger, epsilon: float) -> float:
    """The delta at `epsilon` of everything in the ledger.

    Example:
        >>> from libra.privacy.ledger import ROUNDED_GAUSSIAN
        >>> ledger = Ledger((Entry("edges", ROUNDED_GAUSSIAN, 1.0, 4.0), Entry("lengths", ROUNDED_GAUSSIAN, 1.0, 4.0)))
        >>> delta_of_ledger(ledger, 1.0) == delta_of(math.sqrt(2) / 4, 1.0)
        True
    """
    return _curve(ledger)(epsilon)


def epsilon_of_ledger(ledger: Ledger, delta: float) -> float:
    """The epsilon at `delta` of everything in the ledger; infinite where no epsilon has such a delta.

    Example:
        >>> from libra.privacy.ledger import ROUNDED_GAUSSIAN
        >>> round(epsilon_of_ledger(Ledger((Entry("edges", ROUNDED_GAUSSIAN, 1.0, 3.19),)), 1e-4), 2)
        1.0
    """
    delta = checked_delta(delta)
    curve = _curve(ledger)
    high = 0.01
    while curve(high) > delta:
        high *= 2
        if high > LARGEST:
            return math.inf
    return least(lambda epsilon: curve(epsilon) <= delta, 0.0, high)


def _curve(ledger: Ledger) -> Curve:
    """Delta as a function of epsilon."""
    for entry in ledger.entries:
        _refuse_unknown(entry)
    if ledger.most_cases > 1 and any(entry.mechanism not in GAUSSIAN for entry in ledger.entries):
        raise UnknownReleaseError("Other than Gaussian noise is counted for one case alone; here somebody has several.")
    return repeated(subsampled(_one_run(ledger), ledger.rate), ledger.times)


def _refuse_unknown(entry: Entry) -> None:
    if entry.mechanism not in (*GAUSSIAN, LAPLACE, DISCRETE_LAPLACE, TRUNCATED_GEOMETRIC):
        raise UnknownReleaseError(f'The accountant does not know how to count "{entry.mechanism}".')
    if entry.mechanism == DISCRETE_LAPLACE and not (entry.sensitivity > 0 and float(entry.sensitivity).is_integer()):
        raise UnknownReleaseError(f'"{entry.purpose}" has whole-numbered noise, and a sensitivity of {entry.sensitivity}.')
    if entry.mechanism == TRUNCATED_GEOMETRIC and (entry.bound is None or entry.sensitivity != 1):
        raise UnknownReleaseError(f'"{entry.purpose}" is a truncated geometric without bound, or not of sensitivity 1.')


def _one_run(ledger: Ledger) -> Curve:
    others = [entry for entry in ledger.entries if entry.mechanism not in GAUSSIAN]
    selections = [entry for entry in ledger.entries if entry.mechanism in SELECTIONS]
    mu = ledger.most_cases * ledger.mu
    if others:
        return _with_other_noise(mu, -math.expm1(_log_hidden(selections)), others)
    shows = -math.expm1(_log_hidden(selections))
    if ledger.most_cases == 1 and _variants_first(selections):
        without = Ledger(tuple(entry for entry in ledger.entries if entry is not selections[0])).mu
        return lambda epsilon: max(delta_of(mu, epsilon), selections_delta(without, shows, epsilon))
    return lambda epsilon: selections_delta(mu, shows, epsilon)


def _variants_first(selections: list[Entry]) -> bool:
    """Whether variants were chosen first, of whole traces, and labels only from cases of none that was kept.

    Then a case either shares its variant, and with it all its labels, or costs nothing in the choice of variants.
    """
    first = [(VARIANT_SELECTION, "all")]
    found = [(entry.mechanism, entry.group) for entry in selections]
    return found[:1] == first and all(one == (LABEL_SELECTION, "tail") for one in found[1:])


def _log_hidden(selections: list[Entry]) -> float:
    """The logarithm of the probability that no selection shows anything new."""
    return sum(math.log1p(-entry.shows) for entry in selections)


def _with_other_noise(mu: float, shows: float, others: list[Entry]) -> Curve:
    """The curve where not all noise is Gaussian; entries that are not all count, whatever their group."""
    few = losses_of(others)
    whole = _on_a_grid(mu, others) if few is None else partial(few.delta, mu)
    distance = sum(_table_distance(entry) for entry in others)

    def curve(epsilon: float) -> float:
        tables = (1 + math.exp(min(epsilon, LARGEST_EXPONENT))) * distance
        return min(1.0, max(shows + whole(epsilon), whole(epsilon + math.log1p(-shows))) + tables)

    return curve


def _on_a_grid(mu: float, others: list[Entry]) -> Curve:
    """The curve by privacy loss distributions, where losses are too many to be written down."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    whole: Any = pld.identity(value_discretization_interval=INTERVAL)
    if mu > 0:
        whole = whole.compose(pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=INTERVAL))
    for entry in others:
        whole = whole.compose(_loss(entry))
    lost = LOST * (len(others) + 1)
    return lambda epsilon: float(whole.get_delta_for_epsilon(epsilon)) + lost


def _loss(entry: Entry) -> Any:  # a type of dp-accounting
    from dp_accounting.pld import privacy_loss_distribution as pld

    if entry.mechanism == LAPLACE:
        return pld.from_laplace_mechanism(entry.noise, entry.sensitivity, value_discretization_interval=INTERVAL)
    if entry.mechanism == DISCRETE_LAPLACE:
        return pld.from_discrete_laplace_mechanism(
            1 / entry.noise, int(entry.sensitivity), value_discretization_interval=INTERVAL
        )
    k, epsilon = entry.bound or 0, 1 / entry.noise
    peak = math.log(-math.expm1(-epsilon)) - math.log1p(math.exp(-epsilon) - 2 * math.exp(-epsilon * (k + 1)))
    here = {z: peak - epsilon * abs(z) for z in range(-k, k + 1)}
    above = {z + 1: weight for z, weight in here.items()}
    return pld.from_two_probability_mass_functions(here, above, value_discretization_interval=INTERVAL)


def _table_distance(entry: Entry) -> float:
    """How far the table that noise is drawn from is from its distribution; the one count that a case moves is drawn from it."""
    if entry.mechanism == LAPLACE:
        return 0.0
    cells = 2 * (entry.bound or math.ceil(45 * entry.noise)) + 3
    return cells * 2.0**-64

"""SaCoFa (Fahrenkrog-Petersen, Kabierski, Rösel, van der Aa and Weidlich 2021): semantics-aware control-flow anonymization.

The prefix query, level by level, but first it is read off the raw log which activity always, sometimes or never follows or
precedes which other. Prefixes that keep all of this get their count with Laplace noise of scale 1/epsilon, cut to a whole number.
Of the V others at a level, an exponential mechanism lets in m (the probability of m is proportional to e^(epsilon (V - m) / 2)),
drawn at random, which get noise as well; the rest stay 0. Open prefixes are pruned below a threshold. Finished traces are not:
they come out wherever their noisy count is above 0, and so do, as complete traces, prefixes of the longest length.

The claim of epsilon-differential privacy does not hold: the relations are an uncounted query about the raw log, and a case
counts at every level. Labels are public. There are no times, unless our own model adds some from a share of the budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from libra.engines.counting.continuations import continuations
from libra.engines.polars import engine_of
from libra.eventlog.cases import Cases, Integers, concatenated
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.libra.plan import DEFAULT_BUDGET, Budget
from libra.mechanisms.peers.arguments import DEFAULT_PRUNE, Times
from libra.mechanisms.peers.claim import EpsilonClaim
from libra.mechanisms.peers.counted import Counted, counted_of
from libra.mechanisms.peers.release import Answer, contents_of, release_of
from libra.mechanisms.peers.spending import Spending, shared
from libra.mechanisms.prefix_tree import grow, truncated_laplace
from libra.mechanisms.prefix_tree.parameters import bring_into_form, least_count, longest_trace, told
from libra.mechanisms.prefix_tree.words import ASSUMPTIONS, of_levels, of_raw_figures, shared_caveats, statement
from libra.mechanisms.release import Release
from libra.mechanisms.sacofa.relations import Booleans, check_labels, relations_of
from libra.privacy.gate import Gate
from libra.privacy.guarantee import Guarantee
from libra.privacy.randomness import Randomness

SOURCE = (
    "S. A. Fahrenkrog-Petersen, M. Kabierski, F. Rösel, H. van der Aa and M. Weidlich: SaCoFa: Semantics-aware Control-flow "
    "Anonymization for Process Mining, ICPM 2021"
)
RELATIONS = (
    "Which activity always, sometimes or never follows or precedes which other is read off the raw log, without noise and not "
    "counted. One case with something new lets traces through that were held back without it: whoever sees many of them "
    "knows that somebody did this."
)
LET_IN = "How many prefixes that break a relation are let in is drawn with epsilon again at every level, and not counted."


@dataclass(frozen=True)
class Sacofa:
    """SaCoFa, with its parameters.

    Attributes:
        epsilon: What is claimed.
        prune: From which noisy count on an open prefix is kept: a share of the cases below 1, a whole count from 1 up.
        max_length: The number of events of the longest trace; None for the average of a case, rounded up.
        times: "none" for placeholders, "model" for times from our private model.
        budget: Shares of control flow and times, where times are modelled.
        delta: Of the modelled times.
        time_zone: Whose hours and days the times are in.

    Example:
        >>> from libra.example.simulate import simulate
        >>> release = Sacofa(epsilon=1.0).anonymize(simulate(cases=500), Randomness())
        >>> release.guarantee.kind, release.has_times
        ('claimed', False)
    """

    name: ClassVar[str] = "sacofa"
    private_labels: ClassVar[bool] = False

    epsilon: float = 1.0
    prune: float = DEFAULT_PRUNE
    max_length: int | None = None
    times: Times = "none"
    budget: Budget | dict[str, float] | str = DEFAULT_BUDGET
    delta: float = 1e-5
    time_zone: str = "UTC"
    shares: Budget = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Bring the parameters into their one form and refuse what cannot be meant."""
        bring_into_form(self)
        _ = self.spending  # what cannot be drawn is refused here

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress = no_progress) -> Release:
        """The release of a log."""
        engine = engine_of(log)
        progress(1, 3)
        counted = self._answer(Counted(*engine.variants()), len(engine.labels), random)
        progress(2, 3)
        release = release_of(self, log, Answer(counted, engine.labels, Gate(engine, random)), random)
        progress(3, 3)
        return release

    def variants(self, cases: Cases, random: Randomness) -> Counted:
        """The answer of the query about some cases.

        Example:
            >>> from libra.eventlog.cases import cases_of
            >>> from libra.example.simulate import simulate
            >>> Sacofa().variants(cases_of(simulate(cases=500)), Randomness()).n_cases > 0
            True
        """
        return self._answer(counted_of(cases), cases.n_activities, random)

    def _answer(self, counted: Counted, n_labels: int, random: Randomness) -> Counted:
        check_labels(n_labels)
        epsilon, longest = self.spending.epsilon, longest_trace(self.max_length, counted)
        least = least_count(self.prune, counted, epsilon, n_labels, longest)
        relations = relations_of(counted.traces, n_labels)

        def level(prefixes: Integers, last: bool) -> Integers:
            admitted = _admitted(relations.broken(prefixes), epsilon, random)
            noisy = continuations(counted.traces, counted.counts, prefixes, n_labels)
            noisy *= admitted
            noisy[admitted] += truncated_laplace(1 / epsilon, int(admitted.sum()), random)
            pruned = noisy < (1 if last else least)
            pruned[:, n_labels] = noisy[:, n_labels] < 1
            noisy[pruned] = 0
            return noisy

        grown = grow(level, n_labels, longest)
        parts = (grown.finished, grown.still_open)
        return Counted(concatenated([part.traces for part in parts]), np.concatenate([part.counts for part in parts]))

    @cached_property
    def spending(self) -> Spending:
        """What control flow and times get."""
        return shared(self.epsilon, self.delta, self.shares, self.times)

    @property
    def mu_times(self) -> float | None:
        """What may be spent on times."""
        return self.spending.mu_times

    @property
    def contents(self) -> str:
        """What a release holds."""
        return contents_of(self.times)

    def claim(self) -> EpsilonClaim:
        """What its authors claim."""
        return EpsilonClaim(self.epsilon, self.delta if self.times == "model" else 0.0)

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is claimed of a release, and why it does not hold."""
        return Guarantee(
            kind="claimed",
            statement=statement(self.epsilon, self.claim().delta),
            source=SOURCE,
            assumptions=ASSUMPTIONS,
            caveats=tuple(self._caveats(individuals)),
        )

    def _caveats(self, individuals: bool) -> Iterator[str]:
        yield RELATIONS
        yield of_levels(self.spending.epsilon, self.max_length)
        yield LET_IN
        yield from of_raw_figures(self.prune, self.max_length)
        yield from shared_caveats(modelled=self.times == "model", individuals=individuals)

    def parameters(self) -> dict[str, Any]:
        """What was asked for, as far as it played a part."""
        plain = {parameter.name: getattr(self, parameter.name) for parameter in fields(self) if parameter.init}
        return told(plain, delta=self.times == "model")


def _admitted(broken: Booleans, epsilon: float, random: Randomness) -> Booleans:
    """What gets a count: all that breaks nothing, and of the others as many as are let in, drawn at random."""
    others = np.flatnonzero(broken)
    admitted = ~broken
    admitted.flat[others[_some_of(len(others), _let_in(len(others), epsilon, random), random)]] = True
    return admitted


def _some_of(n: int, m: int, random: Randomness) -> Integers:
    """So many (m) different numbers from 0 up to n, each set of them as likely; few take no memory for all."""
    if 2 * m >= n:
        return random.permutation(n)[:m]
    drawn = first = np.zeros(0, np.int64)
    while len(first) < m:
        drawn = np.append(drawn, random.below(n, 2 * m))
        first = np.unique(drawn, return_index=True)[1]
    return drawn[np.sort(first)[:m]]


def _let_in(n: int, epsilon: float, random: Randomness) -> int:
    """A number m from 0 to n, with a probability proportional to e^(-epsilon m / 2)."""
    whole = -math.expm1(-epsilon * (n + 1) / 2)
    drawn = -math.log1p(-float(random.uniform(1)[0]) * whole) / (epsilon / 2)
    return min(int(drawn), n)

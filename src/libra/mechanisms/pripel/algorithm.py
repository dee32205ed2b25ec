"""PRIPEL: the variants of a query, each with the times and attributes of the case it resembles, randomized.

In: a log, an epsilon and a query for control flow, prefix-laplace or sacofa. Out: a `Release`. Every variant that the query gives
is matched to a case of the original by least total edit distance (`matching`), takes over its times and event attributes event by
event (`context`, `attributes`), and each value goes through a mechanism with epsilon (`times`, `attributes`). Traces beyond the
number of cases are matched to none; all their values are drawn from the log, as the authors' code does. Attributes of cases are
no part of the algorithm and are left out. Its authors claim epsilon-differential privacy. It does not hold: a case spends epsilon
for each of its values anew, and the domains of the values come from the log (`claim` has the whole list).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, cast

import numpy as np

from libra.errors import UsageError
from libra.eventlog.cases import Cases, Integers, cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.names import column
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.fresh_log import fresh_log
from libra.mechanisms.mechanism import mechanism
from libra.mechanisms.peers.arguments import DEFAULT_PRUNE, checked_max_length, checked_prune
from libra.mechanisms.peers.claim import EpsilonClaim
from libra.mechanisms.peers.counted import Counted, counted_of
from libra.mechanisms.pripel.attributes import randomized_attributes, released_attributes
from libra.mechanisms.pripel.claim import guarantee
from libra.mechanisms.pripel.context import own_times, taken_after
from libra.mechanisms.pripel.gaps import gaps_of
from libra.mechanisms.pripel.matching import TooLargeError, fits_well, matched
from libra.mechanisms.pripel.times import randomized_times
from libra.mechanisms.real_cases import release_of_cases
from libra.mechanisms.release import Release
from libra.privacy.gaussian import checked_epsilon
from libra.privacy.guarantee import Guarantee
from libra.privacy.randomness import Randomness

Query: TypeAlias = Literal["prefix-laplace", "sacofa"]
QUERIES: tuple[Query, ...] = ("prefix-laplace", "sacofa")
CONTENTS = (
    "case ids made anew, activities, timestamps and randomized attributes of events; no attribute of a case, no id and no header "
    "of the original"
)
NOTHING = "The query gave no variant: no prefix was frequent enough. A smaller --prune or a larger --epsilon would help."
RELEASED = "Attributes of events are released whose values are those of the original, some of them changed at random"
TOO_LARGE = "pripel would match more variants to cases than there is memory for."
LARGEST_SHARE = 0.5


class _Asked(Protocol):
    """What is needed of a query for control flow."""

    def variants(self, cases: Cases, random: Randomness) -> Counted:
        """Its answer about some cases."""

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is promised of it."""


@dataclass(frozen=True)
class Pripel:
    """PRIPEL, with its parameters.

    Attributes:
        epsilon: What is claimed: of the query, of the shift of a case, of each gap and of each value of an attribute.
        query: Where the control flow comes from.
        prune: From which noisy count on the query keeps a prefix: a share of the cases below 1, a whole count from 1 up.
        max_length: The number of events of the longest trace; None for the average of a case, rounded up.

    Example:
        >>> from libra.example.simulate import simulate
        >>> release = Pripel(epsilon=1.0).anonymize(simulate(cases=500), Randomness())
        >>> release.guarantee.kind, release.log.n_cases > 0
        ('claimed', True)
    """

    name: ClassVar[str] = "pripel"
    contents: ClassVar[str] = CONTENTS

    epsilon: float = 1.0
    query: Query = "prefix-laplace"
    prune: float = DEFAULT_PRUNE
    max_length: int | None = None

    def __post_init__(self) -> None:
        """Bring the parameters into their one form and refuse what cannot be meant."""
        for name, value in (
            ("epsilon", checked_epsilon(self.epsilon)),
            ("prune", checked_prune(self.prune)),
            ("max_length", checked_max_length(self.max_length)),
        ):
            object.__setattr__(self, name, value)
        if self.query not in QUERIES:
            raise UsageError(f"query is one of {', '.join(QUERIES)}, not {self.query!r}.")

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress = no_progress) -> Release:
        """The release of a log; `progress` is called with the parts done and the parts in all."""
        cases = cases_of(log)
        progress(0, 3)
        anonymized, after = self._anonymized(cases, random)
        progress(1, 3)
        names = released_attributes(log)
        originals = log.events.select(column(name) for name in names)
        attributes = randomized_attributes(originals, cases.codes, anonymized.codes, after, self.epsilon, random)
        progress(2, 3)
        released = fresh_log(anonymized, log.activities, random, attributes=attributes)
        progress(3, 3)
        notes = (f"{RELEASED}: {', '.join(names)}.",) if names and released.n_cases else ()
        return release_of_cases(self, log, released, random, if_empty=NOTHING, notes=notes)

    def anonymized(self, cases: Cases, random: Randomness) -> Cases:
        """The algorithm itself, on what it knows of a log without attributes.

        Example:
            >>> from libra.example.simulate import simulate
            >>> cases = cases_of(simulate(cases=500))
            >>> Pripel(query="sacofa").anonymized(cases, Randomness()).n_activities == cases.n_activities
            True
        """
        return self._anonymized(cases, random)[0]

    def _anonymized(self, cases: Cases, random: Randomness) -> tuple[Cases, Integers]:
        """The cases to release, and for each event which one of the original it takes after."""
        asked = self._answer(self.prune, cases, random)
        traces, variant = asked.repeated(), np.repeat(np.arange(len(asked)), asked.counts)
        if not len(traces):
            return Cases(traces.codes, traces.codes, traces.offsets, variant, cases.n_activities), traces.codes
        try:
            rows = matched(asked, cases, random)
        except TooLargeError:
            raise self._refusal(cases, random) from None
        gaps = gaps_of(cases)
        after = taken_after(traces, rows, cases)
        own = Cases(traces.codes, own_times(traces, after, cases, gaps, random), traces.offsets, variant, cases.n_activities)
        span = int(cases.micros.min()), int(cases.micros.max())
        return randomized_times(own, gaps, span, self.epsilon, random), after

    def _answer(self, prune: float, cases: Cases, random: Randomness) -> Counted:
        """What the query gives."""
        return self._query(prune).variants(cases, random) if len(cases) else counted_of(cases)

    def _query(self, prune: float) -> _Asked:
        made = mechanism(self.query, {"epsilon": self.epsilon, "prune": prune, "max_length": self.max_length})
        return cast("_Asked", made)

    def _refusal(self, cases: Cases, random: Randomness) -> UsageError:
        """What to say, with a setting that was tried."""
        prune, there = self.prune, counted_of(cases)
        while prune >= 1 or prune < LARGEST_SHARE:
            prune = max(2 * prune, 1e-4)
            answer = self._answer(prune, cases, random)
            if not len(answer):
                break
            if fits_well(answer, there):
                return UsageError(f"{TOO_LARGE} --prune {prune:g} would work.")
        return UsageError(f"{TOO_LARGE} Ask for a larger --epsilon or a smaller --max-length.")

    def claim(self) -> EpsilonClaim:
        """What its authors claim."""
        return EpsilonClaim(self.epsilon)

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is claimed of a release, and why it does not hold."""
        of_query = self._query(self.prune).guarantee(seeded=seeded, individuals=False).caveats
        return guarantee(self.claim(), of_query, persons=individuals)

    def parameters(self) -> dict[str, Any]:
        """What was asked for."""
        return {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}

"""Amun: copy cases until every transition of the log's automaton carries noise, then put noise on the times of all.

In: a log and a guessing advantage d, or an epsilon, which stand for each other (`guesses`). Out: a `Release` with every case of
the log, some of them several times, under new ids and at other times. Its authors claim that no attacker's guess about a case
gains more than d from the release. It does not hold: all cases are released, noise is scaled for one transition and not for a
path, and the noise of times depends on the log without being accounted for (`claim` has the whole list).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from libra.errors import UsageError
from libra.eventlog.cases import Cases, cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.amun.claim import guarantee
from libra.mechanisms.amun.copies import copied_rows, on_automaton
from libra.mechanisms.amun.guesses import advantage_of, epsilon_of
from libra.mechanisms.amun.times import noisy_times
from libra.mechanisms.fresh_log import fresh_log
from libra.mechanisms.peers.claim import EpsilonClaim
from libra.mechanisms.real_cases import release_of_cases
from libra.mechanisms.release import CONTENTS, Release
from libra.privacy.arguments import checked
from libra.privacy.gaussian import checked_epsilon
from libra.privacy.guarantee import Guarantee
from libra.privacy.randomness import Randomness

DEFAULT_ADVANTAGE = 0.2  # the one that its authors' code is set to
NOTHING = "There was no case to begin with."
SMALLEST_ADVANTAGE, LARGEST_ADVANTAGE = 1e-9, 0.999


@dataclass(frozen=True)
class Amun:
    """Amun, with its parameters: one of the two.

    Attributes:
        guessing_advantage: By how much, in probability, a guess about a case may gain from the release. Default: 0.2.
        epsilon: Of control flow, in its place.

    Example:
        >>> from libra.example.simulate import simulate
        >>> release = Amun(guessing_advantage=0.4).anonymize(simulate(cases=500), Randomness())
        >>> release.guarantee.kind, release.log.n_cases > 500
        ('claimed', True)
    """

    name: ClassVar[str] = "amun"
    contents: ClassVar[str] = CONTENTS

    guessing_advantage: float | None = None
    epsilon: float | None = None

    def __post_init__(self) -> None:
        """Bring the parameters into their one form and refuse what cannot be meant."""
        if self.guessing_advantage is not None and self.epsilon is not None:
            raise UsageError("guessing_advantage and epsilon stand for each other. Give one of them.")
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
            _checked_advantage(self.advantage, f"epsilon {self.epsilon:g} amounts to a guessing_advantage that")
        else:
            said = DEFAULT_ADVANTAGE if self.guessing_advantage is None else self.guessing_advantage
            object.__setattr__(self, "guessing_advantage", _checked_advantage(said, "guessing_advantage"))

    @cached_property
    def advantage(self) -> float:
        """The guessing advantage that was asked for, or that the epsilon amounts to."""
        if self.guessing_advantage is not None:
            return self.guessing_advantage
        if self.epsilon is None:
            raise AssertionError("one of the two is always there")
        return advantage_of(self.epsilon)

    @cached_property
    def trace_epsilon(self) -> float:
        """The epsilon of control flow."""
        return epsilon_of(self.advantage) if self.epsilon is None else self.epsilon

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress = no_progress) -> Release:
        """The release of a log; `progress` is called with the parts done and the parts in all."""
        progress(0, 2)
        anonymized = self.anonymized(cases_of(log), random)
        progress(1, 2)
        released = fresh_log(anonymized, log.activities, random)
        progress(2, 2)
        return release_of_cases(self, log, released, random, if_empty=NOTHING)

    def anonymized(self, cases: Cases, random: Randomness) -> Cases:
        """The algorithm itself: all cases and the copies, at noisy times.

        Example:
            >>> from libra.example.simulate import simulate
            >>> cases = cases_of(simulate(cases=50))
            >>> set(Amun().anonymized(cases, Randomness()).variant.tolist()) == set(cases.variant.tolist())
            True
        """
        if not len(cases):
            return cases
        log = on_automaton(cases)
        rows = copied_rows(log, self.trace_epsilon, random)
        return noisy_times(log, rows, self.advantage, random)

    def claim(self) -> EpsilonClaim:
        """The figures that its authors claim."""
        return EpsilonClaim(self.trace_epsilon, guessing_advantage=self.advantage)

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is claimed of a release, and why it does not hold."""
        return guarantee(self.claim(), persons=individuals)

    def parameters(self) -> dict[str, Any]:
        """What was asked for."""
        return {"guessing_advantage": self.guessing_advantage} if self.epsilon is None else {"epsilon": self.epsilon}


def _checked_advantage(advantage: float, name: str) -> float:
    bounds = f"from {SMALLEST_ADVANTAGE:g} to {LARGEST_ADVANTAGE:g}"
    return checked(name, advantage, lambda number: SMALLEST_ADVANTAGE <= number <= LARGEST_ADVANTAGE, bounds)

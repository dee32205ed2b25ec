"""Amun (Elkoumy, Pankova and Dumas 2021): cases copied and times noised until nobody's guess about a case gains too much.

Its authors claim that no attacker's guess about a case gains more than a guessing advantage d, for which an epsilon stands as
well. It does not hold (`guarantee` says why). A guess is right with probability p before the release. Epsilon-differential
privacy over values scaled to their range multiplies the odds by e^epsilon at most, so afterwards it is right with probability
p / (p + (1 - p) e^-epsilon). This is p + d at epsilon = -ln(p / (1 - p) (1 / (d + p) - 1)), and less at any epsilon where
p + d >= 1. That somebody took a path is guessed with a prior nobody knows: p = (1 - d) / 2 asks for the smallest epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from libra._system.arguments import checked
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.cases import DAY, MINUTE, Cases, Floats, Integers, Traces, cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms import parameters as p
from libra.mechanisms.fresh_log import fresh_log
from libra.mechanisms.libra2022.trace_noise import Paths, changed, cover, variant_paths
from libra.mechanisms.peers import NO_GUARANTEE, EpsilonClaim, PeerMechanism, at_relative_times, claimed, relative_times
from libra.mechanisms.release import Release
from libra.privacy.gaussian import checked_epsilon
from libra.privacy.guarantee import Guarantee

DEFAULT_ADVANTAGE = 0.2  # the one that its authors' code is set to
SMALLEST_ADVANTAGE, LARGEST_ADVANTAGE = 1e-9, 0.999
BOUNDS = f"{SMALLEST_ADVANTAGE:g} to {LARGEST_ADVANTAGE:g}"
NOTHING = "There was no case to begin with."
MOST_EVENTS = 50_000_000  # beyond this, memory would run out
ROOM = 0.8
LARGEST_TRIED = 0.9
PRECISION = 10 * MINUTE  # of a guessed gap
START_PRECISION = DAY
SOURCE = (
    "G. Elkoumy, A. Pankova and M. Dumas: Mine Me but Don't Single Me Out: Differentially Private Event Logs for Process Mining, "
    "ICPM 2021"
)
ALL_RELEASED = (
    "Every case of the original is in the release, and some are there several times. Noise only ever adds copies, so a variant "
    "that is not there was not in the original, and one that is, was."
)
PATHS = "Noise on a transition is scaled for a case that touches one. A case touches all on its path, up to hundreds."
PRIORS = (
    "How much noise a time gets is computed from the other times of the log and never accounted for. A time that few share gets "
    "less noise than one that many do, and one that nearly all share gets none."
)
EVENTS = (
    "Each event of a case has an epsilon of its own, computed from the log, and spends it in each copy. They add up over the "
    "case, and with that of control flow; none of this is counted."
)


@dataclass(frozen=True)
class Amun(PeerMechanism):
    """Amun: all cases and copies of them, at noisy times. Claimed by its authors.

    Example:
        >>> from libra.example.simulate import simulate
        >>> release = Amun(guessing_advantage=0.4).anonymize(simulate(cases=500), Randomness())
        >>> release.guarantee.kind, release.log.n_cases > 500
        ('claimed', True)
    """

    name: ClassVar[str] = "amun"

    guessing_advantage: float | None = p.Parameter(
        "How much surer a guess about a case may become, in probability; instead of epsilon.", BOUNDS, f"{DEFAULT_ADVANTAGE:g}"
    ).field(None)
    epsilon: float | None = p.Parameter(
        "Privacy budget epsilon of the control flow; instead of guessing_advantage.", "above 0", "from guessing_advantage"
    ).field(None)

    def __post_init__(self) -> None:
        if self.guessing_advantage is not None and self.epsilon is not None:
            raise UsageError("guessing_advantage and epsilon exclude each other. Give one of them.")
        if self.epsilon is not None:
            self._set(epsilon=checked_epsilon(self.epsilon))
            _checked_advantage(self.advantage, f"epsilon {self.epsilon:g} amounts to a guessing_advantage that")
        else:
            said = DEFAULT_ADVANTAGE if self.guessing_advantage is None else self.guessing_advantage
            self._set(guessing_advantage=_checked_advantage(said, "guessing_advantage"))

    @cached_property
    def advantage(self) -> float:
        """The guessing advantage that was asked for, or that the epsilon amounts to: one of the two is always there."""
        return self.guessing_advantage or advantage_of(self.epsilon or 0.0)

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
        return self._release(log, released, random, shortfall=None if released.n_cases else NOTHING)

    def anonymized(self, cases: Cases, random: Randomness) -> Cases:
        """The algorithm itself: all cases and the copies, at noisy times."""
        if not len(cases):
            return cases
        log = on_automaton(cases)
        rows, relative = copied_rows(log, self.trace_epsilon, random), relative_times(cases)
        scales = noise_scales(relative, log.transitions(), cases.offsets[:-1], self.advantage)
        events = replace(cases, codes=np.arange(len(cases.codes))).take(rows).codes
        noisy = relative[events] + scales[events] * random.laplace(1.0, len(events))  # drawn anew for each copy
        return at_relative_times(cases.take(rows), noisy, int(cases.micros.min()))

    def claim(self) -> EpsilonClaim:
        """The figures that its authors claim."""
        return EpsilonClaim(self.trace_epsilon, guessing_advantage=self.advantage)

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is claimed of a release, and why it does not hold."""
        statement = (
            f"As claimed by its authors: a guessing advantage of at most {self.advantage:.4g}. Whoever guesses something about a "
            f"case is right with a probability at most {self.advantage:.4g} above what it was before the release. For control "
            f"flow, this stands for an epsilon of {self.trace_epsilon:.4g}. This is no guarantee: the procedure {NO_GUARANTEE}"
        )
        public = "the activity labels and the variants are public"
        return claimed(statement, SOURCE, public, (ALL_RELEASED, PATHS, PRIORS, EVENTS), individuals=individuals)

    def parameters(self) -> dict[str, Any]:
        """What was asked for."""
        return {"guessing_advantage": self.guessing_advantage} if self.epsilon is None else {"epsilon": self.epsilon}


def _checked_advantage(advantage: float, name: str) -> float:
    return checked(name, advantage, lambda number: SMALLEST_ADVANTAGE <= number <= LARGEST_ADVANTAGE, f"from {BOUNDS}")


def epsilon_of(advantage: float) -> float:
    """The epsilon that keeps every guess, whatever its prior, within this advantage."""
    return 4 * math.atanh(advantage)


def advantage_of(epsilon: float) -> float:
    """What a guess can gain at most from a release with this epsilon."""
    return math.tanh(epsilon / 4)


def epsilon_of_guess(prior: Floats, advantage: float) -> Floats:
    """The epsilon that keeps a guess of this prior, above 0, within the advantage; infinite where any does."""
    bounded = prior + advantage < 1
    p = np.where(bounded, prior, 0.5 * (1 - advantage))
    return np.where(bounded, -np.log(p / (1 - p) * (1 / (advantage + p) - 1)), np.inf)


@dataclass(frozen=True, eq=False, repr=False)
class OnAutomaton:
    """Cases and their way through the minimal automaton of their variants; `group` is the variant of each case."""

    cases: Cases
    group: Integers
    counts: Integers
    paths: Paths

    def transitions(self) -> Integers:
        """For every event the transition that it takes."""
        paths = self.paths.of_variant
        return Traces(np.concatenate(paths), np.cumsum([0, *map(len, paths)])).take(self.group).codes


def on_automaton(cases: Cases) -> OnAutomaton:
    """The cases, at least one, on the minimal automaton of their variants."""
    return OnAutomaton(cases, *variant_paths(cases))


def copied_rows(log: OnAutomaton, epsilon: float, random: Randomness) -> Integers:
    """The row of every case, then of every copy: every transition of the log's automaton is to be used more often.

    A transition draws ceil(|Laplace(1/epsilon)|). As long as one lacks copies, one such is picked at random and draws as many
    cases as its noise says from those that use it; each counts on all transitions of its path. Copies may be more than memory
    holds: this is known from the variants drawn, before any case is copied, and refused.
    """
    drawn = _drawn(log, epsilon, random, MOST_EVENTS)
    if drawn is not None:
        return changed(log.group, log.counts, drawn, random)
    reason = f"amun would copy cases until there are more than {MOST_EVENTS:,} events, which do not fit into memory."
    advantage = advantage_of(epsilon)
    while advantage < LARGEST_TRIED:  # a setting that is named was tried, and leaves room for the noise of another run
        advantage = min(float(f"{2 * advantage:.1g}"), LARGEST_TRIED)
        tried = epsilon_of(advantage)
        if _drawn(log, tried, random, ROOM * MOST_EVENTS) is not None:
            raise UsageError(f"{reason} --set guessing_advantage={advantage:g} (--epsilon {tried:.2g}) would work.")
    raise UsageError(f"{reason} This log has too many variants for it at any setting.")


def expected_noise(epsilon: float) -> float:
    """The mean of ceil(|Laplace(1/epsilon)|), which is geometric."""
    return -1 / math.expm1(-epsilon)


def _drawn(log: OnAutomaton, epsilon: float, random: Randomness, most_events: float) -> Integers | None:
    """How often each variant is copied; None where that gives a log of more events than this."""
    room = most_events - len(log.cases.codes)
    if expected_noise(epsilon) * len(log.paths.users) > room:  # a copied event serves one transition
        return None
    needed = np.ceil(np.abs(random.laplace(1 / epsilon, len(log.paths.users)))).astype(np.int64)
    drawn = cover(needed, log.paths, random, cases=log.counts, most_events=room)
    lengths = np.array([len(path) for path in log.paths.of_variant])
    return drawn if int(drawn @ lengths) <= room else None


def noise_scales(relative: Integers, transition: Integers, first: Integers, advantage: float) -> Floats:
    """The scale of the noise of every event, in microseconds: the range of the values that it is guessed from, over epsilon.

    An attacker guesses a gap from the gaps of the same transition, and a start from all starts: the prior is the share of those
    within 10 minutes, or one day, of the true one. So a rare value gets *less* noise than others: to guess it was unlikely
    before. A gap alone on its transition gets noise as if its prior were the worst and its range the precision.
    """
    group = transition.copy()
    group[first] = transition.max(initial=-1) + 1
    precision = np.full(len(relative), PRECISION)
    precision[first] = START_PRECISION
    order = np.lexsort((relative, group))
    group, value, near = group[order], relative[order], precision[order]
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(np.append(begins, len(group)))
    low, spread = value[begins], value[begins + sizes - 1] - value[begins]
    apart = np.cumsum(spread + 2 * near[begins] + 2) - spread  # lays the groups side by side, out of each other's reach
    key = value - np.repeat(low - apart, sizes)
    within = np.searchsorted(key, key + near, side="right") - np.searchsorted(key, key - near, side="left")
    alone = np.repeat(sizes == 1, sizes)
    epsilon = np.where(alone, epsilon_of(advantage), epsilon_of_guess(within / np.repeat(sizes, sizes), advantage))
    scales = np.empty(len(relative))
    scales[order] = np.where(alone, near, np.repeat(spread, sizes)) / epsilon
    return scales

"""The plan: how the guarantee that is asked for is spread over what is released, decided before any case is looked at.

In: the parameters. Out: a `Plan`, which knows mu of every stage, the thresholds, and how to explain itself. Only public facts go
in, so a plan can be shown to anyone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from libra.errors import UsageError
from libra.mechanisms.libra.tail.release import LENGTHS, SIZE
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.calibration import Calibration, calibrate
from libra.privacy.composition import before_subsampling
from libra.privacy.guarantee import NAMES_PUBLIC, RELEASE_ONCE
from libra.privacy.ledger import LABEL_SELECTION, ROUNDED_GAUSSIAN, VARIANT_SELECTION, Entry, Ledger
from libra.privacy.strength import suited
from libra.privacy.unit import CASE, Unit

Tail: TypeAlias = Literal["model", "nearest", "drop"]
Labels: TypeAlias = Literal["private", "public", "listed"]
TAILS: tuple[Tail, ...] = ("model", "nearest", "drop")
# Of control flow, for the choice of variants. With a model of the tail, 0.1 and 0.35 are as good on the eight public logs (within
# 5 %); without one, what the choice leaves is for the counts of kept variants alone, and a lower threshold is worth more.
FIRST_LOOK = {"model": 0.2, "nearest": 0.6, "drop": 0.6}
SMALLEST_MU = 1e-5  # of a stage: with less, noise would outgrow what can be drawn exactly, and any log
# Of everything, for the choice of labels, in rounds: the first finds those that most cases have, so that in the second a case
# gives its weight to the few that are left. Chosen on the public logs among some ten splits, most of them within the noise.
LABELS = (0.02, 0.06)
STANDS_OUT = 3.0  # standard deviations of a count that is not mistaken for noise


@dataclass(frozen=True)
class Budget:
    """Shares of what is spent (of mu^2): for control flow and for times. They add up to 1.

    Example:
        >>> Budget().control
        0.55
    """

    control: float = 0.55
    times: float = 0.45


DEFAULT_BUDGET = Budget()


@dataclass(frozen=True)
class Plan:
    """How a guarantee is spent.

    Attributes:
        epsilon: What is promised of everything together.
        delta: Likewise.
        rate: The probability with which a case takes part in a run.
        runs: How many runs there are, each on a subsample of its own.
        calibration: Of one run.
        mu_second: For the second look at kept variants, and as much for the tail, the choice of its labels included.
        mu_times: For the times.
        tail: What happens to rare cases.
        unit: Who is protected.
        labels: Which labels may be released: those that are chosen privately, all ("public"), or those of a list.

    Example:
        >>> plan = make_plan(1.0, 1e-4)
        >>> round(plan.calibration.least_count)
        42
    """

    epsilon: float
    delta: float
    rate: float
    runs: int
    calibration: Calibration
    mu_second: float
    mu_times: float
    tail: Tail
    unit: Unit = CASE
    labels: Labels = "private"

    @property
    def mu_tail(self) -> float:
        """For the tail after its labels are chosen."""
        return math.sqrt(self.mu_second**2 - self.calibration.mu_labels**2)

    def spent(self) -> Ledger:
        """The ledger of a run that spends all it may, for the accountant."""
        noise = self.calibration
        labels = [
            Entry("labels", LABEL_SELECTION, each.mu, 1.0, "tail", noise.labels_show(number))
            for number, each in enumerate(noise.label_rounds)
        ]
        entries = (
            Entry("variants", VARIANT_SELECTION, noise.mu_variants, 1.0, shows=noise.variant_shows),
            *labels,
            Entry("counts", ROUNDED_GAUSSIAN, self.mu_second, 1.0, "all" if self.tail == "nearest" else "kept"),
            *((Entry("tail", ROUNDED_GAUSSIAN, self.mu_tail, 1.0, "tail"),) if self.tail == "model" else ()),
            Entry("times", ROUNDED_GAUSSIAN, self.mu_times, 1.0),
        )
        return Ledger(entries, self.rate, self.runs, noise.cases)

    def explain(self) -> list[str]:
        """What will be released, with what noise, and what survives it, in sentences."""
        return list(self._explained())

    def survives(self) -> str:
        """What a variant needs to be kept, in a sentence."""
        return f"A variant needs about {_cases(f'{self.calibration.least_count / self.rate:,.0f}')} to be kept."

    def _explained(self) -> Iterator[str]:
        noise = self.calibration
        yield f"Everything together is ({self.epsilon:g}, {self.delta:g})-differentially private for {self.unit.statement()}."
        if self.rate < 1 or self.runs > 1:
            runs = "One run" if self.runs == 1 else f"{self.runs:,} runs, each"
            cases = f"a subsample with {100 * self.rate:.3g} % of the cases" if self.rate < 1 else "all cases"
            yield f"{runs} on {cases}; a run by itself is ({noise.epsilon:.3g}, {noise.delta:.2g})-differentially private."
        yield self.survives()
        if noise.label_rounds:
            needed = noise.label_rounds[-1].threshold / noise.scale / self.rate
            yield (
                "Activity names are private. Those in kept variants are released with them; any other needs about "
                f"{_cases(f'{needed:,.0f}')}, more where a case has several such names."
            )
        elif self.labels == "private":
            yield "Activity names are private. Those in kept variants are released, all others are left out."
        elif self.labels == "public":
            yield f"{NAMES_PUBLIC} The guarantee is about everything else."
        else:
            yield "Activity names are those of the list that was given. Events with other names are left out."
        in_log = 1 / (self.rate * math.sqrt(self.runs))  # from the noise of a run to that of the log
        kept = self._sd_of_kept() * in_log
        yield f"Counts of kept variants carry noise of about {_cases(_rounded(kept))} (one standard deviation)."
        if self.tail == "model":
            size, length = (1 / (self.mu_tail * math.sqrt(share)) for share in (SIZE, LENGTHS))
            yield (
                "All other cases go through a model of traces, from their number "
                f"(noise {_rounded(size * in_log)}), their lengths ({_rounded(length * in_log)} for each), and their "
                "directly-follows edges, repetitions and continuations; fewer than about "
                f"{_rounded(STANDS_OUT * size / self.rate)} of them are lost in the noise."
            )
        elif self.tail == "nearest":
            yield "Every other case counts for the most similar kept variant; no variant is invented."
        else:
            yield "All other cases are left out."
        share = self.mu_times**2 / noise.mu**2
        yield (
            f"Times get {100 * share:.0f} % of the budget: starts by year, block of four weeks and week, hours and days of the "
            "week, durations of cases and of steps."
        )
        yield suited(self.delta, self.unit)
        yield RELEASE_ONCE

    def _sd_of_kept(self) -> float:
        if self.tail == "nearest":
            return 1 / self.mu_second
        return 1 / math.hypot(self.mu_second, self.calibration.mu_variants)


def make_plan(
    epsilon: float,
    delta: float,
    budget: Budget = DEFAULT_BUDGET,
    *,
    tail: Tail = "model",
    labels: Labels = "private",
    rate: float = 1.0,
    runs: int = 1,
    unit: Unit = CASE,
) -> Plan:
    """The plan for a guarantee.

    Example:
        >>> make_plan(1.0, 1e-5).explain()[1]
        'A variant needs about 54 cases to be kept.'
    """
    rounds = LABELS if labels == "private" and tail == "model" else ()  # without a model those of kept variants are
    control, times = budget.control * (1 - sum(rounds)), budget.times * (1 - sum(rounds))
    first = FIRST_LOOK[tail] * control
    aimed = delta
    while True:
        noise = calibrate(
            *before_subsampling(epsilon, aimed, rate, runs), variants=first, labels=rounds, cases=unit.most_cases or 1
        )
        rest = noise.mu_rest / math.sqrt(1 - first)
        mu_second, mu_times = rest * math.sqrt(control - first + sum(rounds)), rest * math.sqrt(times)
        plan = Plan(epsilon, delta, rate, runs, noise, mu_second, mu_times, tail, unit, labels)
        if min(plan.mu_second, plan.mu_times, noise.mu_variants, *(each.mu for each in noise.label_rounds)) < SMALLEST_MU:
            raise UsageError(
                "So small an epsilon, delta or share of the budget would drown every log in noise. Ask for a larger one."
            )
        if delta_of_ledger(plan.spent(), epsilon) <= delta:
            return plan
        aimed *= 0.99  # floats, where several runs are composed


def _rounded(figure: float) -> str:
    return f"{figure:.2g}" if figure < 10 else f"{figure:,.0f}"


def _cases(figure: str) -> str:
    return f"{figure} case{'' if figure == '1' else 's'}"

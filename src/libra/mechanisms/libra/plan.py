"""The plan: how the guarantee that is asked for is spread over what is released, decided before any case is looked at.

In: the parameters. Out: a `Plan`, which knows mu of every stage, the thresholds, and how to explain itself. Only public facts go
in, so a plan can be shown to anyone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from libra.mechanisms.libra.tail.release import LENGTHS, SIZE
from libra.privacy.calibration import Calibration, calibrate
from libra.privacy.composition import before_subsampling

Tail: TypeAlias = Literal["model", "nearest", "drop"]
TAILS: tuple[Tail, ...] = ("model", "nearest", "drop")
FIRST_LOOK = {"model": 0.2, "nearest": 0.6, "drop": 0.6}  # of control flow; without a model of the tail nothing else needs it
LABELS = 0.1  # of everything, where labels are private
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
        mu_second: For the second look at kept variants, and as much for the tail.
        mu_times: For the times.
        tail: What happens to rare cases.

    Example:
        >>> plan = make_plan(1.0, 1e-4)
        >>> round(plan.calibration.least_count)
        38
    """

    epsilon: float
    delta: float
    rate: float
    runs: int
    calibration: Calibration
    mu_second: float
    mu_times: float
    tail: Tail

    def explain(self) -> list[str]:
        """What will be released, with what noise, and what survives it, in sentences."""
        return list(self._explained())

    def survives(self) -> str:
        """What a variant needs to be kept, in a sentence."""
        return f"A variant needs about {self.calibration.least_count / self.rate:,.0f} cases to be kept."

    def _explained(self) -> Iterator[str]:
        noise = self.calibration
        yield f"Everything together is ({self.epsilon:g}, {self.delta:g})-differentially private for one case, added or removed."
        if self.rate < 1 or self.runs > 1:
            runs = "One run" if self.runs == 1 else f"{self.runs:,} runs, each"
            yield (
                f"{runs} on a subsample with {self.rate:g} of the cases; a run by itself is "
                f"({noise.epsilon:.3g}, {noise.delta:.2g})-differentially private."
            )
        if noise.label_threshold is not None:
            yield (
                "Labels are private: one that is alone in its cases needs about "
                f"{noise.label_threshold / noise.scale / self.rate:,.0f} of them to be kept."
            )
        yield self.survives()
        in_log = 1 / (self.rate * math.sqrt(self.runs))  # from the noise of a run to that of the log
        kept = self._sd_of_kept() * in_log
        yield f"Counts of kept variants carry noise of about {_rounded(kept)} cases (one standard deviation)."
        if self.tail == "model":
            size, length = (1 / (self.mu_second * math.sqrt(share)) for share in (SIZE, LENGTHS))
            yield (
                "All other cases go through a model of traces, from their number "
                f"(noise {_rounded(size * in_log)}), their lengths ({_rounded(length * in_log)} for each), and their "
                "directly-follows edges, repetitions and continuations; fewer than about "
                f"{_rounded(STANDS_OUT * size / self.rate)} such cases are lost in the noise."
            )
        elif self.tail == "nearest":
            yield "Every other case counts for the most similar kept variant; no variant is invented."
        else:
            yield "All other cases are left out."
        share = self.mu_times**2 / noise.mu**2
        yield (
            f"Times get {share:.0%} of the budget: starts by year, month and week, hours and days of the week, durations of "
            "cases and of steps."
        )

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
    private_labels: bool = False,
    rate: float = 1.0,
    runs: int = 1,
) -> Plan:
    """The plan for a guarantee.

    Example:
        >>> make_plan(1.0, 1e-5).explain()[1]
        'A variant needs about 50 cases to be kept.'
    """
    labels = LABELS if private_labels else 0.0
    control, times = budget.control * (1 - labels), budget.times * (1 - labels)
    first = FIRST_LOOK[tail] * control
    noise = calibrate(*before_subsampling(epsilon, delta, rate, runs), variants=first, labels=labels)
    rest = noise.mu_rest / math.sqrt(1 - first - labels)
    return Plan(epsilon, delta, rate, runs, noise, rest * math.sqrt(control - first), rest * math.sqrt(times), tail)


def _rounded(figure: float) -> str:
    return f"{figure:.2g}" if figure < 10 else f"{figure:,.0f}"

"""Algorithm 1 of the paper: clip, then draw subsamples, anonymize each, keep what is relevant, and combine.

In: a log and the paper's parameters. Out: a `Release` with the anonymized log and the claim of its authors. The anonymizer of a
subsample is a parameter: any function from cases and an epsilon to cases can take the place of trace and time noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeAlias

from libra.errors import UsageError
from libra.eventlog.cases import Cases, cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.libra2022.accounting import default_subsamples
from libra.mechanisms.libra2022.anonymizers import named_anonymizer, refuse_other
from libra.mechanisms.libra2022.claim import Libra2022Claim, guarantee
from libra.mechanisms.libra2022.clip import clip, clipping_threshold, largest_count
from libra.mechanisms.libra2022.combine import combine
from libra.mechanisms.libra2022.relevance import OMEGA_MINUTES, relevant_cases
from libra.mechanisms.libra2022.shortfall import explain_clipping, explain_draws
from libra.mechanisms.libra2022.subsample import number_of_subsamples, poisson_subsample
from libra.mechanisms.libra2022.time_noise import time_noise
from libra.mechanisms.libra2022.trace_noise import trace_noise
from libra.mechanisms.release import Release
from libra.privacy.arguments import checked, checked_delta, checked_order, checked_scale, checked_times
from libra.privacy.randomness import SEED_NOTE, Randomness
from libra.privacy.renyi import laplace_epsilon

Anonymizer: TypeAlias = Callable[[Cases, float, Randomness], Cases]
MOST_EVENTS = 50_000_000  # of all subsamples together: beyond this, memory would run out before the end


@dataclass(frozen=True)
class Libra2022:
    """Libra as published, with its parameters.

    Attributes:
        alpha: The order of Renyi differential privacy.
        b: The scale of the Laplace mechanism in Equation 2; the noise drawn has scale 1/epsilon(alpha).
        gamma: The sampling rate of the subsamples.
        delta: Of the clipping threshold.
        subsamples: How many are drawn; None for round(1/gamma), "paper" for gamma times the number of clipped cases.
        trace_noise: Whether cases are copied and deleted.
        signed_times: Whether a noisy cycle time may fall below zero, as in the text.
        omega: How many minutes a mean has to move for a case to be relevant.
        anonymizer: Another anonymizer of the subsamples, in place of trace and time noise: the name of a mechanism, or a function
            of the cases, an epsilon and the randomness to draw from. Where a function changes activities, it has to number the
            variants of its cases anew.

    Example:
        >>> from libra.example.simulate import simulate
        >>> release = Libra2022(alpha=10).anonymize(simulate(cases=500), Randomness())
        >>> release.guarantee.kind, release.log.events.columns
        ('claimed', ['@case', 'concept:name', 'time:timestamp'])
    """

    name: ClassVar[str] = "libra2022"

    alpha: float = 10
    b: float = 2
    gamma: float = 0.05
    delta: float = 1e-4
    subsamples: int | Literal["paper"] | None = None
    trace_noise: bool = True
    signed_times: bool = False
    omega: float = OMEGA_MINUTES
    anonymizer: Anonymizer | str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Bring the parameters into their one form and refuse what cannot be meant."""
        default_subsamples(self.gamma)
        for name, value in (
            ("alpha", checked_order(self.alpha, "alpha")),
            ("b", checked_scale(self.b, "b")),
            ("gamma", float(self.gamma)),
            ("delta", checked_delta(self.delta)),
            ("subsamples", self._checked_subsamples()),
            ("omega", checked("omega", self.omega, lambda omega: omega >= 0, "of minutes from 0 on")),
        ):
            object.__setattr__(self, name, value)
        for name in ("trace_noise", "signed_times"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{name} is either True or False, not {getattr(self, name)!r}.")
        if isinstance(self.anonymizer, str):
            refuse_other(self.anonymizer)
        elif self.anonymizer is not None and not callable(self.anonymizer):
            said = "the name of a mechanism, or a function of cases, an epsilon and a randomness"
            raise UsageError(f"anonymizer is {said}, not {self.anonymizer!r}.")
        if self.anonymizer is not None and (not self.trace_noise or self.signed_times):
            raise UsageError("trace_noise and signed_times are about the paper's anonymizer, and another one was given.")

    def _checked_subsamples(self) -> int | Literal["paper"] | None:
        if self.subsamples is None or self.subsamples == "paper":
            return self.subsamples
        try:
            return checked_times(self.subsamples, "subsamples")
        except UsageError as error:
            raise UsageError(f'{str(error).removesuffix(".")}; or say "paper".') from error

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress = no_progress) -> Release:
        """The release of a log; `progress` is called with the subsamples done and the subsamples in all."""
        epsilon = laplace_epsilon(self.alpha, self.b)
        cases = cases_of(log)
        threshold = clipping_threshold(epsilon, self.delta, len(log.variants))
        clipped = clip(cases, threshold)
        n_subsamples = number_of_subsamples(self.subsamples, self.gamma, len(clipped))
        if n_subsamples * self.gamma * len(clipped.codes) > MOST_EVENTS:
            raise UsageError("So many subsamples of this log do not fit into memory. Ask for fewer: --subsamples N.")
        kept = []
        for number in range(n_subsamples):
            subsample = poisson_subsample(clipped, self.gamma, random)
            kept.append(relevant_cases(self._anonymized(subsample, epsilon, random), random, omega=self.omega))
            progress(number + 1, n_subsamples)
        released = combine(kept, log.activities, random)
        of_log, own, persons = self.subsamples == "paper", self.anonymizer is None, log.individual is not None
        claim = Libra2022Claim(self.alpha, self.b, self.gamma, self.delta, n_subsamples, of_log, own)
        return Release(
            log=released,
            mechanism=self.name,
            parameters=self._parameters(),
            guarantee=guarantee(claim, trace_noise=self.trace_noise, persons=persons, anonymizer=self._named),
            seeded=random.seeded,
            claimed=claim,
            notes=tuple(_notes(random.seeded, persons)),
            **self._explained(log, cases, threshold, len(clipped), released),
        )

    @property
    def _named(self) -> str | None:
        """The name of the mechanism that anonymizes the subsamples, if it is not the paper's way or a function."""
        return self.anonymizer if isinstance(self.anonymizer, str) else None

    def _anonymized(self, subsample: Cases, epsilon: float, random: Randomness) -> Cases:
        if self.anonymizer is not None:
            said = self.anonymizer
            function = named_anonymizer(said, self.delta) if isinstance(said, str) else said
            other = function(subsample, epsilon, random)
            if not isinstance(other, Cases):
                raise UsageError(f"An anonymizer gives back cases, not {type(other).__name__}.")
            if len(other.codes) and not 0 <= other.codes.min() <= other.codes.max() < subsample.n_activities:
                raise UsageError("An anonymizer gives back activities of the log, and this one made up a code.")
            return other
        if self.trace_noise:
            subsample = trace_noise(subsample, epsilon, random)
        return time_noise(subsample, epsilon, random, signed=self.signed_times)

    def _explained(self, log: EventLog, cases: Cases, threshold: int, n_clipped: int, released: EventLog) -> dict[str, Any]:
        """What only the custodian may see: the threshold and, where nothing is left, why."""
        confidential = {"clipping_threshold": threshold}
        if released.n_cases:
            return {"confidential": confidential}
        if not len(cases):
            return {"shortfall": "There was no case to begin with.", "confidential": confidential}
        if n_clipped:
            return {"shortfall": explain_draws(own_anonymizer=self.anonymizer is None), "confidential": confidential}
        needed = largest_count(cases)
        shortfall = explain_clipping(threshold, needed, len(log.variants), self.alpha, self.b, self.delta)
        return {"shortfall": shortfall, "confidential": confidential | {"needed_threshold": needed}}

    def _parameters(self) -> dict[str, Any]:
        """What was asked for, as far as it played a part."""
        plain = {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}
        del plain["anonymizer"]
        if self.subsamples is None:
            plain["subsamples"] = default_subsamples(self.gamma)
        if self.anonymizer is None:
            return plain
        del plain["trace_noise"], plain["signed_times"]
        if isinstance(self.anonymizer, str):
            return plain | {"anonymizer": self.anonymizer}
        return plain | {"anonymizer": getattr(self.anonymizer, "__name__", type(self.anonymizer).__name__)}


def _notes(seeded: bool, persons: bool) -> Iterator[str]:
    if seeded:
        yield SEED_NOTE
    if persons:
        yield "libra2022 protects cases, not persons: the column of the individual does not count."

"""Algorithm 1 of the paper: clip, then draw subsamples, anonymize each, keep what is relevant, and combine.

The anonymizer of a subsample is a parameter: any function from cases and an epsilon to cases may replace trace and time noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias, cast

import numpy as np

from libra._system.arguments import checked, checked_delta, checked_order, checked_scale, checked_times
from libra._system.ordering import ranks
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.cases import Cases, Integers, Traces, cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms import parameters as p
from libra.mechanisms.libra2022 import steps
from libra.mechanisms.libra2022.claim import Libra2022Claim, default_subsamples, guarantee
from libra.mechanisms.libra2022.steps import OMEGA_MINUTES, time_noise
from libra.mechanisms.libra2022.trace_noise import trace_noise
from libra.mechanisms.mechanism import mechanism, names, parameters_of
from libra.mechanisms.peers import PeerMechanism
from libra.mechanisms.prefix_tree import enough_to_prune
from libra.mechanisms.release import Release
from libra.mechanisms.variant_queries import Counted, counted_of
from libra.privacy.guarantee import Guarantee
from libra.privacy.renyi import laplace_epsilon

Anonymizer: TypeAlias = Callable[[Cases, float, Randomness], Cases]
MOST_EVENTS = 50_000_000  # of all subsamples together: beyond this, memory would run out before the end
NO_DRAW = "None of the few cases was drawn, or all were deleted again: run it anew, or ask for more with --subsamples or --gamma."
NONE_BACK = "No case was drawn, or the anonymizer gave back none."
NEXT_TO_NONE = 0.5  # a scale below which a release of sensitivity 1 costs an epsilon above 2


@dataclass(frozen=True)
class Libra2022(PeerMechanism):
    """Libra as published in 2022: noisy cases from subsamples of the log. Claimed by its authors; for research.

    The noise drawn has scale 1/epsilon(alpha), where b is the scale of Equation 2. An `anonymizer` that is a function takes the
    cases, an epsilon and the randomness to draw from; where it changes activities, it has to number the variants anew.

    Example:
        >>> from libra.example.simulate import simulate
        >>> release = Libra2022(alpha=10).anonymize(simulate(cases=500), Randomness())
        >>> release.guarantee.kind, release.log.events.columns
        ('claimed', ['@case', 'concept:name', 'time:timestamp'])
    """

    name: ClassVar[str] = "libra2022"

    alpha: float = p.ALPHA.field(10)
    b: float = p.B.field(2)
    gamma: float = p.GAMMA.field(0.05)
    delta: float = p.Parameter("Delta of the clipping threshold.", "above 0, below 1").field(1e-4)
    subsamples: int | Literal["paper"] | None = p.Parameter(
        "Number of subsamples; paper means gamma times the number of clipped cases.", "from 1 up, or paper", "1/gamma, rounded"
    ).field(None)
    trace_noise: bool = p.Parameter("Copy and delete cases.", "true or false").field(True)
    signed_times: bool = p.Parameter("Let noisy cycle times fall below zero, as in the paper.", "true or false").field(False)
    omega: float = p.Parameter("Minutes by which a case must move a mean to be relevant.", "from 0 up").field(OMEGA_MINUTES)
    anonymizer: Anonymizer | str | None = p.Parameter(
        "Another mechanism for the subsamples, instead of trace and time noise.", "the name of a mechanism", unset="the paper's"
    ).field(None, shown=False)

    def __post_init__(self) -> None:
        default_subsamples(self.gamma)
        self._set(alpha=checked_order(self.alpha, "alpha"), b=checked_scale(self.b, "b"), gamma=float(self.gamma))
        self._set(delta=checked_delta(self.delta))
        if self.subsamples not in (None, "paper"):
            try:
                self._set(subsamples=checked_times(self.subsamples, "subsamples"))  # type: ignore[arg-type]  # it checks that
            except UsageError as error:
                raise UsageError(f'{str(error).removesuffix(".")}; or say "paper".') from error
        self._set(omega=checked("omega", self.omega, lambda omega: omega >= 0, "of minutes from 0 on"))
        for name in ("trace_noise", "signed_times"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{name} is either True or False, not {getattr(self, name)!r}.")
        if isinstance(self.anonymizer, str):
            refuse_other(self.anonymizer)
        elif self.anonymizer is not None and not callable(self.anonymizer):
            said = "the name of a mechanism, or a function of cases, an epsilon and a randomness"
            raise UsageError(f"anonymizer is {said}, not {self.anonymizer!r}.")
        if self.anonymizer is not None and (not self.trace_noise or self.signed_times):
            raise UsageError("trace_noise and signed_times apply to the paper's anonymizer only. Remove them or anonymizer.")

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress = no_progress) -> Release:
        """The release of a log; `progress` is called with the subsamples done and the subsamples in all."""
        epsilon = laplace_epsilon(self.alpha, self.b)
        cases = cases_of(log)
        threshold = steps.clipping_threshold(epsilon, self.delta, len(log.variants))
        clipped = steps.clip(cases, threshold)
        n_subsamples = steps.number_of_subsamples(self.subsamples, self.gamma, len(clipped))
        if n_subsamples * self.gamma * len(clipped.codes) > MOST_EVENTS:
            raise UsageError("So many subsamples of this log do not fit into memory. Ask for fewer: --subsamples N.")
        kept = []
        for number in range(n_subsamples):
            subsample = self._anonymized(steps.poisson_subsample(clipped, self.gamma, random), epsilon, random)
            kept.append(steps.relevant_cases(subsample, random, omega=self.omega))
            progress(number + 1, n_subsamples)
        released = steps.combine(kept, log.activities, random)
        explained = self._explained(log, cases, threshold, len(clipped), released)
        return self._release(log, released, random, claimed=self.claim(n_subsamples), **explained)

    def claim(self, subsamples: int = 1) -> Libra2022Claim:
        """What the paper's equations give, for so many subsamples where their number comes from the log."""
        from_log = self.subsamples == "paper"
        times = subsamples if self.subsamples == "paper" else self.subsamples or default_subsamples(self.gamma)
        return Libra2022Claim(self.alpha, self.b, self.gamma, self.delta, times, from_log, self.anonymizer is None)

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is claimed of a release, and what that leaves out."""
        named = self.anonymizer if isinstance(self.anonymizer, str) else None
        return guarantee(self.claim(), trace_noise=self.trace_noise, individuals=individuals, anonymizer=named)

    @classmethod
    def from_certificate(cls, parameters: Mapping[str, Any]) -> Libra2022:
        """The mechanism of a certificate. Its anonymizer may have been any function: only the name is known."""

        def unknown(cases: Cases, epsilon: float, random: Randomness) -> Cases:
            raise AssertionError("a mechanism of a certificate is never run")

        unknown.__name__ = str(parameters.get("anonymizer"))
        return cls(**(dict(parameters) | ({"anonymizer": unknown} if "anonymizer" in parameters else {})))

    def guarantees(self, *, seeded: bool) -> list[Guarantee]:
        """All guarantees that a release with these parameters may have; a function may have the name of a mechanism."""
        name = getattr(self.anonymizer, "__name__", "")
        named = replace(self, anonymizer=name).guarantees(seeded=seeded) if name in _possible() else []
        return [*super().guarantees(seeded=seeded), *named]

    def _anonymized(self, subsample: Cases, epsilon: float, random: Randomness) -> Cases:
        if self.anonymizer is not None:
            said = self.anonymizer
            function = named_anonymizer(said, self.delta) if isinstance(said, str) else said
            other = function(subsample, epsilon, random)
            if not isinstance(other, Cases):
                raise UsageError(f"An anonymizer must return Cases, not {type(other).__name__}.")
            if len(other.codes) and not 0 <= other.codes.min() <= other.codes.max() < subsample.n_activities:
                raise UsageError("An anonymizer must return activities of the log, and this one made up a code.")
            return other
        if self.trace_noise:
            subsample = trace_noise(subsample, epsilon, random)
        return time_noise(subsample, epsilon, random, signed=self.signed_times)

    def _explained(self, log: EventLog, cases: Cases, threshold: int, n_clipped: int, released: EventLog) -> dict[str, Any]:
        """What only the custodian may see: the threshold and, where nothing is left, why."""
        confidential, shortfall = {"clipping_threshold": threshold}, None
        if not len(cases):
            shortfall = "There was no case to begin with."
        elif not released.n_cases and n_clipped:
            shortfall = NO_DRAW if self.anonymizer is None else NONE_BACK
        elif not released.n_cases:
            confidential["needed_threshold"] = needed = steps.largest_count(cases)
            shortfall = explain_clipping(threshold, needed, len(log.variants), self.alpha, self.b, self.delta)
        return {"shortfall": shortfall, "confidential": confidential}

    def parameters(self) -> dict[str, Any]:
        """What was asked for, as far as it played a part."""
        plain = super().parameters()
        del plain["anonymizer"]
        if self.subsamples is None:
            plain["subsamples"] = default_subsamples(self.gamma)
        said = self.anonymizer
        if said is not None:
            del plain["trace_noise"], plain["signed_times"]
            plain["anonymizer"] = said if isinstance(said, str) else getattr(said, "__name__", type(said).__name__)
        return plain


def named_anonymizer(name: str, delta: float) -> Anonymizer:
    """The mechanism of this name as an anonymizer, as the paper proposes; `delta` is for those that take one.

    Those that release no times get some of the cases, and the paper's time noise on top. Prefix queries are pruned at 1 % of the
    cases or, as subsamples are small, at what keeps their tree from running away.
    """
    refuse_other(name)

    def anonymized(cases: Cases, epsilon: float, random: Randomness) -> Cases:
        known = parameters_of(name)
        asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
        if "prune" in known:
            asked["prune"] = enough_to_prune(counted_of(cases), epsilon, cases.n_activities)
        made: Any = mechanism(name, {key: value for key, value in asked.items() if key in known})
        if hasattr(made, "anonymized"):
            return cast("Cases", made.anonymized(cases, random))
        if not hasattr(made, "variants"):
            raise UsageError(f'"{name}" cannot anonymize a subsample: it has neither anonymized() nor variants().')
        return time_noise(with_times_of(made.variants(cases, random), cases, random), epsilon, random)

    return anonymized


def refuse_other(name: str) -> None:
    """A `UsageError` for what cannot anonymize a subsample."""
    if name not in _possible():
        raise UsageError(f'"{name}" cannot anonymize a subsample. Available: {", ".join(_possible())}.')


def _possible() -> list[str]:
    return [name for name in names() if name not in ("libra", "libra2022")]


def with_times_of(counted: Counted, cases: Cases, random: Randomness) -> Cases:
    """A case for each of the traces, with times from these cases.

    A trace takes over the times of a random case that follows it; one that no case follows starts when a random case does, and
    each event comes as long after the one before as a random event of its activity.
    """
    keep = np.flatnonzero(counted.traces.lengths)
    counted = Counted(counted.traces.take(keep), counted.counts[keep])
    traces, variant = counted.repeated(), np.repeat(np.arange(len(counted)), counted.counts)
    if not len(cases) or not len(traces):
        return Cases(traces.codes, traces.codes, traces.offsets, variant, cases.n_activities)
    _, group, sizes = np.unique(cases.variant, return_inverse=True, return_counts=True)
    known = {trace: number for number, trace in enumerate(counted_of(cases).traces.as_bytes())}
    followed = np.repeat(np.array([known.get(trace, -1) for trace in counted.traces.as_bytes()], np.int64), counted.counts)
    picked = (np.cumsum(sizes) - sizes)[followed] + (random.uniform(len(followed)) * sizes[followed]).astype(np.int64)
    row = np.where(followed >= 0, np.argsort(group, kind="stable")[picked], -1)  # of a random case that follows the same trace
    gaps = np.diff(cases.micros, prepend=cases.micros[:1])
    follows = np.repeat(row >= 0, traces.lengths)
    taken_over = gaps[np.where(follows, np.repeat(cases.offsets[row], traces.lengths) + ranks(traces.lengths), 0)]
    gap = np.where(follows, taken_over, _drawn(cases, gaps, traces, random))
    gap[traces.offsets[:-1]] = 0
    elsewhere = random.below(len(cases), len(traces))
    start = cases.micros[cases.offsets[np.where(row >= 0, row, elsewhere)]]
    total = np.cumsum(gap)
    micros = total - np.repeat(total[traces.offsets[:-1]], traces.lengths) + np.repeat(start, traces.lengths)
    return Cases(traces.codes, micros, traces.offsets, variant, cases.n_activities)


def _drawn(cases: Cases, gaps: Integers, traces: Traces, random: Randomness) -> Integers:
    """For every event the time since the one before of a random event of its activity; of any activity where that has none."""
    later = np.ones(len(gaps), bool)
    later[cases.offsets[:-1]] = False
    codes, gaps = cases.codes[later], gaps[later]
    if not len(gaps):
        return np.zeros(len(traces.codes), np.int64)
    gaps = gaps[np.argsort(codes, kind="stable")]
    sizes = np.bincount(codes, minlength=cases.n_activities)
    begin = np.cumsum(sizes) - sizes
    begin[sizes == 0], sizes[sizes == 0] = 0, len(gaps)
    rank = (random.uniform(len(traces.codes)) * sizes[traces.codes]).astype(np.int64)
    return np.asarray(gaps[begin[traces.codes] + rank])


def explain_clipping(threshold: int, needed: int, n_variants: int, alpha: float, b: float, delta: float) -> str:
    """All variants are rare: the threshold in use, the one that was needed, and the parameters that give it."""
    scale = _fitting_scale(math.log(2 * n_variants / delta) / needed, alpha, b)
    remedies = [f"--b {_two_digits(scale, math.floor)}"]
    least_delta = 2 * n_variants * math.exp(-laplace_epsilon(alpha, b) * needed)
    if least_delta < 0.1:
        remedies.append(f"--delta {_two_digits(least_delta, math.ceil)}")
    price = "less protection" if scale >= NEXT_TO_NONE else "next to no protection"
    kept = f"{threshold:,}" if threshold < 10**12 else f"{threshold:.2g}"
    return (
        f"All variants of this log are rare: only those with {kept} cases or more are kept, and none has more than "
        f"{needed}. The threshold would have to be {needed} or lower, which {' or '.join(remedies)} gives, for {price}. "
        "These figures are of your log: keep them to yourself."
    )


def _fitting_scale(epsilon: float, alpha: float, b: float) -> float:
    """The largest scale below b, to four digits, at which the noise has at least this epsilon, which falls as the scale grows."""
    low, high = 0.0, b
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if laplace_epsilon(alpha, middle) >= epsilon else (low, middle)
    return low


def _two_digits(value: float, to_whole: Callable[[float], int]) -> str:
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{to_whole(value / unit) * unit:.2g}"

"""What the authors claim of the published algorithm, and what that leaves out: said once, and the same wherever it is shown.

The figure is Equation 3 of the paper with its misprint corrected, composed over the subsamples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from libra._system import arguments
from libra._system.arguments import LARGEST_TIMES, checked
from libra.mechanisms.peers import NO_GUARANTEE, Claim, claimed
from libra.privacy import renyi
from libra.privacy.guarantee import Guarantee
from libra.privacy.renyi import BestOrder, compose, laplace_epsilon, subsampled_bound, subsampled_laplace_epsilon, to_epsilon

SOURCE = "G. Elkoumy and M. Dumas: Libra: High-Utility Anonymization of Event Logs for Process Mining via Subsampling, ICPM 2022"
PRINTED: dict[float, float] = {2: 0.04, 10: 0.37, 100: 4.7}  # the paper's epsilon' by alpha; b = 2, 20 subsamples of rate 0.05

CLIPPING = (
    "Clipping compares exact counts. A variant at the threshold may appear, and with one case less it never does: if it is "
    "there, whoever knows the other cases knows that this one is."
)
TRACES = (
    "Trace noise is scaled for a case that touches one transition. A case touches all transitions on its path, up to hundreds."
)
COPIES = "Only what occurs in a subsample gets noise, and true traces are released, some of them several times."
NO_TRACE_NOISE = (
    "Trace noise was switched off: how often a variant occurs is blurred by sampling and by the choice of relevant cases alone."
)
TIMES = (
    "Each case released is a real one, its start moved by some days and its steps by some minutes. Whoever knows about when they "
    "happened can often pick it out. The noise is scaled for a shift of one day or one minute, which does not hide whether a "
    "case is there, and as each event draws separately, the losses of a case add up."
)
BOTH_SPEND = "Control flow and times both use up privacy in each subsample; one release for each subsample is counted."
RENYI = "The figure is a Renyi divergence at one order. It is not an epsilon of (epsilon, delta)-differential privacy."
OTHER_ANONYMIZER = "The subsamples went through another anonymizer. What it reveals is not known here."
NAMED_ANONYMIZER = (
    "The subsamples went through {}, each asked for the epsilon of the paper's noise. What it reveals adds up over the "
    "subsamples; nobody has counted it. Of the mechanism by itself, docs/peers.md says what is known."
)
BORROWED_TIMES = (
    "Starts and times between events are those of real cases of the subsample, moved by some days and some minutes. Whoever "
    "knows about when they happened can often pick a case out."
)
PRUNED = "At which count its prefixes are pruned follows from the exact number of cases of the subsample."
WITHOUT_TIMES, PREFIX_QUERIES = ("travas", "prefix-laplace", "sacofa"), ("prefix-laplace", "sacofa", "pripel")


@dataclass(frozen=True)
class Libra2022Claim(Claim):
    """The claimed figure."""

    tolerance: ClassVar[float] = 1e-6  # the comparison comes from a grid, which versions of dp-accounting lay differently

    alpha: float
    b: float
    gamma: float
    delta: float
    subsamples: int = field(repr=False)
    from_log: bool = False  # whether the number of subsamples was computed from the log and must not be published
    own_anonymizer: bool = True  # whether the subsamples went through the paper's anonymizer and not another one

    @cached_property
    def renyi_epsilon_one(self) -> float:
        """The Renyi epsilon of one subsample at order alpha."""
        return subsampled_bound(self.alpha, self.b, self.gamma)

    @cached_property
    def renyi_epsilon(self) -> float:
        """The paper's epsilon': the Renyi epsilon of all subsamples at order alpha."""
        return compose(self.renyi_epsilon_one, self.subsamples)

    @cached_property
    def pld_epsilon(self) -> float:
        """The epsilon, at delta, of as many Laplace releases of scale b and sensitivity 1, each on a subsample."""
        return subsampled_laplace_epsilon(self.b, self.gamma, self.subsamples, self.delta)

    def implied_epsilon(self, delta: float) -> float:
        """The epsilon at this delta that follows from a Renyi epsilon at order alpha, if it holds."""
        return to_epsilon(self.alpha, self.renyi_epsilon, delta)

    @property
    def noise_scale(self) -> float:
        """The scale of the noise that is drawn: transitions, days and minutes."""
        return 1 / laplace_epsilon(self.alpha, self.b)

    @property
    def printed(self) -> float | None:
        """What the paper prints for these parameters, where it does."""
        return PRINTED.get(self.alpha) if (self.b, self.gamma, self.subsamples) == (2, 0.05, 20) else None

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""
        beyond = ", which reveals more" if self.own_anonymizer else ""
        return {
            "renyi_order": self.alpha,
            "renyi_epsilon_one": self.renyi_epsilon_one,
            "renyi_epsilon": self.renyi_epsilon,
            "subsamples": self.subsamples,
            "noise_scale": self.noise_scale if self.own_anonymizer else None,
            "comparison": {
                "meaning": f"what textbook releases would cost; not a figure of this release{beyond}",
                "releases": self._textbook,
                "epsilon": self.pld_epsilon,
                "delta": self.delta,
            },
        }

    def published(self) -> dict[str, Any]:
        """The same; where the number of subsamples came from the log, without it and without what follows from it."""
        withheld = ("renyi_epsilon", "subsamples", "comparison") if self.from_log else ()
        return self.to_dict() | dict.fromkeys(withheld)

    def comparison(self) -> str:
        """What the claimed figure can be compared with, for the custodian; ends where the caveats begin."""
        total = f" All {self.subsamples} add up to {self.renyi_epsilon:.4g}. This is a figure of your log: keep it to yourself."
        limits = "This release reveals more, and the figure has limits:"
        return (
            f"For comparison, not of this release: {self._textbook}, would be "
            f"({self.pld_epsilon:.4g}, {self.delta:g})-differentially private.{total if self.from_log else ''} "
            f"{limits if self.own_anonymizer else 'Of this release is to be known:'}"
        )

    @property
    def _textbook(self) -> str:
        releases = "1 Laplace release" if self.subsamples == 1 else f"{self.subsamples} Laplace releases"
        return f"{releases} of scale {self.b:g} and sensitivity 1, each on a subsample"


def guarantee(claim: Libra2022Claim, *, trace_noise: bool, individuals: bool, anonymizer: str | None = None) -> Guarantee:
    """The claim in words, with what the steps that ran leave out of it."""
    caveats = tuple(_caveats(claim.own_anonymizer, trace_noise, anonymizer))
    if claim.from_log:
        figure = (
            f"Renyi epsilon {claim.renyi_epsilon_one:.4g} at order {claim.alpha:g} for each subsample; they add up over all "
            "subsamples, whose number was computed from the log and is left out"
        )
    else:
        together = "1 subsample" if claim.subsamples == 1 else f"{claim.subsamples} subsamples together"
        figure = f"Renyi epsilon' = {claim.renyi_epsilon:.4g} at order {claim.alpha:g} for {together}"
    printed = f" (the paper prints {claim.printed:g})" if claim.printed is not None and not claim.from_log else ""
    statement = (
        f"As claimed by its authors, by their equations with a misprint corrected: {figure}{printed}. "
        f"This is no guarantee: the procedure {NO_GUARANTEE}"
    )
    if not claim.own_anonymizer:
        statement = (
            f"The equations of the paper give, for its own anonymizer: {figure}. Another one was used, for which nothing is "
            "claimed. This is no guarantee. Do not rely on it to release personal data."
        )
    return claimed(statement, SOURCE, "the activity labels are public", caveats, individuals=individuals)


def _caveats(own_anonymizer: bool, trace_noise: bool, anonymizer: str | None) -> Iterator[str]:
    yield CLIPPING
    if anonymizer is not None:
        yield NAMED_ANONYMIZER.format(anonymizer)
        if anonymizer in WITHOUT_TIMES:
            yield BORROWED_TIMES
        if anonymizer in PREFIX_QUERIES:
            yield PRUNED
    elif not own_anonymizer:
        yield OTHER_ANONYMIZER
    else:
        yield from (TRACES, COPIES) if trace_noise else (NO_TRACE_NOISE,)
        yield TIMES
        if trace_noise:
            yield BOTH_SPEND
    yield RENYI


@dataclass(frozen=True)
class Accounting:
    """The parameters and all figures that follow, for one release of sensitivity 1 per subsample (docs/accounting.md)."""

    alpha: float
    b: float
    gamma: float
    delta: float
    subsamples: int
    laplace_epsilon: float
    noise_scale: float
    renyi_epsilon_one: float
    renyi_epsilon: float
    epsilon_at_order: float
    best_order_bound: BestOrder
    best_order_exact: BestOrder
    pld_epsilon: float
    pld_epsilon_drawn: float

    def to_dict(self) -> dict[str, Any]:
        """The figures for JSON, the parameters apart; every number is finite."""
        document = asdict(self)
        parameters = {name: document.pop(name) for name in ("alpha", "b", "gamma", "delta", "subsamples")}
        return {"parameters": parameters, **document}


def default_subsamples(gamma: float) -> int:
    """How many subsamples of rate gamma make a log about as large as the original."""
    rate = checked("gamma", gamma, lambda gamma: 1 / LARGEST_TIMES <= gamma <= 1, f"from 1/{LARGEST_TIMES:,} to 1")
    return round(1 / rate)


def accounting(alpha: float, b: float, gamma: float, delta: float, subsamples: int) -> Accounting:
    """Account for `subsamples` Laplace releases of sensitivity 1, each from a Poisson subsample of rate gamma."""
    alpha, b = arguments.checked_order(alpha, "alpha"), arguments.checked_scale(b, "b")
    gamma, delta = arguments.checked_rate(gamma, "gamma"), arguments.delta_of_guarantee(delta)
    claim = Libra2022Claim(alpha, b, gamma, delta, arguments.checked_times(subsamples, "subsamples"))

    def best(one: Callable[[float, float, float], float]) -> BestOrder:
        return renyi.best_order(lambda order: compose(one(order, b, gamma), subsamples), delta)

    return Accounting(
        **{name: getattr(claim, name) for name in ("alpha", "b", "gamma", "delta", "subsamples", "noise_scale", "pld_epsilon")},
        laplace_epsilon=laplace_epsilon(alpha, b),
        renyi_epsilon_one=claim.renyi_epsilon_one,
        renyi_epsilon=claim.renyi_epsilon,
        epsilon_at_order=claim.implied_epsilon(delta),
        best_order_bound=best(subsampled_bound),
        best_order_exact=best(renyi.subsampled_laplace),
        pld_epsilon_drawn=subsampled_laplace_epsilon(claim.noise_scale, gamma, subsamples, delta),
    )

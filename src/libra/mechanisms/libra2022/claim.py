"""What the authors claim of the published algorithm, and what that leaves out: said once, and the same wherever it is shown.

The figure is Equation 3 of the paper with its misprint corrected, composed over the subsamples. It is printed as the claim of
its authors, beside the true (epsilon, delta) of subsampled Laplace releases with these parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from libra.privacy.guarantee import Guarantee
from libra.privacy.loss_distribution import subsampled_laplace_epsilon
from libra.privacy.renyi import compose, subsampled_bound

SOURCE = "G. Elkoumy and M. Dumas: Libra: High-Utility Anonymization of Event Logs for Process Mining via Subsampling, ICPM 2022"
ASSUMPTIONS = ("the activity labels are public", "each person has one case, and cases are independent")
CAVEATS = (
    "Clipping compares exact counts. A variant at the threshold appears, and with one case less it never does: whoever knows the "
    "other cases learns almost for certain whether that one is there.",
    "Trace noise is scaled for a case that touches one transition. A case touches all transitions on its path, up to hundreds.",
    "Only what occurs in a subsample gets noise, and true traces are released, some of them with copies.",
    "Start times get noise for a shift of one day and cycle times for a shift of one minute. That does not hide whether a case "
    "is there, and as each event draws separately, the losses of a case add up.",
    "Control flow and times both spend in each subsample; one release for each subsample is counted.",
    "The figure is a Renyi divergence at one order. It is not an epsilon of (epsilon, delta)-differential privacy.",
)
NO_TRACE_NOISE = "Trace noise was switched off: only sampling stands between a variant's count and what is released of it."
OTHER_ANONYMIZER = (
    "The subsamples went through another anonymizer. The figure supposes one Laplace release of sensitivity 1 in it."
)


@dataclass(frozen=True)
class Claim:
    """The claimed figure. `from_log` says that the number of subsamples was computed from the log, and must not be published.

    Example:
        >>> claim = Claim(alpha=10, b=2, gamma=0.05, delta=1e-4, subsamples=20)
        >>> round(claim.renyi_epsilon_one, 4), round(claim.renyi_epsilon, 3)
        (0.0073, 0.145)
    """

    alpha: float
    b: float
    gamma: float
    delta: float
    subsamples: int
    from_log: bool = False

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

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""
        return {
            "renyi_order": self.alpha,
            "renyi_epsilon": self.renyi_epsilon,
            "renyi_epsilon_one": self.renyi_epsilon_one,
            "subsamples": self.subsamples,
            "comparison": {
                "releases": f"{self.subsamples} Laplace releases of scale {self.b:g} and sensitivity 1, each on a subsample",
                "epsilon": self.pld_epsilon,
                "delta": self.delta,
            },
        }

    def published(self) -> dict[str, Any]:
        """The same; where the number of subsamples came from the log, without it and without what follows from it."""
        if not self.from_log:
            return self.to_dict()
        withheld = dict.fromkeys(("renyi_epsilon", "subsamples", "comparison"))
        return {"renyi_order": self.alpha, "renyi_epsilon_one": self.renyi_epsilon_one, **withheld}


def guarantee(claim: Claim, *, trace_noise: bool, own_anonymizer: bool) -> Guarantee:
    """The claim in words, with what it leaves out.

    Example:
        >>> guarantee(Claim(10, 2, 0.05, 1e-4, 20), trace_noise=True, own_anonymizer=True).kind
        'claimed'
    """
    if claim.from_log:
        figure = f"Renyi epsilon {claim.renyi_epsilon_one:.4g} at order {claim.alpha:g} for each subsample"
    else:
        figure = f"Renyi epsilon' = {claim.renyi_epsilon:.4g} at order {claim.alpha:g} for {claim.subsamples} subsamples together"
    return Guarantee(
        kind="claimed",
        statement=f"As claimed by its authors: {figure}. This is no guarantee: the procedure does not have the privacy claimed.",
        source=SOURCE,
        assumptions=ASSUMPTIONS,
        caveats=(
            *CAVEATS,
            *(() if trace_noise else (NO_TRACE_NOISE,)),
            *(() if own_anonymizer else (OTHER_ANONYMIZER,)),
        ),
    )

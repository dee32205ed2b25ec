"""What the authors of Amun claim, and why it does not hold: said once, and the same wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterator

from libra.mechanisms.libra2022.claim import PERSONS
from libra.mechanisms.peers.claim import EpsilonClaim
from libra.privacy.guarantee import Guarantee

SOURCE = (
    "G. Elkoumy, A. Pankova and M. Dumas: Mine Me but Don't Single Me Out: Differentially Private Event Logs for Process Mining, "
    "ICPM 2021"
)
ASSUMPTIONS = (
    "the activity labels and the variants are public",
    "each person has one case, and cases are independent",
    "this is the only release of the log",
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


def guarantee(claim: EpsilonClaim, *, persons: bool) -> Guarantee:
    """The claim in words, with what it leaves out.

    Args:
        claim: The figures.
        persons: Whether cases belong to individuals who may have several.

    Example:
        >>> guarantee(EpsilonClaim(1.7, guessing_advantage=0.4), persons=False).kind
        'claimed'
    """
    return Guarantee(
        kind="claimed",
        statement=(
            f"As claimed by its authors: a guessing advantage of at most {claim.guessing_advantage:.4g}. Whoever guesses "
            f"something about a case is right with a probability at most {claim.guessing_advantage:.4g} above what it was before "
            f"the release. For control flow, this stands for an epsilon of {claim.epsilon:.4g}. This is no guarantee: the "
            "procedure does not have the privacy claimed. Do not release personal data on its strength."
        ),
        source=SOURCE,
        assumptions=ASSUMPTIONS,
        caveats=tuple(_caveats(persons)),
    )


def _caveats(persons: bool) -> Iterator[str]:
    yield from (ALL_RELEASED, PATHS, PRIORS, EVENTS)
    if persons:
        yield PERSONS

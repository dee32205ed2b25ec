"""What the authors of PRIPEL claim, and why it does not hold: said once, and the same wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from libra.mechanisms.libra2022.claim import PERSONS
from libra.mechanisms.peers.claim import EpsilonClaim
from libra.privacy.guarantee import Guarantee

SOURCE = (
    "S. A. Fahrenkrog-Petersen, H. van der Aa and M. Weidlich: PRIPEL: Privacy-Preserving Event Log Publishing Including "
    "Contextual Information, BPM 2020"
)
ASSUMPTIONS = (
    "the activity labels and the values of all attributes are public",
    "each person has one case, and cases are independent",
    "this is the only release of the log",
)
COMPOSITION = (
    "The query, the shift of a case, each gap and each attribute of each event spend epsilon, all of it on the same case. They "
    "add up, to hundreds of times epsilon where cases are long; one is counted."
)
DOMAINS = (
    "Noise is cut to what the log has: its first and last time, the gaps between two activities, the smallest and the largest "
    "number, the words of an attribute. Somebody with a value of their own shows in these."
)
MATCHING = (
    "Traces are matched to cases of the original by their exact distance, and each takes after one real case. Which case that is "
    "depends on all others, and no part of epsilon is kept for it."
)
DRAWN = (
    "Where there is nothing to take over, exact values of other cases are drawn; and which events lack a value is shown as it is."
)
IDS = "Which columns hold ids, and are left out, is found from the log as it is."


def guarantee(claim: EpsilonClaim, of_query: Sequence[str], *, persons: bool) -> Guarantee:
    """The claim in words, with what it leaves out.

    Args:
        claim: The figures.
        of_query: What the query for control flow leaves out.
        persons: Whether cases belong to individuals who may have several.

    Example:
        >>> guarantee(EpsilonClaim(1.0), (), persons=False).kind
        'claimed'
    """
    return Guarantee(
        kind="claimed",
        statement=(
            f"As claimed by its authors: epsilon-differential privacy, with epsilon {claim.epsilon:g} for control flow and for "
            "each value of an event. This is no guarantee: the procedure does not have the privacy claimed. Do not release "
            "personal data on its strength."
        ),
        source=SOURCE,
        assumptions=ASSUMPTIONS,
        caveats=tuple(_caveats(of_query, persons)),
    )


def _caveats(of_query: Sequence[str], persons: bool) -> Iterator[str]:
    yield from (COMPOSITION, DOMAINS, MATCHING, DRAWN, IDS, *of_query)
    if persons:
        yield PERSONS

"""What is to be said of both queries as published: their claim, and what of it does not hold for the same reasons."""

from __future__ import annotations

from collections.abc import Iterator

from libra.mechanisms.libra2022.claim import PERSONS

ASSUMPTIONS = (
    "the activity labels are public",
    "each person has one case, and cases are independent",
    "this is the only release of the log",
)
TRUNCATED = (
    "Noise is drawn in floats and cut to a whole number toward 0. That makes no noise at all twice as likely as it should be, so "
    "a count may tell ln 2 more than epsilon."
)
TIMES = "The epsilon claimed is that of control flow and times together. What comes from times alone is proved; the sum is not."


def statement(epsilon: float, delta: float) -> str:
    """The claim in words.

    Example:
        >>> statement(1.0, 0.0).partition(".")[0]
        'As claimed by its authors: epsilon-differential privacy for one case, with epsilon 1'
    """
    figure = f"epsilon {epsilon:g}" + (f" (and with delta {delta:g}, for the times)" if delta else "")
    return (
        f"As claimed by its authors: epsilon-differential privacy for one case, with {figure}. This is no guarantee: the query "
        "does not have the privacy claimed. Do not release personal data on its strength."
    )


def of_levels(epsilon: float, levels: int | None) -> str:
    """Why one count is not all that a case moves; with the sum where the number of levels is a parameter.

    Example:
        >>> of_levels(0.5, 6).rpartition(". ")[2]
        'With 6 levels, that is up to 3 in place of 0.5.'
    """
    said = (
        "Noise is scaled for a case that moves one count. A case moves a count at every level, one for each of its prefixes, and "
        "their losses add up: to epsilon times the number of levels."
    )
    return said if levels is None else f"{said} With {levels} levels, that is up to {levels * epsilon:g} in place of {epsilon:g}."


def of_raw_figures(prune: float, max_length: int | None) -> Iterator[str]:
    """What is taken from the log as it is.

    Example:
        >>> list(of_raw_figures(20.0, 5))
        []
    """
    raw = [*(["the number of cases"] if 0 < prune < 1 else []), *(["the average length of a case"] if max_length is None else [])]
    if raw:
        named, verb = " and ".join(raw), "are" if len(raw) > 1 else "is"
        yield f"{named[0].upper()}{named[1:]} {verb} taken from the log without noise, and not counted."


def shared_caveats(*, modelled: bool, individuals: bool) -> Iterator[str]:
    """What holds for both queries.

    Example:
        >>> len(list(shared_caveats(modelled=True, individuals=True)))
        3
    """
    yield TRUNCATED
    if modelled:
        yield TIMES
    if individuals:
        yield PERSONS

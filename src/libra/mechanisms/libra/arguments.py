"""Checks of what can be said to the sound mechanism: in goes what was said, out comes its one form or a `UsageError`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from libra.errors import UsageError
from libra.mechanisms.libra.plan import Budget
from libra.privacy.arguments import checked

PRIVATE, PUBLIC = "private", "public"
WAYS = "Say it as control=0.55,times=0.45"


def checked_budget(said: Budget | Mapping[str, float] | str) -> Budget:
    """Shares of control flow and times, both above 0 and adding up to 1; one that is left out gets the rest.

    Example:
        >>> checked_budget("control=0.7")
        Budget(control=0.7, times=0.3)
    """
    if isinstance(said, Budget):
        said = vars(said)
    if not isinstance(said, Mapping | str):
        raise UsageError(f"The budget is text or a mapping, not {said!r}. {WAYS}.")
    parsed = _parsed(said) if isinstance(said, str) else dict(said)
    for name in parsed:
        if name not in ("control", "times"):
            raise UsageError(f'There is no share of the budget called "{name}". {WAYS}.')
    shares = {name: _share(name, value) for name, value in parsed.items()}
    if len(shares) == 1:
        (name,) = shares
        shares["times" if name == "control" else "control"] = 1 - shares[name]
    if len(shares) != 2 or abs(sum(shares.values()) - 1) > 1e-9:
        raise UsageError(f"The shares of the budget have to add up to 1. {WAYS}.")
    return Budget(control=shares["control"], times=round(1 - shares["control"], 12))


def checked_labels(said: str | Sequence[str]) -> str | tuple[str, ...]:
    """Which labels are public: none, all of the log's, or those of a list, which comes back sorted.

    Example:
        >>> checked_labels("private"), checked_labels(["triage", "admit", "triage"])
        ('private', ('admit', 'triage'))
    """
    if isinstance(said, str) and said in (PRIVATE, PUBLIC):
        return said
    if isinstance(said, str) or not isinstance(said, Sequence) or not all(isinstance(label, str) for label in said):
        raise UsageError(f'labels is "{PRIVATE}", "{PUBLIC}" or a list of names, not {said!r}.')
    if not all(label.strip() for label in said) or not said:
        raise UsageError("The list of labels is empty or has an empty name. List the names of activities.")
    return tuple(sorted(set(said)))


def checked_rate_of(gamma: float | None, subsamples: int | None) -> float:
    """The rate of the subsamples: as said, or such that as many cases are drawn as there are, or all.

    Example:
        >>> checked_rate_of(None, None), checked_rate_of(None, 20), checked_rate_of(0.1, None)
        (1.0, 0.05, 0.1)
    """
    if gamma is None:
        return 1.0 if subsamples is None else 1 / subsamples
    return checked("gamma", gamma, lambda rate: 1e-6 <= rate <= 1, "above 0 (from 1e-6) and at most 1")


def checked_time_zone(said: str) -> str:
    """The name of a time zone that is known, or an offset.

    Example:
        >>> checked_time_zone("Europe/Amsterdam")
        'Europe/Amsterdam'
    """
    import polars as pl

    try:
        if not isinstance(said, str) or not said:
            raise ValueError("no name")
        pl.Series([0]).cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(said)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        remedy = "Use a name such as Europe/Amsterdam, or an offset such as +01:00."
        raise UsageError(f'There is no time zone "{said}". {remedy}') from error
    return said


def _parsed(said: str) -> dict[str, object]:
    parts = [part.partition("=") for part in said.split(",")]
    if not all(sign and name.strip() for name, sign, _ in parts) or len({name.strip() for name, _, _ in parts}) < len(parts):
        raise UsageError(f'The budget "{said}" cannot be read. {WAYS}.')
    return {name.strip(): value for name, _, value in parts}


def _share(name: str, value: object) -> float:
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        number = value
    bounds = "above 0 and below 1"
    return checked(f"the share of {name}", number, lambda share: 0 < share < 1, bounds)  # type: ignore[arg-type]  # it checks that

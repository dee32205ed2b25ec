"""Mechanisms of other packages: found by their entry point, checked when they are loaded, and never taken at their word.

A package adds a mechanism by an entry point in the group `libra.mechanisms`; its name is what people say, its object a frozen
dataclass with the interface of `mechanism.Mechanism`. docs/add-a-mechanism.md shows one. The promise: what such a mechanism says
of itself is never shown as proved, because nobody here has checked it; it is repeated as the claim of its authors.
"""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, cast

from libra.errors import BrokenMechanismError, LibraError, UsageError
from libra.eventlog.options import Progress
from libra.mechanisms.peers.claim import EpsilonClaim
from libra.mechanisms.release import Release
from libra.privacy.randomness import SEED_NOTE

if TYPE_CHECKING:
    from libra.eventlog.log import EventLog
    from libra.mechanisms.mechanism import Mechanism
    from libra.privacy.guarantee import Guarantee
    from libra.privacy.randomness import Randomness

GROUP = "libra.mechanisms"
UNCHECKED = "The mechanism comes from another package. Libra has not checked that it does what it claims."


def plugins() -> dict[str, EntryPoint]:
    """The entry points of other packages by name; a name that Libra itself has is passed over.

    Example:
        >>> "libra" in plugins()
        False
    """
    from libra.mechanisms.mechanism import HOMES

    return {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in HOMES}


def loaded(entry: EntryPoint) -> type[Mechanism]:
    """The mechanism behind an entry point.

    Example:
        >>> loaded(EntryPoint("coins", "no.such.module:Coins", GROUP))
        Traceback (most recent call last):
        libra.errors.UsageError: The mechanism "coins" of another package cannot be loaded: No module named 'no'.
    """
    try:
        kind = entry.load()
    except (Exception, SystemExit) as error:  # whatever goes wrong in there, it is that package's fault and named so
        raise UsageError(f'The mechanism "{entry.name}" of {_package(entry)} cannot be loaded: {error}.') from error
    if not (isinstance(kind, type) and is_dataclass(kind) and callable(getattr(kind, "anonymize", None))):
        raise UsageError(f'"{entry.name}" of {_package(entry)} is no mechanism: it has to be a dataclass with anonymize().')
    if getattr(kind, "name", None) != entry.name:
        raise UsageError(f'"{entry.name}" of {_package(entry)} calls itself {getattr(kind, "name", None)!r}: both have to agree.')
    return cast("type[Mechanism]", kind)


def _package(entry: EntryPoint) -> str:
    return f"the package {entry.dist.name}" if entry.dist is not None else "another package"


class Outside:
    """A mechanism of another package: the same, but that its releases are labelled as claimed."""

    def __init__(self, inner: Mechanism) -> None:
        """Stand before a mechanism."""
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        """Everything else is as it is there."""
        if name == "inner":  # not there yet, while a copy is made for another process
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __repr__(self) -> str:
        """As the mechanism itself."""
        return repr(self.inner)

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        """The release of a log, with its guarantee as the claim of its authors."""
        try:
            release = self.inner.anonymize(log, random, progress)
        except LibraError:
            raise
        except (Exception, SystemExit) as error:  # whatever goes wrong in there, it is that package's fault and named so
            told = f"{type(error).__name__}: {error}".removesuffix(".")
            raise BrokenMechanismError(f'The mechanism "{self.name}" of another package broke down ({told}).') from error
        if not isinstance(release, Release):
            raise UsageError(f'The mechanism "{self.name}" gives back {type(release).__name__}, and not a Release.')
        if release.seeded != random.seeded:
            raise UsageError(f'The mechanism "{self.name}" does not say whether its draws came from a seed (seeded=...).')
        claimed = release.claimed or EpsilonClaim.of(release.guarantee)
        notes = tuple(f"{self.name} says: {note}" for note in release.notes)
        seeded = (SEED_NOTE,) if random.seeded else ()
        guarantee = unchecked(release.guarantee, self.name)
        return replace(release, mechanism=self.name, guarantee=guarantee, claimed=claimed, ledger=None, notes=(*seeded, *notes))


def unchecked(guarantee: Guarantee, name: str) -> Guarantee:
    """A guarantee of others, as what it is: their claim, whatever source they name.

    Example:
        >>> from libra.privacy.guarantee import Guarantee
        >>> found = unchecked(Guarantee.proved(1.0, 1e-5), "coins")
        >>> found.kind, found.source
        ('claimed', 'the package that adds "coins"')
    """
    statement = f"As claimed by its authors, and not checked by Libra: {guarantee.statement}"
    caveats = (UNCHECKED, *guarantee.caveats)
    source = f'the package that adds "{name}"'
    return replace(guarantee, kind="claimed", statement=statement, source=source, epsilon=None, delta=None, caveats=caveats)

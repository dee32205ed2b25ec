"""The interface that all mechanisms share, where to find each by its name, and those that other packages add.

A mechanism is a frozen dataclass: its fields are its parameters, checked when it is made, and `anonymize` turns a log into a
`Release`. A package adds one by an entry point in the group `libra.mechanisms` (docs/add-a-mechanism.md). What such a mechanism
says of itself is never shown as proved, because nobody here has checked it; it is repeated as the claim of its authors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from libra.errors import BrokenMechanismError, LibraError, UsageError, did_you_mean
from libra.eventlog.options import Progress
from libra.mechanisms.parameters import Described, described

if TYPE_CHECKING:
    from libra._system.randomness import Randomness
    from libra.eventlog.log import EventLog
    from libra.mechanisms.peers import CertifiedMechanism
    from libra.mechanisms.release import Release

HOMES = {
    "libra": ("libra.mechanisms.libra", "Libra"),
    "libra2022": ("libra.mechanisms.libra2022", "Libra2022"),
    "amun": ("libra.mechanisms.amun", "Amun"),
    "pripel": ("libra.mechanisms.pripel", "Pripel"),
    "prefix-laplace": ("libra.mechanisms.prefix_laplace", "PrefixLaplace"),
    "sacofa": ("libra.mechanisms.sacofa", "Sacofa"),
    "travas": ("libra.mechanisms.travas", "Travas"),
}
GROUP = "libra.mechanisms"
UNCHECKED = "The mechanism comes from another package. Libra has not checked that it does what it claims."


class Mechanism(Protocol):
    """What turns a log into a release."""

    name: ClassVar[str]

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        """The release of a log; `progress` is called with the parts done and the parts in all."""


def names() -> tuple[str, ...]:
    """The names of all mechanisms: those of Libra, then those that other packages add."""
    return (*HOMES, *sorted(plugins()))


def mechanisms() -> dict[str, Described]:
    """All mechanisms by name, those of other packages included: what each does, and its parameters.

    Example:
        >>> import libra
        >>> found = libra.mechanisms()
        >>> list(found)[:2], found["libra"].parameters[0].name, found["libra"].parameters[0].default
        (['libra', 'libra2022'], 'epsilon', 1.0)
    """
    return {name: description_of(name) for name in names()}


def mechanism(name: str, parameters: Mapping[str, Any]) -> Mechanism:
    """The mechanism of this name with these parameters; those that are None stay at their default.

    Example:
        >>> mechanism("libra2022", {"alpha": 2, "b": None})
        Libra2022(alpha=2.0, b=2.0, gamma=0.05, delta=0.0001, subsamples=None, trace_noise=True, signed_times=False, omega=20.0)
    """
    made = kind_of(name)(**_given(name, parameters))
    return made if name in HOMES else cast("Mechanism", Outside(made))


def of_certificate(name: str, parameters: Mapping[str, Any]) -> CertifiedMechanism:
    """The mechanism of Libra that a certificate speaks of."""
    return cast("type[CertifiedMechanism]", kind_of(name)).from_certificate(_given(name, parameters))


def _given(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that are not None, if the mechanism takes them."""
    known, given = parameters_of(name), {key: value for key, value in parameters.items() if value is not None}
    if foreign := [key for key in given if key not in known]:
        hint = did_you_mean(foreign[0], known)
        raise UsageError(f"{name} does not take {foreign[0]}.{hint} It takes {', '.join(known)}.")
    return given


def description_of(name: str) -> Described:
    """What a mechanism does and takes."""
    return described(name, kind_of(name))


def parameters_of(name: str) -> tuple[str, ...]:
    """The names of the parameters that a mechanism takes."""
    return tuple(field.name for field in fields(kind_of(name)) if field.init)  # type: ignore[arg-type]  # mechanisms are dataclasses


def kind_of(name: str) -> type[Mechanism]:
    """The class of a mechanism."""
    if name in HOMES:
        module, kind = HOMES[name]
        return cast("type[Mechanism]", getattr(import_module(module), kind))
    entry = plugins().get(name)
    if entry is None:
        raise UsageError(f'There is no mechanism "{name}".{did_you_mean(name, names())} Available: {", ".join(names())}.')
    package = f"the package {entry.dist.name}" if entry.dist is not None else "another package"
    try:
        kind = entry.load()
    except (Exception, SystemExit) as error:  # whatever goes wrong in there, it is that package's fault and named so
        raise UsageError(f'The mechanism "{entry.name}" of {package} cannot be loaded: {error}.') from error
    if not (isinstance(kind, type) and is_dataclass(kind) and callable(getattr(kind, "anonymize", None))):
        raise UsageError(f'"{entry.name}" of {package} is no mechanism: it has to be a dataclass with anonymize().')
    if getattr(kind, "name", None) != entry.name:
        raise UsageError(f'"{entry.name}" of {package} calls itself {getattr(kind, "name", None)!r}: both have to agree.')
    return cast("type[Mechanism]", kind)


def plugins() -> dict[str, EntryPoint]:
    """The entry points of other packages by name; a name that Libra itself has is passed over."""
    return {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in HOMES}


class Outside:
    """A mechanism of another package: the same, but that its releases are labelled as claimed."""

    def __init__(self, inner: Mechanism) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # not there yet, while a copy is made for another process
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __repr__(self) -> str:
        return repr(self.inner)

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        """The release of a log, with its guarantee as the claim of its authors."""
        from libra._system.randomness import SEED_NOTE
        from libra.mechanisms.peers import EpsilonClaim
        from libra.mechanisms.release import Release

        try:
            release = self.inner.anonymize(log, random, progress)
        except LibraError:
            raise
        except (Exception, SystemExit) as error:  # whatever goes wrong in there, it is that package's fault and named so
            told = f"{type(error).__name__}: {error}".removesuffix(".")
            raise BrokenMechanismError(f'The mechanism "{self.name}" of another package broke down ({told}).') from error
        if not isinstance(release, Release):
            raise UsageError(f'The mechanism "{self.name}" returned {type(release).__name__} instead of a Release.')
        if release.seeded != random.seeded:
            raise UsageError(f'The mechanism "{self.name}" does not say whether its draws came from a seed (seeded=...).')
        stated = release.guarantee
        claimed = release.claimed or EpsilonClaim(stated.epsilon, stated.delta or 0.0, looked_at=False)
        notes = (*((SEED_NOTE,) if random.seeded else ()), *(f"{self.name} says: {note}" for note in release.notes))
        statement = f"As claimed by its authors, and not checked by Libra: {stated.statement}"
        source, caveats = f'the package that adds "{self.name}"', (UNCHECKED, *stated.caveats)  # whatever source they name
        known: dict[str, Any] = {"statement": statement, "source": source, "epsilon": None, "delta": None, "caveats": caveats}
        guarantee = replace(stated, kind="claimed", **known)
        return replace(release, mechanism=self.name, guarantee=guarantee, claimed=claimed, ledger=None, notes=notes)

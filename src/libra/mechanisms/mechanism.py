"""The interface that all mechanisms share, and where to find each by its name.

A mechanism is a frozen dataclass: its fields are its parameters, checked when it is made, and `anonymize` turns a log into a
`Release`. `mechanism` makes one from a name and keyword arguments; modules are loaded when they are asked for. Other packages add
theirs by an entry point (`plugins`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from libra.errors import UsageError
from libra.eventlog.options import Progress

if TYPE_CHECKING:
    from libra.eventlog.log import EventLog
    from libra.mechanisms.release import Release
    from libra.privacy.randomness import Randomness

HOMES = {
    "libra": ("libra.mechanisms.libra", "Libra"),
    "libra2022": ("libra.mechanisms.libra2022", "Libra2022"),
    "amun": ("libra.mechanisms.amun", "Amun"),
    "pripel": ("libra.mechanisms.pripel", "Pripel"),
    "prefix-laplace": ("libra.mechanisms.prefix_laplace", "PrefixLaplace"),
    "sacofa": ("libra.mechanisms.sacofa", "Sacofa"),
    "travas": ("libra.mechanisms.travas", "Travas"),
}


class Mechanism(Protocol):
    """What turns a log into a release."""

    name: ClassVar[str]

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        """The release of a log; `progress` is called with the parts done and the parts in all."""


def names() -> tuple[str, ...]:
    """The names of all mechanisms: those of Libra, then those that other packages add.

    Example:
        >>> names()[:2]
        ('libra', 'libra2022')
    """
    from libra.mechanisms.plugins import plugins

    return (*HOMES, *sorted(plugins()))


def mechanism(name: str, parameters: Mapping[str, Any]) -> Mechanism:
    """The mechanism of this name with these parameters; those that are None stay at their default.

    Example:
        >>> mechanism("libra2022", {"alpha": 2, "b": None})
        Libra2022(alpha=2.0, b=2.0, gamma=0.05, delta=0.0001, subsamples=None, trace_noise=True, signed_times=False, omega=20.0)
    """
    known = parameters_of(name)
    said = {key: value for key, value in parameters.items() if value is not None}
    foreign = [key for key in said if key not in known]
    if foreign:
        raise UsageError(f"{name} does not take {foreign[0]}. It takes {', '.join(known)}.")
    if name in HOMES:
        return _kind(name)(**said)
    from libra.mechanisms.plugins import Outside

    return cast("Mechanism", Outside(_kind(name)(**said)))


def parameters_of(name: str) -> tuple[str, ...]:
    """The names of the parameters that a mechanism takes.

    Example:
        >>> parameters_of("libra2022")[:4]
        ('alpha', 'b', 'gamma', 'delta')
    """
    return tuple(field.name for field in fields(_kind(name)) if field.init)  # type: ignore[arg-type]  # mechanisms are dataclasses


def _kind(name: str) -> type[Mechanism]:
    if name in HOMES:
        module, kind = HOMES[name]
        made: type[Mechanism] = getattr(import_module(module), kind)
        return made
    from libra.mechanisms.plugins import loaded, plugins

    found = plugins()
    if name not in found:
        raise UsageError(f'There is no mechanism "{name}". There is: {", ".join(names())}.')
    return loaded(found[name])

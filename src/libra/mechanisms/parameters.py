"""What the parameters of mechanisms mean and which values they take: said on the field, read by the help and the list.

A mechanism is a dataclass whose fields are its parameters. `TAIL.field("model")` is such a field with its default. Those that
several mechanisms share, or that have a flag, are named here, where the command line finds them without loading a mechanism.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, TypeVar

Default = TypeVar("Default")


@dataclass(frozen=True)
class Parameter:
    """What a parameter means, in a sentence, and which values it takes.

    Example:
        >>> Coins = dataclasses.make_dataclass("Coins", [("sides", int, Parameter("Sides of the coin.", "2 to 6").field(2))])
        >>> Coins().sides, dataclasses.fields(Coins)[0].metadata["parameter"].allowed
        (2, '2 to 6')
    """

    meaning: str  # one sentence
    allowed: str = ""  # its values, such as "above 0"
    unset: str = ""  # what None stands for, where that is the default

    def field(self, default: Default, *, shown: bool = True) -> Default:
        """A field of a mechanism with this default; one that is not `shown` is left out of what Python prints."""
        return dataclasses.field(default=default, repr=shown, metadata={"parameter": self})

    def __str__(self) -> str:
        """Its meaning."""
        return self.meaning


@dataclass(frozen=True)
class DescribedParameter:
    """A parameter of a mechanism: its name, its default, what it means, and which values it takes."""

    name: str
    default: Any
    meaning: str
    allowed: str
    unset: str  # what None stands for, where that is the default

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; a default that is no plain value is written as text."""
        plain = isinstance(self.default, str | int | float | bool | None)
        return {**vars(self), "default": self.default if plain else self.shown_default}

    @property
    def shown_default(self) -> str:
        """The default, as it can be said on the command line."""
        if self.default is None or self.default == ():
            return self.unset
        if dataclasses.is_dataclass(self.default):
            return ",".join(f"{name}={value:g}" for name, value in vars(self.default).items())
        if isinstance(self.default, str):
            return self.default
        return str(self.default).lower() if isinstance(self.default, bool) else f"{self.default:g}"


@dataclass(frozen=True)
class Described:
    """A mechanism: its name, what it does in one line, and its parameters."""

    name: str
    summary: str
    parameters: tuple[DescribedParameter, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"name": self.name, "summary": self.summary, "parameters": [one.to_dict() for one in self.parameters]}


def described(name: str, kind: type[Any]) -> Described:
    """What a mechanism does and takes, as its class says it: in the first line of its docstring, and by its fields."""
    parameters = []
    for field in dataclasses.fields(kind):
        if field.init:
            said = field.metadata.get("parameter", Parameter(""))
            default = None if field.default is dataclasses.MISSING else field.default
            parameters.append(DescribedParameter(field.name, default, said.meaning, said.allowed, said.unset))
    return Described(name, (kind.__doc__ or "").strip().partition("\n")[0], tuple(parameters))


EPSILON = Parameter("Privacy budget epsilon; smaller is more private.", "above 0")
DELTA = Parameter("Privacy parameter delta.", "above 0, below 0.5; well below one over the number of cases")
RARE = "Rare cases: model (new traces like them), nearest (count them for the nearest kept variant) or drop."
TAIL = Parameter(RARE, "model, nearest or drop")
EDGES = Parameter("Steps of rare cases: certain (those that stand out from the noise) or all (some are false).", "certain or all")
BUDGET = Parameter(
    "Shares of the budget for control flow, times and attributes.", "control=SHARE,times=SHARE,attributes=SHARE; they add up to 1"
)
ATTRIBUTES = Parameter("Attributes to release, as the description of the log declares them.", "names of attributes", unset="none")
RESOURCE_NAMES = Parameter("Write resources (org:resource) by their names, rather than as R1, R2 and so on.", "true or false")
LABELS = Parameter("Activity names: private, public, or a list from outside the log.", "private, public or a list of names")
TIME_ZONE = Parameter("Time zone used for hour and weekday patterns.", "such as Europe/Amsterdam or +01:00")
CASES = Parameter("Number of cases to generate.", "from 1 up", unset="about as many as in the log")
MOST_CASES = Parameter("Cases per individual that count, with --individual.", "from 1 up", unset="1 with --individual")
GAMMA = Parameter("Fraction of the cases in a subsample.", "above 0, up to 1", unset="1, or one over the number of subsamples")
SUBSAMPLES = Parameter("Number of subsamples.", "1 to 1000", unset="1")
ALPHA = Parameter("Order of Renyi differential privacy.", "above 1")
B = Parameter("Scale of the Laplace mechanism.", "above 0")
TIMES = Parameter(
    "Timestamps: none (placeholders), or model (Libra's private timestamps, using part of the budget).", "none or model"
)
PRUNE = Parameter(
    "Drop prefixes rarer than this: below 1 a fraction of all cases, otherwise a count.", "from 0 up; whole numbers from 1 up"
)
MAX_LENGTH = Parameter("Events of the longest trace.", "1 to 1000", unset="the average length of a case, rounded up")

"""What is compared: a mechanism with parameters, written as `travas`, `libra:tail=drop` or `libra:gamma=0.05:subsamples=20`.

An unknown mechanism or parameter is a `UsageError` here, before any log is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from libra.errors import UsageError
from libra.mechanisms.mechanism import names, parameters_of

OF_ONE = "Write it as NAME:PARAMETER=VALUE, such as libra:tail=drop"
OF_ALL = "Write it as --set NAME=VALUE, such as --set prune=0.01"
PASSED_OVER = "Not compared:"
BUDGET = ("epsilon", "delta")  # said for all mechanisms by arguments of their own


@dataclass(frozen=True)
class Setting:
    """A mechanism, by its name, with those of its parameters that differ from the defaults, without epsilon and delta."""

    mechanism: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        known = parameters_of(self.mechanism)
        for name, value in self.parameters.items():
            if name not in known:
                raise UsageError(f"{self.mechanism} does not take {name}. It takes {', '.join(known)}.")
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError) as error:
                what = f"{name} of {self.mechanism} is {type(value).__name__}"
                raise UsageError(f"{what}. A comparison takes plain values: numbers, text, true or false.") from error

    @property
    def label(self) -> str:
        """The setting in one word, as it can be said again."""
        return ":".join((self.mechanism, *self.words))

    @property
    def words(self) -> tuple[str, ...]:
        """Its parameters, each as it is said."""
        return tuple(f"{name}={_text(value)}" for name, value in self.parameters.items())


class Settings(tuple[Setting, ...]):
    """Settings, whether somebody named them, and a note on every mechanism that was passed over since it cannot be loaded."""

    named: bool = True
    notes: tuple[str, ...] = ()


def settings_of(said: str | Iterable[str | Setting] | None, shared: Mapping[str, Any] | None = None) -> Settings:
    """The settings that were asked for, each once, or all mechanisms that can be loaded; with the shared parameters they take."""
    found: list[Setting] = []
    notes: list[str] = []
    for one in names() if said is None else (said,) if isinstance(said, str) else said:
        try:
            found += [one] if isinstance(one, Setting) else map(_parsed, _separated(one))
        except UsageError as error:
            if said is not None:
                raise
            notes.append(f"{PASSED_OVER} {error}")  # it is of another package
    for name in (shared := shared or {}):
        if name in BUDGET:
            own = f"Use --{name} for all mechanisms, or NAME:{name}=VALUE for one"
            raise UsageError(f"{name} cannot be set for all with --set. {own}.")
        if not any(name in parameters_of(setting.mechanism) for setting in found):
            raise UsageError(f"None of the mechanisms takes {name}.")
    different = {}
    for one in found:
        taken = {name: shared[name] for name in shared if name in parameters_of(one.mechanism)}
        setting = Setting(one.mechanism, taken | dict(one.parameters))
        different[setting.label] = setting
    if not different:
        raise UsageError("There is no mechanism to compare. Name some, such as libra,travas.")
    settings = Settings(different.values())
    settings.named, settings.notes = said is not None, tuple(notes)
    return settings


def parsed_parameters(said: Sequence[str], remedy: str = OF_ALL) -> dict[str, Any]:
    """Parameters from texts such as `prune=0.01`: JSON where it is that, and text otherwise."""
    parameters = {}
    for text in said:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise UsageError(f'"{text}" is not a parameter. {remedy}.')
        parameters[name.strip().replace("-", "_")] = _value(value)
    return parameters


def _separated(text: str) -> list[str]:
    """The settings in a list with commas; a value with commas in it stays whole, since no mechanism has a "=" in its name."""
    found: list[str] = []
    for piece in text.split(","):
        if found and "=" in piece.partition(":")[0]:
            found[-1] += f",{piece}"
        else:
            found.append(piece)
    return [piece.strip() for piece in found if piece.strip()]


def _parsed(text: str) -> Setting:
    name, *parameters = text.split(":")
    return Setting(name.strip(), parsed_parameters(parameters, OF_ONE))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def _text(value: Any) -> str:
    """How a value is said, so that it is read back as the same."""
    return value if isinstance(value, str) and _value(value) == value else json.dumps(value)

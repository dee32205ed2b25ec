"""The plan of a comparison: a `Run` for every log, setting, epsilon and seed, with its parameters, before anything runs.

A setting is a mechanism with parameters, written as `travas`, `libra:tail=drop` or `libra:gamma=0.05:subsamples=20`. What is
unknown in it is a `UsageError`, before any log is read. A setting that is refused at every epsilon is a mistake of the caller and
told at once; one that is refused at some is a result. Of mechanisms that nobody named, those of other packages that cannot be
made are passed over with a note.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

from libra._system.arguments import checked, checked_delta, checked_rate, checked_times, checked_whole, delta_of_guarantee
from libra._system.randomness import LARGEST_SEED
from libra.errors import LibraError, UsageError
from libra.mechanisms.mechanism import HOMES, mechanism, names, parameters_of

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


MOST_SEEDS = 1_000
PUBLISHED = "libra2022"
FIXED_BY = {PUBLISHED: "b", "amun": "guessing_advantage"}  # what decides the privacy of a mechanism, beside epsilon
SMALLEST, LARGEST = 1e-3, 1e6  # scales that are tried
PRECISION = 1e-4
OURS = ("epsilon", "delta")  # flags that the comparison has too
NUMBER = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"
WORD = r"[A-Za-z]\w*(?=[.,;:)]|$)"  # a value ends its clause; another word goes on with it
FLAG = re.compile(rf"--([a-z][a-z0-9-]*)(?: ({NUMBER}|{WORD}))?")
SET = re.compile(r"--set ((\w+)=)")
Asked = tuple[Setting, float | None, Mapping[str, Any], str | None]  # with the parameters, or why there can be no run


@dataclass(frozen=True)
class Run:
    """One run of one mechanism on one log, which is told by its name."""

    log: str
    setting: Setting
    epsilon: float | None  # of the guarantee asked for; None if the setting decides
    seed: int
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)  # all that it is asked with
    refusal: str | None = None  # why it cannot be made at all

    @property
    def delta(self) -> float | None:
        """Of the guarantee asked for; None where the mechanism takes none."""
        return self.parameters.get("delta")

    def __str__(self) -> str:
        """The run in words."""
        budget = "" if self.epsilon is None else f" at epsilon {self.epsilon:g}"
        return f"{self.setting.label} on {self.log}{budget}, seed {self.seed}"


@dataclass(frozen=True)
class Plan:
    """All that is to be run, but for the logs."""

    asked: tuple[Asked, ...]
    epsilons: tuple[float, ...]
    delta: float
    seeds: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def runs(self, logs: Iterable[str]) -> Iterator[Run]:
        """All runs, those of the first seed first: who is too slow for one is not tried with the others."""
        for seed, log, (setting, epsilon, parameters, refusal) in product(self.seeds, logs, self.asked):
            yield Run(log, setting, epsilon, seed, parameters, refusal)


def plan_of(settings: Sequence[Setting], epsilon: float | Sequence[float], delta: float, seeds: int | Sequence[int]) -> Plan:
    """The plan for these settings at these budgets; `seeds` is how many, or which."""
    epsilons, delta, which = _epsilons(epsilon), delta_of_guarantee(delta), _seeds(seeds)
    tried: list[Asked] = []
    notes = list(settings.notes) if isinstance(settings, Settings) else []
    for setting in settings:
        budgets: tuple[float | None, ...] = epsilons if is_asked(setting) else (None,)
        try:
            tried += _tried(setting, budgets, delta)
        except UsageError as error:
            if setting.mechanism in HOMES or not isinstance(settings, Settings) or settings.named:
                raise
            notes.append(f"{PASSED_OVER} {error}")
    return Plan(tuple(tried), epsilons, delta, which, tuple(notes))


def _tried(setting: Setting, epsilons: Sequence[float | None], delta: float) -> list[Asked]:
    found: list[Asked] = []
    errors: list[UsageError] = []
    for epsilon in epsilons:
        parameters: dict[str, Any] = dict(setting.parameters)
        try:
            parameters = asked(setting, epsilon, delta)
            mechanism(setting.mechanism, parameters)
        except UsageError as error:
            errors.append(error)
            found.append((setting, epsilon, parameters, str(error)))
        except Exception as error:
            if setting.mechanism in HOMES:
                raise
            told = f'The mechanism "{setting.mechanism}" of another package cannot be made'
            raise UsageError(f"{told} ({type(error).__name__}: {' '.join(str(error).split())}).") from error
        else:
            found.append((setting, epsilon, parameters, None))
    if len(errors) == len(epsilons):
        raise UsageError(f"{setting.label}: {in_our_words(str(errors[0]), setting, found[0][2])}")
    return found


def _epsilons(said: float | Sequence[float]) -> tuple[float, ...]:
    several = said if isinstance(said, Sequence) else [said]
    if not several:
        raise UsageError("There is no epsilon to compare at. Give some, such as 0.1,1,4.7.")
    return tuple(dict.fromkeys(checked("epsilon", epsilon, lambda epsilon: epsilon > 0, "above 0") for epsilon in several))


def _seeds(said: int | Sequence[int]) -> tuple[int, ...]:
    if not isinstance(said, Sequence):
        return tuple(range(checked_whole("seeds", said, 1, MOST_SEEDS)))
    which = tuple(dict.fromkeys(checked_whole("a seed", seed, 0, LARGEST_SEED) for seed in said))
    if not which:
        raise UsageError("There is no seed. Give how many, or which.")
    return which


def is_asked(setting: Setting) -> bool:
    """Whether epsilon is left to the comparison: the mechanism knows it, and the setting does not fix it."""
    known = parameters_of(setting.mechanism)
    fixed = {"epsilon", FIXED_BY.get(setting.mechanism, "epsilon")} & set(setting.parameters)
    return not fixed and ("epsilon" in known or setting.mechanism == PUBLISHED)


def asked(setting: Setting, epsilon: float | None, delta: float) -> dict[str, Any]:
    """The parameters of a run at (epsilon, delta); at an epsilon of None they are those of the setting.

    Most mechanisms take epsilon, and delta where it plays a part. `libra2022` takes neither: it gets the scale b at which its
    subsampled Laplace releases would be (epsilon, delta), if they were all it releases, the reading most favourable to it.
    """
    known = parameters_of(setting.mechanism)
    wanted: dict[str, Any] = {"delta": delta} if "delta" in known else {}
    if epsilon is not None and setting.mechanism == PUBLISHED:
        wanted["b"] = _scale_of(setting, epsilon, wanted | dict(setting.parameters))
    elif epsilon is not None:
        wanted = {"epsilon": epsilon} | wanted
    return wanted | dict(setting.parameters)


def _scale_of(setting: Setting, epsilon: float, parameters: dict[str, Any]) -> float:
    from libra.mechanisms.libra2022 import Libra2022
    from libra.mechanisms.libra2022.claim import default_subsamples

    gamma, subsamples = parameters.get("gamma", Libra2022.gamma), parameters.get("subsamples")
    if subsamples == "paper":
        where = f"{setting.label}: the number of subsamples follows from the log"
        raise UsageError(f"{where}, so no b can be found for an epsilon. Give b, or how many subsamples.")
    times = default_subsamples(gamma) if subsamples is None else checked_times(subsamples, "subsamples")
    return subsampled_laplace_scale(epsilon, checked_rate(gamma, "gamma"), times, checked_delta(parameters["delta"]))


@cache
def subsampled_laplace_scale(epsilon: float, rate: float, times: int, delta: float) -> float:
    """The smallest scale at which so many Laplace releases from Poisson subsamples are (epsilon, delta)-private."""
    from libra.privacy.renyi import subsampled_laplace_epsilon

    def is_enough(scale: float) -> bool:
        return subsampled_laplace_epsilon(scale, rate, times, delta) <= epsilon

    if not is_enough(LARGEST):
        raise UsageError(f"No b makes {times} subsamples of rate {rate:g} ({epsilon:g}, {delta:g})-differentially private.")
    too_small, enough = 1.0, 1.0
    while enough < LARGEST and not is_enough(enough):
        too_small, enough = enough, enough * 4
    while too_small > SMALLEST and is_enough(too_small):
        too_small, enough = too_small / 4, too_small
    while enough / too_small > 1 + PRECISION:
        between = (enough * too_small) ** 0.5
        too_small, enough = (too_small, between) if is_enough(between) else (between, enough)
    return enough


def in_our_words(reason: str, setting: Setting, parameters: Mapping[str, Any]) -> str:
    """Why a mechanism with these parameters refused, written for the flags of `libra anonymize`, in the words of `libra compare`.

    It says `--set b=7` for `--b 7`. A parameter that the setting fixes is said as `b=7`, and one that is spoken of in
    general by its name alone. Flags that are no parameter of the mechanism, and those that the comparison has too, stay.
    """
    known, switches = parameters_of(setting.mechanism), set()
    with contextlib.suppress(LibraError):  # of a mechanism that cannot be made, nothing is known
        made = mechanism(setting.mechanism, parameters)
        switches = {name for name in known if isinstance(getattr(made, name, None), bool)}

    def said(flag: re.Match[str]) -> str:
        name = flag[1].replace("-", "_")
        value = flag[2] or ("true" if name in switches else None)
        if name not in known or (name in OURS and name not in setting.parameters):
            return flag[0]
        if value is None:
            return name
        return f"{name}={value}" if name in setting.parameters else f"--set {name}={value}"

    return FLAG.sub(said, SET.sub(lambda found: found[1] if found[2] in setting.parameters else found[0], reason))

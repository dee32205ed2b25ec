"""The plan of a comparison: which runs there are, before anything runs.

In: settings, budgets and seeds, as people say them. Out: a `Plan`, and from it a `Run` for every log, setting, epsilon and seed.
A setting that is refused at every epsilon is a mistake of the caller, and told at once; one that is refused at some is a result.
Of mechanisms that nobody named, those of other packages that cannot be made are passed over with a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from libra.comparison.asked import asked, is_asked
from libra.comparison.flags import in_our_words
from libra.comparison.setting import PASSED_OVER, Setting, Settings
from libra.errors import UsageError
from libra.mechanisms.mechanism import HOMES, mechanism

MOST_SEEDS = 1_000
Asked = tuple[Setting, float | None, Mapping[str, Any], str | None]  # with the parameters, or why there can be no run


@dataclass(frozen=True)
class Run:
    """One run of one mechanism on one log.

    Attributes:
        log: The name of the log.
        setting: What runs.
        epsilon: Of the guarantee asked for; None where the setting decides.
        seed: What it draws from.
        parameters: All that it is asked with.
        refusal: Why it cannot be made at all; None where it can.

    Example:
        >>> print(Run("sepsis", Setting("travas"), 1.0, 0))
        travas on sepsis at epsilon 1, seed 0
    """

    log: str
    setting: Setting
    epsilon: float | None
    seed: int
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    refusal: str | None = None

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
    """All that is to be run, but for the logs.

    Example:
        >>> plan = plan_of([Setting("libra")], [0.1, 1.0], delta=1e-4, seeds=2)
        >>> [(run.epsilon, run.seed) for run in plan.runs(["sepsis"])]
        [(0.1, 0), (1.0, 0), (0.1, 1), (1.0, 1)]
    """

    asked: tuple[Asked, ...]
    epsilons: tuple[float, ...]
    delta: float
    seeds: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def runs(self, logs: Iterable[str]) -> Iterator[Run]:
        """All runs, those of the first seed first: who is too slow for one is not tried with the others."""
        names = list(logs)
        for seed in self.seeds:
            for log in names:
                for setting, epsilon, parameters, refusal in self.asked:
                    yield Run(log, setting, epsilon, seed, parameters, refusal)


def plan_of(settings: Sequence[Setting], epsilon: float | Sequence[float], delta: float, seeds: int | Sequence[int]) -> Plan:
    """The plan for these settings at these budgets; `seeds` is how many, or which.

    Example:
        >>> plan_of([Setting("libra2022", {"b": 2})], [0.1, 1.0], 1e-4, 3).asked[0][1:]
        (None, {'delta': 0.0001, 'b': 2}, None)
    """
    from libra.privacy.arguments import delta_of_guarantee

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
    from libra.privacy.arguments import checked

    several = said if isinstance(said, Sequence) else [said]
    if not several:
        raise UsageError("There is no epsilon to compare at. Say some, such as 0.1,1,4.7.")
    return tuple(dict.fromkeys(checked("epsilon", epsilon, lambda epsilon: epsilon > 0, "above 0") for epsilon in several))


def _seeds(said: int | Sequence[int]) -> tuple[int, ...]:
    from libra.privacy.arguments import checked_whole
    from libra.privacy.randomness import LARGEST_SEED

    if not isinstance(said, Sequence):
        return tuple(range(checked_whole("seeds", said, 1, MOST_SEEDS)))
    which = tuple(dict.fromkeys(checked_whole("a seed", seed, 0, LARGEST_SEED) for seed in said))
    if not which:
        raise UsageError("There is no seed. Say how many, or which.")
    return which

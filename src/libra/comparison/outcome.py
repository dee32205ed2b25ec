"""What came of a run: its measures, or why there are none.

Plain data that goes to a JSON file and comes back. It holds figures that were computed from the original, and is confidential.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from libra.comparison.plan import Run
from libra.measures.utility import Baseline, Utility

Why = Literal["time", "memory", "refused", "failed"]
LIMITS: tuple[Why, ...] = ("time", "memory")
OF_TIMES = (
    "emd_time",
    "case_duration_w1_hours",
    "edge_duration_w1_hours",
    "edge_duration_w1_relative",
    "edge_duration_w1_log",
    "arrival_w1_days",
)


@dataclass(frozen=True)
class Result:
    """What a finished run gave.

    Attributes:
        utility: How far the release is from the original.
        cases: How many cases were released.
        has_times: Whether its timestamps say anything; if not, the measures of times do not either.
        seconds: How long anonymizing took, without reading and measuring.
        peak_megabytes: The most memory that its process had by then; None where the system does not tell.
        reading_megabytes: The most that it had before, with the log read and nothing begun.
        guarantee: "proved" or "claimed".
        statement: The promise in words.
        unit: What it protects: one case, or one individual.
    """

    utility: Utility
    cases: int
    has_times: bool
    seconds: float
    peak_megabytes: float | None
    reading_megabytes: float | None
    guarantee: Literal["proved", "claimed"]
    statement: str
    unit: str

    def figure(self, name: str) -> float | None:
        """A measure by its name; None where it is not defined, or where no times were released."""
        if name in OF_TIMES and not self.has_times:
            return None
        value: float | None = getattr(self.utility, name)
        return value

    def to_dict(self) -> dict[str, Any]:
        """The result, JSON-ready; `from_dict` is its inverse."""
        return asdict(self) | {"utility": self.utility.to_dict()}

    def shown(self) -> dict[str, Any]:
        """The same for people: where no times were released, measures of times are None."""
        utility = self.utility.to_dict()
        return self.to_dict() | {"utility": utility | {name: self.figure(name) for name in OF_TIMES}}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Result:
        """The result that `to_dict` described."""
        figures = dict(plain["utility"])
        utility = Utility(**figures | {"empty": Baseline(**figures["empty"])})
        return cls(**dict(plain) | {"utility": utility})


@dataclass(frozen=True)
class Missing:
    """Why a run has no result: a limit, the mechanism's own refusal, or a mistake of somebody's."""

    why: Why
    reason: str


@dataclass(frozen=True)
class Outcome:
    """A run and what came of it.

    Example:
        >>> from libra.comparison.setting import Setting
        >>> outcome = Outcome(Run("sepsis", Setting("libra"), 1.0, 0), Missing("time", "it took more than 300 seconds"))
        >>> outcome.result, outcome.missing.why
        (None, 'time')
    """

    run: Run
    found: Result | Missing
    cached: bool = False  # whether it was found in the cache

    @property
    def result(self) -> Result | None:
        """The result, if there is one."""
        return self.found if isinstance(self.found, Result) else None

    @property
    def missing(self) -> Missing | None:
        """Why there is no result; None where there is."""
        return self.found if isinstance(self.found, Missing) else None

    def to_dict(self) -> dict[str, Any]:
        """One run for a JSON document."""
        run = self.run
        return {
            "log": run.log,
            "mechanism": run.setting.mechanism,
            "setting": run.setting.label,
            "parameters": dict(run.parameters),
            "epsilon": run.epsilon,
            "delta": run.delta,
            "seed": run.seed,
            "cached": self.cached,
            "result": None if self.result is None else self.result.shown(),
            "missing": None if self.missing is None else asdict(self.missing),
        }

"""A comparison: what came of every run, its measures or why there are none, and rows of means over the seeds.

Everything in it was computed from the originals, with seeds that anybody can draw from again: it is confidential, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any, Literal

from libra._system.arguments import checked
from libra._version import __version__
from libra.comparison.plan import Run, Setting
from libra.errors import UsageError
from libra.measures.attributes import Association, AttributeFigures
from libra.measures.utility import FIGURES, IN_BOTH, Baseline, Utility
from libra.measures.within_cases import InBoth, Overlaps

DOCUMENT = "Libra comparison"
CONFIDENTIAL = (
    "Confidential: all figures compare with the original, and every run is seeded. "
    "For a log that is not public, this is for its custodian alone."
)
CHOICE = (
    "A choice of mechanism, parameters or epsilon that is made on a log is part of what is released from it, and no guarantee "
    "counts it: choose on public logs that resemble yours."
)
MEASURES = {
    "dfg_l1": "dfg_l1",
    "dfg_tv": "dfg_tv",
    "emd_freq": "EMD Freq",
    "emd_time": "EMD Time",
    "variant_tv": "variant_tv",
    "edge_duration_w1_log": "edge durations, log10",
    "case_duration_w1_hours": "case durations, hours",
    "arrival_w1_days": "arrivals, days",
}

Why = Literal["time", "memory", "refused", "failed"]
LIMITS: tuple[Why, ...] = ("time", "memory")
OF_TIMES: tuple[str, ...] = ("emd_time", "case_duration_w1_hours", "arrival_w1_days")
OF_TIMES += ("edge_duration_w1_hours", "edge_duration_w1_relative", "edge_duration_w1_log", "edge_duration_p90_log")
OF_TIMES += ("edge_time_share_l1", "path_eta2_difference", "pair_correlation_difference", *IN_BOTH)
OF_TIMES += ("service_time_w1_log", "waiting_time_w1_log", "overlap_share", "attribute_duration_tv", "association_l1")


@dataclass(frozen=True)
class Result:
    """What a finished run gave; where the system does not tell how much memory it had, that is None."""

    utility: Utility  # how far the release is from the original
    cases: int  # how many were released
    has_times: bool  # whether its timestamps say anything; if not, the measures of times do not either
    seconds: float  # how long anonymizing took, without reading and measuring
    peak_megabytes: float | None  # the most memory that its process had by then
    reading_megabytes: float | None  # the most that it had before, with the log read and nothing begun
    guarantee: Literal["proved", "claimed"]
    statement: str  # the promise in words
    unit: str  # what it protects: one case, or one individual

    def figure(self, name: str) -> float | None:
        """A measure by its name; None where it is not defined, or where no times were released."""
        return None if name in OF_TIMES and not self.has_times else getattr(self.utility, name)

    def to_dict(self) -> dict[str, Any]:
        """The result, JSON-ready; `from_dict` is its inverse."""
        return asdict(self) | {"utility": self.utility.to_dict()}

    def shown(self) -> dict[str, Any]:
        """The same for people: where no times were released, measures of times are None."""
        return self.to_dict() | {"utility": self.utility.to_dict() | ({} if self.has_times else dict.fromkeys(OF_TIMES))}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Result:
        """The result that `to_dict` described."""
        figures = dict(plain["utility"])
        overlaps = None if figures.get("overlaps") is None else Overlaps(**figures["overlaps"])
        typed = {
            "empty": Baseline(**figures["empty"]),
            "overlaps": overlaps,
            **{name: InBoth(**figures[name]) for name in IN_BOTH if figures.get(name) is not None},
            "attributes": tuple(AttributeFigures(**one) for one in figures.get("attributes", ())),
            "associations": tuple(Association(**one) for one in figures.get("associations", ())),
        }
        return cls(**dict(plain) | {"utility": Utility(**figures | typed)})


@dataclass(frozen=True)
class Missing:
    """Why a run has no result: a limit, the mechanism's own refusal, or a mistake of somebody's."""

    why: Why
    reason: str


@dataclass(frozen=True)
class Limits:
    """What a run may take, from its first moment to its measures."""

    seconds: float = 300.0
    gigabytes: float = 4.0

    def __post_init__(self) -> None:
        checked("the time limit", self.seconds, lambda seconds: seconds > 0, "of seconds above 0")
        checked("the memory limit", self.gigabytes, lambda gigabytes: gigabytes > 0, "of GB above 0")

    def exceeded(self, why: Literal["time", "memory"]) -> Missing:
        """What is said of a run that took too long, or too much memory."""
        limit = f"{self.seconds:g} seconds" if why == "time" else f"{self.gigabytes:g} GB of memory"
        return Missing(why, f"it took more than {limit}")


@dataclass(frozen=True)
class Outcome:
    """A run and what came of it."""

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
        asked = {"log": run.log, "mechanism": run.setting.mechanism, "setting": run.setting.label}
        budget = {"parameters": dict(run.parameters), "epsilon": run.epsilon, "delta": run.delta, "seed": run.seed}
        result = None if self.result is None else self.result.shown()
        missing = None if self.missing is None else asdict(self.missing)
        return asked | budget | {"cached": self.cached, "result": result, "missing": missing}


@dataclass(frozen=True)
class Mean:
    """A figure over the seeds: its mean and, where there are several, its standard deviation."""

    mean: float
    spread: float | None

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Mean | None:
        """The mean of some values; None where there is none, or one of them is not defined."""
        values = list(values)
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            return None
        return cls(fmean(known), stdev(known) if len(known) > 1 else None)


@dataclass(frozen=True)
class ComparedLog:
    """A log as far as the tables need it: its name, what an empty log would score, notes on how it was read, and whose it is."""

    name: str
    empty: Utility
    notes: tuple[str, ...] = ()
    has_individuals: bool = False  # whether it is known which cases are of the same person


@dataclass(frozen=True)
class Row:
    """One setting at one epsilon on one log, over all seeds."""

    log: str
    setting: Setting
    epsilon: float | None
    outcomes: tuple[Outcome, ...]

    @property
    def results(self) -> list[Result]:
        """The runs that gave something."""
        return [outcome.result for outcome in self.outcomes if outcome.result is not None]

    @property
    def missing(self) -> list[Missing]:
        """Why others did not, each reason once."""
        return list(dict.fromkeys(outcome.missing for outcome in self.outcomes if outcome.missing is not None))

    @property
    def has_times(self) -> bool:
        """Whether what was released has times of its own."""
        return all(result.has_times for result in self.results)

    def measure(self, name: str) -> Mean | None:
        """A measure by its name, as `libra.measure` has it; None where there is no figure."""
        if name not in FIGURES:
            raise UsageError(f'There is no measure "{name}". Available: {", ".join(FIGURES)}.')
        return Mean.of(result.figure(name) for result in self.results)

    @property
    def seconds(self) -> Mean | None:
        """How long anonymizing took."""
        return Mean.of(result.seconds for result in self.results)

    @property
    def peak_megabytes(self) -> float | None:
        """The most memory that any of the runs took."""
        return max((result.peak_megabytes for result in self.results if result.peak_megabytes is not None), default=None)

    @property
    def guarantee(self) -> str | None:
        """Whether what is promised is proved or claimed; None where nothing came out."""
        return next((result.guarantee for result in self.results), None)

    @property
    def unit(self) -> str | None:
        """What the promise protects; None where nothing came out."""
        return next((result.unit for result in self.results), None)

    @property
    def delta(self) -> float | None:
        """What the runs were asked with; None where the mechanism takes none."""
        return self.outcomes[0].run.delta

    @property
    def audit(self) -> str | None:
        """What is known from audits of this mechanism with these parameters."""
        from libra.measures.audit.outcome import outcome_of

        run = self.outcomes[0].run
        return outcome_of(run.setting.mechanism, run.parameters) if run.refusal is None else None

    def to_dict(self) -> dict[str, Any]:
        """The row, JSON-ready."""
        means = {name: self.measure(name) for name in MEASURES} | {"seconds": self.seconds}
        measures = {name: None if mean is None else asdict(mean) for name, mean in means.items()}
        seconds, has_times = measures.pop("seconds"), self.has_times if self.results else None
        of = {"log": self.log, "setting": self.setting.label, "epsilon": self.epsilon, "delta": self.delta}
        found = {"runs": len(self.results), "measures": measures, "has_times": has_times, "seconds": seconds}
        promised = {"guarantee": self.guarantee, "unit": self.unit, "audit": self.audit}
        missing = {"missing": [asdict(missing) for missing in self.missing]}
        return of | found | {"peak_megabytes": self.peak_megabytes} | promised | missing


@dataclass(frozen=True, repr=False)
class Comparison:
    """Everything that a comparison found; the tables and plots are made from this.

    Example:
        >>> import libra, libra.example
        >>> found = libra.compare(libra.example.path(), mechanisms="libra", epsilon=1.0, seeds=1, cache=False)
        >>> found
        <Comparison: 1 log, 1 setting, 1 of 1 runs with a result; rows(log) and plot(log, measure) know emergency>
    """

    logs: tuple[ComparedLog, ...]
    outcomes: tuple[Outcome, ...]
    epsilons: tuple[float, ...]
    delta: float
    seeds: tuple[int, ...]
    limits: Limits
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """What was compared, in a line."""
        settings = len({outcome.run.setting.label for outcome in self.outcomes})
        done = sum(outcome.result is not None for outcome in self.outcomes)
        several = f"{len(self.logs)} log{'s' * (len(self.logs) != 1)}, {settings} setting{'s' * (settings != 1)}"
        known = ", ".join(log.name for log in self.logs)
        runs = f"{done} of {len(self.outcomes)} runs with a result"
        return f"<Comparison: {several}, {runs}; rows(log) and plot(log, measure) know {known}>"

    def log(self, name: str) -> ComparedLog:
        """A log by its name."""
        by_name = {log.name: log for log in self.logs}
        if name not in by_name:
            raise UsageError(f'There is no log "{name}" in this comparison. Available: {", ".join(by_name)}.')
        return by_name[name]

    def rows(self, log: str) -> list[Row]:
        """The rows of a log, in the order in which the settings were named."""
        self.log(log)
        groups: dict[tuple[str, float | None], list[Outcome]] = {}
        for outcome in self.outcomes:
            if outcome.run.log == log:
                groups.setdefault((outcome.run.setting.label, outcome.run.epsilon), []).append(outcome)
        return [Row(log, of[0].run.setting, epsilon, tuple(of)) for (_, epsilon), of in groups.items()]

    @property
    def said_delta(self) -> str:
        """The delta of the runs, as a heading says it."""
        deltas = {outcome.run.delta for outcome in self.outcomes} - {None}
        if not deltas:
            return "no delta"
        return f"delta {deltas.pop():g}" if len(deltas) == 1 else f"delta {self.delta:g} unless a setting says otherwise"

    @property
    def has_results(self) -> bool:
        """Whether any run gave something."""
        return any(outcome.result is not None for outcome in self.outcomes)

    def to_dict(self) -> dict[str, Any]:
        """Everything, JSON-ready: the rows of each log, then each run."""
        head = {"document": DOCUMENT, "version": __version__, "confidential": CONFIDENTIAL, "delta": self.delta}
        asked = {"epsilons": list(self.epsilons), "seeds": list(self.seeds), "limits": asdict(self.limits)}
        logs = []
        for log in self.logs:
            empty = {name: getattr(log.empty, name) for name in MEASURES}
            rows = [row.to_dict() for row in self.rows(log.name)]
            logs.append({"name": log.name, "has_individuals": log.has_individuals, "empty_log": empty, "rows": rows})
        return head | asked | {"logs": logs, "runs": [outcome.to_dict() for outcome in self.outcomes]}

"""Everything that was released of one run, and all that the log is generated from.

Plain data that can be written to JSON and read back: another process that has it, and nothing else, generates the same log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from libra.eventlog.cases import Traces, traces_of
from libra.mechanisms.libra.tail import TailFigures
from libra.mechanisms.libra.times import TimeFigures
from libra.privacy.noise import NoisyTable

PLAIN = ("time_zone", "weight", "cases", "draw")  # fields of `Figures` that JSON has as they are


@dataclass(frozen=True, eq=False, repr=False)
class ControlFigures:
    """What was released about control flow."""

    n_labels: int  # how many labels there are
    kept: Traces  # the kept variants
    first: NoisyTable  # their noisy counts in the first look, which had to pass the threshold
    second: NoisyTable  # their noisy counts in the second look; with rare cases counted to the nearest, where that was asked for
    threshold: float  # of the first look
    tail: TailFigures | None  # what was released about all other cases; None where they are not modelled
    nearest: bool  # whether the second look counts every case


@dataclass(frozen=True, eq=False, repr=False)
class Figures:
    """What was released in one run."""

    labels: tuple[str, ...]  # the labels that codes stand for
    control: ControlFigures  # about control flow
    times: TimeFigures  # about times
    time_zone: str  # whose hours and days they are
    weight: float  # how many generated cases one counted case becomes: 1 over the rate of the subsample and the number of runs
    cases: int | None  # how many cases to generate; None for as many as the figures say
    draw: int  # the seed of everything random in the generation. It is no secret

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        control = self.control
        return {
            "labels": list(self.labels),
            "kept": control.kept.to_lists(),
            "first": control.first.to_dict(),
            "second": control.second.to_dict(),
            "threshold": control.threshold,
            "nearest": control.nearest,
            "tail": None if control.tail is None else control.tail.to_dict(),
            "times": self.times.to_dict(),
        } | {name: getattr(self, name) for name in PLAIN}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Figures:
        """The figures of a JSON document."""
        control = ControlFigures(
            n_labels=len(plain["labels"]),
            kept=traces_of(plain["kept"]),
            first=NoisyTable.from_dict(plain["first"]),
            second=NoisyTable.from_dict(plain["second"]),
            threshold=plain["threshold"],
            tail=None if plain["tail"] is None else TailFigures.from_dict(plain["tail"]),
            nearest=plain["nearest"],
        )
        times = TimeFigures.from_dict(plain["times"])
        return cls(tuple(plain["labels"]), control, times, **{name: plain[name] for name in PLAIN})

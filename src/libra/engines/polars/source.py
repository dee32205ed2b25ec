"""Where raw cases come from: a log that is in memory already."""

from __future__ import annotations

from dataclasses import dataclass

from libra.engines.polars.engine import PolarsEngine, engine_of
from libra.eventlog.log import EventLog
from libra.privacy.randomness import Randomness
from libra.privacy.unit import Unit


@dataclass(frozen=True, eq=False, repr=False)
class LogInMemory:
    """A log in memory.

    Example:
        >>> from libra.engines.control_flow_tables import Size
        >>> from libra.example.simulate import simulate
        >>> LogInMemory(simulate(cases=50)).engine(Unit(), Randomness()).count(Size()).tolist()
        [50]
    """

    log: EventLog

    @property
    def has_individual(self) -> bool:
        """Whether the log says whose case is whose."""
        return self.log.individual is not None

    @property
    def has_zone(self) -> bool:
        """Whether its times are in a zone."""
        return self.log.has_zone

    def engine(self, unit: Unit, random: Randomness, rate: float = 1.0, labels: tuple[str, ...] | None = None) -> PolarsEngine:
        """The engine of all cases, or of a Poisson subsample of them."""
        return engine_of(self.log, unit, random, rate, labels)

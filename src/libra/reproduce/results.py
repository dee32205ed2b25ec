"""What a reproduction found, beside what was printed: frozen and JSON-ready.

The figures are computed from the original logs. For a log that is not public they are as confidential as the log.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from libra.reproduce.settings import GAMMA, SUBSAMPLES, B, Setting


@dataclass(frozen=True)
class Compared:
    """A measure of our runs, of the paper and of an empty log.

    Attributes:
        mean: Over the runs; None where all of them gave an empty log.
        spread: The standard deviation over the runs; None where there are fewer than two, or no mean.
        printed: The paper's value; None where it has none.
        empty: What an empty log scores.

    Example:
        >>> Compared(mean=97.5, spread=2.0, printed=100, empty=120.0).difference_percent
        -2.5
    """

    mean: float | None
    spread: float | None
    printed: float | None
    empty: float

    @property
    def difference_percent(self) -> float | None:
        """How far our mean is from the paper's value, in percent of the latter."""
        if self.mean is None or not self.printed:
            return None
        return 100 * (self.mean - self.printed) / self.printed

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""
        return asdict(self) | {"difference_percent": self.difference_percent}


@dataclass(frozen=True)
class Row:
    """One log in one setting at one alpha.

    Attributes:
        log: Its name.
        in_paper: Whether the paper has this log and this alpha; a printed value of None is then its "N/A".
        setting: The name of the setting.
        alpha: The order of Renyi differential privacy.
        renyi_epsilon: The figure that follows from the parameters, composed over the subsamples.
        printed_epsilon: The epsilon' that the paper prints for this alpha.
        emd_freq: The paper's EMD Freq.
        emd_time: The paper's EMD Time.
        empty_runs: How many runs gave an empty log.
        seconds: Of anonymizing, the mean over the runs.
        printed_seconds: What Table 2 has for this log and alpha.
    """

    log: str
    in_paper: bool
    setting: str
    alpha: float
    renyi_epsilon: float
    printed_epsilon: float | None
    emd_freq: Compared
    emd_time: Compared
    empty_runs: int
    seconds: float
    printed_seconds: float | None

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""
        return asdict(self) | {"emd_freq": self.emd_freq.to_dict(), "emd_time": self.emd_time.to_dict()}


@dataclass(frozen=True)
class Reproduction:
    """All rows, what they were computed with, and what is to be said about single logs."""

    settings: tuple[Setting, ...]
    alphas: tuple[float, ...]
    seeds: tuple[int, ...]
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]

    def of_setting(self, setting: Setting) -> list[Row]:
        """The rows of one setting, log by log."""
        return [row for row in self.rows if row.setting == setting.name]

    def to_dict(self) -> dict[str, Any]:
        """Everything as `libra reproduce --json` prints it: no NaN, None where there is no figure."""
        return {
            "parameters": {"b": B, "gamma": GAMMA, "subsamples": SUBSAMPLES},
            "settings": [asdict(setting) for setting in self.settings],
            "alphas": list(self.alphas),
            "seeds": list(self.seeds),
            "rows": [row.to_dict() for row in self.rows],
            "remarks": list(self.remarks),
        }

"""Released figures: what noise was put on, and the only thing that later steps accept.

A `NoisyTable` is made by `privacy.gate` and by reading one back from JSON. It knows its noise, and nothing of the raw counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FINE = 1024  # the scale of tables whose cases are clipped: what rounding toward zero loses is below a thousandth of a count


@dataclass(frozen=True, eq=False, repr=False)
class NoisyTable:
    """A table with noise.

    Attributes:
        counts: Noisy whole numbers, `scale` times the counts.
        scale: What counts were multiplied with.
        sd: The standard deviation of the noise, in counts.

    Example:
        >>> NoisyTable(np.array([2048, 512]), scale=1024, sd=1.5).values.tolist()
        [2.0, 0.5]
    """

    counts: npt.NDArray[np.int64]
    scale: int
    sd: float

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The noisy counts."""
        return self.counts / self.scale

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return {"counts": self.counts.ravel().tolist(), "shape": list(self.counts.shape), "scale": self.scale, "sd": self.sd}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> NoisyTable:
        """The table of a JSON document."""
        return cls(np.array(plain["counts"], np.int64).reshape(plain["shape"]), plain["scale"], plain["sd"])

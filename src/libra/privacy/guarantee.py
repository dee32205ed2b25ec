"""What a release promises, in types: who says so, what exactly, and what it leaves out.

A `Guarantee` of kind "proved" is one that this project proves and tests. Everything else is "claimed": repeated from
its authors, with the reasons why it is not more than that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Guarantee:
    """A promise about a release.

    Attributes:
        kind: "proved" or "claimed".
        statement: The promise in a sentence or two.
        source: Whose it is.
        epsilon: Of (epsilon, delta)-differential privacy, where that is what is promised.
        delta: Likewise.
        unit: What is protected.
        assumptions: What has to hold for it, beside the mechanism itself.
        caveats: What it does not cover.

    Example:
        >>> Guarantee("claimed", "0.1 at order 10", "its authors", caveats=("exact counts",)).to_dict()["kind"]
        'claimed'
    """

    kind: Literal["proved", "claimed"]
    statement: str
    source: str
    epsilon: float | None = None
    delta: float | None = None
    unit: str = "one case, added or removed"
    assumptions: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return asdict(self) | {"assumptions": list(self.assumptions), "caveats": list(self.caveats)}

"""An epsilon that the authors of a mechanism claim for it, as a figure behind a promise that nobody here has proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from libra.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class EpsilonClaim:
    """The claim of (epsilon, delta)-differential privacy.

    Attributes:
        epsilon: What is claimed; follows from the parameters, never from the log. None where none is.
        delta: Likewise; 0 where pure differential privacy is claimed.
        guessing_advantage: Where the authors speak of it: by how much an attacker may become surer of a guess.
        looked_at: Whether anybody here knows why the claim does not hold.

    Example:
        >>> EpsilonClaim(1.0).implied_epsilon(delta=0.01)
        1.0
        >>> EpsilonClaim(1.0, delta=1e-5).to_dict()
        {'epsilon': 1.0, 'delta': 1e-05}
    """

    epsilon: float | None
    delta: float = 0.0
    guessing_advantage: float | None = None
    looked_at: bool = True

    @classmethod
    def of(cls, guarantee: Guarantee) -> EpsilonClaim:
        """What a guarantee of others says, as a claim that nobody here has looked at."""
        return cls(guarantee.epsilon, guarantee.delta or 0.0, looked_at=False)

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""
        figures: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta}
        return figures if self.guessing_advantage is None else figures | {"guessing_advantage": self.guessing_advantage}

    def published(self) -> dict[str, Any]:
        """The same: none of it comes from the log."""
        return self.to_dict()

    def implied_epsilon(self, delta: float) -> float | None:
        """The epsilon at this delta, if the claim holds; none follows at a smaller delta than the claimed one."""
        return self.epsilon if delta >= self.delta else None

    def comparison(self) -> str:
        """What leads over to the caveats."""
        return "Why the claim does not hold:" if self.looked_at else "What is to be known of the claim:"

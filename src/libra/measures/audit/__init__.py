"""An attempt to refute a claim of differential privacy, from the outside."""

from libra.measures.audit.audit import Effort, audit, implied_claim
from libra.measures.audit.canaries import NAMES
from libra.measures.audit.outcome import Audit, Claim, Finding

__all__ = ["NAMES", "Audit", "Claim", "Effort", "Finding", "audit", "implied_claim"]

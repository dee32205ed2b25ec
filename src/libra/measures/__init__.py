"""How much an analyst loses: distances between an original log and an anonymized one. Figures only, no verdict."""

from __future__ import annotations

from libra.measures.utility import Baseline, Utility, measure

__all__ = ["Baseline", "Utility", "measure"]

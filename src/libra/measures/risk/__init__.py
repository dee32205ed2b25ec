"""What an attacker gets: who stands alone in a log, what is found in an anonymized one, and whether a case was there at all."""

from __future__ import annotations

from libra.measures.risk.assess import LogRisk, ReleaseRisk, risk_of_log, risk_of_release
from libra.measures.risk.membership import Certified, certified

__all__ = ["Certified", "LogRisk", "ReleaseRisk", "certified", "risk_of_log", "risk_of_release"]

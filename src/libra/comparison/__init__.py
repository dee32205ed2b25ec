"""Mechanisms side by side: the same logs, the same budgets, the same measures, and what each took.

The flow goes one way: settings and budgets become a plan, the plan becomes runs, each in a process of its own, runs become
outcomes, and tables and plots are made of these.
"""

from __future__ import annotations

from libra.comparison.comparison import Comparison, Limits, Missing, Outcome, Result, Row
from libra.comparison.plan import Run
from libra.comparison.setting import Setting

__all__ = ["Comparison", "Limits", "Missing", "Outcome", "Result", "Row", "Run", "Setting"]

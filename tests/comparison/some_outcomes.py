"""Comparisons made by hand, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from libra.compared import Comparison
from libra.comparison.comparison import ComparedLog, Limits, Missing, Outcome, Result
from libra.comparison.plan import Run, is_asked, settings_of
from libra.engines.contract import CASE, Unit
from libra.measures.utility import Baseline, Utility
from libra.mechanisms.mechanism import parameters_of

EMPTY = Utility(355.0, 68343.0, 1.0, 1.0, None, 0.0, 0.0, 1.0, 0.0, 4.0, 9.0, 3.0, 1.0, 2.5, None, Baseline(355.0, 68343.0))
BUDGETS = (0.1, 1.0, 4.7)
DELTA = 1e-4


def result(dfg_l1: float, *, has_times: bool = True, cases: int = 10, unit: Unit = CASE) -> Result:
    """A result of which one figure matters."""
    utility = replace(EMPTY, dfg_l1=dfg_l1, emd_freq=100 * dfg_l1, edge_duration_w1_log=dfg_l1 / 2, arrival_w1_days=1.5)
    return Result(utility, cases, has_times, 0.25, 110.0, 90.0, "proved", "a promise", unit.statement())


def comparison(found: Mapping[str, Sequence[Sequence[Result | Missing]]], log: str = "sepsis") -> Comparison:
    """A comparison on one log: by setting, for each budget, what each seed gave; a setting that fixes its own has one."""
    outcomes = []
    for label, by_budget in found.items():
        (setting,) = settings_of(label)
        budgets = BUDGETS if is_asked(setting) else (None,)
        delta = {"delta": DELTA} if "delta" in parameters_of(setting.mechanism) else {}
        for epsilon, of_seeds in zip(budgets, by_budget, strict=False):
            for seed, one in enumerate(of_seeds):
                outcomes.append(Outcome(Run(log, setting, epsilon, seed, delta | dict(setting.parameters)), one))
    seeds = tuple(range(max(len(of_seeds) for by_budget in found.values() for of_seeds in by_budget)))
    return Comparison((ComparedLog(log, EMPTY),), tuple(outcomes), BUDGETS, DELTA, seeds, Limits())

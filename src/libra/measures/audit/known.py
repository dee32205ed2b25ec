"""What audits of the mechanisms found when this version was made, for tables that put it beside other figures.

The outcomes are in known.json, which `make audit` writes together with docs/audit-results.md. They are about forms of a mechanism
(as published or sound, with times or without), not about one epsilon: an audit of a form stands for all its budgets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from libra.mechanisms.mechanism import HOMES, mechanism

FORM = ("tail", "private_labels", "split_budget", "times", "query", "trace_noise", "anonymizer", "repeats", "gamma", "subsamples")


def outcome_of(name: str, parameters: Mapping[str, Any]) -> str | None:
    """What audits found of a mechanism in the form that these parameters give it; None where none was made.

    Example:
        >>> outcome_of("libra2022", {"alpha": 2.0}), outcome_of("libra2022", {"anonymizer": "travas"})
        ('refuted', None)
    """
    if name not in HOMES:
        return None
    form = form_of(name, parameters)
    found = [one["refuted"] for one in _known() if one["mechanism"] == name and one["form"] == form]
    if not found:
        return None
    return "refuted" if any(found) else "not refuted"


def form_of(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What these parameters make of a mechanism, budgets and sizes aside.

    Example:
        >>> form_of("travas", {"epsilon": 2.0})
        {'private_labels': True, 'times': 'none', 'repeats': 1}
    """
    made = mechanism(name, parameters)
    return {field: getattr(made, field) for field in FORM if hasattr(made, field)}


@cache
def _known() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(files("libra.measures.audit").joinpath("known.json").read_text(encoding="utf-8"))
    return found

"""Audit every mechanism on the bundled log, and write what was found as a page.

    python -m benchmarks.audits > docs/audit-results.md

Each row is one `libra audit`. The outcomes also go into the package (libra/measures/audit/known.json), for comparisons. The
figures vary a little from run to run, as the randomness is fresh each time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import libra
from libra import example
from libra.eventlog.attributes import Attribute
from libra.measures.audit import Audit, Finding
from libra.measures.audit.outcome import form_of

KNOWN = Path(libra.__file__).parent / "measures" / "audit" / "known.json"
BUDGET = ("epsilon", "delta")

HEAD = """# Audit results for every mechanism

Written by `make audit`, on the bundled log. [audit.md](audit.md) explains how an audit works and what it cannot detect.
"Epsilon proved" is a lower bound at the claimed delta, from the most revealing canary. The claim is refuted if this bound is
above the claimed epsilon. The probability that any bound of an audit is wrong is at most 0.01.
"""
AFTER = """
The bounds on `libra` are far below its claims, but not because it spends less budget: a released log reveals less than all the
noisy figures behind it, and the bounds are strict. `travas` releases its noisy counts as they are and comes close to its
claim. [Bugs planted in a copy of the code](audit.md#would-it-catch-us) show that bounds rise above a claim if something is wrong.
"""


@dataclass(frozen=True)
class Setting:
    """One audit: the words on the command line that ask for it, and the same as keywords."""

    words: str
    mechanism: str
    keywords: dict[str, Any]
    share: float = 1.0  # of the runs asked for


TREE: dict[str, Any] = {"prune": 3, "max_length": 8}  # the logs of an audit have some dozens of cases
SOUND_TREE: dict[str, Any] = {"split_budget": True, "prune": 20, "max_length": 4}
ATTRIBUTES = (
    Attribute("case:complaint", "category"),
    Attribute("case:age", "number", lowest=0, highest=120),
    Attribute("ward", "category", "event", values=("A", "B", "C")),
)
SETTINGS = (
    Setting("libra", "libra", {"epsilon": 1.0}, 4.0),
    Setting("libra --public-labels", "libra", {"epsilon": 1.0, "labels": "public"}),
    Setting("libra --tail nearest", "libra", {"epsilon": 1.0, "tail": "nearest"}),
    Setting("libra --tail drop", "libra", {"epsilon": 1.0, "tail": "drop"}),
    Setting("libra --gamma 0.5", "libra", {"epsilon": 1.0, "gamma": 0.5}),
    Setting(
        "libra --attribute case:complaint --attribute case:age --attribute ward",
        "libra",
        {"epsilon": 1.0, "attributes": ATTRIBUTES},
    ),
    Setting("libra --epsilon 0.2 --delta 0.2", "libra", {"epsilon": 0.2, "delta": 0.2}),
    Setting("libra2022 --epsilon 1", "libra2022", {"epsilon": 1.0}),
    Setting("libra2022", "libra2022", {}),
    Setting("libra2022 --alpha 2", "libra2022", {"alpha": 2}),
    Setting("libra2022:trace_noise=false", "libra2022", {"trace_noise": False}),
    Setting("travas", "travas", {"epsilon": 1.0}, 2.0),
    Setting("travas:times=model", "travas", {"epsilon": 1.0, "times": "model"}),
    Setting(
        "prefix-laplace:split_budget=true:prune=20:max_length=4",
        "prefix-laplace",
        {"epsilon": 1.0, **SOUND_TREE},
    ),
    Setting("prefix-laplace:prune=3:max_length=8", "prefix-laplace", {"epsilon": 1.0, **TREE}),
    Setting("sacofa:prune=3:max_length=8", "sacofa", {"epsilon": 1.0, **TREE}),
    Setting("pripel:prune=3:max_length=8", "pripel", {"epsilon": 1.0, **TREE}),
    Setting("pripel:query=sacofa:prune=3:max_length=8", "pripel", {"epsilon": 1.0, "query": "sacofa", **TREE}),
    Setting("amun", "amun", {"epsilon": 1.0}),
)


def page(runs: int, seconds: float, known: list[dict[str, Any]]) -> Iterator[str]:
    """The page, a line at a time; each audit is made as its line is asked for, and goes into `known` as well."""
    yield HEAD
    yield "| mechanism | claim | outcome | epsilon proved | most revealing canary | runs |"
    yield "|---|---:|---|---:|---|---:|"
    log, details = libra.read(example.path()), []
    for setting in SETTINGS:
        print(f"auditing {setting.words}", file=sys.stderr)
        found = libra.audit(
            log,
            mechanism=setting.mechanism,
            runs=int(setting.share * runs),
            time_limit=min(setting.share, 2.0) * seconds,
            processes=os.cpu_count() or 1,
            **setting.keywords,
        )
        if "attributes" not in setting.keywords:  # comparisons ask for none
            known.append(_outcome(setting, found))
        yield _row(setting, found)
        if setting.words in ("libra", "libra2022"):
            details.append((setting, found))
    yield AFTER
    for setting, found in details:
        yield f"\n## `{setting.words}`, canary by canary\n"
        yield f"At ({found.claim.epsilon:.3g}, {found.claim.delta:g}) for one case: {found.claim.source}.\n"
        yield "| canary | claimed | proved | event | with it | without |"
        yield "|---|---:|---:|---|---:|---:|"
        yield from map(_detail, found.findings)


def _outcome(setting: Setting, found: Audit) -> dict[str, Any]:
    """What comparisons say of this form of the mechanism."""
    form = form_of(setting.mechanism, {name: value for name, value in setting.keywords.items() if name not in BUDGET})
    claim = {"epsilon": round(found.claim.epsilon, 4), "delta": found.claim.delta}
    proved = round(found.findings[0].epsilon_low, 2)
    return {"mechanism": setting.mechanism, "form": form, "claim": claim, "proved": proved, "refuted": found.refuted}


def _row(setting: Setting, found: Audit) -> str:
    top = found.findings[0]
    told = f"{top.canary}: {top.event}" if found.refuted else "none"
    outcome = "**refuted**" if found.refuted else "not refuted"
    proved = f"{top.epsilon_low:.2f}" + (f" (of {top.claim.epsilon:.3g})" if top.cases > 1 else "")
    claim = f"({found.claim.epsilon:.3g}, {found.claim.delta:g})"
    return f"| `{setting.words}` | {claim} | {outcome} | {proved} | {told} | {found.runs:,} |"


def _detail(finding: Finding) -> str:
    claimed, proved = f"{finding.claim.epsilon:.3g}", f"{finding.epsilon_low:.2f}"
    return f"| {finding.canary} | {claimed} | {proved} | {finding.event} | {' | '.join(finding.times)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4000, help="of each audit; four times as many of the first")
    parser.add_argument("--seconds", type=float, default=130.0, help="for each audit; twice as long for the first")
    arguments = parser.parse_args()
    outcomes: list[dict[str, Any]] = []
    print("\n".join(page(arguments.runs, arguments.seconds, outcomes)))
    KNOWN.write_text("[\n  " + ",\n  ".join(map(json.dumps, outcomes)) + "\n]\n", encoding="utf-8")

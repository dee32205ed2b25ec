"""Reports of real logs: every figure on the page is the one that `libra measure` and `libra inspect` give."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from parsed_page import check_policy

import libra
from libra import example
from libra.measures import Utility
from libra.measures.utility import IN_BOTH, OF_ATTRIBUTES, OF_INSTANCES

LOGS = ("bpic13", "bpic20", "hospital", "sepsis", "urineweginfectie")
SIZES = ("cases", "events", "activities", "variants")


def flat(utility: Utility) -> dict[str, float | None]:
    """The figures as the JSON of `libra measure` has them, nested ones by a dotted name."""
    document: dict[str, Any] = json.loads(json.dumps(utility.to_dict()))
    nested = {outer: document.pop(outer) for outer in ("empty", *IN_BOTH)}
    return document | {f"{outer}.{name}": value for outer, inner in nested.items() for name, value in inner.items()}


def check_report_of(source: Path, folder: Path, delta: float = 1e-7) -> None:
    released, certificate = folder / "released.xes.gz", folder / "certificate.json"
    release = libra.anonymize(source, epsilon=1.0, delta=delta)
    release.write(released, certificate=certificate)
    made = libra.report(source, released, certificate=certificate)
    page = check_policy(made.html)
    figures = page.figures
    expected = flat(libra.measure(source, released))
    assert [expected.pop(name) for name in (*OF_INSTANCES, "overlaps")] == [None] * 4  # none of these logs has starts
    assert expected.pop("sample")  # reports have a sample of their own beside every figure
    assert not expected.pop("attributes")
    assert not expected.pop("associations")
    assert {expected.pop(name) for name in OF_ATTRIBUTES} == {None}
    shown = {name: values for name, values in figures.items() if name in expected}
    assert shown.keys() == expected.keys()
    assert shown == {name: {"none" if value is None else str(value)} for name, value in expected.items()}
    for log, which in ((source, "original"), (released, "anonymized")):
        summary = asdict(libra.inspect(log))
        for size in ("cases", "events", "activities"):
            assert figures[f"sizes.{which}.{size}"] == {str(summary[size])}
    assert "protected by a strong, proved guarantee" in page.section("answers")
    public = check_policy(libra.report(None, released, certificate=certificate, public=True).html)
    assert public.figures.keys() == {f"sizes.anonymized.{size}" for size in (*SIZES, "edges")}


def test_every_figure_of_the_bundled_log_is_that_of_measure(tmp_path: Path) -> None:
    check_report_of(example.path(), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS)
def test_every_figure_of_a_public_log_is_that_of_measure(log: str, shared_logs: Path, tmp_path: Path) -> None:
    check_report_of(shared_logs / f"{log}.xes.gz", tmp_path, 1e-5 if log == "hospital" else 1e-7)  # with less, it comes out empty

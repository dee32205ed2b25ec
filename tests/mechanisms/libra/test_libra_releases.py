"""What leaves: a valid log like the original, and nothing raw in it, its certificate, its notes, or what Python prints."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from some_logs import DAY, STRUCTURED, log_from, structured

import libra
from agreement import ReadPublic
from libra.engines.time_tables import EdgeDurations
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, Classifier, LogMetadata
from libra.example.simulate import simulate

SECRETS = ("ZEBRA", "OKAPI", "IBEX", "NEWT", "TAPIR", "a rare operation")
N_CASES, N_RARE = 1237, 613


def telling_log() -> EventLog:
    """A log that tells something it should not in its ids, attributes, header, and in a label of a single case."""
    words = [["admit", "treat", "leave"]] * N_RARE + [["admit", "leave"]] * (N_CASES - N_RARE - 1)
    log = log_from([*words, ["admit", "a rare operation", "leave"]], ids="ZEBRA")
    return EventLog(
        log.events.with_columns(pl.lit("OKAPI").alias("org:resource"), pl.lit(73519, pl.Int64).alias("cost")),
        log.cases.with_columns(pl.format("TAPIR-{}", pl.int_range(pl.len())).alias("person")),
        LogMetadata(
            attributes=(Attribute("concept:name", "string", "IBEX"),), classifiers=(Classifier("NEWT", ("concept:name",)),)
        ),
        notes=("IBEX",),
        individual="person",
    )


@pytest.mark.parametrize("options", [{}, {"tail": "nearest"}, {"subsamples": 2}])
def test_nothing_raw_is_in_what_may_be_published_or_printed(options: dict[str, Any], tmp_path: Path) -> None:
    log = telling_log()
    release = libra.anonymize(log, epsilon=3.0, delta=1e-5, **options)
    assert release.log.n_cases > 500
    release.write(tmp_path / "log.xes", certificate=tmp_path / "certificate.json")
    figures = json.dumps([run.to_dict() for run in release.figures])
    certificate, written = ((tmp_path / name).read_text(encoding="utf-8") for name in ("certificate.json", "log.xes"))
    pickled = pickle.dumps((release.log, release.figures, release.ledger)).decode("latin-1")
    for said in (certificate, written, figures, pickled, repr(release), " ".join(release.notes), json.dumps(release.to_dict())):
        assert not [secret for secret in SECRETS if secret.lower() in said.lower()]
        assert "73519" not in said
    assert "treat" in written
    assert "treat" in figures
    assert not re.search(r"\b(admit|treat|leave)\b", certificate + repr(release) + " ".join(release.notes))


def test_no_count_of_the_log_is_in_the_certificate_or_the_notes() -> None:
    log = telling_log()
    counts = {str(figure) for figure in (N_CASES, N_RARE, N_CASES - N_RARE - 1, log.n_events)}
    release = libra.anonymize(log, epsilon=6.0, delta=1e-2)
    said = json.dumps(release.certificate()) + repr(release) + " ".join(release.notes)
    assert not counts & set(re.findall(r"[\d.]*\d", said.replace(",", "")))


def test_ledgers_of_other_logs_differ_by_released_figures_alone() -> None:
    """Without a model of the tail and on the same control flow, what is asked for and with what noise is fixed in advance."""
    purposes = set()
    for cases in (400, 900):
        release = libra.anonymize(log_from(["ab"] * cases), tail="drop", epsilon=1.0, seed=1)
        assert release.ledger is not None
        purposes.add(
            tuple(
                (entry.purpose, entry.mechanism, None if entry.purpose == EdgeDurations.purpose else entry.sensitivity)
                for entry in release.ledger.entries  # what steps weigh follows from released counts
            )
        )
    assert len(purposes) == 1


def test_the_log_is_valid_and_looks_like_the_original() -> None:
    original = simulate(cases=3000)
    released = libra.anonymize(original, epsilon=1.0, delta=1e-4, seed=2).log
    assert released.in_time_order
    assert set(released.activities) <= set(original.activities)
    assert released.events.columns == ["@case", "concept:name", "time:timestamp"]
    assert released.n_cases == pytest.approx(original.n_cases, rel=0.05)
    assert not set(released.cases["concept:name"]) & set(original.cases["concept:name"])
    assert len(set(released.cases["concept:name"])) == released.n_cases
    utility = libra.measure(original, released)
    assert utility.dfg_l1 is not None
    assert utility.dfg_l1 < 0.12
    earliest, latest = original.case_spans
    starts, ends = released.case_spans
    assert (np.diff(starts) >= 0).all(), "cases come in the order of their starts, which tells nothing"
    assert (np.abs(np.quantile(starts, (0.01, 0.99)) - np.quantile(earliest, (0.01, 0.99))) < 30 * DAY).all()
    assert starts.min() > earliest.min() - 370 * DAY
    assert ends.max() < latest.max() + 370 * DAY


def test_ids_are_fresh_and_a_seed_is_told_by_each() -> None:
    log = structured()
    names = {seed: libra.anonymize(log, delta=1e-4, seed=seed).log.cases["concept:name"].to_list() for seed in (None, 1)}
    assert names[None][:2] == ["case-1", "case-2"]
    assert names[1][:2] == ["seeded-1", "seeded-2"]


def test_without_a_seed_two_releases_differ() -> None:
    log = structured()
    first, second = (libra.anonymize(log, delta=1e-4) for _ in range(2))
    assert not first.log.equals(second.log)
    assert first.figures[0].draw != second.figures[0].draw
    assert not first.seeded


def test_the_clock_of_the_original_may_run_backwards() -> None:
    log = structured()
    times = log.events.with_columns(pl.col("time:timestamp").reverse())
    released = libra.anonymize(replace(log, events=times), epsilon=3.0, delta=1e-4, seed=1).log
    assert released.n_cases == pytest.approx(len(STRUCTURED), rel=0.1)
    assert released.in_time_order


@pytest.mark.peer
def test_pm4py_opens_the_log_and_sees_the_same_steps(tmp_path: Path) -> None:
    release = libra.anonymize(structured(), epsilon=3.0, delta=1e-4)
    release.write(tmp_path / "log.xes")
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        import pm4py

        opened = pm4py.read_xes(str(tmp_path / "log.xes"))
        edges, starts, ends = pm4py.discover_dfg(opened)
    assert opened["case:concept:name"].nunique() == release.log.n_cases
    assert len(opened) == release.log.n_events
    assert sum(edges.values()) == release.log.n_events - release.log.n_cases
    assert max(edges, key=edges.get) in {("a", "b"), ("b", "c"), ("b", "b")}
    assert sum(starts.values()) == sum(ends.values()) == release.log.n_cases


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("urineweginfectie", 0.25), ("sepsis", 0.6)])
def test_a_real_log_comes_back_alike(name: str, most: float, read_public: ReadPublic) -> None:
    original = read_public(name)
    released = libra.anonymize(original, epsilon=1.0, delta=1e-4, seed=1).log
    assert released.in_time_order
    assert set(released.activities) <= set(original.activities)
    off = libra.measure(original, released).dfg_l1
    assert off is not None
    assert off < most

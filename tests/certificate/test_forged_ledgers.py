"""A certificate that was made up with care: all derived figures and the checksum computed anew, and still not a run of libra."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from some_certificates import Document, all_checks, changed, document, failed, with_checksum

import libra
from libra.certificate.check import Check
from libra.engines.attribute_tables import Interactions, PairCounts, ValueCounts
from libra.engines.control_flow_tables import CaseLengths, CaseNumber, DoubtfulEdges, PrefixLevel, RareCases
from libra.engines.counting.count import TABLES
from libra.example.simulate import simulate
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.releases import RELEASES
from libra.mechanisms.release import counted
from libra.privacy.gate import KEPT_EVENT_VALUES, KEPT_LABELS, KEPT_VALUES, KEPT_VARIANTS, VARIANT_COUNTS
from libra.privacy.guarantee import in_plain_words
from libra.privacy.ledger import LAPLACE, Entry, Ledger

Forge = Callable[[Entry], Entry | None]


def _forged(name: str, forge: Forge) -> Document:
    """The certificate with other entries, everything that follows from them computed anew."""
    issued = document(name)
    ledger = Ledger.from_dict(issued)
    entries = tuple(other for other in map(forge, ledger.entries) if other is not None)
    forged = Libra(**issued["parameters"]).complete(replace(ledger, entries=entries))
    return with_checksum(issued | counted(forged, issued["guarantee"]["delta"]))


def _of(found: Document, name: str) -> Check:
    (check,) = [check for check in all_checks(found) if check.name == name]
    return check


def test_computing_all_anew_without_a_change_changes_nothing() -> None:
    assert _forged("libra", lambda entry: entry) == document("libra")
    assert failed(_forged("libra", lambda entry: entry)) == []


def _halved(purpose: str) -> Forge:
    return lambda entry: replace(entry, sensitivity=entry.sensitivity / 2) if entry.purpose == purpose else entry


def test_a_smaller_sensitivity_of_one_cell_is_refused() -> None:
    for purpose, released in RELEASES.items():
        if released.one_cell:
            found = _forged("libra", _halved(purpose))
            there = any(entry["purpose"] == purpose for entry in found["ledger"])
            assert ("ledger" in failed(found)) == there
            if there:
                assert "its sensitivity is 0.5, and one case moves it by 1" in _of(found, "ledger").found


@pytest.mark.parametrize("purpose", ["durations of all steps", "durations of the steps of each edge"])
def test_a_smaller_sensitivity_of_times_no_longer_adds_up_to_the_plan(purpose: str) -> None:
    found = _forged("libra", _halved(purpose))
    assert failed(found) == ["ledger"]
    assert "releases about times do not add up" in _of(found, "ledger").found


def test_more_noise_than_the_plan_has_is_refused_too() -> None:
    found = _forged("libra", lambda entry: replace(entry, noise=2 * entry.noise))
    assert failed(found) == ["ledger"]


def test_less_noise_is_above_the_promise() -> None:
    found = _forged("libra", lambda entry: replace(entry, noise=entry.noise / 2))
    assert failed(found) == ["ledger", "total"]
    assert "more than the 4 promised" in _of(found, "total").found


@pytest.mark.parametrize(("field", "other"), [("epsilon", 0.1), ("delta", 1e-9)])
def test_the_total_is_compared_with_what_the_certificate_promises(field: str, other: float) -> None:
    """Not with the parameters, which may say something else."""
    found = changed(document("libra"), ("guarantee", field), other)
    assert {"parameters", "total"} <= set(failed(found))
    promised = found["guarantee"]
    told = _of(found, "total").found
    assert told.endswith(f"at delta {promised['delta']:g}, more than the {promised['epsilon']:g} promised.")


def test_a_weaker_promise_than_was_asked_for_is_above_the_total_and_still_refused() -> None:
    found = changed(document("libra"), ("guarantee", "epsilon"), 8.0)
    assert _of(found, "total").found.endswith("no more than the 8 promised.")
    assert "parameters" in failed(found)


@pytest.mark.parametrize(
    ("forge", "told"),
    [
        (lambda e: replace(e, purpose="names of patients"), 'is for "names of patients", which libra does not release'),
        (lambda e: replace(e, mechanism=LAPLACE), 'its noise is "laplace"'),
        (lambda e: replace(e, group="tail"), 'it counts for the group "tail", and belongs to "all"'),
        (lambda e: replace(e, bound=3), "it has figures that this noise does not have"),
        (lambda e: replace(e, shows=1e-9) if e.purpose not in (KEPT_VARIANTS, KEPT_LABELS) else e, "figures that this noise"),
        (lambda e: replace(e, shows=e.shows / 2), "does not have the noise that these parameters give it"),
        (lambda e: None if e.purpose == KEPT_VARIANTS else e, '"which variants are kept" stands there 0 times'),
        (lambda e: None if e.purpose == "lengths of rare cases" else e, "releases about rare cases are missing"),
        (lambda e: None if e.purpose == "years in which cases start" else e, "releases about times do not add up"),
        (lambda e: replace(e, noise=e.noise * 0.99) if e.group == "tail" else e, "take more than the plan gives them"),
    ],
)
def test_entries_that_no_run_makes_are_refused_with_the_reason(forge: Forge, told: str) -> None:
    found = _of(_forged("libra", forge), "ledger")
    assert not found.ok
    whole = found.found if told in found.found else " ".join(_problems(forge))
    assert told in whole


def _problems(forge: Forge) -> list[str]:
    """All that is wrong with a forged ledger, where the check lists the first few only."""
    found = _forged("libra", forge)
    return list(Libra(**found["parameters"]).departures(Ledger.from_dict(found).entries))


def test_what_is_asked_for_certain_edges_does_not_go_with_all_of_them() -> None:
    entries = Ledger.from_dict(document("libra")).entries
    assert any(entry.purpose == DoubtfulEdges.purpose for entry in entries)
    asked = document("libra")["parameters"]
    assert list(Libra(**asked).departures(entries)) == []
    assert list(Libra(**asked | {"edges": "all"}).departures(entries)) == [
        'there is a second look at edges, and with edges "all" there is none',
        'there are releases about which activities rare cases have, and with edges "all" there are none',
    ]


def test_releases_about_rare_cases_do_not_go_with_a_tail_that_is_dropped() -> None:
    issued = document("drop")
    ledger = Ledger.from_dict(issued)
    extra = Entry("number of rare cases", "rounded gaussian", 1.0, 1e9, "tail")
    found = with_checksum(issued | counted(replace(ledger, entries=(*ledger.entries, extra)), issued["guarantee"]["delta"]))
    assert failed(found) == ["ledger"]
    assert 'with tail "drop" there are none' in _of(found, "ledger").found


def test_a_stronger_promise_with_all_its_sentences_is_refused_by_the_ledger() -> None:
    """Somebody prints (1, 1e-3) where (4, 1e-3) was spent, and regenerates every sentence."""
    issued = document("libra")
    stronger = Libra(**issued["parameters"] | {"epsilon": 1.0})
    guarantee = stronger.guarantee(seeded=False)
    found = issued | {
        "parameters": issued["parameters"] | {"epsilon": 1.0},
        "guarantee": guarantee.to_dict() | {"seeded": False},
        "in_plain_words": in_plain_words(guarantee, seeded=False, cases=issued["cases"]),
    }
    ledger = replace(Ledger.from_dict(issued), asked=stronger.plan.calibration.mu)
    found = with_checksum(found | counted(ledger, 1e-3))
    assert failed(found) == ["ledger", "total"]
    assert math.isclose(found["spent"]["epsilon"], 4.0, rel_tol=1e-6)


def test_every_table_that_an_engine_counts_is_known_here_with_its_sensitivity() -> None:
    tables: dict[str, Any] = {table.purpose: table for table in TABLES}  # type: ignore[attr-defined]  # of the protocol `Table`
    of_prefixes = {table.purpose: table for table in (CaseNumber, CaseLengths, PrefixLevel)}
    tables = {purpose: table for purpose, table in tables.items() if purpose not in of_prefixes}  # which libra never asks for
    assert set(RELEASES) == {*tables, KEPT_LABELS, KEPT_VALUES, KEPT_EVENT_VALUES, KEPT_VARIANTS, VARIANT_COUNTS}
    for purpose, table in tables.items():
        varies = "clip" in getattr(table, "__dataclass_fields__", {}) or table in (ValueCounts, PairCounts, Interactions)
        assert RELEASES[purpose].one_cell == (not varies), purpose


@pytest.mark.parametrize(
    ("forge", "told"),
    [
        (lambda e: None if e.purpose == RareCases.purpose else e, '"cases of rare variants" does not come first'),
        (
            lambda e: replace(e, noise=2 * e.noise) if e.purpose == RareCases.purpose else e,
            '"cases of rare variants" does not have',
        ),
        (lambda e: replace(e, group="tail") if e.purpose == RareCases.purpose else e, 'belongs to "all"'),
        (lambda e: replace(e, bound=e.bound + 1) if e.bound else e, "does not have the noise that these parameters give it"),
        (lambda e: replace(e, bound=None) if e.bound else e, "it has figures that this noise does not have"),
        (lambda e: replace(e, noise=1.5 * e.noise) if e.bound else e, "does not have the noise that these parameters give it"),
        (lambda e: None if e.bound else e, "these parameters"),  # as if the look had come out otherwise
    ],
)
@pytest.mark.parametrize("name", ["after a look", "counted once"])
def test_a_look_and_counts_after_it_are_those_of_the_plan(name: str, forge: Forge, told: str) -> None:
    issued = Ledger.from_dict(document(name)).entries
    entries = tuple(other for other in map(forge, issued) if other is not None)
    if entries != issued:
        assert told in " ".join(Libra(**document(name)["parameters"]).departures(entries))
        assert "ledger" in failed(with_checksum(document(name) | {"ledger": Ledger(entries).to_dict()["ledger"]}))


def test_the_total_counts_what_would_have_been_released_had_the_look_come_out_otherwise() -> None:
    issued = document("after a look")
    ledger, delta = Ledger.from_dict(issued), issued["guarantee"]["delta"]
    whole = Libra(**issued["parameters"]).complete(ledger)
    assert whole.otherwise
    assert not ledger.otherwise
    assert issued["spent"]["epsilon"] == counted(whole, delta)["spent"]["epsilon"] > counted(ledger, delta)["spent"]["epsilon"]
    assert issued["spent"]["epsilon"] <= issued["guarantee"]["epsilon"]


@pytest.mark.parametrize("epsilon", [0.5, 8.0])
@pytest.mark.parametrize("cases", [30, 600])
def test_real_ledgers_pass_whatever_was_released(epsilon: float, cases: int) -> None:
    """Small logs and small budgets leave out some releases; none of them may be mistaken for a forgery."""
    for tail in ("model", "nearest", "drop"):
        for labels in ("private", "public"):
            for control in (0.55, 0.95):
                asked: dict[str, Any] = {"epsilon": epsilon, "delta": 1e-4, "tail": tail, "labels": labels}
                asked["budget"] = {"control": control}
                ledger = libra.anonymize(simulate(cases=cases), seed=2, **asked).ledger
                assert ledger is not None
                assert list(Libra(**asked).departures(ledger.entries)) == []

"""Certificates of logs with attributes: real ones hold in every format; other declarations, ledgers or columns are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from some_certificates import Document, all_checks, changed, document, failed, files, released, with_checksum

import libra
from attributed import BORN, COIN, DOSE, EVERY, PLACE, SCANNED, SCORE, WARD, attributed
from libra.certificate.content import content
from libra.certificate.verify import verify
from libra.engines.attribute_tables import Interactions, PairCounts, ValueCounts, ValueGrains
from libra.errors import InputError
from libra.eventlog.attributes import Attribute
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.releases import ATTRIBUTES, RELEASES
from libra.mechanisms.release import counted
from libra.privacy.gate import KEPT_VALUES
from libra.privacy.ledger import Entry, Ledger

Forge = Callable[[Entry], Entry | None]
OF_ATTRIBUTES = {purpose for purpose, one in RELEASES.items() if one.topic == ATTRIBUTES}
NOWHERE = Attribute("nowhere", "number", at="an activity that nobody has")
NOTHING = Attribute("case:nothing", "category", values=("one", "other"))


def _refused(certificate: Path, log: Path) -> list[str]:
    return [check.name for check in verify(certificate, log).checks if not check.ok]


@pytest.mark.parametrize("name", ["log.xes", "log.xes.gz", "log.csv", "log.parquet"])
def test_a_log_with_attributes_is_verified_in_every_format(name: str, tmp_path: Path) -> None:
    released("attributes").write(tmp_path / name, certificate=tmp_path / "certificate.json")
    assert _refused(tmp_path / "certificate.json", tmp_path / name) == []


@pytest.mark.parametrize("name", ["log.xes", "log.csv", "log.parquet"])
def test_a_column_without_any_value_may_be_missing(name: str, tmp_path: Path) -> None:
    log = attributed(400)
    empty = replace(log, cases=log.cases.with_columns(pl.lit(None, pl.String).alias("nothing")))
    release = libra.anonymize(empty, epsilon=50.0, delta=1e-2, attributes=[NOTHING, NOWHERE, COIN])
    assert "nowhere" not in release.log.events.columns
    release.write(tmp_path / name, certificate=tmp_path / "certificate.json")
    assert _refused(tmp_path / "certificate.json", tmp_path / name) == []


def test_an_empty_release_with_attributes_is_verified(tmp_path: Path) -> None:
    release = libra.anonymize(attributed(20), epsilon=0.1, delta=1e-6, attributes=EVERY)
    assert release.log.n_cases == 0
    release.write(tmp_path / "log.csv", certificate=tmp_path / "certificate.json")
    assert _refused(tmp_path / "certificate.json", tmp_path / "log.csv") == []


def _declared_otherwise(attribute: Attribute, **other: Any) -> Document:
    issued = document("attributes")
    place = ("parameters", "attributes", EVERY.index(attribute))
    return changed(issued, place, replace(attribute, **other).to_dict())


@pytest.mark.parametrize(
    ("attribute", "other", "told"),
    [
        (COIN, {"name": "case:colour"}, "its cases have attributes that are not promised: coin"),
        (DOSE, {"name": "doses"}, "its events have attributes that are not promised: dose"),
        (WARD, {"values": ("south", "north pole")}, "has a value that is not on its list"),
        (PLACE, {"values": ("south", "north")}, "has a value that is not on its list"),
        (PLACE, {"kind": "number"}, "has a value that is no number"),
        (SCORE, {"kind": "boolean", "lowest": None, "highest": None, "decimals": 0}, "has a value that is no boolean"),
        (SCORE, {"highest": 60}, "has a number beyond its bounds"),
        (SCORE, {"lowest": 60}, "has a number beyond its bounds"),
        (SCORE, {"decimals": 0}, "has a number with more decimals than are declared"),
        (BORN, {"unit": "days"}, "has a date with a time of day"),
        (DOSE, {"at": "Register"}, 'has a value on an event other than "Register"'),
    ],
)
def test_another_declaration_does_not_go_with_the_file(attribute: Attribute, other: dict[str, Any], told: str) -> None:
    found = content(_declared_otherwise(attribute, **other), files("attributes")[1])
    assert not found.ok
    assert told in found.found


def test_other_kinds_lists_or_numbers_of_attributes_do_not_go_with_the_ledger() -> None:
    issued = document("attributes")
    asked = issued["parameters"]["attributes"]
    wrong = [
        _declared_otherwise(PLACE, values=("south", "north", "west")),
        _declared_otherwise(WARD, values=None),
        _declared_otherwise(COIN, kind="category"),
        *(
            changed(issued, ("parameters", "attributes"), some)
            for some in (asked[1:], [], [*asked, {"name": "x", "kind": "date"}])
        ),
        changed(issued, ("parameters", "budget", "attributes"), 0.3),
        changed(issued, ("parameters", "budget"), {"control": 0.4, "times": 0.4, "attributes": 0.2}),
    ]
    for found in wrong:
        assert failed(found) != []


def _forged(forge: Forge) -> Document:
    issued = document("attributes")
    ledger = Ledger.from_dict(issued)
    entries = tuple(other for other in map(forge, ledger.entries) if other is not None)
    return with_checksum(issued | counted(replace(ledger, entries=entries), issued["guarantee"]["delta"]))


def _told(found: Document) -> str:
    (check,) = [check for check in all_checks(found) if check.name == "ledger"]
    assert not check.ok
    return check.found


def _only(of: str, **other: Any) -> Forge:
    return lambda entry: replace(entry, **other) if entry.purpose == of else entry


def _without(*purposes: str) -> Forge:
    return lambda entry: None if entry.purpose in purposes else entry


@pytest.mark.parametrize(
    ("forge", "told"),
    [
        (_without(ValueCounts.purpose), "releases about attributes of cases do not add up"),
        (_without(ValueGrains.purpose), "more or fewer releases about attributes of cases"),
        (_without(PairCounts.purpose), "how attributes go together is released once"),
        (_without(PairCounts.purpose, Interactions.purpose, KEPT_VALUES), "do not add up"),
        (_without(KEPT_VALUES), "is missing for a category"),
        (_only(KEPT_VALUES, shows=1e-9), "does not have the noise"),
        (_only(KEPT_VALUES, sensitivity=0.5), "one case moves it by 1"),
        (_only(KEPT_VALUES, mechanism="rounded gaussian"), 'its noise is "rounded gaussian"'),
        (_only(ValueGrains.purpose, sensitivity=0.5), "one case moves it by 1"),
        (_only(ValueCounts.purpose, sensitivity=0.1), "a sensitivity that no number of cells has"),
        (_only(PairCounts.purpose, sensitivity=0.1), "a sensitivity that no number of pairs has"),
        (_only(Interactions.purpose, sensitivity=0.1), "a sensitivity that no number of pairs has"),
        (_only(Interactions.purpose, group="tail"), 'it counts for the group "tail"'),
        (_only(PairCounts.purpose, purpose=Interactions.purpose), "is released once"),
    ],
)
def test_entries_about_attributes_that_no_run_makes_are_refused_with_the_reason(forge: Forge, told: str) -> None:
    assert told in _told(_forged(forge))


def test_less_or_more_noise_on_any_table_of_attributes_is_refused() -> None:
    for factor in (0.99, 1.01):
        for purpose in {entry.purpose for entry in Ledger.from_dict(document("attributes")).entries} & OF_ATTRIBUTES:
            found = _forged(lambda e, p=purpose, f=factor: replace(e, noise=e.noise * f) if e.purpose == p else e)  # type: ignore[misc]
            assert "ledger" in failed(found), purpose


def test_attributes_that_a_ledger_does_not_count_are_seen_in_the_file() -> None:
    found = content(_forged(_without(*OF_ATTRIBUTES)), files("attributes")[1])
    assert "it has attributes of cases, and the ledger counts none" in found.found


def test_releases_about_attributes_that_nobody_asked_for_are_refused() -> None:
    entries = Ledger.from_dict(document("attributes")).entries
    assert "there are releases about attributes of cases, and none is asked for" in list(
        Libra(epsilon=4.0, delta=1e-3).departures(entries)
    )


@pytest.mark.parametrize("name", ["log.xes", "log.csv", "log.parquet"])
@pytest.mark.parametrize("level", ["cases", "events"])
def test_an_undeclared_column_is_found(name: str, level: str, tmp_path: Path) -> None:
    release = released("attributes")
    log = release.log
    frame = log.cases if level == "cases" else log.events
    more = frame.with_columns(pl.Series("diagnosis", ["secret"] * frame.height))
    forged = replace(release, log=replace(log, cases=more) if level == "cases" else replace(log, events=more))
    with pytest.raises(InputError, match=f"its {level} have attributes that are not promised: diagnosis"):
        forged.write(tmp_path / name, certificate=tmp_path / "certificate.json")
    forged.write(tmp_path / name)
    found = content(document("attributes"), tmp_path / name)
    assert f"its {level} have attributes that are not promised: diagnosis" in found.found


def test_an_undeclared_column_without_values_is_found(tmp_path: Path) -> None:
    """A reader leaves it out, but its name may say something."""
    certificate, log = files("attributes of lists")
    head, *rows = log.read_text(encoding="utf-8").splitlines()
    forged = tmp_path / "log.csv"
    forged.write_text("\n".join([f"{head},patient Smith", *(f"{row}," for row in rows), ""]), encoding="utf-8")
    found = content(json.loads(certificate.read_text(encoding="utf-8")), forged)
    assert "its columns are not exactly" in found.found


def test_the_certificate_says_what_is_public_of_attributes_and_what_the_log_holds() -> None:
    issued = document("attributes")
    assert any("What is declared of attributes" in one for one in issued["guarantee"]["assumptions"])
    assert "generated values of the attributes asked for" in issued["contents"]
    assert [Attribute.from_dict(one) for one in issued["parameters"]["attributes"]] == list(EVERY)
    assert SCANNED.name in {one["name"] for one in document("attributes of lists")["parameters"]["attributes"]}

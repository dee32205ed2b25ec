"""Certificates of logs with attributes of events, and resources: under R1, R2 and so on, and no name of theirs anywhere."""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from some_certificates import Document, changed, failed

import libra
from attributed_events import NAMES, OF_EVENTS, OWN_NAMES, ROLE, URGENT, WHO, with_values
from libra.certificate.content import content, content_of_log
from libra.certificate.page import html_of, page_of
from libra.certificate.verify import verify
from libra.errors import InputError
from libra.eventlog.attributes import Attribute
from libra.eventlog.names import LIFECYCLE, OTHER, RESOURCE
from libra.example.simulate import simulate
from libra.mechanisms.libra.model_file import write_model
from libra.mechanisms.libra.releases import ATTRIBUTES, EVENT_ATTRIBUTES, RELEASES
from libra.mechanisms.peers import EMPLOYEES, EMPLOYEES_IN_VALUES
from libra.release import Release

FORMATS = ("log.xes", "log.xes.gz", "log.csv", "log.parquet")
EVERY_NAME = (*NAMES, *OWN_NAMES)
OF_CASES = Attribute(RESOURCE, "category")  # the first of a case


@cache
def _released(names: bool = False, attributes: tuple[Attribute, ...] = OF_EVENTS, **options: Any) -> Release:
    said: dict[str, Any] = {"epsilon": 6.0, "delta": 1e-3, "resource_names": names, "attributes": attributes}
    return libra.anonymize(with_values(400), **said | options)


def _refused(certificate: Path, log: Path) -> list[str]:
    return [check.name for check in verify(certificate, log).checks if not check.ok]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("names", [False, True])
def test_a_log_with_attributes_of_events_is_verified_in_every_format(name: str, names: bool, tmp_path: Path) -> None:
    _released(names).write(tmp_path / name, certificate=tmp_path / "certificate.json")
    assert _refused(tmp_path / "certificate.json", tmp_path / name) == []


def _everything(release: Release, folder: Path) -> Iterator[tuple[str, bytes]]:
    """All that may be given away of a release, as bytes."""
    for name in FORMATS:
        release.write(folder / name, certificate=folder / f"{name}.json")
        packed = (folder / name).read_bytes()
        yield name, gzip.decompress(packed) if name.endswith(".gz") else packed
        yield f"certificate of {name}", (folder / f"{name}.json").read_bytes()
    flat = pl.read_parquet(folder / "log.parquet")  # pages of the file may be packed
    yield "rows of the Parquet file", flat.write_csv().encode()
    write_model(release, folder / "model.json")
    yield "model", (folder / "model.json").read_bytes()
    yield "public report", release.report(public=True).html.encode()
    yield "notes", "\n".join(release.notes).encode()
    yield "the release itself", pickle.dumps(release)
    yield "what is printed of it", f"{release} {release.to_dict()} {release.certificate()}".encode()


@pytest.mark.parametrize(
    ("attributes", "options"),
    [(OF_EVENTS, {}), ((WHO,), {"subsamples": 2, "epsilon": 20.0}), ((OF_CASES, URGENT), {"labels": "public"})],
    ids=["of events", "subsamples", "of cases"],
)
def test_no_name_of_a_resource_is_anywhere(attributes: tuple[Attribute, ...], options: dict[str, Any], tmp_path: Path) -> None:
    release = _released(False, attributes, **options)
    found = set(release.log.events[RESOURCE].drop_nulls())
    assert "R1" in found
    assert found <= {*(f"R{i}" for i in range(1, len(NAMES) + 1)), OTHER}
    for what, raw in _everything(release, tmp_path):
        for name in EVERY_NAME:
            for form in (name, name.split()[0], name.split()[1]):
                assert form.encode() not in raw, (what, form)


def test_where_names_are_asked_for_they_stand_there_but_for_those_of_single_cases(tmp_path: Path) -> None:
    release = _released(True)
    assert set(NAMES) <= set(release.log.events[RESOURCE].drop_nulls()) <= {*NAMES, OTHER}
    for what, raw in _everything(release, tmp_path):
        assert not any(name.encode() in raw for name in OWN_NAMES), what


@pytest.mark.parametrize("attributes", [(WHO,), (OF_CASES, URGENT)], ids=["of events", "of cases"])
def test_pseudonyms_have_no_order_that_follows_from_names(attributes: tuple[Attribute, ...]) -> None:
    """In the figures, and so in a model file, they are counted by their numbers. Who knows all names could go by an order."""
    release = _released(False, attributes, seed=4)
    for run in release.figures:
        (one,) = [one for one in run.each_attribute if one.attribute.name == RESOURCE]
        assert list(one.texts) == [f"R{i + 1}" for i in range(len(one.texts))]
        assert len(one.texts) > 2
        counts = one.counts[1 : 1 + len(one.texts)]
        assert counts.tolist() == sorted(counts, reverse=True)
    named = _released(True, attributes, seed=4).figures[0]
    (as_named,) = [one for one in named.each_attribute if one.attribute.name == RESOURCE]
    assert list(as_named.texts) == sorted(as_named.texts)
    assert as_named.counts[1:-1].tolist() != sorted(as_named.counts[1:-1], reverse=True), "or the test tests nothing"


@pytest.mark.parametrize("attributes", [(WHO,), (OF_CASES, URGENT)], ids=["of events", "of cases"])
def test_under_other_names_the_figures_say_the_same(attributes: tuple[Attribute, ...]) -> None:
    """Tables are those of the names in another order: brought back, they are equal."""
    named, other = (_released(names, attributes, seed=4).figures[0] for names in (True, False))
    place = next(i for i, one in enumerate(named.each_attribute) if one.attribute.name == RESOURCE)
    one, two = named.each_attribute[place], other.each_attribute[place]
    named_cells = range(1, 1 + len(one.texts))
    cell = {two.counts[i]: i for i in named_cells}
    back = [cell[count] if i in named_cells else i for i, count in enumerate(one.counts.tolist())]
    assert sorted(back) == list(range(len(back)))
    assert two.sds[back].tolist() == one.sds.tolist()
    for mine, theirs in zip(named.of_events, other.of_events, strict=True):
        values = [i - 1 for i in back[1:]] if mine.of is one else list(range(mine.by_row.shape[1]))
        assert theirs.by_row[:, values].tolist() == mine.by_row.tolist()
        assert mine.following is not None
        assert theirs.following is not None
        assert theirs.following[values][:, values].tolist() == mine.following.tolist()
    assert named.attributes is not None
    assert other.attributes is not None
    pairs = zip(named.attributes.pairs, other.attributes.pairs, strict=True)
    tables = zip(named.attributes.interactions, other.attributes.interactions, strict=True)
    for (mine_side, their_side), (table, theirs_table) in zip(pairs, tables, strict=True):
        assert _by_cell(mine_side, table, place, range(len(back))) == _by_cell(their_side, theirs_table, place, back)


def _by_cell(pair: Any, table: Any, place: int, cells: Any) -> Any:
    """What an interaction says of each cell of an attribute."""
    for axis, side in enumerate(pair):
        if getattr(side, "number", None) == place:
            groups = side.coding.groups
            return table.take([groups[cell] for cell in cells], axis=axis).tolist()
    return table.tolist()


@pytest.mark.parametrize("names", [False, True])
def test_what_is_not_promised_of_employees_is_said_where_resources_are_released_and_nowhere_else(names: bool) -> None:
    for attributes, said in (((WHO,), True), ((OF_CASES,), True), ((ROLE, URGENT), False)):
        release = _released(names, attributes)
        assert (EMPLOYEES in release.notes) == said
        assert (EMPLOYEES in release.certificate()["guarantee"]["assumptions"]) == said
        assert (EMPLOYEES in "\n".join(release.guarantee.assumptions)) == said
        assert ("resource" in release.report(public=True).html) == said
        assert (EMPLOYEES_IN_VALUES in release.guarantee.assumptions) == (ROLE in attributes)
    plain = libra.anonymize(with_values(400), epsilon=6.0, delta=1e-3, resource_names=names)
    assert EMPLOYEES not in (*plain.notes, *plain.guarantee.assumptions)


def test_a_list_of_resources_is_public_and_stays() -> None:
    listed = replace(WHO, values=(*NAMES[:2], "Hildebrand Never"))
    release = _released(False, (listed,))
    assert set(release.log.events[RESOURCE].drop_nulls()) <= {*NAMES[:2], "Hildebrand Never", OTHER}


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("listed", [False, True])
def test_the_certificate_says_what_resources_are_called(names: bool, listed: bool, tmp_path: Path) -> None:
    release = _released(names, (replace(WHO, values=NAMES[:2]) if listed else WHO,))
    how, shown = ("R1, R2 and so on", "no") if not names else ("by their names", "yes")
    how, shown = ("by the names on the declared list", "those on the declared list") if listed else (how, shown)
    assert f"Resources are called {how}." in release.guarantee.assumptions
    assert ("Resources are called by the names on the declared list. These names go out." in release.notes) == listed
    release.write(tmp_path / "log.csv", certificate=tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    page = html_of(page_of(document, [], "c.json"))
    assert f"Resources are called {how}." in page
    assert f"resource names {shown}" in page
    assert _refused(tmp_path / "c.json", tmp_path / "log.csv") == []


@cache
def _files(folder: str, names: bool) -> tuple[Path, Path]:
    place = Path(folder) / str(names)
    place.mkdir()
    _released(names).write(place / "log.csv", certificate=place / "certificate.json")
    return place / "certificate.json", place / "log.csv"


def test_names_are_refused_where_pseudonyms_are_promised(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    certificate, log = _files(str(tmp_path_factory.getbasetemp()), True)
    issued: Document = json.loads(certificate.read_text(encoding="utf-8"))
    forged = changed(issued, ("parameters", "resource_names"), False)
    assert "it has names of resources, and the certificate promises R1, R2" in content(forged, log).found
    (tmp_path / "certificate.json").write_text(json.dumps(forged), encoding="utf-8")
    assert _refused(tmp_path / "certificate.json", log) == ["words", "content"]
    assert not content(issued, log).found.startswith("The log in the file does not")


def test_a_log_with_names_is_not_certified_as_one_with_pseudonyms(tmp_path: Path) -> None:
    release, named = _released(False), _released(True)
    renamed = release.log.events.with_columns(pl.lit(NAMES[0]).alias(RESOURCE))
    for log in (replace(release.log, events=renamed), named.log):
        if log.n_cases == release.log.n_cases:
            with pytest.raises(InputError, match="it has names of resources"):
                replace(release, log=log).write(tmp_path / "log.csv", certificate=tmp_path / "certificate.json")


@pytest.mark.parametrize("text", ["R0", "R01", "r1", "R1 ", "R-1", "R", "(others)", "R1\nAbelard", "R\u0661"])
def test_only_pseudonyms_pass_for_pseudonyms(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    certificate, _ = _files(str(tmp_path_factory.getbasetemp()), False)
    release = _released(False)
    issued: Document = json.loads(certificate.read_text(encoding="utf-8"))
    assert list(content_of_log(issued, release.log)) == []
    forged = release.log.events.with_columns(
        pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(text)).otherwise(pl.col(RESOURCE)).alias(RESOURCE)
    )
    found = list(content_of_log(issued, replace(release.log, events=forged)))
    assert any("it has names of resources" in one for one in found)


@pytest.mark.parametrize(
    ("attribute", "other", "told"),
    [
        (WHO, {"name": "somebody"}, "its events have attributes that are not promised"),
        (ROLE, {"values": ("desk", "nobody's")}, "has a value that is not on its list"),
        (OF_EVENTS[3], {"highest": 2}, "has a number beyond its bounds"),
        (OF_EVENTS[3], {"decimals": 0}, "has a number with more decimals than are declared"),
        (URGENT, {"kind": "number"}, "has a value that is no number"),
    ],
)
def test_another_declaration_does_not_go_with_the_file(
    attribute: Attribute, other: dict[str, Any], told: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    certificate, log = _files(str(tmp_path_factory.getbasetemp()), False)
    issued: Document = json.loads(certificate.read_text(encoding="utf-8"))
    place = ("parameters", "attributes", OF_EVENTS.index(attribute))
    found = content(changed(issued, place, replace(attribute, **other).to_dict()), log)
    assert not found.ok
    assert told in found.found


def test_other_kinds_levels_or_numbers_of_attributes_do_not_go_with_the_ledger(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    issued: Document = json.loads(_files(str(tmp_path_factory.getbasetemp()), False)[0].read_text(encoding="utf-8"))
    assert failed(issued) == []
    asked = issued["parameters"]["attributes"]
    wrong = [
        [one for one in asked if one["name"] != "urgent"],
        [{name: value for name, value in one.items() if name != "level"} if one["name"] == "urgent" else one for one in asked],
        [one | {"values": list(NAMES)} if one["name"] == RESOURCE else one for one in asked],
        [one | {"kind": "category"} if one["name"] == "urgent" else one for one in asked],
        [*asked, {"name": "x", "kind": "boolean", "level": "event"}],
    ]
    for attributes in wrong:
        assert failed(changed(issued, ("parameters", "attributes"), attributes)) != []


def test_a_column_without_any_value_may_be_missing(tmp_path: Path) -> None:
    log = with_values(200)
    empty = replace(log, events=log.events.with_columns(pl.lit(None, pl.String).alias("nothing")))
    asked = [Attribute("nothing", "category", "event"), URGENT]
    release = libra.anonymize(empty, epsilon=20.0, delta=1e-2, attributes=asked)
    assert "nothing" not in release.log.events.columns
    for name in FORMATS:
        release.write(tmp_path / name, certificate=tmp_path / "certificate.json")
        assert _refused(tmp_path / "certificate.json", tmp_path / name) == []


def test_an_empty_release_is_verified_and_says_nothing_of_events(tmp_path: Path) -> None:
    release = libra.anonymize(with_values(15), epsilon=0.1, delta=1e-6, attributes=OF_EVENTS)
    assert release.log.n_cases == 0
    release.write(tmp_path / "log.csv", certificate=tmp_path / "certificate.json")
    assert _refused(tmp_path / "certificate.json", tmp_path / "log.csv") == []


@pytest.mark.parametrize("topic", [ATTRIBUTES, EVENT_ATTRIBUTES])
def test_attributes_of_one_level_that_a_ledger_does_not_count_are_seen_beside_those_of_the_other(topic: str) -> None:
    release = _released(False, (OF_CASES, URGENT), labels="public")
    assert list(content_of_log(release.certificate(), release.log)) == []
    assert release.ledger is not None
    kept = tuple(entry for entry in release.ledger.entries if RELEASES[entry.purpose].topic != topic)
    forged = replace(release, ledger=replace(release.ledger, entries=kept))
    assert list(content_of_log(forged.certificate(), release.log)) == [f"it has {topic}, and the ledger counts none"]


TRANSITION = Attribute(LIFECYCLE, "category", "event")


@pytest.mark.parametrize("name", FORMATS)
def test_transitions_that_are_an_attribute_make_no_instances_where_the_log_is_verified(name: str, tmp_path: Path) -> None:
    """Half of the events say that they start something; the log was read as events without instances all the same."""
    log = with_values(400)
    halves = pl.Series(LIFECYCLE, ["start", "complete"] * log.n_events)[: log.n_events]
    log = replace(log, events=log.events.with_columns(halves))
    release = libra.anonymize(log, epsilon=6.0, delta=1e-3, attributes=[TRANSITION])
    assert {"start", "complete"} <= set(release.log.events[LIFECYCLE].drop_nulls())
    release.write(tmp_path / name, certificate=tmp_path / "certificate.json")
    assert _refused(tmp_path / "certificate.json", tmp_path / name) == []


@pytest.mark.parametrize("name", FORMATS)
def test_a_log_without_events_is_verified_whatever_its_events_were(name: str, tmp_path: Path) -> None:
    events = libra.read(simulate(cases=3, starts=True), instances="events")
    release = libra.anonymize(events, epsilon=0.01, labels="public", seed=3)
    release.write(tmp_path / name, certificate=tmp_path / "certificate.json")
    assert release.log.n_events == 0
    assert _refused(tmp_path / "certificate.json", tmp_path / name) == ["randomness"]  # the seed

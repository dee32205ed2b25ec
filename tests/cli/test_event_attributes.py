"""Attributes of events at the command line: described, asked for by name, released, checked; what does not fit is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import libra
from attributed_events import NAMES, OWN_NAMES, with_values
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.names import OTHER, RESOURCE
from libra.example.simulate import simulate
from libra.mechanisms.peers import EMPLOYEES

from .conftest import Answer, Run

ASKED = ("--epsilon", "8", "--delta", "1e-3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log and its description."""
    from libra.cli import main

    place = tmp_path_factory.mktemp("described")
    libra.write(with_values(300), place / "log.csv")
    main(["describe", str(place / "log.csv"), "-o", str(place / "log.toml")])
    return place


def _anonymized(run: Run, folder: Path, out: Path, *words: Any) -> Answer:
    return run("anonymize", folder / "log.csv", "--description", folder / "log.toml", "-o", out, *ASKED, *words)


def test_all_attributes_are_released_but_for_resources(folder: Path, tmp_path: Path, run: Run) -> None:
    answer = _anonymized(run, folder, tmp_path / "out.csv", "--all-attributes", "--certificate", tmp_path / "c.json")
    assert answer.code == 0, answer.err
    found = libra.read(tmp_path / "out.csv")
    assert {"urgent", "paid", "cost", "due", "level"} <= {*found.events.columns}
    assert {"insurance", "age"} <= {*found.cases.columns}
    assert RESOURCE not in found.events.columns
    assert EMPLOYEES not in answer.err
    assert "Not in it: the column of resources, start times and any other attribute or header of the original." in answer.out
    assert run("verify", tmp_path / "c.json", tmp_path / "out.csv").code == 0
    document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert RESOURCE not in {one["name"] for one in document["parameters"]["attributes"]}
    assert EMPLOYEES not in document["guarantee"]["assumptions"]


def test_all_attributes_and_resources_are_released_where_both_are_asked_for(folder: Path, tmp_path: Path, run: Run) -> None:
    words = ("--all-attributes", "--attribute", "urgent", "--attribute", RESOURCE, "--certificate", tmp_path / "c.json")
    answer = _anonymized(run, folder, tmp_path / "out.csv", *words)
    assert answer.code == 0, answer.err
    document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    asked = [one["name"] for one in document["parameters"]["attributes"]]
    assert {"urgent", "paid", "cost", "case:age", RESOURCE} <= {*asked}
    assert asked.count("urgent") == 1

    said: dict[str, Any] = {"epsilon": 5.0, "seed": 1, "description": folder / "log.toml"}
    release = libra.anonymize(folder / "log.csv", attributes=["all", "urgent", RESOURCE], **said)
    assert [one["name"] for one in release.parameters["attributes"]] == asked
    refused = _anonymized(run, folder, tmp_path / "no.csv", "--all-attributes", "--attribute", "org:role")
    assert 'says that "org:role" is not to be released' in refused.err


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
def test_what_is_in_it_is_what_has_a_value_for_every_engine(folder: Path, tmp_path: Path, run: Run, engine: str) -> None:
    described = tmp_path / "log.toml"
    added = '[attributes."level"]\nkind = "number"\nat = "Blood Test"\n'
    head, *tables = (folder / "log.toml").read_text(encoding="utf-8").split("[attributes.")
    kept = [f"[attributes.{table}" for table in tables if table.startswith('"urgent"')]
    described.write_text(head + "".join(kept) + added, encoding="utf-8")
    words = ("--description", described, "--all-attributes", "--engine", engine)
    answer = run("anonymize", folder / "log.csv", "-o", tmp_path / "out.csv", *ASKED, *words)
    assert 'generated values of "urgent". Not in it: "level", resources, start times and any other attribute' in answer.out
    assert '"Blood Test", its activity, is not in it. Did you mean Blood test?' in answer.err
    few = run("anonymize", folder / "log.csv", "-o", tmp_path / "few.csv", "--epsilon", "0.01", *words)
    expected = 'In it: no case. Not in it: "level", "urgent", resources, start times and any other attribute or header'
    assert expected in few.out


def test_a_resource_that_is_named_comes_out_under_another_name(folder: Path, tmp_path: Path, run: Run) -> None:
    files = [tmp_path / name for name in ("out.csv", "c.json", "model.json", "page.html", "more.csv")]
    out, certificate, model, page, more = files
    words = ("--attribute", RESOURCE, "--certificate", certificate, "--model", model, "--report", page, "--public")
    answer = _anonymized(run, folder, out, *words)
    assert answer.code == 0, answer.err
    assert EMPLOYEES in answer.err
    assert "resources" not in answer.out.partition("Not in it:")[2].partition("\n")[0]
    assert run("verify", certificate, out).code == 0
    assert run("simulate", "--cases", 60, "-o", more, "--model", model).code == 0
    assert set(libra.read(more).events[RESOURCE].drop_nulls()) <= {*(f"R{i}" for i in range(1, 8)), OTHER}
    given_away = [path.read_bytes() for path in files] + [answer.out.encode(), answer.err.encode()]
    for name in (*NAMES, *OWN_NAMES):
        assert not any(name.encode() in raw for raw in given_away), name


def test_names_are_written_where_they_are_asked_for(folder: Path, tmp_path: Path, run: Run) -> None:
    answer = _anonymized(run, folder, tmp_path / "out.xes", "--attribute", RESOURCE, "--resource-names")
    assert answer.code == 0, answer.err
    assert EMPLOYEES in answer.err
    found = set(libra.read(tmp_path / "out.xes").events[RESOURCE].drop_nulls())
    assert len(found & set(NAMES)) > 4
    assert found <= {*NAMES, OTHER}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--attribute", "urgnt"), 'has no attribute "urgnt". Did you mean urgent?'),
        (("--attribute", "org:resorce"), 'has no attribute "org:resorce". Did you mean org:resource?'),
        (("--attribute", "URGENT"), "Did you mean urgent?"),
        (("--attribute", "Age"), "Did you mean case:age?"),
        (("--attribute", "age"), "Did you mean case:age?"),
        (("--attribute", "urgent, age"), "Repeat --attribute for each: --attribute urgent --attribute case:age."),
        (("--attribute", "concept:name"), "It is the column of activity. Leave it out: roles are not released as attributes."),
        (("--attribute", "xyz"), 'Those that may be released: "case:co'),
        (("--attribute", "org:role"), 'says that "org:role" is not to be released'),
        (("--attribute", "urgent", "--attribute", "urgent"), 'The attribute "urgent" is asked for twice'),
    ],
)
def test_what_cannot_be_meant_is_refused(words: tuple[str, ...], told: str, folder: Path, tmp_path: Path, run: Run) -> None:
    answer = _anonymized(run, folder, tmp_path / "out.csv", *words)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
    assert not (tmp_path / "out.csv").exists()


def test_the_column_of_a_resource_leads_to_its_name(folder: Path, tmp_path: Path, run: Run) -> None:
    text = (folder / "log.csv").read_text(encoding="utf-8")
    (tmp_path / "log.csv").write_text(text.replace(RESOURCE, "Clerk", 1), encoding="utf-8")
    run("describe", tmp_path / "log.csv", "-o", tmp_path / "log.toml", "--resource", "Clerk")
    answer = _anonymized(run, tmp_path, tmp_path / "out.csv", "--attribute", "Clerk")
    assert answer.err.endswith(f'has no attribute "Clerk". It is the column of resource. Ask for {RESOURCE}.\n')
    answer = _anonymized(run, tmp_path, tmp_path / "out.csv", "--attribute", "urgent", "--resource-names")
    assert f"No resources were asked for, so --resource-names did not count. --attribute {RESOURCE} releases them." in answer.err


def test_attributes_of_a_description_are_audited(folder: Path, run: Run) -> None:
    described = ("--description", folder / "log.toml", "--canary", "has a rare attribute value", "--runs", "200")
    words = ("audit", folder / "log.csv", *described)
    answer = run(*words, "--attribute", "urgent", "--attribute", "case:insurance", "--json")
    assert answer.code == 0, answer.err
    assert [one["name"] for one in json.loads(answer.out)["parameters"]["attributes"]] == ["case:insurance", "urgent"]
    assert run(*words, "--attribute", "urgnet").err.strip().endswith("Did you mean urgent?")


@pytest.mark.parametrize("mode", ["pair", "events"])
def test_transitions_that_make_instances_are_no_attribute(mode: str, tmp_path: Path, run: Run) -> None:
    log = libra.read(simulate(cases=200, starts=True), instances="events")
    libra.write(log, tmp_path / "log.csv")
    run("describe", tmp_path / "log.csv", "-o", tmp_path / "log.toml", "--instances", "complete")
    text = (tmp_path / "log.toml").read_text(encoding="utf-8").replace('instances = "complete"', f'instances = "{mode}"')
    (tmp_path / "log.toml").write_text(text.replace("release = false", "release = true"), encoding="utf-8")
    answer = _anonymized(run, tmp_path, tmp_path / "out.csv", "--attribute", "lifecycle:transition")
    assert (answer.code, answer.out) == (2, "")
    assert 'releases "lifecycle:transition" ' in answer.err
    assert "log.toml, line " in answer.err
    assert not (tmp_path / "out.csv").exists()
    answer = _anonymized(run, tmp_path, tmp_path / "out.csv", "--all-attributes", "--certificate", tmp_path / "c.json")
    assert answer.code == 0, answer.err
    document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert "lifecycle:transition" not in {one["name"] for one in document["parameters"]["attributes"]}


TABLE = "case,activity,time,x\n"
DESCRIBED = """format = "csv"
encoding = "utf-8"
delimiter = ","
quote = ""
line_end = "lf"
decimal = "."
case_id = ["case"]
activity = ["activity"]
timestamp = "time"
timestamp_format = "iso"
zone = "none"
unit = "case"
labels = "private"

[attributes."x"]
kind = "{kind}"
level = "event"
{more}
"""


def _small(folder: Path, values: list[str], kind: str, more: str = "") -> tuple[Path, Path]:
    """A log of two events a case, with these values in turn."""
    rows = [
        f"c{i // 2},{'ab'[i % 2]},2024-05-{1 + i % 28:02}T{8 + i % 2:02}:00:00,{values[i % len(values)]}\n"
        for i in range(max(400, len(values)))
    ]
    (folder / "small.csv").write_text(TABLE + "".join(rows), encoding="utf-8")
    (folder / "small.toml").write_text(DESCRIBED.format(kind=kind, more=more), encoding="utf-8")
    return folder / "small.csv", folder / "small.toml"


@pytest.mark.parametrize(
    ("values", "kind", "told"),
    [
        (["1", "2", "many"], "number", '"x" is described as a number, and "many" is none'),
        (["true", "maybe"], "boolean", '"x" is described as a boolean, and "maybe" is none'),
        (["2024-05-06", "soon"], "date", '"x" is described as a date, and "soon" is none'),
        (["1.5", "2024-05-06"], "number", '"x" is described as a number, and "2024-05-06" is none'),
    ],
)
def test_two_types_in_a_column_are_refused_with_the_place(
    values: list[str], kind: str, told: str, tmp_path: Path, run: Run
) -> None:
    log, description = _small(tmp_path, values, kind)
    answer = run("anonymize", log, "--description", description, "--attribute", "x", "-o", tmp_path / "out.csv", *ASKED)
    assert (answer.code, answer.out) == (3, "")
    assert told in answer.err
    assert "line" in answer.err


def test_a_text_that_means_no_value_is_none(tmp_path: Path, run: Run) -> None:
    log, description = _small(tmp_path, ["1", "2", "many"], "number", 'missing = ["many"]\nlowest = 0\nhighest = 5')
    answer = run("anonymize", log, "--description", description, "--attribute", "x", "-o", tmp_path / "out.csv", *ASKED)
    assert answer.code == 0, answer.err
    found = pl.read_csv(tmp_path / "out.csv")["x"]
    assert set(found.drop_nulls()) <= set(range(6))
    assert 0.2 < found.null_count() / len(found) < 0.45


def test_numbers_beyond_their_bounds_count_as_these(tmp_path: Path, run: Run) -> None:
    log, description = _small(tmp_path, ["-7000", "3.25", "1e300"], "number", "lowest = 0\nhighest = 10\ndecimals = 1")
    answer = run("anonymize", log, "--description", description, "--attribute", "x", "-o", tmp_path / "out.csv", *ASKED)
    assert answer.code == 0, answer.err
    found = pl.read_csv(tmp_path / "out.csv")["x"]
    assert found.is_between(0, 10).all()
    near = [found.is_between(low, high).mean() for low, high in ((0, 1), (2.5, 4), (9, 10))]
    assert near == pytest.approx([1 / 3] * 3, abs=0.06)
    assert 'Values of "x" beyond the declared bounds count as the bound.' in answer.err, "whether or not there are any"


def test_what_a_value_needs_is_explained_for_each_attribute(tmp_path: Path, run: Run) -> None:
    log, description = _small(tmp_path, ["1"], "number", 'level = "case"\n[attributes."y"]\nkind = "category"\nlevel = "event"')
    description.write_text(description.read_text(encoding="utf-8").replace('level = "event"\n', "", 1), encoding="utf-8")
    said = run("anonymize", log, "--description", description, "--explain", "--attribute", "x", "--attribute", "y").out
    assert re.search(r'more where a case has several values: about \d+ cases for "x"; about \d+ cases for "y"\. Others', said)


def test_a_list_without_any_value_of_the_log_leaves_other_alone(tmp_path: Path, run: Run) -> None:
    log, description = _small(tmp_path, ["p", "q"], "category", 'values = ["u", "v"]')
    answer = run("anonymize", log, "--description", description, "--attribute", "x", "-o", tmp_path / "out.csv", *ASKED)
    assert answer.code == 0, answer.err
    found = pl.read_csv(tmp_path / "out.csv")["x"].value_counts(normalize=True)
    assert dict(found.iter_rows())[OTHER] > 0.9


def test_an_attribute_of_events_without_a_column_is_refused(tmp_path: Path, run: Run) -> None:
    log, description = _small(tmp_path, ["p"], "category")
    text = description.read_text(encoding="utf-8")
    description.write_text(text.replace('[attributes."x"]', '[attributes."xx"]'), encoding="utf-8")
    answer = run("anonymize", log, "--description", description, "--attribute", "xx", "-o", tmp_path / "out.csv")
    assert answer.code == 3
    assert 'there is no column "xx", which is described' in answer.err


def test_of_a_hundred_thousand_values_none_stands_out(tmp_path: Path, run: Run) -> None:
    log, description = _small(tmp_path, [f"value-{i}" for i in range(100_000)], "category")
    words = ("--attribute", "x", "-o", tmp_path / "out.csv", "--epsilon", "1", "--delta", "1e-8")
    answer = run("anonymize", log, "--description", description, *words)
    assert answer.code == 0, answer.err
    assert set(pl.read_csv(tmp_path / "out.csv")["x"].drop_nulls()) == {OTHER}
    assert b"value-" not in (tmp_path / "out.csv").read_bytes()


def test_dates_and_truths_in_text_come_out_typed(tmp_path: Path, run: Run) -> None:
    for values, kind, dtype in ((["yes", "no", "yes"], "boolean", pl.Boolean()), (["2024-06-01"], "date", UTC_MICROSECONDS)):
        log, description = _small(tmp_path, values, kind)
        out = tmp_path / f"{kind}.parquet"
        answer = run("anonymize", log, "--description", description, "--attribute", "x", "-o", out, *ASKED)
        assert answer.code == 0, answer.err
        found = pl.read_parquet(out)["x"]
        assert found.dtype == dtype or (kind == "date" and found.dtype.is_temporal())
        assert found.null_count() < 0.1 * len(found)

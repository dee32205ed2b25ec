"""Attributes that are asked for by a declaration: it is that of the description, and the log is read by it in every engine."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import libra
from libra.cli import main
from libra.errors import InputError, UsageError
from libra.eventlog.attributes import Attribute
from libra.eventlog.description import Description
from libra.eventlog.log import EventLog
from libra.reporting.commands import Names, commands_of

WARD, CODE = Attribute("case:ward", "category"), Attribute("code", "category", "event")
HEADER = "case:concept:name,concept:name,time:timestamp,case:ward,code"
ONE_MORE = ("z,A,2021-01-01T00:00:00Z,W0,x", "z,A,2021-01-01T01:00:00Z,W1,x")  # in two wards, with a text for a code
DESCRIBED: dict[str, Any] = {
    "format": "csv", "encoding": "utf-8", "delimiter": ",", "case_id": ("case:concept:name",), "activity": ("concept:name",),
    "timestamp": "time:timestamp", "timestamp_format": "iso", "zone": "file",
}  # fmt: skip
ASKED: dict[str, Any] = {"epsilon": 20.0, "delta": 1e-2}


def _log(folder: Path, *more: str) -> Path:
    """Thirty cases in three wards, of two codes that a number would not tell apart."""
    rows = (f"c{i},A,2021-01-{1 + i % 28:02d}T00:00:00Z,W{i % 3},{'7' if i % 2 else '7.0'}" for i in range(60))
    (folder / "log.csv").write_text("\n".join((HEADER, *rows, *more)) + "\n", encoding="utf-8")
    return folder / "log.csv"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (WARD, 'says that "case:ward" is not to be released'),
        (WARD.to_dict(), 'says that "case:ward" is not to be released'),
        (replace(CODE, missing=("x",)), 'declares "code" otherwise. Ask for it by its name, or correct it there.'),
        ({"name": "code", "kind": "number", "level": "event"}, 'declares "code" otherwise'),
        (Attribute("codes", "category", "event"), 'has no attribute "codes". Did you mean code?'),
        ({"name": "code"}, "something that is no declaration"),
        ({"name": "code", "kind": "category", "at": 3, "colour": "red"}, "something that is no declaration"),
    ],
)
def test_a_declaration_beside_a_description_says_the_same_or_is_refused(asked: Any, told: str) -> None:
    described = Description(**DESCRIBED, attributes=(replace(WARD, release=False), CODE))
    for engine in ("polars", "polars-streaming"):
        with pytest.raises(UsageError, match=told):
            libra.anonymize("log.csv", description=described, attributes=[asked], engine=engine)
    with pytest.raises(UsageError, match=told):
        libra.audit("log.csv", description=described, attributes=[asked])


def test_a_declaration_that_says_the_same_is_as_good_as_its_name(tmp_path: Path) -> None:
    described = Description(**DESCRIBED, attributes=(WARD, CODE))
    forms: list[Any] = [["case:ward", "code"], [WARD, CODE], [WARD.to_dict(), CODE.to_dict()], "all"]
    found = [libra.anonymize(_log(tmp_path), description=described, attributes=asked, seed=1, **ASKED) for asked in forms]
    assert all(one.log.equals(found[0].log) for one in found)
    assert "ward" in found[0].log.cases.columns


def test_what_is_declared_as_not_to_be_released_is_not(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match='"case:ward" is declared with release = false'):
        libra.anonymize(_log(tmp_path), attributes=[CODE, replace(WARD, release=False)])


@pytest.mark.parametrize("asked", [[WARD, CODE], [WARD.to_dict(), CODE.to_dict()]], ids=["declarations", "plain"])
@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
def test_without_a_description_a_log_is_read_as_is_declared(asked: Any, engine: str, tmp_path: Path) -> None:
    release = libra.anonymize(_log(tmp_path), attributes=asked, engine=engine, labels="public", **ASKED | {"epsilon": 100.0})
    assert {"7", "7.0"} <= set(release.log.events["code"])
    more = _log(tmp_path, *ONE_MORE[:1])
    release = libra.anonymize(more, attributes=asked, engine=engine, labels="public", **ASKED | {"epsilon": 100.0})
    assert {"7", "7.0"} <= set(release.log.events["code"])
    with pytest.raises(InputError, match='"case:ward" is described as an attribute of the case and changes within one'):
        libra.anonymize(_log(tmp_path, *ONE_MORE), attributes=asked, engine=engine, **ASKED)


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
@pytest.mark.parametrize(("individual", "asked"), [("ward", "case:ward"), ("case:ward", "case:ward"), ("code", "code")])
def test_what_says_whose_case_it_is_is_no_attribute(individual: str, asked: str, engine: str, tmp_path: Path) -> None:
    file = _log(tmp_path)
    if individual == "ward":
        file.write_text(file.read_text(encoding="utf-8").replace(",code", ",ward"), encoding="utf-8")
    with pytest.raises(UsageError, match=f'"{asked}" (is the column of individual|and the column that says whose case it is)'):
        libra.anonymize(file, individual=individual, attributes=[Attribute(asked, "category")], engine=engine, **ASKED)


def test_a_log_that_was_read_before_is_refused_without_a_seed(tmp_path: Path) -> None:
    file, described = _log(tmp_path, *ONE_MORE), Description(**DESCRIBED, attributes=(CODE,))
    for log in (libra.read(file), libra.read(libra.read(file), individual="case:concept:name")):
        with pytest.raises(UsageError, match='"code" was not declared when the log was read'):
            libra.anonymize(log, attributes=[CODE], **ASKED)
        assert libra.anonymize(log, attributes=[CODE], seed=1, **ASKED).guarantee.statement.startswith("Not private")
    declared = libra.read(file, description=described)
    assert libra.anonymize(declared, attributes=[CODE], **ASKED).guarantee.kind == "proved"
    with pytest.raises(UsageError, match='"code" was not declared when the log was read'):
        libra.anonymize(declared, attributes=[replace(CODE, missing=("x",))], **ASKED)


def test_a_log_that_was_made_has_the_types_that_it_has(tmp_path: Path) -> None:
    read = libra.read(_log(tmp_path))
    made = EventLog(read.events, read.cases)
    assert "ward" in libra.anonymize(made, attributes=[WARD], **ASKED).log.cases.columns


def test_the_command_of_a_report_runs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _log(tmp_path)
    described = Description(**DESCRIBED, attributes=(WARD, CODE))
    Path("log.toml").write_text(described.to_toml(), encoding="utf-8")
    by_description: tuple[dict[str, Any], tuple[str, ...]] = {"description": "log.toml"}, ("--description", "log.toml")
    for said, reading in (by_description, ({}, ())):
        release = libra.anonymize("log.csv", attributes=[WARD, CODE], **said, **ASKED)
        names = Names("log.csv", "out.csv", "certificate.json", reading)
        command = commands_of(release.certificate(), names, public=False)["again"]
        assert main(shlex.split(command)[1:]) == 0, command
        assert Path("again-out.csv").exists()
        Path("again-out.csv").unlink()
        Path("again-certificate.json").unlink()

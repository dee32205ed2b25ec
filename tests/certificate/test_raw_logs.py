"""A certificate that was made up for a raw log, with one call: the log in the file does not pass for a released one."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from some_certificates import OF_OTHERS, OPTIONS, released

import libra
from libra import example
from libra.certificate.check import Verification
from libra.certificate.document import write_certificate
from libra.certificate.verify import verify
from libra.errors import InputError
from libra.eventlog.cases import cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, LogMetadata
from libra.eventlog.names import ACTIVITY, CASE_ID, TIMESTAMP
from libra.mechanisms.fresh_log import log_of
from libra.release import Release

FORMATS = ("log.csv", "log.tsv", "log.csv.zip", "log.xes", "log.xes.gz", "log.parquet")


@cache
def honest() -> Release:
    return libra.anonymize(example.path(), cases=raw().n_cases)


@cache
def raw() -> EventLog:
    return libra.read(example.path())


@cache
def disguised() -> EventLog:
    """The raw log as a release would look: fresh ids, in the order of starts, nothing but activities and times."""
    cases = cases_of(libra.read(example.path(), sort_by_time=True))
    return log_of(cases.take(np.argsort(cases.micros[cases.offsets[:-1]], kind="stable")), raw().activities, seeded=False)


def forged(file: Path) -> Verification:
    """What is found of a file with the certificate of another release, made for it with one call."""
    certificate = file.with_name("certificate.json")
    write_certificate(honest().certificate(), file, certificate)
    return verify(certificate, file)


def problem(file: Path) -> str:
    found = forged(file)
    assert [check.name for check in found.checks if not check.ok] == ["content"]
    assert not found.promised
    return found.checks[-1].found


@pytest.mark.parametrize("name", FORMATS)
def test_a_certificate_for_a_raw_log_does_not_hold(name: str, tmp_path: Path) -> None:
    libra.write(raw(), tmp_path / name)
    assert "attributes that are not promised" in problem(tmp_path / name)
    page = libra.report(None, tmp_path / name, certificate=tmp_path / "certificate.json", public=True)
    assert page.standing == "broken"
    assert "rotected by" not in page.html


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_forged_with_care_is_consistent_and_not_signed(name: str, tmp_path: Path) -> None:
    libra.write(disguised(), tmp_path / name)
    found = forged(tmp_path / name)
    assert (found.consistent, found.signed) == (True, False)
    assert found.verdict.startswith("Consistent, not signed: ")
    assert "Anyone could have written this certificate" in found.verdict
    for public in (True, False):
        page = libra.report(raw(), tmp_path / name, certificate=tmp_path / "certificate.json", public=public)
        assert page.standing == "unsigned"
        own = "If you made this release yourself and nobody has several cases, yes: protected by a strong, proved guarantee."
        assert page.answers[0] == (
            ("What is promised of it?", "Consistent, not signed.") if public else ("May I hand it out?", own)
        )
        assert "PUBLIC: RELEASED FIGURES ONLY" not in page.html
        assert page.html.count("protected by a strong") == 1
        assert page.html.count("Its certificate says: ") == 1
        assert "NO SIGNATURE WAS CHECKED" in page.html or not public


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows.with_columns(pl.col(CASE_ID).str.replace("case-", "visit-")), "its case ids are not case-1, case-2"),
        (lambda rows: rows.with_columns(pl.col(CASE_ID) + "0"), "its case ids are not case-1, case-2"),
        (lambda rows: rows.filter(pl.col(CASE_ID) != "case-7"), "its case ids are not case-1, case-2"),
        (lambda rows: rows.with_columns(pl.lit("Anna").alias("org:resource")), "attributes that are not promised: org:resource"),
        (lambda rows: rows.with_columns(pl.lit(7).alias("case:age")), "its cases have attributes that are not promised: age"),
        (lambda rows: rows.with_columns(pl.col(TIMESTAMP).reverse().over(CASE_ID)), "it has a case whose times fall"),
        (lambda rows: rows.with_columns(pl.col(TIMESTAMP).reverse()), "its cases are not in the order in which they start"),
    ],
    ids=["other ids", "ids not counted", "a case left out", "of events", "of cases", "falling times", "starts"],
)
def test_columns_ids_starts_and_times_are_those_of_a_release(
    name: str, change: Callable[[pl.DataFrame], pl.DataFrame], said: str, tmp_path: Path
) -> None:
    libra.write(libra.read(change(honest().log.to_polars())), tmp_path / name)
    assert said in problem(tmp_path / name)


@pytest.mark.parametrize("name", ["log.xes", "log.parquet"])
def test_a_header_could_carry_anything_along(name: str, tmp_path: Path) -> None:
    metadata = LogMetadata(attributes=(Attribute("note", "string", "Anna was here"),))
    libra.write(replace(honest().log, metadata=metadata), tmp_path / name)
    assert "a header that no such log has" in problem(tmp_path / name)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("</log>", "<!-- Anna was here --></log>", "XML that is no part of the log"),
        ("\t<trace>", "\t<!-- Anna was here -->\n\t<trace>", "XML that is no part of the log"),
        ("\t<trace>", "\t<?anna was here?>\n\t<trace>", "XML that is no part of the log"),
        ("\t</trace>", "\t</trace>Anna was here", "XML that is no part of the log"),
        ("\t\t</event>", '\t\t\t<string key="concept:name" value="Anna"/>\n\t\t</event>', "XML that is no part of the log"),
        ("\t\t</event>", '\t\t\t<list key="l"><string key="a" value="Anna"/></list>\n\t\t</event>', "XML that is no part"),
        ('"/>\n\t\t</event>', '"><string key="a" value="Anna"/></date>\n\t\t</event>', "XML that is no part of the log"),
        ("\t\t<event>", '\t\t<string key="name" value="Anna"/>\n\t\t<event>', "its cases have attributes that are not promised"),
        ("\t<extension", '\t<extension name="Anna" prefix="anna" uri="http://anna"/>\n\t<extension', "its header is not that"),
        ("\t<classifier", '\t<classifier name="Anna" keys="concept:name"/>\n\t<classifier', "a header that no such log has"),
        ("<log ", '<log anna="was here" ', "its header is not that"),
        ('value="UNKNOWN"', 'value="Anna"', "a header that no such log has"),
    ],
)
def test_xes_has_no_place_for_anything_else(old: str, new: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "log.xes"
    libra.write(honest().log, file)
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert said in problem(file)


def test_an_empty_column_is_one_too_many(tmp_path: Path) -> None:
    rows = honest().log.to_polars().with_columns(pl.lit(None, pl.String).alias("Anna was here"))
    rows.write_parquet(tmp_path / "log.parquet")
    assert "its columns are not exactly" in problem(tmp_path / "log.parquet")
    libra.write(honest().log, tmp_path / "log.csv")
    head, *lines = (tmp_path / "log.csv").read_text(encoding="utf-8").splitlines()
    text = "\n".join([f"{head},Anna was here", *(f"{line}," for line in lines)]) + "\n"
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    assert "its columns are not exactly" in problem(tmp_path / "log.csv")


@pytest.mark.parametrize("names", [("Patient", "Step", "Done at"), ("case:concept:name", "time:timestamp", "concept:name")])
def test_columns_have_their_names_and_their_order(names: tuple[str, str, str], tmp_path: Path) -> None:
    rows = honest().log.to_polars()
    rows = rows.select(names) if names[0] == CASE_ID else rows.rename(dict(zip(rows.columns, names, strict=True)))
    for name in ("log.csv", "log.parquet"):
        write = rows.write_csv if name.endswith("csv") else rows.write_parquet
        write(tmp_path / name)
        assert "its columns are not exactly" in problem(tmp_path / name)


def test_packing_and_what_a_table_remembers_carry_nothing_along(tmp_path: Path) -> None:
    libra.write(honest().log, tmp_path / "log.csv")
    content = (tmp_path / "log.csv").read_bytes()
    with gzip.GzipFile(tmp_path / "log.csv.gz", "wb") as packed:
        packed.write(content)  # with the name of the file and the time
    assert "its packing says more" in problem(tmp_path / "log.csv.gz")
    with zipfile.ZipFile(tmp_path / "log.csv.zip", "w") as archive:
        archive.writestr("log.csv", content)
        archive.writestr("readme.txt", "Anna was here")
    assert "the archive holds more than the log" in problem(tmp_path / "log.csv.zip")
    honest().log.to_polars().write_parquet(tmp_path / "log.parquet", metadata={"note": "Anna was here"})
    assert "it remembers more than its rows" in problem(tmp_path / "log.parquet")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_holds_files_of_the_log_and_nothing_else(ending: str, tmp_path: Path) -> None:
    folder, rows = tmp_path / "released", honest().log.to_polars()
    folder.mkdir()
    half = rows.filter(pl.col(CASE_ID).str.len_chars() <= 7)
    for number, part in enumerate((half, rows.filter(pl.col(CASE_ID).str.len_chars() > 7))):
        write = part.write_csv if ending == "csv" else part.write_parquet
        write(folder / f"part-{number}.{ending}")
    assert forged(folder).consistent
    (folder / "notes.xes").write_text("<log/>", encoding="utf-8")
    assert "notes.xes, which is no part of the log" in problem(folder)


@pytest.mark.parametrize("name", [*OPTIONS, *OF_OTHERS])
@pytest.mark.parametrize("file", ["log.csv.gz", "log.xes", "log.parquet"])
def test_what_every_mechanism_writes_passes_in_every_format(name: str, file: str, tmp_path: Path) -> None:
    release = released(name)
    release.write(tmp_path / file, certificate=tmp_path / "certificate.json")
    found = verify(tmp_path / "certificate.json", tmp_path / file)
    assert [check.found for check in found.checks if not check.ok and check.name != "randomness"] == []


def test_a_log_that_is_put_into_a_release_is_not_certified(tmp_path: Path) -> None:
    fake = replace(honest(), log=raw())
    with pytest.raises(InputError, match="this log is not one that libra makes, so it is not certified: its events have"):
        fake.write(tmp_path / "log.csv", certificate=tmp_path / "certificate.json")
    assert list(tmp_path.iterdir()) == []
    for public in (True, False):
        page = fake.report(public=public)
        assert page.standing == "broken"
        assert "rotected by" not in page.html


@pytest.mark.parametrize("change", [{"mechanism": "travas"}, {"ledger": None}, {"parameters": {}}])
def test_a_release_that_is_made_up_is_not_protected(change: dict[str, Any]) -> None:
    page = replace(honest(), **change).report(public=True)
    assert page.standing == "broken"
    assert "rotected by" not in page.html


def test_a_public_page_of_a_release_says_what_its_certificate_says() -> None:
    page = honest().report(public=True)
    assert page.answers[0][1] == "Consistent, not signed."
    assert page.html.count("protected by a strong") == page.html.count("Its certificate says: protected by a strong") == 1
    assert honest().report().answers[0][1] == "If nobody has several cases, yes: protected by a strong, proved guarantee."
    assert {ACTIVITY, TIMESTAMP} <= set(honest().log.events.columns)

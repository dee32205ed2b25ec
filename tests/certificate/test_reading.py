"""Reading a certificate: what is none is refused in one line that names the place; what readers may disagree on is, too."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from some_certificates import Place, changed, document, files

import libra
from libra.certificate.document import LARGEST, read_certificate, schema, why_invalid
from libra.errors import InputError, UsageError

SURE = '"document": "Libra certificate", "format": 1'


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "line 1: this is not JSON"),
        ('{"a": 1,\n "b": }', "line 2: this is not JSON"),
        ("case,activity\n1,a\n", "line 1: this is not JSON"),
        ("[1, 2]", "this is JSON, but no Libra certificate"),
        ('{"document": "invoice"}', "this is JSON, but no Libra certificate"),
        ('{"document": "Libra release"}', "this is what --json prints for the custodian, not a certificate"),
        ('{"document": "Libra certificate", "version": "0.1.0"}', "before certificates could be verified"),
        ('{"document": "Libra certificate", "format": 7}', "is of format 7, and this version of Libra knows 1"),
        (f'{{{SURE}, "a": {{"epsilon": 0.1, "epsilon": 9}}}}', 'the field "epsilon" stands there twice'),
        (f'{{{SURE}, "epsilon": NaN}}', "NaN is not a number that can be kept"),
        (f'{{{SURE}, "epsilon": -Infinity}}', "-Infinity is not a number that can be kept"),
        (f'{{{SURE}, "epsilon": 1e999}}', "1e999 is not a number that can be kept"),
        (f'{{{SURE}, "bytes": 9007199254740993}}', "9007199254740993 is not a number that can be kept"),
        (f'{{{SURE}, "bytes": {"9" * 5000}}}', f"{'9' * 40} is not a number that can be kept"),
        (f'{{{SURE}, "unit": "\\ud800"}}', "this is not text in UTF-8"),
        ("[" * 100_000, "this is nested too deeply"),
    ],
)
def test_what_is_no_certificate_is_refused_in_one_line(content: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(told)) as caught:
        read_certificate(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_what_is_no_text_or_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(b"\x1f\x8b\x08\x00\xff\xfe")
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_certificate(path)
    path.write_bytes(b" " * (LARGEST + 1))
    with pytest.raises(InputError, match="too large to be a certificate"):
        read_certificate(path)


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    certificate, log = files("libra")
    with pytest.raises(InputError, match=r"missing\.json: cannot be read \(no such file"):
        libra.verify(tmp_path / "missing.json", log)
    with pytest.raises(InputError, match=r"missing\.csv: cannot be read \(no such file"):
        libra.verify(certificate, tmp_path / "missing.csv")
    with pytest.raises(InputError, match=re.escape(str(tmp_path))):
        libra.verify(tmp_path, log)


def test_the_two_files_in_the_wrong_order_are_told_apart() -> None:
    certificate, log = files("libra")
    with pytest.raises(InputError, match="Name the file that --certificate wrote, and the released log after it"):
        libra.verify(log, certificate)
    with pytest.raises(InputError, match=r"Name the file that --certificate wrote\.$"):
        read_certificate(log)


def test_what_is_no_path_is_refused_with_what_is_taken() -> None:
    certificate, log = files("libra")
    wrong: Any
    for wrong in (None, 3, document("libra"), libra.read(log)):
        with pytest.raises(
            UsageError, match=f"takes the paths of two files, and the certificate is of type {type(wrong).__name__}"
        ):
            libra.verify(wrong, log)
        with pytest.raises(UsageError, match=rf"the released log is of type {type(wrong).__name__}\. Write both first"):
            libra.verify(certificate, wrong)


def test_a_name_that_is_no_text_is_certified_all_the_same(tmp_path: Path) -> None:
    name = "log-\udcff.csv"
    try:
        (tmp_path / name).write_bytes(b"")
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    release = libra.anonymize(libra.read(files("libra")[1]), epsilon=1.0)
    release.write(tmp_path / name, certificate=tmp_path / "c.json")
    assert libra.verify(tmp_path / "c.json", tmp_path / name).ok


def test_every_field_has_a_description_for_people() -> None:
    def undescribed(node: object, path: str) -> list[str]:
        if not isinstance(node, dict):
            return []
        lacking = [
            f"{path}.{name}"
            for name, field in node.get("properties", {}).items()
            if "then" not in path and "else" not in path and isinstance(field, dict) and not _described(field)
        ]
        return lacking + [place for name, inner in node.items() for place in undescribed(inner, f"{path}.{name}")]

    published = schema()

    def _described(field: dict[str, object]) -> bool:
        target = published["definitions"].get(str(field.get("$ref", "")).rpartition("/")[2], {})
        return bool(field.get("description") or target.get("description"))

    branches = [name for name in published if name != "allOf"]
    assert undescribed({name: published[name] for name in branches}, "") == []


def test_every_object_in_the_schema_says_what_else_may_be_there() -> None:
    def open_objects(node: object) -> list[object]:
        if isinstance(node, list):
            return [found for inner in node for found in open_objects(inner)]
        if not isinstance(node, dict):
            return []
        own = (
            [node]
            if node.get("type") == "object" and "properties" in node and node.get("additionalProperties") is not False
            else []
        )
        return own + [found for inner in node.values() for found in open_objects(inner)]

    published = schema()
    assert published["additionalProperties"] is False
    assert open_objects(published) == []


@pytest.mark.parametrize("name", ["libra", "libra2022"])
def test_a_field_more_or_less_departs_from_the_schema(name: str) -> None:
    issued = document(name)
    assert why_invalid(issued) is None
    for field in issued.keys() - {"expected"}:  # earlier versions did not say it
        assert why_invalid({key: value for key, value in issued.items() if key != field}), field
    assert why_invalid(issued | {"note": "trust me"}) == 'it has a field "note", which no certificate has there'
    assert json.loads(json.dumps(schema())) == schema()


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("guarantee", "extra"), 1, 'guarantee has a field "extra", which no certificate has there'),
        (("guarantee", "epsilon"), "a", "guarantee.epsilon has to be a number"),
        (("claimed",), {}, "claimed has to be null"),
        (("randomness",), "dice", 'randomness has to be "operating system" or "not private: seeded"'),
        (("parameters", "labels"), 1, "parameters.labels is not what can stand there"),
        (("parameters", "cases"), 0, "parameters.cases is not what can stand there"),
        (("parameters", "gamma"), 0, "parameters.gamma has to be more than 0"),
        (("subsampling", "rate"), 2, "subsampling.rate has to be 1 or less"),
        (("ledger", 0, "noise"), -1, "ledger[0].noise has to be 1e-09 or more"),
        (("checksum",), "x", "checksum is not what can stand there"),
        (("document",), "invoice", 'document has to be "Libra certificate"'),
    ],
)
def test_what_departs_from_the_schema_is_said_in_words(path: Place, value: object, told: str) -> None:
    assert why_invalid(changed(document("libra"), path, value, anew=False)) == told


def test_a_ledger_does_not_go_with_a_claim() -> None:
    assert why_invalid(document("libra2022") | {"ledger": []}) == "ledger should not be there"

"""What never comes out: ids, attributes, header and times of the original, nor any figure of it in what may be published."""

from __future__ import annotations

import io
import json
import pickle
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from some_cases import log_of

from libra._system.randomness import Randomness
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, Classifier, Extension, LogMetadata
from libra.eventlog.write import write
from libra.mechanisms.libra2022 import Libra2022

SECRETS = ("ZEBRA", "OKAPI", "GNU", "TAPIR", "IBEX", "LYNX", "NEWT", "EMU", "73519")
RARE = "a rare operation of one patient"
FREQUENT = "a frequent one of them all"


def telling_log() -> EventLog:
    """A log that tells something it should not in every place where a log can."""
    rows, ids = [], []
    for case in range(300):
        ids.append(f"ZEBRA-{case}-\u00e9\u2028")
        for position, activity in enumerate(("admit", "treat", "discharge") if case % 3 else ("admit", "discharge")):
            time = datetime(2024, 5, 6, tzinfo=UTC) + timedelta(hours=case, minutes=37 * position, microseconds=123_456)
            rows.append((case, activity, time, "OKAPI", 73519, time, "GNU"))
    columns = ["@case", "concept:name", "time:timestamp", "org:resource", "cost", "start_timestamp", "lifecycle:transition"]
    return EventLog(
        pl.DataFrame(rows, schema=columns, orient="row"),
        pl.DataFrame({"concept:name": ids, "person": ["TAPIR"] * 300}),
        LogMetadata(
            attributes=(Attribute("concept:name", "string", "IBEX"),),
            case_globals=(Attribute("person", "string", "LYNX"),),
            event_globals=(Attribute("cost", "int", 73519),),
            classifiers=(Classifier("NEWT", ("concept:name",)),),
            extensions=(Extension("EMU", "emu", "http://emu.example/emu.xesext"),),
        ),
        notes=("IBEX",),
        individual="person",
    )


@pytest.mark.parametrize("name", ["log.xes", "log.csv"])
def test_nothing_of_ids_attributes_and_header_reaches_a_file(name: str, tmp_path: Path) -> None:
    log = telling_log()
    release = Libra2022(delta=1e-2).anonymize(log, Randomness())
    assert release.log.n_cases > 50
    write(log, tmp_path / f"original-{name}")
    write(release.log, tmp_path / name)
    original, released = ((tmp_path / file).read_text(encoding="utf-8") for file in (f"original-{name}", name))
    assert "ZEBRA" in original
    assert "OKAPI" in original
    assert "discharge" in released
    assert not [secret for secret in SECRETS if secret.lower() in released.lower()]
    certificate = json.dumps(release.certificate())
    assert not [secret for secret in SECRETS if secret in certificate]


@pytest.mark.parametrize("subsamples", [None, 7, "paper"])
def test_the_certificate_of_every_log_is_the_same(subsamples: Any) -> None:
    logs = [log_of({"abc": 300, "acb": 100, "z": 5}), log_of({"quite": 5000}), log_of({"rare": 1, "un": 2})]
    logs.append(replace(telling_log(), individual=None))
    releases = [Libra2022(subsamples=subsamples).anonymize(log, Randomness()) for log in logs]
    assert releases[2].log.n_cases == 0 < releases[0].log.n_cases
    certificates = [release.certificate() | {"issued": "today"} for release in releases]
    assert all(certificate == certificates[0] for certificate in certificates)
    assert json.loads(json.dumps(certificates[0], allow_nan=False)) == certificates[0]
    assert certificates[0]["claimed"]["subsamples"] == {None: 20, 7: 7, "paper": None}[subsamples]


def test_no_original_time_comes_back() -> None:
    log = telling_log()
    release = Libra2022(delta=1e-2).anonymize(log, Randomness(seed=1))
    assert not np.isin(release.log.timestamps, log.timestamps // 1000 * 1000).any()


@pytest.mark.parametrize("seed", [None, 1])
def test_a_label_of_clipped_cases_is_nowhere_in_memory(seed: int | None) -> None:
    """Labels of more than 12 bytes, which Polars keeps in buffers that several columns may share."""
    log = log_of({"ab": 200, "rb": 1})
    names = log.events["concept:name"].replace({"a": FREQUENT, "r": RARE})
    log = EventLog(log.events.with_columns(names), log.cases)
    assert RARE in log.activities
    released = Libra2022().anonymize(log, Randomness(seed)).log
    assert released.activities == [FREQUENT, "b"]
    stream = io.BytesIO()
    released.events.write_ipc(stream, compression="uncompressed")
    for found in (pickle.dumps(released.events), pickle.dumps(released), stream.getvalue()):
        assert FREQUENT.encode() in found
        assert RARE.encode() not in found


def test_what_python_prints_of_a_release_tells_no_figure_of_the_log() -> None:
    kept = Libra2022(subsamples="paper").anonymize(log_of({"abc": 14_140}), Randomness())
    assert kept.to_dict()["claimed"]["subsamples"] == 707
    assert kept.confidential["clipping_threshold"] == 23
    clipped = Libra2022(delta=1e-9).anonymize(log_of({"abc": 31, "z": 5}), Randomness())
    assert clipped.shortfall is not None
    assert clipped.confidential == {"clipping_threshold": 52, "needed_threshold": 31}
    for release, figures in ((kept, ("707", "14140", "23")), (clipped, ("52", "31", "36"))):
        shown = repr(release)
        assert "Libra2022" not in shown
        assert "libra2022" in shown
        assert not set(figures) & set(re.findall(r"[\d.]*\d", shown))
        assert not [word for word in ("shortfall", "confidential", "claimed=", "rare:", "--b") if word in shown]


def test_the_certificate_withholds_what_the_papers_number_of_subsamples_tells() -> None:
    release = Libra2022(subsamples="paper").anonymize(log_of({"abc": 14_140}), Randomness())
    certificate = json.dumps(release.certificate())
    assert "707" not in certificate
    assert release.certificate()["parameters"]["subsamples"] == "paper"
    claimed = release.certificate()["claimed"]
    assert {name for name, value in claimed.items() if value is None} == {"renyi_epsilon", "subsamples", "comparison"}
    assert set(claimed) == set(release.to_dict()["claimed"])

"""Activity names: one that a single case has is nowhere in what comes out, unless the custodian says that names are public."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from some_logs import log_from

import libra
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.example.simulate import simulate
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.model_file import write_model
from libra.privacy.guarantee import NAMES_PUBLIC

CANARY = "Call back Mrs. Canary"
RUNS = 200


def log_with_canary(cases: int = 300) -> EventLog:
    """A log in which one case has a name of its own, in the middle of an ordinary trace."""
    frequent = [["admit", "treat", "leave"]] * (cases // 2) + [["admit", "leave"]] * (cases // 3)
    rare = [["admit", *["treat"] * (i % 7 + 2), "test", "leave"] for i in range(cases // 6)]
    return log_from([*frequent, *rare, ["admit", CANARY, "treat", "leave"]])


def test_the_name_of_a_single_case_is_in_no_output_of_two_hundred_runs(tmp_path: Path) -> None:
    log, released = log_with_canary(), 0
    assert CANARY in log.activities
    for seed in range(RUNS):
        release = libra.anonymize(log, seed=seed)
        release.write(tmp_path / "log.csv", certificate=tmp_path / "certificate.json")
        write_model(release, tmp_path / "model.json")
        said = [(tmp_path / name).read_text(encoding="utf-8") for name in ("log.csv", "certificate.json", "model.json")]
        said += [*release.notes, repr(release), json.dumps(release.to_dict())]
        if seed % 10 == 0:
            said.append(release.report(public=True).html)
        assert not any("Canary" in text or "Mrs." in text for text in said), seed
        released += release.log.n_cases > 0
    assert released == RUNS, "the logs have to have something in them"


def test_where_names_are_public_it_shows_and_the_promise_says_so() -> None:
    """What a release said before names were private by default: the attack that this page is about."""
    releases = [libra.anonymize(log_with_canary(), labels="public", seed=seed) for seed in range(3)]
    assert all(CANARY in release.figures[0].labels for release in releases)
    certificate, guarantee = releases[0].certificate(), releases[0].guarantee
    assert guarantee.statement.startswith("Names of activities are not protected.") or "seed" in guarantee.statement
    unseeded = libra.anonymize(log_with_canary(), labels="public")
    assert unseeded.guarantee.statement.startswith(
        "Names of activities are not protected. Apart from them, no outcome of the release is more than 2.72 times as likely"
    )
    assert unseeded.certificate()["in_plain_words"].startswith("Names of activities are not protected")
    assert guarantee.assumptions[0] == NAMES_PUBLIC == certificate["guarantee"]["assumptions"][0]
    assert "names of activities are not protected" in unseeded.report(public=True).html


def test_by_default_the_promise_says_nothing_of_names_that_are_not_protected() -> None:
    release = libra.anonymize(log_with_canary())
    assert "not protected" not in release.guarantee.statement + release.certificate()["in_plain_words"]
    assert release.parameters["labels"] == "private"


@pytest.mark.parametrize("tail", ["model", "nearest", "drop"])
def test_labels_of_a_list_are_all_that_is_released(tail: str) -> None:
    listed = ["leave", "admit", "treat", "a name that no event has"]
    release = libra.anonymize(log_with_canary(), labels=listed, tail=tail, epsilon=4.0, seed=1)
    assert release.figures[0].labels == tuple(sorted(listed))
    assert set(release.log.activities) <= set(listed)
    assert release.parameters["labels"] == sorted(listed)
    assert "come from a given list" in release.guarantee.assumptions[0]


def test_the_order_in_which_codes_are_given_tells_nothing_of_names_that_are_not_released() -> None:
    """With and without rare names that sort before all others, the same draws give the same figures."""
    plain = [["admit", "treat", "leave"]] * 300 + [["admit", "leave"]] * 200
    kept = []
    for more in ([], [["aaa", "admit"], ["abc"]]):
        release = Libra(epsilon=3.0, delta=1e-4, tail="drop").anonymize(log_from([*plain, *more]), Randomness(seed=5))
        kept.append((release.figures[0].labels, release.figures[0].control.kept.to_lists()))
    assert kept[0] == kept[1] == (("admit", "leave", "treat"), [[0, 2, 1], [0, 1]])


def test_frequent_names_of_rare_cases_are_found_in_the_second_round() -> None:
    """Many cases share many names and no trace: the first round finds those, the second one that a tenth of the cases have."""
    random = np.random.default_rng(3)
    names = [f"step {i}" for i in range(9)]
    cases = [[*random.permutation(names).tolist(), *(["extra"] if i % 10 == 0 else [])] for i in range(1500)]
    release = libra.anonymize(log_from(cases), epsilon=1.0, delta=1e-4, seed=2)
    assert release.figures[0].labels == tuple(sorted([*names, "extra"]))
    assert release.ledger is not None
    assert [entry.purpose for entry in release.ledger.entries].count("which labels are kept") == 2


@pytest.mark.parametrize("options", [{"gamma": 0.6}, {"subsamples": 3, "gamma": 0.7}])
def test_private_names_go_together_with_subsamples(options: dict[str, Any]) -> None:
    release = libra.anonymize(simulate(cases=1500), epsilon=6.0, delta=1e-4, seed=4, **options)
    assert release.log.n_cases > 1000
    assert all(set(run.labels) <= set(simulate(cases=1500).activities) for run in release.figures)


def test_what_is_no_list_of_names_is_refused() -> None:
    for wrong in ("secret", [], ["a", ""], [1], {"a": 1}, None):
        with pytest.raises(UsageError, match=r"labels"):
            Libra(labels=wrong)  # type: ignore[arg-type]  # as somebody might say it

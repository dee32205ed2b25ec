"""Figures about attributes of events: what values are dealt out from figures made by hand, and which figures are refused."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import libra
from attributed_events import LEVEL, OF_EVENTS, OWN_NAMES, WHO, with_values
from libra._system.randomness import Randomness
from libra.engines.attribute_tables import Coding
from libra.engines.event_tables import NOWHERE
from libra.errors import InputError
from libra.eventlog.attributes import Attribute
from libra.eventlog.cases import MISSING, Cases, Floats, Integers
from libra.mechanisms.libra.attributes.chain import deal_events, denoised_rows, fitted_events
from libra.mechanisms.libra.attributes.events import ReleasedEvents
from libra.mechanisms.libra.attributes.release import ReleasedAttribute
from libra.mechanisms.libra.model_file import read_model, write_model
from libra.release import Release

Plain = dict[str, Any]
SD = 0.01  # of noise that leaves counts as they are
LETTERS = Attribute("letter", "category", "event")


def _cases(words: list[str], labels: str) -> Cases:
    codes = np.array([labels.index(letter) for word in words for letter in word], np.int64)
    offsets = np.concatenate(([0], np.cumsum([len(word) for word in words])))
    return Cases(codes, np.zeros(len(codes), np.int64), offsets, np.zeros(len(words), np.int64), len(labels))


def _category(
    by_row: list[list[float]], following: list[list[float]] | None, fills: list[list[float]], rows: tuple[int, ...]
) -> ReleasedEvents:
    table = np.array(by_row, float)
    counts = np.concatenate(([0.0], table.sum(axis=0)))
    atoms = table.shape[1] - 1  # the last is for all other values
    of = ReleasedAttribute(LETTERS, Coding(tuple(range(atoms))), tuple("pqrs"[:atoms]), counts, np.full(len(counts), SD))
    after = None if following is None else np.array(following, float)
    return ReleasedEvents(of, tuple(range(atoms + 2)), rows, np.array(fills, float), SD, table, SD, after, SD)


def _dealt(figures: ReleasedEvents, cases: Cases) -> Integers:
    random = Randomness(seed=1)
    return deal_events(fitted_events(figures, cases, random), cases, random)


def test_values_are_dealt_out_as_often_as_the_figures_say_by_activity_and_by_the_value_before() -> None:
    """Activity a has p or q evenly; b repeats what came before; c has nothing; d, a start, is nowhere."""
    cases = _cases(["abdb", "acb"] * 500, "abcd")
    by_row = [[500.0, 500.0, 0.0], [750.0, 750.0, 0.0], [0.0, 0.0, 0.0]]
    following = [[750.0, 0.0, 0.0], [0.0, 750.0, 0.0], [0.0, 0.0, 0.0]]
    values = _dealt(_category(by_row, following, [[0, 1000], [0, 1500], [500, 0]], (0, 1, 2, NOWHERE)), cases)
    assert set(values[np.isin(cases.codes, [2, 3])]) == {MISSING}
    first, later = values[cases.codes == 0], values[cases.codes == 1]
    assert np.bincount(first).tolist() == pytest.approx([500, 500], abs=3)
    case = np.repeat(np.arange(len(cases)), cases.lengths)
    assert (later == first[case[cases.codes == 1]]).mean() > 0.99


def test_a_share_of_events_without_a_value_is_kept_for_each_activity() -> None:
    cases = _cases(["ab"] * 1000, "ab")
    figures = _category([[300.0, 0.0], [800.0, 0.0]], None, [[700, 300], [200, 800]], (0, 1))
    values = _dealt(figures, cases)
    for code, share in ((0, 0.7), (1, 0.2)):
        assert (values[cases.codes == code] == MISSING).mean() == pytest.approx(share, abs=0.01)


def test_where_no_value_stands_out_there_is_none() -> None:
    cases = _cases(["ab"] * 100, "ab")
    for table, fills in (
        ([[0.0, 0.0], [0.0, 0.0]], [[100.0, 0.0], [100.0, 0.0]]),
        ([[-1.0, 0.5], [0.3, -2.0]], [[0.0, 0.0], [-3.0, 1.0]]),
    ):
        figures = _category(table, [[0.0, 0.0], [0.0, 0.0]], fills, (0, 1))
        noisy = ReleasedEvents(**vars(figures) | {"fills_sd": 3.0, "by_row_sd": 3.0, "following_sd": 3.0})
        assert set(_dealt(noisy, cases)) == {MISSING}


def test_a_counter_never_falls_though_an_increment_may_be_below_zero() -> None:
    """What it says first may be; as what comes next it counts as nothing."""
    counter = Attribute("balance", "number", "event", lowest=-50, highest=100, counter=True)
    of = ReleasedAttribute(counter, Coding((-50, 30)), (), np.array([0.0, 500.0, 500.0, 0.0]), np.full(4, SD))
    figures = ReleasedEvents(of, (0, 1, 2, 3), (0,), np.array([[0.0, 1000.0]]), SD, np.array([[500.0, 500.0, 0.0]]), SD)
    cases = _cases(["aaaaaaaa", "a", "aaa"] * 60, "a")
    values = _dealt(figures, cases)
    assert set(values) <= {*range(-50, 101, 10)}
    assert {-50, 30, 100} <= set(values)
    inside = np.delete(np.diff(values), cases.offsets[1:-1] - 1)
    assert inside.min() == 0


@pytest.mark.parametrize("n_cases", [1, 2, 7])
def test_hardly_any_cases_and_long_ones_are_dealt_with(n_cases: int) -> None:
    figures = _category([[5.0, 5.0, 1.0]], [[3.0, 1.0, 1.0]] * 3, [[1, 10]], (0,))
    for length in (1, 3000):
        values = _dealt(figures, _cases(["a" * length] * n_cases, "a"))
        assert len(values) == n_cases * length
        assert set(values) <= {0, 1, -1, MISSING}


@pytest.mark.parametrize("cells", [1, 2, 3, 9])
def test_denoised_rows_are_shares(cells: int) -> None:
    table = np.random.Generator(np.random.PCG64(cells)).normal(3, 20, (6, cells))
    expected: Floats = np.full(cells, 1 / cells)
    for totals in (np.full(6, 1e-6), np.full(6, 50.0)):
        found = denoised_rows(table, 20.0, totals, expected, np.zeros(6, np.int64))
        assert found.shape == table.shape
        assert (found >= 0).all()
        assert found.sum(axis=1) == pytest.approx(np.ones(6))


def test_without_noise_denoising_changes_nothing() -> None:
    table = np.array([[6.0, 3.0, 1.0], [0.0, 0.0, 10.0]]) * 100
    found = denoised_rows(table, 1e-3, table.sum(axis=1), np.array([0.3, 0.15, 0.55]), np.array([2, 2]))
    assert found == pytest.approx(table / 1000, abs=1e-3)


@cache
def _release() -> Release:
    return libra.anonymize(with_values(300), epsilon=8.0, delta=1e-3, seed=1, attributes=OF_EVENTS)


def test_figures_survive_json_and_hold_no_value_of_a_single_case() -> None:
    (run,) = _release().figures
    for one in run.of_events:
        plain = json.loads(json.dumps(one.to_dict(), allow_nan=False))
        assert ReleasedEvents.from_dict(plain).to_dict() == one.to_dict()
    assert not any(name in json.dumps(run.to_dict(), ensure_ascii=False) for name in OWN_NAMES)
    texts = run.of_events[0].of.texts
    assert run.of_events[0].of.coding.atoms == tuple(range(len(texts))), "places among released texts, not among all"


@cache
def _document(folder: str) -> Plain:
    path = Path(folder) / "model.json"
    write_model(_release(), path)
    document: Plain = json.loads(path.read_text())
    return document


def _put(*path: Any, value: Any) -> Callable[[Plain], None]:
    def change(one: Plain) -> None:
        *before, last = path
        for key in before:
            one = one[key]
        one[last] = value

    return change


WRONG: dict[str, Callable[[Plain], None]] = {
    "a row less of values": lambda one: one.update(by_row=one["by_row"][1:]),
    "a column less of values": lambda one: one.update(by_row=[row[1:] for row in one["by_row"]]),
    "a column more of fills": lambda one: one.update(fills=[[*row, 1.0] for row in one["fills"]]),
    "a row less of fills": lambda one: one.update(fills=one["fills"][1:]),
    "a row less of next values": lambda one: one.update(following=one["following"][1:]),
    "next values in one row": lambda one: one.update(following=one["following"][0]),
    "not a number among values": _put("by_row", 0, 0, value=math.nan),
    "not a number among fills": _put("fills", 0, 1, value=math.nan),
    "infinitely many": _put("following", 0, 0, value=math.inf),
    "no number among counts": _put("of", "counts", 1, value=math.nan),
    "negative noise": _put("by_row_sd", value=-1.0),
    "no noise": _put("fills_sd", value=0.0),
    "noise that is no number": _put("following_sd", value="small"),
    "noise that is none": _put("by_row_sd", value=None),
    "a row out of range": _put("rows", 0, value=1000),
    "a row below nowhere": _put("rows", 0, value=-2),
    "half a row": _put("rows", 0, value=0.5),
    "a row too few": lambda one: one.update(rows=one["rows"][1:]),
    "a group out of range": _put("groups", 1, value=1000),
    "a group for nothing": _put("groups", 0, value=1),
    "a group too few": lambda one: one.update(groups=one["groups"][:-1]),
    "no groups": _put("groups", value=[]),
    "an attribute of cases": lambda one: one["of"]["attribute"].pop("level"),
    "of no known kind": lambda one: one["of"]["attribute"].update(kind="colour"),
    "text for a table": _put("by_row", value="many"),
    "a count too few": lambda one: one["of"].update(counts=one["of"]["counts"][1:]),
    "no table": lambda one: one.pop("fills"),
}


@pytest.mark.parametrize("attribute", [WHO, LEVEL], ids=lambda one: one.name)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_model_whose_figures_of_events_do_not_fit_together_is_refused(
    wrong: str, attribute: Attribute, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    document = copy.deepcopy(_document(str(tmp_path_factory.getbasetemp())))
    WRONG[wrong](document["figures"][0]["of_events"][OF_EVENTS.index(attribute)])
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="do not fit together"):
        read_model(tmp_path / "model.json")


@pytest.mark.parametrize(
    "change",
    [
        lambda runs: runs[1]["of_events"].pop(),
        lambda runs: runs[1]["of_events"].reverse(),
        lambda runs: runs[1]["of_events"][0]["of"]["attribute"].update(name="another"),
        lambda runs: runs[1].update(labels=runs[1]["labels"][:-1]),
    ],
)
def test_runs_with_other_attributes_or_labels_are_refused(
    change: Callable[[list[Plain]], None], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    document = copy.deepcopy(_document(str(tmp_path_factory.getbasetemp())))
    runs = document["figures"] = [document["figures"][0], copy.deepcopy(document["figures"][0])]
    (tmp_path / "model.json").write_text(json.dumps(document))
    read_model(tmp_path / "model.json")
    change(runs)
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="do not fit together"):
        read_model(tmp_path / "model.json")


def test_a_model_without_event_attributes_from_before_there_were_any_is_read(tmp_path: Path) -> None:
    release = libra.anonymize(with_values(300), epsilon=8.0, delta=1e-3, seed=1)
    write_model(release, tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    del document["figures"][0]["of_events"]
    (tmp_path / "model.json").write_text(json.dumps(document))
    assert read_model(tmp_path / "model.json").planned(50).n_cases == 50

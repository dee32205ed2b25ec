"""`libra anonymize` with the default mechanism: what it writes, prints, notes and certifies."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import libra
from libra import example
from libra._system.shell import libra_command
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.expected import Expected
from libra.privacy.accounting import epsilon_of_ledger
from libra.privacy.ledger import Ledger

from .conftest import Run, write_rare

SEEDED = "not private: seeded"
ENTRY = {"purpose", "mechanism", "sensitivity", "noise", "group", "shows", "mu", "share"}


def _released(run: Run, folder: Path, *words: str | Path, log: Path | None = None) -> dict[str, Any]:
    answer = run("anonymize", log or example.path(), "-o", folder / "out.csv", "--json", *words)
    assert answer.code == 0, answer.err
    document: dict[str, Any] = json.loads(answer.out)
    return document


def _warnings(document: dict[str, Any]) -> list[str]:
    """The notes but for those on steps, which every release of a modelled tail has."""
    usual = ("Step counts from rare cases have noise of about ", "Rare steps were left out ")
    return [note for note in document["notes"] if not note.startswith(usual)]


def test_json_keeps_its_contract(tmp_path: Path, run: Run) -> None:
    document = _released(run, tmp_path, "--epsilon", "0.5", "--delta", "1e-6")
    guarantee = document["guarantee"]
    assert document["mechanism"] == "libra"
    assert (guarantee["epsilon"], guarantee["delta"], guarantee["kind"], guarantee["seeded"]) == (0.5, 1e-6, "proved", False)
    assert guarantee["unit"] == "one case, added or removed"
    log = libra.read(tmp_path / "out.csv", allow_empty=True)
    assert document["released"] == {"cases": log.n_cases, "events": log.n_events, "variants": len(log.variants)}
    assert document["seconds"].keys() >= {"read", "aggregate", "privatize", "generate", "write"}
    assert all(second > 0 for second in document["seconds"].values())
    assert document["claimed"] is document["shortfall"] is None
    assert document["confidential"] == {}


def test_the_ledger_in_json_adds_up_to_no_more_than_was_asked_for(tmp_path: Path, run: Run) -> None:
    document = _released(run, tmp_path, "--epsilon", "0.7", "--delta", "1e-5")
    assert isinstance(document["ledger"], list)
    assert len(document["ledger"]) > 10
    assert all(entry.keys() == ENTRY for entry in document["ledger"])
    spent = epsilon_of_ledger(Ledger.from_dict(document), delta=1e-5)
    assert 0.6 < spent <= 0.7 + 1e-9


def test_the_default_is_one_and_1e_5(tmp_path: Path, run: Run) -> None:
    guarantee = _released(run, tmp_path)["guarantee"]
    assert (guarantee["epsilon"], guarantee["delta"]) == (1.0, 1e-5)


def test_every_flag_reaches_the_mechanism(tmp_path: Path, run: Run) -> None:
    numbers = ("--epsilon", "2", "--delta", "1e-4", "--gamma", "0.5", "--subsamples", "2", "--cases", "100")
    words = (
        "--tail",
        "drop",
        "--edges",
        "all",
        "--budget",
        "times=0.3",
        "--public-labels",
        "--time-zone",
        "Asia/Tokyo",
        "--resource-names",
    )
    document = _released(run, tmp_path, *numbers, *words, "--seed", "3")
    assert document["parameters"] == {
        "epsilon": 2.0,
        "delta": 1e-4,
        "tail": "drop",
        "edges": "all",
        "budget": {"control": 0.7, "times": 0.3},
        "labels": "public",
        "time_zone": "Asia/Tokyo",
        "gamma": 0.5,
        "subsamples": 2,
        "cases": 100,
        "most_cases": None,
        "attributes": [],
        "resource_names": True,
    }
    assert document["released"]["cases"] == 100
    assert document["subsampling"] == {"rate": 0.5, "times": 2, "most_cases": 1}
    same = libra.anonymize(example.path(), seed=3, **document["parameters"])
    assert libra.read(tmp_path / "out.csv").events.equals(same.log.events)


@pytest.mark.parametrize(("gamma", "subsamples"), [("0.05", "20"), ("0.2", "5"), ("1", "3"), ("0.1", "1"), ("0.01", "50")])
def test_however_cases_are_subsampled_what_is_released_stays_within_what_was_asked_for(
    gamma: str, subsamples: str, crowd: Path, run: Run
) -> None:
    document = _released(run, crowd.parent, "--gamma", gamma, "--subsamples", subsamples, log=crowd)
    assert document["subsampling"] == {"rate": float(gamma), "times": int(subsamples), "most_cases": 1}
    assert epsilon_of_ledger(Ledger.from_dict(document), delta=1e-5) <= 1 + 1e-9


def test_what_comes_out_is_a_valid_log_under_fresh_ids(tmp_path: Path, run: Run) -> None:
    assert run("anonymize", example.path(), "-o", tmp_path / "out.xes.gz").code == 0
    released, original = libra.read(tmp_path / "out.xes.gz"), libra.read(example.path())
    assert released.to_polars().columns == ["case:concept:name", "concept:name", "time:timestamp"]
    assert released.cases["concept:name"].to_list() == [f"case-{number}" for number in range(1, released.n_cases + 1)]
    assert set(released.activities) <= set(original.activities)
    inside = np.ones(released.n_events - 1, bool)
    inside[released.case_offsets[1:-1] - 1] = False
    assert (np.diff(released.timestamps)[inside] >= 0).all()
    assert 0.8 < released.n_cases / original.n_cases < 1.2
    assert (libra.measure(original, released).dfg_l1 or 0) < 0.4


def test_people_see_sizes_the_promise_and_what_it_does_not_cover(tmp_path: Path, run: Run) -> None:
    out, certificate = tmp_path / "out.csv", tmp_path / "c.json"
    answer = run("anonymize", example.path(), "-o", out, "--certificate", certificate, "--explain")
    log = libra.read(out)
    sizes = f"{log.n_cases:,} cases, {log.n_events:,} events, {len(log.variants):,} variants"
    assert f"Wrote {out} and {certificate}: {sizes}" in answer.out.splitlines()
    guarantee = json.loads(certificate.read_text(encoding="utf-8"))["guarantee"]
    assert guarantee["statement"] in answer.out.splitlines()
    assert "(1, 1e-05)-differential privacy" in guarantee["statement"]
    assert len(guarantee["assumptions"]) == 3
    told = (*guarantee["assumptions"], *guarantee["caveats"])
    points = [line for line in answer.out.splitlines() if line.startswith("- ")]
    assert points == [f"- {sentence}" for sentence in (*Libra().plan.explain(), *told)]
    assert any("The guarantee is weaker for a person with several cases" in caveat for caveat in guarantee["caveats"])
    assert "laim" not in answer.out
    (check,) = [line.partition(": ")[2] for line in answer.out.splitlines() if line.startswith("Anyone can check this: ")]
    assert run(*shlex.split(check.removeprefix(libra_command()))).code == 0


def test_six_lines_say_what_there_is_what_is_promised_what_is_not_in_it_how_far_it_is_off_what_to_ask_and_how_to_check(
    tmp_path: Path, run: Run
) -> None:
    out, certificate = tmp_path / "out.csv", tmp_path / "c.json"
    wrote, promised, lacks, off, asked, check = run(
        "anonymize", example.path(), "-o", out, "--certificate", certificate
    ).out.splitlines()
    assert wrote.startswith(f"Wrote {out} and {certificate}: ")
    assert promised.startswith("Promised: (1, 1e-05)-differential privacy for one case. There is a limit to how well anybody")
    assert promised.endswith(" right at most 73.2 % of the time.")
    how = " To release attributes, declare them with libra describe and name them with --attribute."
    absent = "resources, start times and any attribute or header of the original"
    assert lacks == f"In it: case ids made anew, activities, timestamps. Not in it: {absent}.{how}"
    assert off == _sentence(certificate)
    assert off.startswith("Expected error, from released figures alone: directly-follows counts about ")
    assert asked.startswith(
        "Before it goes out: Is one person one case? Two cases together are (2, 3.72e-05)-differentially private."
    )
    assert check.startswith("Anyone can check this: ")
    plain = run("anonymize", example.path(), "-o", out).out.splitlines()
    assert (len(plain), plain[2], plain[4]) == (6, lacks, asked)
    assert "--certificate FILE" in plain[5]


def _sentence(certificate: Path) -> str:
    return Expected.from_dict(json.loads(certificate.read_text(encoding="utf-8"))["expected"]).sentence


def test_individuals_are_not_asked_about(crowd: Path, run: Run) -> None:
    lines = run("anonymize", crowd, "-o", crowd.parent / "out.csv", "--individual", "case").out.splitlines()
    assert "-differential privacy for one individual. There is a limit" in lines[1]
    assert "one person one case" not in lines[4]


def test_explain_without_an_output_reads_and_writes_nothing(tmp_path: Path, run: Run) -> None:
    words = ("anonymize", tmp_path / "missing.csv", "--epsilon", "0.5", "--explain")
    answer = run(*words)
    plan = list(Libra(epsilon=0.5).plan.explain())
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [f"- {line}" for line in plan]
    with_json = run(*words, "--json")
    assert (with_json.code, json.loads(with_json.out)) == (0, {"plan": plan})
    assert list(tmp_path.iterdir()) == []


def test_explain_with_an_output_comes_first_and_goes_into_json(tmp_path: Path, run: Run) -> None:
    words = ("anonymize", example.path(), "-o", tmp_path / "out.csv", "--explain")
    lines = run(*words).out.splitlines()
    plan = list(Libra().plan.explain())
    assert lines[: len(plan)] == [f"- {line}" for line in plan]
    assert lines[len(plan)].startswith("Wrote ")
    assert json.loads(run(*words, "--json").out)["plan"] == plan
    assert "plan" not in _released(run, tmp_path)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--public-labels",), "The names of activities are not protected"),
        (("--tail", "drop"), "Those in kept variants are released, all others are left out."),
        (("--gamma", "0.5"), "One run on a subsample with 50 % of the cases"),
        (("--subsamples", "4"), "4 runs, each on a subsample with 25 % of the cases"),
        (("--subsamples", "3", "--gamma", "1"), "3 runs, each on all cases"),
        (("--tail", "nearest"), "no variant is invented"),
        (("--tail", "drop"), "All other cases are left out."),
        (("--budget", "times=0.2", "--public-labels"), "Times get 20 % of the budget"),
    ],
)
def test_explain_tells_what_was_chosen(words: tuple[str, ...], told: str, tmp_path: Path, run: Run) -> None:
    said = run("anonymize", tmp_path / "missing.csv", "--explain", *words).out
    assert told in said
    assert told not in run("anonymize", tmp_path / "missing.csv", "--explain").out


def test_with_the_defaults_there_is_nothing_to_warn_of(tmp_path: Path, run: Run) -> None:
    assert _warnings(_released(run, tmp_path)) == []


def test_a_weak_epsilon_is_warned_of_in_plain_words(tmp_path: Path, run: Run) -> None:
    assert _warnings(_released(run, tmp_path, "--epsilon", "3")) == []
    (note,) = _warnings(_released(run, tmp_path, "--epsilon", "5.5"))
    assert note.startswith("Epsilon 5.5 is a weak guarantee")
    assert "from even odds to at most 99.60 %" in note
    answer = run("anonymize", example.path(), "-o", tmp_path / "out.csv", "--epsilon", "5.5")
    assert f"note: {note}" in answer.err.splitlines()


def test_a_delta_above_one_over_the_released_cases_is_warned_of_and_what_is_advised_is_not(tmp_path: Path, run: Run) -> None:
    (note,) = _warnings(_released(run, tmp_path, "--delta", "1e-3"))
    assert re.match(r"Delta 0\.001 is too large for a log of \d,\d+ cases: ", note)
    advised = note.split("--delta ")[1].removesuffix(".")
    assert _warnings(_released(run, tmp_path, "--delta", advised)) == []


def _noise_of_steps(document: dict[str, Any]) -> list[int]:
    """The figures in the note on the noise of steps: the noise, and a count or one in how many; none without a note."""
    notes = [note for note in document["notes"] if note.startswith("Step counts from rare cases have noise of about ")]
    return [int(figure.replace(",", "")) for note in notes for figure in re.findall(r"about (?:1 in )?(\d[\d,]*)", note)]


@pytest.mark.parametrize("words", [("--epsilon", "1"), ("--epsilon", "4", "--gamma", "0.25"), ("--epsilon", "0.8")])
def test_how_far_rare_steps_can_be_believed_is_noted_from_the_noise_in_the_ledger(
    words: tuple[str, ...], tmp_path: Path, run: Run
) -> None:
    document = _released(run, tmp_path, *words)
    (noise,) = [entry["noise"] for entry in document["ledger"] if entry["purpose"] == "edges of rare cases, the first two uses"]
    about = round(noise / document["subsampling"]["rate"])
    assert about > 1
    assert _noise_of_steps(document) == [about, 50]
    (left_out,) = [note for note in document["notes"] if note.startswith("Rare steps were left out ")]
    assert re.search(r"about [\d.]+ % of the steps of rare cases", left_out)
    answer = run("anonymize", example.path(), "-o", tmp_path / "out.csv", *words)
    assert sum(line.startswith("note: Step counts from rare cases have noise of about ") for line in answer.err.splitlines()) == 1


def test_with_all_edges_the_note_says_below_which_count_one_may_be_false(tmp_path: Path, run: Run) -> None:
    document = _released(run, tmp_path, "--edges", "all")
    (noise,) = [entry["noise"] for entry in document["ledger"] if entry["purpose"] == "edges of rare cases, the first two uses"]
    assert _noise_of_steps(document) == [round(noise), 3 * round(noise)]
    assert not any("left out" in note for note in document["notes"])
    assert document["parameters"]["edges"] == "all"


def test_without_a_model_of_rare_cases_or_without_any_case_there_is_no_note_on_their_steps(
    tmp_path: Path, rare: Path, run: Run
) -> None:
    for words, log in ((("--tail", "drop"), None), (("--tail", "nearest"), None), (("--seed", "1"), rare)):
        assert _noise_of_steps(_released(run, tmp_path, *words, log=log)) == []


def test_individuals_are_protected_where_a_column_says_who_they_are_and_that_is_said(crowd: Path, run: Run) -> None:
    released = _released(run, crowd.parent, "--individual", "case", log=crowd)
    assert sum("The promise is for individuals as a whole" in note for note in released["notes"]) == 1
    assert released["guarantee"]["unit"] == "one individual, with all cases, added or removed"
    by_case = _released(run, crowd.parent, log=crowd)
    assert not any("Individuals" in note for note in by_case["notes"])
    assert by_case["guarantee"]["unit"] == "one case, added or removed"
    explained = run("anonymize", crowd, "--individual", "case", "--explain").out
    assert "differentially private for one individual, with all cases, added or removed" in explained


def test_a_seed_stamps_everything_not_private(tmp_path: Path, run: Run) -> None:
    document = _released(run, tmp_path, "--seed", "1", "--certificate", tmp_path / "c.json")
    certificate = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    for statement in (document, certificate):
        assert (statement["randomness"], statement["guarantee"]["seeded"]) == (SEEDED, True)
        assert statement["guarantee"]["statement"].startswith("Not private: seeded")
    assert any(SEEDED in note for note in document["notes"])
    assert libra.read(tmp_path / "out.csv").cases["concept:name"].str.starts_with("seeded-").all()


def test_the_certificate_holds_the_promise_the_assumptions_and_the_ledger(tmp_path: Path, run: Run) -> None:
    document = _released(run, tmp_path, "--certificate", tmp_path / "c.json")
    certificate = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert certificate.keys() == {
        *("document", "format", "version", "issued", "in_plain_words", "mechanism", "parameters", "contents", "guarantee"),
        *("cases", "claimed", "ledger", "subsampling", "spent", "expected", "randomness", "output", "checksum"),
    }
    assert certificate["document"] == "Libra certificate"
    for shared in ("version", "mechanism", "parameters", "guarantee", "ledger", "subsampling", "spent", "expected"):
        assert certificate[shared] == document[shared]
    assert [entry["purpose"] for entry in certificate["ledger"]].count("which labels are kept") == 2
    assert any("selected privately" in fact for fact in certificate["guarantee"]["assumptions"])
    content = (tmp_path / "out.csv").read_bytes()
    assert certificate["output"] == {"file": "out.csv", "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def test_a_reader_of_the_certificate_can_add_it_up(tmp_path: Path, run: Run) -> None:
    certificate = _released(run, tmp_path, "--epsilon", "0.8", "--delta", "1e-5")
    spent, budget = certificate["spent"], Libra(epsilon=0.8).plan.calibration.mu ** 2
    groups = {"all": 0.0, "kept": 0.0, "tail": 0.0}
    for entry in certificate["ledger"]:
        assert entry["share"] == pytest.approx((entry["sensitivity"] / entry["noise"]) ** 2 / budget)
        groups[entry["group"]] += entry["share"]
    assert spent["shares"] == pytest.approx(groups)
    assert spent["share"] == pytest.approx(groups["all"] + max(groups["kept"], groups["tail"]))
    assert spent["share"] == pytest.approx((spent["mu"] / spent["asked"]) ** 2)
    assert 0.5 < spent["share"] <= 1 + 1e-9
    assert (spent["delta"], spent["epsilon"]) == (1e-5, epsilon_of_ledger(Ledger.from_dict(certificate), delta=1e-5))
    assert spent["epsilon"] <= 0.8
    assert "only the more expensive of these two groups counts" in spent["explanation"]


def test_the_certificate_says_that_logs_are_meant_as_they_are_read(tmp_path: Path, run: Run) -> None:
    assumptions = _released(run, tmp_path)["guarantee"]["assumptions"]
    assert sum("log as Libra reads it" in assumption for assumption in assumptions) == 1


@pytest.mark.parametrize("per_variant", [1, 3])
def test_a_hopeless_log_gives_an_empty_one_and_a_note_that_follows_from_the_parameters(
    per_variant: int, tmp_path: Path, run: Run
) -> None:
    log = write_rare(tmp_path / "rare.csv", per_variant)
    document = _released(run, tmp_path, "--seed", "1", "--certificate", tmp_path / "c.json", log=log)
    assert document["released"] == {"cases": 0, "events": 0, "variants": 0}
    assert document["shortfall"] is None
    assert document["confidential"] == {}
    assert [note for note in document["notes"] if "empty" in note] == [
        "The anonymized log is empty: too little in this log stood out from the noise to make traces of. A variant "
        "needs about 54 cases to be kept. "
        "More cases or a larger --epsilon would help. A second run counts as well: epsilons and deltas add up."
    ]
    assert libra.read(tmp_path / "out.csv", allow_empty=True).n_cases == 0
    assert (tmp_path / "c.json").exists()


def test_an_empty_release_ends_well_and_says_so_to_people(tmp_path: Path, rare: Path, run: Run) -> None:
    answer = run("anonymize", rare, "-o", tmp_path / "out.xes", "--seed", "1")
    assert answer.code == 0
    assert answer.out.splitlines()[0] == f"Wrote {tmp_path / 'out.xes'}: 0 cases, 0 events, 0 variants"
    assert sum("The anonymized log is empty" in line for line in answer.err.splitlines()) == 1
    quiet = run("anonymize", rare, "-o", tmp_path / "out.xes", "--seed", "1", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_quiet_says_nothing(crowd: Path, run: Run) -> None:
    answer = run("anonymize", crowd, "-o", crowd.parent / "out.csv", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


@pytest.mark.parametrize("tail", ["model", "nearest", "drop"])
def test_only_the_model_invents_variants(tail: str, tmp_path: Path, run: Run) -> None:
    _released(run, tmp_path, "--tail", tail, "--seed", "1")
    unseen = libra.measure(example.path(), tmp_path / "out.csv").unseen_variant_share
    assert (unseen > 0) == (tail == "model")


@pytest.mark.parametrize("mechanism", ["travas", "prefix-laplace", "sacofa"])
def test_placeholders_are_named_with_what_is_in_it(mechanism: str, tmp_path: Path, run: Run) -> None:
    answer = run("anonymize", example.path(), "-o", tmp_path / "out.csv", "--mechanism", mechanism)
    (said,) = [line for line in answer.out.splitlines() if line.startswith("In it: ")]
    assert said == (
        "In it: case ids made anew and activities; timestamps are placeholders, a minute from event to event, and say nothing. "
        "Not in it: resources, start times and any attribute or header of the original."
    )

"""The published algorithm as a whole: what comes out, what never comes out, and the figures of the paper on its logs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from some_cases import log_of, variants_in

from libra.errors import UsageError
from libra.eventlog.log import EventLog, empty_log
from libra.eventlog.metadata import Attribute, Classifier, Extension, LogMetadata
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.eventlog.write import write
from libra.example.simulate import simulate
from libra.measures.edges import pair_edges
from libra.measures.emd import emd_freq, emd_time
from libra.mechanisms.cases import Cases
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.clip import clipping_threshold
from libra.mechanisms.libra2022.shortfall import explain_clipping
from libra.privacy.randomness import SEEDED, Randomness
from libra.privacy.renyi import laplace_epsilon

PublicLog: TypeAlias = Callable[[Path, str], EventLog]

COUNTS = {"abc": 120, "acb": 60, "ab": 45, "xyz": 3}
SECRETS = ("ZEBRA", "OKAPI", "GNU", "TAPIR", "IBEX", "LYNX", "NEWT", "EMU", "73519")


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


def test_no_original_time_comes_back() -> None:
    log = telling_log()
    release = Libra2022(delta=1e-2).anonymize(log, Randomness(seed=1))
    assert not np.isin(release.log.timestamps, log.timestamps // 1000 * 1000).any()


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("noise", [False, True])
def test_no_variant_comes_out_that_did_not_go_in(noise: bool, signed: bool) -> None:
    log = simulate()
    for alpha in (2, 10):
        mechanism = Libra2022(alpha=alpha, trace_noise=noise, signed_times=signed)
        release = mechanism.anonymize(log, Randomness(seed=alpha))
        assert release.log.n_cases > 500
        counts = log.variants.traces.filter(pl.col("count") >= release.confidential["clipping_threshold"])["trace"].to_list()
        frequent = {tuple(log.activities[code] for code in trace) for trace in counts}
        assert variants_in(release.log) <= frequent < variants_in(log)
        assert signed is not release.log.in_time_order


@pytest.mark.parametrize("make", [simulate, lambda: log_of(COUNTS, minutes=0), lambda: log_of(COUNTS, minutes=-30)])
def test_sorting_by_time_in_pandas_makes_no_new_variant(make: Callable[[], EventLog]) -> None:
    pytest.importorskip("pandas")
    log = make()
    released = Libra2022(delta=1e-2).anonymize(log, Randomness(seed=1)).log
    assert released.n_cases > 100
    table = released.to_pandas().sort_values("time:timestamp", kind="stable")
    traces = table.groupby("case:concept:name", sort=False)["concept:name"].agg(tuple)
    assert len(traces) == released.n_cases
    assert set(traces) <= variants_in(log)


def test_rare_variants_are_left_out_and_frequent_ones_stay() -> None:
    log = log_of({"abc": 200, "de": 40, "fg": 39})
    epsilon = laplace_epsilon(10, 2)
    delta = 2 * 3 / math.exp(40 * epsilon)
    assert clipping_threshold(epsilon, delta, 3) == 40
    released = Libra2022(delta=delta, trace_noise=False, subsamples=100).anonymize(log, Randomness(seed=1)).log
    assert variants_in(released) == {tuple("abc"), tuple("de")}


def test_the_release_has_about_as_many_cases_as_were_kept_where_all_is_relevant() -> None:
    log = log_of({"abc": 800, "acb": 400})
    released = Libra2022(trace_noise=False, omega=0).anonymize(log, Randomness(seed=1)).log
    assert released.n_cases == pytest.approx(1200, abs=4 * math.sqrt(20 * 1200 * 0.05 * 0.95))


def test_with_the_papers_number_of_subsamples_there_are_gamma_times_the_kept_cases() -> None:
    calls: list[Cases] = []

    def watch(cases: Cases, epsilon: float, random: Randomness) -> Cases:
        calls.append(cases)
        return cases

    log = log_of({"abc": 300, "acb": 100, "z": 5})
    release = Libra2022(gamma=0.1, delta=1e-3, subsamples="paper", anonymizer=watch).anonymize(log, Randomness(seed=1))
    assert len(calls) == 40
    assert release.claimed.to_dict()["subsamples"] == 40


@pytest.mark.parametrize("subsamples", [None, 7, "paper"])
def test_the_certificate_of_every_log_is_the_same(subsamples: Any) -> None:
    logs = [log_of({"abc": 300, "acb": 100, "z": 5}), log_of({"quite": 5000}), log_of({"rare": 1, "un": 2}), telling_log()]
    releases = [Libra2022(subsamples=subsamples).anonymize(log, Randomness()) for log in logs]
    assert releases[2].log.n_cases == 0 < releases[0].log.n_cases
    certificates = [release.certificate() | {"issued": "today"} for release in releases]
    assert all(certificate == certificates[0] for certificate in certificates)
    assert json.loads(json.dumps(certificates[0], allow_nan=False)) == certificates[0]
    assert certificates[0]["claimed"]["subsamples"] == {None: 20, 7: 7, "paper": None}[subsamples]


def test_the_anonymizer_is_called_once_a_subsample_with_epsilon_and_the_clipped_cases() -> None:
    calls: list[tuple[Cases, float]] = []
    randomness = Randomness(seed=1)

    def first_of_each(cases: Cases, epsilon: float, random: Randomness) -> Cases:
        assert random is randomness
        calls.append((cases, epsilon))
        return cases.take(np.arange(min(len(cases), 1)))

    log = log_of({"abc": 300, "acb": 100, "z": 5})
    release = Libra2022(alpha=3, b=1.5, gamma=0.2, subsamples=12, anonymizer=first_of_each).anonymize(log, randomness)
    assert len(calls) == 12
    assert {epsilon for _, epsilon in calls} == {laplace_epsilon(3, 1.5)}
    assert {variant for cases, _ in calls for variant in cases.variant.tolist()} == {0, 1}
    assert np.mean([len(cases) for cases, _ in calls]) == pytest.approx(80, abs=10)
    assert release.log.n_cases == 12
    assert set(release.log.timestamps) <= set(log.timestamps)
    assert release.certificate()["parameters"]["anonymizer"] == "first_of_each"
    assert any("another anonymizer" in caveat for caveat in release.guarantee.caveats)


def test_the_default_noise_is_that_of_epsilon_alpha() -> None:
    log = log_of({"ab": 3000}, minutes=100_000)
    for alpha in (2, 100):
        mechanism = Libra2022(alpha=alpha, gamma=1, subsamples=1, trace_noise=False, omega=0)
        released = mechanism.anonymize(log, Randomness(seed=1)).log
        minutes = released.directly_follows.step_micros / 60_000_000 - 100_000
        assert released.n_cases == 3000
        assert np.abs(minutes).mean() * laplace_epsilon(alpha, 2) == pytest.approx(1, rel=0.08)


def test_omega_reaches_the_choice_of_relevant_cases() -> None:
    log = log_of({"abc": 900, "acb": 300})
    sizes = [Libra2022(trace_noise=False, omega=omega).anonymize(log, Randomness(seed=1)).log.n_cases for omega in (0, 1e9)]
    assert sizes[0] > 1000
    assert sizes[1] < 100


def test_trace_noise_can_be_switched_off() -> None:
    log = log_of({"abc": 400}, minutes=100_000)
    whole = Libra2022(gamma=1, subsamples=1, trace_noise=False, omega=0).anonymize(log, Randomness(seed=2))
    assert whole.log.n_cases == 400
    assert any("switched off" in caveat for caveat in whole.guarantee.caveats)
    noisy = [Libra2022(gamma=1, subsamples=1, omega=0).anonymize(log, Randomness(seed)).log.n_cases for seed in range(8)]
    assert len(set(noisy)) > 2


def test_the_same_seed_gives_the_same_log_and_another_seed_another() -> None:
    log = log_of(COUNTS)
    one, again, other = (Libra2022(delta=1e-2).anonymize(log, Randomness(seed)) for seed in (1, 1, 2))
    assert one.log.equals(again.log)
    assert not one.log.equals(other.log)
    assert one.seeded
    assert one.certificate()["randomness"] == SEEDED
    assert one.log.metadata.attributes == (Attribute("privacy", "string", SEEDED),)


def test_the_operating_system_gives_another_log_each_time() -> None:
    log = log_of(COUNTS)
    one, other = (Libra2022(delta=1e-2).anonymize(log, Randomness()) for _ in range(2))
    assert not one.log.equals(other.log)
    assert not one.seeded
    assert one.certificate()["randomness"] == "operating system"
    assert one.log.metadata == LogMetadata()


def test_progress_counts_the_subsamples() -> None:
    told: list[tuple[int, int]] = []
    Libra2022(subsamples=3).anonymize(log_of(COUNTS), Randomness(seed=1), lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_empty_release_says_which_parameters_would_have_kept_something() -> None:
    log = log_of({"abc": 25, "acb": 10, "z": 5})
    release = Libra2022(delta=1e-4).anonymize(log, Randomness())
    assert release.log.n_cases == 0
    assert release.confidential == {"clipping_threshold": 26, "needed_threshold": 25}
    assert release.shortfall is not None
    assert "26" in release.shortfall
    assert "25" in release.shortfall
    suggested = suggestions(release.shortfall)
    assert set(suggested) == {"b", "delta"}
    for name, value in suggested.items():
        again = Libra2022(subsamples=200, trace_noise=False, **{name: value}).anonymize(log, Randomness(seed=1))  # type: ignore[arg-type]
        assert again.confidential["clipping_threshold"] <= 25
        assert again.log.n_cases > 0
        assert again.shortfall is None


def suggestions(text: str) -> dict[str, float]:
    """The parameters that an explanation names."""
    return {name: float(value) for name, value in re.findall(r"--(b|delta) (\S+)", text)}


@settings(max_examples=200)
@given(st.floats(1.01, 200), st.floats(0.05, 50), st.floats(1e-12, 0.5), st.integers(1, 10**6), st.data())
def test_what_an_empty_release_suggests_does_help(alpha: float, b: float, delta: float, k: int, data: st.DataObject) -> None:
    threshold = clipping_threshold(laplace_epsilon(alpha, b), delta, k)
    if threshold > 1:
        needed = data.draw(st.integers(1, threshold - 1))
        suggested = suggestions(explain_clipping(threshold, needed, k, alpha, b, delta))
        assert 0 < suggested["b"] < b
        assert clipping_threshold(laplace_epsilon(alpha, suggested["b"]), delta, k) <= needed
        if "delta" in suggested:
            assert delta < suggested["delta"] <= 0.1
            assert clipping_threshold(laplace_epsilon(alpha, b), suggested["delta"], k) <= needed


def test_a_release_whose_few_draws_are_all_deleted_says_so() -> None:
    log = log_of({"a": 30})
    empty = [Libra2022(subsamples=1).anonymize(log, Randomness(seed)) for seed in range(20)]
    explained = [release.shortfall for release in empty if not release.log.n_cases]
    assert explained
    assert all(text is not None and "--subsamples" in text for text in explained)
    assert all(release.shortfall is None for release in empty if release.log.n_cases)


def test_a_log_without_cases_gives_one_without_cases() -> None:
    release = Libra2022().anonymize(empty_log(log_of(COUNTS)), Randomness())
    assert release.log.n_cases == 0
    assert release.shortfall == "There was no case to begin with."


@pytest.mark.parametrize("scale", [1e20, 1e100])
def test_noise_beyond_measure_gives_an_empty_release_and_a_usable_hint(scale: float) -> None:
    release = Libra2022(b=scale).anonymize(log_of(COUNTS), Randomness())
    assert release.log.n_cases == 0
    assert release.shortfall is not None
    assert 0.1 < suggestions(release.shortfall)["b"] < 100


def test_more_subsamples_than_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.mechanisms.libra2022.algorithm.MOST_EVENTS", 700)
    log = log_of({"abc": 200})
    assert Libra2022(subsamples=20).anonymize(log, Randomness()).log.n_cases
    with pytest.raises(UsageError, match="--subsamples"):
        Libra2022(subsamples=40).anonymize(log, Randomness())


NO_NUMBERS = (math.nan, math.inf, -math.inf, "x", "10", True, None, -1, 0, [2])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("alpha", value) for value in (*NO_NUMBERS, 1, 0.5, 1e9)),
        *(("b", value) for value in NO_NUMBERS),
        *(("gamma", value) for value in (*NO_NUMBERS, 1.01, 1e-9)),
        *(("delta", value) for value in (*NO_NUMBERS, 1, 1.5)),
        *(("subsamples", value) for value in (0, -1, 2.0, 2.5, True, math.nan, "x", "Paper", [1], 10**7)),
        *(("omega", value) for value in (math.nan, math.inf, "x", True, None, -0.1)),
        *(("trace_noise", value) for value in (None, 0, "no")),
        *(("signed_times", value) for value in (None, 1, "yes")),
        ("anonymizer", "amun"),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        Libra2022(**{name: value})


@pytest.mark.parametrize("flag", [{"trace_noise": False}, {"signed_times": True}])
def test_flags_of_the_papers_anonymizer_do_not_go_with_another_one(flag: dict[str, bool]) -> None:
    with pytest.raises(UsageError, match="another one was given"):
        Libra2022(anonymizer=lambda cases, epsilon, random: cases, **flag)


# EMD Freq and EMD Time by alpha; None where the paper has N/A, an empty log
PAPER: dict[str, dict[int, tuple[int, int] | None]] = {
    "bpic12": {2: (1036, 19315), 10: (997, 19228), 100: (1005, 19224)},
    "bpic13": {2: (3847, 145272), 10: (3586, 132827), 100: (3492, 127752)},
    "urineweginfectie": {2: (120, 58576), 10: (95, 49005), 100: (81, 37381)},
    "sepsis": {2: None, 10: (123, 6218), 100: (123, 6218)},
    "hospital": {2: None, 10: (35, 2507), 100: (35, 2507)},
}


@pytest.fixture(scope="module")
def public_log() -> PublicLog:
    """The logs of the paper, each read once; of bpic12 the paper took completed events only."""

    @cache
    def of(folder: Path, name: str) -> EventLog:
        return read(folder / f"{name}.xes.gz", ReadOptions(lifecycle_keep=("complete",) if name == "bpic12" else ()))

    return of


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [2, 10, 100])
@pytest.mark.parametrize(
    ("name", "freq_within", "time_within"),
    [("bpic13", 0.05, 0.10), ("bpic12", 0.05, 0.02), ("urineweginfectie", 0.15, None)],
)
def test_the_papers_figures_come_out(
    shared_logs: Path, public_log: PublicLog, name: str, freq_within: float, time_within: float | None, alpha: int
) -> None:
    printed = PAPER[name][alpha]
    assert printed is not None
    freq, time = mean_emd(public_log(shared_logs, name), alpha)
    assert freq == pytest.approx(printed[0], rel=freq_within)
    if time_within is not None:
        assert time == pytest.approx(printed[1], rel=time_within)


def test_sepsis_is_as_good_as_empty_in_the_papers_measure(shared_logs: Path, public_log: PublicLog) -> None:
    freq, time = mean_emd(public_log(shared_logs, "sepsis"), 10)
    assert 122 <= freq <= 123.2
    assert time == pytest.approx(6218, abs=1)


def mean_emd(log: EventLog, alpha: float) -> tuple[float, float]:
    """EMD Freq and EMD Time, the mean over five seeds, in the setting that matches the paper's tables."""
    mechanism = Libra2022(alpha=alpha, delta=1e-3, trace_noise=False)
    edges = [pair_edges(log, mechanism.anonymize(log, Randomness(seed)).log) for seed in range(5)]
    return float(np.mean([emd_freq(pair) for pair in edges])), float(np.mean([emd_time(pair) for pair in edges]))


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER)
def test_with_trace_noise_releases_are_empty_where_the_papers_are_and_only_there(
    shared_logs: Path, public_log: PublicLog, name: str
) -> None:
    log = public_log(shared_logs, name)
    for alpha, printed in PAPER[name].items():
        for seed in range(3):
            release = Libra2022(alpha=alpha, delta=1e-3).anonymize(log, Randomness(seed))
            assert (release.log.n_cases > 0) is (printed is not None)
            assert (release.shortfall is None) is (printed is not None)
            assert variants_in(release.log) <= variants_in(log)

"""What is claimed of libra2022, what its parameters amount to, and the figures of the paper."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from some_cases import COUNTS, log_of, variants_in

from libra._system.randomness import SEEDED, Randomness
from libra.errors import UsageError
from libra.eventlog.cases import Cases
from libra.eventlog.log import EventLog
from libra.eventlog.options import no_progress
from libra.measures.edges import pair_edges
from libra.measures.utility import emd_freq, emd_time
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.claim import Libra2022Claim, accounting, default_subsamples
from libra.mechanisms.release import Release
from libra.privacy.guarantee import Guarantee
from libra.privacy.renyi import laplace_epsilon, subsampled_laplace_epsilon
from libra.reproduce import TABLE_1
from libra.reproduce.run import read_logs

NO_GUARANTEE = (
    "This is no guarantee: the procedure does not have the privacy claimed. Do not rely on it to release personal data."
)
ADD_UP = "they add up over all subsamples, whose number was computed from the log and is left out"
EXACT_COUNTS = "Clipping compares exact counts."
ONE_TRANSITION = "Trace noise is scaled for a case that touches one transition."
TRUE_TRACES = "Only what occurs in a subsample gets noise, and true traces are released, some of them several times."
SWITCHED_OFF = "Trace noise was switched off: how often a variant occurs is blurred by sampling and by the choice of relevant"
REAL_CASES = "Each case released is a real one, its start moved by some days and its steps by some minutes."
BOTH_SPEND = "Control flow and times both use up privacy in each subsample; one release for each subsample is counted."
UNKNOWN = "The subsamples went through another anonymizer. What it reveals is not known here."
ONE_ORDER = "The figure is a Renyi divergence at one order. It is not an epsilon of (epsilon, delta)-differential privacy."
SEVERAL_CASES = "A person may have several cases in this log. They are not protected together."


def unchanged(cases: Cases, epsilon: float, random: Randomness) -> Cases:
    """An anonymizer that does nothing."""
    return cases


def released(**parameters: Any) -> Release:
    """The release of a small log."""
    return Libra2022(**parameters).anonymize(log_of(COUNTS), Randomness())


def test_the_statement_is_a_claim_of_its_authors_and_no_guarantee() -> None:
    guarantee = released().guarantee
    assert guarantee.statement == (
        "As claimed by its authors, by their equations with a misprint corrected: Renyi epsilon' = 0.1452 at order 10 for 20 "
        f"subsamples together (the paper prints 0.37). {NO_GUARANTEE}"
    )
    assert (guarantee.kind, guarantee.epsilon, guarantee.delta) == ("claimed", None, None)
    assert guarantee.unit == "one case, added or removed"
    assert guarantee.source.startswith("G. Elkoumy and M. Dumas: Libra: High-Utility Anonymization of Event Logs")
    assert guarantee.source.endswith("ICPM 2022")
    assert guarantee.assumptions == (
        "the activity labels are public",
        "each person has one case, and cases are independent",
        "this is the only release of the log",
    )


@pytest.mark.parametrize(("alpha", "printed"), [(2, "0.04"), (10, "0.37"), (100, "4.7")])
def test_what_the_paper_prints_stands_beside_the_figure_for_its_parameters(alpha: float, printed: str) -> None:
    for parameters in ({}, {"delta": 1e-3}, {"trace_noise": False}, {"gamma": 0.05, "subsamples": 20}):
        assert f" (the paper prints {printed}). " in released(alpha=alpha, **parameters).guarantee.statement


@pytest.mark.parametrize(
    "parameters",
    [{"alpha": 10.5}, {"alpha": 3}, {"gamma": 0.1}, {"gamma": 0.051}, {"b": 2.5}, {"subsamples": 19}, {"subsamples": "paper"}],
)
def test_the_paper_prints_nothing_for_other_parameters(parameters: dict[str, Any]) -> None:
    statement = released(**parameters).guarantee.statement
    assert "prints" not in statement
    assert "0.37" not in statement
    assert statement.endswith(NO_GUARANTEE)


def test_a_number_of_subsamples_that_the_paper_also_has_stays_withheld_where_it_comes_from_the_log() -> None:
    release = Libra2022(subsamples="paper").anonymize(log_of({"abc": 400}), Randomness())
    assert release.to_dict()["claimed"]["subsamples"] == 20
    assert release.guarantee.statement == (
        "As claimed by its authors, by their equations with a misprint corrected: Renyi epsilon 0.007258 at order 10 for each "
        f"subsample; {ADD_UP}. {NO_GUARANTEE}"
    )


def test_order_and_number_of_subsamples_are_those_asked_for() -> None:
    statement = released(alpha=10.5, subsamples=7).guarantee.statement
    figure = Libra2022Claim(10.5, 2, 0.05, 1e-4, 7).renyi_epsilon
    assert f"Renyi epsilon' = {figure:.4g} at order 10.5 for 7 subsamples together. " in statement


@pytest.mark.parametrize("subsamples", [None, "paper"])
def test_of_another_anonymizer_nothing_is_claimed(subsamples: Any) -> None:
    release = released(anonymizer=unchanged, subsamples=subsamples)
    figure = (
        f"Renyi epsilon 0.007258 at order 10 for each subsample; {ADD_UP}"
        if subsamples
        else "Renyi epsilon' = 0.1452 at order 10 for 20 subsamples together"
    )
    assert release.guarantee.statement == (
        f"The equations of the paper give, for its own anonymizer: {figure}. Another one was used, for which nothing is claimed. "
        "This is no guarantee. Do not rely on it to release personal data."
    )
    assert not {"trace_noise", "signed_times"} & set(release.certificate()["parameters"])
    assert release.certificate()["claimed"]["noise_scale"] is None
    assert release.claimed is not None
    assert "reveals more" not in json.dumps(release.to_dict()) + release.claimed.comparison()


@pytest.mark.parametrize(
    ("parameters", "beginnings"),
    [
        ({}, (EXACT_COUNTS, ONE_TRANSITION, TRUE_TRACES, REAL_CASES, BOTH_SPEND, ONE_ORDER)),
        ({"signed_times": True}, (EXACT_COUNTS, ONE_TRANSITION, TRUE_TRACES, REAL_CASES, BOTH_SPEND, ONE_ORDER)),
        ({"trace_noise": False}, (EXACT_COUNTS, SWITCHED_OFF, REAL_CASES, ONE_ORDER)),
        ({"anonymizer": unchanged}, (EXACT_COUNTS, UNKNOWN, ONE_ORDER)),
    ],
)
def test_caveats_are_about_what_ran(parameters: dict[str, Any], beginnings: tuple[str, ...]) -> None:
    caveats = released(**parameters).guarantee.caveats
    assert len(caveats) == len(beginnings)
    assert all(caveat.startswith(beginning) for caveat, beginning in zip(caveats, beginnings, strict=True))


def test_caveats_say_how_bad_it_is() -> None:
    clipping, traces, _, times, *_ = released().guarantee.caveats
    assert "if it is there, whoever knows the other cases knows that this one is" in clipping
    assert "A case touches all transitions on its path, up to hundreds." in traces
    assert "does not hide whether a case is there" in times
    assert "the losses of a case add up" in times


def test_a_column_of_individuals_gets_a_caveat_and_a_note_without_any_count() -> None:
    log = log_of(COUNTS)
    log = replace(log, cases=log.cases.with_columns(person=log.cases["concept:name"]), individual="person")
    release = Libra2022().anonymize(log, Randomness())
    assert release.guarantee.caveats == (*released().guarantee.caveats, SEVERAL_CASES)
    assert release.notes == ("libra2022 protects cases, not persons: the column of the individual is ignored.",)
    assert released().notes == ()
    seeded = Libra2022().anonymize(log, Randomness(seed=1))
    assert seeded.notes == (f"This release is {SEEDED}. Whoever has the seed can draw the same again.", *release.notes)


def test_the_comparison_names_its_releases_and_is_not_a_figure_of_this_one() -> None:
    claimed = Libra2022Claim(alpha=10, b=1.5, gamma=0.05, delta=1e-4, subsamples=7)
    releases = "7 Laplace releases of scale 1.5 and sensitivity 1, each on a subsample"
    assert claimed.comparison() == (
        f"For comparison, not of this release: {releases}, would be "
        f"({claimed.pld_epsilon:.4g}, 0.0001)-differentially private. This release reveals more, and the figure has limits:"
    )
    assert claimed.to_dict()["comparison"] == {
        "meaning": "what textbook releases would cost; not a figure of this release, which reveals more",
        "releases": releases,
        "epsilon": claimed.pld_epsilon,
        "delta": 1e-4,
    }


def test_one_subsample_is_one() -> None:
    release = released(gamma=1.0)
    assert "at order 10 for 1 subsample. " in release.guarantee.statement
    assert release.to_dict()["claimed"]["comparison"]["releases"].startswith("1 Laplace release of scale 2 ")


def test_a_number_computed_from_the_log_is_the_custodians_alone() -> None:
    release = Libra2022(subsamples="paper").anonymize(log_of({"abc": 460}), Randomness())
    assert release.claimed is not None
    said = release.claimed.comparison()
    assert "All 23 add up to 0.1669. This is a figure of your log: keep it to yourself." in said
    assert "23" not in repr(release) + repr(release.claimed) + release.guarantee.statement


def test_the_figures_are_those_of_the_equations() -> None:
    figures = Libra2022Claim(alpha=10, b=2, gamma=0.05, delta=1e-4, subsamples=20).to_dict()
    comparison = figures.pop("comparison")
    assert figures == pytest.approx(
        {
            "renyi_order": 10,
            "renyi_epsilon_one": 0.0072577,
            "renyi_epsilon": 0.145154,
            "subsamples": 20,
            "noise_scale": 1 / laplace_epsilon(10, 2),
        },
        rel=1e-4,
    )
    assert round(comparison["epsilon"], 4) == 0.2996


def test_a_guarantee_says_all_it_holds_in_json() -> None:
    guarantee = Guarantee("proved", "s", "us", 1.0, 1e-5, "one person", ("a", "b"), ("c",))
    assert json.loads(json.dumps(guarantee.to_dict())) == {
        "kind": "proved",
        "statement": "s",
        "source": "us",
        "epsilon": 1.0,
        "delta": 1e-5,
        "unit": "one person",
        "assumptions": ["a", "b"],
        "caveats": ["c"],
    }
    assert guarantee.to_dict()["caveats"] == ["c"]


@pytest.mark.parametrize(("gamma", "subsamples"), [(0.05, 20), (1, 1), (0.7, 1), (0.3, 3), (1e-6, 1_000_000)])
def test_the_default_number_of_subsamples_gives_a_log_of_the_same_size(gamma: float, subsamples: int) -> None:
    assert default_subsamples(gamma) == subsamples


@pytest.mark.parametrize("gamma", [0, -1, 1e-7, 1.5, math.nan, True])
def test_a_rate_without_a_number_of_subsamples_is_refused(gamma: float) -> None:
    with pytest.raises(UsageError, match="gamma has to be a number from 1/1,000,000 to 1, not"):
        default_subsamples(gamma)


@pytest.mark.parametrize("alpha", [2, 10, 100, 2.5])
def test_the_noise_drawn_has_the_inverse_epsilon_as_its_scale(alpha: float) -> None:
    found = accounting(alpha, 2, 0.05, 1e-4, 20)
    assert found.noise_scale == 1 / found.laplace_epsilon
    assert found.pld_epsilon_drawn == subsampled_laplace_epsilon(found.noise_scale, 0.05, 20, 1e-4)
    assert found.renyi_epsilon == pytest.approx(20 * found.renyi_epsilon_one)


def test_a_small_alpha_is_not_the_stronger_setting_at_equal_noise() -> None:
    two, ten = accounting(2, 2, 0.05, 1e-4, 20), accounting(10, 2, 0.05, 1e-4, 20)
    assert two.renyi_epsilon < ten.renyi_epsilon
    assert two.epsilon_at_order > ten.epsilon_at_order
    assert two.pld_epsilon == ten.pld_epsilon
    assert two.pld_epsilon_drawn < ten.pld_epsilon_drawn


def test_every_step_towards_the_truth_lowers_the_figure() -> None:
    found = accounting(10, 2, 0.05, 1e-4, 20)
    figures = [found.epsilon_at_order, found.best_order_bound.epsilon, found.best_order_exact.epsilon, found.pld_epsilon]
    assert figures == sorted(figures, reverse=True)


@pytest.mark.parametrize(
    ("alpha", "b", "gamma", "delta", "subsamples"),
    [(2, 1e-100, 1, 1e-300, 1_000_000), (100_000, 1e100, 1e-12, 0.49, 1), (10, 2, 0, 1e-4, 20), (1.01, 1e-6, 0.05, 1e-4, 20)],
)
def test_extreme_parameters_give_a_document_without_infinities(
    alpha: float, b: float, gamma: float, delta: float, subsamples: int
) -> None:
    document = accounting(alpha, b, gamma, delta, subsamples).to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((1, 2, 0.05, 1e-4, 20), "alpha has to be"),
        ((10, 0, 0.05, 1e-4, 20), "b has to be"),
        ((10, 2, 1.5, 1e-4, 20), "gamma has to be"),
        ((10, 2, 0.05, 0, 20), "delta has to be"),
        ((10, 2, 0.05, 1e-4, 0), "subsamples has to be"),
    ],
)
def test_wrong_parameters_are_refused_by_the_names_of_the_paper(
    arguments: tuple[float, float, float, float, int], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        accounting(*arguments)


PublicLog: TypeAlias = Callable[[Path, str], EventLog]


@pytest.fixture(scope="module")
def public_log() -> PublicLog:
    """The logs of the paper, read as it did and each once."""

    @cache
    def of(folder: Path, name: str) -> EventLog:
        return read_logs([folder / f"{name}.xes.gz"], lambda _: nullcontext(no_progress))[name]

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
    printed = TABLE_1[name][alpha]
    freq, time = mean_emd(public_log(shared_logs, name), alpha)
    assert freq == pytest.approx(printed.emd_freq, rel=freq_within)
    if time_within is not None:
        assert time == pytest.approx(printed.emd_time, rel=time_within)


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
@pytest.mark.parametrize("name", ["bpic12", "bpic13", "hospital", "sepsis", "urineweginfectie"])
def test_with_trace_noise_releases_are_empty_where_the_papers_are_and_only_there(
    shared_logs: Path, public_log: PublicLog, name: str
) -> None:
    log = public_log(shared_logs, name)
    for alpha, printed in TABLE_1[name].items():
        for seed in range(3):
            release = Libra2022(alpha=alpha, delta=1e-3).anonymize(log, Randomness(seed))
            assert (release.log.n_cases > 0) is (printed.emd_freq is not None)
            assert (release.shortfall is None) is (printed.emd_freq is not None)
            assert variants_in(release.log) <= variants_in(log)

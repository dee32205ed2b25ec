"""The words that a data protection officer signs: each where it is true, and only there."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from some_cases import COUNTS, log_of

from libra.eventlog.cases import Cases
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.claim import Libra2022Claim
from libra.mechanisms.release import Release
from libra.privacy.guarantee import Guarantee
from libra.privacy.randomness import SEEDED, Randomness
from libra.privacy.renyi import laplace_epsilon

NO_GUARANTEE = (
    "This is no guarantee: the procedure does not have the privacy claimed. Do not release personal data on its strength."
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
        "This is no guarantee. Do not release personal data on its strength."
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
    assert release.notes == ("libra2022 protects cases, not persons: the column of the individual does not count.",)
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

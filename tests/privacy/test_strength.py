"""One function says what a guarantee is worth, and everything that speaks of it says the same."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from hypothesis import example as seen
from hypothesis import given
from hypothesis import strategies as st

import libra
from libra.certificate.page import page_of
from libra.engines.contract import CASE, Unit
from libra.errors import UsageError
from libra.example.simulate import simulate
from libra.mechanisms.amun import Amun
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.algorithm import notes_on_delta
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.claim import accounting
from libra.mechanisms.prefix_laplace import PrefixLaplace
from libra.mechanisms.sacofa import Sacofa
from libra.mechanisms.travas import Travas
from libra.privacy.guarantee import Guarantee, in_plain_words, strength, strength_of, suited
from libra.reporting.facts.warnings import of_the_promise
from libra.reporting.promise import promise_of

CALLED = re.compile(r"\b(protected|strong)\b", re.IGNORECASE)


@cache
def _certificate() -> dict[str, Any]:
    return {"output": {"file": "log.csv", "bytes": 1, "sha256": "0" * 64}} | libra.anonymize(simulate(cases=200)).certificate()


def _issued(epsilon: float, delta: float, cases: int, unit: Unit) -> tuple[Guarantee, dict[str, Any]]:
    """A guarantee, and a certificate that states it of so many cases."""
    promised = Guarantee.proved(epsilon, delta, unit)
    plain = in_plain_words(promised, seeded=False, cases=cases)
    stated = {"guarantee": promised.to_dict() | {"seeded": False}, "in_plain_words": plain, "cases": cases}
    return promised, _certificate() | stated


def _page(document: dict[str, Any]) -> str:
    page = page_of(document, [], "certificate.json")
    said = [page.sentence, *(" ".join((one.title, *one.text, *one.points)) for one in page.sections)]
    return " ".join((page.title, *said))


@given(
    epsilon=st.floats(0.01, 30),
    delta=st.floats(-12, -0.31).map(lambda power: 10**power),
    cases=st.integers(0, 10_000_000),
    unit=st.sampled_from((CASE, Unit(most_cases=1))),
)
@seen(epsilon=1.0, delta=1e-5, cases=700_000, unit=CASE)
@seen(epsilon=1.0, delta=1e-5, cases=10_000, unit=CASE)
@seen(epsilon=1.0, delta=1e-5, cases=10_001, unit=CASE)
@seen(epsilon=20.0, delta=1e-5, cases=50_000, unit=CASE)
def test_first_card_warnings_certificate_and_notes_agree(epsilon: float, delta: float, cases: int, unit: Unit) -> None:
    promised, document = _issued(epsilon, delta, cases, unit)
    worth = strength(epsilon, delta, cases, individuals=unit != CASE)
    assert promised.strength(cases) == strength_of(document) == worth
    promise, warnings, notes = promise_of(document), list(of_the_promise(document)), list(notes_on_delta(promised, cases))
    told = [one.text for one in warnings]
    card = " ".join((promise.answer, promise.sentence, promise.advice, promise.odds))
    on_page = _page(document)
    assert bool(worth.warning) == (cases * delta > 0.1)
    for said in (card, on_page):
        assert worth.warning in said
    assert ("Delta" in document["in_plain_words"]) == bool(worth.warning)
    assert notes == ([worth.warning] if worth.warning else [])
    assert (worth.warning in told) == bool(worth.warning)
    assert promise.holds == worth.protects
    assert ("strong" in promise.answer) == (worth.level == "strong")
    if cases * delta > 1:
        assert not worth.protects
        everything = " ".join((card, on_page, *told, *notes, *(one.title for one in warnings)))
        assert not CALLED.search(everything)
        assert "is too large for" in worth.warning
        assert promise.answer == "No: delta is too large for so many cases"


@pytest.mark.parametrize(
    ("cases", "level", "how"),
    [
        (100, "strong", ""),
        (1_000, "strong", ""),
        (1_001, "moderate", "is large for"),
        (10_000, "moderate", "is large for"),
        (10_001, "exposed", "is too large for"),
        (None, "strong", ""),
    ],
)
def test_delta_is_judged_by_the_number_of_released_cases(cases: int | None, level: str, how: str) -> None:
    found = strength(1.0, 1e-4, cases)
    assert found.level == level
    assert how in found.warning
    assert bool(found.warning) == bool(how)


@pytest.mark.parametrize(
    ("delta", "given_away"),
    [(0.49, "49 % of all cases"), (0.34, "34 % of all cases"), (0.1, "one case in 10"), (0.003, "one case in 334")],
)
def test_how_many_cases_a_delta_may_give_away_is_not_understated(delta: float, given_away: str) -> None:
    assert f"a release that gives {given_away} away outright would keep this promise" in strength(1.0, delta, 5_000).warning


@given(cases=st.integers(1, 10**9), delta=st.floats(1e-9, 0.499))
def test_the_delta_to_ask_for_needs_no_warning_and_what_suits_a_delta_does_not_either(cases: int, delta: float) -> None:
    warning = strength(1.0, delta, cases).warning
    if warning:
        advised = float(warning.rpartition("--delta ")[2].removesuffix("."))
        assert advised < delta
        assert strength(1.0, advised, cases).level == "strong"
    many = re.findall(r"up to ([\d,]+)", suited(delta, CASE))
    most = int(many[0].replace(",", "")) if many else 0
    assert not strength(1.0, delta, most).warning
    assert strength(1.0, delta, most + 1).warning


def test_individuals_are_spoken_of_where_the_promise_is_for_them() -> None:
    assert "a log of 500 cases, which may be of as many individuals" in strength(1.0, 0.01, 500, individuals=True).warning
    assert "individual" not in strength(1.0, 0.01, 500).warning
    assert "up to 10,000 individuals" in suited(1e-5, Unit(most_cases=1))


@pytest.mark.parametrize("delta", [0.5, 0.7])
def test_a_delta_of_a_half_or_more_is_refused_wherever_it_is_that_of_a_guarantee(delta: float) -> None:
    for asked in (
        lambda: Libra(delta=delta),
        lambda: Travas(delta=delta),
        lambda: PrefixLaplace(delta=delta, split_budget=True, prune=30, max_length=6),
        lambda: PrefixLaplace(delta=delta, times="model"),
        lambda: Sacofa(delta=delta, times="model"),
        lambda: accounting(10, 2, 0.05, delta, 20),
        lambda: libra.compare(simulate(cases=20), mechanisms="libra", epsilon=1.0, delta=delta, cache=False),
        lambda: libra.audit(simulate(cases=50), mechanism="libra2022", epsilon=1.0, delta=delta),
    ):
        with pytest.raises(UsageError, match=rf"delta has to be a number above 0 and below 0\.5, not {delta}"):
            asked()
    assert Libra(delta=0.49).delta == 0.49


def test_another_delta_than_that_of_a_guarantee_may_be_larger() -> None:
    assert Libra2022(delta=0.5).delta == 0.5  # of the clipping threshold
    assert Amun(guessing_advantage=0.6).guessing_advantage == 0.6

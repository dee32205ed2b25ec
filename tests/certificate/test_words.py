"""What is said to everybody is true: of the worst mechanism there is for an epsilon and a delta, and of Gaussian noise."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from libra.certificate.document import canonical
from libra.engines.contract import Unit
from libra.privacy.gaussian import mu_of, upper_tail
from libra.privacy.guarantee import FURTHER, Guarantee, beliefs, from_even_odds, in_plain_words, odds

GRID = [(epsilon, delta) for epsilon in (0.01, 0.1, 0.5, 1.0, 2.0, 5.0) for delta in (1e-9, 1e-5, 1e-3, 0.05)]


def _right(epsilon: float, delta: float) -> float:
    """The share in the sentence."""
    said = in_plain_words(Guarantee.proved(epsilon, delta), seeded=False)
    (percent,) = re.findall(r"right at most ([\d.]+) % of the time", said)
    return float(percent) / 100


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_nobody_guesses_better_than_the_sentence_says_and_the_worst_mechanism_nearly_allows_it(
    epsilon: float, delta: float
) -> None:
    """The worst one tells outright with probability delta, and otherwise answers truly with odds of e^epsilon."""
    truth = np.array([delta, (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon)), (1 - delta) / (1 + math.exp(epsilon)), 0])
    best = np.maximum(truth, truth[::-1]).sum() / 2
    assert best <= _right(epsilon, delta) < best + 0.0011


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_a_gaussian_release_of_that_guarantee_is_within_the_sentence(epsilon: float, delta: float) -> None:
    mu = mu_of(epsilon, delta)
    assert 1 - upper_tail(mu / 2) <= _right(epsilon, delta)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_the_odds_move_by_more_as_rarely_as_is_said(epsilon: float, delta: float) -> None:
    mu, said = mu_of(epsilon, delta), odds(epsilon, delta, "one case")
    rarely = re.findall(r"1 in ([\d,]+) or less it does so by more than ([\d.]+)\.$", said)
    if not rarely:
        assert f"up to {delta:g} it may give any one case away outright" in said
        return
    one_in, times = float(rarely[0][0].replace(",", "")), float(rarely[0][1])
    further = min((factor * epsilon for factor in FURTHER), key=lambda t: abs(t - math.log(times)))
    both = upper_tail(further / mu - mu / 2) + upper_tail(further / mu + mu / 2)
    assert both <= 1 / one_in <= 0.01 + 1e-12


def test_beliefs_are_bayes_rule_rounded_up() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        for before, after in beliefs(epsilon):
            prior, posterior = (float(cell.removesuffix(" %")) / 100 for cell in (before, after))
            exact = prior * math.exp(epsilon) / (prior * math.exp(epsilon) + 1 - prior)
            assert exact <= posterior < exact + 0.0011
        assert dict(beliefs(epsilon))["50 %"] == from_even_odds(epsilon)


def test_what_is_not_proved_not_private_or_too_weak_says_so_and_nothing_else() -> None:
    assert "Nothing is proved" in in_plain_words(Guarantee("claimed", "0.1", "its authors"), seeded=False)
    assert in_plain_words(Guarantee.proved(1.0, 1e-5), seeded=True).startswith("Not private: seeded")
    weak = in_plain_words(Guarantee.proved(50.0, 1e-5), seeded=False)
    assert "next to no limit" in weak
    assert "%" not in weak


def test_the_sentence_names_who_is_protected() -> None:
    said = in_plain_words(Guarantee.proved(1.0, 1e-5, Unit(most_cases=5)), seeded=False)
    assert "whether any one individual was in the original" in said
    assert said.count(".") == 2  # one sentence, and the point in its figure


@pytest.mark.parametrize(
    ("number", "written"),
    [  # from RFC 8785, appendix B
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992, "9007199254740992"),
        (295147905179352830000, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (999999999999999700000, "999999999999999700000"),
        (1e21, "1e+21"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (333333333.3333332, "333333333.3333332"),
        (-0.0000033333333333333333, "-0.0000033333333333333333"),
        (1424953923781206.2, "1424953923781206.2"),
    ],
)
def test_numbers_are_written_as_the_standard_says(number: float, written: str) -> None:
    assert canonical(number) == written

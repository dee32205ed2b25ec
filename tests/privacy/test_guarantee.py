"""What is promised, in words: true, complete, and never more than that."""

from __future__ import annotations

import json
import math
import re

import pytest

from libra.engines.contract import CASE, Unit
from libra.errors import UsageError
from libra.privacy.guarantee import Guarantee, from_even_odds, several_cases


def test_a_unit_says_whom_it_protects() -> None:
    assert CASE.statement() == "one case, added or removed"
    assert Unit(most_cases=1).statement() == Unit(most_cases=20).statement() == "one individual, with all cases, added or removed"


@pytest.mark.parametrize("most_cases", [0, -1, 2.0, True])
def test_an_individual_without_a_whole_number_of_cases_is_refused(most_cases: int) -> None:
    with pytest.raises(UsageError, match="cases of an individual"):
        Unit(most_cases=most_cases)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.7, 1.0, 2.5, 8.0, 40.0])
def test_the_factor_in_the_statement_is_not_below_the_true_one(epsilon: float) -> None:
    said = Guarantee.proved(epsilon, 1e-6).statement
    found = re.search(r"more than (e\^)?([0-9.e+]+) times", said)
    assert found is not None
    factor = math.exp(float(found[2])) if found[1] else float(found[2])
    assert math.exp(epsilon) * (1 - 1e-12) <= factor <= math.exp(epsilon) * 1.0011
    assert f"({epsilon:g}, 1e-06)-differential privacy" in said


def test_a_proved_guarantee_is_json_with_everything_in_it() -> None:
    plain = json.loads(json.dumps(Guarantee.proved(1.0, 1e-5, assumptions=("The labels are public.",)).to_dict()))
    assert (plain["kind"], plain["epsilon"], plain["delta"]) == ("proved", 1.0, 1e-5)
    assert plain["unit"] == "one case, added or removed"
    assert plain["assumptions"] == ["The labels are public."]
    assert any("several cases" in caveat for caveat in plain["caveats"])


def test_a_seeded_release_says_first_that_it_is_not_private() -> None:
    assert Guarantee.proved(1.0, 1e-5, seeded=True).statement.startswith("Not private: seeded")
    assert "eeded" not in Guarantee.proved(1.0, 1e-5).statement


def test_several_cases_of_a_person_are_a_caveat_only_where_the_unit_is_a_case() -> None:
    assert not any("several cases" in caveat for caveat in Guarantee.proved(1.0, 1e-5, Unit(most_cases=3)).caveats)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-5), (5.0, 1e-3)])
def test_what_two_cases_of_a_person_are_promised_follows_by_going_one_case_at_a_time(epsilon: float, delta: float) -> None:
    """P(D2) <= e^epsilon P(D1) + delta, and P(D1) <= e^epsilon P(D0) + delta."""
    found = re.search(r"Two cases together are \(([^,]*), ([^)]*)\)-", several_cases(epsilon, delta))
    assert found is not None
    assert float(found[1]) == pytest.approx(2 * epsilon)
    two = math.exp(epsilon) * delta + delta
    assert two <= float(found[2]) <= 1.001 * two
    assert two == pytest.approx(delta * math.expm1(2 * epsilon) / math.expm1(epsilon))


def test_where_two_cases_have_no_protection_left_that_is_said() -> None:
    assert several_cases(20.0, 1e-5).endswith("For two cases together this promises nothing.")


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 0.5, 1.0, 2.0, 5.0, 6.0, 10.0, 13.0])
def test_even_odds_become_no_more_than_is_said(epsilon: float) -> None:
    said, true = float(from_even_odds(epsilon).removesuffix(" %")), 100 / (1 + math.exp(-epsilon))
    assert true <= said < 100
    assert said - true < min(0.1, 0.1 * (100 - true))

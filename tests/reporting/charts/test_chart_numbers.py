"""How figures are written: short, and never rounded into a statement that is not true."""

# ruff: noqa: RUF001  minus signs and dashes are what is tested

from __future__ import annotations

import re
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.reporting.numbers import count, date, duration, number, share, signed_share

UNIT = {"s": 1.0, "min": 60.0, "h": 3600.0, "day": 86400.0, "days": 86400.0, "year": 31557600.0, "years": 31557600.0}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0 %"),
        (1e-9, "< 0.1 %"),
        (0.00099, "< 0.1 %"),
        (0.001, "0.10 %"),
        (0.0038, "0.38 %"),
        (0.00996, "1.0 %"),
        (0.038, "3.8 %"),
        (0.0994, "9.9 %"),
        (0.0996, "10 %"),
        (0.126, "13 %"),
        (0.994, "99 %"),
        (0.996, "99.6 %"),
        (0.99949, "99.9 %"),
        (0.9997, "> 99.9 %"),
        (1.0, "100 %"),
        (1.001, "> 100 %"),
        (1.37, "137 %"),
        (12.5, "1,250 %"),
        (-0.038, "−3.8 %"),
    ],
)
def test_shares(value: float, said: str) -> None:
    assert share(value) == said


@given(st.floats(0, 1))
def test_no_share_is_called_nothing_or_all_unless_it_is(value: float) -> None:
    assert (share(value) == "0 %") == (value == 0)
    assert (share(value) == "100 %") == (value == 1)


@given(st.floats(0.001, 0.999))
def test_a_share_is_right_to_half_a_digit(value: float) -> None:
    said = float(share(value).removesuffix(" %"))
    assert abs(said - 100 * value) <= max(0.05 * 100 * value, 0.1) + 1e-9


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0 %"),
        (0.12, "+12 %"),
        (-0.031, "−3.1 %"),
        (-1.0, "−100 %"),
        (-0.9997, "−99.9 %"),
        (3.0, "+300 %"),
        (-1e-5, "≈ 0 %"),
    ],
)
def test_changes_have_a_sign(value: float, said: str) -> None:
    assert signed_share(value) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.042, "0.042 s"),
        (35, "35 s"),
        (59.7, "1 min"),
        (60, "1 min"),
        (252, "4.2 min"),
        (3599, "1 h"),
        (11160, "3.1 h"),
        (86399, "1 day"),
        (86400, "1 day"),
        (216000, "2.5 days"),
        (86400 * 123.4, "123 days"),
        (86400 * 364.4, "364 days"),
        (86400 * 365, "1 year"),
        (86400 * 365.25, "1 year"),
        (5.7e7, "1.8 years"),
        (-90, "−1.5 min"),
    ],
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@given(st.floats(1.0, 1e11))
def test_a_duration_is_right_to_five_per_cent_and_in_a_unit_that_suits(seconds: float) -> None:
    value, unit = duration(seconds).split(" ")
    read = float(value.replace(",", ""))
    assert read * UNIT[unit] == pytest.approx(seconds, rel=0.05)
    assert read >= 1
    assert (unit in ("day", "year")) == (read == 1 and UNIT[unit] >= 86400)


@given(st.floats(1e-6, 1e9))
def test_a_number_is_right_to_three_digits(value: float) -> None:
    assert float(number(value).replace(",", "")) == pytest.approx(value, rel=5.1e-3)
    assert re.fullmatch(r"[\d,.]+(e-\d+)?", number(value))


def test_counts_and_dates() -> None:
    assert [count(n) for n in (0, 999, 1234, 1_000_000, -5)] == ["0", "999", "1,234", "1,000,000", "−5"]
    assert max(len(said(1e300)) for said in (count, share, signed_share, number, duration)) < 20
    assert date(datetime(2013, 11, 7, 23, 59)) == "2013-11-07"


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), float("-inf")])
def test_what_is_no_figure_is_a_dash(value: float | None) -> None:
    assert {count(value), share(value), signed_share(value), number(value), duration(value)} == {"–"}


def test_what_rounds_to_nothing_has_no_sign() -> None:
    assert (count(-0.2), duration(-0.0), number(-0.0)) == ("0", "0 s", "0")

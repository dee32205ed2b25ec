"""What a certificate says of the expected error is well formed, on the page, and no part of the promise."""

from __future__ import annotations

from typing import Any

import pytest
from some_certificates import PROVED, all_checks, changed, document

from libra.certificate.document import why_invalid
from libra.certificate.page import html_of, page_of
from libra.certificate.verify import self_checks
from libra.mechanisms.libra.expected import Expected


@pytest.mark.parametrize("name", PROVED)
def test_every_certificate_of_libra_says_what_error_to_expect(name: str) -> None:
    found = document(name)
    assert Expected.from_dict(found["expected"]).to_dict() == found["expected"]
    (check,) = (check for check in self_checks(found) if check.name == "expected")
    assert check.ok


def test_mechanisms_that_claim_something_expect_nothing() -> None:
    assert "expected" not in document("libra2022")
    assert why_invalid(changed(document("libra2022"), ("expected",), document("libra")["expected"])) is not None


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("dfg_l1", "likely"), -0.1),
        (("dfg_l1", "highest"), None),
        (("dfg_l1",), {"likely": 0.1}),
        (("drowned",), "no"),
        (("dfg_tv",), 0.1),
        (("edge_duration_w1_log",), "a factor of two"),
    ],
)
def test_what_is_not_well_formed_departs_from_the_schema(place: tuple[str, ...], value: Any) -> None:
    assert why_invalid(changed(document("libra"), ("expected", *place), value)) is not None


@pytest.mark.parametrize(
    ("place", "value"),
    [(("dfg_l1", "likely"), 5.0), (("dfg_l1", "lowest"), 3.0), (("dfg_l1", "highest"), 0.0), (("worse_than_empty",), True)],
)
def test_figures_that_contradict_each_other_are_found(place: tuple[str, ...], value: Any) -> None:
    other = changed(document("libra"), ("expected", *place), value)
    assert [check.name for check in self_checks(other) if not check.ok] == ["expected"]


def test_a_certificate_of_an_earlier_version_needs_no_expected_error() -> None:
    found = {name: value for name, value in document("libra").items() if name != "expected"}
    assert why_invalid(found) is None


def test_the_page_says_it_and_that_a_release_is_worse_than_none() -> None:
    found = document("libra")
    sentence = Expected.from_dict(found["expected"]).sentence
    assert sentence in html_of(page_of(found, all_checks(found), "certificate.json"))
    hopeless = {"likely": 1.2, "lowest": 0.6, "highest": 2.4}
    page = page_of(changed(found, ("expected", "dfg_l1"), hopeless), [], "certificate.json")
    assert "probably no better than an empty log" in html_of(page)

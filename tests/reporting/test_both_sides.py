"""Original and anonymized stand where the page says they do: a pair of small logs that differ in everything, column by column."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from parsed_page import ParsedPage, check_policy

from libra.eventlog.log import EventLog
from libra.reporting.build import report_of

MONDAY, SATURDAY = datetime(2024, 5, 6, 8, tzinfo=UTC), datetime(2025, 3, 1, 20, tzinfo=UTC)


def log_of(cases: int, start: datetime, trace: tuple[str, ...], minutes: tuple[int, ...]) -> EventLog:
    """Cases that all go the same way, a week apart, with steps that take longer in some cases than in most."""
    rows = [
        (case, label, start + timedelta(days=7 * case, minutes=sum(minutes[:place]) * (9 if case == 0 else 1)))
        for case in range(cases)
        for place, label in enumerate(trace)
    ]
    events = pl.DataFrame(rows, schema=["@case", "concept:name", "time:timestamp"], orient="row")
    return EventLog(events, pl.DataFrame({"concept:name": [f"c{case}" for case in range(cases)]}))


@pytest.fixture(scope="module")
def page() -> ParsedPage:
    """60 cases of Monday mornings that take ten minutes, anonymized as 50 of Saturday evenings that take an hour."""
    original = log_of(60, MONDAY, ("ask", "answer"), (10,))
    anonymized = log_of(50, SATURDAY, ("ask", "answer", "answer"), (60, 60))
    return check_policy(report_of(original, anonymized).html)


def rows_of(page: ParsedPage, caption: str) -> dict[str, list[str]]:
    """The cells of the table with this caption, by what each row begins with."""
    begin = page.html.index(f"<caption>{caption}")
    body = page.html[begin : page.html.index("</table>", begin)]
    rows = [re.findall(r"<t[hd][^>]*>(?:<bdi>)?(.*?)(?:</bdi>)?</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", body)]
    return {row[0]: [cell.replace("\u00a0", " ") for cell in row[1:]] for row in rows}


def test_the_table_of_steps_has_both_logs_in_their_columns(page: ParsedPage) -> None:
    table = rows_of(page, "Steps, the most frequent first")
    target, before, after, mean, mean_after, median, median_after, _ = table["ask"]
    assert (target, before, after) == ("answer", "60", "50")
    assert (median, median_after) == ("10 min", "1 h")
    assert (mean, mean_after) == ("11 min", "1.2 h")
    assert table["answer"][1:3] == ["0", "50"]


def test_variants_have_both_logs_in_their_columns(page: ParsedPage) -> None:
    said = page.section("variants")
    cells = [re.sub("<[^>]+>", " ", row).split() for row in re.findall("<tr>(.*?)</tr>", page.html)]
    assert ["1", "ask", "answer", "60", "0", "\u2212100", "%"] in cells
    assert ["ask", "answer", "answer", "0", "50", "never", "seen"] in cells
    assert "which 100 % of its cases follow and 0 % of the anonymized ones" in said.replace("\u00a0", " ")


def test_heat_maps_stand_in_their_order(page: ParsedPage) -> None:
    original, anonymized = (rows_of(page, f"Events by hour, {log}") for log in ("original", "anonymized"))
    assert (original["Mon"][8], original["Sat"][20]) == ("99 %", "0 %")
    assert (anonymized["Mon"][8], anonymized["Sat"][20]) == ("0 %", "33 %")
    assert page.html.index("Events by hour, original") < page.html.index("Events by hour, anonymized")
    assert page.html.index("Events over cases, original") < page.html.index("Events over cases, anonymized")


def test_histograms_and_medians_have_both_logs(page: ParsedPage) -> None:
    table = rows_of(page, "Events in a case")
    assert (table["2"], table["3"]) == (["100 %", "0 %"], ["0 %", "100 %"])
    assert "Median: 2 (original), 3 (anonymized)." in page.section("lengths")
    assert "Median: 10 min (original), 2 h (anonymized)." in page.section("lengths")


def test_each_map_is_that_of_its_log(page: ParsedPage) -> None:
    html = page.html
    section = html[html.index('<section id="maps"') :]
    first = section[section.index('aria-label="Process map of the original, overview"') :]
    second = first[first.index('aria-label="Process map of the anonymized log, overview"') :]
    first = first[: first.index('aria-label="Process map of the anonymized log, overview"')]
    assert "60 cases" in first
    assert "50 cases" not in first
    assert "50 cases" in second[: second.index("</svg>")]


def test_arrivals_have_both_logs(page: ParsedPage) -> None:
    table = rows_of(page, "Cases that begin, by")
    assert sum(int(before) for before, _ in table.values() if before.isdigit()) == 60
    assert sum(int(after) for _, after in table.values() if after.isdigit()) == 50


def test_tiles_show_the_figures_of_the_anonymized_log(page: ParsedPage) -> None:
    assert page.figures["sizes.original.cases"] == {"60"}
    assert page.figures["sizes.anonymized.cases"] == {"50"}
    assert "There are 50 cases where the original has 60: 17 % fewer." in page.section("kept").replace("\u00a0", " ")

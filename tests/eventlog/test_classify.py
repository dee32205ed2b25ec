"""What an analyst would say of a column, `classified` says of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from agreement import ReadPublic
from libra.eventlog.classify import FoundAttribute, classified
from libra.eventlog.doubts import doubt_about_people
from libra.eventlog.log import EventLog, FoundRole

CASES, STEPS = 200, ("register", "test", "test", "leave")
START = datetime(2024, 5, 6, 8, tzinfo=UTC)


def made(of_case: dict[str, list[Any]] | None = None, **of_event: list[Any]) -> dict[str, FoundAttribute]:
    """The columns of a log of cases with four events, or three where the number of the case is even."""
    rows = [(case, step) for case in range(CASES) for step in range(4 - (case % 2 == 0))]
    events = pl.DataFrame(
        {
            "@case": [case for case, _ in rows],
            "concept:name": [STEPS[step] for _, step in rows],
            "time:timestamp": [START + timedelta(days=case, minutes=17 * step * (case + 1)) for case, step in rows],
            **{name: [values[case][step] for case, step in rows] for name, values in of_event.items()},
        }
    )
    cases = pl.DataFrame({"concept:name": [f"c{case}" for case in range(CASES)], **(of_case or {})})
    return {found.attribute.name: found for found in classified(EventLog(events, cases))}


def on_first(values: list[Any]) -> list[list[Any]]:
    """Values that stand on the first event of each case."""
    return [[value, None, None, None] for value in values]


NUMBERS = [(case * 37) % 101 for case in range(CASES)]
LETTERS = ["abcde"[(case * 7) % 5] for case in range(CASES)]


@pytest.mark.parametrize(
    ("values", "kind", "role"),
    [
        (NUMBERS, "number", "case attribute"),
        ([str(number) for number in NUMBERS], "number", "case attribute"),
        ([number / 4 for number in NUMBERS], "number", "case attribute"),
        (LETTERS, "category", "case attribute"),
        ([case % 3 == 0 for case in range(CASES)], "boolean", "case attribute"),
        (["Y" if case % 3 else "n" for case in range(CASES)], "boolean", "case attribute"),
        ([int(case % 3 == 0) for case in range(CASES)], "boolean", "case attribute"),
        ([None if case % 3 else "yes" for case in range(CASES)], "category", "case attribute"),
        ([f"1980-01-{1 + case % 28:02}" for case in range(CASES)], "date", "case attribute"),
        ([datetime(1980, 1, 1 + case % 28, tzinfo=UTC) for case in range(CASES)], "date", "case attribute"),
        ([f"id {case}" for case in range(CASES)], "category", "identifier"),
        ([4711 + case for case in range(CASES)], "number", "identifier"),
        ([f"{case} has a cough since {case % 7} days" for case in range(CASES)], "category", "free text"),
        ([f"x{case // 2 if case < 150 else 0}" for case in range(CASES)], "category", "case attribute"),
        ([f"x{case if case < 150 else 0}" for case in range(CASES)], "category", "near-unique"),
        (["here"] * CASES, "category", "constant"),
        ([4 - (case % 2 == 0) for case in range(CASES)], "number", "of the trace"),
        (["v1" if case % 2 else "v2" for case in range(CASES)], "category", "of the trace"),
        ([START + timedelta(days=case) for case in range(CASES)], "date", "of the trace"),
        ([17.0 * (3 - (case % 2 == 0)) * (case + 1) for case in range(CASES)], "number", "of the trace"),
    ],
)
def test_what_a_column_of_cases_is(values: list[Any], kind: str, role: str) -> None:
    for name, found in (("case:x", made({"x": values})["case:x"]), ("x", made(x=on_first(values))["x"])):
        assert (found.attribute.name, found.attribute.kind, found.role) == (name, kind, role)
        assert found.attribute.level == "case"
        assert found.reason
        assert found.releasable == (role == "case attribute") == found.attribute.release


def digits(lowest: int, step: int) -> list[int]:
    """Forty different numbers."""
    return [lowest + step * (case % 40) for case in range(CASES)]


@pytest.mark.parametrize(
    ("name", "values", "kind", "said"),
    [
        ("Zip code", digits(100, 37), "category", "codes, by the name of the column; if they measure or count, write kind = "),
        ("PLZ", digits(10_115, 1_001), "category", "codes, by the name of the column"),
        ("Treatment code:2", digits(3, 1), "category", "codes, by the name of the column"),
        ("Bed nr", [f"{number}" for number in digits(3, 1)], "category", "codes, by the name of the column"),
        ("Area", digits(10_115, 1_001), "number", "CHECK THIS: every value has 5 digits; if these are codes, write kind = "),
        ("Area", [f"{number:05}" for number in digits(1, 997)], "category", ""),
        ("Born", digits(1_940, 1), "number", ""),
        ("Salary", digits(20_000, 500), "number", ""),
        ("Age", digits(20, 2), "number", ""),
        ("Amount", [number + 0.25 for number in digits(1_000, 101)], "number", ""),
        (
            "Lab",
            ["<5" if case % 20 == 7 else str(digits(3, 1)[case]) for case in range(CASES)],
            "category",
            'but not "<5"; for kind = ',
        ),
        (
            "Lab",
            ["<5" if case % 20 == 7 else f"{2 + case},5" for case in range(CASES)],
            "category",
            "CHECK THIS: nearly all values",
        ),
        (
            "Lab",
            ["n/a" if case % 4 == 1 else str(digits(3, 1)[case]) for case in range(CASES)],
            "category",
            'CHECK THIS: most values are numbers, but not "n/a"; for kind = "number", list such texts in missing',
        ),
        ("Lab", ["low" if case % 5 < 3 else str(digits(3, 1)[case]) for case in range(CASES)], "category", ""),
        ("Lab", [f"A{case % 50}" if case % 4 == 1 else str(digits(3, 1)[case]) for case in range(CASES)], "category", ""),
        ("Paid", [f"{1 + case % 28}.06.2015" for case in range(CASES)], "category", "CHECK THIS: looks like dates; for kind"),
        ("Paid", [f"06/{1 + case % 28:02}/2015" for case in range(CASES)], "category", "write them as YYYY-MM-DD"),
        (
            "Paid",
            [f"2015-06-{1 + case % 28:02}" if case % 9 else "?" for case in range(CASES)],
            "category",
            "other texts in missing",
        ),
        (
            "Cost",
            [f"1.{number:03},50" if number > 110 else f"{number},50" for number in digits(100, 1)],
            "category",
            'CHECK THIS: looks like numbers with thousands separators ("1.111,50"); for kind = "number", remove these separators',
        ),
        ("Version", [f"1.{1 + case % 30}.0" for case in range(CASES)], "category", ""),
        ("Id", [f"A{case}" if case % 20 == 7 else str(case) for case in range(CASES)], "category", ""),
    ],
)
def test_numbers_that_may_be_codes_and_categories_that_may_be_numbers(name: str, values: list[Any], kind: str, said: str) -> None:
    found = made({name: values})[f"case:{name}"]
    assert found.attribute.kind == kind
    assert said in found.reason
    assert ("codes" in found.reason or "CHECK" in found.reason) == bool(said)


def test_what_is_recorded_once_says_on_which_event() -> None:
    assert made(x=on_first(LETTERS))["x"].attribute.at == "register"
    assert made(x=[[letter] * 4 for letter in LETTERS])["x"].attribute.at is None
    gaps = [[letter, letter if case % 5 else None, letter, letter] for case, letter in enumerate(LETTERS)]
    assert (made(x=gaps)["x"].attribute.level, made(x=gaps)["x"].attribute.at) == ("case", None), "on nearly every event"
    elsewhere = [[None, letter, None, None] if case < 10 else [letter, None, None, None] for case, letter in enumerate(LETTERS)]
    found = made(x=elsewhere)["x"]
    assert (found.attribute.at, found.reason) == ("register", 'once per case, on "register" in most')
    assert found.hint == "without at, the first value counts wherever it stands"


def test_one_value_on_some_activities_only_is_of_events() -> None:
    """What is known at the end must not stand at the beginning of a released case."""
    ends = [[None, letter, letter, letter] for letter in LETTERS]
    flags = [["no", None, None, "yes" if case == 7 else "no"] for case in range(CASES)]
    found = made(x=ends, flag=flags, rare=[values if case % 3 == 0 else [None] * 4 for case, values in enumerate(ends)])
    for name in ("x", "rare"):
        assert (found[name].role, found[name].attribute.level, found[name].attribute.at) == ("event attribute", "event", None)
        assert found[name].reason == 'one value per case; only on "test", "leave"'
        assert found[name].hint == 'level = "case" would write it on all events of the case'
        assert found[name].releasable
    assert found["flag"].attribute.level == "event"
    assert found["flag"].reason == 'one value per case in most; only on "register", "leave"'
    assert found["x"].filled == pytest.approx(500 / 700)


def test_one_value_on_any_events_is_of_the_case_and_written_on_all() -> None:
    anywhere = [[letter if (case + step) % 3 else None for step in range(4)] for case, letter in enumerate(LETTERS)]
    seldom = [[letter if (case * 5 + step) % 13 == 0 else None for step in range(4)] for case, letter in enumerate(LETTERS)]
    for values in (anywhere, seldom):
        found = made(x=values)["x"]
        assert found.attribute.level == "case"
        assert found.reason == "one value per case; not on every event, but a release writes it on all events of the case"
    assert made(x=[[letter] * 4 for letter in LETTERS])["x"].reason == "one value per case"
    some = [[letter] * 4 if case % 3 else [None] * 4 for case, letter in enumerate(LETTERS)]
    assert made(x=some)["x"].reason == "one value per case", "on every event of the cases that have one"


GERMAN = """Oberarzt Hausarzt Fachärztin Fachaerztin Arzt Ärztin Einweiser Kürzel Kuerzel PersonalNr Personalnummer Personal-Nr.
    Krankenschwester Pfleger Pflegerin Krankenpfleger Personalkürzel OberarztID Physiotherapeutin Einweisender_Arzt Arzt-Kürzel
    """
NOBODY = (
    "Arztbrief Arztbriefdatum Arztkosten Pflegegrad Pflegestufe Länderkürzel Kürzel_Land Produkt_Kürzel Schwesternzimmer Station"
)


def test_german_words_for_people_are_known_by_their_ends() -> None:
    assert [name for name in GERMAN.split() if not doubt_about_people(name, of_numbers=False)] == []
    assert [name for name in NOBODY.split() if doubt_about_people(name, of_numbers=False)] == []
    numbers = ("Personalnummer", "PersonalNr", "Oberarzt", "Anzahl_Oberarzt")
    assert [bool(doubt_about_people(name, of_numbers=True)) for name in numbers] == [True, True, True, False]


def test_names_of_people_are_not_proposed() -> None:
    """A guarantee for cases does not protect employees."""
    people = [["abcde"[(case * 2 + step * step) % 5] for step in range(4)] for case in range(CASES)]
    other = [["abcde"[(case + step) % 5] for step in range(4)] for case in range(CASES)]
    numbers = [[100 + (case * 7 + step * step) % 31 for step in range(4)] for case in range(CASES)]
    yes_or_no = [[case % 3 == 0] * 4 for case in range(CASES)]
    named: dict[str, list[Any]] = {
        **dict.fromkeys(["Sachbearbeiter", "assigned_to_nurse", "E-Mail", "event User", "Changed by"], other),
        "Product name": other,
        "User type": other,
        "User ID": numbers,
        "Cost by user": numbers,
        "Doctor": yes_or_no,
    }
    for name, values in named.items():
        found = made(None, **{name: values})[name]
        assert found.releasable == (name in ("Product name", "User type", "Cost by user", "Doctor"))
        assert ("CHECK THIS: may name people, whom a guarantee for cases does not protect" in found.reason) != found.releasable
    for name in ("Patient", "Kunden-Nr", "client name", "Patient type", "Customer segment"):
        (found,) = made({name: LETTERS}).values()
        assert found.releasable == (name in ("Patient type", "Customer segment"))
        assert ("CHECK THIS: may say whose case it is; name it as individual" in found.reason) != found.releasable
    twins = made(None, **{"Terminal": people, "org:resource": [[f"who {one}" for one in values] for values in people]})
    assert (twins["Terminal"].reason, twins["Terminal"].releasable) == ('"org:resource" says the same in other words', False)
    assert twins["org:resource"].role == "event attribute"


def test_what_changes_within_cases_is_of_events() -> None:
    changing = [["abcde"[(case + step) % 5] for step in range(4)] for case in range(CASES)]
    other = [["abcde"[(case * 2 + step * step) % 5] for step in range(4)] for case in range(CASES)]
    found = made(None, **{"x": changing, "org:resource": other, "org:group": [["g" + letter] * 4 for letter in LETTERS]})
    assert (found["x"].role, found["x"].attribute.level, found["x"].values) == ("event attribute", "event", tuple("abcde"))
    assert found["org:resource"].role == "event attribute"
    assert found["org:resource"].releasable
    assert "released only if asked for by name" in found["org:resource"].reason, "employees"
    assert (found["org:group"].attribute.level, found["org:group"].releasable) == ("event", True)


def test_a_number_that_never_falls_is_a_counter() -> None:
    growing = [[None, number, number + 2, number + 2] for number in NUMBERS]
    found = made(x=growing, y=[list(reversed(values)) for values in growing])
    assert (found["x"].role, found["x"].attribute.counter) == ("counter", True)
    assert (found["y"].role, found["y"].attribute.counter) == ("event attribute", False)


def test_a_number_of_each_event_is_an_identifier() -> None:
    ids = [[f"e{case}_{step}" for step in range(4)] for case in range(CASES)]
    assert (made(x=ids)["x"].role, made(x=ids)["x"].reason) == ("identifier", "another value in nearly every event")


def test_columns_that_another_one_determines_say_which() -> None:
    found = made({"code": LETTERS, "name": [letter * 3 for letter in LETTERS], "vowel": [letter in "ae" for letter in LETTERS]})
    assert found["case:code"].role == "case attribute"
    assert (found["case:name"].role, found["case:name"].depends_on) == ("derived", "case:code")
    assert found["case:name"].reason == '"case:code" says the same in other words'
    assert (found["case:vowel"].role, found["case:vowel"].depends_on) == ("derived", "case:code")
    assert (found["case:name"].releasable, found["case:vowel"].releasable) == (False, True)


def test_what_the_activity_determines_is_not_released() -> None:
    found = made(x=[[step.upper() for step in STEPS]] * CASES, y=[[step == "test" for step in STEPS]] * CASES)
    assert [(one.role, one.depends_on, one.releasable) for one in found.values()] == [("derived", "concept:name", False)] * 2


def test_chance_is_no_dependence() -> None:
    rare = [case == 77 for case in range(CASES)]
    found = made({"number": NUMBERS, "rare": rare})
    assert found["case:rare"].role == "case attribute"


def test_bounds_and_values_are_seen_and_not_declared() -> None:
    found = made({"number": [20.5 + number for number in NUMBERS], "letter": LETTERS, "small": [n / 1000 for n in NUMBERS]})
    number, letter, small = found.values()
    assert (number.lowest, number.highest, number.attribute.decimals) == (0, 200, 1)
    assert (small.lowest, small.highest, small.attribute.decimals) == (0, 0.1, 3)
    assert letter.values == tuple("abcde")
    for one in found.values():
        assert (one.attribute.lowest, one.attribute.highest, one.attribute.values) == (None, None, None)


@pytest.mark.parametrize("as_text", [False, True])
def test_dates_without_a_time_of_day_are_seen_and_not_declared(as_text: bool) -> None:
    days = [START.replace(hour=0) + timedelta(days=case * 7 % 50) for case in range(CASES)]
    moments = [day + timedelta(hours=case % 3) for case, day in enumerate(days)]
    found = made({"day": [f"{day:%Y-%m-%d}" for day in days] if as_text else days, "moment": moments})
    assert [one.unit for one in found.values()] == ["days", None]
    assert {one.attribute.unit for one in found.values()} == {""}
    assert {one.attribute.kind for one in found.values()} == {"date"}


@pytest.mark.parametrize(("number", "decimals"), [(0.1, 1), (1 / 3, 9), (1e12 / 3, 2), (1e300, 0)])
def test_decimals_are_found_as_far_as_they_can_be_told(number: float, decimals: int) -> None:
    assert made({"x": [number * (1 + case % 50) for case in range(CASES)]})["case:x"].attribute.decimals == decimals


def test_odd_numbers_and_blank_texts_do_no_harm() -> None:
    odd = [[float("nan"), float("inf"), -float("inf"), 1.5][case % 4] for case in range(CASES)]
    found = made({"x": odd, "blank": [" "] * CASES, "some": ["" if case % 2 else "a b"[case % 3] for case in range(CASES)]})
    assert found["case:x"].attribute.kind == "number"
    assert "case:blank" not in found


def test_a_value_of_few_cases_is_not_released() -> None:
    found = made({"x": [LETTERS[case] if case < 9 else None for case in range(CASES)]})["case:x"]
    assert (found.role, found.releasable) == ("near-unique", False)
    found = made({"x": [case % 2 == 0 if case < 9 else None for case in range(CASES)]})["case:x"]
    assert (found.role, found.releasable, found.reason) == (
        "case attribute",
        False,
        "one value per case; in too few cases to learn from",
    )


def test_columns_that_play_a_role_are_none(small_log: EventLog) -> None:
    names = [found.attribute.name for found in classified(small_log)]
    assert sorted(names) == ["case:age", "case:insurance", "cost", "org:resource", "urgent"]
    roles = (FoundRole("case_id", ("cost", "urgent"), "given"),)
    log = EventLog(small_log.events, small_log.cases, roles=roles, individual="age", instances="events")
    assert [found.attribute.name for found in classified(log)] == ["case:insurance", "org:resource"]
    assert classified(EventLog(small_log.events.clear(), small_log.cases.clear())) == ()


ON_REGISTRATION = ("Age", "Diagnose", "InfectionSuspected", "DiagnosticBlood", "SIRSCriteria2OrMore", "Oligurie")


def test_the_public_logs_are_what_an_analyst_says(read_public: ReadPublic) -> None:
    sepsis = {one.attribute.name: one for one in classified(read_public("sepsis"))}
    assert sum(one.attribute.at == "ER Registration" for one in sepsis.values()) == 24
    assert {sepsis[name].role for name in ON_REGISTRATION} == {"case attribute"}
    assert {sepsis[name].role for name in ("CRP", "Leucocytes", "LacticAcid", "org:group")} == {"event attribute"}
    assert sepsis["lifecycle:transition"].role == "constant"
    bpic12 = {one.attribute.name: one for one in classified(read_public("bpic12"))}
    assert (bpic12["case:AMOUNT_REQ"].attribute.kind, bpic12["case:AMOUNT_REQ"].role) == ("number", "case attribute")
    assert (bpic12["case:REG_DATE"].role, bpic12["case:REG_DATE"].releasable) == ("of the trace", False)
    bpic13 = {one.attribute.name: one.role for one in classified(read_public("bpic13"))}
    assert (bpic13["impact"], bpic13["product"], bpic13["org:role"]) == ("case attribute", "case attribute", "event attribute")
    bpic20 = {one.attribute.name: one.role for one in classified(read_public("bpic20"))}
    assert (bpic20["case:id"], bpic20["id"], bpic20["case:BudgetNumber"]) == ("identifier", "identifier", "constant")

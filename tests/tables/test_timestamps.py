from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.errors import InputError
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.timestamps import looks_like_timestamps, read_timestamps

MORNING = datetime(2024, 5, 26, 8, 5, 9, tzinfo=UTC)


def place(row: int) -> str:
    return f"a.csv, line {row + 2}"


def read(values: list[str | None], options: ReadOptions | None = None) -> tuple[list[datetime | None], list[str]]:
    moments, notes = read_timestamps(pl.Series("when", values, pl.String), options or ReadOptions(), column="when", place=place)
    assert moments.dtype == UTC_MICROSECONDS
    return moments.to_list(), notes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-26T08:05:09Z", MORNING),
        ("2024-05-26T08:05:09.123456+00:00", MORNING.replace(microsecond=123456)),
        ("2024-05-26T10:05:09+02:00", MORNING),
        ("2024-05-26T10:05:09+0200", MORNING),
        ("2024-05-26T10:05:09,5+02", MORNING.replace(microsecond=500_000)),
        ("2024-05-26 08:05:09", MORNING),
        ("2024-05-26 08:05", MORNING.replace(second=0)),
        ("2024-05-26", MORNING.replace(hour=0, minute=0, second=0)),
        ("2024-05-26T24:00:00", datetime(2024, 5, 27, tzinfo=UTC)),
        ("20240526T0805", MORNING.replace(second=0)),
        ("20240526T080509Z", MORNING),
        ("20240526080509", MORNING),
        ("20240526", MORNING.replace(hour=0, minute=0, second=0)),
        ("2024/05/26 08:05:09", MORNING),
        ("26.05.2024 08:05:09", MORNING),
        ("26/05/2024 8:05:09 AM", MORNING),
        ("05/26/2024 08:05:09", MORNING),
        ("5/26/24 8:05:09 PM", MORNING.replace(hour=20)),
        ("26-05-2024 12:05:09 AM", MORNING.replace(hour=0)),
        ("26-05-2024 12:05:09 p.m.", MORNING.replace(hour=12)),
        ("26-May-2024 08:05:09", MORNING),
        ("26MAY2024:08:05:09", MORNING),
        ("26 mai 2024 08:05:09", MORNING),
        ("May 26, 2024 8:05:09 AM", MORNING),
        ("May 26, 2024, 8:05:09 AM", MORNING),
        ("Sun, 26 May 2024 08:05:09 GMT", MORNING),
        ("Sun May 26 10:05:09 CEST 2024", MORNING),
        ("2024-05-26T10:05:09+02:00[Europe/Berlin]", MORNING),
        ("  2024-05-26 08:05:09 ", MORNING),
    ],
)
def test_every_common_way_to_write_a_moment_is_read(text: str, expected: datetime) -> None:
    assert read([text])[0] == [expected]


@pytest.mark.parametrize(
    "text", ["n/a", "2024-02-30", "2024-05-26 25:00", "12:30", "3.5", "2024", "5", "26/26/2024", "2024-05-26 08:00 XYZ"]
)
def test_what_is_no_moment_is_refused_with_its_line_and_value(text: str) -> None:
    with pytest.raises(InputError) as error:
        read(["2024-05-06 08:00", None, text])
    assert str(error.value) == (
        f'a.csv, line 4: timestamp "{text}" cannot be read. '
        "Give the format with --timestamp-format, or drop such events with --drop-invalid."
    )


def test_a_format_is_suggested_where_the_very_first_time_cannot_be_read() -> None:
    """Dropping such events would leave out most of the log."""
    with pytest.raises(InputError) as error:
        read(["2024|05|06", "2024-05-06"])
    assert str(error.value) == 'a.csv, line 2: timestamp "2024|05|06" cannot be read. Give the format with --timestamp-format.'


def test_a_unit_is_suggested_for_small_numbers() -> None:
    with pytest.raises(InputError) as error:
        read(["1000", "2000"])
    assert str(error.value) == (
        'a.csv, line 2: timestamp "1000" cannot be read. '
        "Say --epoch-unit s, ms, us or ns if all times are Unix times, or give the format with --timestamp-format."
    )


def test_unreadable_moments_become_null_when_they_may_be_dropped() -> None:
    assert read(["2024-05-26T08:05:09Z", "n/a", "9999-12-31"], ReadOptions(drop_invalid=True))[0] == [MORNING, None, None]


PATTERNS = [
    "%Y-%m-%dT%H:%M:%S.%fZ",
    "%Y-%m-%dT%H:%M:%S.%f+00:00",
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%d %H:%M:%S,%f",
    "%Y/%m/%d %H:%M:%S",
    "%Y%m%dT%H%M%S",
    "%Y%m%d%H%M%S",
    "%d.%m.%Y %H:%M:%S",
    "%d-%b-%Y %H:%M:%S",
    "%d %B %Y %H:%M:%S",
    "%B %d, %Y %I:%M:%S %p",
    "%a %b %d %H:%M:%S UTC %Y",
    "%a, %d %b %Y %H:%M:%S +0000",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(moments=st.lists(st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1)), min_size=1, max_size=5))
def test_a_moment_survives_being_written_in_any_pattern(pattern: str, moments: list[datetime]) -> None:
    if "%f" not in pattern:
        moments = [moment.replace(microsecond=0) for moment in moments]
    texts: list[str | None] = [moment.strftime(pattern) for moment in moments]
    expected = [moment.replace(tzinfo=UTC) for moment in moments]
    assert read(texts, ReadOptions(day_first=True))[0] == expected


@given(
    moments=st.lists(st.datetimes(datetime(1970, 1, 2), datetime(2068, 1, 1)), min_size=1, max_size=5), day_first=st.booleans()
)
def test_the_users_order_of_day_and_month_is_followed(moments: list[datetime], day_first: bool) -> None:
    pattern = "%d/%m/%y %H:%M" if day_first else "%m/%d/%y %H:%M"
    expected = [moment.replace(second=0, microsecond=0, tzinfo=UTC) for moment in moments]
    assert read([moment.strftime(pattern) for moment in moments], ReadOptions(day_first=day_first))[0] == expected


def test_one_value_that_proves_the_order_settles_it_for_all_without_a_note() -> None:
    moments, notes = read(["03/04/2024 00:00Z", "04/25/2024 00:00Z"])
    assert moments[0] == datetime(2024, 3, 4, tzinfo=UTC)
    assert notes == []


def test_an_open_order_of_day_and_month_is_noted_with_the_way_to_change_it() -> None:
    moments, notes = read(["03/04/2024 00:00Z", "05/05/2024 00:00Z"])
    assert moments[0] == datetime(2024, 4, 3, tzinfo=UTC)
    assert len(notes) == 1
    assert '"03/04/2024 00:00Z" was read day first' in notes[0]
    assert "--month-first" in notes[0]


def test_days_and_months_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InputError, match=r'^a.csv, line 3: .*in "13/04/2024" the day comes first, in "04/13/2024" the month'):
        read(["13/04/2024", "04/13/2024"])


def test_the_order_the_user_gives_makes_the_other_order_unreadable() -> None:
    with pytest.raises(InputError, match='line 3: timestamp "04/13/2024" cannot be read'):
        read(["13/04/2024", "04/13/2024"], ReadOptions(day_first=True))


def test_mixed_time_zones_are_normalised_with_a_note() -> None:
    for zulu in ("2024-05-26T08:05:09Z", "26 May 2024 08:05:09 Z"):
        moments, notes = read([zulu, "2024-05-26T10:05:09+02:00"])
        assert moments == [MORNING, MORNING]
        assert notes == ['The timestamps in "when" carry different time zones and were converted to UTC.']


def test_one_time_zone_needs_no_note() -> None:
    assert read(["2024-05-26T10:05:09+02:00", "2024-05-26T11:05:09+02:00"])[1] == []
    assert read(["2024-05-26T10:05:09Z", "2024-05-26T11:05:09+00:00"])[1] == []


def test_naive_moments_are_utc_with_a_note() -> None:
    moments, notes = read(["2024-05-26 08:05:09"])
    assert moments == [MORNING]
    assert notes == ['The timestamps in "when" carry no time zone and were read as UTC.']


def test_naive_and_zoned_moments_together_are_read_with_a_note() -> None:
    moments, notes = read(["2024-05-26T08:05:09", "2024-05-26T10:05:09+02:00"])
    assert moments == [MORNING, MORNING]
    assert notes == ['Some timestamps in "when" carry no time zone and were read as UTC, the others were converted to UTC.']


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31T23:59:59Z", "31.12.9999 00:00", "1600-01-01 00:00:00"])
def test_placeholder_years_are_named_as_such(text: str) -> None:
    with pytest.raises(
        InputError, match=f'^a.csv, line 3: timestamp "{text}" is outside the years 1678 to 2261, most likely a placeholder'
    ):
        read(["2024-05-06", text])


def test_the_users_format_is_followed() -> None:
    for text, pattern in (
        ("2024.26.05 08h05m09", "%Y.%d.%m %Hh%Mm%S"),
        ("26|05|2024 08:05:09 +0000", "%d|%m|%Y %H:%M:%S %z"),
        ("26|05|2024 08:05:09.000000 Z", "%d|%m|%Y %H:%M:%S.%f %z"),
    ):
        assert read([text], ReadOptions(timestamp_format=pattern))[0] == [MORNING]
    with pytest.raises(InputError, match=r'line 2: timestamp "2024-05-26" cannot be read\. Correct --timestamp-format\.$'):
        read(["2024-05-26"], ReadOptions(timestamp_format="%d|%m|%Y"))


def test_a_format_without_minutes_is_a_format() -> None:
    assert read(["2024-05-26 8 Uhr"], ReadOptions(timestamp_format="%Y-%m-%d %H Uhr"))[0] == [
        datetime(2024, 5, 26, 8, tzinfo=UTC)
    ]


@pytest.mark.parametrize("unit", [1, 1000, 1_000_000, 1_000_000_000])
@pytest.mark.parametrize("as_text", [False, True])
def test_unix_times_are_told_by_their_size(unit: int, as_text: bool) -> None:
    numbers = pl.Series("when", [int(MORNING.timestamp()) * unit])
    moments, notes = read_timestamps(numbers.cast(pl.String) if as_text else numbers, ReadOptions(), column="when", place=place)
    assert moments.to_list() == [MORNING]
    assert notes[0].startswith('The numbers in "when" were read as Unix times in ')


def test_typed_dates_and_zones_are_converted() -> None:
    berlin = pl.Series([datetime(2024, 5, 26, 10, 5, 9)]).dt.replace_time_zone("Europe/Berlin")
    for typed in (berlin, berlin.cast(pl.Datetime("ns", "Europe/Berlin")), pl.Series([MORNING.replace(tzinfo=None)])):
        assert read_timestamps(typed, ReadOptions(), column="when", place=place)[0].to_list() == [MORNING]
    days = read_timestamps(pl.Series([date(2024, 5, 26)]), ReadOptions(), column="when", place=place)[0]
    assert days.to_list() == [datetime(2024, 5, 26, tzinfo=UTC)]


@given(st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1)), st.integers(-14 * 60, 14 * 60))
def test_any_offset_names_the_same_moment(moment: datetime, minutes: int) -> None:
    zoned = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert read([zoned.isoformat()])[0] == [zoned]


@pytest.mark.parametrize("values", [["17", "18"], ["register", "leave"], ["12:30", "12:45"], [None, None], ["1.5", "2.5"]])
def test_labels_and_numbers_do_not_look_like_timestamps(values: list[str | None]) -> None:
    assert not looks_like_timestamps(pl.Series(values, dtype=pl.String), ReadOptions())


def test_many_repeated_moments_keep_their_rows() -> None:
    texts = ["26.05.2024 08:05:09", None, "27.05.2024 08:05:09"] * 500
    moments, _ = read(texts)
    assert moments == [MORNING, None, MORNING + timedelta(days=1)] * 500


def test_a_short_year_that_comes_first_is_recognized_with_a_note() -> None:
    moments, notes = read(["24-05-06 08:00Z", "24-05-07 09:00Z"])
    assert moments == [datetime(2024, 5, 6, 8, tzinfo=UTC), datetime(2024, 5, 7, 9, tzinfo=UTC)]
    assert notes == [
        'The years in "when" have two digits; "24-05-06 08:00Z" was read with the year first. '
        "If that is wrong, give the format with --timestamp-format."
    ]


def test_a_short_year_whose_place_is_open_is_noted() -> None:
    moments, notes = read(["24-05-06 08:00Z"])
    assert moments == [datetime(2006, 5, 24, 8, tzinfo=UTC)]
    assert len(notes) == 1
    assert "was read with the year last" in notes[0]


def test_a_short_year_is_noted_where_it_only_looks_as_if_it_came_last() -> None:
    moments, notes = read(["06.05.24 00:00Z", "13.05.24 00:00Z"])  # one year, or two
    assert moments[0] == datetime(2024, 5, 6, tzinfo=UTC)
    assert ["was read with the year last" in note for note in notes] == [True]


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["05/13/24 00:00Z", "05/06/24 00:00Z"], datetime(2024, 5, 13, tzinfo=UTC)),  # no month 13
        (["99-05-06 00:00Z", "99-05-13 00:00Z"], datetime(1999, 5, 6, tzinfo=UTC)),  # no day 99
    ],
)
def test_a_short_year_in_a_clear_place_needs_no_note(texts: list[str | None], first: datetime) -> None:
    moments, notes = read(texts)
    assert moments[0] == first
    assert notes == []


def test_the_users_word_that_the_day_comes_first_settles_a_short_year() -> None:
    moments, notes = read(["24-05-06 08:00Z", "24-05-07 09:00Z"], ReadOptions(day_first=True))
    assert moments[0] == datetime(2006, 5, 24, 8, tzinfo=UTC)
    assert notes == []


@pytest.mark.parametrize(("shown", "first"), [("05/13/2024", datetime(2024, 5, 6)), ("13/05/2024", datetime(2024, 6, 5))])
def test_another_column_that_shows_the_order_of_day_and_month_settles_it(shown: str, first: datetime) -> None:
    moments, notes = read_timestamps(
        pl.Series(["05/06/2024 00:00Z"]), ReadOptions(), column="start", place=place, beside={"end": pl.Series([shown])}
    )
    assert moments.to_list() == [first.replace(tzinfo=UTC)]
    assert len(notes) == 1
    assert notes[0].endswith('first, as in "end".')


def test_another_column_that_shows_no_order_leaves_it_open() -> None:
    for other in (pl.Series(["05/06/2024"]), pl.Series(["05/13/2024", "13/05/2024"]), pl.Series([MORNING])):
        _, notes = read_timestamps(
            pl.Series(["05/06/2024 00:00Z"]), ReadOptions(), column="start", place=place, beside={"end": other}
        )
        assert "--month-first" in notes[0]


@pytest.mark.parametrize(
    ("text", "pattern", "microsecond"),
    [
        ("2024-05-26 08:05:09,750", "%Y-%m-%d %H:%M:%S,%f", 750_000),
        ("2024-05-26 08:05:09", "%Y-%m-%d %H:%M:%S,%f", 0),
        ("20240526080509750", "%Y%m%d%H%M%S%f", 750_000),
        ("20240526080509000001", "%Y%m%d%H%M%S%f", 1),
        ("26 May 2024 08:05:09:5 AM", "%d %b %Y %I:%M:%S:%f %p", 500_000),
        ("2024-05-26T08:05:09.25", "%Y-%m-%dT%H:%M:%S.%f", 250_000),
        ("2024-05-26 08:05:09:25 Z", "%F %T:%f %z", 250_000),
    ],
)
def test_a_fraction_in_the_users_format_is_one_wherever_it_stands(text: str, pattern: str, microsecond: int) -> None:
    assert read([text], ReadOptions(timestamp_format=pattern))[0] == [MORNING.replace(microsecond=microsecond)]


def test_a_zone_by_name_in_the_users_format_counts() -> None:
    options = ReadOptions(timestamp_format="%Y-%m-%d %H:%M:%S %Z")
    assert read(["2024-05-26 10:05:09 CEST"], options) == ([MORNING], [])
    with pytest.raises(InputError, match='line 2: timestamp "2024-05-26 10:05:09 XYZ" cannot be read'):
        read(["2024-05-26 10:05:09 XYZ"], options)


@pytest.mark.parametrize("pattern", ["%G-%V-%u %Z", "%H:%M:%S,%f", "%Y-%m-%d %Y,%f"])
def test_a_format_that_cannot_be_followed_is_refused_with_the_codes_that_can(pattern: str) -> None:
    with pytest.raises(InputError, match=r'^--timestamp-format ".*" cannot be followed. Beside %f or %Z use %Y or %y'):
        read(["2024-05-26"], ReadOptions(timestamp_format=pattern))


def test_digits_of_other_scripts_are_no_timestamp() -> None:
    with pytest.raises(InputError, match='timestamp "\uff12\uff10\uff12\uff14-05-06" cannot be read'):
        read(["\uff12\uff10\uff12\uff14-05-06"])


def test_a_time_that_may_be_missing_is_left_out_with_a_note() -> None:
    texts = pl.Series(["2024-05-26T08:05:09Z", "soon", None])
    with pytest.raises(InputError, match="or leave such times out with --drop-invalid"):
        read_timestamps(texts, ReadOptions(), column="start", place=place, optional=True)
    moments, notes = read_timestamps(texts, ReadOptions(drop_invalid=True), column="start", place=place, optional=True)
    assert moments.to_list() == [MORNING, None, None]
    assert notes == ['Some times in "start" cannot be used and were left out; their events stay.']


@pytest.mark.parametrize(
    "far", [pl.Series([2**62]).cast(pl.Datetime("ms")), pl.Series([2**31 - 1], dtype=pl.Int32).cast(pl.Date)]
)
def test_moments_beyond_any_clock_are_refused_or_dropped(far: pl.Series) -> None:
    with pytest.raises(InputError, match=r"^a.csv, line 2: timestamp is outside the years 1678 to 2261"):
        read_timestamps(far, ReadOptions(), column="when", place=place)
    assert read_timestamps(far, ReadOptions(drop_invalid=True), column="when", place=place)[0].to_list() == [None]

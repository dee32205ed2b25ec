"""Dates and times of day as people write them, with or without a format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from libra.errors import InputError
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.names import unnamed
from libra.eventlog.options import Place, ReadOptions

_TIME = (
    r"(?P<hour>[0-9]{1,2})(?:[:.](?P<minute>[0-9]{2})(?:[:.](?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?)?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\b\.?)?"
)
_ZONE = r"\s*(?P<zone>[A-Za-z]{1,5}|(?:UTC|GMT)?[+-][0-9]{1,2}(?::?[0-9]{2})?)?(?:\[[\w/+-]+\])?"
_CLOCK = rf"(?:(?:[Tt:]|\s*,?\s+(?:at\s+)?){_TIME}{_ZONE})?$"
_NAME = r"(?P<name>\p{L}{3,9})\.?"
_WEEKDAY = r"\p{L}{2,10}\.?,?\s+"
_YEAR = r"(?P<year>[0-9]{4}|[0-9]{2})"

FAMILIES = (
    rf"^(?P<year>[0-9]{{4}})[-/.](?P<month>[0-9]{{1,2}})[-/.](?P<day>[0-9]{{1,2}}){_CLOCK}",
    rf"^(?P<one>[0-9]{{1,2}})[-/.](?P<two>[0-9]{{1,2}})[-/.]{_YEAR}{_CLOCK}",
    r"^(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})(?:[Tt\s]?(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})"
    rf"(?:(?P<second>[0-9]{{2}})(?:[.,](?P<fraction>[0-9]+))?)?{_ZONE})?$",
    rf"^(?:{_WEEKDAY})?(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?[-/\s]*{_NAME}[-/,\s]*{_YEAR}{_CLOCK}",
    rf"^(?:{_WEEKDAY})?{_NAME}\s+(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>[0-9]{{4}}){_CLOCK}",
    rf"^{_WEEKDAY}{_NAME}\s+(?P<day>[0-9]{{1,2}})\s+{_TIME}{_ZONE}\s+(?P<year>[0-9]{{4}})$",
)
_NUMBERS = ("year", "month", "day", "one", "two", "hour", "minute", "second")
_PARTS = (*_NUMBERS, "name", "fraction", "half", "zone")

_MONTH_STARTS = {  # English, German, Dutch, French
    1: "jan", 2: "feb fév fev", 3: "mar mär mrz mrt maa", 4: "apr avr", 5: "may mai mei", 6: "jun juin",
    7: "jul juil", 8: "aug aoû aou", 9: "sep", 10: "oct okt", 11: "nov", 12: "dec dez déc",
}  # fmt: skip
_MONTH_OF = {start: month for month, starts in _MONTH_STARTS.items() for start in starts.split()}
_ZONE_HOURS = {  # only abbreviations that mean one thing
    "z": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "cet": 1, "cest": 2, "mez": 1, "mesz": 2, "eet": 2, "eest": 3, "msk": 3,
    "est": -5, "edt": -4, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
}  # fmt: skip
_TWO = "[0-9]{1,2}"
_REGEX_OF = {
    "Y": "(?P<year>[0-9]{4})", "y": "(?P<year>[0-9]{2})", "m": f"(?P<month>{_TWO})", "d": f"(?P<day>{_TWO})",
    "H": f"(?P<hour>{_TWO})", "I": f"(?P<hour>{_TWO})", "M": f"(?P<minute>{_TWO})", "S": f"(?P<second>{_TWO})",
    "b": r"(?P<name>\p{L}{3,9})\.?", "B": r"(?P<name>\p{L}{3,9})", "a": r"\p{L}+\.?", "A": r"\p{L}+",
    "p": r"(?P<half>[AaPp]\.?[Mm]\.?)", "f": "(?P<fraction>[0-9]{1,9})", "%": "%",
    "z": r"(?P<zone>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)", "Z": "(?P<zone>[A-Za-z]{1,5})",
}  # fmt: skip
_SHORT = {"%T": "%H:%M:%S", "%R": "%H:%M", "%F": "%Y-%m-%d", "%D": "%m/%d/%y", "%e": "%d", "%h": "%b", "%:z": "%z", "%#z": "%z"}
_CODE_OF = {"month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S", "fraction": "%f", "half": "%p"}
_ORDERS = ({"one": "%d", "two": "%m"}, {"one": "%m", "two": "%d"}, {"one": "%y", "two": "%m", "year": "%d"})
DAY_ZERO = r"(?:1899-12-3[01]|1900-01-0[01]|12/3[01]/1899|3[01][./-]12[./-]1899)[T\s]+"
TIME_OF_DAY = (
    rf"(?i)^\s*(?:{DAY_ZERO})?([0-9]{{1,2}})[:.h]?([0-9]{{2}})(?:[:.]?([0-9]{{2}})(?:[.,]([0-9]+))?)?"
    r"\s*(?:uhr|h)?\s*([ap]\.?m\.?)?\s*$"
)
ZONE_OF_ISO = r"(?i)[T ].*?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)$"
ISO_FORMS = ("%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d")


@dataclass(frozen=True)
class DateReading:
    """What text values say as dates.

    `micros` counts from 1970, in UTC where the value carries an offset (`offset`, in minutes) and on its own clock otherwise;
    null where a value is no date. `proven` is whether values show that the day comes before the month. `ambiguous` is a value
    that could be read either day or month first when no value shows the order; `contradiction` holds two values that show
    opposite orders. `short_year` is a value whose year of two digits could come first or last, `year_first` how it was read.
    """

    micros: pl.Series
    offset: pl.Series
    proven: bool | None = None
    ambiguous: str | None = None
    contradiction: tuple[str, str] | None = None
    short_year: str | None = None
    year_first: bool = False


def read_dates(values: pl.Series, day_first: bool | None = None) -> DateReading:
    """Read text values as dates, each in whichever of the known shapes it has."""
    parts = _split(values, FAMILIES)
    year_first, short_year = _place_of_short_year(values, parts) if day_first is None else (False, None)
    if year_first:
        parts = parts.with_columns(
            year=pl.coalesce("one", "year"),
            month=pl.coalesce("month", "two"),
            day=pl.when(pl.col("one").is_not_null()).then("year").otherwise("day"),
            one=pl.lit(None, pl.Int64),
            two=pl.lit(None, pl.Int64),
        )
    one, two = parts["one"], parts["two"]
    day_leads = values.filter(((one > 12) & (two <= 12)).fill_null(False))
    month_leads = values.filter(((two > 12) & (one <= 12)).fill_null(False))
    either = values.filter(((one <= 12) & (two <= 12) & (one != two)).fill_null(False))
    contradiction = ambiguous = proven = None
    if day_first is None:
        proven = day_leads.len() > 0 if day_leads.len() or month_leads.len() else None
        if day_leads.len() and month_leads.len():
            contradiction = (day_leads[0], month_leads[0])
        elif either.len() and not day_leads.len() and not month_leads.len():
            ambiguous = either[0]
        day_first = not month_leads.len()
    day, month = ("one", "two") if day_first else ("two", "one")
    read = _assemble(parts.with_columns(day=pl.coalesce("day", day), month=pl.coalesce("month", month)))
    return DateReading(*read, proven, ambiguous, contradiction, short_year, year_first)


def telling_dates(values: pl.Series, readable: pl.Series) -> pl.Series:
    """The rows of the few values that say how all are to be read; `readable` is whether a value was read as a date.

    `read_dates` of these values beside any others reads those others as it would beside all the values.
    """
    one, two, year = pl.col("one"), pl.col("two"), pl.col("year")
    kinds = (one == 0, one <= 12, one <= 31, two == 0, two <= 12, two <= 31, one == two, year.is_between(1, 31))
    named = {str(number): kind for number, kind in enumerate(kinds)}
    rows = _split(values, FAMILIES).with_columns(**named, readable=readable).filter(year.is_not_null())
    of_each_kind = rows.unique([*named, "short_year", "zone", "readable"], keep="first")
    short = rows.filter("short_year", one.is_not_null())
    chosen = (of_each_kind, *(short.unique(part, keep="first") for part in ("one", "year")))
    return pl.concat([found["row"] for found in chosen]).unique().sort()


def _place_of_short_year(values: pl.Series, parts: pl.DataFrame) -> tuple[bool, str | None]:
    """Whether a year of two digits comes first, as in 24-05-06, and a value that leaves it open.

    Where both places are possible, the reading with fewer different years is the likelier one.
    """
    dates = parts.select(pl.col("one", "two", "year", "short_year")).with_columns(text=values).filter(pl.col("one").is_not_null())
    one, two, three = dates["one"], dates["two"], dates["year"]
    if not dates.height or not dates["short_year"].all() or not (two.is_between(1, 12) & three.is_between(1, 31)).all():
        return False, None
    if not (one.is_between(1, 31) & two.is_between(1, 12) | two.is_between(1, 31) & one.is_between(1, 12)).all():
        return True, None
    years_if_first, years_if_last = one.n_unique(), three.n_unique()
    return years_if_first < years_if_last, dates["text"][0]


def _split(values: pl.Series, families: Sequence[str]) -> pl.DataFrame:
    """The parts of every value, by the first family of shapes that fits it; nulls where none does."""
    text = values.cast(pl.String).rechunk()  # Polars may fail on columns in different chunks
    rows = pl.DataFrame({"row": pl.int_range(len(text), eager=True), "text": text})
    left, found = rows.filter(text.is_not_null()) if text.null_count() else rows, []
    for family in families:
        if not left.height:
            break
        fits = left["text"].str.contains(family)
        if fits.any():
            matched, left = (left, left.clear()) if fits.all() else (left.filter(fits), left.filter(~fits))
            groups = matched["text"].str.extract_groups(family).struct.unnest()
            parts = [part if part in groups.columns else pl.lit(None, pl.String).alias(part) for part in _PARTS]
            found.append(groups.select(matched["row"], *parts))
    if len(found) == 1 and found[0].height == rows.height:  # one family fits all values, which are in their order
        split = found[0]
    else:
        found.append(pl.DataFrame(schema={"row": pl.Int64()} | dict.fromkeys(_PARTS, pl.String())))
        split = rows.select("row").join(pl.concat(found), on="row", how="left", maintain_order="left")
    return split.with_columns(pl.col(_NUMBERS).cast(pl.Int64), pl.col("year").str.len_bytes().eq(2).alias("short_year"))


def _assemble(parts: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Microseconds and offset from the parts of each value; null where they make no valid date or time."""
    names, zones = (parts[part].drop_nulls().unique().to_list() for part in ("name", "zone"))
    month_of = {name: _MONTH_OF.get(name[:4].lower()) or _MONTH_OF.get(name[:3].lower()) for name in names}
    offset_of = {zone: _offset(zone) for zone in zones}
    year, hour, minute, second = map(pl.col, ("year", "hour", "minute", "second"))
    half, zone, offset = map(pl.col, ("half", "zone", "offset"))
    night = half.str.to_lowercase().str.starts_with("p").cast(pl.Int64) * 12
    parts = parts.with_columns(
        year=pl.when("short_year").then((year + 31) % 100 + 1969).otherwise(year),  # 69 is 1969, 68 is 2068
        month=pl.coalesce("month", pl.col("name").replace_strict(month_of, default=None, return_dtype=pl.Int64)),
        hour=pl.when(half.is_null()).then(hour.fill_null(0)).when(hour.is_between(1, 12)).then(hour % 12 + night),
        minute=minute.fill_null(0),
        second=second.fill_null(0),
        fraction=pl.col("fraction").fill_null("").str.pad_end(6, "0").str.slice(0, 6).cast(pl.Int64),
        offset=zone.replace_strict(offset_of, default=None, return_dtype=pl.Int64),
    )
    days = pl.format("{}-{}-{}", "year", "month", "day").str.to_date("%Y-%m-%d", strict=False).cast(pl.Int64)
    seconds = pl.sum_horizontal(hour * 3600, minute * 60, second, ignore_nulls=False)
    fine = minute.le(59) & second.le(59) & seconds.le(86_400) & (zone.is_null() | offset.is_not_null())
    micros = (days * 86_400 + seconds - offset.fill_null(0) * 60) * 1_000_000 + pl.col("fraction")
    read = parts.select(pl.when(fine).then(micros).alias("micros"), "offset")
    return read["micros"], read.select(pl.when(pl.col("micros").is_not_null()).then(offset)).to_series()


def _offset(zone: str) -> int | None:
    """The minutes that a zone is ahead of UTC; None where it is unknown."""
    numeric = re.fullmatch(r"(?:utc|gmt)?([+-])([0-9]{1,2})(?::?([0-9]{2}))?", zone.lower())
    if not numeric:
        hours = _ZONE_HOURS.get(zone.lower())
        return None if hours is None else hours * 60
    sign, hours_text, minutes = numeric.groups()
    size = int(hours_text) * 60 + int(minutes or 0)
    return None if size > 18 * 60 else (-size if sign == "-" else size)


def read_format(values: pl.Series, pattern: str) -> DateReading | None:
    """Text values read by a format that Polars would read otherwise: with a fraction that follows no point, or a zone's name.

    Any other format is left to Polars, as None.
    """
    plain = pattern.replace("%%", "")
    if "%f" not in plain.replace(".%f", "") and "%Z" not in plain:
        return None
    regex, known, spelled = "", True, pattern
    for short, long in _SHORT.items():
        spelled = spelled.replace(short, long)
    for mark, code, literal in re.findall(r"([.,]?)%(.)|(.)", spelled, re.DOTALL):
        known = known and (not code or code in _REGEX_OF)
        if not code:
            regex += r"\s*" if literal.isspace() else re.escape(literal)
        elif mark and code == "f":  # a full second is often written without its fraction
            regex += f"(?:{re.escape(mark)}{_REGEX_OF[code]})?"
        else:
            regex += re.escape(mark) + _REGEX_OF.get(code, "")
    parts = re.findall(r"\?P<(\w+)>", regex)
    tells_a_day = {"year", "day"} <= set(parts) and ("month" in parts or "name" in parts)
    if not known or not tells_a_day or len(set(parts)) < len(parts):
        remedy = "Beside %f or %Z use %Y or %y, %m or %b, %d, %H or %I, %M, %S, %p and %z, each at most once"
        raise InputError(f'--timestamp-format "{pattern}" cannot be followed', remedy=remedy)
    return DateReading(*_assemble(_split(values, (f"^{regex}$",))))


def formats_like(value: str) -> Iterator[str]:
    """The formats that a date could be written in, the day before the month first; none for what is no date."""
    for family in FAMILIES:
        match = re.match(family.replace(r"\p{L}", r"[^\W\d_]"), value)
        if match is not None:
            parts = {name: text for name, text in match.groupdict().items() if text is not None}
            yield from dict.fromkeys(_written(match, codes) for codes in _codes(parts))
            return


def _codes(parts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """For every part of a date its code, in each order that its parts can stand in."""
    codes = {name: _CODE_OF[name] for name in parts if name in _CODE_OF}
    codes["year"] = "%Y" if len(parts["year"]) == 4 else "%y"
    if "half" in parts:
        codes["hour"] = "%I"
    if "zone" in parts:
        codes["zone"] = "%Z" if parts["zone"].isalpha() and parts["zone"] not in "Zz" else "%z"
    names = ({"name": "%b"}, {"name": "%B"}) if "name" in parts else ({},)
    orders = [order for order in _ORDERS if "year" not in order or len(parts["year"]) == 2] if "one" in parts else [{}]
    yield from (codes | order | name for order in orders for name in names)


def _written(match: re.Match[str], codes: Mapping[str, str]) -> str:
    """The value with codes in place of its parts."""
    text, at = "", 0
    for name, code in sorted(codes.items(), key=lambda part: match.start(part[0])):
        text += match.string[at : match.start(name)].replace("%", "%%") + code
        at = match.end(name)
    return text + match.string[at:].replace("%", "%%")


def read_clock_times(values: pl.Series, options: ReadOptions, *, place: Place) -> pl.Series:
    """The time since midnight; null where it is missing. One that cannot be read is an error, or null under drop_invalid."""
    name, values = values.name, unnamed(values)
    if values.dtype == pl.Time:
        return (values.to_physical() // 1000).cast(pl.Duration("us"))
    text = values.str.strip_chars()
    text = text.set(text == "", None)
    parts = pl.DataFrame({name: text.str.extract(TIME_OF_DAY, i) for i, name in enumerate(("h", "m", "s", "f", "half"), start=1)})
    missing = {"s": "00", "f": "0", "half": ""}
    clock = parts.select(pl.format("1970-01-01 {}:{}:{}.{} {}", "h", "m", *(pl.col(n).fill_null(v) for n, v in missing.items())))
    read = read_dates(clock.to_series().str.strip_chars()).micros.cast(pl.Duration("us"))
    unreadable = read.is_null() & text.is_not_null()
    if unreadable.any() and not options.drop_invalid:
        row = int(unreadable.arg_true()[0])
        what = f'time of day "{text[row][:60]}" in "{name}" cannot be read'
        raise InputError(what, place=place(row), remedy="Correct it, or drop such events with --drop-invalid")
    return read


def read_iso_dates(values: pl.Series) -> tuple[pl.Series, pl.Series]:
    """ISO 8601 text as UTC timestamps, null where it is none; and which of them have no zone."""
    read = values.str.to_datetime("%+", time_unit="us", strict=False).cast(UTC_MICROSECONDS)
    naive = np.zeros(len(values), bool)
    for form in ISO_FORMS:
        if not read.null_count():
            break
        rest = read.is_null().arg_true()
        text = values.gather(rest).str.replace(" ", "T", literal=True)
        if form == "%Y-%m-%d":
            found = text.str.to_date(form, strict=False).cast(pl.Datetime("us"))
        else:
            found = text.str.to_datetime(form, time_unit="us", strict=False)
        if not form.endswith("z"):
            naive[rest.to_numpy()] = found.is_not_null().to_numpy()
            found = found.dt.replace_time_zone("UTC")
        read = read.scatter(rest, found.cast(UTC_MICROSECONDS))
    return read, pl.Series(naive)

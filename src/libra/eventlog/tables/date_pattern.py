"""Timestamp formats, in strftime codes, that a value could be written in: what a description proposes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from libra.eventlog.tables.date_text import FAMILIES

_CODES = {
    "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S", "fraction": "%f", "half": "%p",
}  # fmt: skip
_ORDERS = ({"one": "%d", "two": "%m"}, {"one": "%m", "two": "%d"}, {"one": "%y", "two": "%m", "year": "%d"})


def formats_like(value: str) -> Iterator[str]:
    """The formats that a date could be written in, the day before the month first; none for what is no date.

    Example:
        >>> list(formats_like("06.05.2024 08:14"))
        ['%d.%m.%Y %H:%M', '%m.%d.%Y %H:%M']
        >>> list(formats_like("6 May 2024"))
        ['%d %b %Y', '%d %B %Y']
    """
    for family in FAMILIES:
        match = re.match(family.replace(r"\p{L}", r"[^\W\d_]"), value)
        if match is not None:
            parts = {name: text for name, text in match.groupdict().items() if text is not None}
            yield from dict.fromkeys(_written(match, codes) for codes in _codes(parts))
            return


def _codes(parts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """For every part of a date its code, in each order that its parts can stand in."""
    codes = {name: _CODES[name] for name in parts if name in _CODES}
    codes |= {"year": "%Y" if len(parts["year"]) == 4 else "%y"}
    if "half" in parts:
        codes["hour"] = "%I"
    if "zone" in parts:
        codes["zone"] = "%Z" if parts["zone"].isalpha() and parts["zone"] not in "Zz" else "%z"
    names = ({"name": "%b"}, {"name": "%B"}) if "name" in parts else ({},)
    orders = [order for order in _ORDERS if "year" not in order or len(parts["year"]) == 2] if "one" in parts else [{}]
    for order in orders:
        for name in names:
            yield codes | order | name


def _written(match: re.Match[str], codes: Mapping[str, str]) -> str:
    """The value with codes in place of its parts."""
    text, at = "", 0
    for name, code in sorted(codes.items(), key=lambda part: match.start(part[0])):
        text += match.string[at : match.start(name)].replace("%", "%%") + code
        at = match.end(name)
    return text + match.string[at:].replace("%", "%%")

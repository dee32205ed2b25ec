"""A timestamp format of strftime codes as a pattern that names the parts of a date, for codes that Polars reads otherwise.

Polars takes `%f` for a number of nanoseconds and skips `%Z`. In Python, and so here, `%f` is a fraction of the second and
`%Z` the name of a time zone.
"""

from __future__ import annotations

import re

_TWO = "[0-9]{1,2}"
_CODES = {
    "Y": "(?P<year>[0-9]{4})", "y": "(?P<year>[0-9]{2})", "m": f"(?P<month>{_TWO})", "d": f"(?P<day>{_TWO})",
    "H": f"(?P<hour>{_TWO})", "I": f"(?P<hour>{_TWO})", "M": f"(?P<minute>{_TWO})", "S": f"(?P<second>{_TWO})",
    "b": r"(?P<name>\p{L}{3,9})\.?", "B": r"(?P<name>\p{L}{3,9})", "a": r"\p{L}+\.?", "A": r"\p{L}+",
    "p": r"(?P<half>[AaPp]\.?[Mm]\.?)", "f": "(?P<fraction>[0-9]{1,9})", "%": "%",
    "z": r"(?P<zone>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)", "Z": "(?P<zone>[A-Za-z]{1,5})",
}  # fmt: skip
_SHORT = {"%T": "%H:%M:%S", "%R": "%H:%M", "%F": "%Y-%m-%d", "%D": "%m/%d/%y", "%e": "%d", "%h": "%b", "%:z": "%z", "%#z": "%z"}


def needs_own_reading(pattern: str) -> bool:
    """Whether a format has codes that Polars would read otherwise: a fraction that follows no point, or a zone's name.

    Example:
        >>> needs_own_reading("%H:%M:%S.%f"), needs_own_reading("%H:%M:%S,%f"), needs_own_reading("%H:%M %Z")
        (False, True, True)
    """
    return "%f" in pattern.replace("%%", "").replace(".%f", "") or "%Z" in pattern.replace("%%", "")


def as_regex(pattern: str) -> str | None:
    """The format as a regular expression with named parts; None where it has other codes, or does not tell a day.

    Example:
        >>> as_regex("%Y/%m/%d,%f")
        '^(?P<year>[0-9]{4})/(?P<month>[0-9]{1,2})/(?P<day>[0-9]{1,2})(?:,(?P<fraction>[0-9]{1,9}))?$'
    """
    for short, long in _SHORT.items():
        pattern = pattern.replace(short, long)
    regex = ""
    for mark, code, literal in re.findall(r"([.,]?)%(.)|(.)", pattern, re.DOTALL):
        if not code:
            regex += r"\s*" if literal.isspace() else re.escape(literal)
        elif code not in _CODES:
            return None
        elif mark and code == "f":  # a full second is often written without its fraction
            regex += f"(?:{re.escape(mark)}{_CODES[code]})?"
        else:
            regex += re.escape(mark) + _CODES[code]
    parts = re.findall(r"\?P<(\w+)>", regex)
    tells_a_day = {"year", "day"} <= set(parts) and ("month" in parts or "name" in parts)
    return f"^{regex}$" if tells_a_day and len(set(parts)) == len(parts) else None

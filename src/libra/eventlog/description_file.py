"""The file of a description: TOML that people read and edit, every line with a comment.

In: a `Description`, or the path of such a file. Out: the other of the two. What a file says that no description says is an
`InputError` that names its line. Names and texts of any kind come back as they were.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Any

from libra.errors import InputError
from libra.eventlog.description import CHECK, KEYS, OF_TEXT, REQUIRED, SEVERAL, Description, MisfitError, unsettled_key
from libra.eventlog.files import open_input

LARGEST = 1 << 20  # bytes
HEAD = """\
# How Libra reads this log, and what a release of it protects. Read it, correct it, keep it beside the log:
#     libra anonymize LOG -o OUT --description FILE
# reads the log exactly so and refuses what does not fit. docs/description.md explains every key.
"""
SECTIONS: dict[str, tuple[str, ...]] = {
    "The file": ("format", "encoding", "delimiter", "quote", "line_end", "decimal"),
    "The columns": (*("case_id", "activity", "timestamp", "clock", "start_timestamp", "lifecycle", "resource", "individual"),),
    "The times": ("timestamp_format", "day_first", "epoch_unit", "zone"),
    "The events": ("lifecycle_keep", "sort_by_time", "drop_invalid"),
    "The release": ("unit", "most_cases", "labels"),
}
HINTS = {
    "encoding": ("utf-8", "only where the file does not declare it"),
    "clock": ("Time", "the time of day, where the timestamp is a date"),
    "start_timestamp": ("Started", "when an event started"),
    "lifecycle": ("Transition", "start, complete and so on"),
    "resource": ("Who", "who or what did it"),
    "individual": ("Patient", 'whose case it is, where a person has several; write unit = "individual" below as well'),
    "timestamp_format": ("%d.%m.%Y %H:%M", "how times are written, where they are text"),
    "day_first": (True, "with timestamp_format any: 03/04/2024 is the third of April"),
    "epoch_unit": ("s", "what Unix times count: s, ms, us or ns"),
}
EXPLAINED = {
    "format": "csv (also TSV), xes, or table (Parquet, data frames)",
    "zone": "file: every time carries its zone; none: no time does; utc: those without are in UTC",
    "lifecycle_keep": "only events in these transitions; all if empty",
    "sort_by_time": "order the events of each case by time",
    "drop_invalid": "leave out events that cannot be used, rather than refuse them",
    "unit": "what a release protects: case, or individual with all its cases",
    "most_cases": "how many cases of an individual count",
    "labels": "names of activities: private, public, or a list that does not come from this log",
    "quote": "what encloses fields; empty for nothing",
    "line_end": "lf (also for CR LF) or cr",
    "decimal": "the decimal sign of attributes",
}
WAYS = ("timestamp_format", "epoch_unit")  # one of them says how times are written; only "any" needs day_first as well
_NUMBERED = re.compile(r"\(at line (\d+), column \d+\)")


def to_toml(said: Description) -> str:
    """The description as a file; keys that say nothing, or are unsettled, are there as comments."""
    lines = [HEAD]
    for title, keys in SECTIONS.items():
        lines.append(f"\n# {title}\n")
        for key in keys:
            if key in OF_TEXT and said.format != "csv":
                continue
            comments = [said.reasons.get(key, ""), EXPLAINED.get(key, "")]
            if said.says(key):
                comment = _comment(*comments)
                lines.append(f"{key} = {_value(getattr(said, key))}{f'  # {comment}' if comment else ''}\n")
            elif key in said.unsettled:
                comment = _comment(said.reasons[key], "remove the first # if this is right")
                lines.append(f"# {key} = {_value(getattr(said, key))}  # {comment}\n")
            else:
                example, hint = HINTS[key]
                comment = _comment(said.reasons.get(key, "default: none"), hint)
                lines.append(f"# {key} = {_value(example)}  # {comment}\n")
    return "".join(lines)


def read_description(path: Path) -> Description:
    """The description in a file."""
    source = str(path)
    with open_input(path, "none") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise InputError("this is too large for a description", place=source, remedy="Write one with libra describe")
    try:
        text = data.decode("utf-8-sig")
        found: dict[str, Any] = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("this is not UTF-8", place=f"{source}, line {line}", remedy="Save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        numbered = _NUMBERED.search(str(error))
        line = int(numbered[1]) if numbered else text.rstrip().count("\n") + 1
        what = _NUMBERED.sub("", str(error)).removesuffix("(at end of document)").strip()
        remedy = 'Write key = value, text in double quotes, a backslash as "\\\\"'
        raise InputError(f"this is not TOML ({what})", place=f"{source}, line {line}", remedy=remedy) from error
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number of thousands of digits
        raise InputError("this is no description", place=source, remedy="Write one with libra describe") from error
    lines = {key: at for key in found if (at := _line_of(key, text)) is not None}
    for key in found:
        if key not in KEYS:
            close = difflib.get_close_matches(key, KEYS, n=1)
            remedy = f"Did you mean {close[0]}? If not, leave it out" if close else f"The keys are {', '.join(KEYS)}"
            raise InputError(f'there is no key "{key}" in a description', place=_place(source, lines, key), remedy=remedy)
    for key, (line, why) in _unsettled(text).items():
        if not found.keys() & ({key, *WAYS} if key in (*WAYS, "day_first") else {key}):
            raise unsettled_key(key, why, f"{source}, line {line}")
    for key in REQUIRED:
        if key not in found:
            raise InputError(f"{key} is missing", place=source, remedy=f"Add a line with {key}, or write one with libra describe")
    said: dict[str, Any] = {key: [value] if key in SEVERAL and isinstance(value, str) else value for key, value in found.items()}
    try:
        return Description(**said, source=source, lines=lines)
    except MisfitError as error:
        raise InputError(error.what, place=_place(source, lines, error.key), remedy=error.remedy) from None


def _unsettled(text: str) -> dict[str, tuple[int, str]]:
    """The keys that `to_toml` wrote as comments because they are open: on which line, and why."""
    found = (
        (number, re.match(rf"#[ \t]*(\w+) = .*  # {CHECK}(.*)", line)) for number, line in enumerate(text.split("\n"), start=1)
    )
    return {match[1]: (number, match[2].strip().partition("; remove the first #")[0]) for number, match in found if match}


def _place(source: str, lines: dict[str, int], key: str) -> str:
    return f"{source}, line {lines[key]}" if key in lines else source


def _line_of(key: str, text: str) -> int | None:
    """The line on which a key gets its value."""
    name = re.escape(key)
    found = re.search(rf"""^[ \t]*(?:(?:\[\[?[ \t]*)?(?:{name}|"{name}"|'{name}')[ \t]*[=.\]])""", text, re.MULTILINE)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, int):
        return str(value)
    return f'"{"".join(map(_escaped, str(value)))}"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return f"\\u{ord(letter):04X}" if letter < " " or letter == "\x7f" else letter


def _comment(*parts: str) -> str:
    text = "; ".join(part for part in parts if part)
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)

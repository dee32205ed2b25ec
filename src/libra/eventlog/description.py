"""The description of a log: everything about how it is read, said once by whoever holds it, so that no content decides.

It comes from a TOML file or from `describe`. Out of it come the options of the reader, in which nothing is left to detect, and
the parameters of a release that belong to the log. A key is called like the keyword of `libra.read`; errors name the line.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from libra.errors import InputError, MissingColumnError
from libra.eventlog.attribute_keys import HEAD as ATTRIBUTES_HEAD
from libra.eventlog.attribute_keys import TABLES, MisfitError, attributes_in, clashes, lines_of, table_of, toml_value
from libra.eventlog.attributes import Attribute
from libra.eventlog.files import Kind, is_text_encoding, open_input
from libra.eventlog.notes import listed
from libra.eventlog.options import ANY, EpochUnit, Form, InstanceMode, ReadOptions, RoleNames, Zone

Unit = Literal["case", "individual"]
LINE_ENDS = {"lf": "\n", "cr": "\r"}
FORMS: dict[Kind, Form] = {"xes": "xes", "csv": "csv", "tsv": "csv", "parquet": "table"}
PRIVATE, PUBLIC = "private", "public"
ROLES = tuple(role.name for role in fields(RoleNames))
SEVERAL = ("case_id", "activity", "lifecycle_keep")
CHOICES: dict[str, tuple[str, ...]] = {
    "format": get_args(Form),
    "epoch_unit": get_args(EpochUnit),
    "zone": get_args(Zone),
    "line_end": tuple(LINE_ENDS),
    "decimal": (".", ","),
    "quote": ('"', "'", ""),
    "unit": get_args(Unit),
    "instances": get_args(InstanceMode),
}
OF_TEXT = ("delimiter", "quote", "line_end", "decimal")
LARGEST = 1 << 20  # bytes
HEAD = """\
# How Libra reads this log, and what a release of it protects. Settle first what is to be checked, correct the rest, keep it:
#     libra anonymize LOG -o OUT --description FILE
# reads the log exactly so and refuses what does not fit. docs/description.md explains every key.
"""
SECTIONS: dict[str, tuple[str, ...]] = {
    "The file": ("format", "encoding", "delimiter", "quote", "line_end", "decimal"),
    "The columns": ("case_id", "activity", "timestamp", "clock", "start_timestamp", "lifecycle", "resource", "individual"),
    "The times": ("timestamp_format", "day_first", "epoch_unit", "zone"),
    "The events": ("lifecycle_keep", "instances", "sort_by_time", "drop_invalid"),
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
    "instances": ("pair", "pair start and complete events, keep only complete ones, or release events with their transition"),
}
EXPLAINED = {
    "format": "csv (also TSV), xes, or table (Parquet, data frames)",
    "zone": "file: every time carries its zone; none: no time does; utc: those without are in UTC",
    "lifecycle_keep": "only events in these transitions; all if empty",
    "instances": "pair: start and complete events, or start times, make activity instances; complete; events",
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
CHECK = "CHECK THIS: "  # how the reason of a key begins that the content of a log leaves open


@dataclass(frozen=True)
class Description:
    """How a log is read, and what a release of it protects; docs/description.md has every key.

    Example:
        >>> said = Description(format="table", case_id=("visit",), activity=("step",), timestamp="done", zone="file")
        >>> said.options().roles.activity, said.options().zone
        (('step',), 'file')
    """

    format: Form
    activity: tuple[str, ...]
    timestamp: str
    zone: Zone
    case_id: tuple[str, ...] = ()
    clock: str | None = None
    start_timestamp: str | None = None
    lifecycle: str | None = None
    resource: str | None = None
    individual: str | None = None
    timestamp_format: str | None = None
    day_first: bool | None = None
    epoch_unit: EpochUnit | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str = '"'
    line_end: Literal["lf", "cr"] = "lf"
    decimal: str = "."
    lifecycle_keep: tuple[str, ...] = ()
    instances: InstanceMode | None = None
    sort_by_time: bool = False
    drop_invalid: bool = False
    unit: Unit = "case"
    most_cases: int = 1
    labels: str | tuple[str, ...] = PRIVATE
    attributes: tuple[Attribute, ...] = ()  # also those that may not be released
    reasons: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)  # why each key has its value
    source: str = field(default="the description", compare=False)  # what it is called in errors
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)  # what else is worth knowing of the log
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)  # where in its file a key stands
    seen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, compare=False, repr=False)  # in the log, by attribute

    def __post_init__(self) -> None:
        for name in (*SEVERAL, "labels", TABLES):
            if isinstance(getattr(self, name), list):
                given = (Attribute.from_dict(one) if isinstance(one, dict) else one for one in getattr(self, name))
                object.__setattr__(self, name, tuple(given))
        for key in KEYS:
            _check_type(key, getattr(self, key))
        for misfit in _contradictions(self):
            raise misfit

    @classmethod
    def read(cls, path: str | Path) -> Description:
        """The description in a TOML file; an `InputError` with its line for what cannot be read or is invalid."""
        source, text = str(path), _text_of(Path(path))
        try:
            found: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            numbered = _NUMBERED.search(str(error))
            line = int(numbered[1]) if numbered else text.rstrip().count("\n") + 1
            what = _NUMBERED.sub("", str(error)).removesuffix("(at end of document)").strip()
            remedy = 'Write key = value, text in double quotes, a backslash as "\\\\"'
            if what.startswith(("Cannot overwrite", "Cannot declare")):
                remedy = "A key or a table is there twice: leave one of them out"
            raise InputError(f"this is not TOML ({what})", place=f"{source}, line {line}", remedy=remedy) from error
        except (RecursionError, ValueError) as error:  # nested too deeply, or a number of thousands of digits
            raise InputError("this is not a description", place=source, remedy="Write one with libra describe") from error
        places = {key: f"{source}{_line_of(key, text)}" for key in found}
        if TABLES in found:
            places |= {key: f"{source}, line {number}" for key, number in reversed([*lines_of(text)])}
        for key in found:
            if key not in KEYS:
                close = difflib.get_close_matches(key, KEYS, n=1)
                remedy = f"Did you mean {close[0]}? If not, leave it out" if close else f"The keys are {', '.join(KEYS)}"
                raise InputError(f'there is no key "{key}" in a description', place=places[key], remedy=remedy)
        for number, comment in enumerate(text.split("\n"), start=1):
            if match := re.match(rf"#[ \t]*(\w+) = .*  # {CHECK}(.*)", comment):  # as `to_toml` writes a key that is open
                key, why = match[1], match[2].strip().partition("; remove the first #")[0]
                if not found.keys() & ({key, *WAYS} if key in (*WAYS, "day_first") else {key}):
                    raise unsettled_key(key, why, f"{source}, line {number}")
        for key in REQUIRED:
            if key not in found:
                remedy = f"Add a line with {key}, or write one with libra describe"
                raise InputError(f"{key} is missing", place=source, remedy=remedy)
        found |= {key: [name] for key in SEVERAL if isinstance(name := found.get(key), str)}
        try:
            if TABLES in found:
                found[TABLES] = attributes_in(found[TABLES])
            return cls(**found, source=source, places=places)
        except MisfitError as error:
            near = (place for key, place in places.items() if key in (error.key, error.key.rpartition(".")[0], TABLES))
            place = places.get(error.key) or (next(near, source) if error.key.startswith(TABLES) else source)
            raise InputError(error.what, place=place, remedy=error.remedy) from None

    def to_toml(self) -> str:
        """The description as a TOML file with a comment on every line; keys that say nothing, or are open, are comments."""
        lines = [HEAD]
        for title, keys in SECTIONS.items():
            lines.append(f"\n# {title}\n")
            for key in keys:
                if key in OF_TEXT and self.format != "csv":
                    continue
                mark, value, comments = "# ", getattr(self, key), [self.reasons.get(key, ""), EXPLAINED.get(key, "")]
                if self.says(key):
                    mark = ""
                elif key in self.unsettled:
                    comments[1] = "remove the first # if this is right"
                else:
                    value, hint = HINTS[key]
                    comments = [self.reasons.get(key, "default: none"), hint]
                comment = "; ".join(filter(None, comments))
                comment = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in comment)
                lines.append(f"{mark}{key} = {toml_value(value)}{f'  # {comment}' if comment else ''}\n")
        lines += [ATTRIBUTES_HEAD] if self.attributes else []
        for one in self.attributes:
            lines.append("\n" + table_of(one, self.reasons.get(f"{TABLES}.{one.name}", ""), self.seen.get(one.name, {})))
        return "".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy: the keys that say something."""
        said = {key: getattr(self, key) for key in KEYS if self.says(key)}
        said |= {TABLES: [one.to_dict() for one in self.attributes]} if self.attributes else {}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in said.items()}

    def says(self, key: str) -> bool:
        """Whether a key is there, settled, and about this format."""
        there = getattr(self, key) is not None and key not in self.unsettled and (key != TABLES or self.attributes != ())
        return there and (self.format == "csv" or key not in OF_TEXT)

    @property
    def unsettled(self) -> dict[str, str]:
        """The keys that the content of the log leaves open, and why; their values are guesses, and nothing is read by them.

        Example:
            >>> import libra, polars as pl
            >>> log = pl.DataFrame({"case": [1], "activity": ["a"], "time": ["03/04/2024"]})
            >>> libra.describe(log).unsettled
            {'timestamp_format': 'no date in "time" shows whether day or month comes first'}
        """
        return {key: why.removeprefix(CHECK) for key, why in self.reasons.items() if why.startswith(CHECK)}

    def options(self) -> ReadOptions:
        """The options of the reader, with nothing left to detect; an `InputError` where a key is unsettled."""
        for key, why in self.unsettled.items():
            raise unsettled_key(key, why, self.source)
        of_text = [*OF_TEXT] if self.format == "csv" else []
        names = ["lifecycle_keep", "instances", *WAYS, "day_first", "zone", "encoding", "sort_by_time", "drop_invalid", *of_text]
        said: dict[str, Any] = {name: getattr(self, name) for name in names}
        if of_text:
            said["line_end"] = LINE_ENDS[self.line_end]
        roles = RoleNames(**{role: getattr(self, role) for role in ROLES})
        released = tuple(attribute for attribute in self.attributes if attribute.release)
        return ReadOptions(roles=roles, described=self.source, form=self.format, attributes=released, **said)

    def parameters(self) -> dict[str, Any]:
        """What it says about a release, as keywords of `libra.anonymize`."""
        labels = list(self.labels) if isinstance(self.labels, tuple) else self.labels
        return {"labels": labels} | ({"most_cases": self.most_cases} if self.unit == "individual" else {})

    def place(self, key: str) -> str:
        """Where a key stands, for errors."""
        return self.places.get(key, self.source)


def unsettled_key(key: str, why: str, place: str) -> InputError:
    """The error for a key that a description leaves open."""
    remedy = f"Remove the # before {key} if its line is right, correct it if not, or describe the log again with a flag that "
    return InputError(f"{key} is open: {why}", place=place, remedy=remedy + "settles it")


@contextmanager
def in_its_words(described: str) -> Iterator[None]:
    """Errors about how a log was read, speaking of the keys of a description where they speak of flags."""
    flags = {f"--{key.replace('_', '-')}": key for key in KEYS} | {"--month-first": "day_first"}

    def in_keys(text: str) -> str:
        """The text with keys for flags, the last of them with the name of the description."""
        found = [match for match in re.finditer(r"--[a-z-]+[a-z]", text) if match[0] in flags]
        for match in reversed(found):
            where = f" in {described}" if match is found[-1] else ""
            text = text[: match.start()] + flags[match[0]] + where + text[match.end() :]
        return text

    try:
        yield
    except InputError as error:
        what, remedy = in_keys(error.what), in_keys(error.remedy)
        if not described or (what, remedy) == (error.what, error.remedy):
            raise
        if isinstance(error, MissingColumnError):
            raise MissingColumnError(what, place=error.place, remedy=remedy, lacking=error.lacking) from error
        raise InputError(what, place=error.place, remedy=remedy) from error


KEYS = tuple(each.name for each in fields(Description) if each.compare)
REQUIRED = ("format", "activity", "timestamp", "zone")
TRUTHS = ("day_first", "sort_by_time", "drop_invalid")
OPTIONAL = tuple(each.name for each in fields(Description) if each.default is None)


def _check_type(key: str, value: object) -> None:
    """A `MisfitError` for a value of another type than the key's, or none of its choices."""
    if value is None and key in OPTIONAL:
        return
    if key == TABLES:
        if not isinstance(value, tuple) or not all(isinstance(one, Attribute) for one in value):
            raise MisfitError(key, f"attributes is a list of Attribute, not {repr(value)[:60]}", "Correct attributes")
        return
    names = f'"{PRIVATE}", "{PUBLIC}" or a list of names' if key == "labels" else "a list of names"
    if key in SEVERAL or (key == "labels" and not isinstance(value, str)):
        fits, asked = isinstance(value, tuple) and all(isinstance(one, str) for one in value), names
        if key == "labels" and isinstance(value, tuple) and fits and not (value and all(name.strip() for name in value)):
            what = "the list of labels is empty or has an empty name"
            raise MisfitError(key, what, f'List the names of activities, or write labels = "{PRIVATE}"')
    elif key == "most_cases":
        fits, asked = isinstance(value, int) and not isinstance(value, bool) and value >= 1, "a whole number of at least 1"
    elif key in TRUTHS:
        fits, asked = isinstance(value, bool), "true or false"
    elif key in CHOICES:
        fits, asked = value in CHOICES[key], "one of " + listed(CHOICES[key])
    elif key == "labels":
        fits, asked = value in (PRIVATE, PUBLIC), names
    else:
        fits, asked = isinstance(value, str), "text"
    if not fits:
        shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:60]}…"
        raise MisfitError(key, f"{key} is {asked}, not {shown}", f"Correct {key}")
    if re.search("[\ud800-\udfff]", "".join(map(str, value)) if isinstance(value, tuple) else str(value)):
        raise MisfitError(key, f"{key} holds half of a surrogate pair", "Write it again")


def _contradictions(said: Description) -> Iterator[MisfitError]:
    """What is invalid together."""
    if not said.case_id and said.format != "xes":
        remedy = "Only in XES is each trace a case: name a column, or several"
        yield MisfitError("case_id", "no column is named as case_id", remedy)
    if not said.activity:
        yield MisfitError("activity", "no column is named as activity", "Name a column, or several")
    if said.timestamp_format is not None and said.epoch_unit is not None:
        what = "timestamp_format and epoch_unit contradict each other"
        yield MisfitError("epoch_unit", what, "Leave one of them out: epoch_unit is for times that are numbers")
    if said.timestamp_format == ANY and said.day_first is None:
        what = f'timestamp_format is "{ANY}", and nothing says whether the day comes first'
        yield MisfitError("timestamp_format", what, "Add day_first = true, or false if the month comes first")
    if said.format == "csv":
        if said.timestamp_format is None and said.epoch_unit is None:
            remedy = 'Add timestamp_format = "%d.%m.%Y %H:%M", "iso" or "any", or epoch_unit'
            yield MisfitError("timestamp_format", "nothing says how times are written", remedy)
        if said.encoding is None:
            yield MisfitError("encoding", "there is no encoding", 'Add encoding = "utf-8"')
        if said.delimiter is None:
            yield MisfitError("delimiter", "there is no delimiter", 'Add delimiter = ","')
        elif len(said.delimiter.encode()) != 1 or said.delimiter in ("\n", "\r", said.quote):
            yield MisfitError("delimiter", "the delimiter is not one plain character", 'Write "," or ";" or "|" or "\\t"')
    elif said.delimiter is not None:
        yield MisfitError("delimiter", f'delimiter is about CSV, and format is "{said.format}"', "Leave it out")
    if said.encoding is not None and not is_text_encoding(said.encoding):
        yield MisfitError("encoding", f'there is no encoding "{said.encoding}"', "Try utf-8 or cp1252")
    if said.lifecycle_keep and said.lifecycle is None:
        what = "lifecycle_keep chooses transitions, and no column is named as lifecycle"
        yield MisfitError("lifecycle_keep", what, "Name it, or leave lifecycle_keep out")
    if said.unit == "individual" and said.individual is None:
        what = 'unit is "individual", and no column says whose case it is'
        yield MisfitError("unit", what, 'Name the column with individual, or write unit = "case"')
    if said.unit == "case" and said.individual is not None:
        what = 'individual names whose case it is, and unit is "case"'
        yield MisfitError("unit", what, 'Write unit = "individual", or remove individual if single cases are to be protected')
    if said.most_cases > 1 and said.unit == "case":
        yield MisfitError("most_cases", 'most_cases is about individuals, and unit is "case"', "Leave it out")
    named = {role: getattr(said, role) or () for role in ROLES}
    yield from clashes(said.attributes, {role: (names,) if isinstance(names, str) else names for role, names in named.items()})


def check_form(form: Form, options: ReadOptions, place: str) -> None:
    """An `InputError` where a description is of another format than this one."""
    if options.form not in (None, form):
        words = {"xes": "XES", "csv": "CSV", "table": "a table with types (Parquet or a data frame)"}
        what = f"this is {words[form]}, and {options.described} describes {words[options.form or form]}"
        raise InputError(what, place=place, remedy="Give the file that it describes, or describe this one with libra describe")


def _text_of(path: Path) -> str:
    with open_input(path, "none") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise InputError("this is too large for a description", place=str(path), remedy="Write one with libra describe")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("this is not UTF-8", place=f"{path}, line {line}", remedy="Save it as UTF-8") from error


def _line_of(key: str, text: str) -> str:
    """The line on which a key gets its value, for errors."""
    name = re.escape(key)
    found = re.search(rf"""^[ \t]*(?:(?:\[\[?[ \t]*)?(?:{name}|"{name}"|'{name}')[ \t]*[=.\]])""", text, re.MULTILINE)
    return "" if found is None else f", line {text.count(chr(10), 0, found.start()) + 1}"

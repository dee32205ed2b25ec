"""The description of a log: everything about how it is read, said once by whoever holds it, so that no content decides.

In: a TOML file, or what `describe` found. Out: the options of the reader, in which nothing is left to detect, and the parameters
of a release that belong to the log. A key is called like the keyword of `libra.read`. `description_file` reads and writes the
file; here is what it may say. A description that contradicts itself is never made.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from libra.errors import InputError, MissingColumnError, UsageError
from libra.eventlog.files import Kind
from libra.eventlog.options import ANY, EpochUnit, Form, ReadOptions, RoleNames, Zone

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
}
OF_TEXT = ("delimiter", "quote", "line_end", "decimal")
CHECK = "CHECK THIS: "  # how the reason of a key begins that the content of a log leaves open


class MisfitError(UsageError):
    """What a description says cannot be meant; `key` is where, `what` and `remedy` are the parts of the line."""

    def __init__(self, key: str, what: str, remedy: str) -> None:
        """Compose the line."""
        super().__init__(f"{what}. {remedy}.")
        self.key, self.what, self.remedy = key, what, remedy


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
    sort_by_time: bool = False
    drop_invalid: bool = False
    unit: Unit = "case"
    most_cases: int = 1
    labels: str | tuple[str, ...] = PRIVATE
    reasons: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Why each key has its value, for the comments of the file."""
    source: str = field(default="the description", compare=False)
    """What it is called in errors."""
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """What else is worth knowing of the log that was described."""
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """On which line of its file a key stands."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name in (*SEVERAL, "labels"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        for key in KEYS:
            _check_type(key, getattr(self, key))
        for misfit in _contradictions(self):
            raise misfit

    @classmethod
    def read(cls, path: str | Path) -> Description:
        """The description in a TOML file.

        Raises:
            InputError: It cannot be read, or says what cannot be meant; the text names the line.
        """
        from libra.eventlog.description_file import read_description

        return read_description(Path(path))

    def to_toml(self) -> str:
        """The description as a TOML file with a comment on every line.

        Example:
            >>> said = Description(format="table", case_id=("visit",), activity=("step",), timestamp="done", zone="file")
            >>> 'activity = ["step"]' in said.to_toml()
            True
        """
        from libra.eventlog.description_file import to_toml

        return to_toml(self)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy: the keys that say something."""
        said = {key: getattr(self, key) for key in KEYS if self.says(key)}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in said.items()}

    def says(self, key: str) -> bool:
        """Whether a key is there, settled, and about this format."""
        there = getattr(self, key) is not None and key not in self.unsettled
        return there and (self.format == "csv" or key not in OF_TEXT)

    @property
    def unsettled(self) -> dict[str, str]:
        """The keys that the content of the log leaves open, and why; their values are guesses, and nothing is read by them.

        Example:
            >>> import polars as pl
            >>> import libra
            >>> log = pl.DataFrame({"case": [1], "activity": ["a"], "time": ["03/04/2024"]})
            >>> libra.describe(log).unsettled
            {'timestamp_format': 'no date in "time" shows whether day or month comes first'}
            >>> libra.describe(log, day_first=True).unsettled
            {}
        """
        return {key: why.removeprefix(CHECK) for key, why in self.reasons.items() if why.startswith(CHECK)}

    def options(self) -> ReadOptions:
        """The options of the reader; nothing is left to detect.

        Raises:
            InputError: A key is unsettled.
        """
        for key, why in self.unsettled.items():
            raise unsettled_key(key, why, self.source)
        of_text: dict[str, Any] = {}
        if self.format == "csv":
            of_text = {"delimiter": self.delimiter, "decimal": self.decimal}
            of_text |= {"quote": self.quote, "line_end": LINE_ENDS[self.line_end]}
        return ReadOptions(
            roles=RoleNames(**{role: getattr(self, role) for role in ROLES}),
            lifecycle_keep=self.lifecycle_keep,
            timestamp_format=self.timestamp_format,
            day_first=self.day_first,
            epoch_unit=self.epoch_unit,
            zone=self.zone,
            encoding=self.encoding,
            sort_by_time=self.sort_by_time,
            drop_invalid=self.drop_invalid,
            described=self.source,
            form=self.format,
            **of_text,
        )

    def parameters(self) -> dict[str, Any]:
        """What it says about a release, as keywords of `libra.anonymize`."""
        labels = list(self.labels) if isinstance(self.labels, tuple) else self.labels
        return {"labels": labels} | ({"most_cases": self.most_cases} if self.unit == "individual" else {})

    def place(self, key: str) -> str:
        """Where a key stands, for errors."""
        return f"{self.source}, line {self.lines[key]}" if key in self.lines else self.source


def unsettled_key(key: str, why: str, place: str) -> InputError:
    """The error for a key that a description leaves open.

    Example:
        >>> print(unsettled_key("zone", "some times carry a zone and others do not", "log.toml, line 26"))
        log.toml, line 26: zone is open: some times carry a zone and others do not.
        Remove the # before zone if its line is right, correct it if not, or describe the log again with a flag that settles it.
    """
    remedy = f"Remove the # before {key} if its line is right, correct it if not, or describe the log again with a flag that "
    return InputError(f"{key} is open: {why}", place=place, remedy=remedy + "settles it")


@contextmanager
def in_its_words(described: str) -> Iterator[None]:
    """Errors about how a log was read, speaking of the keys of a description where they speak of flags.

    Example:
        >>> with in_its_words("log.toml"):
        ...     raise InputError("no activity", place="a.csv, line 2", remedy="Drop such events with --drop-invalid")
        Traceback (most recent call last):
        libra.errors.InputError: a.csv, line 2: no activity. Drop such events with drop_invalid in log.toml.
    """
    try:
        yield
    except InputError as error:
        what, remedy = (_without_flags(text, described) for text in (error.what, error.remedy))
        if not described or (what, remedy) == (error.what, error.remedy):
            raise
        if isinstance(error, MissingColumnError):
            raise MissingColumnError(what, place=error.place, remedy=remedy, lacking=error.lacking) from error
        raise InputError(what, place=error.place, remedy=remedy) from error


def _without_flags(text: str, described: str) -> str:
    """The text with keys for flags, the last of them with the name of the description."""
    flags = {f"--{key.replace('_', '-')}": key for key in KEYS} | {"--month-first": "day_first"}
    found = [match for match in re.finditer(r"--[a-z-]+[a-z]", text) if match[0] in flags]
    for match in reversed(found):
        where = f" in {described}" if match is found[-1] else ""
        text = text[: match.start()] + flags[match[0]] + where + text[match.end() :]
    return text


KEYS = tuple(each.name for each in fields(Description) if each.compare)
REQUIRED = ("format", "activity", "timestamp", "zone")
NUMBERS, TRUTHS = ("most_cases",), ("day_first", "sort_by_time", "drop_invalid")
OPTIONAL = tuple(each.name for each in fields(Description) if each.default is None)


def _check_type(key: str, value: object) -> None:
    """A `MisfitError` for a value of another type than the key's, or none of its choices."""
    if value is None and key in OPTIONAL:
        return
    if key in SEVERAL or (key == "labels" and not isinstance(value, str)):
        fits = isinstance(value, tuple) and all(isinstance(one, str) for one in value)
        asked = "a list of names" if key != "labels" else f'"{PRIVATE}", "{PUBLIC}" or a list of names'
        if key == "labels" and isinstance(value, tuple) and fits and not (value and all(name.strip() for name in value)):
            what = "the list of labels is empty or has an empty name"
            raise MisfitError(key, what, f'List the names of activities, or write labels = "{PRIVATE}"')
    elif key in NUMBERS:
        fits, asked = isinstance(value, int) and not isinstance(value, bool) and value >= 1, "a whole number from 1 on"
    elif key in TRUTHS:
        fits, asked = isinstance(value, bool), "true or false"
    elif key in CHOICES:
        fits, asked = value in CHOICES[key], "one of " + ", ".join(f'"{choice}"' for choice in CHOICES[key])
    elif key == "labels":
        fits, asked = value in (PRIVATE, PUBLIC), f'"{PRIVATE}", "{PUBLIC}" or a list of names'
    else:
        fits, asked = isinstance(value, str), "text"
    if not fits:
        raise MisfitError(key, f"{key} is {asked}, not {_shown(value)}", f"Correct {key}")
    texts: Sequence[object] = value if isinstance(value, tuple) else (value,)
    if any(isinstance(text, str) and any("\ud800" <= letter <= "\udfff" for letter in text) for text in texts):
        raise MisfitError(key, f"{key} holds half a character", "Write it again")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _contradictions(said: Description) -> Iterator[MisfitError]:
    """What cannot be meant together."""
    if not said.case_id and said.format != "xes":
        yield MisfitError(
            "case_id", "no column is named as case_id", "Only in XES is each trace a case: name a column, or several"
        )
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
    if said.encoding is not None and not _is_encoding(said.encoding):
        yield MisfitError("encoding", f'there is no encoding "{said.encoding}"', "Try utf-8 or cp1252")
    if said.lifecycle_keep and said.lifecycle is None:
        what = "lifecycle_keep chooses transitions, and no column is named as lifecycle"
        yield MisfitError("lifecycle_keep", what, "Name it, or leave lifecycle_keep out")
    if (said.unit == "individual") != (said.individual is not None):
        what, remedy = {
            "individual": (
                'unit is "individual", and no column says whose case it is',
                'Name the column with individual, or write unit = "case"',
            ),
            "case": (
                'individual names whose case it is, and unit is "case"',
                'Write unit = "individual", or remove individual if single cases are to be protected',
            ),
        }[said.unit]
        yield MisfitError("unit", what, remedy)
    if said.most_cases > 1 and said.unit == "case":
        yield MisfitError("most_cases", 'most_cases is about individuals, and unit is "case"', "Leave it out")


def check_form(form: Form, options: ReadOptions, place: str) -> None:
    """An `InputError` where a description is of another format than this one."""
    if options.form not in (None, form):
        words = {"xes": "XES", "csv": "CSV", "table": "a table with types (Parquet or a data frame)"}
        what = f"this is {words[form]}, and {options.described} describes {words[options.form or form]}"
        raise InputError(what, place=place, remedy="Give the file that it describes, or describe this one with libra describe")


def _is_encoding(name: str) -> bool:
    try:
        return bool(getattr(codecs.lookup(name), "_is_text_encoding", True))
    except (LookupError, ValueError):
        return False

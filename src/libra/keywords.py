"""The keywords of `libra.read` and of everything else that reads a log, checked and turned into the options of the reader.

In: what a caller said, in the types people write. Out: `ReadOptions`. Those of `libra.anonymize` are named here as well; each
mechanism checks its own. None means the same as leaving a keyword out. A wrong name is a `TypeError`, as for any function of
Python; a value that cannot be meant is a `UsageError` before any file is opened.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, get_args

from libra.errors import UsageError, did_you_mean
from libra.eventlog.options import EpochUnit, Progress, ReadOptions, RoleNames, Zone

if TYPE_CHECKING:
    from libra.eventlog.description import Description
    from libra.mechanisms.libra2022.algorithm import Anonymizer

ONE_OR_SEVERAL = ("case_id", "activity", "lifecycle_keep")
SEVERAL = (*ONE_OR_SEVERAL, "labels")
YES_OR_NO = ("day_first", "sort_by_time", "drop_invalid", "allow_empty")
TABS = {"tab": "\t", "\\t": "\t"}  # what can be typed in a shell


class ReadKeywords(TypedDict, total=False):
    """What may be said about how a log is read; everything left out is found from the data."""

    case_id: str | Sequence[str] | None
    activity: str | Sequence[str] | None
    timestamp: str | None
    start_timestamp: str | None
    lifecycle: str | None
    resource: str | None
    individual: str | None
    lifecycle_keep: str | Sequence[str] | None
    timestamp_format: str | None
    day_first: bool | None
    epoch_unit: EpochUnit | None
    zone: Zone | None
    delimiter: str | None
    encoding: str | None
    decimal: str | None
    sort_by_time: bool
    drop_invalid: bool
    allow_empty: bool
    description: str | Path | Description | None
    progress: Progress


class OtherParameters(TypedDict, total=False):
    """The parameters of the mechanisms beside those of the guarantee; None means the mechanism's default."""

    tail: str | None
    budget: Mapping[str, float] | str | None
    labels: str | Sequence[str] | None
    time_zone: str | None
    cases: int | None
    most_cases: int | None
    alpha: float | None
    b: float | None
    gamma: float | None
    subsamples: int | Literal["paper"] | None
    trace_noise: bool | None
    signed_times: bool | None
    omega: float | None
    anonymizer: Anonymizer | str | None
    times: str | None
    prune: float | None
    max_length: int | None
    split_budget: bool | None
    guessing_advantage: float | None
    query: str | None
    repeats: int | None


class AnonymizeKeywords(ReadKeywords, OtherParameters, total=False):
    """The keywords of `libra.anonymize` and `libra.audit`: about reading, and the parameters beside epsilon and delta."""


def read_options(**keywords: Unpack[ReadKeywords]) -> ReadOptions:
    """The options of the reader from keywords.

    Example:
        >>> from libra.keywords import read_options
        >>> read_options(case_id="Patient", day_first=True).roles.case_id
        ('Patient',)
    """
    refuse_unknown("libra.read", keywords, ReadKeywords)
    said: dict[str, Any] = {name: _checked(name, value) for name, value in keywords.items() if value is not None}
    described: Description | None = said.pop("description", None)
    if described is not None:
        apart = {name: said.pop(name) for name in ("allow_empty", "progress") if name in said}
        refuse_contradictions(described, said)
        return replace(described.options(), **apart)
    roles = {field.name: said.pop(field.name) for field in fields(RoleNames) if field.name in said}
    return ReadOptions(roles=RoleNames(**roles), **said)


def described_by(given: str | Path | Description | None) -> Description | None:
    """The description that a keyword names: a file, or one at hand."""
    from libra.eventlog.description import Description

    if given is None or isinstance(given, Description):
        return given
    if not isinstance(given, str | Path):
        raise UsageError(f"description is the path of a file or a Description, not {given!r}.")
    return Description.read(given)


def refuse_contradictions(described: Description, said: Mapping[str, Any]) -> None:
    """A `UsageError` for a keyword beside a description that says otherwise.

    Example:
        >>> from libra.eventlog.description import Description
        >>> visits = Description(format="table", case_id=("visit",), activity=("step",), timestamp="done", zone="none")
        >>> refuse_contradictions(visits, {"zone": "utc"})
        Traceback (most recent call last):
        libra.errors.UsageError: --zone says "utc", and the description says "none". Leave out one of them.
        >>> refuse_contradictions(visits, {"individual": "patient"})
        Traceback (most recent call last):
        libra.errors.UsageError: --individual says "patient", and the description says nothing on it.
        Write individual = "patient" and unit = "individual" there.
    """
    for name, value in said.items():
        key, theirs = name, getattr(described, name)
        if name == "day_first" and theirs is None and (theirs := _day_first_in(described.timestamp_format)) is not None:
            key = "timestamp_format"
        if value == theirs or (value is False and name != "day_first") or (name == "encoding" and _same_encoding(value, theirs)):
            continue
        flag = "--month-first" if name == "day_first" and value is False else f"--{name.replace('_', '-')}"
        absent = _is_absent(described, key)
        ours = f"{flag} contradicts" if isinstance(value, bool) else f"{flag} says {_shown(value)}, and"
        if isinstance(value, bool):
            says = f", which has no {name}" if absent else f", which says {key} = {_shown(getattr(described, key))}"
        else:
            says = " says nothing on it" if absent else f" says {_shown(theirs)}"
        remedy = f"Write {_line(name, value)} there" if absent else "Leave out one of them"
        raise UsageError(f"{ours} {described.place(key)}{says}. {remedy}.")


def _is_absent(described: Description, key: str) -> bool:
    """Whether a description has no such key: its file has no line for it, or it is not from a file and says nothing."""
    return key not in described.places if described.places else getattr(described, key) in (None, ())


def _line(key: str, value: Any) -> str:
    """What to write into a description so that it says this."""
    said = f"[{_shown(tuple(value))}]" if key in SEVERAL and not isinstance(value, str) else _shown(value)
    return f"{key} = {said}" + (' and unit = "individual"' if key == "individual" else "")


def _day_first_in(pattern: str | None) -> bool | None:
    """Whether the day comes before the month in a format; None where it does not have both."""
    if pattern is None:
        return None
    day, months = pattern.find("%d"), [at for code in ("%m", "%b", "%B") if (at := pattern.find(code)) >= 0]
    return day < months[0] if day >= 0 and months else None


def described_parameters(described: Description | None, said: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """The parameters of a mechanism that knows these: what was said, and what a description of the log says of a release.

    Example:
        >>> from libra.eventlog.description import Description
        >>> by_who = {"individual": "who", "unit": "individual", "most_cases": 2}
        >>> visits = Description("table", ("step",), "done", "none", ("visit",), **by_who)
        >>> described_parameters(visits, {"epsilon": 1.0}, ["epsilon", "most_cases"])
        {'epsilon': 1.0, 'most_cases': 2}
    """
    together = dict(said)
    for name, value in ({} if described is None else described.parameters()).items():
        if name in known and together.setdefault(name, value) is None:
            together[name] = value
        if described is not None and name in known and not _alike(together[name], value):
            flag = "--public-labels" if together[name] == "public" else f"--{name.replace('_', '-')}"
            if described.places and name not in described.places:
                several = f"{name} = [...], with the names of the list," if flag == "--labels" else _line(name, together[name])
                raise UsageError(f"{flag} is not in {described.source}, which says all about the log. Write {several} there.")
            raise UsageError(f"{flag} contradicts {described.place(name)}. Correct {name} there, or leave out the flag.")
    return together


def _alike(one: Any, other: Any) -> bool:
    """Whether two values of a parameter mean the same: a list of names is the same in any order."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return set(one) == set(other)
    return bool(one == other)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return (
        ", ".join(f'"{one}"' for one in value)
        if isinstance(value, tuple)
        else f'"{value}"'
        if isinstance(value, str)
        else str(value)
    )


def _same_encoding(one: str, other: str | None) -> bool:
    return other is not None and codecs.lookup(one).name == codecs.lookup(other).name


def refuse_unknown(function: str, keywords: Mapping[str, object], known: type, more: Sequence[str] = ()) -> None:
    """A `TypeError` for a keyword that is neither of the known type's nor one of `more`, with what may have been meant.

    Example:
        >>> from libra.keywords import ReadKeywords, refuse_unknown
        >>> refuse_unknown("libra.read", {"case_idd": "Patient"}, ReadKeywords)
        Traceback (most recent call last):
        TypeError: libra.read() got an unexpected keyword argument 'case_idd'. Did you mean case_id?
    """
    names = [*known.__annotations__, *more]
    for name in keywords:
        if name not in names:
            hint = did_you_mean(name, names)
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'{'.' if hint else ''}{hint}")


def _checked(name: str, value: Any) -> Any:
    """The value of a keyword as the reader wants it."""
    if name == "progress":
        if not callable(value):
            raise UsageError(f"progress is a function of two numbers, not {value!r}.")
        return value
    if name == "description":
        return described_by(value)
    if name in YES_OR_NO:
        refuse_other_than_bool(name, value)
        return value
    if name in ONE_OR_SEVERAL:
        several = (value,) if isinstance(value, str) else value
        if not isinstance(several, Sequence) or not all(isinstance(one, str) for one in several):
            raise UsageError(f"{name} is a name or a list of names, not {value!r}.")
        return tuple(several)
    if not isinstance(value, str):
        raise UsageError(f"{name} is text, not {value!r}.")
    return _CHECKS[name](value) if name in _CHECKS else value


def refuse_other_than_bool(name: str, value: object) -> None:
    """A `UsageError` for a switch that is neither True nor False."""
    if not isinstance(value, bool):
        raise UsageError(f"{name} is either True or False, not {value!r}.")


def _delimiter(said: str) -> str:
    delimiter = TABS.get(said, said)
    if len(delimiter) != 1:
        raise UsageError(f'The delimiter "{said}" is not one character. Use , or ; or | or tab.')
    return delimiter


def _decimal(said: str) -> str:
    if said not in (".", ","):
        raise UsageError(f'The decimal sign "{said}" is neither . nor a comma.')
    return said


def _encoding(said: str) -> str:
    try:
        b" ".decode(said)
    except UnicodeError:  # it exists: a lone space is not valid in all of them
        return said
    except (LookupError, ValueError) as error:
        raise UsageError(f'There is no encoding "{said}". Try utf-8 or cp1252.') from error
    return said


def _epoch_unit(said: str) -> str:
    if said not in get_args(EpochUnit):
        raise UsageError(f'The unit of epochs "{said}" is none of s, ms, us and ns.')
    return said


def _zone(said: str) -> str:
    if said not in get_args(Zone):
        raise UsageError(
            f'The zone "{said}" is neither file (every time carries its own), none, nor utc (those without are in UTC).'
        )
    return said


_CHECKS = {"delimiter": _delimiter, "decimal": _decimal, "encoding": _encoding, "epoch_unit": _epoch_unit, "zone": _zone}

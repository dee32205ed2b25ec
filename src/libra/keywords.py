"""The keywords of `libra.read` and of everything else that reads a log, checked and turned into the options of the reader.

In: what a caller said, in the types people write. Out: `ReadOptions`. Those of `libra.anonymize` are named here as well; each
mechanism checks its own. None means the same as leaving a keyword out. A wrong name is a `TypeError`, as for any function of
Python; a value that cannot be meant is a `UsageError` before any file is opened.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from libra.errors import UsageError
from libra.eventlog.options import Progress, ReadOptions, RoleNames

if TYPE_CHECKING:
    from libra.mechanisms.libra2022.algorithm import Anonymizer

ONE_OR_SEVERAL = ("case_id", "activity", "lifecycle_keep")
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
    delimiter: str | None
    encoding: str | None
    decimal: str | None
    sort_by_time: bool
    drop_invalid: bool
    allow_empty: bool
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


class MechanismKeywords(OtherParameters, total=False):
    """The parameters of the mechanisms; None means the mechanism's default."""

    epsilon: float | None
    delta: float | None


class AuditKeywords(ReadKeywords, OtherParameters, total=False):
    """What may be said to `libra.audit`: about reading, and the parameters of the mechanism that are no part of the claim."""


class AnonymizeKeywords(ReadKeywords, MechanismKeywords, total=False):
    """What may be said to `libra.anonymize`: about reading, and the parameters of the mechanism."""


def read_options(**keywords: Unpack[ReadKeywords]) -> ReadOptions:
    """The options of the reader from keywords.

    Example:
        >>> from libra.keywords import read_options
        >>> read_options(case_id="Patient", day_first=True).roles.case_id
        ('Patient',)
    """
    refuse_unknown("libra.read", keywords, ReadKeywords)
    said: dict[str, Any] = {name: _checked(name, value) for name, value in keywords.items() if value is not None}
    roles = {field.name: said.pop(field.name) for field in fields(RoleNames) if field.name in said}
    return ReadOptions(roles=RoleNames(**roles), **said)


def refuse_unknown(function: str, keywords: Mapping[str, object], known: type, more: Sequence[str] = ()) -> None:
    """A `TypeError` for a keyword that is neither of the known type's nor one of `more`, with what may have been meant.

    Example:
        >>> from libra.keywords import ReadKeywords, refuse_unknown
        >>> refuse_unknown("libra.read", {"case_idd": "Patient"}, ReadKeywords)
        Traceback (most recent call last):
        TypeError: libra.read() got an unexpected keyword argument 'case_idd'. Did you mean 'case_id'?
    """
    names = [*known.__annotations__, *more]
    for name in keywords:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            hint = f". Did you mean '{close[0]}'?" if close else ""
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'{hint}")


def _checked(name: str, value: Any) -> Any:
    """The value of a keyword as the reader wants it."""
    if name == "progress":
        if not callable(value):
            raise UsageError(f"progress is a function of two numbers, not {value!r}.")
        return value
    if name in YES_OR_NO:
        if not isinstance(value, bool):
            raise UsageError(f"{name} is either True or False, not {value!r}.")
        return value
    if name in ONE_OR_SEVERAL:
        several = (value,) if isinstance(value, str) else value
        if not isinstance(several, Sequence) or not all(isinstance(one, str) for one in several):
            raise UsageError(f"{name} is a name or a list of names, not {value!r}.")
        return tuple(several)
    if not isinstance(value, str):
        raise UsageError(f"{name} is text, not {value!r}.")
    return _CHECKS[name](value) if name in _CHECKS else value


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


_CHECKS = {"delimiter": _delimiter, "decimal": _decimal, "encoding": _encoding}

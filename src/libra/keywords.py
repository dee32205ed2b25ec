"""The keywords of `libra.read` and of everything else that reads a log, checked and turned into the options of the reader.

Those of `libra.anonymize` are named here as well; each mechanism checks its own. None means the same as leaving a keyword out.
A wrong name is a `TypeError`, as for any function of Python; an invalid value is a `UsageError` before any file is opened.
"""

from __future__ import annotations

import codecs
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, get_args

from libra.errors import UsageError, did_you_mean
from libra.eventlog.options import EpochUnit, InstanceMode, Progress, ReadOptions, RoleNames, Zone

if TYPE_CHECKING:
    from libra.eventlog.attributes import Attribute
    from libra.eventlog.description import Description
    from libra.mechanisms.libra2022.algorithm import Anonymizer

ONE_OR_SEVERAL = ("case_id", "activity", "lifecycle_keep")
SEVERAL = (*ONE_OR_SEVERAL, "labels")
YES_OR_NO = ("day_first", "sort_by_time", "drop_invalid", "allow_empty")
MOST_NAMES = 12  # that an error lists
TABS = {"tab": "\t", "\\t": "\t"}  # what can be typed in a shell
OTHER_FLAGS = {  # what stands for a flag of another name
    "attribute": 'attributes=["NAME"]',
    "all_attributes": 'attributes="all"',
    "public_labels": 'labels="public"',
    "month_first": "day_first=False",
}
CHOICES: dict[str, tuple[tuple[str, ...], str]] = {
    "decimal": ((".", ","), 'The decimal sign "{}" is neither . nor a comma.'),
    "epoch_unit": (get_args(EpochUnit), 'The unit of epochs "{}" is none of s, ms, us and ns.'),
    "instances": (get_args(InstanceMode), '"{}" is no way to read activity instances. Use pair, complete or events.'),
    "zone": (
        get_args(Zone),
        'The zone "{}" is neither file (every time has its own), none, nor utc (those without are in UTC).',
    ),
}


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
    instances: InstanceMode | None
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
    edges: str | None
    budget: Mapping[str, float] | str | None
    labels: str | Sequence[str] | None
    time_zone: str | None
    cases: int | None
    most_cases: int | None
    attributes: Sequence[str | Attribute] | Literal["all"] | None
    resource_names: bool | None
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
    """The options of the reader from keywords."""
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
        raise UsageError(f"description has to be the path of a file or a Description, not {given!r}.")
    return Description.read(given)


def refuse_contradictions(described: Description, said: Mapping[str, Any]) -> None:
    """A `UsageError` for a keyword beside a description that says otherwise."""
    for name, value in said.items():
        key, theirs = name, getattr(described, name)
        if name == "day_first" and theirs is None and (theirs := _day_first_in(described.timestamp_format)) is not None:
            key = "timestamp_format"
        same = value == theirs or (name == "encoding" and theirs and codecs.lookup(value).name == codecs.lookup(theirs).name)
        if same or (value is False and name != "day_first"):
            continue
        flag = "--month-first" if name == "day_first" and value is False else f"--{name.replace('_', '-')}"
        absent = key not in described.places if described.places else getattr(described, key) in (None, ())
        if isinstance(value, bool):
            ours = f"{flag} contradicts"
            says = f", which has no {name}" if absent else f", which says {key} = {_shown(getattr(described, key))}"
        else:
            ours = f"{flag} says {_shown(value)}, and"
            says = " says nothing on it" if absent else f" says {_shown(theirs)}"
        remedy = f"Write {_line(name, value)} there" if absent else "Leave out one of them"
        raise UsageError(f"{ours} {described.place(key)}{says}. {remedy}.")


def _line(key: str, value: Any) -> str:
    """What to write into a description so that it says this."""
    said = f"[{_shown(tuple(value))}]" if key in SEVERAL and not isinstance(value, str) else _shown(value)
    return f"{key} = {said}" + (' and unit = "individual"' if key == "individual" else "")


def _day_first_in(pattern: str | None) -> bool | None:
    """Whether the day comes before the month in a format; None where it does not have both."""
    day, *months = ((pattern or "").find(code) for code in ("%d", "%m", "%b", "%B"))
    month = next((at for at in months if at >= 0), -1)
    return day < month if day >= 0 and month >= 0 else None


def described_parameters(described: Description | None, said: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """The parameters of a mechanism that knows these: what was said, and what a description of the log says of a release."""
    together = dict(said)
    if together.get("attributes") is not None and "attributes" in known:
        together["attributes"] = asked_attributes(described, together["attributes"])
    if described is None:
        return together
    for name, value in described.parameters().items():
        if name not in known:
            continue
        ours = together[name] = value if together.get(name) is None else together[name]
        lists = isinstance(ours, list | tuple) and isinstance(value, list | tuple)
        if set(ours) == set(value) if lists else ours == value:  # a list of names is the same in any order
            continue
        flag = "--public-labels" if ours == "public" else f"--{name.replace('_', '-')}"
        if described.places and name not in described.places:
            several = f"{name} = [...], with the names of the list," if flag == "--labels" else _line(name, ours)
            raise UsageError(f"{flag} is not in {described.source}, which says all about the log. Write {several} there.")
        raise UsageError(f"{flag} contradicts {described.place(name)}. Correct {name} there, or leave out the flag.")
    return together


def asked_attributes(described: Description | None, said: str | Sequence[Any]) -> list[Any]:
    """The attributes that are asked for by name, or all that may be released, as a description declares them.

    A declaration may stand for its name; a log without a description is read by such declarations alone.

    Resources are people, whom a guarantee for cases does not protect: they have to be named, also beside "all" in a list.
    Transitions that say what is an instance, or which event is which, are released as that.
    """
    from libra.eventlog.attribute_keys import TABLES
    from libra.eventlog.attributes import Attribute
    from libra.eventlog.names import LIFECYCLE, RESOURCE

    if not isinstance(said, Sequence) or (isinstance(said, str) and said != "all"):
        raise UsageError(f'attributes has to be a list of names, or "all", not {said!r}.')
    asked = [Attribute.from_dict(one) if isinstance(one, Mapping) else one for one in said]
    if described is None:
        if said != "all" and all(isinstance(one, Attribute) for one in asked):
            return asked
        remedy = "Write it with libra describe LOG -o log.toml, check it, and add --description log.toml"
        raise UsageError(f"Attributes are released as a description of the log declares them, and there is none. {remedy}.")
    known = {attribute.name: attribute for attribute in described.attributes}
    of_instances = described.instances in ("pair", "events")
    if isinstance(said, str):
        left_out = {RESOURCE, LIFECYCLE} if of_instances else {RESOURCE}
        released = [attribute for attribute in described.attributes if attribute.release and attribute.name not in left_out]
        if not released:
            raise UsageError(f"{described.source} has no attribute that may be released. Describe the log again, or correct it.")
        return released
    if "all" in said and "all" not in known:
        named = asked_attributes(described, [one for one in asked if one != "all"])
        return [*(one for one in asked_attributes(described, "all") if one not in named), *named]
    for number, one in enumerate(asked):
        name = one.name if isinstance(one, Attribute) else one
        if not isinstance(name, str):
            continue  # the mechanism refuses it
        if name == LIFECYCLE and of_instances:
            instead = "with every event" if described.instances == "events" else "as starts and completions"
            raise UsageError(f'{described.place("instances")} releases "{name}" {instead}. Leave out the attribute.')
        if name not in known:
            raise UsageError(f'{described.source} has no attribute "{name}".{_instead(name, described, known)}')
        if not known[name].release:
            remedy = "Set release = true there if it may be"
            raise UsageError(f'{described.source} says that "{name}" is not to be released. {remedy}.')
        if isinstance(one, Attribute) and one != known[name]:
            place = described.place(f"{TABLES}.{name}")
            raise UsageError(f'{place} declares "{name}" otherwise. Ask for it by its name, or correct it there.')
        asked[number] = known[name]
    return asked


def _instead(name: str, described: Description, known: Mapping[str, Attribute]) -> str:
    """What to ask for instead of an attribute that a description does not have."""
    from libra.eventlog.attributes import ROLES_THEY_PLAY

    folded = {each.casefold(): each for each in known}
    parts = [part.strip().casefold() for part in name.split(",")]
    meant = [folded[each] for part in parts if (each := part if part in folded else f"case:{part}") in folded]
    if len(meant) == len(parts):
        flags = shlex.join(word for each in meant for word in ("--attribute", each))
        return f" Did you mean {meant[0]}?" if len(parts) == 1 else f" Repeat --attribute for each: {flags}."
    for role in (field.name for field in fields(RoleNames)):
        columns, standard = getattr(described, role) or (), ROLES_THEY_PLAY.get(role)
        if name != standard and name in ((columns,) if isinstance(columns, str) else columns):
            remedy = f"Ask for {standard}" if standard else "Leave it out: roles are not released as attributes"
            return f" It is the column of {role}. {remedy}."
    allowed = [f'"{each}"' for each in known if known[each].release]
    listed = f"{', '.join(allowed[:MOST_NAMES])}{', …' * (len(allowed) > MOST_NAMES)}" or "none"
    return did_you_mean(name, known) or f" Those that may be released: {listed}. For another column, add its table."


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_shown, value))
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


def refuse_unknown(function: str, keywords: Mapping[str, object], known: type, more: Sequence[str] = ()) -> None:
    """A `TypeError` for a keyword that is neither of the known type's nor one of `more`, with what may have been meant."""
    names = [*known.__annotations__, *more]
    for name in keywords:
        if name not in names:
            meant = OTHER_FLAGS.get(name, "")
            hint = f" Did you mean {meant}?" if meant.partition("=")[0] in names else did_you_mean(name, names)
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'{'.' if hint else ''}{hint}")


def refuse_other_than_bool(**switches: object) -> None:
    """A `UsageError` for a switch that is neither True nor False."""
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise UsageError(f"{name} has to be True or False, not {value!r}.")


def _checked(name: str, value: Any) -> Any:
    """The value of a keyword as the reader wants it."""
    if name == "progress":
        if not callable(value):
            raise UsageError(f"progress has to be a function of two numbers, not {value!r}.")
        return value
    if name == "description":
        return described_by(value)
    if name in YES_OR_NO:
        refuse_other_than_bool(**{name: value})
        return value
    if name in ONE_OR_SEVERAL:
        several = (value,) if isinstance(value, str) else value
        if not isinstance(several, Sequence) or not all(isinstance(one, str) for one in several):
            raise UsageError(f"{name} has to be a name or a list of names, not {value!r}.")
        return tuple(several)
    if not isinstance(value, str):
        raise UsageError(f"{name} has to be text, not {value!r}.")
    if name in CHOICES and value not in CHOICES[name][0]:
        raise UsageError(CHOICES[name][1].format(value))
    if name == "delimiter":
        if len(TABS.get(value, value)) != 1:
            raise UsageError(f'The delimiter "{value}" is not one character. Use , or ; or | or tab.')
        return TABS.get(value, value)
    if name == "encoding":
        try:
            b" ".decode(value)
        except UnicodeError:  # it exists: a lone space is not valid in all of them
            pass
        except (LookupError, ValueError) as error:
            raise UsageError(f'There is no encoding "{value}". Try utf-8 or cp1252.') from error
    return value

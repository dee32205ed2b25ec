"""The attributes in the file of a description: a table of TOML for each, read with its mistakes named, and written with reasons.

What declares an attribute is public. What was only seen in the log is written behind a #, for whoever knows it from elsewhere.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

from libra.errors import UsageError, did_you_mean
from libra.eventlog.attributes import MOST_DECIMALS, ROLES_THEY_PLAY, Attribute, Kind, Level
from libra.eventlog.names import CASE_PREFIX
from libra.eventlog.notes import listed

TABLES = "attributes"
HEAD = """
# The attributes: which may be released (libra anonymize --attribute NAME, or --all-attributes), and what is known of each.
# Edit first: release, kind ("category" for codes), then values, or lowest and highest, as a source outside the log gives them.
# These make a release more accurate: no budget is spent to find declared values, rare ones stay, and bounds narrow the search.
# What is declared here is public. kind, level, at, decimals and counter were found in the log: check that they are no secret.
# Lines behind a # come from the log, with bounds rounded outwards, and are as confidential as the log itself: remove the # only
# if a source outside the log says so, such as a code book or a law.
"""
OUTSIDE = "from the log; declare it only if a source outside the log says so"
KEYS = tuple(each.name for each in fields(Attribute) if each.name != "name")
TEXTS, LISTS, NUMBERS, TRUTHS = ("at", "unit"), ("values", "missing"), ("lowest", "highest"), ("counter", "release")
CHOICES: dict[str, tuple[str, ...]] = {"kind": get_args(Kind), "level": get_args(Level)}


class MisfitError(UsageError):
    """What a description says is invalid; `key` is where, `what` and `remedy` are the parts of the line."""

    def __init__(self, key: str, what: str, remedy: str) -> None:
        super().__init__(f"{what}. {remedy}.")
        self.key, self.what, self.remedy = key, what, remedy


def attributes_in(tables: object) -> tuple[Attribute, ...]:
    """The attributes that the tables of a file declare; a `MisfitError` where they are none."""
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        what, remedy = f"attributes is a table for each, not {repr(tables)[:60]}", 'Write [attributes."NAME"] and below it kind'
        raise MisfitError(TABLES, what, remedy)
    return tuple(_attribute(name, table) for name, table in tables.items())


def _attribute(name: str, table: Mapping[str, Any]) -> Attribute:
    where = f"{TABLES}.{name}"
    for key, value in table.items():
        if key not in KEYS:
            close = did_you_mean(key, KEYS).strip()
            rest = f"The keys of an attribute are {', '.join(KEYS)}; those of the log stand above all attributes"
            what = f'there is no key "{key}" for the attribute "{name}"'
            raise MisfitError(f"{where}.{key}", what, f"{close} If not, leave it out" if close else rest)
        if (asked := _asked(key, value)) is not None:
            shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:60]}…"
            raise MisfitError(f"{where}.{key}", f'{key} of "{name}" is {asked}, not {shown}', f"Correct {key}")
    if "kind" not in table:
        remedy = f"Add kind, one of {listed(CHOICES['kind'])}, or remove the table"
        raise MisfitError(where, f'nothing says what kind of attribute "{name}" is', remedy)
    try:
        return Attribute.from_dict({"name": name, **table})
    except UsageError as error:
        raise MisfitError(where, str(error).removesuffix("."), f'Correct the attribute "{name}"') from None


def _asked(key: str, value: object) -> str | None:
    """What a key asks for, where a value is nothing of the kind."""
    if key in CHOICES:
        return None if value in CHOICES[key] else f"one of {listed(CHOICES[key])}"
    if key in TRUTHS:
        return None if isinstance(value, bool) else "true or false"
    if key in LISTS:
        return None if isinstance(value, list) and all(isinstance(one, str) for one in value) else "a list of texts"
    if key in TEXTS:
        return None if isinstance(value, str) else "text"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if key in NUMBERS:
        return None if number and math.isfinite(float(value)) else "a number"  # type: ignore[arg-type]
    return None if number and isinstance(value, int) and 0 <= value <= MOST_DECIMALS else f"a number from 0 to {MOST_DECIMALS}"


def clashes(attributes: Sequence[Attribute], roles: Mapping[str, Sequence[str]]) -> Iterator[MisfitError]:
    """What is invalid about attributes beside each other, and beside the columns that play the roles."""
    names = [attribute.name for attribute in attributes]
    playing = {name: role for role, columns in roles.items() for name in columns}
    whose = {CASE_PREFIX + name.removeprefix(CASE_PREFIX) for name in roles.get("individual", ())}  # as cases have it
    for attribute in attributes:
        name = attribute.name
        where, role = f"{TABLES}.{name}", playing.get(name)
        if names.count(name) > 1:
            yield MisfitError(where, f'the attribute "{name}" is described twice', "Leave one of them out")
        if re.search("[\ud800-\udfff]", name):
            yield MisfitError(where, "the name of an attribute holds half of a surrogate pair", "Write it again")
        if role is not None and name != ROLES_THEY_PLAY.get(role):
            standard = ROLES_THEY_PLAY.get(role)
            remedy = f'Call it "{standard}" to release it' if standard else "Leave its table out"
            yield MisfitError(where, f'"{name}" is the column of {role}, and no attribute', remedy)
        elif name in whose and attribute.release:
            what = f'"{name}" and the column that says whose case it is have the same name in a log'
            yield MisfitError(where, what, "Rename one of the columns, or set release = false")


def lines_of(text: str) -> Iterator[tuple[str, int]]:
    """Where the tables of attributes, and the keys in them, stand in a file."""
    path: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("["):
            try:
                inner, path = tomllib.loads(line), []
            except tomllib.TOMLDecodeError:  # a line of a list
                continue
            while isinstance(inner, dict) and inner:
                (key, inner), *_ = inner.items()
                path.append(key)
            if path[:1] == [TABLES]:
                yield ".".join(path), number
        elif path[:1] == [TABLES] and (match := re.match(r"""[ \t]*["']?(\w+)["']?[ \t]*=""", line)):
            yield ".".join((*path, match[1])), number


def table_of(attribute: Attribute, reason: str, seen: Mapping[str, Any]) -> str:
    """An attribute as a table of TOML; what was seen in the log stands behind a #."""
    comment = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in reason)
    lines = [f"[{TABLES}.{toml_value(attribute.name)}]" + (f"  # {comment}" if comment else "")]
    said = {"kind": attribute.kind} | attribute.to_dict()
    if attribute.kind == "number":
        said["decimals"] = attribute.decimals
    for key in KEYS:
        if key == "release":
            lines.append(f"release = {toml_value(attribute.release)}")
        elif key in said:
            lines.append(f"{key} = {toml_value(said[key])}")
        elif seen.get(key) is not None:
            lines.append(f"# {key} = {toml_value(seen[key])}  # {OUTSIDE}")
    return "\n".join(lines) + "\n"


def toml_value(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, int | float):
        return str(value).lower()
    escaped = re.sub(r'["\\]', r"\\\g<0>", str(value))
    return '"' + re.sub("[\x00-\x1f\x7f]", lambda letter: f"\\u{ord(letter[0]):04X}", escaped) + '"'

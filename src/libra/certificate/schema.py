"""The published JSON Schema of certificates, and whether a document has the form that it describes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastjsonschema import JsonSchemaValueException

KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}
BOUNDS = {
    "minimum": "has to be {} or more",
    "maximum": "has to be {} or less",
    "exclusiveMinimum": "has to be more than {}",
    "exclusiveMaximum": "has to be less than {}",
    "maxItems": "has more than {} items",
}
LONGEST = 40  # characters of a name that is not ours


def schema() -> dict[str, Any]:
    """The schema, a JSON-ready document of its own.

    Example:
        >>> schema()["$id"]
        'urn:libra:certificate:1'
    """
    document: dict[str, Any] = json.loads(files("libra.certificate").joinpath("schema.json").read_text(encoding="utf-8"))
    return document


def why_invalid(document: Mapping[str, Any]) -> str | None:
    """The first place where a document departs from the schema, in words; None where it does not.

    Example:
        >>> why_invalid({"document": "Libra certificate", "format": 1})
        'it has no field "ledger"'
    """
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator()(document)
    except JsonSchemaValueException as error:
        place = (error.name or "data").removeprefix("data").removeprefix(".")
        return f"{place or 'it'} {_departure(error)}"
    return None


def _departure(error: JsonSchemaValueException) -> str:
    """What is wrong at the place, by the rule that it breaks."""
    rule, asked, found = error.rule, error.rule_definition, error.value
    if rule == "required":
        return f'has no field "{next(name for name in asked if name not in found)}"'
    if rule == "additionalProperties":
        other = next(name for name in found if name not in error.definition["properties"])
        return f'has a field "{other[:LONGEST]}", which no certificate has there'
    if rule == "type":
        return f"has to be {' or '.join(KINDS[kind] for kind in ([asked] if isinstance(asked, str) else asked))}"
    if rule in ("const", "enum"):
        return f"has to be {' or '.join(json.dumps(value) for value in (asked if rule == 'enum' else [asked]))}"
    if rule in BOUNDS:
        return BOUNDS[rule].format(f"{asked:g}")
    return "should not be there" if rule is None else "is not what can stand there"


@cache
def _validator() -> Callable[[Mapping[str, Any]], object]:
    from fastjsonschema import compile as compiled

    made: Callable[[Mapping[str, Any]], object] = compiled(schema(), use_default=False)
    return made

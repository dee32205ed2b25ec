"""The published JSON Schema of certificates, and whether a document has the form that it describes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any


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
        >>> why_invalid({"document": "Libra certificate", "format": 2}).startswith("the certificate must contain")
        True
    """
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator()(document)
    except JsonSchemaValueException as error:
        place, told = error.name or "data", error.message
        return told.replace(place, "the certificate" if place == "data" else place.removeprefix("data."), 1)
    return None


@cache
def _validator() -> Callable[[Mapping[str, Any]], object]:
    from fastjsonschema import compile as compiled

    made: Callable[[Mapping[str, Any]], object] = compiled(schema(), use_default=False)
    return made

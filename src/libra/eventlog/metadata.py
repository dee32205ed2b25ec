"""What a log says about itself besides its cases: attributes of the log, globals, classifiers, extensions.

Plain immutable data, read from an XES header, carried through Parquet and data frames, written back to XES.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from libra._system.randomness import SEEDED

AttributeType = Literal["string", "date", "int", "float", "boolean", "id", "list", "container"]
AttributeValue = str | datetime | int | float | bool | None

VALUE_TYPES: dict[AttributeType, type | tuple[type, ...]] = {
    "string": str, "id": str, "date": datetime, "int": int, "float": (int, float), "boolean": bool, "list": (), "container": (),
}  # fmt: skip
_OF_ATTRIBUTES = ("attributes", "case_globals", "event_globals")


@dataclass(frozen=True)
class Attribute:
    """One attribute of the log or of a global declaration, with its nested attributes."""

    key: str
    type: AttributeType
    value: AttributeValue = None
    children: tuple[Attribute, ...] = ()


DRAWN_WITH_A_SEED = Attribute("privacy", "string", SEEDED)


@dataclass(frozen=True)
class Extension:
    """An XES extension the log declares."""

    name: str
    prefix: str
    uri: str


@dataclass(frozen=True)
class Classifier:
    """A named way to tell events apart: the attributes that together make an event's class."""

    name: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class LogMetadata:
    """Everything in a log's header."""

    attributes: tuple[Attribute, ...] = ()
    case_globals: tuple[Attribute, ...] = ()
    event_globals: tuple[Attribute, ...] = ()
    classifiers: tuple[Classifier, ...] = ()
    extensions: tuple[Extension, ...] = field(default=(), compare=False)  # they follow from the keys in use

    @property
    def name(self) -> str | None:
        """The log's own name, if it states one."""
        return next((str(a.value) for a in self.attributes if a.key == "concept:name"), None)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy; `from_dict` is its inverse."""
        attributes = {name: [_attribute_to_dict(a) for a in getattr(self, name)] for name in _OF_ATTRIBUTES}
        classifiers = [{"name": c.name, "keys": list(c.keys)} for c in self.classifiers]
        return attributes | {"classifiers": classifiers, "extensions": [asdict(e) for e in self.extensions]}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> LogMetadata:
        """The metadata that `to_dict` described."""
        attributes = {name: tuple(map(_attribute_from_dict, plain.get(name, []))) for name in _OF_ATTRIBUTES}
        classifiers = tuple(Classifier(c["name"], tuple(c["keys"])) for c in plain.get("classifiers", []))
        extensions = tuple(Extension(e["name"], e["prefix"], e["uri"]) for e in plain.get("extensions", []))
        return cls(**attributes, classifiers=classifiers, extensions=extensions)


def _attribute_to_dict(attribute: Attribute) -> dict[str, Any]:
    value = attribute.value.isoformat() if isinstance(attribute.value, datetime) else attribute.value
    plain: dict[str, Any] = {"key": attribute.key, "type": attribute.type, "value": value}
    if attribute.children:
        plain["children"] = [_attribute_to_dict(child) for child in attribute.children]
    return plain


def _attribute_from_dict(plain: dict[str, Any]) -> Attribute:
    value = plain["value"]
    if plain["type"] == "date" and value is not None:
        value = datetime.fromisoformat(value)
    children = tuple(_attribute_from_dict(child) for child in plain.get("children", []))
    return Attribute(plain["key"], plain["type"], value, children)

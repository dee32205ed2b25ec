"""The rules of IEEE 1849-2016 that a written file must keep, checked on its parsed elements."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

NAMESPACE = "{http://www.xes-standard.org/}"
NC_NAME = re.compile(r"[^\W\d][\w.-]*")
VALUES = {
    "string": re.compile(r".*", re.DOTALL),
    "id": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "date": re.compile(r"-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
    "int": re.compile(r"-?\d{1,19}"),
    "float": re.compile(r"NaN|-?INF|-?\d+(\.\d+)?([eE][+-]?\d+)?"),
    "boolean": re.compile(r"true|false"),
}
ORDER = {"log": ("extension", "global", "classifier", "attribute", "trace", "event"), "trace": ("attribute", "event")}
REQUIRED = {"extension": ("name", "prefix", "uri"), "classifier": ("name", "keys"), "global": ("scope",)}


def check(document: bytes) -> ET.Element:
    """Fail on the first rule that is broken; else the root element."""
    root = ET.fromstring(document)
    assert root.tag == f"{NAMESPACE}log"
    assert re.fullmatch(r"\d+(\.\d+)?", root.attrib["xes.version"]), "xs:decimal"
    _children_in_order(root)
    for element in root:
        kind = tag(element)
        if kind in REQUIRED:
            assert all(name in element.attrib for name in REQUIRED[kind]), kind
        if kind == "extension":
            assert NC_NAME.fullmatch(element.attrib["name"])
            assert NC_NAME.fullmatch(element.attrib["prefix"])
        elif kind == "global":
            assert element.attrib["scope"] in ("trace", "event")
            _attributes(list(element))
        elif kind == "trace":
            _children_in_order(element)
            _attributes([child for child in element if tag(child) != "event"])
            for event in element.iterfind(f"{NAMESPACE}event"):
                _attributes(list(event))
        elif kind != "classifier":
            _attributes([element])
    nested = any(
        tag(child) in (*VALUES, "list", "values") for element in root.iter() if tag(element) in VALUES for child in element
    )
    assert ("nested-attributes" in root.attrib["xes.features"]) >= nested
    _globals_hold(root)
    return root


def tag(element: ET.Element) -> str:
    """The element's name without its namespace, which must be the standard's."""
    assert element.tag.startswith(NAMESPACE), element.tag
    return element.tag.removeprefix(NAMESPACE)


def _children_in_order(parent: ET.Element) -> None:
    order = ORDER[tag(parent)]
    places = [order.index("attribute" if tag(child) in (*VALUES, "list") else tag(child)) for child in parent]
    assert places == sorted(places), "elements stand in the order of the schema"


def _attributes(elements: list[ET.Element]) -> None:
    keys = [element.attrib["key"] for element in elements]
    assert len(keys) == len(set(keys)), "keys are unique within their parent"
    for element in elements:
        if tag(element) == "list":
            assert tag(element[-1]) == "values"
            for child in element[-1]:
                _attributes([child])
        else:
            value = element.attrib["value"]
            assert VALUES[tag(element)].fullmatch(value), (tag(element), value)
            _attributes(list(element))


def _globals_hold(root: ET.Element) -> None:
    for declared in root.iterfind(f"{NAMESPACE}global"):
        for attribute in declared:
            for owner in root.iter(NAMESPACE + declared.attrib["scope"]):
                found = [child.tag for child in owner if child.attrib.get("key") == attribute.attrib["key"]]
                assert found == [attribute.tag], attribute.attrib["key"]

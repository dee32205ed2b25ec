"""How tests read charts: as XML, and against what a page allows."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from libra.reporting.drawing import Chart

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'); background: url(http://example.org)",
    "\u202eright to left\u202c, \u05e9\u05dc\u05d5\u05dd, \u0645\u0631\u062d\u0628\u0627",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f600",
    "\x00\x1b[31m\x7f\ufffe\ud800",
    "x" * 10_000,
    "",
    "]]>&amp;<![CDATA[",
)
ELEMENTS = {"svg", "g", "path", "rect", "text", "title"}
ATTRIBUTES = {
    *("class", "viewBox", "width", "height", "role", "aria-label", "x", "y", "d", "transform"),
    *("fill", "stroke", "stroke-width", "stroke-dasharray"),
}


def read(svg: str) -> ElementTree.Element:
    """A fragment, after a look at whether a page with a strict policy can hold it."""
    image = ElementTree.fromstring(svg)
    assert {part.tag for part in image.iter()} <= ELEMENTS
    for part in image.iter():
        assert set(part.attrib) <= ATTRIBUTES
        assert all(name.startswith("lc") for name in part.get("class", "").split())
        for name in set(part.attrib) - {"class", "role", "aria-label"}:
            assert "url(" not in part.attrib[name]
            assert "nan" not in part.attrib[name].lower()
            assert "inf" not in part.attrib[name].lower()
    assert image.get("role") == "img"
    assert image.get("aria-label")
    assert not re.search("[\x00-\x1f\u202a-\u202e\u2066-\u2069]", "".join(image.itertext()))
    return image


def texts(image: ElementTree.Element) -> list[str]:
    """All that is written on an image."""
    return ["".join(text.itertext()) for text in image.iter("text")]


def titles(image: ElementTree.Element) -> list[str]:
    """All that shows when one points at a mark."""
    return [title.text or "" for title in image.iter("title")]


def of_class(image: ElementTree.Element, *names: str) -> list[ElementTree.Element]:
    """The parts of an image that have all of these classes."""
    return [part for part in image.iter() if set(names) <= set(part.get("class", "").split())]


def size(part: ElementTree.Element, name: str) -> float:
    """A length or a place of a part."""
    return float(part.attrib[name])


def check_table(chart: Chart) -> None:
    """Every row of the table is as long as the headings."""
    assert all(len(row) == len(chart.headings) for row in chart.rows)

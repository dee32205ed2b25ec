"""A page taken apart: its elements with their attributes, the text in them, and the figures that it shows."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "hr", "img"}
LARGEST = 5_000_000  # bytes of a page


@dataclass
class Element:
    """An element: its name, its attributes and the text directly or indirectly in it."""

    name: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class ParsedPage(HTMLParser):
    """All elements of a page, in order."""

    html: str
    elements: list[Element] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.html)
        self.close()
        assert not self._open, f"never closed: {[element.name for element in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].name == tag, f"<{self._open[-1].name}> was closed by </{tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    @property
    def figures(self) -> dict[str, set[str]]:
        """The exact values of all figures by their names."""
        found: dict[str, set[str]] = {}
        for element in self.elements:
            if element.name == "data":
                found.setdefault(element.attributes["data-name"], set()).add(element.attributes["value"])
        return found

    def named(self, name: str) -> list[Element]:
        """All elements of a name."""
        return [element for element in self.elements if element.name == name]

    def section(self, anchor: str) -> str:
        """The text of a section."""
        (found,) = (element for element in self.elements if element.attributes.get("id") == anchor)
        return " ".join(found.text.split())


def check_policy(html: str) -> ParsedPage:
    """Nothing on a page may run or load but its own style sheet and script, and nothing in it tries to."""
    page = ParsedPage(html)
    (policy,) = (one.attributes["content"] for one in page.named("meta") if "Content-Security-Policy" in one.attributes.values())
    for name, rule in (("style", "style-src"), ("script", "script-src")):
        (element,) = page.named(name)
        digest = base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in page.elements:
        assert element.name not in {"iframe", "object", "embed", "img", "image", "form", "base", "use", "foreignobject", "audio"}
        for name, value in element.attributes.items():
            assert name != "style"
            assert not name.startswith("on")
            if name in {"href", "src", "xlink:href", "action"}:
                assert value.startswith("#") or value == "data:,"
                assert value == "data:," or value[1:] in ids
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", html)
    assert len(html.encode()) < LARGEST
    return page

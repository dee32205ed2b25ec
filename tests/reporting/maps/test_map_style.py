"""How maps look in a real browser: what the style says is what people see."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page

from libra.reporting.drawing import MAP_STYLE, PALETTE
from libra.reporting.page import page

LEGEND = "sections/legend.html"
EDGE = '<svg class="lm lm-anonymized"><g class="lm-edge {}"><path class="lm-line" d="M0 0L9 9"/></g></svg>'


@pytest.fixture
def tab(browser: Browser) -> Page:
    return browser.new_page(color_scheme="light")


def colours(tab: Page, where: str) -> list[str]:
    found: list[str] = tab.locator(f"{where} .lm-line").evaluate_all("all => all.map(one => getComputedStyle(one).stroke)")
    return found


def test_the_legend_keeps_its_colours_when_durations_are_shown(tab: Page) -> None:
    edges = EDGE.format("lm-more") + EDGE.format("lm-less") + EDGE.format("lm-more lm-shorter") + EDGE.format("")
    switch = '<input type="checkbox" class="lm-by-duration">'
    legend = page(LEGEND, title="", public=False)
    tab.set_content(f'<style>{PALETTE}{MAP_STYLE}</style><div class="lm-views">{switch}<p>{edges}</p>{legend}</div>')
    more, less, also_more, own = colours(tab, "p")
    explained = colours(tab, ".lm-legend")
    assert also_more == more
    assert len({more, less, own} & set(explained)) == 2
    tab.check(".lm-by-duration")
    assert colours(tab, "p") == [own, own, less, own]
    assert colours(tab, ".lm-legend") == explained


def test_the_legend_says_what_the_triangles_mean() -> None:
    items = [re.sub("<[^>]*>", "", item) for item in re.findall("<li>(.*?)</li>", page(LEGEND, title="", public=False))]
    assert "▲more often per case, by over a fifth and beyond chance (mean durations: longer)" in items
    assert "▼less often, likewise (mean durations: shorter)" in items
    assert not re.search("[▲▼]|original", page(LEGEND, title="", public=True))

"""Reports in a real browser: nothing is loaded, nothing complains, and what people have to see is where they look."""

from __future__ import annotations

import os
import re
from pathlib import Path

import polars as pl
import pytest
from hostile_logs import hostile_log
from playwright.sync_api import Browser, Page

import libra
from libra import example
from libra.reporting.build import report_of

SCREENSHOTS = Path(__file__).resolve().parents[2] / "screenshots"
LAPTOP, PHONE = (1280, 800), (390, 844)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of the bundled log and of one with hostile labels."""
    made = tmp_path_factory.mktemp("pages")
    release = libra.anonymize(example.path())
    release.report().save(made / "report.html")
    release.report(public=True).save(made / "public.html")
    report_of(hostile_log(), hostile_log()).save(made / "hostile.html")
    release.write(made / "anonymized.csv", certificate=made / "certificate.json")
    libra.report(example.path(), made / "anonymized.csv", certificate=made / "certificate.json").save(made / "files.html")
    original = libra.read(example.path()).to_polars()
    named = (pl.lit("x").alias(f"an attribute of the original with a long name, number {n}") for n in range(60))
    crowded = libra.anonymize(original.with_columns(*named), delta=2e-4)  # so large that there is a warning
    crowded.report().save(made / "crowded.html")
    return made


def opened(browser: Browser, page: Path, size: tuple[int, int], scheme: str = "light", *, script: bool = True) -> Page:
    """A page that fails its test where anything is asked of a network or anything is complained about."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if scheme == "dark" else "light",
        java_script_enabled=script,
        reduced_motion="reduce",
    )
    context.set_default_timeout(300_000)  # milliseconds: a busy machine is no failure
    tab = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(page.as_uri())
    tab.wait_for_load_state("load")
    assert asked == [page.as_uri()]
    assert complaints == []
    return tab


def keep(tab: Page, name: str) -> None:
    """A screenshot for whoever wants to look; written whole, because several tests may run at once."""
    SCREENSHOTS.mkdir(exist_ok=True)
    part = SCREENSHOTS / f".{os.getpid()}-{name}.png"
    tab.screenshot(path=part)
    part.replace(SCREENSHOTS / f"{name}.png")


@pytest.mark.parametrize("name", ["report", "public", "hostile"])
@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_without_a_word_and_fits_the_screen(
    browser: Browser, folder: Path, name: str, size: tuple[int, int], scheme: str
) -> None:
    tab = opened(browser, folder / f"{name}.html", size, scheme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert tab.evaluate("window.broken") is None
    keep(tab, f"{name}-{'phone' if size == PHONE else 'laptop'}-{scheme}")


def test_the_first_screen_answers_both_questions(browser: Browser, folder: Path) -> None:
    tab = opened(browser, folder / "report.html", LAPTOP)
    for locator in (*tab.locator(".answer .said").all(), tab.locator(".stamp"), *tab.locator(".tiles li").all()):
        box = locator.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= LAPTOP[1]
    assert tab.locator(".answer .said").count() == 2


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_process_maps_are_seen_as_their_section_is_reached(browser: Browser, folder: Path, script: bool) -> None:
    tab = opened(browser, folder / "report.html", LAPTOP, script=script)
    tab.goto((folder / "report.html").as_uri() + "#maps")
    maps = [one for one in tab.locator("#maps .map svg").all() if one.is_visible()]
    assert len(maps) == 2
    for _ in range(1200):  # a minute for the browser to scroll there
        box = maps[0].bounding_box()
        if box is not None and 0 < box["y"] < LAPTOP[1] / 3:
            break
        tab.wait_for_timeout(50)
    for one in maps:
        box = one.bounding_box()
        assert box is not None
        assert 0 < box["y"] < LAPTOP[1] / 3
        assert box["height"] > LAPTOP[1] / 2
    keep(tab, "maps-laptop-light" if script else "maps-without-script")


def test_levels_and_views_switch_by_keyboard_and_without_script(browser: Browser, folder: Path) -> None:
    tab = opened(browser, folder / "report.html", LAPTOP, script=False)

    def shown() -> list[str | None]:
        return [one.get_attribute("class") for one in tab.locator(".level").all() if one.is_visible()]

    assert shown() == ["level level-0"]
    tab.locator("#level-0").focus()
    tab.keyboard.press("ArrowRight")
    assert shown() == ["level level-1"]
    counts, times = tab.locator(".level-1 .lm-frequency").first, tab.locator(".level-1 .lm-duration").first
    assert counts.is_visible()
    assert not times.is_visible()
    tab.locator(".lm-by-duration").check()
    assert times.is_visible()
    assert not counts.is_visible()


def test_a_mark_tells_its_figures_under_the_pointer(browser: Browser, folder: Path) -> None:
    tab = opened(browser, folder / "report.html", LAPTOP)
    assert not tab.locator(".tip").is_visible()
    tab.locator(".level-0 .lm-node").first.hover()
    assert tab.locator(".tip").is_visible()
    assert tab.locator(".tip").inner_text().strip()
    tab.mouse.move(2, 2)
    assert not tab.locator(".tip").is_visible()


def test_everything_is_there_without_script(browser: Browser, folder: Path) -> None:
    with_script = opened(browser, folder / "report.html", LAPTOP).locator("main").inner_text()
    assert opened(browser, folder / "report.html", LAPTOP, script=False).locator("main").inner_text() == with_script


def test_text_stands_out_from_its_ground(browser: Browser, folder: Path) -> None:
    """Contrast of 4.5 to 1 at least for all text that is not drawn, by the formula of WCAG 2."""
    for scheme in ("light", "dark"):
        tab = opened(browser, folder / "report.html", LAPTOP, scheme)
        faint = tab.evaluate(
            """() => {
              const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
              const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
              const ground = (node) => {
                for (; node; node = node.parentElement) {
                  const colour = parse(getComputedStyle(node).backgroundColor);
                  if (colour.length === 3 || colour[3] > 0) return colour;
                }
                return [255, 255, 255];
              };
              const faint = [];
              for (const node of document.querySelectorAll("main *, header *, nav *, footer *")) {
                if (node.closest("svg") || ![...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim())) continue;
                const [one, other] = [parse(getComputedStyle(node).color), ground(node)].map(light);
                const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
                if (contrast < 4.5) faint.push([node.className, node.textContent.slice(0, 40), contrast]);
              }
              return faint;
            }"""
        )
        assert faint == []


def test_what_is_not_in_the_log_comes_before_anything_good(browser: Browser, folder: Path) -> None:
    tab = opened(browser, folder / "report.html", LAPTOP)
    tiles = [one.get_attribute("class") for one in tab.locator(".tiles li").all()]
    assert tiles[:2] == ["absent", "absent"]
    assert "absent" not in tiles[2:]


def pages(tab: Page) -> int:
    """How many pages are printed."""
    return len(re.findall(rb"/Type\s*/Page\b", tab.pdf(prefer_css_page_size=True)))


def test_it_prints_without_what_only_a_screen_needs(browser: Browser, folder: Path) -> None:
    tab = opened(browser, folder / "report.html", LAPTOP)
    assert 3 < pages(tab) < 14
    tab.emulate_media(media="print")
    for screen_only in ("nav", ".switches", "details.more"):
        assert not any(one.is_visible() for one in tab.locator(screen_only).all()), screen_only


@pytest.mark.parametrize("name", ["report", "hostile", "files", "crowded"])
def test_the_part_of_the_officer_prints_on_two_pages(browser: Browser, folder: Path, name: str) -> None:
    tab = opened(browser, folder / f"{name}.html", LAPTOP)
    tab.evaluate("document.querySelectorAll('.annex, footer').forEach((one) => one.remove())")
    assert pages(tab) == 2

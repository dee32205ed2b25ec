"""Colours that can be read on light and on dark ground, and rules that touch nothing but charts."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from libra.reporting.drawing import PALETTE, SERIES, STYLE, palette

LIGHT, DARK = (dict(re.findall(r"--([\w-]+):(#\w+);", ground)) for ground in PALETTE.split("@media"))
TEXT = ("ink", "faint", "original", "anonymized", "accent", "more", "less", "false", "lost", "good", "fair", "poor", "bad")


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _over(colour: str, ground: str, opacity: float) -> str:
    mixed = (
        round(opacity * int(colour[place : place + 2], 16) + (1 - opacity) * int(ground[place : place + 2], 16))
        for place in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


def test_black_on_white_has_the_largest_contrast() -> None:
    assert _contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("ground", ["ground", "panel"])
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_marks_stand_out(colours: dict[str, str], ground: str) -> None:
    series = [colours[f"series-{place}"] for place in range(SERIES)]
    assert min(_contrast(colour, colours[ground]) for colour in (*(colours[name] for name in TEXT), *series)) >= 4.5
    assert _contrast(colours["axis"], colours[ground]) >= 3


@pytest.mark.parametrize("ground", ["ground", "panel"])
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_areas_stand_out_where_the_ground_shines_through(colours: dict[str, str], ground: str) -> None:
    opacities = [float(said) for said in re.findall(r"\.lc-anonymized[.\w-]*\{fill-opacity:([.\d]+)\}", STYLE)]
    assert opacities
    for opacity in opacities:
        assert _contrast(_over(colours["anonymized"], colours[ground], opacity), colours[ground]) >= 3


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_numbers_on_spent_pieces_can_be_read(colours: dict[str, str]) -> None:
    assert min(_contrast(colours[piece], colours["ground"]) for piece in ("anonymized", "accent")) >= 4.5


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_each_step_of_heat_is_farther_from_the_ground_than_the_one_before(colours: dict[str, str]) -> None:
    contrasts = [_contrast(colours[f"heat-{step}"], colours["ground"]) for step in range(6)]
    assert all(after > 1.2 * before for before, after in pairwise(contrasts[1:]))
    assert contrasts == sorted(contrasts)
    assert contrasts[-1] >= 7


def test_both_grounds_define_the_same_colours_and_the_rules_use_no_others() -> None:
    assert list(LIGHT) == list(DARK)
    assert set(re.findall(r"var\(--([\w-]+)\)", STYLE)) <= set(LIGHT)
    assert "@media screen and (prefers-color-scheme:dark)" in PALETTE


def test_every_rule_is_about_charts_alone() -> None:
    selectors = [one for rule in re.findall(r"^([^{]+)\{", STYLE, flags=re.MULTILINE) for one in rule.split(",")]
    assert len(selectors) > 30
    assert all(re.search(r"\.lc(-|\b)", selector) for selector in selectors)
    assert "url(" not in STYLE + PALETTE
    assert "@import" not in STYLE + PALETTE


def test_colours_can_be_kept_to_a_part_of_a_page() -> None:
    assert ":root" not in palette(".lc-figure")
    assert palette(".lc-figure").replace(".lc-figure", ":root") == PALETTE

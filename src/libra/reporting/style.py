"""Colours for light and dark ground, the style sheets of charts and process maps, and the legend of the maps.

Text has a contrast of at least 4.5 to 1, marks of at least 3 to 1. Colour never stands alone: the original is an outline, what
increased or decreased carries a triangle, what only one log has is dashed. Maps show mean durations where an ancestor has the
class `lm-show-duration`, or where a box `lm-by-duration` is checked within `lm-views`; otherwise they show counts.
"""

from __future__ import annotations

from importlib.resources import files

COLOURS = {  # on light and on dark ground
    "ink": ("#22303a", "#e6ebee"),
    "faint": ("#55656e", "#a9b6bd"),
    "ground": ("#fbfaf7", "#161c20"),
    "panel": ("#ffffff", "#1f272c"),
    "grid": ("#e1e5e2", "#36424a"),
    "axis": ("#7f8d94", "#7f8e97"),
    "original": ("#5a6874", "#a3b2be"),
    "anonymized": ("#0b6e75", "#4fc3c9"),
    "accent": ("#0a5f8a", "#6fbbe6"),
    "more": ("#2563b8", "#83b0f5"),
    "less": ("#b4532a", "#f0956a"),
    "false": ("#7d3f98", "#d19be6"),
    "lost": ("#b3261e", "#f58a80"),
    "good": ("#1d7443", "#74cf98"),
    "fair": ("#5f6f12", "#c3cf62"),
    "poor": ("#985a06", "#eab35c"),
    "bad": ("#b3261e", "#f58a80"),
    "heat-0": ("#eef3f2", "#232d32"),
    "heat-1": ("#c9e0df", "#20464a"),
    "heat-2": ("#94c5c5", "#236468"),
    "heat-3": ("#56a2a5", "#328c90"),
    "heat-4": ("#1f7a80", "#58bdc1"),
    "heat-5": ("#0a4b52", "#b5eef0"),
}
SERIES = (  # lines of a comparison, on light and on dark ground
    ("#0b6e75", "#4fc3c9"),
    ("#b4532a", "#f0956a"),
    ("#3b5fc0", "#8faaf5"),
    ("#8a3f8f", "#d694da"),
    ("#4f7a1c", "#a3cf6d"),
    ("#8f6a08", "#e3bd57"),
    ("#b02a5b", "#f088b0"),
    ("#5b6670", "#b0bcc6"),
    ("#7c5a36", "#cfae88"),
    ("#237a47", "#7ed3a0"),
)
FILLS = 5  # depths of the fill of a box, from the rarest activity to the most frequent


def resource(name: str) -> str:
    """A file among the templates of this package."""
    return (files("libra.reporting") / "templates" / name).read_text(encoding="utf-8")


def palette(selector: str = ":root") -> str:
    """The custom properties of all colours on a selector, for light ground, and for dark ground on screens."""
    colours = COLOURS | {f"series-{place}": pair for place, pair in enumerate(SERIES)}
    light, dark = (";".join(f"--{name}:{pair[ground]}" for name, pair in colours.items()) for ground in (0, 1))
    return f"{selector}{{{light}}}\n@media screen and (prefers-color-scheme:dark){{{selector}{{{dark}}}}}\n"


PALETTE, STYLE, MAP_STYLE = palette(), resource("charts.css"), resource("maps.css")


def map_legend(public: bool) -> str:
    """The legend of the maps as a list: of one log alone, or of two that are compared."""
    thin_and_wide = _legend_line(1, to=22) + _legend_line(5, since=22)
    shades = "".join(
        f'<g class="lm-node lm-fill-{2 * step}"><rect x="{2 + 14 * step}" y="3" width="12" height="12" rx="3"/></g>'
        for step in range(3)
    )
    items = [
        (("lm-edge", thin_and_wide), "wider: more frequent"),
        (("", shades), "deeper: more frequent"),
        (("lm-edge lm-bridge", _legend_line(1.5)), "by way of activities not shown"),
    ]
    if not public:
        more = "more often per case, by over a fifth and beyond chance (mean durations: longer)"
        items += [
            (("lm-edge lm-more", _legend_line(2.5) + _legend_sign("▲")), more),
            (("lm-edge lm-less", _legend_line(2.5) + _legend_sign("▼")), "less often, likewise (mean durations: shorter)"),
            (("lm-edge lm-lost", _legend_line(2)), "only in the original"),
            (("lm-edge lm-false", _legend_line(2)), "only in the anonymized log"),
            (("lm-edge lm-ghost", _legend_line(1.5)), "not in this log, only in the other"),
        ]
    size = 'width="44" height="18" viewBox="0 0 44 18"'
    rows = "".join(
        f'<li><svg class="lm" {size} aria-hidden="true"><g class="{looks}">{mark}</g></svg>{said}</li>'
        for (looks, mark), said in items
    )
    return f'<ul class="lm-legend">{rows}</ul>'


def _legend_line(wide: float, since: int = 2, to: int = 42) -> str:
    return f'<path class="lm-line" stroke-width="{wide:g}" d="M{since} 12L{to} 12"/>'


def _legend_sign(sign: str) -> str:
    return f'<text class="lm-sign" x="22" y="9">{sign}</text>'

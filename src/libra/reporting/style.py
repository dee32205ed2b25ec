"""Colours for light and dark ground, and the style sheets of charts and process maps.

Text has a contrast of at least 4.5 to 1, marks of at least 3 to 1. Colour never stands alone: the original is an outline, what
increased or decreased carries a triangle, what only one log has is dashed.
"""

from __future__ import annotations

LIGHT = {
    "ink": "#22303a",
    "faint": "#55656e",
    "ground": "#fbfaf7",
    "panel": "#ffffff",
    "grid": "#e1e5e2",
    "axis": "#7f8d94",
    "original": "#5a6874",
    "anonymized": "#0b6e75",
    "accent": "#0a5f8a",
    "more": "#2563b8",
    "less": "#b4532a",
    "false": "#7d3f98",
    "lost": "#b3261e",
    "good": "#1d7443",
    "fair": "#5f6f12",
    "poor": "#985a06",
    "bad": "#b3261e",
    "heat-0": "#eef3f2",
    "heat-1": "#c9e0df",
    "heat-2": "#94c5c5",
    "heat-3": "#56a2a5",
    "heat-4": "#1f7a80",
    "heat-5": "#0a4b52",
}
DARK = {
    "ink": "#e6ebee",
    "faint": "#a9b6bd",
    "ground": "#161c20",
    "panel": "#1f272c",
    "grid": "#36424a",
    "axis": "#7f8e97",
    "original": "#a3b2be",
    "anonymized": "#4fc3c9",
    "accent": "#6fbbe6",
    "more": "#83b0f5",
    "less": "#f0956a",
    "false": "#d19be6",
    "lost": "#f58a80",
    "good": "#74cf98",
    "fair": "#c3cf62",
    "poor": "#eab35c",
    "bad": "#f58a80",
    "heat-0": "#232d32",
    "heat-1": "#20464a",
    "heat-2": "#236468",
    "heat-3": "#328c90",
    "heat-4": "#58bdc1",
    "heat-5": "#b5eef0",
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


def palette(selector: str = ":root") -> str:
    """The custom properties of all colours on a selector, for light ground, and for dark ground on screens."""
    light, dark = (
        ";".join(
            [
                *(f"--{name}:{colour}" for name, colour in colours.items()),
                *(f"--series-{place}:{pair[ground]}" for place, pair in enumerate(SERIES)),
            ]
        )
        for ground, colours in enumerate((LIGHT, DARK))
    )
    return f"{selector}{{{light}}}\n@media screen and (prefers-color-scheme:dark){{{selector}{{{dark}}}}}\n"


PALETTE = palette()
STYLE = (
    """\
.lc{font:12px/1.3 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}
:not(svg)>.lc{display:block;max-width:100%;height:auto}
.lc text{fill:var(--ink)}
.lc .lc-faint{fill:var(--faint)}
.lc .lc-small{font-size:11px}
.lc .lc-strong{font-weight:600}
.lc .lc-label{unicode-bidi:plaintext}
.lc .lc-end{text-anchor:end}
.lc .lc-middle{text-anchor:middle}
.lc .lc-on{fill:var(--ground);font-weight:600}
.lc-ground{fill:var(--ground)}
.lc-grid{stroke:var(--grid);fill:none}
.lc-axis{stroke:var(--axis);fill:none}
.lc-halo{stroke:var(--ground);stroke-width:4;stroke-opacity:.9;fill:none}
.lc-original{stroke:var(--original);stroke-width:1.5;fill:none}
.lc-original.lc-bar{fill:var(--original);fill-opacity:.1}
.lc-original.lc-line{stroke-dasharray:5 3;stroke-linejoin:round}
.lc-anonymized{fill:var(--anonymized);stroke:none}
.lc-anonymized.lc-area{fill-opacity:.72}
.lc-anonymized.lc-line{fill:none;stroke:var(--anonymized);stroke-width:2;stroke-linejoin:round}
.lc-dots{fill:none;stroke-linecap:round}
.lc-dots-original{stroke:var(--original)}
.lc-dots-anonymized{stroke:var(--anonymized)}
.lc-spent{fill:var(--anonymized)}
.lc-spent.lc-odd{fill:var(--accent)}
.lc-left{fill:none;stroke:var(--axis);stroke-dasharray:4 3}
.lc-track{fill:var(--grid)}
.lc-sample{fill:var(--original);fill-opacity:.35}
.lc-tick{stroke:var(--original);stroke-width:1.5;fill:none}
.lc-needle{fill:var(--ink)}
.lc-hit{fill:transparent;stroke:none}
.lc-hit:hover{fill:var(--ink);fill-opacity:.06}
.lc-reference{stroke:var(--faint);stroke-dasharray:3 4;fill:none}
"""
    + "".join(f".lc-heat-{step}{{fill:var(--heat-{step})}}\n" for step in range(6))
    + "".join(f".lc-series-{place}{{color:var(--series-{place})}}\n" for place in range(len(SERIES)))
    + """\
.lc-figure{margin:.5em 0;padding:12px 16px;background:var(--ground);color:var(--ink);border-radius:8px;width:fit-content}
.lc-figure{max-width:100%;overflow-x:auto;box-sizing:border-box}
.lc-figure figcaption{font:600 14px system-ui,sans-serif;margin-bottom:6px}
.lc-figure p{font:12px system-ui,sans-serif;color:var(--faint);margin:6px 0 0}
"""
)


TIMES = ":is(.lm-show-duration,.lm-views:has(.lm-by-duration:checked))"
FILLS = (0.05, 0.11, 0.17, 0.23, 0.29)  # how deep the fill of a box is, from the rarest activity to the most frequent
MAP_STYLE = f"""\
.lm{{font:12px/1.2 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}}
.lm-original,.lm-legend{{--lm-own:var(--original);--lm-mark:var(--lm-own)}}
.lm-anonymized{{--lm-own:var(--anonymized);--lm-mark:var(--lm-own)}}
.lm text{{fill:var(--ink);text-anchor:middle}}
.lm .lc-label{{unicode-bidi:plaintext;font-weight:500}}
.lm .lm-count{{font-size:11px}}
.lm .lm-end text{{fill:var(--faint)}}
.lm .lm-edge text{{font-size:11px;paint-order:stroke;stroke:var(--panel);stroke-width:3px;stroke-linejoin:round}}
.lm .lm-sign{{fill:var(--lm-mark)}}
.lm-ground{{fill:var(--panel)}}
.lm-node rect{{fill:var(--lm-mark);stroke:var(--lm-mark);stroke-width:1.25}}
.lm-end circle{{fill:var(--panel);stroke:var(--lm-own);stroke-width:1.75}}
.lm-end path{{fill:var(--lm-own)}}
.lm-line{{fill:none;stroke:var(--lm-mark);stroke-linecap:butt}}
.lm-head{{fill:var(--lm-mark)}}
.lm-hit{{fill:none;stroke:transparent;stroke-width:12px}}
.lm-edge:hover .lm-hit{{stroke:var(--lm-mark);stroke-opacity:.2}}
.lm-edge:hover text,.lm-node:hover .lc-label{{font-weight:700}}
.lm-more{{--lm-mark:var(--more)}}
.lm-less{{--lm-mark:var(--less)}}
.lm-false{{--lm-mark:var(--false)}}
.lm-lost{{--lm-mark:var(--lost)}}
{TIMES} .lm-edge:is(.lm-more,.lm-less):not(:where(.lm-legend *)){{--lm-mark:var(--lm-own)}}
{TIMES} .lm-edge.lm-longer{{--lm-mark:var(--more)}}
{TIMES} .lm-edge.lm-shorter{{--lm-mark:var(--less)}}
.lm-false .lm-line,.lm-false rect{{stroke-dasharray:6 3}}
.lm-lost .lm-line,.lm-lost rect{{stroke-dasharray:9 3 2 3}}
.lm-ghost .lm-line,.lm-ghost rect{{stroke-dasharray:1 4;stroke-linecap:round;stroke-width:1.5}}
.lm-ghost .lm-line,.lm-ghost .lm-head{{opacity:.6}}
.lm .lm-ghost text{{fill:var(--faint);font-weight:400}}
.lm-node.lm-ghost rect{{fill:var(--panel)}}
.lm-bridge{{--lm-mark:var(--axis)}}
.lm-bridge .lm-line{{stroke-dasharray:2 5;stroke-linecap:round}}
.lm-duration,{TIMES} .lm-frequency{{display:none}}
{TIMES} .lm-duration{{display:inline}}
.lm-figure{{margin:.5em 0}}
.lm-figure svg{{max-width:100%;height:auto}}
.lm-figure figcaption{{font:12px system-ui,sans-serif;margin-top:4px}}
.lm-legend{{display:flex;flex-wrap:wrap;gap:4px 18px;margin:0;padding:0;list-style:none;font-size:13px;color:var(--faint)}}
.lm-legend li{{display:flex;align-items:center;gap:7px}}
.lm-legend svg{{flex:none}}
""" + "".join(f".lm-fill-{step} rect{{fill-opacity:{depth}}}\n" for step, depth in enumerate(FILLS))


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

"""How charts look: colours for light and dark ground, and one set of rules for all charts.

`PALETTE` defines the colours as custom properties, `STYLE` uses them. Text has a contrast of at least 4.5 to 1 on the page and on
panels, marks of at least 3 to 1. Colour never stands alone: the original is an outline, the anonymized log is filled.
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
    """The custom properties of all colours on a selector, for light ground, and for dark ground on screens.

    Example:
        >>> palette(".mine")[:32]
        '.mine{--ink:#22303a;--faint:#556'
    """
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

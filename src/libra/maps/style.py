"""How maps look: one set of rules for all maps, and the legend that explains them.

Colours are those of `libra.charts.style`. Colour never stands alone: more and less carry a triangle, what only one log has is
dashed, and what is missing is dotted. A page shows mean durations where an ancestor has the class `lm-show-duration`,
or where a box of the class `lm-by-duration` is checked within the class `lm-views`; otherwise it shows counts. The legend looks
the same wherever it stands.
"""

from __future__ import annotations

TIMES = ":is(.lm-show-duration,.lm-views:has(.lm-by-duration:checked))"
FILLS = (0.05, 0.11, 0.17, 0.23, 0.29)  # how deep the fill of a box is, from the rarest activity to the most frequent
STYLE = f"""\
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


def legend(public: bool) -> str:
    """The legend of the maps as a list: of one log alone, or of two that are compared.

    Example:
        >>> legend(public=True).count("<li>") < legend(public=False).count("<li>")
        True
    """
    thin_and_wide = _line(1, to=22) + _line(5, since=22)
    shades = "".join(
        f'<g class="lm-node lm-fill-{2 * step}"><rect x="{2 + 14 * step}" y="3" width="12" height="12" rx="3"/></g>'
        for step in range(3)
    )
    items = [
        (("lm-edge", thin_and_wide), "wider: more frequent"),
        (("", shades), "deeper: more frequent"),
        (("lm-edge lm-bridge", _line(1.5)), "by way of activities not shown"),
    ]
    if not public:
        more = "more often per case, by over a fifth and beyond chance (mean durations: longer)"
        items += [
            (("lm-edge lm-more", _line(2.5) + _sign("▲")), more),
            (("lm-edge lm-less", _line(2.5) + _sign("▼")), "less often, likewise (mean durations: shorter)"),
            (("lm-edge lm-lost", _line(2)), "only in the original"),
            (("lm-edge lm-false", _line(2)), "only in the anonymized log"),
            (("lm-edge lm-ghost", _line(1.5)), "not in this log, only in the other"),
        ]
    size = 'width="44" height="18" viewBox="0 0 44 18"'
    rows = "".join(
        f'<li><svg class="lm" {size} aria-hidden="true"><g class="{looks}">{mark}</g></svg>{said}</li>'
        for (looks, mark), said in items
    )
    return f'<ul class="lm-legend">{rows}</ul>'


def _line(wide: float, since: int = 2, to: int = 42) -> str:
    return f'<path class="lm-line" stroke-width="{wide:g}" d="M{since} 12L{to} 12"/>'


def _sign(sign: str) -> str:
    return f'<text class="lm-sign" x="22" y="9">{sign}</text>'

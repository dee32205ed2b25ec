"""A chart: an image, its caption, and the same figures as a table of text.

In: a fragment of SVG that has neither style nor script, and text. Out: the fragment for a page that has the style already, a
whole SVG file, or HTML for a notebook.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from libra.charts.style import PALETTE, STYLE, palette
from libra.charts.text import wrapped, xml

MARGIN, TITLE_HEIGHT, NOTE_HEIGHT = 16, 30, 16
SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


@dataclass(frozen=True)
class Chart:
    """A caption (plain text), an image (safe markup), the figures as text, and a line below (plain text).

    Example:
        >>> chart = Chart("Cases", '<svg class="lc" viewBox="0 0 9 5" width="9" height="5"></svg>', ("log", "n"), (("a", "1"),))
        >>> chart.standalone().startswith('<svg xmlns="http://www.w3.org/2000/svg"')
        True
    """

    title: str
    svg: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def standalone(self) -> str:
        """The chart as a file: caption, image and note, in colours that follow the reader's choice of light or dark."""
        found = SIZE.search(self.svg)
        wide, tall = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
        titles = wrapped(self.title, wide / 14, 3)
        notes = wrapped(self.note, wide / 12, 3) if self.note else []
        top = MARGIN + TITLE_HEIGHT + 18 * (len(titles) - 1)
        height = top + tall + NOTE_HEIGHT * len(notes) + MARGIN
        size = f'viewBox="0 0 {wide + 2 * MARGIN:g} {height:g}" width="{wide + 2 * MARGIN:g}" height="{height:g}"'
        return "".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="lc"><title>{xml(self.title)}</title>',
                f'<style>{PALETTE}{STYLE}</style><rect class="lc-ground" width="100%" height="100%"/>',
                *_lines(titles, MARGIN + 12, 18, 'class="lc-strong lc-label" font-size="14"'),
                self.svg.replace("<svg ", f'<svg x="{MARGIN}" y="{top}" ', 1),
                *_lines(notes, top + tall + 12, NOTE_HEIGHT, 'class="lc-faint lc-label"'),
                "</svg>\n",
            ]
        )

    def _repr_html_(self) -> str:
        """The chart in a notebook, on a ground of its own."""
        note = f"<p>{xml(self.note)}</p>" if self.note else ""
        return (
            f'<style>{palette(".lc-figure")}{STYLE}</style><figure class="lc-figure"><figcaption>{xml(self.title)}</figcaption>'
            f"{self.svg}{note}</figure>"
        )


def _lines(texts: list[str], y: float, apart: float, looks: str) -> list[str]:
    return [f'<text {looks} x="{MARGIN}" y="{y + apart * place:g}">{xml(text)}</text>' for place, text in enumerate(texts)]

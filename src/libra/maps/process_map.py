"""The process map of one log: an SVG file, or an image in a notebook.

In: a log. Out: a `ProcessMap`, with its own style for light and dark ground. It holds figures of the log as they are: a map of
an original is as confidential as the original.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from libra._system.files import atomic_output
from libra.charts.style import palette
from libra.charts.text import xml
from libra.errors import LibraError, UsageError
from libra.eventlog.log import EventLog
from libra.maps.draw import drawing
from libra.maps.levels import DETAILS
from libra.maps.pair import SECONDS, laid_out
from libra.maps.style import STYLE
from libra.maps.words import EdgeRows, said_of_level
from libra.targets import check_writable

View: TypeAlias = Literal["frequency", "duration"]
NAMES = tuple(detail.name for detail in DETAILS)


@dataclass(frozen=True, repr=False)
class ProcessMap:
    """A process map that notebooks show by themselves.

    `said` tells how much of the log it shows, `table` has its edges as text, `note` says why there is no drawing, if so.
    """

    said: str
    table: EdgeRows
    note: str
    _drawn: str = field(default="")

    def svg(self) -> str:
        """The map as an SVG file, in colours that follow the reader's choice of light or dark.

        Raises:
            LibraError: It could not be drawn; the text says why.
        """
        if not self._drawn:
            raise LibraError(self.note)
        opening, _, rest = self._drawn.partition(">")
        x, y, wide, tall = opening.partition('viewBox="')[2].partition('"')[0].split()
        ground = f'<rect class="lm-ground" x="{x}" y="{y}" width="{wide}" height="{tall}"/>'
        return f"{opening}><style>{palette('.lm')}{STYLE}</style>{ground}{rest}\n"

    def save(self, path: str | Path) -> Path:
        """Write the map to an SVG file, whole or not at all.

        Returns:
            The file.

        Raises:
            LibraError: It could not be drawn or written; the text says why and what to do.
        """
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise UsageError(f"{target}: the map is written as SVG. End its name in .svg.")
        drawn = self.svg()
        check_writable("", target)
        with atomic_output(target) as stream:
            stream.write(drawn.encode())
        return target

    def _repr_html_(self) -> str:
        """The map in a notebook, or its edges as a table where nothing could be drawn."""
        if self._drawn:
            return f'<figure class="lm-figure">{self.svg()}<figcaption>{xml(self.said)}</figcaption></figure>'
        rows = (f"<tr>{''.join(f'<td>{xml(cell)}</td>' for cell in row)}</tr>" for row in self.table.rows)
        heads = "".join(f"<th>{xml(heading)}</th>" for heading in self.table.headings)
        return f"<p>{xml(self.note)}</p><table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def __repr__(self) -> str:
        """A short form without any figure of the log: it may end up in a log file."""
        return "ProcessMap(drawn)" if self._drawn else "ProcessMap(not drawn)"


def process_map(
    log: EventLog, *, level: int | str = "main paths", view: View = "frequency", seconds: float = SECONDS
) -> ProcessMap:
    """The process map of a log.

    Args:
        log: The log.
        level: How much of it: "overview", "main paths" or "detailed", or 0, 1 or 2.
        view: What the edges are labelled with: how often, or how long on average.
        seconds: How long Graphviz may take.

    Raises:
        LibraError: There is no such level or view.

    Example:
        >>> from libra.example.simulate import simulate
        >>> process_map(simulate(cases=50), level="overview")
        ProcessMap(drawn)
    """
    wanted = level if isinstance(level, int) and level in range(len(NAMES)) else NAMES.index(level) if level in NAMES else None
    if wanted is None:
        raise UsageError(f"There is no level {level!r} of a map. There is: {', '.join(NAMES)}.")
    if view not in get_args(View):
        raise UsageError(f"There is no view {view!r} of a map. There is: {', '.join(get_args(View))}.")
    found = laid_out([log], [DETAILS[wanted]], seconds)
    if not found.levels:
        return ProcessMap("", found.table, found.note)
    _, picture, layout = found.levels[0]
    looks = "anonymized lm-show-duration" if view == "duration" else "anonymized"
    return ProcessMap(said_of_level(picture.graph, picture.shown), found.table, "", drawing(picture, layout, 0, looks))

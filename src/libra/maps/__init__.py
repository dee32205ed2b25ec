"""Process maps: the directly-follows graph of a log as a drawing, of one log or of two side by side on one layout.

In: logs. Out: fragments of SVG that carry no style of their own (`STYLE` has it), the same edges as a table, and a map that a
notebook shows by itself. Graphviz finds the positions, in a process of its own; everything else is drawn here.
"""

from __future__ import annotations

from libra.maps.pair import MapLevel, MapPair, map_pair
from libra.maps.process_map import ProcessMap, process_map
from libra.maps.style import STYLE, legend

__all__ = ["STYLE", "MapLevel", "MapPair", "ProcessMap", "legend", "map_pair", "process_map"]

"""Small charts as SVG: pure functions from plain numbers to a `Chart`, which is an image and the same figures as a table.

A fragment carries no style, script, link or id of its own: its looks come from classes that begin with `lc-`, see
`libra.charts.style`. Text from a log goes through `libra.charts.text`, numbers through `libra.charts.numbers`.
"""

from __future__ import annotations

from libra.charts.chart import Chart

__all__ = ["Chart"]

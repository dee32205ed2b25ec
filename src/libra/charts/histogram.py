"""Two histograms over the same bins: the original as a stepped outline, the anonymized log as an area.

Bins are equally wide on paper, whatever they span: their bounds are usually spaced by logarithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from libra.charts import draw, numbers
from libra.charts.chart import Chart
from libra.charts.draw import ANONYMIZED, LEGEND_HEIGHT, ORIGINAL, at, at_most, both_of, box, grid, legend, path, sound, svg
from libra.charts.scale import Scale, scale_of
from libra.charts.text import shown

SIZES = {"wide": (560, 220), "small": (280, 150)}
LEFT, RIGHT, BOTTOM = 44, 10, 24
MOST_BINS = 200
BEYOND = "The last bin holds all that lies beyond."
LABELS = 6  # where no ticks are given


def histogram_pair(
    title: str,
    bounds: Sequence[float],
    original: Sequence[float] | None,
    anonymized: Sequence[float],
    *,
    ticks: Sequence[tuple[float, str]] = (),
    unit: str,
    beyond: bool = False,
    size: Literal["wide", "small"] = "wide",
    names: Sequence[str] = (),
) -> Chart:
    """Shares per bin, at most two hundred bins.

    Args:
        title: The caption.
        bounds: Of the bins, one more than there are bins.
        original: The share in each bin, none in a page that does not speak of the original.
        anonymized: The share in each bin.
        ticks: Where on the axis, counted in bins from its left end, stands what.
        unit: What the shares are of, such as cases.
        beyond: Whether the last bin holds everything from its lower bound on.
        size: For a chart on its own, or for one of many.
        names: What the bins are called, if not by their bounds.

    Example:
        >>> histogram_pair("Lengths", [1, 2, 5], [0.5, 0.5], [0.4, 0.6], unit="cases").rows
        (('1 to 2', '50 %', '40 %'), ('2 to 5', '50 %', '60 %'))
    """
    bins = len(anonymized)
    at_most(bins, MOST_BINS, "bins")
    if len(bounds) != bins + 1 or (original is not None and len(original) != bins) or (names and len(names) != bins):
        raise ValueError("There is one bound more than bins, and each bin has a figure, and a name where there are names.")
    wide, tall = SIZES[size]
    bottom, right = tall - BOTTOM, wide - RIGHT
    series = [anonymized] if original is None else [original, anonymized]
    up = scale_of([sound(value) for values in series for value in values], bottom, LEGEND_HEIGHT, log=False, ticks=4)
    across = Scale(0.0, max(bins, 1.0), LEFT, right, log=False, ticks=())
    called = [shown(name) for name in names] or _called(bounds, beyond)
    said = [[numbers.share(value) for value in values] for values in series]
    parts = [*legend(LEFT, wide - 2, f"share of {unit}", both=original is not None), *grid(up, LEFT, right, share_tick)]
    if bins:
        parts.append(path(f"{_steps(anonymized, across, up)}V{at(bottom)}H{LEFT}z", ANONYMIZED, "area"))
    if bins and original is not None:
        way = f"{_steps(original, across, up)}V{at(bottom)}"
        parts += [path(way, "halo"), path(way, ORIGINAL)]
    parts.append(path(f"M{LEFT} {at(bottom)}H{at(right)}", "axis"))
    parts += draw.ticks([(across(place), label) for place, label in ticks or _ticks(bounds)], bottom, wide)
    for place, name in enumerate(called):
        if not any(sound(values[place]) for values in series):
            continue
        about = f"{name}: {both_of(said[0][place] if original is not None else None, said[-1][place])}"
        x = across(place)
        parts.append(box(x, LEGEND_HEIGHT, across(place + 1) - x, bottom - LEGEND_HEIGHT, "hit", title=about))
    rows = tuple((name, *(column[place] for column in said)) for place, name in enumerate(called))
    looks = (ORIGINAL, ANONYMIZED)[-len(series) :]
    told = f"{title}: share of {unit} in {bins} bins."
    return Chart(title, svg(wide, tall, told, parts), ("", *looks), rows, note=BEYOND if beyond and bins else "")


def share_tick(value: float) -> str:
    """A round share at an axis.

    Example:
        >>> share_tick(0.25), share_tick(0.005)
        ('25 %', '0.5 %')
    """
    return f"{100 * value:.4g} %"


def _steps(values: Sequence[float], across: Scale, up: Scale) -> str:
    """From the foot of the first bin along the tops of all; bins of one height make one step."""
    heights = [at(up(sound(value))) for value in values]
    ends = [place for place, (one, after) in enumerate(pairwise([*heights, ""]), 1) if one != after]
    tops = (f"V{heights[place - 1]}H{at(across(place))}" for place in ends)
    return f"M{at(across(0))} {at(up(0))}{''.join(tops)}"


def _ticks(bounds: Sequence[float]) -> list[tuple[float, str]]:
    every = -(-len(bounds) // LABELS)
    return [(float(place), numbers.number(bound)) for place, bound in enumerate(bounds) if place % every == 0]


def _called(bounds: Sequence[float], beyond: bool) -> list[str]:
    names = [f"{numbers.number(low)} to {numbers.number(high)}" for low, high in pairwise(bounds)]
    return [*names[:-1], f"{numbers.number(bounds[-2])} and more"] if beyond and names else names

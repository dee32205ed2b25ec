"""What the lines of a plot are called, in the room that there is.

In: the settings that are drawn. Out: a few lines of text for each, no two alike. A setting that is too long leaves out what all
others of its mechanism share, with a "…" in its place, and goes on in a second line where that is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from libra.comparison.setting import Setting

LONGEST = 32  # characters


def labels_of(settings: Sequence[Setting], endings: Sequence[str] | None = None) -> list[list[str]]:
    """The lines of text for each setting; an ending is put behind the label.

    Example:
        >>> several = [Setting("libra", {"labels": "public", "subsamples": 20, "gamma": gamma}) for gamma in (0.05, 0.5)]
        >>> labels_of([*several, Setting("travas")])
        [['libra:…:gamma=0.05'], ['libra:…:gamma=0.5'], ['travas']]
        >>> labels_of([Setting("libra", {"gamma": 0.05, "subsamples": 20, "tail": "drop"})])
        [['libra:gamma=0.05:subsamples=20:', 'tail=drop']]
    """
    of_mechanism: dict[str, list[Setting]] = {}
    for setting in settings:
        of_mechanism.setdefault(setting.mechanism, []).append(setting)
    endings = endings or [""] * len(settings)
    return [
        _lines(_short(setting, of_mechanism[setting.mechanism], len(ending)) + ending)
        for setting, ending in zip(settings, endings, strict=True)
    ]


def _short(setting: Setting, alike: Sequence[Setting], ending: int) -> str:
    if len(setting.label) + ending <= LONGEST or len(alike) == 1:
        return setting.label
    shared = set(alike[0].words).intersection(*(other.words for other in alike))
    different = [word for word in setting.words if word not in shared]
    return ":".join((setting.mechanism, *(["…"] if shared else []), *different))


def _lines(label: str) -> list[str]:
    """A label in lines, broken behind a colon where it can be."""
    lines = [""]
    for piece in re.split("(?<=:)", label):
        left = piece
        if len(lines[-1]) + len(left) > LONGEST and lines[-1]:
            lines.append("")
        while len(left) > LONGEST:
            lines[-1], left = left[:LONGEST], left[LONGEST:]
            lines.append("")
        lines[-1] += left
    return lines

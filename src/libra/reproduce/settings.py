"""The readings of the paper that are compared with its tables. They differ in delta and in whether control flow gets noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from libra.errors import UsageError

SettingName = Literal["printed", "text", "stated"]

B = 2
GAMMA = 0.05
SUBSAMPLES = 20


@dataclass(frozen=True)
class Setting:
    """One reading: the delta of the clipping threshold, and whether cases are copied and deleted."""

    name: SettingName
    delta: float
    trace_noise: bool
    meaning: str


SETTINGS: Mapping[SettingName, Setting] = {
    "printed": Setting("printed", 1e-3, False, "delta 1e-3 and no trace noise: what fits the printed tables best"),
    "text": Setting("text", 1e-3, True, "delta 1e-3, with trace noise as the text describes it"),
    "stated": Setting("stated", 1e-4, True, "delta 1e-4 as the paper states it, and trace noise"),
}


def settings_named(names: Sequence[str]) -> tuple[Setting, ...]:
    """The settings of these names, each once and in their own order; all of them where none is named.

    Example:
        >>> [setting.name for setting in settings_named(["stated", "printed"])]
        ['printed', 'stated']
    """
    for name in names:
        if name not in SETTINGS:
            raise UsageError(f'There is no setting "{name}". There are: {", ".join(get_args(SettingName))}.')
    return tuple(setting for setting in SETTINGS.values() if not names or setting.name in names)

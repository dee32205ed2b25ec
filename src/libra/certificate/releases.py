"""Everything that the sound mechanism can release: by the purpose that stands in the ledger, what an entry has to look like.

A promise rests on sensitivities that a reader of the certificate cannot measure. What can be checked is here: that each purpose
is one of this version, with the noise, the cases and, where a case falls into one cell, the sensitivity of the proofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from libra.engines import control_flow_tables as control
from libra.engines import time_tables as times
from libra.privacy.gate import KEPT_LABELS, KEPT_VARIANTS
from libra.privacy.ledger import LABEL_SELECTION, ROUNDED_GAUSSIAN, VARIANT_SELECTION, Entry, Group

CHOICE, NAMES = "choice of what is shown", "choice of activity names"
COUNTS, TAIL = "counts of kept variants", "model of rare cases"
STARTS, DURATIONS, CLOCK = "when cases start", "how long cases and steps take", "hours and precision of times"
TIMES = (STARTS, DURATIONS, CLOCK)
TABLES: tuple[tuple[str, Group, tuple[Any, ...]], ...] = (
    (COUNTS, "kept", (control.VariantCounts,)),
    (COUNTS, "all", (control.NearestCounts,)),
    (
        TAIL,
        "tail",
        (
            control.Size,
            control.Lengths,
            control.BaseNorms,
            control.ExcessNorms,
            control.BaseEdges,
            control.ExcessEdges,
            control.Contexts,
        ),
    ),
    (STARTS, "all", (times.StartYears, times.StartWeeks, times.StartHours, times.StartDays)),
    (
        DURATIONS,
        "all",
        (
            times.CaseDurations,
            times.CaseDurationParts,
            times.LongestSteps,
            times.StepDurations,
            times.EdgeDurations,
            times.LongestEdges,
        ),
    ),
    (CLOCK, "all", (times.Granularity, times.ActivityHours)),
)


@dataclass(frozen=True)
class Released:
    """What an entry of some purpose has to look like.

    Attributes:
        topic: What it is about, for people.
        mechanism: The kind of noise.
        group: The cases it is counted from.
        one_cell: Whether a case falls into one cell, so that the sensitivity is 1.
    """

    topic: str
    mechanism: str
    group: Group
    one_cell: bool

    def departures(self, entry: Entry) -> Iterator[str]:
        """How an entry differs from that."""
        if entry.mechanism != self.mechanism:
            yield f'its noise is "{entry.mechanism}", and that of this purpose is "{self.mechanism}"'
        if entry.group != self.group:
            yield f'it counts for the group "{entry.group}", and belongs to "{self.group}"'
        if self.one_cell and entry.sensitivity != 1:
            yield f"its sensitivity is {entry.sensitivity:g}, and one case moves it by 1"
        if (entry.shows and self.mechanism == ROUNDED_GAUSSIAN) or entry.bound is not None:
            yield "it has figures that this noise does not have"


RELEASES: dict[str, Released] = {
    KEPT_LABELS: Released(NAMES, LABEL_SELECTION, "tail", one_cell=True),
    KEPT_VARIANTS: Released(CHOICE, VARIANT_SELECTION, "all", one_cell=True),
    **{
        table.purpose: Released(topic, ROUNDED_GAUSSIAN, group, "clip" not in table.__dataclass_fields__)
        for topic, group, tables in TABLES
        for table in tables
    },
}

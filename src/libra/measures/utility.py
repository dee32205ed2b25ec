"""All utility figures of an anonymized log against its original, in one call.

In: two logs. Out: a `Utility`, exact and deterministic. The figures are computed from the original and therefore
confidential: they are for the custodian, never part of what is published. `docs/measures.md` defines each one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from libra.eventlog.log import EventLog, empty_log
from libra.measures.control_flow import dfg_l1, dfg_tv, length_w1, pair_variants, unseen_variant_share, variant_tv
from libra.measures.edges import pair_edges
from libra.measures.emd import emd_freq, emd_time
from libra.measures.times import arrival_w1_days, case_duration_w1_hours, step_durations

if TYPE_CHECKING:
    from libra.measures.risk import ReleaseRisk


@dataclass(frozen=True)
class Baseline:
    """What an empty log would score on the paper's two measures: the values to beat."""

    emd_freq: float
    emd_time: float


@dataclass(frozen=True)
class Utility:
    """How far an anonymized log is from its original. Every figure is 0 for equal logs; None means: not defined here.

    Attributes:
        emd_freq: The paper's EMD Freq, in occurrences.
        emd_time: The paper's EMD Time, in hours.
        dfg_l1: Summed differences of directly-follows frequencies, as a share of the original's.
        dfg_tv: Total variation of the directly-follows frequencies.
        variant_tv: Total variation of the variants' shares of cases.
        unseen_variant_share: Share of anonymized cases whose variant never occurs in the original.
        length_w1: Wasserstein-1 distance of trace lengths, in events.
        case_duration_w1_hours: Wasserstein-1 distance of case durations.
        edge_duration_w1_hours: Wasserstein-1 distance of step durations, the mean over the original's edges.
        edge_duration_w1_relative: The same, divided by the original's mean absolute step duration.
        edge_duration_w1_log: The same on log10(1 + seconds).
        arrival_w1_days: Wasserstein-1 distance of the cases' start times.
        empty: What an empty log would score.
        risk: What an attacker gets from the anonymized log, a figure of its own kind; None where it was not asked for.
        notes: What is worth knowing about how the logs were read and attacked.
    """

    emd_freq: float
    emd_time: float
    dfg_l1: float | None
    dfg_tv: float
    variant_tv: float
    unseen_variant_share: float
    length_w1: float
    case_duration_w1_hours: float
    edge_duration_w1_hours: float | None
    edge_duration_w1_relative: float | None
    edge_duration_w1_log: float | None
    arrival_w1_days: float | None
    empty: Baseline
    risk: ReleaseRisk | None = None
    notes: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The figures as `libra measure --json` prints them: no NaN, no infinity, None where not defined; `risk` if asked."""
        figures = {name: value for name, value in asdict(self).items() if name != "notes"}
        return {name: value for name, value in figures.items() if name != "risk" or value is not None}


def measure(original: EventLog, anonymized: EventLog) -> Utility:
    """Compare an anonymized log with its original.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> measure(log, log).dfg_l1, measure(log, simulate(cases=40)).length_w1 > 0
        (0.0, True)
    """
    edges = pair_edges(original, anonymized)
    variants = pair_variants(original, anonymized)
    steps = step_durations(edges)
    against_nothing = pair_edges(original, empty_log(original))
    return Utility(
        emd_freq=emd_freq(edges),
        emd_time=emd_time(edges),
        dfg_l1=dfg_l1(edges),
        dfg_tv=dfg_tv(edges),
        variant_tv=variant_tv(variants),
        unseen_variant_share=unseen_variant_share(variants),
        length_w1=length_w1(original, anonymized),
        case_duration_w1_hours=case_duration_w1_hours(original, anonymized),
        edge_duration_w1_hours=steps.hours,
        edge_duration_w1_relative=steps.relative,
        edge_duration_w1_log=steps.log,
        arrival_w1_days=arrival_w1_days(original, anonymized),
        empty=Baseline(emd_freq(against_nothing), emd_time(against_nothing)),
    )

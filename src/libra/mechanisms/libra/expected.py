"""How far a release is off, from its released figures alone: what their noise, their clips and what was left out let expect.

The noise of every figure is known, and how it adds up to the error of a log follows from that. How much of it balancing takes
away, and what rare cases do that nothing was released about, was fitted to releases of public and simulated logs (`python -m
benchmarks.expected --fit`). Nothing here looks at a case.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from libra.engines.control_flow_tables import LENGTH_BINS, LONGEST, NORM_BINS
from libra.engines.time_tables import duration_bounds
from libra.eventlog.cases import Floats, Traces
from libra.mechanisms.libra.tail.release import MEAN_ABSOLUTE, TailFigures, last_bin, on_simplex
from libra.mechanisms.libra.times.durations import WEIGHS, overall_steps
from libra.mechanisms.libra.times.release import TimeFigures, last_total

if TYPE_CHECKING:
    from libra.mechanisms.libra.figures import ControlFigures, Figures

A_SECOND = 1e6  # microseconds
WHOLE = ("years", "granularity", "start_days", "start_hours")  # tables about times that count every case once
SLACK = 2.0  # times as many steps as norms say: those around events without a released label are not among them
FEW_STEPS = 4.0  # of a case, where nothing else is known
# What was fitted for counts: how much of the noise on edges, and on further uses of them, balancing leaves; then what counts of
# the steps on edges that were left out, of the noise of that figure, of a difference between released steps and those that
# lengths speak of, of steps of cases without traces, of these squared, and of the steps of as many rare cases as a variant needs
# to be kept.
EDGES, EXCESS = 0.64, 0.35
LEFT_OUT, LEFT_OUT_NOISE, SHORT, UNTOLD, UNTOLD_SQUARED, THIN = 0.91, 1.9, 0.19, 0.76, 0.0, 1.9
LONGER = 2.0  # times as many steps as a case of a kept variant: a rare case, where its length was not asked for
MUCH, BEYOND = 0.8, 0.35  # terms that add up to more than this are mostly the same: of what is beyond, so much counts
# How far an error may be from the likely one, as a logarithm: something always, and more where few edges make up the sum. Cases
# without traces may as well not be there.
BELOW, ABOVE, OF_UNTOLD = (0.5, 1.2), (0.5, 1.0), 1.0
OF_VARIANTS, ROUNDED = (0.4, 1.2), 0.25  # likewise; and what rounding to whole cases is off by on average
AS_NOTHING = 0.95  # an error of counts from which on a release is probably no better than an empty log, which has 1
OF_DURATIONS = (1.5, 0.8)  # far below: logs of which all steps of an edge take about as long are off by less
# What was fitted for durations: the noise of a step as a share of an edge's steps, to a power; what counts of it times the spread
# of all durations, and by itself, of the mean duration of steps that are wrong, and of the spread at any noise.
NOISE, POWER = 4.0, 1.0
FITTED = (0.68, 0.007, 0.47, 0.008)
TYPICAL = (2.5, 1.5)  # mean and spread of durations in decades, where those released are nothing but noise


@dataclass(frozen=True)
class Estimate:
    """A figure that is not known: what it likely is, and between what it lies in nine of ten releases."""

    likely: float
    lowest: float
    highest: float

    @classmethod
    def around(cls, likely: float, below: float, above: float) -> Estimate:
        """An estimate that may be off by these factors, given as logarithms."""
        return cls(likely, likely * math.exp(-below), likely * math.exp(above))


@dataclass(frozen=True)
class Expected:
    """The expected error of a release; the names are those of its certificate."""

    dfg_l1: Estimate  # of directly-follows counts, as `libra measure` has it
    kept_variants: Estimate | None  # of the numbers of cases that follow kept variants, as a share of these; None without any
    edge_duration_w1_log: Estimate | None  # of step durations, as `libra measure` has it; None where none are released
    empty_duration_log: float | None  # the same of an empty log
    drowned: bool  # whether rare cases make up much of the log, and even their lengths are lost in noise

    @property
    def sentence(self) -> str:
        """The estimates, for people."""
        counts = f"about {_percent(self.dfg_l1.likely)}" if not self.drowned else "unknown, perhaps worse than half"
        parts = [f"directly-follows counts {counts} ({_percent(self.dfg_l1.lowest)} to {_percent(self.dfg_l1.highest)})"]
        if (one := self.kept_variants) is not None:
            parts.append(f"cases of kept variants {_percent(one.likely)} ({_percent(one.lowest)} to {_percent(one.highest)})")
        if (one := self.edge_duration_w1_log) is not None:
            parts.append(f"step durations a factor of {_factor(one.likely)} ({_factor(one.lowest)} to {_factor(one.highest)})")
        return f"Expected error, from released figures alone: {', '.join(parts)}."

    @property
    def warning(self) -> str:
        """That the release is likely no better than an empty log; empty where it is."""
        if not self.hopeless:
            return ""
        what = "directly-follows counts" if self.dfg_l1.likely >= AS_NOTHING else "step durations"
        return f"This release is probably no better than an empty log: the expected error of its {what} is as large."

    @property
    def hopeless(self) -> bool:
        """Whether the release is likely no better than an empty log, in its counts or in its durations."""
        durations, empty = self.edge_duration_w1_log, self.empty_duration_log
        return self.dfg_l1.likely >= AS_NOTHING or (durations is not None and empty is not None and durations.likely >= empty)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy, to four digits."""
        rounded: dict[str, Any] = _rounded(asdict(self))
        return rounded | {"worse_than_empty": Expected.from_dict(rounded).hopeless}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Expected:
        """What a certificate says."""
        counts, variants, durations = (
            None if plain[name] is None else Estimate(**plain[name])
            for name in ("dfg_l1", "kept_variants", "edge_duration_w1_log")
        )
        return cls(counts or Estimate(1.0, 1.0, 1.0), variants, durations, plain["empty_duration_log"], plain["drowned"])


def _percent(share: float) -> str:
    """A share of the whole in percent, to two digits.

    Example:
        >>> [_percent(share) for share in (0.00123, 0.0412, 0.31, 1.26, 35)]
        ['0.12 %', '4.1 %', '31 %', '126 %', 'more than 1,000 %']
    """
    if share > 10:
        return "more than 1,000 %"
    return f"{100 * share:.{0 if share >= 0.0995 else 1 if share >= 0.00995 else 2}f} %"


def _factor(decades: float) -> str:
    """How many times as long, from powers of ten; no more than is worth telling."""
    times = 10 ** min(decades, 3.0)
    return "1,000 or more" if times >= 1000 else f"{times:.{2 if times < 1.995 else 1 if times < 9.95 else 0}f}"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


class Terms(NamedTuple):
    """What the error of the counts of one run is made of, as shares of all steps."""

    kept: float  # noise of kept variants
    edges: float  # noise of the edges of rare cases
    excess: float  # noise of further uses of them
    left_out: float  # steps on edges that did not stand out
    left_out_noise: float  # the noise of that figure
    short: float  # released steps against those that lengths speak of
    untold: float  # steps of cases without traces
    thin: float  # steps of rare cases, for as many of them as a variant needs to be kept
    unlike: float  # steps of rare cases that were left out, or that the most similar kept variant stands for
    n_edges: int  # how many edges have noise of their own
    drowned: bool  # whether rare cases matter, and their lengths are lost in noise

    @property
    def noise(self) -> float:
        """What noise alone makes of it, independently from run to run."""
        return math.hypot(self.kept, EDGES * self.edges, EXCESS * self.excess)

    @property
    def unknown(self) -> float:
        """What was lost or made up, in every run alike."""
        lost = LEFT_OUT * self.left_out + LEFT_OUT_NOISE * self.left_out_noise + SHORT * self.short + THIN * self.thin
        return lost + self.unlike

    @property
    def of_untold(self) -> float:
        """What cases without traces make of it."""
        return UNTOLD * self.untold + UNTOLD_SQUARED * self.untold**2


def expected_of(runs: Sequence[Figures], flows: Sequence[tuple[Traces, Floats]], rate: float = 1.0) -> Expected:
    """What to expect of a release that is made of these runs, each with the traces and weights that follow from its figures."""
    terms = [terms_of(run.control, run.times, *flow) for run, flow in zip(runs, flows, strict=True)]
    counts = [edge_counts(run.control.n_labels, *flow) for run, flow in zip(runs, flows, strict=True)]
    if not any(len(one) for one in counts):
        return Expected(Estimate(1.0, 1.0, 1.0), None, None, None, drowned=False)
    drawn = sum(float(np.sqrt(one * (1 - rate)).sum() / max(one.sum(), 1.0)) for one in counts) / len(runs) ** 1.5
    noise = math.hypot(math.sqrt(sum(one.noise**2 for one in terms)) / len(runs), MEAN_ABSOLUTE * drawn)
    untold = sum(one.of_untold for one in terms) / len(runs)
    likely = noise + untold + sum(one.unknown for one in terms) / len(runs)
    likely -= (1 - BEYOND) * max(likely - MUCH, 0.0)
    few = 1 / math.sqrt(max(one.n_edges for one in terms))
    below = BELOW[0] + BELOW[1] * few + OF_UNTOLD * untold / max(likely, 1e-9)
    of_counts = Estimate.around(likely, below, ABOVE[0] + ABOVE[1] * few)
    drowned = any(one.drowned for one in terms)
    if drowned:
        of_counts = replace(of_counts, highest=max(of_counts.highest, 1.0))
    known = [(one, found) for run, one in zip(runs, counts, strict=True) if len(one) and (found := durations_of(run.times))]
    of_runs = [duration_error(one, found, likely) for one, found in known]
    durations = Estimate(*(fmean(getattr(one, end) for one in of_runs) for end in ENDS)) if of_runs else None
    empty = fmean(_believed(one, found)[0] for one, found in known) if known else None
    made = Expected(of_counts, _of_variants(runs, flows), durations, empty, drowned)
    return Expected.from_dict(made.to_dict())  # everybody is told the same digits


ENDS = ("likely", "lowest", "highest")


def terms_of(figures: ControlFigures, times: TimeFigures, traces: Traces, weights: Floats) -> Terms:
    """What the error of the counts is made of; `traces` and `weights` are the control flow that follows from the figures."""
    kept, threshold = figures.kept, figures.threshold
    released = float(weights @ _steps(traces))
    counts = figures.own_cases if len(kept) else np.zeros(0)
    kept_cases, kept_steps = float(counts.sum()), float(counts @ _steps(kept))
    of_kept = MEAN_ABSOLUTE * figures.counts_sd * float(np.sqrt(_squared_uses(kept, figures.n_labels)).sum())
    each = kept_steps / kept_cases if kept_cases else FEW_STEPS  # steps of a case
    tail = figures.tail
    if tail is None:
        every = float(figures.counts.sum()) if figures.nearest else _all_cases(times, kept_cases)
        cases = max(every - kept_cases, 0.0)
        lost = LONGER * cases * each
        whole = max(kept_steps + lost, 1.0)
        return Terms(of_kept / whole, 0, 0, 0, 0, 0, 0, 0, lost / whole, max(len(kept), 1), drowned=False)
    (cases, sd), (steps, steps_sd) = tail.cases, tail_steps(tail)
    if not steps_sd:  # lengths do not stand out
        steps = steps_sd = cases * each
    modelled = released > 0 and bool(tail.edges) and float(weights.sum()) > 0 and len(traces) > len(kept)
    whole = max((released + kept_steps + steps) / 2, 1.0)
    short = abs(released - kept_steps - steps)
    thin = threshold / max(cases + kept_cases, 1.0) * steps / whole
    drowned = steps / whole > 1 / 3 and steps_sd > steps / 2
    if not modelled:
        by_case = max(steps / cases, each if steps_sd >= steps else 0.0) if cases else each
        untold = min(_not_negative(cases * by_case, sd * by_case) / whole, 1.0)
        short = max(short - steps_sd, 0.0)
        return Terms(of_kept / whole, 0, 0, 0, 0, short / whole, untold, thin, 0, max(len(kept), 1), drowned)
    of_edges, of_excess, lost, lost_sd, n_edges = _of_edges(tail, figures.n_labels, steps, steps_sd)
    return Terms(
        of_kept / whole,
        of_edges / whole,
        of_excess / whole,
        lost / whole,
        lost_sd / whole,
        short / whole,
        0,
        thin,
        0,
        max(n_edges, 1),
        drowned,
    )


def tail_steps(tail: TailFigures) -> tuple[float, float]:
    """How many steps rare cases take by their noisy lengths, and the noise of that figure; 0 where nothing stands out."""
    last = last_bin(tail.lengths)
    if last is None:
        return 0.0, 0.0
    last = min(last, int(np.searchsorted(LENGTH_BINS, _longest(tail), side="right")) - 1)
    middles = (LENGTH_BINS + np.append(LENGTH_BINS[1:] - 1, LONGEST)) / 2
    each = np.maximum(middles[: last + 1] - 1, 0)
    cases = on_simplex(tail.lengths.values[: last + 1], tail.cases[0])
    return float(cases @ each), tail.lengths.sd * float(np.sqrt((each**2).sum()))


def _longest(tail: TailFigures) -> float:
    """A length that hardly any case exceeds, by the norms of edges: a false bin of lengths alone may hold thousands of events."""
    if tail.base is None or (last := last_bin(tail.norms)) is None:
        return LONGEST
    uses = float(NORM_BINS[min(last + 1, len(NORM_BINS) - 1)])  # no more than the squared norm
    if tail.excess_norms is not None and (last := last_bin(tail.excess_norms)) is not None:
        uses += float(NORM_BINS[min(last + 1, len(NORM_BINS) - 1)])
    return SLACK * uses


def _of_edges(tail: TailFigures, n_labels: int, steps: float, steps_sd: float) -> tuple[float, float, float, float, int]:
    """Noise of edges and of their excess, steps on edges left out, the noise of that figure, and how many edges there are."""
    edges, base = np.array(tail.edges, np.int64), tail.base or tail.size
    inner = edges[(edges // (n_labels + 1) < n_labels) & (edges % (n_labels + 1) < n_labels)]
    left = _left_by_clip(tail)
    variances = np.full(base.counts.size, base.sd**2)
    if tail.second is not None:
        variances[list(tail.doubtful)] = _together(base.sd, tail.second.sd) ** 2
    taken = float(base.values.ravel()[inner].sum()) / left
    excess = 0.0 if tail.excess is None else max(float(tail.excess.values.ravel()[inner].sum()), 0.0)
    share, noise = tail.left_out()
    total = max(float(base.values[:-1, :-1].sum()), base.sd) / left
    # Two figures of the steps left out: the noisy counts of their edges, and what lengths say beyond the edges taken.
    one, other = max(noise * total, 1.0), max(math.hypot(steps_sd / 4, math.sqrt(variances[inner].sum()) / left), 1e-9)
    trust, trust_other = 1 / one**2, 1 / other**2
    lost = (trust * share * total + trust_other * (steps - taken - excess)) / (trust + trust_other)
    lost_sd = _together(one, other)
    of_edges = MEAN_ABSOLUTE * float(np.sqrt(variances[inner]).sum()) / left
    of_excess = 0.0 if tail.excess is None else MEAN_ABSOLUTE * tail.excess.sd * len(inner)
    of_edges, of_excess = min(of_edges, steps), min(of_excess, steps)  # balancing keeps to the lengths
    return of_edges, of_excess, min(_not_negative(lost, lost_sd), steps), lost_sd, len(inner)


def _left_by_clip(tail: TailFigures) -> float:
    """The share of rare cases' edges that the clip leaves, by their noisy norms."""
    end = int(np.searchsorted(NORM_BINS, 2.0 * (tail.longest + 1), side="right"))  # nobody's norm is larger
    last = last_bin(tail.norms)
    if last is None:
        return 1.0
    squares = ((NORM_BINS + np.append(NORM_BINS[1:], NORM_BINS[-1])) / 2)[: min(last + 1, end)]
    cases = on_simplex(tail.norms.values[: len(squares)], tail.cases[0])
    whole = float(cases @ squares)
    return float(cases @ np.minimum(squares, np.sqrt(squares) * tail.clip)) / whole if whole > 0 else 1.0


def edge_counts(n_labels: int, traces: Traces, weights: Floats) -> Floats:
    """How many steps each edge has, for those that have any."""
    row, cell = _edges(traces, n_labels)
    counts = np.bincount(cell, weights[row], minlength=1).astype(np.float64)
    return counts[counts > 0]


class Durations(NamedTuple):
    """What is known of step durations: the noise of a step's cell, and mean and spread of all durations, in decades."""

    sd: float  # of a step that weighs 1
    mean: float
    spread: float


def durations_of(times: TimeFigures) -> Durations | None:
    """What was released about step durations; None where nothing was."""
    if not {"steps", "edges", "again"} <= set(times.noisy):
        return None
    shares = overall_steps(times.noisy["steps"], last_total(times.noisy, times.parts))
    bounds = duration_bounds() / A_SECOND
    decades = np.log10(1 + np.sqrt(np.maximum(bounds[:-1], 1e-6) * np.maximum(bounds[1:], 1e-6)))
    mean = float(shares @ decades / shares.sum())
    sd = _together(times.noisy["edges"].sd, times.noisy["again"].sd)
    return Durations(sd, mean, math.sqrt(float(shares @ (decades - mean) ** 2 / shares.sum())))


def duration_error(counts: Floats, known: Durations, off: float) -> Estimate:
    """What to expect of the step durations; `counts` are the steps of each edge, `off` is the expected error of counts."""
    parts = duration_parts(counts, known, off)
    return Estimate.around(sum(by * part for by, part in zip(FITTED, parts, strict=True)), *OF_DURATIONS)


def duration_parts(
    counts: Floats, known: Durations, off: float, noise: float = NOISE, power: float = POWER
) -> tuple[float, float, float, float]:
    """What the error of step durations is made of: each part is in decades, and counts as much as `FITTED` says."""
    lost = duration_noise(counts, known.sd, noise, power)
    mean, spread = _believed(counts, known, noise, power)
    return spread * lost, lost, min(off, 1.0) * mean, spread


def _believed(counts: Floats, known: Durations, noise: float = NOISE, power: float = POWER) -> tuple[float, float]:
    """Mean and spread of durations: those released, or typical ones as far as these are nothing but noise."""
    trust = 1 - duration_noise(counts, known.sd, noise, power) ** 4
    mean, spread = (usual + trust * (one - usual) for one, usual in zip(known[1:], TYPICAL, strict=True))
    return mean, spread


def duration_noise(counts: Floats, sd: float, noise: float = NOISE, power: float = POWER) -> float:
    """The mean over steps of the noise as a share of their edge's steps, to a power: 0 for none, 1 where all is noise."""
    return float(counts @ np.minimum(noise * sd * np.maximum(counts, 1.0) ** (-1 - WEIGHS), 1.0) ** power / counts.sum())


def _of_variants(runs: Sequence[Figures], flows: Sequence[tuple[Traces, Floats]]) -> Estimate | None:
    """What to expect of the numbers of cases of kept variants, as a share of them."""
    off, cases, n = 0.0, 0.0, 0
    for run, (traces, weights) in zip((run.control for run in runs), flows, strict=True):
        if not len(run.kept):
            continue
        counts, noise = run.own_cases, run.counts_sd
        if run.nearest:  # rare cases count for them as well
            released = float(weights.sum())
        else:
            released = float(weights[np.isin(traces.fingerprints(), run.kept.fingerprints())].sum())
        standing_for = abs(released / max(float(counts.sum()), 1.0) - 1) * counts  # rare cases without traces
        off += float(np.sqrt((MEAN_ABSOLUTE * noise) ** 2 + standing_for**2 + ROUNDED**2).sum())
        cases, n = cases + float(counts.sum()), n + len(counts)
    if not cases:
        return None
    always, few = OF_VARIANTS
    return Estimate.around(off / cases / math.sqrt(len(runs)), *(always + few / math.sqrt(n),) * 2)


def _all_cases(times: TimeFigures, least: float) -> float:
    """How many cases there are, from all tables about times that count each of them once."""
    tables = [times.noisy[name] for name in WHOLE if name in times.noisy]
    trust = [1 / (table.sd**2 * table.counts.size) for table in tables]
    return sum(by * float(table.values.sum()) for by, table in zip(trust, tables, strict=True)) / sum(trust) if trust else least


def _steps(traces: Traces) -> Floats:
    return np.maximum(traces.lengths - 1, 0).astype(np.float64)


def _edges(traces: Traces, n_labels: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The trace and the edge of every step."""
    following = np.ones(len(traces.codes), bool)
    following[traces.offsets[:-1][traces.lengths > 0]] = False
    position = np.flatnonzero(following)
    return traces.rows[position], traces.codes[position - 1] * n_labels + traces.codes[position]


def _squared_uses(traces: Traces, n_labels: int) -> Floats:
    """For every edge, the sum over traces of its squared uses."""
    row, cell = _edges(traces, n_labels)
    keys, times = np.unique(row * max(n_labels, 1) ** 2 + cell, return_counts=True)
    return np.bincount(keys % max(n_labels, 1) ** 2, times.astype(np.float64) ** 2).astype(np.float64)


def _together(one: float, other: float) -> float:
    """The noise of two figures of the same thing, each weighted by its precision."""
    return 1 / math.sqrt(1 / one**2 + 1 / other**2)


def _not_negative(figure: float, sd: float) -> float:
    """The mean of what a noisy figure stands for, which is nowhere below zero."""
    score = figure / sd if sd > 0 else math.inf
    if score > 30:
        return figure
    if score < -6:
        return sd / -score
    return figure + sd * math.exp(-(score**2) / 2) / math.sqrt(2 * math.pi) / (0.5 * math.erfc(-score / math.sqrt(2)))

"""PRIPEL (Fahrenkrog-Petersen, van der Aa and Weidlich 2020): variants of a query, with times and attributes of real cases.

Every variant that the query gives is matched to a case of the original by least total edit distance (`matching`), takes over its
times and event attributes event by event, and each value goes through a mechanism with epsilon (`values`). The values of traces
that are matched to none are drawn from the log, as the authors' code does. The claim does not hold (`guarantee` says why).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from libra._system.ordering import ranks
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.cases import Cases, Integers, Traces, cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.names import column
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms import parameters as p
from libra.mechanisms.fresh_log import fresh_log
from libra.mechanisms.peers import NO_GUARANTEE, EpsilonClaim, PeerMechanism, at_relative_times, claimed
from libra.mechanisms.prefix_laplace import PrefixLaplace
from libra.mechanisms.pripel.matching import TooLargeError, fits_well, matched
from libra.mechanisms.pripel.values import bounded_laplace, randomized_attributes, released_attributes
from libra.mechanisms.release import WITH_ATTRIBUTES, Release
from libra.mechanisms.sacofa import Sacofa
from libra.mechanisms.variant_queries import DEFAULT_PRUNE, checked_max_length, checked_prune, counted_of
from libra.privacy.gaussian import checked_epsilon
from libra.privacy.guarantee import Guarantee

Query: TypeAlias = Literal["prefix-laplace", "sacofa"]
QUERIES: dict[Query, type[PrefixLaplace] | type[Sacofa]] = {"prefix-laplace": PrefixLaplace, "sacofa": Sacofa}
NOTHING = "The query gave no variant: no prefix was frequent enough. A smaller prune or a larger --epsilon would help."
RELEASED = "Attributes of events are released whose values are those of the original, some of them changed at random"
TOO_LARGE = "pripel would match more variants to cases than there is memory for."
LARGEST_SHARE = 0.5
SECOND = 1_000_000.0  # microseconds: no sensitivity is below
SOURCE = (
    "S. A. Fahrenkrog-Petersen, H. van der Aa and M. Weidlich: PRIPEL: Privacy-Preserving Event Log Publishing Including "
    "Contextual Information, BPM 2020"
)
COMPOSITION = (
    "The query, the shift of a case, each gap and each attribute of each event spend epsilon, all of it on the same case. They "
    "add up, to hundreds of times epsilon where cases are long; one is counted."
)
DOMAINS = (
    "Noise is cut to what the log has: its first and last time, the gaps between two activities, the smallest and the largest "
    "number, the words of an attribute. Somebody with a value of their own shows in these."
)
MATCHING = (
    "Traces are matched to cases of the original by their exact distance, and each takes after one real case. Which case that is "
    "depends on all others, and no part of epsilon is kept for it."
)
DRAWN = (
    "Where there is nothing to take over, exact values of other cases are drawn; and which events lack a value is shown as it is."
)
IDS = "Which columns hold ids, and are left out, is found from the log as it is."


@dataclass(frozen=True)
class Pripel(PeerMechanism):
    """PRIPEL: queried traces with the times and attributes of similar cases. Claimed by its authors.

    Example:
        >>> from libra.example.simulate import simulate
        >>> release = Pripel(epsilon=1.0).anonymize(simulate(cases=500), Randomness())
        >>> release.guarantee.kind, release.log.n_cases > 0
        ('claimed', True)
    """

    name: ClassVar[str] = "pripel"

    epsilon: float = p.EPSILON.field(1.0)
    query: Query = p.Parameter("Query for the control flow.", "prefix-laplace or sacofa").field("prefix-laplace")
    prune: float = p.PRUNE.field(DEFAULT_PRUNE)
    max_length: int | None = p.MAX_LENGTH.field(None)

    def __post_init__(self) -> None:
        max_length = checked_max_length(self.max_length)
        self._set(epsilon=checked_epsilon(self.epsilon), prune=checked_prune(self.prune), max_length=max_length)
        if self.query not in QUERIES:
            raise UsageError(f"query is one of {', '.join(QUERIES)}, not {self.query!r}.")

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress = no_progress) -> Release:
        """The release of a log; `progress` is called with the parts done and the parts in all."""
        cases = cases_of(log)
        progress(0, 3)
        anonymized, after = self._anonymized(cases, random)
        progress(1, 3)
        names = released_attributes(log)
        originals = log.events.select(column(name) for name in names)
        attributes = randomized_attributes(originals, cases.codes, anonymized.codes, after, self.epsilon, random)
        progress(2, 3)
        released = fresh_log(anonymized, log.activities, random, attributes=attributes)
        progress(3, 3)
        notes = (f"{RELEASED}: {', '.join(names)}.",) if names and released.n_cases else ()
        return self._release(log, released, random, notes=notes, shortfall=None if released.n_cases else NOTHING)

    def anonymized(self, cases: Cases, random: Randomness) -> Cases:
        """The algorithm itself, on what it knows of a log without attributes."""
        return self._anonymized(cases, random)[0]

    def _anonymized(self, cases: Cases, random: Randomness) -> tuple[Cases, Integers]:
        """The cases to release, and for each event which one of the original it takes after."""
        asked = self._query(self.prune).variants(cases, random) if len(cases) else counted_of(cases)
        traces, variant = asked.repeated(), np.repeat(np.arange(len(asked)), asked.counts)
        if not len(traces):
            return Cases(traces.codes, traces.codes, traces.offsets, variant, cases.n_activities), traces.codes
        try:
            rows = matched(asked, cases, random)
        except TooLargeError:
            raise UsageError(f"{TOO_LARGE} {self._remedy(cases, random)}") from None
        gaps = gaps_of(cases)
        after = taken_after(traces, rows, cases)
        own = Cases(traces.codes, own_times(traces, after, cases, gaps, random), traces.offsets, variant, cases.n_activities)
        span = int(cases.micros.min()), int(cases.micros.max())
        return randomized_times(own, gaps, span, self.epsilon, random), after

    def _query(self, prune: float) -> PrefixLaplace | Sacofa:
        return QUERIES[self.query](epsilon=self.epsilon, prune=prune, max_length=self.max_length)

    def _remedy(self, cases: Cases, random: Randomness) -> str:
        """A setting that was tried."""
        prune, there = self.prune, counted_of(cases)
        while prune >= 1 or prune < LARGEST_SHARE:
            prune = max(2 * prune, 1e-4)
            answer = self._query(prune).variants(cases, random)
            if not len(answer):
                break
            if fits_well(answer, there):
                return f"--set prune={prune:g} would work."
        return "Ask for a larger --epsilon or a smaller max_length."

    def claim(self) -> EpsilonClaim:
        """What its authors claim."""
        return EpsilonClaim(self.epsilon)

    @property
    def contents(self) -> str:
        """What a release holds."""
        return WITH_ATTRIBUTES

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is claimed of a release, and why it does not hold."""
        statement = (
            f"As claimed by its authors: epsilon-differential privacy, with epsilon {self.epsilon:g} for control flow and for "
            f"each value of an event. This is no guarantee: the procedure {NO_GUARANTEE}"
        )
        of_query = self._query(self.prune).guarantee(seeded=seeded, individuals=False).caveats
        caveats = (COMPOSITION, DOMAINS, MATCHING, DRAWN, IDS, *of_query)
        public = "the activity labels and the values of all attributes are public"
        return claimed(statement, SOURCE, public, caveats, individuals=individuals)


def taken_after(traces: Traces, rows: Integers, cases: Cases) -> Integers:
    """For every event of the traces the event that it takes after, by its place among the events of the cases; -1 for none.

    The first "leave" of a trace takes after the first "leave" of its case, the second after the second.
    """
    if not len(cases.codes):
        return np.full(len(traces.codes), -1)
    of_event = cases.rows * cases.n_activities + cases.codes
    wanted = np.where(rows[traces.rows] < 0, -1, rows[traces.rows] * cases.n_activities + traces.codes)
    order = np.argsort(of_event, kind="stable")
    keys, begins, sizes = np.unique(of_event[order], return_index=True, return_counts=True)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    which = np.empty(len(wanted), np.int64)  # how many equal ones there are before each
    which[np.argsort(wanted, kind="stable")] = ranks(np.unique(wanted, return_counts=True)[1])
    found = (keys[place] == wanted) & (which < sizes[place])
    return np.where(found, order[np.where(found, begins[place] + which, 0)], -1)


def own_times(traces: Traces, after: Integers, cases: Cases, gaps: Gaps, random: Randomness) -> Integers:
    """When every event of the traces happens, in microseconds since 1970; no event comes before the one before it.

    It happens when the event did that it takes after, unless this is before the event that precedes it now; then, and where there
    is none to take after, a gap of the log for these two activities is drawn; or, for a first event, the time of any event.
    """
    elsewhere = cases.micros[random.below(len(cases.micros), len(traces))]
    drawn = gaps.draw(traces, random)
    micros = np.where(after >= 0, cases.micros[after], -1)
    first = traces.offsets[:-1]
    micros[first] = np.where(after[first] >= 0, micros[first], elsewhere)
    for events in by_position(traces)[1:]:
        before = micros[events - 1]
        in_order = (after[events] >= 0) & (micros[events] >= before)
        micros[events] = np.where(in_order, micros[events], before + drawn[events])
    return micros


def by_position(traces: Traces) -> list[Integers]:
    """The first events of all traces, then the second ones, and so on; traces have an event at least."""
    position = ranks(traces.lengths)
    order = np.argsort(position, kind="stable")
    return np.split(order, np.cumsum(np.bincount(position))[:-1]) if len(order) else []


@dataclass(frozen=True, eq=False, repr=False)
class Gaps:
    """The time from an event to the next, by the two activities; a gap against the clock counts as none.

    The gaps of pair `pairs[i]` are the `sizes[i]` of `micros` from `begins[i]` on, from the shortest up.
    """

    micros: Integers
    pairs: Integers
    begins: Integers
    sizes: Integers
    n_activities: int

    @property
    def shortest(self) -> int:
        """The shortest gap of all."""
        return int(self.micros.min()) if len(self.micros) else 0

    def draw(self, traces: Traces, random: Randomness) -> Integers:
        """For every event a random gap of its pair, or of any where no case has the pair; 0 where there is no gap at all."""
        if not len(self.micros):
            return np.zeros(len(traces.codes), np.int64)
        begins, sizes = self._of(traces)
        return self.micros[begins + (random.uniform(len(begins)) * sizes).astype(np.int64)]

    def ranges(self, traces: Traces) -> Integers:
        """For every event how far apart the gaps of its pair are, or all gaps where no case has the pair."""
        if not len(self.micros):
            return np.zeros(len(traces.codes), np.int64)
        begins, sizes = self._of(traces)
        apart = self.micros[begins + sizes - 1] - self.micros[begins]
        return np.where(sizes == len(self.micros), np.ptp(self.micros), apart)

    def _of(self, traces: Traces) -> tuple[Integers, Integers]:
        """For every event where the gaps to draw from begin, and how many they are; the first of a case may have any."""
        pair = _pairs(traces.codes, self.n_activities)
        place = np.minimum(np.searchsorted(self.pairs, pair), len(self.pairs) - 1)
        known = self.pairs[place] == pair
        return np.where(known, self.begins[place], 0), np.where(known, self.sizes[place], len(self.micros))


def gaps_of(cases: Cases) -> Gaps:
    """The gaps of some cases."""
    later = np.ones(len(cases.codes), bool)
    later[cases.offsets[:-1]] = False
    pair = _pairs(cases.codes, cases.n_activities)[later]
    micros = np.maximum(np.diff(cases.micros, prepend=cases.micros[:1])[later], 0)
    order = np.lexsort((micros, pair))
    pairs, begins, sizes = np.unique(pair[order], return_index=True, return_counts=True)
    return Gaps(micros[order], pairs, begins, sizes, cases.n_activities)


def _pairs(codes: Integers, n_activities: int) -> Integers:
    """For every event its activity and that of the one before, as one number."""
    return np.concatenate((codes[:1], codes[:-1])) * n_activities + codes


def randomized_times(cases: Cases, gaps: Gaps, span: tuple[int, int], epsilon: float, random: Randomness) -> Cases:
    """The cases at noisy times: each is shifted as a whole, then every gap gets noise of its own.

    The shift keeps the case between the first and the last time of the log, of whose distance it has the scale. Then, from the
    first event of a case to the last: a gap gets bounded Laplace noise, between the shortest gap of the log (or itself, where it
    is shorter by now) and the time of the next event (the end of the log for the last); its sensitivity is how far apart the gaps
    of the same two activities are. This is in the text. The code of its authors, and pm4py's, sets it up and never adds it.
    """
    if not len(cases):
        return cases
    traces, first, final = Traces(cases.codes, cases.offsets), cases.offsets[:-1], cases.offsets[1:] - 1
    times, length = (cases.micros - span[0]).astype(np.float64), float(span[1] - span[0])
    low, high = -times[first], length - times[final]
    high = np.where(high > low, np.maximum(high, 0), length - times[first])  # a case longer than the log may end after it
    shifts = bounded_laplace(np.zeros(len(cases)), low, high, np.full(len(cases), length), epsilon, random)
    times += np.repeat(shifts, cases.lengths)
    reach = np.maximum(gaps.ranges(traces).astype(np.float64), SECOND)
    last = np.zeros(len(times), bool)
    last[final] = True
    for events in by_position(traces)[1:]:
        before, now = times[events - 1], times[events]
        after = np.where(last[events], length, times[np.minimum(events + 1, len(times) - 1)])
        most = np.maximum(after, now) - before
        least = np.minimum(float(gaps.shortest), now - before)
        times[events] = before + bounded_laplace(now - before, least, most, reach[events], epsilon, random)
    relative = np.diff(times, prepend=0)
    relative[first] = times[first]
    return at_relative_times(cases, relative, span[0])

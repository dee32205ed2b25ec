"""Membership inference as a game: how much a release of this log by this mechanism gives away about who is in it.

In each round every case is a member or an outsider by the toss of a coin, the members alone are anonymized, and the attack
guesses for some cases which they are. Its advantage is the share of members called members less the share of outsiders called
members: 0 is guessing, 1 is certainty. The coins make each case's presence independent of all others, as the bound of the
guarantee needs it. The cases of one round are judged by one release and are not independent: so each round counts as one figure,
and the bounds are Student's for the mean of the rounds, or those of Clopper and Pearson for independent cases, if wider.

The mechanism to attack comes from a certificate (`certified`). What is no certificate, does not hold for itself, or cannot be run
again, is an `InputError` that names the file: a bound that nobody promised is never told.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from libra._system.randomness import Randomness
from libra.certificate.check import RANDOMNESS
from libra.certificate.document import CHECKSUM, fingerprint, read_certificate
from libra.certificate.verify import self_checks
from libra.engines.contract import CASE
from libra.errors import InputError, LibraError, UsageError
from libra.eventlog.cases import DAY, MINUTE
from libra.eventlog.ids import whose_cases
from libra.eventlog.log import EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, TIMESTAMP
from libra.eventlog.options import Progress, no_progress
from libra.measures.distances import Floats, Integers
from libra.measures.intervals import clopper_pearson, student
from libra.measures.risk.figures import ANY_GAP, MISTAKEN, Estimate, same_cases
from libra.mechanisms.mechanism import Mechanism, mechanism, names

WRITES = "Give the file that libra anonymize --certificate FILE wrote"


@dataclass(frozen=True)
class Bound:
    """The largest advantage, between 0 and 1, that a promise allows; of whom the promise is, and what it says."""

    advantage: float
    kind: Literal["proved", "claimed"]  # claimed by the authors of the mechanism
    promise: str


@dataclass(frozen=True)
class Certified:
    """A mechanism from its certificate, and what its guarantee allows."""

    mechanism: Mechanism
    bound: Bound | None
    sha256: str | None  # of the file that was certified, where there is one
    of_individuals: bool = False  # who are protected, and not only cases

    def is_of(self, released: Path) -> bool:
        """Whether this is the file that was certified; also where the certificate names none."""
        return self.sha256 is None or str(fingerprint(released)["sha256"]) == self.sha256


def certified(certificate: str | Path | Mapping[str, Any]) -> Certified:
    """The mechanism of a certificate: a file, or a document such as `release.certificate()` gives.

    A document that never was a file has no checksum and is taken as it is. So is one from a seed: the attack draws anew. An
    `InputError` where it is no certificate, or does not hold, or cannot be run again.

    Example:
        >>> made = certified({"mechanism": "libra2022", "parameters": {"alpha": 2}, "guarantee": {"kind": "claimed"}})
        >>> made.mechanism.name, made.bound
        ('libra2022', None)
    """
    if not isinstance(certificate, str | Path | Mapping):
        raise UsageError(f"certificate is a file or what release.certificate() gives, not {certificate!r}.")
    document = certificate if isinstance(certificate, Mapping) else read_certificate(Path(certificate))[1]
    place = "" if isinstance(certificate, Mapping) else str(certificate)
    name, parameters, output = document.get("mechanism"), document.get("parameters"), document.get("output")
    if not isinstance(name, str) or not isinstance(parameters, Mapping):
        raise InputError("this is not a certificate: it names no mechanism with its parameters", place=place, remedy=WRITES)
    if parameters.get("anonymizer") not in (None, *names()):
        what = "this release was made with an anonymizer of your own, which a certificate cannot hold"
        raise InputError(what, place=place, remedy="Omit the certificate")
    if place or CHECKSUM in document:
        try:
            failed = [check.name for check in self_checks(dict(document)) if not check.ok and check.name != RANDOMNESS]
        except (TypeError, ValueError):  # a value that JSON does not have, such as NaN
            failed = ["structure"]
        if failed:
            what = f"this certificate does not hold ({', '.join(failed)}), so nothing follows from it"
            remedy = "Run libra verify with it and the released file: it says what is wrong"
            raise InputError(what, place=place, remedy=remedy)
    try:
        made, bound = mechanism(name, parameters), bound_of(document)
    except (LibraError, ArithmeticError, AttributeError, TypeError, ValueError) as error:
        what = f"the mechanism cannot be run from this certificate ({str(error).removesuffix('.')})"
        raise InputError(what, place=place, remedy=WRITES) from error
    sha256 = output.get("sha256") if isinstance(output, Mapping) else None
    guarantee = document.get("guarantee")
    unit = guarantee.get("unit", CASE.statement()) if isinstance(guarantee, Mapping) else CASE.statement()
    return Certified(made, bound, sha256, of_individuals=unit != CASE.statement())


def bound_of(certificate: Mapping[str, Any]) -> Bound | None:
    """The bound that follows from a certificate.

    A guess between even odds that is right with probability 1/2 + d at most has an advantage of 2 d at most.
    """
    guarantee, claimed = certificate.get("guarantee") or {}, certificate.get("claimed") or {}
    kind: Literal["proved", "claimed"] = "proved" if guarantee.get("kind") == "proved" else "claimed"
    if "anonymizer" in (certificate.get("parameters") or {}):
        return None  # nothing is claimed of another anonymizer than the paper's
    guess = claimed.get("guessing_advantage")
    if kind == "claimed" and guess is not None:
        return Bound(min(2 * guess, 1.0), kind, f"a guessing advantage of {guess:g}")
    said = guarantee if kind == "proved" else claimed
    epsilon, delta = said.get("epsilon"), said.get("delta")
    if epsilon is not None and delta is not None:
        return Bound(of_differential_privacy(epsilon, delta), kind, f"({epsilon:g}, {delta:g})-differential privacy")
    order, divergence = claimed.get("renyi_order"), claimed.get("renyi_epsilon")
    if order is not None and divergence is not None:
        return Bound(of_renyi(order, divergence), kind, f"a Renyi divergence of {divergence:.4g} at order {order:g}")
    return None


def of_differential_privacy(epsilon: float, delta: float) -> float:
    """The largest advantage under (epsilon, delta)-differential privacy: (e^epsilon - 1 + 2 delta) / (e^epsilon + 1)."""
    return min(math.tanh(epsilon / 2) + delta * (1 - math.tanh(epsilon / 2)), 1.0)


def of_renyi(order: float, divergence: float) -> float:
    """The largest advantage where the Renyi divergence at this order is bounded both ways.

    What an attack says is yes or no, with probabilities p and q; the divergence of the two answers is no larger. It is
    quasi-convex and does not change when p and q become 1 - q and 1 - p, so the largest p - q is found at q = 1 - p.
    """
    low, high = 0.0, 1.0
    for _ in range(50):
        advantage = (low + high) / 2
        p, q = math.log1p(advantage) - math.log(2), math.log1p(-advantage) - math.log(2)
        one, other = order * p + (1 - order) * q, order * q + (1 - order) * p
        largest = max(one, other)
        reached = (largest + math.log(math.exp(one - largest) + math.exp(other - largest))) / (order - 1)
        low, high = (low, advantage) if reached > divergence else (advantage, high)
    return high


ROUNDS = 10
TARGETS = 2_000  # of a round
FEWEST = 40  # cases for a game; with fewer, a round says next to nothing
FEWEST_OF_A_KIND = 10  # members, and outsiders, of a group in each round
GROUPS = ("1", "2 to 9", "10 to 99", "100 and more")
FROM = (2, 10, 100)
CELLS = 500_000  # cases times released cases times events that are compared together
WAYS = ("gaps", "start", "gaps and start", "number of cases")
Yes = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class GroupAdvantage:
    """The advantage over cases whose variant so many cases of the log have."""

    cases_of_variant: str
    advantage: Estimate


@dataclass(frozen=True)
class Membership:
    """What the attack found. Confidential, and a lower bound: a better attack may find more."""

    mechanism: str  # the name of what was attacked
    advantage: Estimate  # over all cases
    groups: tuple[GroupAdvantage, ...]  # where there are enough cases; their bounds hold for all of them together with 95 %
    bound: Bound | None  # what the guarantee allows at most, for any case and any attack; None where none is promised
    exceeded: bool  # whether the advantage, over all cases or over a group, is above that bound even at its lowest
    rounds: int
    targets: int  # how many cases were judged in each round


def membership(log: EventLog, certified: Certified, random: Randomness, progress: Progress = no_progress) -> Membership:
    """Attack the mechanism that a certificate names, with its parameters, on this log.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.measures.risk.membership import certified
        >>> log = simulate(cases=300)
        >>> from libra.mechanisms.libra import Libra
        >>> certificate = Libra().anonymize(log, Randomness()).certificate()
        >>> found = membership(log, certified(certificate), Randomness(seed=1))
        >>> found.exceeded, found.bound.kind
        (False, 'proved')
    """

    def anonymize(part: EventLog, own: Randomness) -> EventLog:
        return certified.mechanism.anonymize(part, own, no_progress).log

    if not certified.of_individuals:
        log = replace(log, individual=None)
    advantage, groups = play(log, anonymize, random, progress=progress)
    lowest, bound = max(advantage.lowest, *(group.advantage.lowest for group in groups), -1.0), certified.bound
    exceeded = bound is not None and lowest > bound.advantage
    targets = min(TARGETS, len(np.unique(whose_cases(log))))
    return Membership(certified.mechanism.name, advantage, groups, bound, exceeded, ROUNDS, targets)


def play(
    log: EventLog,
    anonymize: Callable[[EventLog, Randomness], EventLog],
    random: Randomness,
    *,
    rounds: int = ROUNDS,
    targets: int = TARGETS,
    progress: Progress = no_progress,
) -> tuple[Estimate, tuple[GroupAdvantage, ...]]:
    """The advantage over all cases, and over those of each group; `anonymize` may be anything that makes a log from a log.

    Where the log says whose case is whose, all cases of an individual are members or none is, and one of them is judged: nobody
    is judged by what was learned from their other cases.
    """
    whose = whose_cases(log)
    group = np.searchsorted(FROM, log.variants.counts[log.variants.of_case], side="right")
    tallies = np.zeros((len(GROUPS), rounds, 4), np.int64)
    for number in range(rounds):
        member = (random.uniform(log.n_cases) < 0.5)[whose]
        released = anonymize(_part(log, member), Randomness(int(random.words(1)[0] >> np.uint64(1))))
        order = random.permutation(log.n_cases)
        judged = order[np.sort(np.unique(whose[order], return_index=True)[1])][:targets]  # the first case of each individual
        said = guesses(scores(judged, log, released), member[judged], group[judged])
        answers = 2 * ~member[judged] + ~said  # members called so, others; outsiders called members, others
        tallies[:, number] = np.bincount(4 * group[judged] + answers, minlength=4 * len(GROUPS)).reshape(-1, 4)
        progress(number + 1, rounds)
    groups = tuple(
        GroupAdvantage(name, _estimate(tally, MISTAKEN / len(GROUPS)))
        for name, tally in zip(GROUPS, tallies, strict=True)
        if tally.reshape(rounds, 2, 2).sum(axis=2).min() >= FEWEST_OF_A_KIND
    )
    return _estimate(tallies.sum(axis=0), MISTAKEN), groups


def _part(log: EventLog, chosen: Yes) -> EventLog:
    """The chosen cases of a log, with what a mechanism looks at."""
    events = log.events.select(CASE_INDEX, ACTIVITY, TIMESTAMP).filter(np.repeat(chosen, np.diff(log.case_offsets)))
    names = [name for name in log.cases.columns if name in (CASE_NAME, log.individual)]
    return replace(log, events=events.with_columns(pl.col(CASE_INDEX).rle_id()), cases=log.cases[names].filter(chosen))


def _estimate(tally: Integers, mistaken: float) -> Estimate:
    """The mean advantage over rounds; a row of the tally holds members called so and not, outsiders called members and not."""
    called, seen = tally[:, ::2], np.maximum(tally[:, ::2] + tally[:, 1::2], 1)
    of_rounds = np.diff(-called / seen, axis=1)[:, 0]
    lowest, highest = student(of_rounds.tolist(), mistaken)
    (members, outsiders), (n_members, n_outsiders) = called.sum(axis=0).tolist(), seen.sum(axis=0).tolist()
    least, most = clopper_pearson(members, n_members, mistaken / 2)
    least_false, most_false = clopper_pearson(outsiders, n_outsiders, mistaken / 2)
    low, high = max(min(lowest, least - most_false), -1.0), min(max(highest, most - least_false), 1.0)
    return Estimate(float(of_rounds.mean()), low, high)


def scores(targets: Integers, cases: EventLog, released: EventLog) -> Floats:
    """How much these of the cases look like members: a row for each of `WAYS`, the lower the more.

    The first three look for the released case of the same trace that is nearest: in minutes between events, in days of the start,
    on logarithmic scales and averaged, and in both. The last asks how many cases with this trace were released, given how many
    there are. Where nothing was released of a trace, the score is infinite.
    """
    same = same_cases(cases, released, ANY_GAP)
    found = np.full((len(WAYS), len(targets)), np.inf)
    if not released.n_cases:
        return found
    known = np.bincount(same.original, minlength=int(same.anonymized.max()) + 1)
    shown = np.bincount(same.anonymized, minlength=len(known))
    trace = same.original[targets]
    there = shown[trace] > 0
    found[3, there] = -(shown / np.maximum(known, 1))[trace[there]]
    by_trace, released_by_trace = np.argsort(trace, kind="stable"), np.argsort(same.anonymized, kind="stable")
    ends, released_ends = np.cumsum(np.bincount(trace, minlength=len(known))), np.cumsum(shown)
    for one in np.unique(trace[there]):
        rows = by_trace[ends[one - 1] if one else 0 : ends[one]]
        others = released_by_trace[released_ends[one] - shown[one] : released_ends[one]]
        found[:3, rows] = _nearest(_times(cases, targets[rows]), _times(released, others))
    return found


def _times(log: EventLog, cases: Integers) -> Integers:
    """The times of cases of equally many events: a row a case, its first event and then what is between one and the next."""
    begin = log.case_offsets[cases]
    length = int(log.case_offsets[cases[0] + 1] - begin[0])
    times = log.timestamps[begin[:, None] + np.arange(length)]
    return np.column_stack((times[:, 0], np.diff(times, axis=1)))


def _nearest(times: Integers, released: Integers) -> Floats:
    """For each case how far the nearest of the released ones is, by gaps, by start and by both."""
    units = np.full((times.shape[1], 1, 1), MINUTE, np.float32)
    units[0] = DAY
    parts = []
    at_once = max(CELLS // released.size, 1)
    for begin in range(0, len(times), at_once):
        apart = (times[begin : begin + at_once].T[:, :, None] - released.T[:, None]).astype(np.float32)
        apart = np.log(np.abs(apart) / units + 1)
        start, gaps = apart[0], apart[1:].sum(axis=0)
        parts.append(np.stack([way.min(axis=1) for way in (gaps, start, gaps + start)]))
    nearest: Floats = np.concatenate(parts, axis=1) / np.float64(times.shape[1])
    return nearest


def guesses(found: Floats, member: Yes, group: Integers) -> Yes:
    """Say of each case whether it was a member, having seen which cases of the other half were.

    The cases are in random order. For each half and each group, the way to look and the threshold are those that serve best in
    the other half.
    """
    said = np.zeros(len(member), bool)
    half = np.arange(len(member)) < len(member) // 2
    for one in np.unique(group):
        for first in (half, ~half):
            learn, judge = np.flatnonzero(first & (group == one)), np.flatnonzero(~first & (group == one))
            if len(learn) and len(judge):
                way, threshold = _best(found[:, learn], member[learn])
                said[judge] = found[way, judge] <= threshold
    return said


def _best(found: Floats, member: Yes) -> tuple[int, float]:
    """The way to look and the threshold with the largest advantage; where nothing helps, a threshold that nobody reaches."""
    best, way, threshold = 0.0, 0, -np.inf
    for number, score in enumerate(found):
        order = np.argsort(score, kind="stable")
        ordered = score[order]
        yes, no = np.cumsum(member[order]), np.cumsum(~member[order])
        advantage = yes / max(yes[-1], 1) - no / max(no[-1], 1)
        advantage[:-1][ordered[:-1] == ordered[1:]] = -1  # equal scores get the same answer
        top = int(np.argmax(advantage))
        if advantage[top] > best:
            best, way, threshold = float(advantage[top]), number, float(ordered[top])
    return way, threshold

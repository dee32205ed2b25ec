"""All risk figures in one call each: of a log as it is, and of an anonymized log against its original.

They are computed from the original and therefore confidential: for the custodian, never part of a release. What is sampled is
sampled with a fixed seed, so that figures can be repeated. `docs/measures.md` defines each one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from libra._system.randomness import Randomness
from libra.eventlog.cases import MINUTE
from libra.eventlog.ids import whose_cases
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.measures.edges import common_codes
from libra.measures.risk.crowds import population_of, search
from libra.measures.risk.figures import (
    ANY_GAP,
    MICROSECOND,
    Copies,
    Linkage,
    SingledOut,
    copies,
    linkage,
    same_cases,
    singled_out,
)
from libra.measures.risk.knowledge import draw
from libra.measures.risk.membership import FEWEST, Certified, Membership, membership

SAMPLES = 5_000


@dataclass(frozen=True)
class Effort:
    """How much to draw: `SAMPLES` cases, fewer where samples times variants would be more than this work, but never too few."""

    work: int
    fewest: int

    def samples(self, variants: int) -> int:
        """How many cases to draw, where every draw is compared with so many variants."""
        return min(SAMPLES, max(self.fewest, self.work // max(variants, 1)))


THOROUGH = Effort(work=100_000_000, fewest=300)
QUICK = Effort(work=40_000_000, fewest=100)  # for whoever waits for a page
SEED = 1
NO_CERTIFICATE = (
    "Membership was not attacked: that takes the mechanism and its parameters, which are in the certificate. "
    "libra anonymize --certificate FILE writes it, libra measure --risk --certificate FILE reads it."
)
TOO_FEW = "Membership was not attacked: this log has too few cases to be split into members and outsiders."
WHOSE = "Membership was not attacked: the certificate protects individuals. Name their column with --individual."
ANOTHER_FILE = "The certificate is about another file than this anonymized log. What was attacked is the mechanism that it names."


@dataclass(frozen=True)
class LogRisk:
    """How many cases stand alone, by what somebody knows of them; nothing for an empty log. Confidential.

    Where the log says whose case is whose, crowds are of individuals: a case is singled out if all cases that fit are of one.
    """

    singled_out: tuple[SingledOut, ...] = ()  # for every kind and amount of knowledge
    samples: int = 0  # how many cases, and knowledge about them, were drawn for it
    crowds_of: Literal["cases", "individuals"] = "cases"


@dataclass(frozen=True)
class ReleaseRisk:
    """What an attacker gets from an anonymized log. Confidential."""

    before: LogRisk  # of the original, from the same draws of what is known
    linkage: tuple[Linkage, ...]  # what is found in the anonymized log, for every kind and amount of knowledge
    copies: Copies  # released cases that repeat an original case
    membership: Membership | None  # what an attack found; None where it could not be played
    notes: tuple[str, ...]  # why something is missing, or what to mind


def risk_of_log(log: EventLog, *, seed: int = SEED) -> LogRisk:
    """The risk of a log as it is.

    Example:
        >>> from libra.example.simulate import simulate
        >>> found = risk_of_log(simulate(cases=200)).singled_out[-1]
        >>> found.knowledge, found.share.value > 0
        ('variant', True)
    """
    if not log.n_cases:
        return LogRisk(crowds_of=_crowds_of(log))
    people = population_of(log, np.arange(len(log.activities)), whose_cases(log))
    sample = draw(log, THOROUGH.samples(len(log.variants)), Randomness(seed))
    return LogRisk(singled_out(people, search(people, sample, people)), len(sample.case), _crowds_of(log))


def risk_of_release(
    original: EventLog,
    anonymized: EventLog,
    *,
    certified: Certified | None = None,
    released: Path | None = None,
    seed: int = SEED,
    effort: Effort = THOROUGH,
    progress: Progress = no_progress,
) -> ReleaseRisk:
    """The risk of an anonymized log, which may be empty, against its original.

    `certified` is the mechanism to attack; without it membership is left out. `released` is the file of the anonymized log: is
    the certificate about it? `progress` is called with the rounds of the attack done and the rounds in all.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=200)
        >>> risk_of_release(log, log).copies.exact
        1.0
    """
    traces = same_cases(original, anonymized, ANY_GAP)
    to_the_minute = same_cases(original, anonymized, MINUTE, within=traces)
    exactly = same_cases(original, anonymized, MICROSECOND, within=to_the_minute)
    whose = whose_cases(original)
    copied = copies(exactly, to_the_minute, whose)
    notes = [] if certified is None or released is None or certified.is_of(released) else [ANOTHER_FILE]
    if not original.n_cases:
        return ReleaseRisk(LogRisk(crowds_of=_crowds_of(original)), (), copied, None, (*notes, TOO_FEW))
    codes, other_codes = common_codes(original, anonymized)
    people, theirs = population_of(original, codes, whose), population_of(anonymized, other_codes)
    sample = draw(original, effort.samples(len(original.variants) + len(anonymized.variants)), Randomness(seed))
    found, found_there = (search(among, sample, people) for among in (people, theirs))
    before = LogRisk(singled_out(people, found), len(sample.case), _crowds_of(original))
    links = linkage(found_there, found, sample.case, (traces, exactly, to_the_minute), whose)
    attacked = None
    if certified is None:
        notes.append(NO_CERTIFICATE)
    elif certified.of_individuals and original.individual is None:
        notes.append(WHOSE)
    elif len(np.unique(whose)) < FEWEST:
        notes.append(TOO_FEW)
    else:
        attacked = membership(original, certified, Randomness(seed), progress)
    return ReleaseRisk(before, links, copied, attacked, tuple(notes))


def _crowds_of(log: EventLog) -> Literal["cases", "individuals"]:
    return "cases" if log.individual is None else "individuals"

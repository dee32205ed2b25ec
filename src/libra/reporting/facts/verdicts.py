"""The words for what is lost: facts in, verdicts and sentences out. Nothing here looks at a log.

Every loss is a share: 0 where nothing is lost, 1 where everything is. A duration that is off by a factor f is a loss of
1 - 1 / f. The bounds are round, the same for every aspect and every log, and fitted to none: up to 1/50, the two digits that
people read agree; up to 1/10, what is said of anything that makes up more than a tenth of the log still holds; up to 1/2, more
is right than wrong; beyond that, more is wrong than right.

Whoever observed the same process again would not get equal figures either. So a loss is also held against that of a fresh
sample of the original: up to a quarter more is as good, because samples differ among themselves by as much; up to twice is what
a quarter of the cases would give, because the error of a sample shrinks with the square root of its size. A sample that loses
more than half itself is no yardstick. An aspect with several losses is judged by the worst of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from libra.eventlog.attributes import Attribute, by_level
from libra.reporting.numbers import count, share
from libra.reporting.text import listed, shown

Verdict = Literal["kept", "close", "rough", "lost", "unknown"]
Tone = Literal["good", "fair", "poor", "bad", "none"]
FROM_BEST: tuple[Verdict, ...] = ("kept", "close", "rough", "lost")
BOUNDS: tuple[tuple[Verdict, float], ...] = (("kept", 0.02), ("close", 0.1), ("rough", 0.5))
MOST = BOUNDS[-1][1]
BY_SAMPLE: tuple[tuple[Verdict, float], ...] = (("kept", 1.25), ("close", 2.0))  # times the loss of a fresh sample
MEANINGS: dict[Verdict, str] = {
    "kept": "within 2 %, or as good as a fresh sample of the original",
    "close": "within 10 %, or as good as a sample of a quarter of the cases",
    "rough": "more right than wrong: the frequent part holds, details do not",
    "lost": "more wrong than right",
    "unknown": "cannot be said",
}
TONES: dict[Verdict, Tone] = {"kept": "good", "close": "fair", "rough": "poor", "lost": "bad", "unknown": "none"}
GOOD: dict[Verdict, str] = {
    "kept": "Yes: as good as a fresh sample of the original",
    "close": "Yes: the picture is right, figures are a little off",
    "rough": "In part: the coarse shape is right, details are not",
    "lost": "No: more of it is wrong than right",
    "unknown": "That cannot be said",
}
FREQUENT_ONLY = "For what is frequent, yes: what is rare is missing or made up"
NOTHING = "No: nothing came out, the log is empty"
SUMMARY: dict[Verdict, str] = {
    "kept": "Good for",
    "close": "Good for",
    "rough": "Roughly right:",
    "lost": "Misleading:",
    "unknown": "Not measured:",
}
ABSENT = {  # what a log may lack altogether: what the tile is called, and what cannot be studied without it
    "starts": ("Start times", "service times, waiting times"),
    "resources": ("Resources", "resources"),
    "attributes": ("Attributes", ""),
}


@dataclass(frozen=True)
class Loss:
    """A share that is lost, and the share that a fresh sample of the original would lose; None where that is not defined."""

    share: float | None
    sample: float | None = None

    @property
    def verdict(self) -> Verdict:
        """What it is called.

        Example:
            >>> Loss(0.26, sample=0.03).verdict, Loss(0.26, sample=0.25).verdict
            ('rough', 'kept')
        """
        if self.share is None:
            return "unknown"
        by_scale: Verdict = next((verdict for verdict, bound in BOUNDS if self.share <= bound), "lost")
        if self.sample is None or self.sample > MOST:
            return by_scale
        near = (verdict for verdict, times in BY_SAMPLE if self.share <= times * self.sample)
        return min((by_scale, *near), key=FROM_BEST.index)


@dataclass(frozen=True)
class Missing:
    """What the original has and the copy lacks, and steps of the copy that nobody took; an edge is a distinct step."""

    activities: int
    activities_gone: int
    events_gone: float  # the share of the original's events that have these activities
    edges: int
    edges_gone: int
    steps_gone: float  # the share of the original's steps on these edges
    edges_there: int  # of the copy
    edges_false: int
    steps_false: float  # the share of the copy's steps on false edges
    cases_gone: float = 0.0  # the share of the original's cases that have one of the activities that are gone
    names: tuple[str, ...] = ()  # these activities

    def share_of(self, what: Literal["activities", "edges", "false"]) -> float:
        """The share of distinct ones that is gone, or false."""
        part, whole = {
            "activities": (self.activities_gone, self.activities),
            "edges": (self.edges_gone, self.edges),
            "false": (self.edges_false, self.edges_there),
        }[what]
        return part / max(whole, 1)

    @property
    def only_rare(self) -> bool:
        """Whether more than a tenth of activities or edges is gone or false, and yet at most a tenth of all that happens."""
        distinct = max(self.share_of(what) for what in ("activities", "edges", "false"))
        return distinct > BOUNDS[1][1] >= max(self.events_gone, self.steps_gone, self.steps_false)


MOST_NAMED = 5  # attributes, in a sentence


@dataclass(frozen=True)
class Absent:
    """Attributes of one kind (a key of `ABSENT`) that the original has and the anonymized log does not."""

    kind: str
    names: tuple[str, ...]

    @property
    def title(self) -> str:
        """What the tile is called."""
        return ABSENT[self.kind][0]

    @property
    def text(self) -> str:
        """Which they are, in a few words."""
        first = shown(self.names[0], 24)
        return first if len(self.names) == 1 else f"{count(len(self.names))}, such as {first}"

    @property
    def studied(self) -> str:
        """What cannot be studied without them; attributes by their names."""
        first, more = [shown(name, 24) for name in self.names[:MOST_NAMED]], len(self.names) - MOST_NAMED
        names = listed([*first, *([f"{count(more)} more"] if more > 0 else [])])
        return ABSENT[self.kind][1] or f"{self.named} ({names})"

    @property
    def named(self) -> str:
        """What they are, within a sentence."""
        many = "1 attribute" if len(self.names) == 1 else f"{count(len(self.names))} attributes"
        return many if self.kind == "attributes" else self.title.lower()


def worst(losses: Sequence[Loss]) -> Loss:
    """The loss that decides: that of the worst verdict, and among those the largest; one that is unknown only if all are."""
    known = [loss for loss in losses if loss.share is not None]
    return max(known, key=lambda loss: (FROM_BEST.index(loss.verdict), loss.share or 0.0), default=Loss(None))


def overall(verdicts: Mapping[str, Verdict]) -> Verdict:
    """One verdict for the log: the one in the middle, or that on its steps or its activities if it is worse.

    Process mining begins with a process map: a log whose steps are rough is not called better than that. One that lacks
    activities is rough at best, and lost only where its steps are. One bad aspect of another kind does not condemn a log, as
    most questions do not need it; nor does one good aspect save it.
    """
    known = sorted(FROM_BEST.index(verdict) for verdict in verdicts.values() if verdict != "unknown")
    if not known:
        return "unknown"
    steps, activities = (verdicts.get(key, "unknown") for key in ("edges", "activities"))
    capped: Verdict = "rough" if activities == "lost" else activities
    return max((one for one in (FROM_BEST[known[len(known) // 2]], steps, capped) if one != "unknown"), key=FROM_BEST.index)


def good_of(verdict: Verdict, missing: Missing | None, absent: Sequence[Absent], *, empty: bool) -> str:
    """Whether the log is any good, in a few words: what it lacks altogether is said before anything good."""
    if empty:
        return NOTHING
    said = FREQUENT_ONLY if verdict == "rough" and missing is not None and missing.only_rare else GOOD[verdict]
    lacks = listed([one.named for one in absent])
    return said.replace("Yes:", f"Yes, but without {lacks}:", 1) if lacks else said


def lost_of(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """What cannot be studied with attributes that libra releases, as they are declared: it makes those of events one by one."""
    of_cases, of_events = by_level(attributes)
    beside = [*(["each other"] if len(of_events) > 1 else []), *(["case attributes"] if of_cases else [])]
    if not of_events or not beside:
        return ()
    counters = ("final values of counters against other columns",) if any(one.counter for one in of_events) else ()
    return f"associations of event attributes with {' or '.join(beside)}", *counters


def summary_of(analyses: Sequence[tuple[str, Verdict]], absent: Sequence[Absent] = (), lost: Sequence[str] = ()) -> str:
    """What the log is good for and what not, analysis by analysis; empty where nothing was judged."""
    named: dict[str, list[str]] = {words: [] for words in SUMMARY.values()}
    for name, verdict in analyses:
        named[SUMMARY[verdict]].append(name)
    said = [f"{words} {listed(names)}." for words, names in named.items() if names]
    lost = [*(one.studied for one in absent), *lost]
    return " ".join([*said, *([f"Cannot be studied: {listed(lost)}."] if said and lost else [])])


def missing_of(missing: Missing) -> str:
    """Which share of activities, events and steps is gone, and which steps are false.

    Example:
        >>> missing_of(Missing(22, 6, 0.012, 92, 54, 0.04, 38, 0, 0.0))
        'Missing: 6 of 22 activities (1.2 % of all events) and 54 of 92 distinct steps (4.0 % of all steps).'
    """
    gone = []
    if missing.activities_gone:
        of = f"{count(missing.activities_gone)} of {count(missing.activities)} activities"
        have = f"; {share(missing.cases_gone)} of the cases have one" if missing.cases_gone else ""
        gone.append(f"{of} ({share(missing.events_gone)} of all events{have})")
    if missing.edges_gone:
        of = f"{count(missing.edges_gone)} of {count(missing.edges)} distinct steps"
        gone.append(f"{of} ({share(missing.steps_gone)} of all steps)")
    said = f"Missing: {listed(gone)}." if gone else "No activity and no step is missing."
    if missing.edges_false:
        of = f"{count(missing.edges_false)} of its {count(missing.edges_there)} distinct steps"
        said += f" False: {of} ({share(missing.steps_false)} of its steps), which nobody took."
    return said

"""What not to conclude from a log because of how it was made: true of every release of a mechanism, so fit for anyone to read.

In: a certificate, or none. Out: `Warning`s. Of a mechanism that is not known here nothing is said but whether its promise is
proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from libra.privacy.plain_words import TOO_WEAK, strength_of
from libra.reporting.facts.warning import Warning  # noqa: A004  # the word of the page; nothing is raised here

UNKNOWN = Warning(
    "Nothing is known of how this log was made",
    "No certificate that holds says how well this log protects anyone. Treat it as if it showed real cases.",
)
SEEDED = Warning(
    "Drawn with a seed", "Whoever knows or guesses the seed can undo the noise. This log is for tests: do not hand it out."
)
NOT_PROVED = "Nothing is proved about this log"
CLAIMED = "What is claimed for the mechanism is not proved. Do not hand out personal data on its strength."
REAL_CASES = {
    "libra2022": "Each case in this log is a real one, its start moved by some days and its steps by some minutes.",
    "amun": "Every case of the original is in this log, some of them several times, with noise on their times.",
    "pripel": "Times and attributes in this log are taken from real cases and changed at random.",
}
COUNTS = {
    "libra2022": "Rare variants are left out; of the others, some cases are copied and some are dropped.",
    "amun": "Cases were copied until the noise was reached, so all counts are too large.",
}
MADE_UP = Warning(
    "Rare traces are made up",
    "Cases with a rare trace are not shown. New ones take their place, drawn from a model of how such cases go on. Most likely "
    "nobody followed exactly that trace: count frequent variants and frequent steps, and never look up a rare one. What ties "
    "steps together over more than two of them is lost in such traces.",
)
NEAREST = Warning(
    "Rare traces are counted for others",
    "A case with a rare trace counts for the most similar frequent variant, so frequent variants have too many cases.",
)
LEFT_OUT = Warning("Rare traces are left out", "Only frequent variants are in this log. What rarely happens is missing.")
NOISE = Warning(
    "Small counts are noise", "All counts carry noise. What a few dozen cases do cannot be told from what nobody does."
)
PREFIXES = Warning(
    "Some traces are made of noise",
    "A trace that nobody followed can pass the threshold by noise alone. Rare traces and long ones are missing or cut.",
)
DRAWN_ANEW = Warning(
    "Times are drawn anew",
    "Starts follow the calendar by the week, steps their usual durations. Cases may begin before the first of the original or "
    "end after its last. The longest durations and bursts within a week are lost, and so is whether slow cases take another "
    "path.",
)
NEW_IDS = Warning(
    "Case ids are new", "They lead to no person and to no row of another table. Nothing can be joined with this log."
)
INDEPENDENT = Warning(
    "Cases have nothing to do with each other",
    "Each was made, or moved in time, by itself. Do not study queues, workload, batches or who works with whom: whatever shows "
    "is chance.",
)
NO_TIMES = Warning(
    "Timestamps are placeholders",
    "Each case begins with the year 2000 and goes on by the minute, whatever happened. Look at no duration and at no date.",
)
TAILS = {"model": MADE_UP, "nearest": NEAREST, "drop": LEFT_OUT}
TRACES = {"travas": (LEFT_OUT, NOISE), "prefix-laplace": (PREFIXES,), "sacofa": (PREFIXES,), "pripel": (PREFIXES,)}
KNOWN = ("libra", "libra2022", "amun", *TRACES)


def of_the_promise(certificate: Mapping[str, Any] | None) -> Iterator[Warning]:
    """Whether anything is proved of the log, and whether it is enough.

    Example:
        >>> [warning.title for warning in of_the_promise(None)]
        ['Nothing is known of how this log was made']
    """
    if certificate is None:
        yield UNKNOWN
        return
    guarantee = certificate.get("guarantee") or {}
    own = "anonymizer" not in (certificate.get("parameters") or {})  # otherwise it depends on that one
    real = REAL_CASES.get(str(certificate.get("mechanism"))) if own else None
    if guarantee.get("seeded"):
        yield SEEDED
    if guarantee.get("kind") != "proved":
        yield Warning(NOT_PROVED, CLAIMED if real is None else f"{CLAIMED} {real}")
    worth = strength_of(certificate)
    if worth is not None and worth.warning:
        how = "too large" if worth.level == "exposed" else "large"
        yield Warning(f"Delta is {how} for so many cases", worth.warning)
    if worth is not None and worth.level == "void":
        yield Warning(TOO_WEAK.removesuffix("."), "Treat the log as if it showed real cases.")


def of_mechanism(certificate: Mapping[str, Any] | None, *, has_times: bool) -> Iterator[Warning]:
    """What follows from how the log was made; `has_times` says whether its timestamps mean anything.

    Example:
        >>> [warning.title for warning in of_mechanism({"mechanism": "travas"}, has_times=False)][:3]
        ['Rare traces are left out', 'Small counts are noise', 'Timestamps are placeholders']
    """
    said = certificate or {}
    made_by = said.get("mechanism")
    if made_by == "libra":
        yield TAILS.get((said.get("parameters") or {}).get("tail", "model"), MADE_UP)
        yield NOISE
    yield from TRACES.get(str(made_by), ())
    if made_by in COUNTS:
        yield Warning("Counts are not those of the original", COUNTS[str(made_by)])
    if not has_times:
        yield NO_TIMES
    elif made_by in KNOWN and made_by not in REAL_CASES:
        yield DRAWN_ANEW
    if made_by in KNOWN:
        yield NEW_IDS
        yield INDEPENDENT

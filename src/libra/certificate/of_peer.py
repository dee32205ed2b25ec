"""What a certificate of a mechanism of other authors has to say, given its parameters, and whether it does.

The mechanism is made anew from the parameters: what it claims or promises follows from them alone. Where it is proved, the ledger
has to be what such a query releases, times included where they were asked for, and the accountant counts it once more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from libra.certificate.check import Check, judged
from libra.certificate.differences import DIGITS, differences
from libra.certificate.of_any import said
from libra.certificate.releases import RELEASES, TIMES
from libra.certificate.totals import totals
from libra.errors import LibraError
from libra.mechanisms.mechanism import mechanism
from libra.privacy.ledger import Entry, Ledger


def checks(document: dict[str, Any]) -> Iterator[Check]:
    """The checks of such a certificate, but for those that all mechanisms share."""
    name, seeded = document["mechanism"], document["guarantee"]["seeded"]
    no_such_run = f"No run of {name} has such parameters."
    try:
        made: Any = mechanism(name, document["parameters"])
    except (LibraError, TypeError) as error:
        found = f"{name} cannot be run with them: {str(error).removesuffix('.')}."
        yield Check("parameters", False, found, no_such_run)
        return
    possible = [made.guarantee(seeded=seeded, individuals=individuals) for individuals in (False, True)]
    problems = [*differences(document["parameters"], made.parameters(), "parameters")]
    if document["guarantee"]["kind"] != possible[0].kind:
        problems.append(f"with these parameters the guarantee is {possible[0].kind}")
    holds, fails = f"They are parameters of {name}.", f"They are not parameters of {name}, or promise something else"
    yield judged("parameters", problems, holds=holds, fails=fails, meaning=no_such_run)
    if problems:
        return
    if possible[0].kind == "proved":
        yield from _proved(document, made)
    else:
        holds = "What is claimed is what its authors claim with these parameters."
        fails = "Some are not what its authors claim with these parameters"
        wrong = differences(document["claimed"], made.claim().published(), "claimed")
        yield judged("figures", wrong, holds=holds, fails=fails, meaning="Somebody miscounted, or changed a figure.")
    yield said(document, possible, made.contents)


def _proved(document: dict[str, Any], made: Any) -> Iterator[Check]:
    ledger = Ledger.from_dict(document)
    drawn = {"rate": 1.0, "times": 1, "most_cases": 1}
    problems = [*differences(document["subsampling"], drawn, "subsampling"), *_not_as_planned(ledger.entries, made)]
    holds = f"Each of the {len(ledger.entries)} releases is one that {made.name} makes, with the noise of these parameters."
    fails = f"It is not what {made.name} releases with these parameters"
    meaning = "The ledger is not that of a run of this version with these parameters, so its total proves nothing."
    yield judged("ledger", problems, holds=holds, fails=fails, meaning=meaning)
    if not problems:  # the total of anything else proves nothing, and may take for ever
        yield from totals(document, ledger, None)


def _not_as_planned(entries: Sequence[Entry], made: Any) -> Iterator[str]:
    of_times = [entry for entry in entries if entry.purpose in RELEASES and RELEASES[entry.purpose].topic in TIMES]
    yield from made.departures([entry for entry in entries if entry not in of_times])
    for entry in of_times:
        for departure in RELEASES[entry.purpose].departures(entry):
            yield f'"{entry.purpose}": {departure}'
    if of_times and made.mu_times is None:
        yield "there are releases about times, and with these parameters there are none"
    elif of_times and not math.isclose(Ledger(tuple(of_times)).mu, made.mu_times, rel_tol=DIGITS):
        yield "releases about times do not add up to what these parameters give them"

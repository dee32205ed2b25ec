"""What a certificate of `libra2022` has to say, given its parameters, and whether it does.

There is no ledger and nothing proved. What can be checked is that the figures are the ones that the paper's equations give for
these parameters, and that the sentences say that this is no guarantee.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from libra.certificate.check import Check, judged
from libra.certificate.differences import differences
from libra.certificate.of_any import said
from libra.errors import LibraError
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.claim import Libra2022Claim, guarantee
from libra.mechanisms.mechanism import names

SWITCHES = ("trace_noise", "signed_times")  # of the paper's own anonymizer
NO_SUCH_RUN = "No run of libra2022 has such parameters."
CLOSE = 1e-6  # relative: the comparison comes from a grid, which versions of dp-accounting lay differently


def checks(document: dict[str, Any]) -> Iterator[Check]:
    """The checks of a certificate of libra2022, but for those that all mechanisms share."""
    parameters = document["parameters"]
    own, from_log = "anonymizer" not in parameters, parameters["subsamples"] == "paper"
    try:
        made = Libra2022(**{name: value for name, value in parameters.items() if name != "anonymizer"})
        times = 1 if from_log else parameters["subsamples"]
        claim = Libra2022Claim(made.alpha, made.b, made.gamma, made.delta, times, from_log, own)
        figures = claim.published()
    except (LibraError, ArithmeticError, ValueError) as error:
        found = f"libra2022 cannot be run with them: {str(error).removesuffix('.')}."
        yield Check("parameters", False, found, NO_SUCH_RUN)
        return
    absent = [name for name in SWITCHES if (name in parameters) != own]
    problems = [f"parameters.{name} {'is missing' if own else 'is about another anonymizer'}" for name in absent]
    holds, fails = "They are parameters of libra2022.", "They are not parameters of libra2022"
    yield judged("parameters", problems, holds=holds, fails=fails, meaning=NO_SUCH_RUN)
    holds = "What is claimed is what the paper's equations give for these parameters."
    fails = "Some are not what the paper's equations give for these parameters"
    meaning = "Somebody miscounted, or changed a figure."
    problems = list(differences(document["claimed"], figures, "claimed", CLOSE))
    yield judged("figures", problems, holds=holds, fails=fails, meaning=meaning)
    other = parameters.get("anonymizer")
    possible = [
        guarantee(claim, trace_noise=made.trace_noise, persons=persons, anonymizer=name)
        for persons in (False, True)
        for name in ((None, other) if other in names() else (None,))  # a function may have the name of a mechanism
    ]
    yield said(document, possible)

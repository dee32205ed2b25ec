"""Whether a certificate holds: for itself, and for the file that it is about.

The mechanism is made anew from the parameters: what it promises or claims follows from them, and the accountant counts the ledger
once more. A figure that was changed is found even if the checksum was computed anew. What nobody can see from here is whether
the certificate was made up as a whole, unless it is signed by a key that they trust.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from libra._system.randomness import SEEDED
from libra._version import __version__
from libra.certificate.check import MECHANISM, RANDOMNESS, Check, Verification, differences, judged
from libra.certificate.content import content
from libra.certificate.document import CHECKSUM, checksum, fingerprint, read_certificate, why_invalid
from libra.certificate.minisign import PublicKey
from libra.certificate.signing import Vouched, vouched
from libra.errors import LibraError
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.libra.expected import Expected
from libra.mechanisms.mechanism import HOMES, of_certificate
from libra.mechanisms.peers import CertifiedMechanism
from libra.mechanisms.release import SYSTEM, counted
from libra.privacy.accounting import UnknownReleaseError
from libra.privacy.guarantee import NAMES_NOT_PROTECTED, NAMES_PUBLIC, TOO_WEAK, in_plain_words, strength_of
from libra.privacy.ledger import Ledger

STRUCTURE = "structure"
LARGEST_ERROR = 1e6  # of any figure
MISCOUNTED = "Somebody miscounted, or changed a figure."
NAMED = "Name the file that --certificate wrote, and the released log after it"
CLAIMED = (
    "Nothing is proved: the file is the one certified and the certificate is what it says, but it promises nothing. It repeats "
    "what the authors of the mechanism claim. It is {}."
)


def verify(certificate: Path, output: Path, progress: Progress = no_progress, key: PublicKey | None = None) -> Verification:
    """Check a certificate against the schema, against itself and against the released file; with a key, also its signature.

    What cannot be read, or is no certificate, is an `InputError`.
    """
    raw, document = read_certificate(certificate, NAMED)
    return verify_document(document, output, vouched(raw, certificate, key), progress)


def verify_document(document: dict[str, Any], output: Path, signature: Vouched, progress: Progress = no_progress) -> Verification:
    """The same of a certificate that was read already, with what is known of its signature."""
    found = fingerprint(output, progress)
    checks = [*([signature.check] if signature.check else []), *self_checks(document)]
    if checks[-1].name != STRUCTURE:
        checks.append(_same_file(document["output"], found))
        if checks[-1].ok:
            checks.append(_of_other_version(document["version"])(content(document, output)))
    worth = strength_of(document) if all(check.ok for check in checks) else None
    promised = worth is not None and worth.protects
    return Verification(tuple(checks), _verdict(document, checks, signature), promised, signature.signed, signature.key_id)


def self_checks(document: dict[str, Any]) -> Iterator[Check]:
    """What can be checked without the file; after a document of the wrong form, nothing more."""
    wrong = why_invalid(document)
    holds, fails = "It has every field of a certificate of this format, and no other.", "It is not in the form of a certificate"
    meaning = "It is damaged, or was made by something else. Nothing more can be checked."
    yield judged(STRUCTURE, [wrong] if wrong else [], holds, fails, meaning)
    if wrong:
        return
    stated, computed = document[CHECKSUM], checksum(document)
    problems = [] if stated == computed else [f"it says {stated[:12]}…, and the content gives {computed[:12]}…"]
    holds, fails = "Nothing in it was changed since the checksum was computed.", "It does not agree with the content"
    meaning = "Something in it was changed after it was written. Ask for the certificate again."
    yield judged("checksum", problems, holds, fails, meaning)
    if "expected" in document:
        yield _expected(document)
    yield from map(_of_other_version(document["version"]), _of_mechanism(document))
    if not document["guarantee"]["seeded"] and document["randomness"] == SYSTEM:
        yield Check(RANDOMNESS, True, "The noise came from the operating system, not from a seed.")
    else:
        meaning = "Whoever knows or guesses the seed can undo the noise. It is for tests, and must not be released."
        yield Check(RANDOMNESS, False, f"The release is {SEEDED}.", meaning)


def _expected(document: dict[str, Any]) -> Check:
    """Whether the expected error can be one. Nobody can compute it anew: the noisy figures are not in a certificate."""
    said = document["expected"]
    estimates = {name: said[name] for name in ("dfg_l1", "kept_variants", "edge_duration_w1_log") if said[name] is not None}
    problems = [
        f"{name} is not between its bounds, or larger than an error can be"
        for name, one in estimates.items()
        if not one["lowest"] <= one["likely"] <= one["highest"] <= LARGEST_ERROR
    ]
    if said["drowned"] and said["dfg_l1"]["highest"] < 1:
        problems.append("little is known of dfg_l1, and its bound is below 1")
    if Expected.from_dict(said).hopeless != said["worse_than_empty"]:
        problems.append("worse_than_empty is not what the figures say")
    if not document.get("cases") and said["dfg_l1"] != {"likely": 1, "lowest": 1, "highest": 1}:
        problems.append("the log is empty, and dfg_l1 is not 1")
    holds, fails = "The expected error is well formed. It is not part of the promise, and cannot be recomputed.", "It cannot be"
    return judged("expected", problems, holds, fails, MISCOUNTED)


def _of_mechanism(document: dict[str, Any]) -> Iterator[Check]:
    """Whether the certificate says what its mechanism, made anew from the parameters, promises or claims."""
    name, guarantee = document["mechanism"], document["guarantee"]
    if name not in HOMES:
        found = f'This version cannot check certificates of "{name}".'
        yield Check(MECHANISM, False, found, "Whether the promise holds is not known.")
        return
    no_such_run = f"No run of {name} has such parameters."
    try:
        made = of_certificate(name, document["parameters"])
        claim = made.claim()
        claimed = None if claim is None else claim.published()
    except (LibraError, ArithmeticError, TypeError, ValueError) as error:
        found = f"{name} cannot be run with them: {str(error).removesuffix('.')}."
        yield Check("parameters", False, found, no_such_run)
        return
    possible = made.guarantees(seeded=guarantee["seeded"])
    promised = possible[0]
    problems = [*differences(document["parameters"], made.parameters(), "parameters")]
    holds = f"They are parameters of {name}."
    if guarantee["kind"] != promised.kind:
        problems.append(f"with these parameters the guarantee is {promised.kind}")
    elif promised.kind == "proved":
        planned, asked = made.planned_ledger, {"epsilon": promised.epsilon, "delta": promised.delta}
        problems += differences({name: guarantee[name] for name in asked}, asked, "guarantee")
        problems += differences(document["subsampling"], planned.to_dict()["subsampling"], "subsampling")
        problems += differences(document["spent"]["asked"], planned.asked, "spent.asked")
        holds = f"What is promised is what was asked for: epsilon {promised.epsilon:g}, delta {promised.delta:g}."
    fails = "They do not go with the rest of the certificate"
    yield judged("parameters", problems, holds, fails, no_such_run)
    if guarantee["kind"] != promised.kind:
        return
    if promised.kind == "proved":
        yield from _counted(document, made)
    elif claim is not None:
        holds = "What is claimed is what its authors claim with these parameters."
        fails = "Some are not what its authors claim with these parameters"
        wrong = differences(document["claimed"], claimed, "claimed", claim.tolerance)
        yield judged("figures", wrong, holds, fails, MISCOUNTED)
    stated = {name: document[name] for name in ("guarantee", "in_plain_words", "contents", "randomness")}
    seeded, cases = guarantee["seeded"], document.get("cases")
    holding = next((one for one in made.possible_contents if one == document["contents"]), made.contents)
    others = {"contents": holding, "randomness": SEEDED if seeded else SYSTEM}
    expected = (
        {"guarantee": one.to_dict() | {"seeded": seeded}, "in_plain_words": in_plain_words(one, seeded=seeded, cases=cases)}
        for one in possible  # which one may depend on the log (individuals, say)
    )
    nearest = min((list(differences(stated, one | others)) for one in expected), key=len)
    holds = "The sentences are the ones that belong to these figures, with all assumptions and caveats."
    fails = "Some sentences are not the ones that belong to these figures"
    yield judged("words", nearest, holds, fails, "What people read in it is not what the figures say.")


def _counted(document: dict[str, Any], made: CertifiedMechanism) -> Iterator[Check]:
    """Whether the ledger is one that the mechanism writes, and what follows from it is as stated and within the promise."""
    ledger, planned, promised = Ledger.from_dict(document), made.planned_ledger, document["guarantee"]
    problems = list(made.departures(ledger.entries))
    holds = f"Each of the {len(ledger.entries)} releases is one that {made.name} makes, with the noise planned for it."
    fails = f"It is not what {made.name} releases with these parameters"
    meaning = "The ledger is not that of a run of this version with these parameters, so its total proves nothing."
    yield judged("ledger", problems, holds, fails, meaning)
    other_runs = (ledger.rate, ledger.times, ledger.most_cases) != (planned.rate, planned.times, planned.most_cases)
    try:
        if any(entry.mu is None for entry in ledger.entries):  # to add up other noise than planned may take for ever
            if problems:
                raise UnknownReleaseError(f"The ledger has noise that {made.name} does not draw with these parameters.")
            if other_runs:
                raise UnknownReleaseError(f"The ledger is of other subsamples than {made.name} draws with these parameters.")
        expected = counted(replace(made.complete(ledger), asked=planned.asked), promised["delta"])
    except UnknownReleaseError as error:
        yield Check("total", False, str(error), "Its total proves nothing.")
        return
    wrong = differences({name: document[name] for name in ("ledger", "subsampling", "spent")}, expected)
    holds = "All shares, mu and what was spent follow from the noise in the ledger."
    yield judged("figures", wrong, holds, "Some do not follow from the noise in the ledger", MISCOUNTED)
    epsilon = expected["spent"]["epsilon"]
    total = f"Everything in the ledger together has epsilon {epsilon:.6g} at delta {promised['delta']:g}"
    if epsilon <= promised["epsilon"]:
        yield Check("total", True, f"{total}, no more than the {promised['epsilon']:g} promised.")
    else:
        meaning = "The release reveals more than the certificate promises."
        yield Check("total", False, f"{total}, more than the {promised['epsilon']:g} promised.", meaning)


def _of_other_version(version: str) -> Callable[[Check], Check]:
    """Adds to what does not hold that another version of Libra may say it otherwise."""
    other = f" It was issued by Libra {version}, and this is {__version__}: check it with that version first."
    return lambda check: check if check.ok or version == __version__ else replace(check, meaning=check.meaning + other)


def _same_file(certified: dict[str, Any], found: dict[str, Any]) -> Check:
    problems = []
    if found["bytes"] != certified["bytes"]:
        problems.append(f"it has {found['bytes']:,} bytes, and the one certified has {certified['bytes']:,}")
    if found["sha256"] != certified["sha256"]:
        problems.append(f"its SHA-256 is {found['sha256'][:12]}…, and the one certified has {certified['sha256'][:12]}…")
    holds = f"It is the file certified: {found['bytes']:,} bytes, SHA-256 {found['sha256'][:12]}…."
    meaning = "It is not what was released, or not all of it. The certificate says nothing about it."
    return judged("file", problems, holds, "It is another file", meaning)


def _verdict(document: dict[str, Any], checks: list[Check], signature: Vouched) -> str:
    failed = [SEEDED if check.name == RANDOMNESS else check.name for check in checks if not check.ok]
    if failed:
        return f"Not verified: {', '.join(failed)}."
    guarantee, worth = document["guarantee"], strength_of(document)
    if guarantee["kind"] == "claimed":
        return CLAIMED.format(signature.said)
    figures = f"({guarantee['epsilon']:g}, {guarantee['delta']:g})"
    unit = guarantee["unit"].partition(",")[0]
    standing = f"{signature.said[0].upper()}{signature.said[1:]}" if signature.signed else f"Consistent, {signature.said}"
    said = f"the file is the one certified, and its ledger stays within {figures}-differential privacy for {unit}"
    against = [NAMES_NOT_PROTECTED] if NAMES_PUBLIC in guarantee["assumptions"] else []
    if worth is not None:
        against += [worth.warning] if worth.warning else []
        against += [TOO_WEAK] if worth.level == "void" else []
    return " ".join((f"{standing}: {said}. {signature.meaning}", *against))

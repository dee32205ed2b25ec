"""The functions on an original and an anonymized log, measure and report, and how such a pair is read.

Both are read with the same keywords; the anonymized log may be empty, and need not have the columns that the keywords name. A
description is of the original alone. Results are confidential, since they compare with the original, but for public reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from libra.errors import MissingColumnError, UsageError
from libra.eventlog.options import ReadOptions, RoleNames, no_progress, stage
from libra.keywords import ReadKeywords, described_by, read_options, refuse_other_than_bool

if TYPE_CHECKING:
    from libra.api import Source
    from libra.eventlog.log import EventLog
    from libra.measures import Utility
    from libra.reporting.page import Report

TEXT_OPTIONS = ("encoding", "delimiter", "decimal", "timestamp_format", "epoch_unit", "zone")  # about how a table is written


def measure(
    original: Source,
    anonymized: Source,
    *,
    risk: bool = False,
    certificate: str | Path | Mapping[str, Any] | None = None,
    **keywords: Unpack[ReadKeywords],
) -> Utility:
    """How far a log is from its original, in the measures of the field; keywords as for `read`.

    A `description` is that of the original, and the anonymized log is read as it is found; attributes are compared as what it
    says they are. All other keywords apply to both
    logs, except for columns that the anonymized log does not have (it often has other names) and, unless it is a CSV file from
    another tool, those about text; `utility.notes` says so.

    `utility.sample` has what a fresh sample of the original scores in what ties cases together, and where time goes.

    With `risk=True` also what an attacker gets from the anonymized log, as `utility.risk`: confidential. For an attack on
    membership it takes the certificate of the release, a file or what `release.certificate()` gives, to run the mechanism again;
    `progress` is then called with the rounds of the attack as well.

    Example:
        >>> import libra, libra.example
        >>> utility = libra.measure(libra.example.path(), libra.example.path())
        >>> utility.emd_freq, utility.dfg_l1
        (0.0, 0.0)
    """
    from libra.measures import measure as compare
    from libra.measures.risk import certified, risk_of_release
    from libra.reporting.facts.yardsticks import fresh_sample_of

    refuse_other_than_bool(risk=risk)
    if certificate is not None and not risk:
        raise UsageError("The certificate is only used to attack membership. Add --risk (risk=True).")
    named = None if certificate is None else certified(certificate)
    first, second = read_pair(original, anonymized, **keywords)
    pair = (_file_name(original), first), (_file_name(anonymized), second)
    notes = tuple(f"{name}: {note}" if name else note for name, log in pair for note in log.notes)
    described = described_by(keywords.get("description"))
    utility = replace(compare(first, second, described.attributes if described else ()), notes=notes)
    utility = replace(utility, sample=fresh_sample_of(first, second.n_cases or first.n_cases))
    if not risk:
        return utility
    file = Path(anonymized) if isinstance(anonymized, str | Path) else None
    with stage(keywords.get("progress") or no_progress, "attack", original) as told:
        found = risk_of_release(first, second, certified=named, released=file, progress=told)
    return replace(utility, risk=found, notes=(*utility.notes, *found.notes))


def report(
    original: Source | None,
    anonymized: Source | None = None,
    *,
    certificate: str | Path | Mapping[str, Any] | None = None,
    key: str | Path | None = None,
    public: bool = False,
    attack: bool = False,
    **keywords: Unpack[ReadKeywords],
) -> Report:
    """A page on an anonymized log: what is promised of it, what is left of the original, and what not to conclude from it.

    `save` it, or let a notebook show it. The page of a release at hand is `release.report()`.

    Args:
        original: The log as it was. A public page never looks at it, and takes an anonymized log in its place.
        anonymized: The anonymized log.
        certificate: That of the release, verified if both are files; otherwise the page says that nothing ties them together.
        key: The public key of its custodian, a file or its line of text: the certificate has to be signed by it.
        public: Only what is released, for whoever gets the log. Otherwise the page is CONFIDENTIAL.
        attack: Also attack membership, which runs the mechanism ten times.
        **keywords: As for `measure`.

    Example:
        >>> import libra, libra.example
        >>> page = libra.report(libra.example.path(), libra.anonymize(libra.example.path()).log)
        >>> "CONFIDENTIAL" in page.html, page.standing
        (True, 'unknown')
    """
    from libra.certificate.signing import public_key
    from libra.measures.risk import certified
    from libra.reporting.build import report_of
    from libra.reporting.commands import Names, reading_flags
    from libra.reporting.promise import certificate_of

    refuse_other_than_bool(public=public, attack=attack)
    released = original if anonymized is None else anonymized
    if released is None or (not public and (original is None or anonymized is None)):
        raise UsageError("A report compares with the original. Give it, or ask for a page without it: public=True (--public).")
    if attack and (public or certificate is None):
        raise UsageError("An attack on membership needs both logs and the certificate, so its page cannot be public.")
    if key is not None and certificate is None:
        raise UsageError("A key checks the signature of a certificate. Give the certificate as well.")
    file, trusted = Path(released) if isinstance(released, str | Path) else None, None if key is None else public_key(key)
    checked = None if certificate is None else certificate_of(certificate, file, trusted)
    to_attack = certified(certificate) if attack and certificate is not None else None
    if public or original is None:
        before, after = None, read_released(released, **keywords)
    else:
        before, after = read_pair(original, released, **keywords)
    original_name, certificate_name = "" if public else _file_name(original), _file_name(certificate)
    names = Names(original_name, _file_name(released), certificate_name, reading_flags(keywords))
    with stage(keywords.get("progress") or no_progress, "report", released) as told:
        return report_of(before, after, checked=checked, names=names, certified=to_attack, progress=told)


def _file_name(source: object) -> str:
    return Path(source).name if isinstance(source, str | Path) else ""


def read_pair(original: Source, anonymized: Source, **keywords: Unpack[ReadKeywords]) -> tuple[EventLog, EventLog]:
    """Read the two logs of a comparison; the second may be empty, and need not have the columns that the keywords name.

    If it lacks a named column, that role is detected there, with a note. What is said about how text is written applies to
    tables that are not of our own writing; the unit of epochs and the zone are said of the original, and of another tool's table.
    """
    options = read_options(**keywords)
    if options.described:
        return _read(original, options), read_released(anonymized, **keywords)
    as_found = replace(options, encoding=None, delimiter=None, decimal=None, timestamp_format=None)
    first, second = _is_foreign_text(original), _is_foreign_text(anonymized)
    theirs = options if second or not first else as_found
    if not second:
        theirs = replace(theirs, epoch_unit=None, zone=None)
    return _read(original, options if first or not second else as_found), _read_anonymized(anonymized, options, theirs)


def read_released(anonymized: Source, **keywords: Unpack[ReadKeywords]) -> EventLog:
    """Read an anonymized log alone; a description is not about it."""
    options = read_options(**keywords)
    said = ReadOptions(progress=options.progress) if options.described else options
    return _read_anonymized(anonymized, said, said)


def _read(source: Source, options: ReadOptions) -> EventLog:
    from libra.eventlog import read as reader

    with stage(options.progress, "read", source) as told:
        return reader.read(source, replace(options, progress=told))


def _read_anonymized(anonymized: Source, said: ReadOptions, theirs: ReadOptions) -> EventLog:
    """The second log of a comparison, with notes on what did not apply to it."""
    from libra.eventlog.names import LIFECYCLE
    from libra.eventlog.pairing import with_instances
    from libra.eventlog.select import keep_lifecycle

    flags = [_flag(name) for name in TEXT_OPTIONS if getattr(said, name) != getattr(theirs, name)]
    listed = " and ".join(filter(None, (", ".join(flags[:-1]), *flags[-1:])))
    notes = [f"{listed} did not apply to this log, whose form is known."] if flags else []
    asked, kept = theirs, said.lifecycle_keep
    theirs = replace(theirs, allow_empty=True, lifecycle_keep=(), instances="events" if kept else theirs.instances)
    try:
        log = _read(anonymized, theirs)
    except MissingColumnError as error:
        without: dict[str, Any] = {}
        for role, names in error.lacking.items():
            flag, missing = _flag(role), " and no column ".join(f'"{name}"' for name in names)
            if role == "timestamp" and theirs.timestamp_format:
                flag, without["timestamp_format"] = f"{flag} and --timestamp-format", None  # it was for that column
            notes.append(f"There is no column {missing} here, so {flag} did not apply to this log.")
        roles = replace(theirs.roles, **{role: getattr(RoleNames(), role) for role in error.lacking})
        log = _read(anonymized, replace(theirs, roles=roles, **without))
    log = log.with_notes(*notes)
    if kept and log.n_events:
        if LIFECYCLE in log.events.columns:
            log = keep_lifecycle(log, kept, str(anonymized) if isinstance(anonymized, str | Path) else "")
        else:
            log = log.with_notes("There is no lifecycle here, so --lifecycle-keep did not apply to this log.")
    return with_instances(log, replace(asked, lifecycle_keep=())) if kept else log  # after events are chosen


def _flag(keyword: str) -> str:
    return f"--{keyword.replace('_', '-')}"


def _is_foreign_text(source: Source) -> bool:
    """Whether a source is a CSV file that some other tool wrote."""
    from libra.eventlog.files import input_format
    from libra.eventlog.tables.csv_read import has_standard_header

    if not isinstance(source, str | Path):
        return False
    fmt = input_format(Path(source))
    return fmt.kind in ("csv", "tsv") and not has_standard_header(Path(source), fmt)

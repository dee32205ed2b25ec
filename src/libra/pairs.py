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
from libra.keywords import ReadKeywords, read_options, refuse_other_than_bool

if TYPE_CHECKING:
    from libra.api import Source
    from libra.eventlog.log import EventLog
    from libra.measures import Utility
    from libra.reporting.page import Report

TEXT_OPTIONS = ("encoding", "delimiter", "decimal", "timestamp_format", "epoch_unit", "zone")  # about how a table is written
CERTIFICATE_WITHOUT_RISK = "The certificate is for the attack on membership. Ask for the risk as well: --risk, or risk=True."
NO_ORIGINAL = "A report compares with the original. Give it, or ask for what can be said without it: public=True (--public)."
KEY_NEEDS = "A key checks the signature of a certificate. Give the certificate as well."
ATTACK_NEEDS = "The attack on membership takes both logs and the certificate of the release: no page that is public."


def measure(
    original: Source,
    anonymized: Source,
    *,
    risk: bool = False,
    certificate: str | Path | Mapping[str, Any] | None = None,
    **keywords: Unpack[ReadKeywords],
) -> Utility:
    """How far a log is from its original, in the measures of the field; keywords as for `read`.

    A `description` is that of the original, and the anonymized log is read as it is found. All other keywords count for both
    logs, but for columns that the anonymized log does not have (it often has other names) and, where it is not a CSV file from
    another tool, for those about text; `utility.notes` says so.

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

    refuse_other_than_bool("risk", risk)
    if certificate is not None and not risk:
        raise UsageError(CERTIFICATE_WITHOUT_RISK)
    named = None
    if certificate is not None:
        from libra.measures.risk import certified

        named = certified(certificate)
    first, second = read_pair(original, anonymized, **keywords)
    utility = replace(compare(first, second), notes=_notes_of((original, first), (anonymized, second)))
    if not risk:
        return utility
    from libra.measures.risk import risk_of_release

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

    Args:
        original: The log as it was. A public page never looks at it, and takes an anonymized log in its place.
        anonymized: The anonymized log.
        certificate: That of the release. Where it and the anonymized log are files, they are verified; otherwise nothing ties
            one to the other, and the page says so. The page of a release at hand is `release.report()`.
        key: The public key of its custodian, a file or its line of text: the certificate has to be signed by it.
        public: Only what is released, for whoever gets the log. Otherwise the page is CONFIDENTIAL.
        attack: Also attack membership, which runs the mechanism ten times.
        **keywords: As for `read`; they count for both logs as those of `measure` do.

    Returns:
        The page: `save` it, or let a notebook show it.

    Raises:
        LibraError: A file cannot be read, or is no certificate.

    Example:
        >>> import libra, libra.example
        >>> page = libra.report(libra.example.path(), libra.anonymize(libra.example.path()).log)
        >>> "CONFIDENTIAL" in page.html, page.standing
        (True, 'unknown')
    """
    from libra.certificate.signing import public_key
    from libra.reporting.build import report_of
    from libra.reporting.commands import Names, reading_flags
    from libra.reporting.promise import certificate_of

    refuse_other_than_bool("public", public)
    refuse_other_than_bool("attack", attack)
    released = original if anonymized is None else anonymized
    if released is None or (not public and (original is None or anonymized is None)):
        raise UsageError(NO_ORIGINAL)
    if attack and (public or certificate is None):
        raise UsageError(ATTACK_NEEDS)
    if key is not None and certificate is None:
        raise UsageError(KEY_NEEDS)
    file, trusted = Path(released) if isinstance(released, str | Path) else None, None if key is None else public_key(key)
    checked = None if certificate is None else certificate_of(certificate, file, trusted)
    certified = None
    if attack and certificate is not None:
        from libra.measures.risk import certified as to_attack

        certified = to_attack(certificate)
    if public or original is None:
        before, after = None, read_released(released, **keywords)
    else:
        before, after = read_pair(original, released, **keywords)
    sources = (None if public else original, released, certificate)
    before_name, after_name, certificate_name = (Path(one).name if isinstance(one, str | Path) else "" for one in sources)
    names = Names(before_name, after_name, certificate_name, reading_flags(keywords))
    with stage(keywords.get("progress") or no_progress, "report", released) as told:
        return report_of(before, after, checked=checked, names=names, certified=certified, progress=told)


def read_pair(original: Source, anonymized: Source, **keywords: Unpack[ReadKeywords]) -> tuple[EventLog, EventLog]:
    """Read the two logs of a comparison; the second may be empty, and need not have the columns that the keywords name.

    Where it lacks a named column, that role is found there by itself, with a note; all other choices stay, and every other error
    is raised as it is.
    """
    options = read_options(**keywords)
    said, ours, theirs = options, options, options
    if options.described:
        said = theirs = ReadOptions(progress=options.progress)
    else:
        ours, theirs = _options_of_each(original, anonymized, options)
    return _read(original, ours), _read_anonymized(anonymized, said, theirs)


def read_released(anonymized: Source, **keywords: Unpack[ReadKeywords]) -> EventLog:
    """Read an anonymized log alone, as `read_pair` does where the other one is not looked at."""
    options = read_options(**keywords)
    said = ReadOptions(progress=options.progress) if options.described else options
    return _read_anonymized(anonymized, said, said)


def _read(source: Source, options: ReadOptions) -> EventLog:
    from libra.eventlog import read as reader

    with stage(options.progress, "read", source) as told:
        return reader.read(source, replace(options, progress=told))


def _read_anonymized(anonymized: Source, said: ReadOptions, theirs: ReadOptions) -> EventLog:
    """The second log of a comparison, with notes on what did not count for it."""
    from libra.eventlog.names import LIFECYCLE
    from libra.eventlog.select import keep_lifecycle

    notes = _ignored(said, theirs)
    theirs = replace(theirs, allow_empty=True, lifecycle_keep=())
    try:
        log = _read(anonymized, theirs)
    except MissingColumnError as error:
        theirs, more = _without(theirs, error)
        log = _read(anonymized, theirs)
        notes += more
    log = log.with_notes(*notes)
    if said.lifecycle_keep and log.n_events:
        if LIFECYCLE in log.events.columns:
            name = str(anonymized) if isinstance(anonymized, str | Path) else ""
            return keep_lifecycle(log, said.lifecycle_keep, name)
        return log.with_notes("There is no lifecycle here, so --lifecycle-keep did not count for this log.")
    return log


def _options_of_each(original: Source, anonymized: Source, options: ReadOptions) -> tuple[ReadOptions, ReadOptions]:
    """The options of each log: what is said about how text is written counts for tables that are not of our own writing.

    The unit of epochs and the zone are said of the original; of another tool's table as well.
    """
    as_found = replace(options, encoding=None, delimiter=None, decimal=None, timestamp_format=None)
    first, second = _is_foreign_text(original), _is_foreign_text(anonymized)
    theirs = options if second or not first else as_found
    if not second:
        theirs = replace(theirs, epoch_unit=None, zone=None)
    return options if first or not second else as_found, theirs


def _ignored(said: ReadOptions, used: ReadOptions) -> list[str]:
    """A note on the flags about text that do not count for a log whose form is known."""
    flags = [f"--{name.replace('_', '-')}" for name in TEXT_OPTIONS if getattr(said, name) != getattr(used, name)]
    listed = " and ".join(filter(None, (", ".join(flags[:-1]), *flags[-1:])))
    return [f"{listed} did not count for this log, whose form is known."] if flags else []


def _is_foreign_text(source: Source) -> bool:
    """Whether a source is a CSV file that some other tool wrote."""
    from libra.eventlog.files import input_format
    from libra.eventlog.tables.csv_read import has_standard_header

    if not isinstance(source, str | Path):
        return False
    path = Path(source)
    fmt = input_format(path)
    return fmt.kind in ("csv", "tsv") and not has_standard_header(path, fmt)


def _without(options: ReadOptions, error: MissingColumnError) -> tuple[ReadOptions, list[str]]:
    """The options without the roles whose columns are missing, and a note on each; a format goes with the timestamp it is for."""
    unnamed = RoleNames()
    roles = replace(options.roles, **{role: getattr(unnamed, role) for role in error.lacking})
    notes = []
    for role, names in error.lacking.items():
        listed = " and no column ".join(f'"{name}"' for name in names)
        flags = f"--{role.replace('_', '-')}"
        if role == "timestamp" and options.timestamp_format:
            flags += " and --timestamp-format"
        notes.append(f"There is no column {listed} here, so {flags} did not count for this log.")
    timestamp_format = None if "timestamp" in error.lacking else options.timestamp_format
    return replace(options, roles=roles, timestamp_format=timestamp_format), notes


def _notes_of(*logs: tuple[Source, EventLog]) -> tuple[str, ...]:
    """The notes of several logs, each with the name of its file."""
    names = [Path(source).name if isinstance(source, str | Path) else "" for source, _ in logs]
    return tuple(f"{name}: {note}" if name else note for name, (_, log) in zip(names, logs, strict=True) for note in log.notes)

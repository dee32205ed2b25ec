"""The functions that show: report, a page on what was protected and what was lost; process_map, a picture of a log.

Thin, as `libra.api` is: they read what they are given and hand over. What `report` gives is confidential, because it compares
with the original, unless it is asked for as public: then the original is not even opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from libra.errors import UsageError
from libra.eventlog.options import no_progress, stage
from libra.keywords import ReadKeywords

if TYPE_CHECKING:
    from libra.api import Source
    from libra.reporting.maps import ProcessMap
    from libra.reporting.page import Report

NO_ORIGINAL = "A report compares with the original. Give it, or ask for what can be said without it: public=True (--public)."
KEY_NEEDS = "A key checks the signature of a certificate. Give the certificate as well."
ATTACK_NEEDS = "The attack on membership takes both logs and the certificate of the release: no page that is public."


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
    from libra.pairs import read_pair, read_released
    from libra.reporting.build import report_of
    from libra.reporting.commands import Names, reading_flags
    from libra.reporting.promise import certificate_of

    for name, value in (("public", public), ("attack", attack)):
        if not isinstance(value, bool):
            raise UsageError(f"{name} is either True or False, not {value!r}.")
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


def process_map(
    source: Source,
    *,
    level: int | str = "main paths",
    view: Literal["frequency", "duration"] = "frequency",
    **keywords: Unpack[ReadKeywords],
) -> ProcessMap:
    """The process map of a log: which activity directly follows which, how often, and after how long.

    What it shows is as confidential as the log.

    Args:
        source: A path, a data frame or an `EventLog`.
        level: How much of it: "overview", "main paths" or "detailed".
        view: What stands at the edges: counts, or mean durations.
        **keywords: As for `read`.

    Returns:
        The map: `save` it as SVG, or let a notebook show it.

    Example:
        >>> import libra, libra.example
        >>> libra.process_map(libra.example.path(), level="overview").svg().startswith("<svg")
        True
    """
    from libra.api import read
    from libra.reporting.maps import process_map as draw

    return draw(read(source, **keywords), level=level, view=view)

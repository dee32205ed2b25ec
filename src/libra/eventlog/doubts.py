"""What a column may be other than what is proposed for it: codes, numbers, dates, or names of people.

In: the name of a column and its values. Out: words for whoever holds the log, who decides. `classify` says what is proposed.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.description import CHECK
from libra.eventlog.notes import listed
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.roles import TIERS, normal
from libra.eventlog.tables.timestamps import looks_like_timestamps

CODE_NAME = re.compile(r"(?i)(?:code|postleitzahl|plz|zip|phone|telefon|nr)[^a-z]*$")  # digits below it are no amounts
WITH_A_MARK = r"^-?(?:0|[1-9][0-9]*)(?:[.,][0-9]+)?$"  # a number with a point or a comma
IN_THOUSANDS = r"^-?[1-9][0-9]{0,2}(?:[., '\x{a0}\x{2019}\x{202f}][0-9]{3})+(?:[.,][0-9]+)?$"
YEARS, CODE_DIGITS = (1800, 2200), range(4, 16)  # numbers that may be codes: none of these years, of so many digits
FEW_VALUES = 12  # of digits as text: up to so many are codes, more are numbers; and as many are listed
HALF, MOSTLY = 0.5, 0.9  # shares of the values
MORE_PEOPLE = """clerk owner author creator approver reviewer supervisor therapist caseworker arztin email emailaddress
    emailadresse firstname lastname surname fullname vorname nachname familienname voornaam achternaam prenom
    einweiser einweiserin zuweiser zuweiserin personalnr personalnummer personalid personalkurzel personalkuerzel"""
PEOPLE = {*MORE_PEOPLE.split(), *(name for tier in TIERS for name in tier["resource"])}
MORE_SUBJECTS = """patient customer client applicant borrower insured policyholder student citizen taxpayer passenger tenant
    kunde kunden kundin patienten klient klientin patientin antragsteller antragstellerin versicherter versicherte studentin klant
    versicherungsnehmer aanvrager verzekerde paciente cliente asegurado assure demandeur пациент клиент заявитель"""
SUBJECTS = {normal(name) for name in MORE_SUBJECTS.split()}
WHO = f"{CHECK}may name people, whom a guarantee for cases does not protect; write release = true if they may be released"
WHOSE = f"{CHECK}may say whose case it is; name it as individual to protect people with several cases, or write release = true"
INITIALS = {"kurzel", "kuerzel"}
OF_A_PERSON = {"id", "nr", "no", "number", "nummer", "code", "key", "login", "name", *INITIALS}  # behind a word for people
# How words for people end: Oberarzt, Fachaerztin, Krankenschwester
ENDINGS = ("arzt", "arztin", "aerztin", "pfleger", "pflegerin", "schwester", "therapeut", "therapeutin", "chirurg", "chirurgin")
PREFIXES = {"event", "case", "org"}


def doubt_about_people(name: str, *, of_numbers: bool) -> str:
    """What a column may tell by its name: who did something, or whose case it is; the name of numbers has to say nothing else.

    Example:
        >>> names = "event User", "assigned_to_nurse", "Product name", "User type", "Patient", "Patient age"
        >>> [bool(doubt_about_people(name, of_numbers=False)) for name in names]
        [True, True, False, False, True, False]
    """
    words = [normal(word) for word in re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))]
    if words == ["name"] or (len(words) == 1 and words[0] in INITIALS) or (len(words) > 1 and words[-1] == "by"):
        return WHO
    while len(words) > 1 and words[0] in PREFIXES:
        del words[0]
    ends = [words, words[:-1]] if words and words[-1] in OF_A_PERSON else [words]
    told = {"".join(end[at:]) for end in ends for at in range(1 if of_numbers else len(end))}
    last = {end[-1] for end in ends if end and (len(end) == 1 or not of_numbers)}
    return WHO if told & PEOPLE or any(word.endswith(ENDINGS) for word in last) else WHOSE if told & SUBJECTS else ""


def doubt_about_numbers(numbers: npt.NDArray[np.float64]) -> str:
    """Why different whole numbers may be codes."""
    low, high, digits = numbers.min(), numbers.max(), len(f"{numbers.max():.0f}")
    alike = low > 0 and len(f"{low:.0f}") == digits in CODE_DIGITS and not YEARS[0] <= low <= high < YEARS[1]
    if not alike or np.gcd.reduce(numbers.astype(np.int64)) % 5 == 0:
        return ""
    return f'{CHECK}every value has {digits} digits; if these are codes, write kind = "category"'


def doubt_about_texts(name: str, present: pl.Series, distinct: pl.Series, *, ids: bool) -> str:
    """Why texts may be numbers or dates; `ids` says that nearly every case has another one."""
    is_number = distinct.str.contains(WITH_A_MARK)
    plain, others = distinct.filter(is_number), distinct.filter(~is_number)
    if CODE_NAME.search(name):
        return "" if len(others) else 'codes, by the name of the column; if they measure or count, write kind = "number"'
    if len(others) and looks_like_timestamps(distinct, ReadOptions(), epochs=False):
        return f'{CHECK}looks like dates; for kind = "date", write them as YYYY-MM-DD and list other texts in missing'
    grouped = others.filter(others.str.contains(IN_THOUSANDS))
    if len(grouped) and len(plain) + len(grouped) >= MOSTLY * len(distinct):
        return (
            f'{CHECK}looks like numbers with thousands separators ("{grouped[0]}"); for kind = "number", remove these separators'
        )
    codes = others.str.contains(r"^[0-9]+$").any() or (ids and not plain.str.contains("[.,]").any())
    share = present.is_in(plain.implode()).sum() / len(present)
    if codes or not len(others) or len(plain) <= FEW_VALUES or share < (HALF if len(others) <= FEW_VALUES else MOSTLY):
        return ""
    most = "nearly all" if share >= MOSTLY else "most"
    return f'{CHECK}{most} values are numbers, but not {listed(others[:2])}; for kind = "number", list such texts in missing'

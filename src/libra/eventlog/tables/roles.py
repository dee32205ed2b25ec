"""Which column plays which role, and why.

The user's word counts first, then the standard's names, then common names (content breaks ties), then content where one column
stands out. Case id, activity and timestamp are always found, or an `InputError` lists the columns and the flag to use. A table
with the standard's names for all it must have is taken at its word: nothing else is guessed in it.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

import polars as pl

from libra.errors import InputError, MissingColumnError
from libra.eventlog.attribute_keys import clashes
from libra.eventlog.log import FoundRole
from libra.eventlog.names import CASE_PREFIX, ROLE_COLUMN, unnamed
from libra.eventlog.notes import listed
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.dates import DAY_ZERO, TIME_OF_DAY, read_iso_dates
from libra.eventlog.tables.timestamps import are_days, looks_like_timestamps

Names = Sequence[str]
_COMPLETE = "completetimestamp completiontimestamp completetime completiontime"
_END = """end ende einde fin endtimestamp endtime enddatetime enddate finishtime finishedat completedat completedate
    timestampend endzeitpunkt endzeit enddatum eindtijd einddatum datefin heurefin"""
_SURE = {
    "case_id": """caseconceptname caseid casekey case caseidentifier casenumber caseno casenr casename caseref caseuuid traceid
        trace processinstanceid processinstance processid instanceid fallid fallnummer fallnr fall vorgangsid
        vorgangsnummer vorgangsnr zaakid zaaknummer zaak casusid dossierid dossiernummer dossier numerodossier iddossier idcas
        numerodecas""",
    "activity": """eventconceptname activity activityname activitylabel activityen activityde activitytype activityinstance
        eventactivity aktivitat aktivitaet tatigkeit taetigkeit activiteit activiteitnaam activite nomactivite""",
    "timestamp": f"""{_COMPLETE} timestamp eventtimestamp eventtime eventdatetime eventdate zeitstempel zeitpunkt tijdstempel
        tijdstip horodatage horodate dateheure eventtimetimestamp""",
    "start_timestamp": """starttimestamp starttime startdatetime startdate startedat timestampstart begintimestamp begintime
        begindate startzeitpunkt startzeit startdatum beginn begintijd starttijd begindatum datedebut heuredebut""",
    "lifecycle": """lifecycle lifecycletransition lifecyclestate transition eventlifecycle transactiontype
        eventlifecycletransition""",
    "resource": """resource resourcename resourceid originator performer performedby executedby ressource bearbeiter mitarbeiter
        uitvoerder medewerker executant orgresource eventorgresource eventresource""",
}  # fmt: skip
_LIKELY = {
    "case_id": """admissionid admission encounterid encounter visitid visit hadmid stayid episodeid episode incidentid
        incidentnumber ticketid ticketnumber ticket orderid ordernumber order salesorder salesdocument vbeln ebeln ponumber
        purchaseorder purchasingdocument invoiceid invoicenumber invoice applicationid application requestid requestnumber
        srnumber servicerequest claimid claimnumber claim loanid declarationid jobid auftragsnummer auftrag bestellnummer
        aanvraagid bestelnummer commande patientid patient patientnumber patientennummer patientnummer patientnr
        aufnahmenummer aufnahmenr numeropatient studentid
        customerid clientid""",
    "activity": """task taskname event eventname eventtype eventclass eventlabel eventdescription action actionname operation
        operationname step stepname processstep processstepname schritt prozessschritt arbeitsschritt ereignis vorgang aufgabe
        handeling stap gebeurtenis taak etape tache evenement operationde""",
    "timestamp": f"""datetime date time when recordedat changedat datum uhrzeit datumuhrzeit datumzeit datumtijd tijd moment
        heure timestamputc {_END} createdat created""",
    "start_timestamp": "start started begin debut",
    "lifecycle": "lifecyclestatus eventstate",
    "resource": """user username userid agent employee employeeid worker operator assignee assignedto staff staffid handler
        actor person benutzer anwender sachbearbeiter gebruiker utilisateur acteur agentid physician doctor nurse clinician
        practitioner surgeon arzt aerztin behandler pfleger pflegekraft arts behandelaar zorgverlener verpleegkundige medecin
        infirmier eventuser eventusername eventuserid eventemployee""",
}  # fmt: skip
_WEAK = {"case_id": "id key number nr", "activity": "status state procedure name description"}
TIERS = tuple({role: tier.get(role, "").split() for role in _SURE} for tier in (_SURE, _LIKELY, _WEAK))
ENDS = frozenset(f"{_COMPLETE} {_END}".split())  # beside a start these name the timestamp; alone, _END may be that of the case
WEAK = 2  # the tier of names that count only where the content fits
FLAGS = {role: "--" + role.replace("_", "-") for role in (*ROLE_COLUMN, "individual")}
DESCRIBED = "named in the description"
REQUIRED = ("case_id", "activity", "timestamp")
WORDS = {"case_id": "case id", "start_timestamp": "start timestamp"}
_CLOCK_NAMES = (
    "time", "clock", "clocktime", "timeofday", "hour", "eventtime", "uhrzeit", "zeit", "tijd", "heure",
    "utime", "uzeit", "erzet", "cputm",
)  # fmt: skip  # the last ones are SAP's
_CLOCK_WORDS = ("time", "clock", "hour", "zeit", "tijd", "heure")


def normal(name: str) -> str:
    """A column's name without what people write differently."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", name.casefold()) if letter.isalnum())


def rank(role: str, name: str) -> tuple[int, int] | None:
    """How well a column's name fits a role (tier, position in it; smaller is better), or None."""
    for tier, names in enumerate(TIERS):
        if normal(name) in names[role]:
            return tier, names[role].index(normal(name))
    return None


def find_roles(frame: pl.DataFrame, options: ReadOptions, source: str) -> tuple[FoundRole, ...]:
    """Find the roles of a frame's columns; `source` names the table in errors."""
    found = _named_by_user(frame, options, source)
    if options.described:  # what a description names and nothing else; traces of XES are cases where it names no case id
        if options.form == "xes" and "case_id" not in found:
            found["case_id"] = FoundRole("case_id", (ROLE_COLUMN["case_id"],), DESCRIBED)
        if "clock" in found:
            both = (*found["timestamp"].columns, *found["clock"].columns)
            found["timestamp"] = FoundRole("timestamp", both, DESCRIBED)
        return tuple(found[role] for role in FLAGS if role in found)
    individual = found["individual"].columns if "individual" in found else ()
    taken = {role.columns for role in found.values()} - {individual}
    for role, column in ROLE_COLUMN.items():
        if role in found or column not in frame.columns or (column,) in taken:
            continue
        if role != "start_timestamp" or options.instances == "pair" or any_time(frame[column], options):
            found[role] = FoundRole(role, (column,), "its name is the XES standard's")
    playing = [role.columns for role in found.values() if role.role != "individual"]  # which may be the case id as well
    free = [name for name in frame.columns if (name,) not in playing and not _stands_on_day_zero(frame[name])]
    in_standard = all(ROLE_COLUMN[role] in frame.columns for role in REQUIRED)
    for role in () if in_standard else ROLE_COLUMN:
        best = None if role in found else _by_name(frame, role, free, found, options)
        if best:
            found[role] = FoundRole(role, (best,), f'called "{best}"')
            free.remove(best)
    for role, (by_content, reason) in _BY_CONTENT.items():
        candidates = [] if role in found else by_content(frame, free, options)
        if len(candidates) == 1:
            found[role] = FoundRole(role, tuple(candidates), reason)
            free.remove(candidates[0])
    if "timestamp" not in found and "start_timestamp" in found:
        start = found.pop("start_timestamp")
        found["timestamp"] = FoundRole("timestamp", start.columns, f"{start.reason}, and no other column holds times")
    clocks = [name for name in unused_clocks(frame, found.values(), options) if normal(name) in _CLOCK_NAMES]
    if len(clocks) == 1 and not in_standard and not options.roles.timestamp:
        date = found["timestamp"]
        reason = f'{date.reason}, with the time of day from "{clocks[0]}"'
        found["timestamp"] = FoundRole("timestamp", (*date.columns, *clocks), reason)
    missing = [role for role in REQUIRED if role not in found]
    if missing:
        raise _unrecognized(frame, missing, free, options, source)
    for misfit in clashes(options.attributes, {role: one.columns for role, one in found.items()}):  # a description has none
        raise misfit
    return tuple(found[role] for role in FLAGS if role in found)


def _unrecognized(frame: pl.DataFrame, missing: list[str], free: Names, options: ReadOptions, source: str) -> InputError:
    """What to say where a role that every event must have could not be given to a column."""
    dated = _dated(frame, free, options)
    if missing == ["timestamp"] and dated:
        what = f"several columns hold dates ({listed(dated)})"
        remedy = "Name the one that says when an event happened with --timestamp"
    elif missing == ["timestamp"] and options.timestamp_format:
        what = f'no column is written in the --timestamp-format "{options.timestamp_format}"'
        remedy = "Use strftime codes, such as %d.%m.%Y %H:%M:%S"
    else:
        columns = " and ".join(f"no {WORDS.get(role, role)} column" for role in missing)
        what = f"{columns} was recognized among the columns {_listed(frame.columns)}"
        remedy = f"Name {'it' if len(missing) == 1 else 'them'} with {' and '.join(FLAGS[role] for role in missing)}"
    return InputError(what, place=source, remedy=remedy)


def unused_clocks(frame: pl.DataFrame, roles: Iterable[FoundRole], options: ReadOptions) -> list[str]:
    """Columns without a role that could hold the times of day, where the timestamps are only dates."""
    columns = {role.role: role.columns for role in roles}
    used, timestamp = {name for names in columns.values() for name in names}, columns.get("timestamp", ())
    if options.described or len(timestamp) != 1:
        return []
    clocks = [name for name in frame.columns if name not in used and _looks_like_clock_times(frame[name])]
    return clocks if clocks and are_days(frame[timestamp[0]], options) else []


def _named_by_user(frame: pl.DataFrame, options: ReadOptions, source: str) -> dict[str, FoundRole]:
    found, lacking = {}, {}
    for role in (*FLAGS, "clock"):
        named: tuple[str, ...] | str | None = getattr(options.roles, role)
        asked = (named,) if isinstance(named, str) else named or ()
        columns = {name: _existing(name, frame.columns) for name in asked}
        if missing := [name for name, column in columns.items() if column is None]:
            lacking[role] = missing
        elif columns:
            reason = DESCRIBED if options.described else "named in the call"
            found[role] = FoundRole(role, tuple(column for column in columns.values() if column), reason)
    if not lacking:
        return found
    role, (name, *_) = next(iter(lacking.items()))
    flag, parts, hint = FLAGS.get(role, "--clock"), [part.strip() for part in name.split(",")], ""
    folded = {column.casefold().removeprefix(CASE_PREFIX): column for column in frame.columns}
    close = difflib.get_close_matches(name.casefold(), list(folded), n=1)
    if role in ("case_id", "activity") and len(parts) > 1 and all(_existing(part, frame.columns) for part in parts):
        hint = f"Give {flag} once for each column. "
    elif close:
        hint = f'Did you mean "{folded[close[0]]}"? '
    what, remedy = f'{flag}: there is no column "{name}"', f"{hint}The columns are {_listed(frame.columns)}"
    raise MissingColumnError(what, place=source, remedy=remedy, lacking=lacking)


def _existing(name: str, columns: Names) -> str | None:
    return next((candidate for candidate in (name, CASE_PREFIX + name) if candidate in columns), None)


def _listed(columns: Names) -> str:
    return f"{listed(columns[:40])}{', …' if len(columns) > 40 else ''}"


def _dated(frame: pl.DataFrame, names: Names, options: ReadOptions, *, epochs: bool = False) -> list[str]:
    """Those columns whose values read as dates; bare numbers count only with `epochs`."""
    return [name for name in names if looks_like_timestamps(frame[name], options, epochs=epochs)]


def _by_name(frame: pl.DataFrame, role: str, free: Names, found: Mapping[str, FoundRole], options: ReadOptions) -> str | None:
    """The free column with the best name; among names of one tier those whose content fits come first."""
    ranked = sorted((place, name) for name in free if (place := rank(role, name)) is not None)
    if role in ("timestamp", "start_timestamp"):
        return _best_time(frame, role, [name for _, name in ranked], free, found, options)
    if role not in REQUIRED:
        ranked = [(place, name) for place, name in ranked if not _is_container(frame[name])]
    fits = {"case_id": _repeats, "activity": _few_labels}.get(role)
    if fits and (len(ranked) > 1 or any(tier == WEAK for (tier, _), _ in ranked)):
        misfits = {name for _, name in ranked if not fits(frame[name], options)}
        ranked = [(place, name) for place, name in ranked if place[0] != WEAK or name not in misfits]
        ranked.sort(key=lambda found: (found[0][0], found[1] in misfits, found[0]))
    return ranked[0][1] if ranked else None


def _best_time(
    frame: pl.DataFrame, role: str, named: Names, free: Names, found: Mapping[str, FoundRole], options: ReadOptions
) -> str | None:
    """The best name whose values read as dates; times that differ within cases come before those of whole cases.

    An end is the timestamp beside a start; without one, a name that speaks of the event comes first.
    Where nothing in the table does, the best name for a timestamp is taken all the same: the error then shows its value.
    """
    dated = _dated(frame, named, options, epochs=True)
    if len(dated) > 1:
        starts = [name for name in free if rank("start_timestamp", name)]
        has_start = "start_timestamp" in found or bool(_dated(frame, starts, options, epochs=True))
        ends_first = role == "timestamp" and has_start
        of_events = _varying_within_cases(frame, dated, found.get("case_id"))
        dated.sort(key=lambda name: (name not in of_events, ends_first and normal(name) not in ENDS))
    if dated or role == "start_timestamp" or _dated(frame, free, options):
        return next(iter(dated), None)
    return next(iter(named), None)


def _varying_within_cases(frame: pl.DataFrame, names: Names, case_id: FoundRole | None) -> list[str]:
    if case_id is None or any(_is_container(frame[name]) for name in case_id.columns):
        return []
    keys = [frame[name].alias(f"@{i}") for i, name in enumerate(case_id.columns)]
    times = [frame[name].alias(str(i)) for i, name in enumerate(names)]
    differs = pl.DataFrame([*keys, *times]).group_by(key.name for key in keys).agg(pl.all().n_unique() > 1)
    return [name for i, name in enumerate(names) if differs[str(i)].any()]


FEW = 20  # values that are looked at one by one


def any_time(values: pl.Series, options: ReadOptions) -> bool:
    """Whether a column with the standard's name for starts has any: what cannot be read beside them is an error."""
    if values.dtype != pl.String:
        return looks_like_timestamps(values, options)
    texts = unnamed(values).drop_nulls().unique()
    return any(looks_like_timestamps(texts[i : i + 1], options) for i in range(min(len(texts), FEW))) or (
        bool(read_iso_dates(texts)[0].is_not_null().any())
    )


def _is_container(values: pl.Series) -> bool:
    return values.dtype.is_nested() or values.dtype == pl.Object


def _repeats(values: pl.Series, _options: ReadOptions) -> bool:
    return not _is_container(values) and 1 < values.n_unique() < values.len()


def _few_labels(values: pl.Series, options: ReadOptions) -> bool:
    """Whether a column could hold activities: words, not too many different ones, no dates and no numbers."""
    if values.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return False
    words = unnamed(values).cast(pl.String).drop_nulls()
    if not words.len() or not 1 < words.n_unique() <= max(words.len() // 3, 2):
        return False
    labels = words.unique(maintain_order=True).head(1000)
    numbers = labels.str.contains(r"^\s*[-+]?[\d.,]+\s*$").mean()
    return isinstance(numbers, float) and numbers < 0.5 and not looks_like_timestamps(labels, options)


def _by_repeats(frame: pl.DataFrame, free: Names, options: ReadOptions) -> list[str]:
    """The column with by far the most different values among those that repeat: at least three times as many as the next."""
    candidates = {}
    for name in free:
        values = frame[name]
        if (values.dtype == pl.String or values.dtype.is_integer()) and not looks_like_timestamps(values, options, epochs=False):
            distinct = values.n_unique()
            if 2 <= distinct <= values.len() * 2 // 3 and not values.null_count():
                candidates[name] = distinct
    ordered = sorted(candidates, key=lambda name: -candidates[name])
    return [] if len(ordered) > 1 and candidates[ordered[0]] < 3 * candidates[ordered[1]] else ordered[:1]


def _by_few_labels(frame: pl.DataFrame, free: Names, options: ReadOptions) -> list[str]:
    return [name for name in free if not name.startswith(CASE_PREFIX) and _few_labels(frame[name], options)]


_BY_CONTENT: dict[str, tuple[Callable[[pl.DataFrame, Names, ReadOptions], list[str]], str]] = {
    "timestamp": (_dated, "the only column left whose values read as dates"),
    "case_id": (_by_repeats, "its values repeat the way case ids do"),
    "activity": (_by_few_labels, "the only column with a few recurring labels"),
}


def _looks_like_clock_times(values: pl.Series) -> bool:
    """Whether a column's name speaks of time and nearly all its values could be times of day."""
    name = normal(values.name)
    if name not in _CLOCK_NAMES and not any(word in name for word in _CLOCK_WORDS):
        return False
    return values.dtype == pl.Time or (values.dtype == pl.String and _mostly(unnamed(values), TIME_OF_DAY))


def _stands_on_day_zero(values: pl.Series) -> bool:
    """Whether a column holds times of day as Excel and Access export them: all on the day before their calendar begins."""
    values = unnamed(values)
    if isinstance(values.dtype, pl.Datetime):
        return bool(values.drop_nulls().len()) and bool((values.dt.year() < 1901).all()) and values.dt.date().n_unique() <= 2
    return values.dtype == pl.String and _mostly(values, rf"^\s*{DAY_ZERO}")


def _mostly(values: pl.Series, pattern: str) -> bool:
    fits = values.filter(values.str.strip_chars() != "").str.contains(pattern)
    return bool(fits.len()) and int(fits.sum()) * 10 >= fits.len() * 9

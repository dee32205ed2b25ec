"""Notes on how a log was read: choices that its content leaves open, and events that were left out.

A reader that has to choose says so in a note. Where another choice would have fitted the content as well, the note is an
`OpenChoice`: commands that look at a log show it as any note, a release with a guarantee is refused (`refuse_open`), since a
single case could decide how all others are read. What can be open has a function below. Times that all come without a zone are
not open: they stay as they stand. Neither is the decimal sign: ids and activities are text, and no time is read by it.
"""

from __future__ import annotations

from collections.abc import Iterable

from libra.errors import InputError

ENOUGH = 10  # cases (or individuals) that decide together how all others are read


def listed(names: Iterable[str]) -> str:
    """Names in quotes, for notes and errors."""
    return ", ".join(f'"{name}"' for name in names)


class OpenChoice(str):
    """A note on a choice that the content left open; `remedy` names the flag that settles it."""

    what: str
    remedy: str
    may_close: bool  # whether more of the file may still settle it

    def __new__(cls, what: str, remedy: str, note: str, *, may_close: bool = False) -> OpenChoice:
        """The note as people read it, with what is open and how it is settled."""
        made = super().__new__(cls, note)
        made.what, made.remedy, made.may_close = what, remedy, may_close
        return made

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]  # what __new__ takes, as pickle has it
        return self.what, self.remedy, str(self)


def refuse_open(notes: Iterable[str], place: str) -> None:
    """An `InputError` for the first choice that the content left open."""
    for note in notes:
        if isinstance(note, OpenChoice):
            raise InputError(note.what, place=place, remedy=f"{note.remedy}, or give a description (libra describe)")


def order_is_open(column: str, value: str) -> OpenChoice:
    """No date of the file shows whether day or month comes first, nor does another column of times."""
    return OpenChoice(
        f'no date in "{column}" shows whether day or month comes first',
        "Say --day-first or --month-first",
        f'No date in "{column}" shows whether day or month comes first; "{value}" was read day first. '
        "Use --month-first to correct this or --day-first to confirm it.",
        may_close=True,
    )


def year_is_open(column: str, value: str, *, year_first: bool) -> OpenChoice:
    """No date of the file shows whether a year of two digits comes first or last."""
    return OpenChoice(
        f'the years in "{column}" have two digits, and no date shows whether they come first or last',
        "Give the format with --timestamp-format, or say --day-first or --month-first if they come last",
        f'The years in "{column}" have two digits; "{value}" was read with the year {"first" if year_first else "last"}. '
        "If that is wrong, give the format with --timestamp-format.",
        may_close=True,
    )


def unit_is_open(column: str, unit: str) -> OpenChoice:
    """Some numbers, taken alone, say another unit than others."""
    return OpenChoice(
        f'the numbers in "{column}" do not all look like Unix times in {unit}',
        "Say what they count with --epoch-unit s, ms, us or ns",
        f'The numbers in "{column}" were read as Unix times in {unit}; some of them look like another unit. '
        "--epoch-unit says which it is.",
    )


def numbers_among_dates(column: str) -> OpenChoice:
    """Numbers that could be Unix times stand among dates."""
    return OpenChoice(
        f'some numbers in "{column}" could be Unix times, and others were read as dates',
        "Give the format with --timestamp-format if all are dates, or say --epoch-unit s, ms, us or ns if all are Unix times",
        f'Some numbers in "{column}" could be Unix times; as others were read as dates, they were not read.',
    )


def zone_is_open(column: str) -> OpenChoice:
    """Some times carry a zone and others do not."""
    return OpenChoice(
        f'some timestamps in "{column}" carry a time zone and others do not',
        "Say --zone utc if those without are in UTC, or write all with their zone",
        f'Some timestamps in "{column}" carry no time zone and were read as UTC, the others were converted to UTC.',
    )


def zones_differ(start: str, end: str, *, start_has_zone: bool) -> OpenChoice:
    """The times in one of two columns carry a zone and those in the other do not."""
    zoned, naive = (start, end) if start_has_zone else (end, start)
    return OpenChoice(
        f'the timestamps in "{zoned}" carry a time zone and those in "{naive}" do not',
        "Say --zone utc if those without are in UTC, or write all with their zone",
        f'The timestamps in "{naive}" carry no time zone and were read as UTC, those in "{zoned}" were converted to UTC.',
    )


def starts_are_open(column: str) -> OpenChoice:
    """By its values, and those of one case may decide, a column with a common name for starts is about events or about cases."""
    return OpenChoice(
        f'its values decide whether "{column}" says when activities started or when cases did',
        "Say --instances pair if it is about activities, or --instances complete if it is not",
        f'Whether "{column}" says when activities started or when cases did was decided by its values. --instances pair or '
        "--instances complete settles it.",
    )


def instances_are_open(note: str) -> OpenChoice:
    """Few cases have what makes the events of all others activity instances; `note` says what was done."""
    return OpenChoice(
        f"fewer than {ENOUGH} cases (or individuals, if they are named) show that activities have a start and a completion",
        "Say --instances pair, complete or events",
        note,
        may_close=True,
    )


def encoding_is_open() -> OpenChoice:
    """The text is not UTF-8 and has no mark."""
    return OpenChoice(
        "the file is not UTF-8, and nothing in it says what it is",
        "Name the encoding with --encoding, such as cp1252",
        "The file is not UTF-8 and was read as Windows-1252; --encoding names another one.",
    )


class LeftOut(str):
    """A note on events that were left out; `most` if more than half were, which a release with a guarantee never tells."""

    most: bool

    def __new__(cls, note: str, *, most: bool = False) -> LeftOut:
        """The note as people read it, and whether most events were left out."""
        made = super().__new__(cls, note)
        made.most = most
        return made


def with_loss(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes, and one more where most events were left out; not for releases, as it is computed from the cases."""
    told = tuple(notes)
    if not any(isinstance(note, LeftOut) and note.most for note in told):
        return told
    return (*told, "More than half of the events were left out. Check the columns and how times are written.")

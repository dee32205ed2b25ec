"""What a table that Libra wrote remembers of its log besides its rows: the header and who the individual is.

In: what stands under our key in a Parquet file or a pandas frame. Out: the log with it. What is not ours is passed over: others
may use the same key.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from libra.errors import InputError
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.metadata import Attribute, LogMetadata

KEY = "libra"
_VALUES: dict[str, type | tuple[type, ...]] = {
    "string": str, "id": str, "date": datetime, "int": int, "float": (int, float), "boolean": bool, "list": (), "container": (),
}  # fmt: skip


@dataclass(frozen=True)
class Remembered:
    """A log's header and the column of its cases that names the individual."""

    metadata: LogMetadata = field(default_factory=LogMetadata)
    individual: str | None = None

    def with_individual(self, log: EventLog, reason: str, source: str) -> EventLog:
        """The log with its individual, unless the user named another one.

        Raises:
            InputError: The individual changes within a case. To forget it would take the protection from everybody else.
        """
        if self.individual is None or log.individual is not None:
            return log
        if self.individual not in log.cases.columns:
            if self.individual in log.events.columns:
                what = f'"{self.individual}", which says whose case it is, changes within a case'
                raise InputError(what, place=source, remedy="Name the right column with --individual, or drop this one")
            return log
        role = FoundRole("individual", (self.individual,), reason)
        return replace(log, individual=self.individual, roles=(*log.roles, role))


def remembered(plain: object) -> Remembered:
    """Read what our writer left; nothing where it is not ours.

    Example:
        >>> remembered({"metadata": {"attributes": [{"key": "a"}]}}) == Remembered()
        True
    """
    try:
        if not isinstance(plain, dict) or not isinstance(plain["metadata"], dict):
            return Remembered()
        metadata = LogMetadata.from_dict(plain["metadata"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return Remembered()
    if not all(_is_sound(a) for a in (*metadata.attributes, *metadata.case_globals, *metadata.event_globals)):
        return Remembered()
    individual = plain.get("individual")
    return Remembered(metadata, individual if isinstance(individual, str) else None)


def _is_sound(attribute: Attribute) -> bool:
    fits = attribute.value is None or isinstance(attribute.value, _VALUES.get(attribute.type, ()))
    return isinstance(attribute.key, str) and attribute.type in _VALUES and fits and all(map(_is_sound, attribute.children))

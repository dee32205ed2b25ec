"""Which column was taken for what, for scripts and in one line for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from libra.keywords import ReadKeywords

if TYPE_CHECKING:
    from libra.eventlog.log import EventLog, FoundRole


def roles_of(log: EventLog) -> list[dict[str, Any]]:
    """The roles as scripts read them: columns, reason, and the flag that overrides the choice."""
    from libra.eventlog.tables.roles import FLAGS

    return [
        {"role": found.role, "columns": list(found.columns), "reason": found.reason, "flag": FLAGS[found.role]}
        for found in log.roles
    ]


def columns_taken(roles: Sequence[FoundRole], options: ReadKeywords) -> list[str]:
    """A line on the columns that play a role, where any of them was found rather than named or called as the standard has it."""
    from libra.eventlog.names import ROLE_COLUMN

    if "description" in options or all(
        found.role in options or found.columns == (ROLE_COLUMN.get(found.role),) for found in roles
    ):
        return []
    taken = ((found.role.replace("_", " "), " + ".join(f'"{name}"' for name in found.columns)) for found in roles)
    return [f"Columns taken: {', '.join(f'{role} {columns}' for role, columns in taken)}."]

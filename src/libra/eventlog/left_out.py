"""Events that could not be used and were left out: whoever only looks at a log is told when they are the most of it."""

from __future__ import annotations

from collections.abc import Iterable


class LeftOut(str):
    """A note on events that were left out; `most` if it was more than half of all, which a release with a guarantee never tells.

    Example:
        >>> LeftOut("Some events were left out.", most=True).most
        True
    """

    most: bool

    def __new__(cls, note: str, *, most: bool = False) -> LeftOut:
        """The note as people read it, and whether most events were left out."""
        made = super().__new__(cls, note)
        made.most = most
        return made


def with_loss(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes, and one more where most events were left out; not for releases, as it is computed from the cases.

    Example:
        >>> with_loss([LeftOut("Some events were left out.", most=True)])[1]
        'More than half of the events were left out. Check the columns and how times are written.'
    """
    told = tuple(notes)
    if not any(isinstance(note, LeftOut) and note.most for note in told):
        return told
    return (*told, "More than half of the events were left out. Check the columns and how times are written.")

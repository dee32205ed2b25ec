"""What a warning is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Warning:  # noqa: A001  # the word of the page; nothing is raised here
    """A warning: what it is about, what to mind, and single points where there are any. Labels in it are fit to be shown."""

    title: str
    text: str
    points: tuple[str, ...] = ()

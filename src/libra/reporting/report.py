"""A report: one page of HTML that can be saved, sent and filed, and that a notebook shows inline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from libra._system.files import atomic_output
from libra.targets import check_page_name

INLINE_HEIGHT = 720  # pixels in a notebook


@dataclass(frozen=True)
class Report:
    """A page.

    Attributes:
        title: What it is about.
        html: The whole page.
        public: Whether the original had no part in it; every other report is confidential.
        standing: How it stands with the promise: "proved" where it holds, see `libra.reporting.promise`.
        answers: The questions that its first screen answers, each with the answer.
        findings: What else is on that screen, JSON-ready.

    Example:
        >>> import tempfile
        >>> page = Path(tempfile.mkdtemp()) / "report.html"
        >>> Report("Cases", "<!DOCTYPE html>", public=True).save(page).read_text()
        '<!DOCTYPE html>'
    """

    title: str
    html: str = field(repr=False)
    public: bool
    standing: str = "unknown"
    answers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    findings: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """What the first screen says, JSON-ready."""
        said = {"title": self.title, "public": self.public, "standing": self.standing, "answers": dict(self.answers)}
        return said | dict(self.findings)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, whole or not at all.

        Returns:
            The file.
        """
        target = Path(path)
        check_page_name(target)
        with atomic_output(target) as stream:
            stream.write(self.html.encode())
        return target

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither its style nor its script touches the notebook."""
        return (
            f'<iframe title="{escape(self.title)}" width="100%" height="{INLINE_HEIGHT}" sandbox="allow-scripts" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )

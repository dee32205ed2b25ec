"""The shell of every page, and the `Report` that holds one: one HTML file that loads nothing from elsewhere.

Whatever a value holds is shown as text; only what is wrapped in `Markup` is taken as markup. The policy names the one style sheet
and the one script of the page by their hashes, so that even markup that slipped through could not run or load anything.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from libra._system.files import atomic_output
from libra._version import __version__
from libra.reporting import numbers
from libra.reporting.drawing import PALETTE, STYLE, resource
from libra.reporting.text import shown
from libra.targets import check_page_name

INLINE_HEIGHT = 720  # pixels in a notebook
POLICY = "default-src 'none'; style-src {style}; script-src {script}; img-src data:; base-uri 'none'; form-action 'none'"
PER_CENT = re.compile(r"(\d) %")


def page(template: str, *, title: str, styles: Sequence[str] = (), **values: Any) -> str:
    """Fill a template of this package with values; `styles` are style sheets beside those of all pages."""
    style = Markup("\n".join((PALETTE, STYLE, *styles, resource("style.css").strip())))  # noqa: S704  # our own files
    script = Markup(resource("script.js").strip())  # noqa: S704  # our own file
    policy = POLICY.format(style=_hash(style), script=_hash(script))
    values |= {"title": title, "style": style, "script": script, "policy": policy, "version": __version__}
    return _environment().get_template(template).render(today=datetime.now(UTC).date().isoformat(), **values)


def _unbroken(value: Any) -> Any:
    """A value as it is, but that a per cent sign stays with its number at the end of a line."""
    return PER_CENT.sub("\\1\u00a0%", value) if type(value) is str else value


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _environment() -> Environment:
    loader = PackageLoader("libra.reporting")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.finalize = _unbroken
    filters = {"safe_svg": Markup, "shown": shown, "count": numbers.count, "share": numbers.share, "day": numbers.date}
    environment.filters |= filters | {"change": lambda after, before: numbers.signed_share((after - before) / before)}
    return environment


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
        """Write the page to a file, whole or not at all; the file is returned."""
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

"""The shell of every page: one HTML file, nothing from elsewhere, and a policy that lets the browser load and run nothing else.

In: a template of this package, style sheets, and the values that the template prints. Out: the text of the page. The promise:
whatever a value holds is shown as text. Only what is wrapped in `Markup` is taken as markup, and the policy names the one style
sheet and the one script of the page by their hashes, so that even markup that slipped through could not run or load anything.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from libra._version import __version__
from libra.charts import numbers
from libra.charts.text import shown

STYLE_FILE, SCRIPT_FILE = "style.css", "script.js"
PER_CENT = re.compile(r"(\d) %")


def page(template: str, *, title: str, styles: Sequence[str] = (), **values: Any) -> str:
    """Fill a template.

    Args:
        template: Its name among the templates of this package.
        title: Of the page.
        styles: Style sheets of what is drawn on it, beside that of all pages.
        **values: What the template prints.

    Example:
        >>> made = page("shell.html", title="Figures of <b>")
        >>> "<title>Figures of &lt;b&gt;</title>" in made, "Content-Security-Policy" in made
        (True, True)
    """
    style = Markup("\n".join((*styles, _resource(STYLE_FILE))))  # noqa: S704  # our own files
    script = Markup(_resource(SCRIPT_FILE))  # noqa: S704  # our own file
    values |= {"title": title, "style": style, "script": script, "policy": policy(style, script), "version": __version__}
    return _environment().get_template(template).render(**values)


def policy(style: str, script: str) -> str:
    """The content security policy of a page with this style sheet and this script.

    Example:
        >>> policy("", "").partition(";")[0]
        "default-src 'none'"
    """
    parts = ("default-src 'none'", f"style-src {_hash(style)}", f"script-src {_hash(script)}", "img-src data:")
    return "; ".join((*parts, "base-uri 'none'", "form-action 'none'"))


def _unbroken(value: Any) -> Any:
    """A value as it is, but that a per cent sign stays with its number at the end of a line."""
    return PER_CENT.sub("\\1\u00a0%", value) if type(value) is str else value


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _resource(name: str) -> str:
    return (files("libra.reporting") / "templates" / name).read_text(encoding="utf-8").strip()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("libra.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_unbroken,
    )
    environment.filters |= {
        "safe_svg": Markup,
        "shown": shown,
        "count": numbers.count,
        "share": numbers.share,
        "number": numbers.number,
        "duration": numbers.duration,
        "day": numbers.date,
        "change": lambda after, before: numbers.signed_share((after - before) / before),
    }
    return environment

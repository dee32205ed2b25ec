"""`libra doctor`: what is installed and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from libra.cli.output import Json, people_console, print_json
from libra.cli.tables import table

if TYPE_CHECKING:
    from libra._system.doctor import Check

EXAMPLES = ("libra doctor", "libra doctor --json")


def doctor(*, as_json: Json = False) -> None:
    """Say step by step what is installed, what is missing, and how to get it."""
    from libra._system.doctor import examine

    checks = examine()
    ok = all(check.ok for check in checks if check.required)
    if as_json:
        print_json({"ok": ok, "checks": [check.to_dict() for check in checks]})
    else:
        show_checks(checks)
    if not ok:
        raise typer.Exit(1)


def show_checks(checks: Sequence[Check]) -> None:
    """One line a check, then the commands that install what is missing."""
    rows = [
        ("ok" if check.ok else "missing", check.name, check.found, check.purpose, "" if check.ok else check.remedy)
        for check in checks
    ]
    table("What Libra found", ("", "part", "found", "for", "get it with"), rows)
    lacking = [check.name for check in checks if check.required and not check.ok]
    people_console().print(f"Missing: {', '.join(lacking)}." if lacking else "Everything that is required is there.")

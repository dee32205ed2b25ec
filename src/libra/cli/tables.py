"""Tables for people, and how figures are written in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from libra.cli.output import people_console, printable


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table on stdout; `right` numbers the columns that hold figures."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(header):
        table.add_column(name, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    console = people_console()
    console.print(printable(title), style="bold")  # not as the title of the table, which is broken at the table's edge
    console.print(table)


def figure(value: float | None) -> str:
    """Four digits that count; a figure that is not defined is a dash."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == 0 else f"{value:.4g}"


def percent(share: float) -> str:
    """A share to a tenth of a percent; all and nothing are said only where they are meant.

    Example:
        >>> from libra.cli.tables import percent
        >>> percent(1 / 3), percent(1), percent(0.9999), percent(0.0001), percent(0)
        ('33.3 %', '100.0 %', 'over 99.9 %', 'under 0.1 %', '0.0 %')
    """
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    return "under 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"

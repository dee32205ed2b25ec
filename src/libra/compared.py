"""What `libra.compare` returns: the outcomes of all runs, as tables, plots and a page."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from libra.comparison import comparison as made

if TYPE_CHECKING:
    from libra.reporting.page import Report


class Comparison(made.Comparison):
    """Mechanisms side by side; all other attributes are those of `libra.comparison.comparison.Comparison`."""

    @classmethod
    def of(cls, found: made.Comparison) -> Comparison:
        """The same comparison, which can be shown."""
        return cls(**{field.name: getattr(found, field.name) for field in fields(found)})

    def _repr_markdown_(self) -> str:
        """The tables, as notebooks show them."""
        return self.to_markdown()

    def to_markdown(self) -> str:
        """A page with one table a log."""
        from libra.reporting.comparison_files import markdown

        return markdown(self)

    def to_csv(self) -> str:
        """One line a run, with a heading."""
        from libra.reporting.comparison_files import csv_text

        return csv_text(self)

    def plot(self, log: str, measure: str) -> str:
        """An SVG image of a measure against epsilon, a line for each setting."""
        from libra.reporting.curves import plot

        return plot(self, log, measure)

    def report(self) -> Report:
        """A page with charts and tables, to save as a file or to look at in a notebook."""
        from libra.reporting.comparison_page import report_of

        return report_of(self)

    def write(self, folder: str | Path) -> list[Path]:
        """Write the tables and plots into a folder, which is made where it is not there.

        Returns:
            The files that were written.
        """
        from libra.reporting.comparison_files import write

        return write(self, Path(folder))

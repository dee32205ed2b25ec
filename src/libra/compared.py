"""What `libra.compare` returns: the outcomes of all runs, as tables, plots and a page."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from libra.comparison import comparison as made
from libra.reporting import comparison_files

if TYPE_CHECKING:
    from libra.reporting.page import Report


class Comparison(made.Comparison):
    """Mechanisms side by side; all other attributes are those of `libra.comparison.comparison.Comparison`."""

    @classmethod
    def of(cls, found: made.Comparison) -> Comparison:
        """The same comparison, which can be shown."""
        return cls(**{field.name: getattr(found, field.name) for field in fields(found)})

    def _repr_markdown_(self) -> str:
        return self.to_markdown()  # as notebooks show it

    def to_markdown(self) -> str:
        """A page with one table a log."""
        return comparison_files.markdown(self)

    def to_csv(self) -> str:
        """One line a run, with a heading."""
        return comparison_files.csv_text(self)

    def plot(self, log: str, measure: str) -> str:
        """An SVG image of a measure against epsilon, a line for each setting."""
        from libra.reporting.curves import plot

        return plot(self, log, measure)

    def report(self) -> Report:
        """A page with charts and tables, to save as a file or to look at in a notebook."""
        from libra.reporting.comparison_page import report_of

        return report_of(self)

    def write(self, folder: str | Path) -> list[Path]:
        """Write the tables and plots into a folder, which is made where it is not there; returns the files written."""
        return comparison_files.write(self, Path(folder))

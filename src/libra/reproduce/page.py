"""A reproduction as Markdown: Table 1 for each setting, Table 2, and the remarks that belong to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from libra.reproduce import GAMMA, SUBSAMPLES, TABLE_2_ALPHA, B, Setting
from libra.reproduce.run import Compared, Reproduction, Row

NOT_IN_PAPER = "-"
EMPTY_LOG = "N/A"
LEGEND = (
    "Ours: mean ± standard deviation over the runs. Difference: from the paper's value. Empty log: what a log without any case "
    f"scores. {EMPTY_LOG}: the anonymized log is empty. epsilon': a Renyi figure at order alpha, as claimed, not a guarantee."
)
CONFIDENTIAL = "All distances are computed from the original logs: for a log that is not public, this page is confidential."
MACHINES = (
    "Ours are the mean seconds of anonymizing, without reading and writing files. The paper's are those of its own machine, from "
    "submitting a log to receiving the result. Machines differ, and so does what is timed: take it for an order of magnitude."
)
HEADINGS = (
    *("log", "alpha", "epsilon'", "paper"),
    *("EMD Freq", "paper", "difference", "empty log"),
    *("EMD Time", "paper", "difference", "empty log"),
)


def page(found: Reproduction) -> list[str]:
    """The lines of the page."""
    runs = f"{len(found.seeds)} runs" if len(found.seeds) > 1 else "one run"
    lines = [
        "# The tables of the paper, computed again",
        "",
        f"libra2022 with b = {B}, gamma = {GAMMA}, {SUBSAMPLES} subsamples; {runs} with seeds ({_listed(found.seeds)}).",
        LEGEND,
    ]
    for setting in found.settings:
        lines += ["", *_table_1(found, setting)]
    if TABLE_2_ALPHA in found.alphas:
        lines += ["", *_table_2(found)]
    return [*lines, "", *(f"- {remark}" for remark in (*found.remarks, *_partly_empty(found), CONFIDENTIAL))]


def table_1_row(row: Row) -> str:
    """A row of Table 1."""
    epsilons = (f"{row.renyi_epsilon:.3f}", NOT_IN_PAPER if row.printed_epsilon is None else f"{row.printed_epsilon:g}")
    return _cells(_name(row), f"{row.alpha:g}", *epsilons, *_compared(row, row.emd_freq), *_compared(row, row.emd_time))


def _table_1(found: Reproduction, setting: Setting) -> Iterator[str]:
    yield f'## Table 1, setting "{setting.name}"'
    yield ""
    yield f"{setting.meaning[0].upper()}{setting.meaning[1:]}."
    yield ""
    yield from _head(HEADINGS)
    yield from map(table_1_row, found.of_setting(setting))


def _table_2(found: Reproduction) -> Iterator[str]:
    yield f"## Table 2: seconds at alpha {TABLE_2_ALPHA}"
    yield ""
    yield MACHINES
    yield ""
    yield from _head(("log", *(setting.name for setting in found.settings), "paper"))
    columns = ([row for row in found.of_setting(setting) if row.alpha == TABLE_2_ALPHA] for setting in found.settings)
    for rows in zip(*columns, strict=True):
        printed = rows[0].printed_seconds
        ours = (f"{row.seconds:.2f}" for row in rows)
        yield _cells(_name(rows[0]), *ours, NOT_IN_PAPER if printed is None else f"{printed:g}")


def _partly_empty(found: Reproduction) -> Iterator[str]:
    for row in found.rows:
        if 0 < row.empty_runs < len(found.seeds):
            where = f'{_name(row)}, setting "{row.setting}", alpha {row.alpha:g}'
            yield f"{where}: {row.empty_runs} of {len(found.seeds)} runs gave an empty log, and count with its value."


def _compared(row: Row, figure: Compared) -> tuple[str, str, str, str]:
    ours = EMPTY_LOG if figure.mean is None else _number(figure.mean)
    if figure.mean is not None and figure.spread is not None:
        ours += f" ± {f'{figure.spread:,.0f}' if figure.mean >= 1000 else f'{figure.spread:.1f}'}"
    printed = NOT_IN_PAPER if not row.in_paper else EMPTY_LOG if figure.printed is None else f"{figure.printed:,.0f}"
    return ours, printed, _percent(figure.difference_percent), _number(figure.empty)


def _percent(difference: float | None) -> str:
    """A difference with its sign; the latter is left out where the figure rounds to zero."""
    if difference is None:
        return ""
    return f"{difference:+.1f} %" if abs(difference) >= 0.05 else "0.0 %"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


def _listed(seeds: Sequence[int]) -> str:
    consecutive = list(seeds) == list(range(seeds[0], seeds[0] + len(seeds)))
    return f"{seeds[0]} to {seeds[-1]}" if consecutive and len(seeds) > 2 else ", ".join(map(str, seeds))


def _name(row: Row) -> str:
    return row.log.replace("|", "\\|")


def _head(headings: Sequence[str]) -> tuple[str, str]:
    return _cells(*headings), _cells("---", *("---:" for _ in headings[1:]))


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"

"""The paper's tables computed again, and as Markdown: every log in every setting at every alpha, once for each seed.

In: the logs of a folder, in memory, and the settings to try. Out: a `Reproduction`, what was found beside what was printed. Same
logs, same seeds: same figures, but for the seconds. The figures are computed from the original logs: for a log that is not public
they are as confidential as the log.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from libra import reproduce as paper
from libra._system.randomness import Randomness
from libra.errors import InputError, UsageError
from libra.eventlog.files import KNOWN, format_of_name
from libra.eventlog.log import EventLog, empty_log
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, LIFECYCLE, TIMESTAMP
from libra.eventlog.options import Progress, ReadOptions, no_progress
from libra.eventlog.read import read
from libra.eventlog.select import keep_lifecycle
from libra.measures.edges import pair_edges
from libra.measures.utility import emd_freq, emd_time
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.claim import PRINTED, Libra2022Claim

ALPHAS = (2, 10, 100)
SEEDS = tuple(range(5))
Distances: TypeAlias = tuple[float, float]  # EMD Freq and EMD Time of one anonymized log


def reproduce(
    logs: Mapping[str, EventLog],
    settings: Sequence[paper.Setting] = tuple(paper.SETTINGS.values()),
    alphas: Sequence[float] = ALPHAS,
    seeds: Sequence[int] = SEEDS,
    progress: Progress = no_progress,
) -> Reproduction:
    """Anonymize each log as published and measure the result.

    Args:
        logs: By name; those of the paper are known by theirs, such as "sepsis".
        settings: The readings of the paper to try.
        alphas: The orders to try.
        seeds: One run for each.
        progress: Called with the runs done and the runs in all.

    Example:
        >>> from libra.example.simulate import simulate
        >>> found = reproduce({"emergency": simulate(cases=500)}, alphas=[10], seeds=[0, 1])
        >>> [(row.setting, row.emd_freq.mean < row.emd_freq.empty, row.in_paper) for row in found.rows]
        [('printed', True, False), ('text', True, False), ('stated', True, False)]
    """
    if not (logs and settings and alphas and seeds):
        raise UsageError("A reproduction needs at least one log, one setting, one alpha and one seed.")
    total = len(logs) * len(settings) * len(alphas) * len(seeds)
    rows: list[Row] = []
    for setting in settings:
        for name, log in logs.items():
            empty = _distances(log, empty_log(log))
            for alpha in alphas:
                mechanism = Libra2022(alpha, paper.B, paper.GAMMA, setting.delta, paper.SUBSAMPLES, setting.trace_noise)
                runs = []
                for seed in seeds:
                    runs.append(_run(log, mechanism, seed))
                    progress(len(rows) * len(seeds) + len(runs), total)
                rows.append(_row(name, setting, alpha, runs, empty))
    remarks = tuple(paper.REMARKS[paper.known_as(name)] for name in logs if paper.known_as(name) in paper.REMARKS)
    return Reproduction(tuple(settings), tuple(alphas), tuple(seeds), tuple(rows), remarks)


def _run(log: EventLog, mechanism: Libra2022, seed: int) -> tuple[Distances, bool, float]:
    """How far a run is from the original, whether it is empty, and how long it took, from a log of which nothing is known yet."""
    untouched = EventLog(log.events, log.cases)
    begin = time.perf_counter()
    released = mechanism.anonymize(untouched, Randomness(seed)).log
    seconds = time.perf_counter() - begin
    return _distances(log, released), not released.n_cases, seconds


def _distances(original: EventLog, anonymized: EventLog) -> Distances:
    edges = pair_edges(original, anonymized)
    return emd_freq(edges), emd_time(edges)


def _row(name: str, setting: paper.Setting, alpha: float, runs: Sequence[tuple[Distances, bool, float]], empty: Distances) -> Row:
    cells = paper.TABLE_1.get(paper.known_as(name), {})
    printed = cells.get(alpha, paper.Cell(None, None))
    distances, are_empty, seconds = zip(*runs, strict=True)
    shown = () if all(are_empty) else distances
    return Row(
        log=name,
        in_paper=alpha in cells,
        setting=setting.name,
        alpha=alpha,
        renyi_epsilon=Libra2022Claim(alpha, paper.B, paper.GAMMA, setting.delta, paper.SUBSAMPLES).renyi_epsilon,
        printed_epsilon=PRINTED.get(alpha),
        emd_freq=_compared([freq for freq, _ in shown], printed.emd_freq, empty[0]),
        emd_time=_compared([time for _, time in shown], printed.emd_time, empty[1]),
        empty_runs=sum(are_empty),
        seconds=statistics.fmean(seconds),
        printed_seconds=paper.TABLE_2.get(paper.known_as(name)) if alpha == paper.TABLE_2_ALPHA else None,
    )


def _compared(values: Sequence[float], printed: float | None, empty: float) -> Compared:
    mean = statistics.fmean(values) if values else None
    spread = math.sqrt(statistics.variance(values)) if len(values) > 1 else None
    return Compared(mean, spread, printed, empty)


@dataclass(frozen=True)
class Compared:
    """A measure of our runs, of the paper and of an empty log; None where all runs were empty, or the paper has no value."""

    mean: float | None
    spread: float | None
    printed: float | None
    empty: float

    @property
    def difference_percent(self) -> float | None:
        """How far our mean is from the paper's value, in percent of the latter."""
        if self.mean is None or not self.printed:
            return None
        return 100 * (self.mean - self.printed) / self.printed

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""
        return asdict(self) | {"difference_percent": self.difference_percent}


@dataclass(frozen=True)
class Row:
    """One log in one setting at one alpha, beside what the paper prints; a printed None is its "N/A" if the log is `in_paper`."""

    log: str
    in_paper: bool
    setting: str
    alpha: float
    renyi_epsilon: float
    printed_epsilon: float | None
    emd_freq: Compared
    emd_time: Compared
    empty_runs: int
    seconds: float
    printed_seconds: float | None

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""
        return asdict(self) | {"emd_freq": self.emd_freq.to_dict(), "emd_time": self.emd_time.to_dict()}


@dataclass(frozen=True)
class Reproduction:
    """All rows, what they were computed with, and what is to be said about single logs."""

    settings: tuple[paper.Setting, ...]
    alphas: tuple[float, ...]
    seeds: tuple[int, ...]
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]

    def of_setting(self, setting: paper.Setting) -> list[Row]:
        """The rows of one setting, log by log."""
        return [row for row in self.rows if row.setting == setting.name]

    def to_dict(self) -> dict[str, Any]:
        """Everything as `libra reproduce --json` prints it: no NaN, None where there is no figure."""
        return {
            "parameters": {"b": paper.B, "gamma": paper.GAMMA, "subsamples": paper.SUBSAMPLES},
            "settings": [asdict(setting) for setting in self.settings],
            "alphas": list(self.alphas),
            "seeds": list(self.seeds),
            "rows": [row.to_dict() for row in self.rows],
            "remarks": list(self.remarks),
        }


def log_files(folder: Path) -> list[Path]:
    """The files of a folder whose ending says that they are logs, by name; a .txt is taken for a word to the reader."""
    try:
        there = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    except FileNotFoundError as error:
        raise InputError("there is no such folder", place=str(folder), remedy="Check --logs") from error
    except NotADirectoryError as error:
        raise InputError("this is a file", place=str(folder), remedy="Name the folder that it is in with --logs") from error
    except (OSError, ValueError) as error:
        raise InputError("this folder cannot be read", place=str(folder), remedy="Name another one with --logs") from error
    files = [path for path in there if format_of_name(path) and ".txt" not in map(str.lower, path.suffixes)]
    if not files:
        raise InputError("there is no event log in this folder", place=str(folder), remedy=f"A log's name ends in {KNOWN}")
    _refuse_doubles(files)
    return files


def read_logs(files: Sequence[Path], progress_on: Callable[[Path], AbstractContextManager[Progress]]) -> dict[str, EventLog]:
    """The logs of these files, each under its name up to the first dot; `progress_on` shows how far the reading of one is."""
    logs = {}
    for path in files:
        with progress_on(path) as progress:
            log = read(path, ReadOptions(progress=progress, instances="events"))  # the paper counts events, not instances
        if paper.known_as(path.name) in paper.ONLY_COMPLETE and LIFECYCLE in log.events.columns:
            log = keep_lifecycle(log, ["COMPLETE"], str(path))
        events = log.events.select(CASE_INDEX, ACTIVITY, TIMESTAMP)
        bare = replace(log, events=events, cases=log.cases.select(CASE_NAME), individual=None, instances=None)
        logs[path.name.partition(".")[0]] = bare
    return logs


def _refuse_doubles(files: Sequence[Path]) -> None:
    seen: dict[str, Path] = {}
    for path in files:
        double = seen.setdefault(paper.known_as(path.name), path)
        if double != path:
            what = f"{double.name} and {path.name} would have the same name in the tables"
            raise InputError(what, place=str(path.parent), remedy="Rename one of them, or take it out")


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
        f"libra2022 with b = {paper.B}, gamma = {paper.GAMMA}, {paper.SUBSAMPLES} subsamples; "
        f"{runs} with seeds ({_listed(found.seeds)}).",
        LEGEND,
    ]
    for setting in found.settings:
        lines += ["", *_table_1(found, setting)]
    if paper.TABLE_2_ALPHA in found.alphas:
        lines += ["", *_table_2(found)]
    return [*lines, "", *(f"- {remark}" for remark in (*found.remarks, *_partly_empty(found), CONFIDENTIAL))]


def table_1_row(row: Row) -> str:
    """A row of Table 1."""
    epsilons = (f"{row.renyi_epsilon:.3f}", NOT_IN_PAPER if row.printed_epsilon is None else f"{row.printed_epsilon:g}")
    return _cells(_name(row), f"{row.alpha:g}", *epsilons, *_in_cells(row, row.emd_freq), *_in_cells(row, row.emd_time))


def _table_1(found: Reproduction, setting: paper.Setting) -> Iterator[str]:
    yield f'## Table 1, setting "{setting.name}"'
    yield ""
    yield f"{setting.meaning[0].upper()}{setting.meaning[1:]}."
    yield ""
    yield from _head(HEADINGS)
    yield from map(table_1_row, found.of_setting(setting))


def _table_2(found: Reproduction) -> Iterator[str]:
    yield f"## Table 2: seconds at alpha {paper.TABLE_2_ALPHA}"
    yield ""
    yield MACHINES
    yield ""
    yield from _head(("log", *(setting.name for setting in found.settings), "paper"))
    columns = ([row for row in found.of_setting(setting) if row.alpha == paper.TABLE_2_ALPHA] for setting in found.settings)
    for rows in zip(*columns, strict=True):
        printed = rows[0].printed_seconds
        ours = (f"{row.seconds:.2f}" for row in rows)
        yield _cells(_name(rows[0]), *ours, NOT_IN_PAPER if printed is None else f"{printed:g}")


def _partly_empty(found: Reproduction) -> Iterator[str]:
    for row in found.rows:
        if 0 < row.empty_runs < len(found.seeds):
            where = f'{_name(row)}, setting "{row.setting}", alpha {row.alpha:g}'
            yield f"{where}: {row.empty_runs} of {len(found.seeds)} runs gave an empty log, and count with its value."


def _in_cells(row: Row, figure: Compared) -> tuple[str, str, str, str]:
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

"""The comparison of docs/comparison.md: all mechanisms on the public logs, and what subsampling costs `libra`.

    python -m benchmarks.comparison [LOGS_FOLDER]

It rewrites what stands between the markers of the page, `<!-- begin: NAME -->` and `<!-- end: NAME -->`, and the plots in
docs/comparison/; the discussion around them stays. Finished runs are kept in the user's cache, so that it goes on where it was
ended. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import libra
from libra.compared import Comparison
from libra.comparison.comparison import Row
from libra.reporting.comparison_files import LEGEND, NO_TIMES, NONE, markdown_table, plots, table_of
from libra.reporting.numbers import number

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "comparison.md"
LOGS = ("bpic12", "bpic13", "bpic14f", "bpic20", "hospital", "roadtraffic", "sepsis", "urineweginfectie")
MECHANISMS = (
    *("libra", "travas", "travas:times=model", "prefix-laplace:split_budget=true"),
    *("prefix-laplace", "sacofa", "pripel", "amun", "libra2022"),
)
EPSILONS = (0.1, 1.0, 4.7)
DELTA = 1e-4
OURS = "libra"
JUDGED = {"dfg_l1": "`dfg_l1`", "edge_duration_w1_log": "edge durations (log10)"}  # what libra is to be ahead on
PLOTTED = tuple(JUDGED)
ABLATED = ("bpic12", "bpic13", "roadtraffic", "sepsis")
WAYS = ((1.0, 1), (0.5, 1), (0.2, 1), (0.1, 1), (0.05, 1), (0.5, 2), (0.2, 5), (0.1, 10), (0.05, 20))  # the rate, and how many


def main(words: Sequence[str] | None = None) -> None:
    """Run what is not yet in the cache, and rewrite the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison", description="All mechanisms on the public logs.")
    default = Path(os.environ.get("LIBRA_LOGS") or ROOT.parent / "shared" / "logs")
    parser.add_argument("folder", type=Path, nargs="?", default=default, help="where the logs are, as NAME.xes or NAME.xes.gz")
    parser.add_argument("--seeds", type=int, default=5, help="how many runs each figure is the mean of")
    parser.add_argument("--time-limit", type=float, default=300.0, help="seconds that a run may take")
    parser.add_argument("--logs", default=",".join(LOGS), help="only these")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to rewrite")
    said = parser.parse_args(words)
    logs = {name: _file(said.folder, name) for name in said.logs.split(",")}
    found = _compared(logs, MECHANISMS, said.seeds, said.time_limit)
    ways = [setting_of(rate, runs) for rate, runs in WAYS]
    ablated = _compared({name: logs[name] for name in logs if name in ABLATED}, ways, said.seeds, said.time_limit)
    folder = said.page.with_suffix("")
    folder.mkdir(exist_ok=True)
    images = plots(found, PLOTTED)
    for old in folder.glob("*.svg"):
        old.unlink()
    for name, image in images.items():
        (folder / name).write_text(image, encoding="utf-8")
    parts = {
        "setting": setting(found),
        "summary": "\n".join(summary(found)),
        "exceptions": "\n".join(exceptions(found)),
        "plots": "\n\n".join(f"![{name.removesuffix('.svg')}]({folder.name}/{name})" for name in images),
        "tables": "\n".join(tables(found)),
        "ablation": "\n".join(ablation(ablated)),
    }
    page = said.page.read_text(encoding="utf-8")
    for name, text in parts.items():
        page = replaced(page, name, text)
    said.page.write_text(page, encoding="utf-8")


def replaced(page: str, name: str, text: str) -> str:
    r"""A page with something else between two of its markers.

    Example:
        >>> print(replaced("a\n<!-- begin: x -->\nold\n<!-- end: x -->\nb", "x", "new"))
        a
        <!-- begin: x -->
        new
        <!-- end: x -->
        b
    """
    begin, end = f"<!-- begin: {name} -->\n", f"<!-- end: {name} -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found or begin in after:
        raise SystemExit(f"The page has no place for {name}, or several: {begin.strip()} … {end}")
    return f"{before}{begin}{text}\n{end}{after}"


def setting(found: Comparison) -> str:
    """What was run, in a sentence or two."""
    budgets = ", ".join(f"{epsilon:g}" for epsilon in found.epsilons)
    limits = f"at most {found.limits.seconds:g} seconds and {found.limits.gigabytes:g} GB a run"
    return f"Epsilon {budgets}; delta {found.delta:g}; {len(found.seeds)} seeds; {limits}. {LEGEND}"


def summary(found: Comparison) -> Iterator[str]:
    """For each measure that matters most, a table of logs and settings, each cell with the means at all budgets."""
    labels = list(dict.fromkeys(row.setting.label for log in found.logs for row in found.rows(log.name)))
    for measure, words in JUDGED.items():
        yield f"### {words[0].upper()}{words[1:]} at epsilon {' / '.join(f'{epsilon:g}' for epsilon in found.epsilons)}"
        yield ""
        yield _cells("log", *(f"`{label}`" for label in labels), "empty log")
        yield _cells("---", *("---:" for _ in (*labels, 1)))
        for log in found.logs:
            rows = {(row.setting.label, row.epsilon): row for row in found.rows(log.name)}
            figures = (" / ".join(_figure(rows[label, epsilon], measure) for epsilon in found.epsilons) for label in labels)
            yield _cells(log.name, *_short(figures), number(getattr(log.empty, measure)))
        yield ""
    kinds = {row.setting.label: row.guarantee for log in found.logs for row in found.rows(log.name) if row.guarantee}
    for kind in ("proved", "claimed"):
        yield f"Guarantee {kind}: {', '.join(f'`{label}`' for label in labels if kinds.get(label) == kind) or 'none'}."
        yield ""


def exceptions(found: Comparison) -> Iterator[str]:
    """Where another mechanism is ahead of ours, in each measure that matters most; or that there is no such case."""
    told = []
    for log in found.logs:
        rows = found.rows(log.name)
        for ours in (row for row in rows if row.setting.label == OURS and row.epsilon is not None):
            for measure, words in JUDGED.items():
                mine = ours.measure(measure)
                others = ((row, row.measure(measure)) for row in rows if row.epsilon == ours.epsilon and row is not ours)
                ahead = [(row, mean) for row, mean in others if mean is not None and (mine is None or mean.mean < mine.mean)]
                if ahead:
                    than = NONE if mine is None else number(mine.mean)
                    what = ", ".join(f"`{row.setting.label}` ({row.guarantee}) {number(mean.mean)}" for row, mean in ahead)
                    told.append(f"- {log.name}, epsilon {ours.epsilon:g}, {words}: {what}; `{OURS}` {than}.")
    yield from told or [f"`{OURS}` is ahead of every other mechanism in both measures, on every log and at every epsilon."]


def tables(found: Comparison) -> Iterator[str]:
    """The whole table of each log."""
    for log in found.logs:
        yield f"### {log.name}"
        yield ""
        yield from markdown_table(table_of(found, log))
        yield ""


def ablation(found: Comparison) -> Iterator[str]:
    """What subsampling costs: for each epsilon and measure a table of ways and logs, the best of each log in bold."""
    rows = {(row.log, row.setting.label, row.epsilon): row for log in found.logs for row in found.rows(log.name)}
    for epsilon in found.epsilons:
        for measure, words in JUDGED.items():
            yield f"**{words[0].upper()}{words[1:]} at a true ({epsilon:g}, {found.delta:g})**"
            yield ""
            yield _cells("gamma", "subsamples", *(log.name for log in found.logs))
            yield _cells("---:", "---:", *("---:" for _ in found.logs))
            best = {log.name: _best(rows, log.name, epsilon, measure) for log in found.logs}
            for rate, runs in WAYS:
                label = setting_of(rate, runs)
                cells = []
                for log in found.logs:
                    mean = rows[log.name, label, epsilon].measure(measure)
                    shown = NONE if mean is None else number(mean.mean)
                    cells.append(f"**{shown}**" if mean is not None and mean.mean == best[log.name] else shown)
                yield _cells(f"{rate:g}", str(runs), *cells)
            yield ""


def setting_of(rate: float, runs: int) -> str:
    """How a way to subsample is said: with public names, and without a word on subsamples where it is all cases, once."""
    return f"{OURS}:labels=public" if (rate, runs) == (1.0, 1) else f"{OURS}:labels=public:gamma={rate:g}:subsamples={runs}"


def _compared(logs: Mapping[str, Path], mechanisms: Sequence[str], seeds: int, time_limit: float) -> Comparison:
    def told(done: int, total: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done:,} of {total:,} ", end="", file=sys.stderr, flush=True)

    compared = {name: libra.read(path) for name, path in logs.items()}
    found = libra.compare(
        compared, mechanisms=mechanisms, epsilon=EPSILONS, delta=DELTA, seeds=seeds, time_limit=time_limit, progress=told
    )
    print(file=sys.stderr)
    return found


def _file(folder: Path, name: str) -> Path:
    found = sorted(folder.glob(f"{name}.xes*"))
    if not found:
        raise SystemExit(f"{folder}: there is no {name}.xes or {name}.xes.gz. Say where the logs are, or which with --logs.")
    return found[0]


def _figure(row: Row, measure: str) -> str:
    mean = row.measure(measure)
    if mean is None:
        return NO_TIMES if row.results and not row.has_times else NONE
    return number(float(f"{mean.mean:.2g}"))


def _short(figures: Iterator[str]) -> Iterator[str]:
    """Three times the same word is said once."""
    return (re.sub(r"^(.+?)(?: / \1)+$", r"\1", cell) if cell.startswith((NONE, NO_TIMES)) else cell for cell in figures)


def _best(rows: Mapping[tuple[str, str, float | None], Row], log: str, epsilon: float, measure: str) -> float | None:
    means = [rows[log, setting_of(rate, runs), epsilon].measure(measure) for rate, runs in WAYS]
    return min((mean.mean for mean in means if mean is not None), default=None)


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()

"""The functions people call: read, write, convert, inspect, anonymize, compare, audit, verify; `pairs` has measure and report.

Thin on purpose. Each takes a path, a data frame or an `EventLog`, turns keyword arguments into the options of the reader, and
hands over to the module that does the work. The command line calls the same functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, cast

from libra.errors import UsageError
from libra.eventlog.options import Progress, no_progress, stage
from libra.keywords import (
    AnonymizeKeywords,
    ReadKeywords,
    described_by,
    described_parameters,
    read_options,
    refuse_other_than_bool,
    refuse_unknown,
)
from libra.targets import check_target

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from libra.certificate.check import Verification
    from libra.compared import Comparison
    from libra.comparison.plan import Setting
    from libra.eventlog.description import Description
    from libra.eventlog.log import EventLog
    from libra.measures.audit import Audit
    from libra.measures.summary import Summary
    from libra.release import Release
    from libra.reporting.maps import ProcessMap

    SparkFrame: TypeAlias = Any  # a pyspark.sql.DataFrame: PySpark is an extra
    Source: TypeAlias = str | Path | EventLog | pl.DataFrame | pl.LazyFrame | pd.DataFrame


def read(source: Source, **keywords: Unpack[ReadKeywords]) -> EventLog:
    """Read an event log from a file (XES, CSV, TSV or Parquet, also packed), or a pandas or Polars data frame.

    `log.roles` says which column was taken for what and why, `log.notes` what else is worth knowing. Notes and errors use the
    flags of the command line: --case-id is `case_id`, --day-first is `day_first=True`, --month-first is `day_first=False`.
    A source that cannot be read is a `LibraError` that names the place and the remedy.

    Args:
        source: A path, a data frame, or an `EventLog`, which is returned as it is.
        **keywords: `case_id`, `activity` (a column or several), `timestamp`, `start_timestamp`, `lifecycle`, `resource`,
            `individual` name columns that are otherwise detected; `lifecycle_keep` keeps only these transitions;
            `instances` ("pair", "complete" or "events") says what becomes of start and complete events (docs/formats.md);
            `timestamp_format` (strftime codes, "iso" or "any"), `day_first`, `epoch_unit`, `zone`, `delimiter`, `encoding`,
            `decimal` settle what is otherwise detected; `description` (a file that `describe` proposes, or a `Description`)
            settles all of it, and what does not fit is refused; `sort_by_time` orders each case by time; `drop_invalid` leaves
            out events without a usable case id, activity or timestamp; `allow_empty` accepts a log without events; `progress` is
            called with the bytes done and the bytes in all.

    Example:
        >>> import libra, libra.example
        >>> libra.read(libra.example.path()).n_cases
        2000
    """
    from libra.eventlog import read as reader

    options = read_options(**keywords)
    with stage(options.progress, "read", source) as told:
        return reader.read(source, replace(options, progress=told))


def describe(source: Source, **keywords: Unpack[ReadKeywords]) -> Description:
    """Describe how a log is read, for `description=` of all functions that read logs; keywords as for `read`.

    What is not said is detected, and the description tells what was and why: read it, correct it, keep it beside the log.
    docs/description.md has every key; `to_toml()` writes it, `Description.read(path)` reads it.

    Example:
        >>> import libra, libra.example
        >>> found = libra.describe(libra.example.path())
        >>> found.activity, found.zone, libra.read(libra.example.path(), description=found).n_cases
        (('concept:name',), 'file', 2000)
    """
    from libra.eventlog.describe import describe as found_in

    described = described_by(keywords.get("description"))
    if described is not None:
        read(source, **(keywords | {"description": described}))  # refuses what does not fit
        return described
    given = [name for name, value in keywords.items() if value not in (None, False, []) or (name, value) == ("day_first", False)]
    options = read_options(**keywords)
    with stage(options.progress, "read", source) as told:
        return found_in(source, replace(options, progress=told), given)


def write(log: Source, path: str | Path, *, progress: Progress = no_progress) -> tuple[str, ...]:
    """Write a log to a file, whole or not at all; the name says the format. Returns notes on what that format could not keep.

    Example:
        >>> import libra, libra.example, tempfile
        >>> target = f"{tempfile.mkdtemp()}/emergency.parquet"
        >>> notes = libra.write(libra.read(libra.example.path()), target)
        >>> libra.read(target).n_cases
        2000
    """
    from libra.eventlog import write as writer

    check_target(log, path)
    made = read(log)
    with stage(progress, "write", path) as told:
        return writer.write(made, Path(path), told)


def convert(source: Source, target: str | Path, **keywords: Unpack[ReadKeywords]) -> tuple[str, ...]:
    """Read a log and write it in the format that the name of the target says; keywords as for `read`.

    Returns notes on how the log was read and on what the new format could not keep.

    Example:
        >>> import libra, libra.example, tempfile
        >>> target = f"{tempfile.mkdtemp()}/emergency.csv"
        >>> notes = libra.convert(libra.example.path(), target)
        >>> libra.read(target).n_cases
        2000
    """
    check_target(source, target)
    log = read(source, **keywords)
    return (*log.notes, *write(log, target, progress=keywords.get("progress") or no_progress))


def anonymize(
    source: Source | SparkFrame,
    *,
    mechanism: str = "libra",
    epsilon: float | None = None,
    delta: float | None = None,
    seed: int | None = None,
    engine: str | None = None,
    master: str | None = None,
    **keywords: Unpack[AnonymizeKeywords],
) -> Release:
    """Anonymize a log: `release.log`, `release.guarantee`, `release.ledger`, `release.certificate()`, `release.report()`.

    A log that cannot be read or an invalid parameter is a `LibraError`. If the content of a file leaves open how it is to be read
    (whether day or month comes first, say), that is an error for libra unless it is given.

    Args:
        source: A path, a data frame (of Polars, pandas or Spark) or an `EventLog`.
        mechanism: Its name; `libra.mechanisms()` lists all with their parameters.
        epsilon: Privacy budget epsilon; smaller is more private. Default: 1, or the mechanism's default.
        delta: Privacy parameter delta, well below one over the number of cases. Default: 1e-5, or the mechanism's default.
        seed: Makes the same draws again, for tests and benchmarks. A release with a seed is not private, and says so.
        engine: Where libra counts: "polars" in memory, "polars-streaming" in batches, for files larger than memory, or "spark"
            (docs/performance.md). Default: spark for a data frame of Spark, polars-streaming for a file that would not fit
            into memory, else polars.
        master: Where a new Spark session computes, such as "local[2]"; a session that is open already is used as it is.
        **keywords: The other parameters of the mechanism and those of `read`. For libra: `tail`, `edges`, `budget`, `labels`,
            `time_zone`, `gamma`, `subsamples`, `cases`, `most_cases`, `attributes` (names in a `description`, "all",
            or ["all", "org:resource"]),
            `resource_names` (see `libra.mechanisms.libra.Libra`). `progress` is called with the parts done and the parts in all,
            of the reading and then of the anonymizing. A `description` also says `most_cases` and whether labels are private.

    Example:
        >>> import libra, libra.example
        >>> release = libra.anonymize(libra.example.path(), epsilon=1.0, delta=1e-5)
        >>> release.guarantee.kind, release.guarantee.epsilon
        ('proved', 1.0)
    """
    from libra.releasing import released, request_of

    reading, parameters = _split("libra.anonymize", mechanism, keywords)
    asked = {"epsilon": epsilon, "delta": delta, **parameters}
    with released(request_of(source, reading, mechanism, asked, seed=seed, engine=engine, master=master)) as release:
        return release


def audit(
    source: Source,
    *,
    mechanism: str = "libra",
    epsilon: float | None = None,
    delta: float = 1e-2,
    runs: int = 10_000,
    time_limit: float = 240.0,
    processes: int = 1,
    canary: str | Sequence[str] | None = None,
    seed: int | None = None,
    **keywords: Unpack[AnonymizeKeywords],
) -> Audit:
    """Try to refute what a mechanism claims: a lower bound on its epsilon from thousands of runs with and without one case.

    The runs are on small logs made of cases of the log; docs/audit.md says how. The outcome is confidential.

    Args:
        source: A path, a pandas or Polars frame in pm4py's column convention, or an `EventLog`.
        mechanism: The name of a mechanism.
        epsilon: The claim to test. Default: 1, or what the figure that the authors state implies.
        delta: Of the claim. A tiny one cannot be tested by any number of runs.
        runs: How many in all.
        time_limit: After how many seconds to stop, whatever is done by then.
        processes: How many runs at once. More than 1 needs a script that can be imported, as with `multiprocessing`.
        canary: Which of `libra.measures.audit.NAMES` to try, one or several. Default: all.
        seed: For the same audit again.
        **keywords: Those of `read`, and the other parameters of the mechanism.

    Example:
        >>> import libra, libra.example
        >>> libra.audit(libra.example.path(), mechanism="libra2022", canary="takes very long", runs=300).refuted
        True
    """
    from libra.measures import audit as audits
    from libra.mechanisms.mechanism import mechanism as make
    from libra.mechanisms.mechanism import parameters_of

    reading, parameters = _split("libra.audit", mechanism, keywords)
    described = reading["description"] = described_by(reading.get("description"))
    known, asked = parameters_of(mechanism), {"epsilon": epsilon, "delta": delta}
    parameters = described_parameters(described, parameters, known)
    made = make(mechanism, parameters | {name: asked[name] for name in known if name in asked})
    effort = audits.Effort(runs, time_limit, processes, seed)
    log = read(source, **cast("ReadKeywords", reading))
    with stage(keywords.get("progress") or no_progress, "audit", mechanism) as told:
        found = audits.audit(log, made, lambda release: audits.implied_claim(release, epsilon, delta), effort, canary, told)
    return replace(found, notes=(*log.notes, *found.notes))


def inspect(source: Source, *, risk: bool = False, **keywords: Unpack[ReadKeywords]) -> Summary:
    """The figures of a log, its columns, its most frequent variants, and how many cases stand out; keywords as for `read`.

    With `risk=True` also how many cases somebody singles out who knows a few events of them, as `summary.risk`: confidential.
    With `individual`, a case is singled out if all cases that fit are of one individual.

    Example:
        >>> import libra, libra.example
        >>> summary = libra.inspect(libra.example.path(), risk=True)
        >>> summary.cases, summary.risk.singled_out[0].knowledge
        (2000, 'set')
    """
    from libra.measures.summary import summarize

    refuse_other_than_bool(risk=risk)
    log = read(source, **keywords)
    if not risk:
        return summarize(log)
    from libra.measures.risk import risk_of_log

    return replace(summarize(log), risk=risk_of_log(log))


def compare(
    sources: Source | Sequence[Source] | Mapping[str, Source],
    *,
    mechanisms: str | Sequence[str | Setting] | None = None,
    epsilon: float | Sequence[float] = (0.1, 1.0, 4.7),
    delta: float = 1e-4,
    seeds: int | Sequence[int] = 3,
    parameters: Mapping[str, Any] | None = None,
    time_limit: float = 300.0,
    memory_limit: float = 4.0,
    processes: int | None = None,
    cache: str | Path | bool = True,
    **keywords: Unpack[ReadKeywords],
) -> Comparison:
    """Run mechanisms on logs at several budgets, each run in a process of its own, and measure what comes out.

    Everything in the result is confidential: it compares with the originals, and the runs are seeded. The comparison has
    `rows(log)`, `to_markdown()`, `to_csv()`, `to_dict()`, `plot(log, measure)` and `write(folder)`.

    Args:
        sources: A log, several, or several by name.
        mechanisms: Such as "libra,travas" or ["libra", "libra:tail=drop"]. Default: all.
        epsilon: The budgets. `libra2022`, which takes none, gets the noise at which its releases would have it: docs/compare.md.
        delta: Of the budgets.
        seeds: How many runs of each kind, or which seeds.
        parameters: Parameters for all mechanisms that take them.
        time_limit: Seconds that a run may take.
        memory_limit: GB that a run may take.
        processes: How many runs at once. Default: one per core.
        cache: A folder for finished runs; True for the user's own, False for none.
        **keywords: Those of `read`, for all logs; `progress` is also called with the runs done and the runs in all.

    Example:
        >>> import libra, libra.example
        >>> found = libra.compare(libra.example.path(), mechanisms="libra", epsilon=[0.5, 5], seeds=1, cache=False)
        >>> weak, strong = (row.measure("dfg_l1").mean for row in found.rows("emergency"))
        >>> weak > strong
        True
    """
    from libra.compared import Comparison
    from libra.comparison.cache import Cache, user_cache
    from libra.comparison.compare import checked_processes, named
    from libra.comparison.compare import compare as run_all
    from libra.comparison.comparison import Limits
    from libra.comparison.plan import plan_of, settings_of

    refuse_unknown("libra.compare", keywords, ReadKeywords)
    limits, at_once = Limits(time_limit, memory_limit), checked_processes(processes)
    kept = None if cache is False else Cache(user_cache() if cache is True else Path(cache))
    plan = plan_of(settings_of(mechanisms, parameters), epsilon, delta, seeds)
    logs = {name: read(source, **keywords) for name, source in named(sources).items()}
    with stage(keywords.get("progress") or no_progress, "compare") as progress:
        describe_run = getattr(progress, "describe", None)

        def told(done: int, total: int, running: str) -> None:
            if describe_run is not None:
                describe_run(running)
            progress(done, total)

        return Comparison.of(run_all(logs, plan, limits, at_once, kept, told))


def process_map(
    source: Source,
    *,
    level: int | str = "main paths",
    view: Literal["frequency", "duration"] = "frequency",
    **keywords: Unpack[ReadKeywords],
) -> ProcessMap:
    """The process map of a log, which is as confidential as the log: `save` it as SVG, or let a notebook show it.

    `level` says how much of it ("overview", "main paths" or "detailed"), `view` what stands at the edges: counts, or mean
    durations. Keywords as for `read`.

    Example:
        >>> import libra, libra.example
        >>> libra.process_map(libra.example.path(), level="overview").svg().startswith("<svg")
        True
    """
    from libra.reporting.maps import process_map as draw

    return draw(read(source, **keywords), level=level, view=view)


def verify(
    certificate: str | Path, output: str | Path, *, key: str | Path | None = None, progress: Progress = no_progress
) -> Verification:
    """Check a certificate against its schema, against itself and against the released file; with a key, also its signature.

    `key` is the public key of its custodian, a file or its line of text. Without it, nothing shows who wrote the certificate:
    docs/certificate.md. A file that cannot be read, or that is no certificate, is a `LibraError`.

    Returns:
        The checks, one by one, whether all of them hold (`ok`), whether certificate and file agree (`consistent`), whether a
        proved guarantee is promised besides (`promised`), whether it is signed by the key (`signed`), and the verdict in a
        sentence.

    Example:
        >>> import libra, libra.example, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = libra.anonymize(libra.example.path()).write(f"{folder}/log.csv", certificate=f"{folder}/certificate.json")
        >>> libra.verify(f"{folder}/certificate.json", f"{folder}/log.csv").promised
        True
    """
    from libra.certificate.signing import public_key
    from libra.certificate.verify import verify as check

    for what, given in {"the certificate": certificate, "the released log": output}.items():
        if not isinstance(given, str | Path):
            found = f"libra.verify takes the paths of two files, and {what} is of type {type(given).__name__}"
            raise UsageError(f"{found}. Write both first: release.write(path, certificate=path).")
    trusted = None if key is None else public_key(key)
    with stage(progress, "read", output) as told:
        return check(Path(certificate), Path(output), told, trusted)


def _split(function: str, mechanism: str, keywords: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keywords that are about reading, and those that are parameters of the mechanism; others are a `TypeError`."""
    from libra.mechanisms.mechanism import parameters_of

    refuse_unknown(function, keywords, AnonymizeKeywords, parameters_of(mechanism))
    reading = {name: value for name, value in keywords.items() if name in ReadKeywords.__annotations__}
    return reading, {name: value for name, value in keywords.items() if name not in reading}

"""A release of the log that a command names: read into memory, or left where it lies, with progress on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from libra.cli.progress import progress_bar
from libra.cli.stopwatch import Stopwatch
from libra.keywords import ReadKeywords, read_options

if TYPE_CHECKING:
    from libra.mechanisms.mechanism import Mechanism
    from libra.mechanisms.release import Release
    from libra.origins import EngineName


@dataclass(frozen=True)
class Asked:
    """What a command was asked for: a log, how to read it, by what to anonymize it, and where."""

    log: Path
    options: ReadKeywords
    made: Mechanism
    seed: int | None
    engine: EngineName
    master: str | None
    quiet: bool


@contextmanager
def released(asked: Asked, watch: Stopwatch) -> Iterator[Release]:
    """The release; what holds raw cases beyond memory is there until the block ends, so that it can also write the log."""
    from dataclasses import replace

    from libra.eventlog.notes import refuse_open
    from libra.eventlog.read import read
    from libra.origins import SOUND, opened, release_of
    from libra.privacy.randomness import Randomness

    options, random, name = asked.options.copy(), Randomness(asked.seed), asked.log.name
    if getattr(asked.made, "accepts_empty", False):
        options["allow_empty"] = True
    if asked.engine != "polars":
        with opened(_source(asked.log), asked.engine, read_options(**options), asked.master) as beyond_memory:
            with watch.stage("anonymize"), progress_bar(f"anonymizing {name}", quiet=asked.quiet) as progress:
                release = release_of(
                    beyond_memory, asked.made, random, asked.engine, asked.master, progress, place=str(asked.log)
                )
            yield release
        return
    with watch.stage("read"), progress_bar(f"reading {name}", quiet=asked.quiet) as progress:
        log = read(asked.log, read_options(**(options | cast("ReadKeywords", {"progress": progress}))))
    if asked.made.name == SOUND:
        refuse_open(log.notes, str(asked.log))
    with watch.stage("anonymize"), progress_bar(f"anonymizing {name}", quiet=asked.quiet) as progress:
        release = asked.made.anonymize(log, random, progress)
    yield replace(release, original=log, roles=log.roles, notes=(*log.notes, *release.notes))


def _source(log: Path) -> str | Path:
    """A path, or an address as it was typed: a path keeps one slash of two."""
    from libra.origins import is_address

    scheme, _, rest = str(log).partition(":/")
    return f"{scheme}://{rest}" if is_address(log) else log

"""The process that one run has to itself: `python -m libra.comparison.child`.

In, through stdin: a line of JSON with the mechanism, its parameters and the seed, then the log. Out, on stdout: one JSON
document, a result or why there is none. The parent keeps stdin open for as long as it lives; when it ends, so does this process.
"""

from __future__ import annotations

import json
import os
import sys
from time import perf_counter
from typing import Any

from libra._system.workers import end_with_parent, peak_megabytes
from libra.errors import BrokenMechanismError, LibraError, MissingExtraError


def main() -> None:
    """Do the run that stdin asks for."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answer:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a mechanism prints is no part of the answer
        asked = sys.stdin.buffer
        job = json.loads(asked.readline() or "null")
        data = asked.read(job["size"]) if job else b""
        if not job or len(data) < job["size"]:
            os._exit(1)
        end_with_parent(job["parent"], lambda: os.read(asked.fileno(), 1))
        found = _found(job, data)
        answer.write(json.dumps(found, allow_nan=False).encode())


def _found(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    try:
        return {"result": _result(job, data)}
    except BrokenMechanismError as error:
        return _broken_by(error.__cause__ or error)
    except MissingExtraError as error:
        return _missing("failed", str(error))
    except LibraError as error:
        return _missing("refused", str(error))
    except (Exception, SystemExit) as error:  # a plug-in's mistake is a result as well
        return _broken_by(error)


def _broken_by(error: BaseException) -> dict[str, Any]:
    if isinstance(error, MemoryError):
        return _missing("memory", "it asked for more memory than there is")
    told = " ".join(str(error).split())
    return _missing("failed", f"{type(error).__name__}: {told}" if told else type(error).__name__)


def _result(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    from libra.comparison.handover import unpacked
    from libra.comparison.outcome import Result
    from libra.eventlog.options import no_progress
    from libra.measures import measure
    from libra.mechanisms.mechanism import mechanism
    from libra.privacy.randomness import Randomness

    made = mechanism(job["mechanism"], job["parameters"])
    log = unpacked(data)
    reading = peak_megabytes()
    begin = perf_counter()
    release = made.anonymize(log, Randomness(job["seed"]), no_progress)
    seconds, peak = perf_counter() - begin, peak_megabytes()
    guarantee = release.guarantee
    utility = measure(log, release.log)
    cases, times = release.log.n_cases, release.has_times
    promised = (guarantee.kind, guarantee.statement, guarantee.unit)
    return Result(utility, cases, times, seconds, peak, reading, *promised).to_dict()


def _missing(why: str, reason: str) -> dict[str, Any]:
    return {"missing": {"why": why, "reason": reason}}


if __name__ == "__main__":
    main()

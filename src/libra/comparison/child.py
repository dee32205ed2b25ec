"""The process that one run has to itself, `python -m libra.comparison.child`, and logs as bytes on their way to it.

In, through stdin: a line of JSON with the mechanism, its parameters and the seed, then the log. No copy stays in a folder.
Out, on stdout: one JSON document, a result or why there is none. When the parent ends, its end of stdin closes, and so do we.
"""

from __future__ import annotations

import json
import os
import sys
from hashlib import sha256
from io import BytesIO
from time import perf_counter
from typing import TYPE_CHECKING, Any

import polars as pl

from libra._system.randomness import Randomness
from libra._system.workers import end_with_parent, peak_megabytes
from libra.comparison.comparison import Result
from libra.errors import BrokenMechanismError, LibraError, MissingExtraError
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import unnamed
from libra.eventlog.options import no_progress
from libra.measures import measure
from libra.mechanisms.mechanism import mechanism

if TYPE_CHECKING:
    from hashlib import _Hash

SLICE = 100_000  # rows


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
        return {"result": _result(job, data).to_dict()}
    except BrokenMechanismError as error:
        why, reason = _broken_by(error.__cause__ or error)
    except LibraError as error:
        why, reason = "failed" if isinstance(error, MissingExtraError) else "refused", str(error)
    except (Exception, SystemExit) as error:  # a plug-in's mistake is a result as well
        why, reason = _broken_by(error)
    return {"missing": {"why": why, "reason": reason}}


def _broken_by(error: BaseException) -> tuple[str, str]:
    if isinstance(error, MemoryError):
        return "memory", "it asked for more memory than there is"
    told = " ".join(str(error).split())
    return "failed", f"{type(error).__name__}: {told}" if told else type(error).__name__


def _result(job: dict[str, Any], data: bytes) -> Result:
    made, log = mechanism(job["mechanism"], job["parameters"]), unpacked(data)
    reading, begin = peak_megabytes(), perf_counter()
    release = made.anonymize(log, Randomness(job["seed"]), no_progress)
    seconds, peak, promised = perf_counter() - begin, peak_megabytes(), release.guarantee
    figures = (measure(log, release.log), release.log.n_cases, release.has_times, seconds, peak, reading)
    return Result(*figures, promised.kind, promised.statement, promised.unit)


def packed(log: EventLog) -> bytes:
    """A log as bytes; `unpacked` gives it back."""
    frames = []
    for frame in (log.events, log.cases):
        stream = BytesIO()
        frame.write_ipc(stream, compression="zstd")
        frames.append(stream.getvalue())
    header = _header(log) | {"roles": [[role.role, list(role.columns), role.reason] for role in log.roles]}
    first = json.dumps(header | {"sizes": [len(frame) for frame in frames]}).encode()
    return b"\n".join((first, b"".join(frames)))


def unpacked(data: bytes) -> EventLog:
    """The log that `packed` turned into bytes; its notes stay behind."""
    first, _, rest = data.partition(b"\n")
    header = json.loads(first)
    of_events, _of_cases = header["sizes"]
    events, cases = (pl.read_ipc(BytesIO(part)) for part in (rest[:of_events], rest[of_events:]))
    return EventLog(
        events,
        cases,
        metadata=LogMetadata.from_dict(header["metadata"]),
        roles=tuple(FoundRole(role, tuple(columns), reason) for role, columns, reason in header["roles"]),
        individual=header["individual"],
        has_zone=header["has_zone"],
        instances=header.get("instances"),
    )


def content_hash(log: EventLog) -> str:
    """A SHA-256 of everything a mechanism may use of a log; names of files, and how it was read, play no part."""
    digest = sha256(json.dumps(_header(log)).encode())
    for frame in (log.events, log.cases):
        for values in frame:
            digest.update(f"\n{json.dumps(values.name)} {values.dtype} {len(values)}\n".encode())
            for begin in range(0, len(values), SLICE):
                _feed(digest, unnamed(values).slice(begin, SLICE))
    return digest.hexdigest()


def _header(log: EventLog) -> dict[str, object]:
    of_case = [name for role in log.roles if role.role == "case_id" for name in role.columns]  # pripel holds these back
    header: dict[str, object] = {
        "metadata": log.metadata.to_dict(),
        "individual": log.individual,
        "has_zone": log.has_zone,
        "case_id": of_case,
    }
    return header | ({} if log.instances is None else {"instances": log.instances})


def _feed(digest: _Hash, part: pl.Series) -> None:
    """Which values are missing, and the others: the same bytes for the same values, however Polars holds them."""
    values = part.drop_nulls()
    digest.update(part.is_null().to_numpy().tobytes())
    if values.dtype == pl.String:
        digest.update(values.str.len_bytes().to_numpy().tobytes())
        digest.update((values.str.join("").item() or "").encode())
    else:
        digest.update(values.to_physical().to_numpy().tobytes())


if __name__ == "__main__":
    main()

"""A log on its way to another process, and what tells one log from another.

In: a log as it was read. Out: bytes that hold all of it, attributes, header and individual included, or a SHA-256 of the same.
The bytes go through a pipe: no copy of a confidential log is left in a folder, whoever ends the program and however.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING

import polars as pl

from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import unnamed

if TYPE_CHECKING:
    from hashlib import _Hash

SLICE = 100_000  # rows


def packed(log: EventLog) -> bytes:
    """A log as bytes; `unpacked` gives it back.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=20)
        >>> unpacked(packed(log)).equals(log)
        True
    """
    frames = [_packed_frame(frame) for frame in (log.events, log.cases)]
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
    )


def content_hash(log: EventLog) -> str:
    """A SHA-256 of everything a mechanism may use of a log; names of files, and how it was read, play no part.

    Example:
        >>> from libra.example.simulate import simulate
        >>> content_hash(simulate(cases=20)) == content_hash(simulate(cases=20)) != content_hash(simulate(cases=21))
        True
    """
    digest = sha256(json.dumps(_header(log)).encode())
    for frame in (log.events, log.cases):
        for values in frame:
            digest.update(f"\n{json.dumps(values.name)} {values.dtype} {len(values)}\n".encode())
            for begin in range(0, len(values), SLICE):
                _feed(digest, unnamed(values).slice(begin, SLICE))
    return digest.hexdigest()


def _header(log: EventLog) -> dict[str, object]:
    of_case = [name for role in log.roles if role.role == "case_id" for name in role.columns]  # pripel holds these back
    return {"metadata": log.metadata.to_dict(), "individual": log.individual, "has_zone": log.has_zone, "case_id": of_case}


def _packed_frame(frame: pl.DataFrame) -> bytes:
    stream = BytesIO()
    frame.write_ipc(stream, compression="zstd")
    return stream.getvalue()


def _feed(digest: _Hash, part: pl.Series) -> None:
    """Which values are missing, and the others: the same bytes for the same values, however Polars holds them."""
    digest.update(part.is_null().to_numpy().tobytes())
    for data in _bytes_of(part.drop_nulls()):
        digest.update(data)


def _bytes_of(values: pl.Series) -> Iterable[bytes]:
    if values.dtype == pl.String:
        yield values.str.len_bytes().to_numpy().tobytes()
        yield (values.str.join("").item() or "").encode()
    else:
        yield values.to_physical().to_numpy().tobytes()

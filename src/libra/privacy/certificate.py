"""The certificate: a publishable file that says what was done to a log and what is promised, tied to the log by its fingerprint.

In: what a release says about itself and the file that was written. Out: one JSON file, whole or not at all. Nothing in it was
computed from the original: the fingerprint is that of the anonymized file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from libra.eventlog.files import atomic_output


def write_certificate(statement: Mapping[str, Any], released: Path, path: Path) -> None:
    """Write the certificate of a released file.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "log.csv").write_text("case,activity")
        >>> write_certificate({"mechanism": "libra2022"}, folder / "log.csv", folder / "log.json")
        >>> json.loads((folder / "log.json").read_text())["output"]["file"]
        'log.csv'
    """
    with released.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    document = dict(statement) | {"output": {"file": released.name, "sha256": fingerprint}}
    with atomic_output(path) as stream:
        stream.write((json.dumps(document, indent=2, allow_nan=False) + "\n").encode())

"""Writes the bundled example log anew: `python -m libra.example`."""

from __future__ import annotations

import gzip
from typing import BinaryIO, cast

from libra._system.files import atomic_output
from libra.eventlog.xes.write import write_xes
from libra.example import path
from libra.example.simulate import simulate

if __name__ == "__main__":
    with atomic_output(path()) as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:  # packed as small as it gets
        write_xes(simulate(), cast("BinaryIO", packed))
    print(f"Wrote {path()}.")

"""Which format and which compression a file name stands for.

The name decides (`log.csv.gz` is gzipped CSV). A file to be read whose name says nothing is recognised by its first bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from libra.errors import InputError, UsageError

Kind = Literal["xes", "csv", "tsv", "parquet"]
Compression = Literal["none", "gz", "zip"]
KINDS: dict[str, Kind] = {".xes": "xes", ".csv": "csv", ".tsv": "tsv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet"}
KNOWN = ".xes, .csv, .tsv (each also .gz or .zip) or .parquet"


@dataclass(frozen=True)
class FileFormat:
    """A format with its compression."""

    kind: Kind
    compression: Compression = "none"


def format_of_name(path: Path) -> FileFormat | None:
    """What the file name says, or None where it says nothing.

    Example:
        >>> format_of_name(Path("sepsis.xes.gz"))
        FileFormat(kind='xes', compression='gz')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    compression: Compression = "none"
    if suffixes and suffixes[-1] in (".gz", ".zip"):
        compression = "gz" if suffixes.pop() == ".gz" else "zip"
    elif suffixes and suffixes[-1] == ".xez":  # what some tools call a gzipped XES
        return FileFormat("xes", "gz")
    kind = KINDS.get(suffixes[-1]) if suffixes else None
    return FileFormat(kind, compression) if kind else None


def output_format(path: Path) -> FileFormat:
    """The format to write, from the file name; an error that lists the choices where it says none."""
    found = format_of_name(path)
    if found is None or (found.kind == "parquet" and found.compression != "none"):
        raise UsageError(f"{path.name}: cannot tell the format to write from this name. End it in {KNOWN}.")
    return found


def unknown_format(path: Path) -> InputError:
    """The error for a file that is none of ours."""
    return InputError("this is not a format Libra reads", place=str(path), remedy=f"Use a file that ends in {KNOWN}")

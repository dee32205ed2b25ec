"""A list of labels in a text file, one per line: activity names that may be released whatever the log says."""

from __future__ import annotations

from pathlib import Path

from libra.errors import InputError
from libra.eventlog.files import read_text


def labels_in(path: Path) -> tuple[str, ...]:
    r"""The labels that a file lists, in UTF-8; empty lines do not count.

    Raises:
        InputError: The file cannot be read, is not text, or lists nothing.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "labels.txt"
        >>> _ = file.write_text("Triage\n\nBlood test\n")
        >>> labels_in(file)
        ('Triage', 'Blood test')
    """
    lines = (line.removesuffix("\r") for line in read_text(path).split("\n"))
    labels = tuple(line for line in lines if line.strip())
    if not labels:
        raise InputError("the list of labels is empty", place=str(path), remedy="Write one activity name per line")
    return labels

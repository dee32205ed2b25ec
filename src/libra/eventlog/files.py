"""Files with a log in them: which format they have, and their bytes, packed or not, as a stream.

The name of a file tells its format (`log.csv.gz` is gzipped CSV); where it does not, the first bytes do. Every way in which a
file can be broken becomes an `InputError` with its name.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from zlib_ng import gzip_ng, zlib_ng

from libra._system.files import reason
from libra.errors import InputError, UsageError
from libra.eventlog.options import Progress, no_progress

if TYPE_CHECKING:
    from typing_extensions import Buffer

Kind = Literal["xes", "csv", "tsv", "parquet"]
Compression = Literal["none", "gz", "zip"]
KINDS: dict[str, Kind] = {".xes": "xes", ".csv": "csv", ".tsv": "tsv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet"}
KNOWN = ".xes, .csv, .tsv (each also .gz or .zip) or .parquet"
HEAD = 4096  # bytes that tell a format
WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
BROKEN = (zipfile.BadZipFile, zlib.error, cast("type[Exception]", zlib_ng.error), gzip.BadGzipFile, lzma.LZMAError)
GZIP_WINDOW = 31  # zlib's number for: the largest window, in gzip's form
GZIP_LEVEL = 3  # with zlib-ng: half the time of level 6 for a fifth more bytes


@dataclass(frozen=True)
class FileFormat:
    """A format with its compression."""

    kind: Kind
    compression: Compression = "none"


def format_of_name(path: Path) -> FileFormat | None:
    """What the file name says, or None where it says nothing."""
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
        raise UsageError(f"{path.name or path}: cannot tell the format to write from this name. End it in {KNOWN}.")
    return found


def input_format(path: Path) -> FileFormat:
    """The format of an existing file, by its name or else by its first bytes, or of a folder of Parquet files."""
    with _read_errors(path):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            if parquet_files(path):
                return FileFormat("parquet")
            raise InputError("this is a folder", place=str(path), remedy="Name a file in it")
        if not stat.S_ISREG(mode):
            raise InputError("this is not a regular file", place=str(path), remedy="Save the log to a file first")
        with path.open("rb") as file:
            head = file.read(HEAD)
    if not head:
        raise InputError("the file is empty", place=str(path), remedy="Export the log again")
    if path.suffix.lower() in WORKBOOKS:
        raise _workbook(path)
    found = format_of_name(path) or _format_of_content(path, head)
    if found.kind == "parquet" and found.compression != "none":
        raise InputError("Parquet is not read from a packed file", place=str(path), remedy="Unpack it first")
    return found


def read_text(path: Path) -> str:
    """The text of a small file in UTF-8, such as a list or a description."""
    with _read_errors(path):
        return path.read_text(encoding="utf-8-sig")


@contextlib.contextmanager
def _read_errors(path: Path) -> Iterator[None]:
    """What keeps a file from being read, as an error for people."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError("there is no such file", place=str(path), remedy="Check the path") from error
    except UnicodeDecodeError as error:
        raise InputError("this is not text in UTF-8", place=str(path), remedy="Save it as UTF-8") from error
    except OSError as error:
        raise _cannot_read(path, error) from error
    except ValueError as error:  # a null character in the name
        raise InputError("this is not a valid file name", place=repr(str(path)), remedy="Check the path") from error


def is_text_encoding(name: str) -> bool:
    """Whether Python knows an encoding of this name, for text."""
    try:
        return bool(getattr(codecs.lookup(name), "_is_text_encoding", True))
    except (LookupError, ValueError):
        return False


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files in a folder and its folders in the order of their names, or the one file that a path names."""
    return _files_of(path, "parquet") if path.is_dir() else [path]


def _files_of(folder: Path, kind: Kind) -> list[Path]:
    """The files of a kind in a folder and its folders, in the order of their names.

    What begins with "_" or "." is not data: that is how those who write such folders mark what is under way or done.
    """
    found = [file for file in folder.rglob("*") if (form := format_of_name(file)) and form.kind == kind and file.is_file()]
    return sorted(file for file in found if not any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts))


def csv_files(path: Path) -> list[Path]:
    """The CSV files of a folder without Parquet files; none of what is no folder."""
    try:
        return [] if not path.is_dir() or parquet_files(path) else _files_of(path, "csv")
    except (OSError, ValueError):  # a name that is too long, a null character: told by those who open it
        return []


def _format_of_content(path: Path, head: bytes) -> FileFormat:
    compression: Compression = "gz" if head.startswith(b"\x1f\x8b") else "zip" if head.startswith(b"PK") else "none"
    if compression != "none":
        with open_input(path, compression) as stream:
            head = stream.read(HEAD)
    if head.startswith(b"PAR1"):
        return FileFormat("parquet", compression)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return FileFormat("xes", compression)
    if b"\0" in head:
        raise InputError("this is not a format Libra reads", place=str(path), remedy=f"Use a file that ends in {KNOWN}")
    return FileFormat("csv", compression)


@contextlib.contextmanager
def open_input(path: Path, compression: Compression, progress: Progress = no_progress) -> Iterator[BinaryIO]:
    """The decompressed bytes of a file. Whatever breaks while they are read comes out as an `InputError`."""
    try:
        with _Counted(path, progress) as counted:
            if compression == "none":
                yield cast("BinaryIO", counted)
            elif compression == "gz":
                with gzip_ng.open(counted, "rb") as unpacked:
                    yield cast("BinaryIO", unpacked)
            else:
                with zipfile.ZipFile(counted) as archive, archive.open(_only_log(archive, path)) as member:
                    yield cast("BinaryIO", member)
    except EOFError as error:
        raise InputError("the compressed file ends early", place=str(path), remedy="Copy or export it again") from error
    except BROKEN as error:
        packing = "zip archive" if compression == "zip" else "gzip file"
        raise InputError(f"this is not an intact {packing}", place=str(path), remedy="Copy or export it again") from error
    except (RuntimeError, NotImplementedError) as error:  # zipfile's word for a password or an unknown packing
        if compression != "zip":
            raise
        raise InputError(f"the zip archive cannot be opened ({error})", place=str(path), remedy="Unzip it first") from error
    except OSError as error:
        raise _cannot_read(path, error) from error


def _only_log(archive: zipfile.ZipFile, path: Path) -> str:
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    names = [name for name in names if not PurePosixPath(name).name.startswith(".")]
    if "[Content_Types].xml" in names:
        raise _workbook(path)
    known = [name for name in names if PurePosixPath(name).suffix.lower() in KINDS]
    logs = [name for name in known if not name.lower().endswith(".txt")] or known or names  # a .txt may be a word to the reader
    if not logs:
        raise InputError("the zip archive holds no file", place=str(path), remedy="Put one log into it")
    if len(logs) > 1:
        listed = ", ".join(logs[:3]) + (", …" if len(logs) > 3 else "")
        raise InputError(f"the zip archive holds several logs ({listed})", place=str(path), remedy="Unzip it and name one")
    return logs[0]


class _Counted(io.BufferedReader):
    """A file that reports how far it has been read."""

    def __init__(self, path: Path, progress: Progress) -> None:
        super().__init__(io.FileIO(path))
        self._size, self._progress = path.stat().st_size, progress

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self._progress(self.tell(), self._size)
        return data

    def readinto(self, buffer: Buffer) -> int:
        size = super().readinto(buffer)
        self._progress(self.tell(), self._size)
        return size


@contextlib.contextmanager
def compressed(file: BinaryIO, compression: Compression, path: Path) -> Iterator[BinaryIO]:
    """A stream that packs what goes into a file. The same log gives the same bytes: no name and no time goes into the packing."""
    if compression == "gz":  # unlike the standard library's, it has nothing left to write when it is left after an error
        packer = zlib_ng.compressobj(GZIP_LEVEL, zlib_ng.DEFLATED, GZIP_WINDOW)

        def write(data: bytes) -> int:
            file.write(packer.compress(data))
            return len(data)

        yield cast("BinaryIO", SimpleNamespace(write=write))
        file.write(packer.flush())
    elif compression == "zip":
        with (
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=GZIP_LEVEL) as archive,
            archive.open(path.stem, "w", force_zip64=True) as packed,
        ):
            yield cast("BinaryIO", packed)
    else:
        yield file


def _workbook(path: Path) -> InputError:
    return InputError("this is a spreadsheet", place=str(path), remedy="Open it there and save the sheet with the log as CSV")


def _cannot_read(path: Path, error: OSError) -> InputError:
    if error.errno is None:  # what unpacking bzip2 says
        return InputError("this is not an intact file", place=str(path), remedy="Copy or export it again")
    return InputError(f"cannot be read ({reason(error)})", place=str(path), remedy="Check the path and its permissions")


def labels_in(path: Path) -> tuple[str, ...]:
    """The labels that a file lists, in UTF-8, one a line; an `InputError` where there are none."""
    labels = tuple(line.removesuffix("\r") for line in read_text(path).split("\n") if line.strip())
    if not labels:
        raise InputError("the list of labels is empty", place=str(path), remedy="Write one activity name per line")
    return labels

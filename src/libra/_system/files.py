"""Output that appears whole or not at all: a full disk, an error or an interrupt leaves nothing behind."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from libra.errors import InputError


@contextlib.contextmanager
def atomic_output(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """A stream whose bytes become the file `path` when the block ends well, and vanish when it does not.

    A private file is for its owner alone to read.
    """
    target = Path(os.path.realpath(path))
    try:
        before = target.stat() if target.exists() else None
        if before and not stat.S_ISREG(before.st_mode):
            raise InputError("this is not a file that can be written", place=str(path), remedy="Name another output file")
    except OSError as error:
        raise _cannot_write(path, error) from error
    beside = target.parent / f".libra-{secrets.token_hex(8)}.part"  # named before it is made: an interrupt cannot lose it
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if not private:
            beside.chmod(stat.S_IMODE(before.st_mode) if before else 0o666 & ~_umask())
        beside.replace(target)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _cannot_write(path: Path, error: OSError) -> InputError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return InputError("the disk is full, nothing was written", place=str(path), remedy="Free some space or write elsewhere")
    return InputError(f"cannot be written ({reason(error)})", place=str(path), remedy="Choose a folder you may write to")


def reason(error: OSError) -> str:
    """What the system says about an error, as part of a sentence."""
    return (error.strerror or str(error)).lower()

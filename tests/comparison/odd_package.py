"""A package with mechanisms that behave badly, as another project would install it."""

from __future__ import annotations

from pathlib import Path

MODULE = '''
import os, time
from dataclasses import dataclass
from typing import ClassVar

from libra.errors import UsageError
from libra.mechanisms.release import Release
from libra.privacy.guarantee import Guarantee


def release(log, name, random, **more):
    return Release(log, name, {}, Guarantee("proved", "as it is", "nobody"), random.seeded, **more)


@dataclass(frozen=True)
class Copying:
    """Gives back the log, and talks too much."""

    name: ClassVar[str] = "copying"
    epsilon: float = 1.0

    def anonymize(self, log, random, progress):
        print("{ this is no JSON")
        return release(log, self.name, random)


@dataclass(frozen=True)
class Timeless:
    name: ClassVar[str] = "timeless"
    epsilon: float = 1.0

    def anonymize(self, log, random, progress):
        return release(log, self.name, random, has_times=False)


@dataclass(frozen=True)
class Sleeping:
    name: ClassVar[str] = "sleeping"
    epsilon: float = 1.0
    seconds: float = 3600.0
    mark: str = ""

    def anonymize(self, log, random, progress):
        if self.mark:
            with open(self.mark, "a") as file:
                file.write(f"{os.getpid()}\\n")
        time.sleep(self.seconds)
        return release(log, self.name, random)


@dataclass(frozen=True)
class Forking:
    """Starts a process that holds all its pipes, and tells when it was not ended."""

    name: ClassVar[str] = "forking"
    epsilon: float = 1.0
    seconds: float = 0.0
    mark: str = ""

    def anonymize(self, log, random, progress):
        started = os.fork()
        if not started:
            time.sleep(3600)
            with open(self.mark, "a") as file:
                file.write("it woke up\\n")
            os._exit(0)
        with open(self.mark, "a") as file:
            file.write(f"{os.getpid()} {started}\\n")
        time.sleep(self.seconds)
        return release(log, self.name, random)


@dataclass(frozen=True)
class Greedy:
    """Takes a gigabyte."""

    name: ClassVar[str] = "greedy"
    epsilon: float = 1.0

    def anonymize(self, log, random, progress):
        taken = b"x" * 2**30
        time.sleep(3600)
        return release(log, self.name, random)


@dataclass(frozen=True)
class Broken:
    name: ClassVar[str] = "broken"
    epsilon: float = 1.0
    how: str = "raise"
    mark: str = ""

    def __post_init__(self):
        if self.epsilon > 100:
            raise UsageError("epsilon is too large for me.")

    def anonymize(self, log, random, progress):
        if self.mark:
            with open(self.mark, "a") as file:
                file.write(f"{os.getpid()}\\n")
        if self.how == "refuse":
            raise UsageError("This log is too large. Take another.")
        if self.how == "advise":
            raise UsageError("Ask for --epsilon 2, or for another --how.")
        if self.how == "exit":
            os._exit(7)
        if self.how == "kill":
            os.kill(os.getpid(), 9)
        raise ZeroDivisionError("oh\\nno")


@dataclass(frozen=True)
class Fixed:
    """Has no epsilon."""

    name: ClassVar[str] = "fixed"
    k: int = 5

    def anonymize(self, log, random, progress):
        return release(log, self.name, random)
'''
NAMES = ("copying", "timeless", "sleeping", "forking", "greedy", "broken", "fixed")


def install(folder: Path, version: str = "1.0") -> Path:
    """A package with these mechanisms in a folder, as pip would leave it."""
    folder.mkdir(exist_ok=True)
    (folder / "odd_mechanisms.py").write_text(MODULE, encoding="utf-8")
    information = folder / "odd_mechanisms.dist-info"
    information.mkdir(exist_ok=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: odd-mechanisms\nVersion: {version}\n", encoding="utf-8")
    entries = "".join(f"{name} = odd_mechanisms:{name.capitalize()}\n" for name in NAMES)
    (information / "entry_points.txt").write_text(f"[libra.mechanisms]\n{entries}", encoding="utf-8")
    return folder

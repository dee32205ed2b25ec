"""Mechanisms of other packages are checked when they are loaded, and what they say of themselves is never shown as proved."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from typing import Any, ClassVar

import pytest

import libra
from libra import example
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.mechanism import GROUP, Mechanism, Outside, mechanism, names, parameters_of
from libra.mechanisms.release import Release
from libra.mechanisms.travas import Travas
from libra.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Boastful:
    """Says that it proves what it does not."""

    name: ClassVar[str] = "boastful"
    epsilon: float = 0.001

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        """The log as it is."""
        del progress
        return Release(
            log, "libra", {}, Guarantee.proved(self.epsilon, 1e-9), random.seeded, ledger=Travas().anonymize(log, random).ledger
        )


@dataclass(frozen=True)
class Misnamed(Boastful):
    """Has another name than its entry point."""

    name: ClassVar[str] = "libra"


@dataclass(frozen=True)
class Forgetful(Boastful):
    """Does not say that it drew from a seed."""

    name: ClassVar[str] = "boastful"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        """The log, as if it were private."""
        return replace(super().anonymize(log, random, progress), seeded=False)


@dataclass(frozen=True)
class Silent(Boastful):
    """Gives back something else."""

    name: ClassVar[str] = "boastful"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Any:
        """The log alone."""
        return log


class Bare:
    """No dataclass."""

    name = "boastful"


Put = Callable[[str], None]


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Put:
    """Makes a class of this module the plug-in "boastful"."""

    def _put(kind: str) -> None:
        entries = [EntryPoint("boastful", f"{__name__}:{kind}", GROUP), EntryPoint("libra", f"{__name__}:{kind}", GROUP)]
        monkeypatch.setattr("libra.mechanisms.mechanism.entry_points", lambda group: entries if group == GROUP else [])

    return _put


def test_it_is_found_by_name_and_takes_its_own_parameters(put: Put) -> None:
    put("Boastful")
    assert names()[-1] == "boastful"
    assert parameters_of("boastful") == ("epsilon",)
    assert repr(mechanism("boastful", {"epsilon": 2})) == "Boastful(epsilon=2)"
    with pytest.raises(UsageError, match="boastful does not take delta"):
        mechanism("boastful", {"delta": 0.1})


def test_a_name_of_libra_stays_with_libra(put: Put) -> None:
    put("Misnamed")
    assert type(mechanism("libra", {})).__name__ == "Libra"
    assert names().count("libra") == 1


def test_nothing_of_it_is_shown_as_proved(put: Put) -> None:
    put("Boastful")
    release = libra.anonymize(example.path(), mechanism="boastful", epsilon=0.5)
    assert (release.guarantee.kind, release.guarantee.epsilon, release.ledger) == ("claimed", None, None)
    assert release.mechanism == "boastful"  # whatever it calls itself
    assert release.guarantee.statement.startswith("As claimed by its authors, and not checked by Libra: ")
    assert release.guarantee.caveats[0].startswith("The mechanism comes from another package.")
    assert release.claimed is not None
    assert release.claimed.to_dict() == {"epsilon": 0.5, "delta": 1e-9}
    assert release.certificate()["in_plain_words"].startswith("Nothing is proved")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("Misnamed", "\"boastful\" of another package calls itself 'libra': both have to agree."),
        ("Bare", '"boastful" of another package is no mechanism: it has to be a dataclass with anonymize().'),
        ("NotThere", 'The mechanism "boastful" of another package cannot be loaded'),
    ],
)
def test_what_is_no_mechanism_is_named_with_its_package(kind: str, told: str, put: Put) -> None:
    put(kind)
    with pytest.raises(UsageError) as error:
        mechanism("boastful", {})
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("kind", "told"),
    [("Forgetful", "does not say whether its draws came from a seed"), ("Silent", "returned EventLog instead")],
)
def test_what_it_gives_back_is_checked(kind: str, told: str, put: Put) -> None:
    put(kind)
    with pytest.raises(UsageError, match=told):
        libra.anonymize(example.path(), mechanism="boastful", seed=1)


def test_it_goes_to_other_processes() -> None:
    again: Mechanism = pickle.loads(pickle.dumps(Outside(Boastful(epsilon=3.0))))  # noqa: S301  # what was made a moment ago
    release = again.anonymize(libra.read(example.path()), Randomness(), no_progress)
    assert (again.name, release.guarantee.kind) == ("boastful", "claimed")

"""No test depends on chance or on how busy the machine is, unless it is asked to: `make fuzz`.

Hypothesis tries the same examples in every run and never looks at a clock. What would be drawn from the operating system comes
from a generator that each test, fixture and module finds in the same state, whatever ran before it. Processes that a test starts
draw as users do: there tests name a seed, or claim only what holds for every draw.
"""

from __future__ import annotations

import os
import random
import time
import zlib
from collections.abc import Generator
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from libra._system import randomness

PROFILE = "LIBRA_HYPOTHESIS"  # the variable that names a profile
UNTIL = "LIBRA_FUZZ_UNTIL"  # when `make fuzz` is to end, in seconds since 1970
settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fuzz", settings.get_profile("steady"), derandomize=False, max_examples=300)
settings.load_profile(os.environ.get(PROFILE, "steady"))
FUZZ = settings.get_current_profile_name() == "fuzz"


class _Draws:
    """Random bytes that are the same in every run; in a forked process those of the operating system."""

    def __init__(self) -> None:
        self.own, self.process = True, os.getpid()
        self.begin("")

    def begin(self, name: str) -> None:
        self.generator = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))

    def urandom(self, n: int) -> bytes:
        return self.generator.bytes(n) if self.own and os.getpid() == self.process else os.urandom(n)


draws = _Draws()
if not FUZZ:
    randomness.os = SimpleNamespace(urandom=draws.urandom)  # type: ignore[assignment,attr-defined]


def pytest_collectstart(collector: pytest.Collector) -> None:
    """What a module draws when it is imported."""
    draws.begin(collector.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """What a fixture draws, whichever test is the first to ask for it."""
    if fixturedef.scope == "function":
        return (yield)
    before = draws.generator
    draws.begin(f"{fixturedef.baseid}::{fixturedef.argname}[{getattr(request, 'param', '')}]")
    try:
        return (yield)
    finally:
        draws.generator = before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """What a test draws."""
    draws.begin(item.nodeid)
    draws.own = item.get_closest_marker("chance") is None
    return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Under `make fuzz` modules, and tests in them, come in another order each time: it may end before the last one."""
    if FUZZ:
        turn = random.Random(str(config.getoption("hypothesis_seed", None))).random
        of_module = {path: turn() for path in sorted({item.path for item in items})}
        items.sort(key=lambda item: (of_module[item.path], turn()))


def pytest_runtest_setup() -> None:
    """Under `make fuzz` no test begins when the time is over."""
    if time.time() > float(os.environ.get(UNTIL, "inf")):
        pytest.skip("the time is over")

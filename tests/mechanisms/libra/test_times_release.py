"""What is released about times costs what was given, and is all that the generation of times needs."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from timed import Counting, counting, office, released, traces_of_engine

from libra._system.randomness import Randomness
from libra.engines.contract import Table
from libra.eventlog.cases import Traces, traces_of
from libra.mechanisms.libra.times.generate import generate_times
from libra.mechanisms.libra.times.release import TimeFigures, release_times
from libra.privacy.gate import Gate
from libra.privacy.noise import NoisyTable


class Spending:
    """A gate that adds up what is spent."""

    def __init__(self, engine: Counting) -> None:
        self.gate, self.spent = Gate(engine, Randomness(seed=1)), 0.0  # type: ignore[arg-type]

    def look_ahead(self, *tables: Table) -> None:
        self.gate.look_ahead(*tables)

    def release(self, table: Table, mu: float) -> NoisyTable:
        self.spent += mu**2
        return self.gate.release(table, mu)


@pytest.mark.parametrize("n", [1, 10, 500, 20_000])
@pytest.mark.parametrize("mu", [0.005, 0.21, 3.0])
def test_the_squares_add_up_to_what_was_given(n: int, mu: float) -> None:
    engine = office(n)
    spending = Spending(engine)
    release_times(spending, traces_of_engine(engine), 4, mu, "UTC")  # type: ignore[arg-type]
    assert spending.spent == pytest.approx(mu**2, rel=1e-9)


def test_nothing_is_asked_for_a_control_flow_without_events() -> None:
    engine = office(100)
    figures, micros = released(engine, 0.2, traces=traces_of([]))
    assert not engine.asked
    assert len(micros) == 0
    assert TimeFigures.from_dict(json.loads(json.dumps(figures.to_dict()))).years == ()


def plainly(table: Table) -> list[object]:
    """What a table is made from, so that it can be compared."""
    values = [getattr(table, one.name) for one in fields(table)]  # type: ignore[arg-type]
    return [table.purpose, *(value.to_lists() if isinstance(value, Traces) else value for value in values)]


def test_requests_depend_on_the_raw_cases_through_noisy_tables_alone() -> None:
    """With other raw cases but the same noisy tables, the same is asked."""
    some, other = office(3000, seed=1), office(3000, seed=2)

    class Replaying:
        def __init__(self) -> None:
            self.first = True
            self.gate = Gate(some, Randomness(seed=5))  # type: ignore[arg-type]
            self.answers: list[NoisyTable] = []
            self.asked: list[list[tuple[Table, float]]] = [[], []]

        def look_ahead(self, *tables: Table) -> None:
            (some if self.first else other).count_all(tables)

        def release(self, table: Table, mu: float) -> NoisyTable:
            self.asked[0 if self.first else 1].append((table, mu))
            if self.first:
                self.answers.append(self.gate.release(table, mu))
                return self.answers[-1]
            other.count_all([table])
            return self.answers[len(self.asked[1]) - 1]

    gate = Replaying()
    release_times(gate, traces_of_engine(some), 4, 0.3, "UTC")  # type: ignore[arg-type]
    gate.first = False
    release_times(gate, traces_of_engine(some), 4, 0.3, "UTC")  # type: ignore[arg-type]
    asked, again = ([(plainly(table), mu) for table, mu in some] for some in gate.asked)
    assert asked == again
    assert len(gate.asked[0]) >= 11


def test_figures_survive_json_and_give_the_same_times_in_another_process() -> None:
    engine = office(400)
    figures, micros = released(engine, 0.5)
    plain = json.dumps({"figures": figures.to_dict(), "traces": traces_of_engine(engine).to_lists()})
    program = """
import json, sys
from libra.eventlog.cases import traces_of
from libra.mechanisms.libra.times.release import TimeFigures
from libra.mechanisms.libra.times.generate import generate_times
from libra._system.randomness import Randomness
plain = json.load(sys.stdin)
figures, traces = TimeFigures.from_dict(plain["figures"]), traces_of(plain["traces"])
print(json.dumps(generate_times(figures, traces, 4, "UTC", Randomness(seed=1001)).tolist()))
"""
    printed = subprocess.run([sys.executable, "-c", program], input=plain, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == micros.tolist()


def test_the_same_randomness_gives_the_same_times_and_another_gives_others() -> None:
    engine = office(300)
    figures, _ = released(engine, 0.5)
    traces = traces_of_engine(engine)
    one, same, other = (generate_times(figures, traces, 4, "UTC", Randomness(seed=seed)) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_edges_that_the_raw_log_never_had_do_no_harm() -> None:
    engine = counting(np.array([0, 1]), np.array([0, 10**9]), np.array([2]), 6)
    traces = Traces(np.tile(np.array([5, 4, 3, 5]), 300), np.arange(0, 1201, 4))
    _, micros = released(engine, 0.3, traces=traces)
    assert len(micros) == 1200

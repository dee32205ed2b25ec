"""What the engine for logs larger than memory draws: subsamples, kept variants, kept labels."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import libra
from libra._system.randomness import Randomness
from libra.engines.contract import CASE, FINE, Unit
from libra.engines.control_flow_tables import LabelWeights, Size
from libra.engines.polars_streaming import StreamedLog, StreamingEngine, spill
from libra.engines.sampling import KeyedSample, chosen, limit_of
from libra.errors import InputError
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import batches_of
from libra.example.simulate import simulate
from libra.privacy.gate import Gate
from libra.privacy.selection import GaussianRule

START = 1_714_982_400_000_000
CASES = 20_000


def log(rate: float = 1.0, random: Randomness | None = None) -> StreamingEngine:
    """Cases of two events far apart in the file; one label is in a single case."""
    ids = [f"case {i}" for i in range(CASES)]
    labels = ["begin"] * CASES + ["end"] * (CASES - 1) + ["rare"]
    times = pl.Series(range(START, START + 2 * CASES), dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
    frame = pl.DataFrame({"case:concept:name": ids + ids, "concept:name": labels, "time:timestamp": times})
    return StreamedLog(batches_of(frame, ReadOptions())).engine(CASE, random or Randomness(), rate)


def sizes(engine: StreamingEngine) -> list[int]:
    return [length for block in engine.store.cases() for length in block.lengths.tolist()]


@pytest.mark.parametrize("rate", [0.02, 0.5, 0.97])
def test_a_subsample_while_reading_has_whole_cases_at_its_rate_and_all_labels(rate: float) -> None:
    engine = log(rate, Randomness(seed=3))
    found = sizes(engine)
    assert set(found) == {2}, "the events of a case agree on whether it takes part"
    assert abs(len(found) - rate * CASES) < 5 * math.sqrt(rate * (1 - rate) * CASES)
    assert engine.labels == ("begin", "end", "rare"), "labels are those of the whole log"


def test_two_subsamples_are_independent() -> None:
    ids = pl.Series([f"case {i}" for i in range(40_000)])
    random = Randomness(seed=4)
    one, other = (KeyedSample.draw(0.5, random).takes(ids).to_numpy() for _ in range(2))
    assert abs((one & other).mean() - 0.25) < 0.015
    assert not np.array_equal(one, other)


def test_without_a_seed_the_key_comes_from_the_operating_system() -> None:
    one, other = (KeyedSample.draw(0.5, Randomness()) for _ in range(2))
    assert one.key != other.key
    assert len(one.key) == 32
    assert str(one.key) not in repr(one)


def test_the_limit_of_a_rate_is_exact() -> None:
    assert int(limit_of(0.1)) == int(0.1 * 2**64)
    assert int(limit_of(1.0)) == 2**64 - 1
    assert chosen(np.array([2**64 - 1], np.uint64), 1.0).tolist() == [False], "the probability is a hair less, never more"


@pytest.mark.parametrize("rate", [0.1, 0.6])
def test_a_subsample_of_what_was_read_has_whole_cases_at_its_rate(rate: float) -> None:
    found = sizes(log().subsampled(rate, Randomness(seed=5)))
    assert set(found) == {2}
    assert abs(len(found) - rate * CASES) < 5 * math.sqrt(rate * (1 - rate) * CASES)


def test_the_noise_on_variants_is_that_of_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variant passes at a threshold far below; what is on top of the true counts is the noise."""
    monkeypatch.setattr(spill, "BUCKET_EVENTS", 100)
    n, mu, scale = 4000, 0.5, 8
    frame = pl.DataFrame(
        {
            "case:concept:name": np.repeat(np.arange(n), 2),
            "concept:name": [f"label {(i * 31 + j * 7) % 101}" for i in range(n // 2) for j in range(4)],
            "time:timestamp": pl.Series(range(START, START + 2 * n)).cast(pl.Datetime("us", "UTC")),
        }
    )
    engine = StreamedLog(batches_of(frame, ReadOptions())).engine(CASE, Randomness())
    noise = []
    for seed in range(40):
        traces, noisy = engine.select_variants(GaussianRule(mu, -(10**9), scale), Randomness(seed=seed))
        true = {
            trace: count
            for block in engine.store.variants()
            for trace, count in zip(block.traces.as_bytes(), block.counts, strict=True)
        }
        assert len(traces) == len(true)
        noise += [noisy[row] - scale * true[trace] for row, trace in enumerate(traces.as_bytes())]
    assert np.std(noise) == pytest.approx(scale / mu, rel=0.05)
    assert abs(np.mean(noise)) < 5 * scale / mu / math.sqrt(len(noise))


def test_labels_of_many_cases_are_kept_and_that_of_one_is_not() -> None:
    gate = Gate(log(), Randomness(seed=1))
    assert gate.select_labels((), 0.5, 40 * FINE) == ("begin", "end")


def test_the_number_of_cases_is_that_of_the_log() -> None:
    assert log().count_all([Size()])[0].tolist() == [CASES]


def test_a_label_passes_by_what_all_buckets_have_of_it_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "BUCKET_EVENTS", 100)
    engine = log()
    assert len(engine.store) > 16
    (weights,) = engine.count_all([LabelWeights(len(engine.labels), np.zeros(0, np.int64))])
    assert 0.4 * CASES * FINE < weights[engine.labels.index("begin")] < CASES * FINE
    assert Gate(engine, Randomness(seed=1)).select_labels((), 10.0, int(0.4 * CASES * FINE)) == ("begin", "end")


@pytest.mark.parametrize("gamma", [1.0, 0.4])
@pytest.mark.parametrize("individual", [False, True])
def test_the_same_seed_gives_the_same_release(gamma: float, individual: bool) -> None:
    frame = simulate(cases=600).to_polars().with_columns((pl.col("case:concept:name").str.tail(2)).alias("person"))
    more = {"individual": "person"} if individual else {}
    one, same, other = (
        libra.anonymize(frame, engine="polars-streaming", seed=seed, gamma=gamma, delta=1e-3, epsilon=6.0, **more)  # type: ignore[arg-type]  # text
        for seed in (1, 1, 2)
    )
    assert one.log.equals(same.log)
    assert not one.log.equals(other.log)
    assert one.figures[0].to_dict() == same.figures[0].to_dict()


def test_nothing_is_left_after_closing_while_somebody_still_holds_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(spill, "HELD", 1000)
    source = StreamedLog(batches_of(simulate(cases=200).to_polars(), ReadOptions()))
    engine = source.engine(CASE, Randomness())
    assert len(list(tmp_path.iterdir())) == 2, "the cases and their traces, not what they were sorted from"
    source.close()
    assert list(tmp_path.iterdir()) == []
    assert engine.labels


def test_nothing_is_left_after_an_error_while_somebody_still_holds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(spill, "HELD", 1000)
    rows = simulate(cases=200).to_polars().with_columns(pl.int_range(pl.len()).alias("person"))
    source = StreamedLog(batches_of(rows, ReadOptions(roles=RoleNames(individual="person"))))
    with pytest.raises(InputError, match="changes within a case") as told:
        source.engine(Unit(1), Randomness())
    assert list(tmp_path.iterdir()) == []
    assert told is not None

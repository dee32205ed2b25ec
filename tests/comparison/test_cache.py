"""The cache: it serves what was found under the same conditions, and nothing else."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from libra.comparison import cache as cache_module
from libra.comparison.cache import MODULES, ROOMS, Cache, source_fingerprint, user_cache
from libra.comparison.comparison import Limits, Missing, Result
from libra.comparison.plan import Run, Setting
from libra.eventlog.log import EventLog
from libra.measures import measure
from libra.measures.within_cases import InBoth

from .odd_package import install

RUN = Run("sepsis", Setting("libra"), 1.0, 0, {"epsilon": 1.0, "delta": 1e-4})
LIMITS = Limits(300, 4)


@pytest.fixture
def result(log: EventLog) -> Result:
    return Result(measure(log, log), 120, True, 0.5, 100.0, 90.0, "proved", "a promise", "one case")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "some" / "cache")


def test_what_was_found_is_found_again(cache: Cache, result: Result) -> None:
    assert cache.found(RUN, "content", LIMITS) is None
    cache.keep(RUN, "content", result, LIMITS)
    assert cache.found(RUN, "content", Limits(1, 1)) == result
    assert cache.found(replace(RUN, log="another name"), "content", LIMITS) == result
    assert cache.trouble is None


def test_a_result_survives_json_and_one_from_before_a_figure_existed_can_be_read(result: Result) -> None:
    both: dict[str, Any] = {"path_duration_eta2": InBoth(0.5, -0.01), "pair_duration_correlation": InBoth(None, 0.25)}
    result = replace(result, utility=replace(result.utility, edge_time_share_l1=0.5, cooccurrence_slope=-0.5, **both))
    document = json.loads(json.dumps(result.to_dict()))
    assert Result.from_dict(document) == result
    for name in both:
        document["utility"].pop(name)
        assert getattr(Result.from_dict(document).utility, name) == InBoth()


@pytest.mark.parametrize(
    "other",
    [
        replace(RUN, seed=1),
        replace(RUN, parameters={"epsilon": 1.1, "delta": 1e-4}),
        replace(RUN, parameters={"epsilon": 1.0, "delta": 1e-5}),
        replace(RUN, setting=Setting("travas")),
    ],
    ids=["seed", "epsilon", "delta", "mechanism"],
)
def test_another_run_is_not_served(cache: Cache, result: Result, other: Run) -> None:
    cache.keep(RUN, "content", result, LIMITS)
    assert cache.found(other, "content", LIMITS) is None


def test_another_log_is_not_served(cache: Cache, result: Result) -> None:
    cache.keep(RUN, "content", result, LIMITS)
    assert cache.found(RUN, "other content", LIMITS) is None


def test_another_version_or_changed_code_is_not_served(cache: Cache, result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.keep(RUN, "content", result, LIMITS)
    for name, value in (("source_fingerprint", lambda: "changed"), ("__version__", "99"), ("distributions", lambda name: [])):
        with monkeypatch.context() as patch:
            patch.setattr(cache_module, name, value)
            assert Cache(cache.folder).found(RUN, "content", LIMITS) is None
    assert Cache(cache.folder).found(RUN, "content", LIMITS) == result


def test_a_limit_counts_for_runs_that_ran_into_it_only(cache: Cache) -> None:
    slow, large = replace(RUN, seed=1), replace(RUN, seed=2)
    cache.keep(slow, "content", LIMITS.exceeded("time"), LIMITS)
    cache.keep(large, "content", LIMITS.exceeded("memory"), LIMITS)
    assert cache.found(slow, "content", Limits(200, 8)) == Limits(200, 8).exceeded("time")
    assert cache.found(large, "content", Limits(600, 3)) == Limits(600, 3).exceeded("memory")
    assert cache.found(slow, "content", Limits(301, 4)) is None
    assert cache.found(large, "content", Limits(300, 5)) is None


def test_a_refusal_is_kept_and_a_failure_is_not(cache: Cache) -> None:
    refused, failed = Missing("refused", "no."), Missing("failed", "oh")
    cache.keep(RUN, "content", refused, LIMITS)
    cache.keep(replace(RUN, seed=1), "content", failed, LIMITS)
    assert cache.found(RUN, "content", LIMITS) == refused
    assert cache.found(replace(RUN, seed=1), "content", LIMITS) is None


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"form": 1}', b"[" * 100_000])
def test_a_damaged_file_is_a_run_to_do_again(cache: Cache, result: Result, damage: bytes) -> None:
    cache.keep(RUN, "content", result, LIMITS)
    (file,) = cache.folder.iterdir()
    file.write_bytes(damage)
    assert cache.found(RUN, "content", LIMITS) is None
    cache.keep(RUN, "content", result, LIMITS)
    assert cache.found(RUN, "content", LIMITS) == result


def test_a_file_of_another_run_under_this_name_is_not_served(cache: Cache, result: Result) -> None:
    cache.keep(RUN, "content", result, LIMITS)
    (file,) = cache.folder.iterdir()
    plain = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(plain | {"run": plain["run"].replace("1.0", "2.0")}), encoding="utf-8")
    assert cache.found(RUN, "content", LIMITS) is None


def test_only_the_user_sees_the_folder_and_it_holds_no_name_of_a_log(cache: Cache, result: Result) -> None:
    cache.keep(RUN, "content", result, LIMITS)
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    (file,) = cache.folder.iterdir()
    assert "sepsis" not in file.read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_only_the_user_reads_the_files_whoever_may_look_into_the_folder(cache: Cache, result: Result) -> None:
    cache.folder.mkdir(parents=True, mode=0o755)
    for seed in range(2):
        cache.keep(replace(RUN, seed=seed), "content", result, LIMITS)
    for file in cache.folder.iterdir():
        file.chmod(0o644)
    cache.keep(RUN, "content", result, LIMITS)
    cache.keep(replace(RUN, seed=2), "content", result, LIMITS)
    assert sorted(stat.S_IMODE(file.stat().st_mode) for file in cache.folder.iterdir()) == [0o600, 0o600, 0o644]
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o755


def test_a_file_that_cannot_be_put_in_its_place_leaves_nothing_beside_it(cache: Cache, result: Result) -> None:
    cache.keep(RUN, "content", result, LIMITS)
    (file,) = cache.folder.iterdir()
    file.unlink()
    file.mkdir()
    cache.keep(RUN, "content", result, LIMITS)
    assert cache.trouble is not None
    assert list(cache.folder.iterdir()) == [file]


def test_a_cache_that_cannot_be_written_is_told_and_stops_nothing(tmp_path: Path, result: Result) -> None:
    (tmp_path / "file").touch()
    cache = Cache(tmp_path / "file" / "cache")
    cache.keep(RUN, "content", result, LIMITS)
    assert cache.trouble is not None
    assert "--cache" in cache.trouble


def test_the_users_cache_is_where_the_system_wants_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache() == tmp_path / "libra" / "compare"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache() == tmp_path / ".cache" / "libra" / "compare"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert user_cache() == tmp_path / "Library" / "Caches" / "libra" / "compare"


def test_the_fingerprint_changes_with_any_file_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "libra"
    for name in (*MODULES, *(f"{room}/inner/one.py" for room in ROOMS), "cli/app.py"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("a = 1", encoding="utf-8")
    monkeypatch.setattr(cache_module, "__file__", str(home / "comparison" / "cache.py"))
    seen = {source_fingerprint()}
    (home / "cli" / "app.py").write_text("b = 2", encoding="utf-8")
    assert {source_fingerprint()} == seen
    for name in ("mechanisms/inner/one.py", "privacy/inner/two.py", "comparison/child.py"):
        (home / name).write_text("b = 2", encoding="utf-8")
        seen.add(source_fingerprint())
    assert len(seen) == 4


def test_all_code_that_a_run_loads_is_part_of_the_fingerprint() -> None:
    code = (
        "import sys, libra.comparison.child as child\n"
        "from libra.comparison.child import packed\n"
        "from libra.example.simulate import simulate\n"
        "before = set(sys.modules)\n"
        "data = packed(simulate(cases=60))\n"
        "for name in ('libra', 'libra2022', 'travas'):\n"
        "    print(child._found({'mechanism': name, 'parameters': {}, 'seed': 1}, data).keys())\n"
        "print(*(name for name in sys.modules if name.startswith('libra.')))\n"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert answer[:3] == ["dict_keys(['result'])"] * 3
    loaded = {name.removeprefix("libra.") for name in answer[3].split()}
    told = {module.removesuffix(".py").replace("/", ".") for module in MODULES}
    about_us = {"_version", "comparison", "example", "keywords"}  # what reads, prints and plans, and what made the log
    others = {name for name in loaded - told if name.split(".")[0] not in {*ROOMS, *about_us}}
    assert {name.split(".")[0] for name in loaded} >= set(ROOMS)
    assert others == set()


def test_a_plug_in_that_changes_is_not_served(odd: Path, cache: Cache, result: Result) -> None:
    itself = Run("log", Setting("copying"), 1.0, 0)
    within = Run("log", Setting("libra2022", {"anonymizer": "copying"}), 1.0, 0, {"anonymizer": "copying"})
    for run in (itself, within, RUN):
        cache.keep(run, "content", result, LIMITS)
    assert [cache.found(run, "content", LIMITS) for run in (itself, within, RUN)] == [result] * 3
    install(odd, version="1.1")
    assert [cache.found(run, "content", LIMITS) for run in (itself, within, RUN)] == [None, None, result]
    install(odd)
    assert cache.found(itself, "content", LIMITS) == result
    with (odd / "odd_mechanisms.py").open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    assert [cache.found(run, "content", LIMITS) for run in (itself, within, RUN)] == [None, None, result]


def test_many_at_once_do_not_harm_each_other(cache: Cache, result: Result) -> None:
    written = [replace(result, cases=cases) for cases in range(4)]
    together = Barrier(2 * len(written), timeout=600)

    def write(mine: Result) -> None:
        together.wait()
        for _ in range(10):
            cache.keep(RUN, "content", mine, LIMITS)

    def read(_number: int) -> list[Result | Missing | None]:
        together.wait()
        return [cache.found(RUN, "content", LIMITS) for _ in range(10)]

    cache.keep(RUN, "content", written[0], LIMITS)
    with ThreadPoolExecutor(2 * len(written)) as threads:
        writing = [threads.submit(write, mine) for mine in written]
        reading = [threads.submit(read, number) for number in range(len(written))]
        for one in writing:
            one.result()
        seen = [found for several in reading for found in several.result()]
    assert cache.trouble is None
    assert all(found in written for found in seen)
    assert cache.found(RUN, "content", LIMITS) in written
    assert [path.suffix for path in cache.folder.iterdir()] == [".json"]

"""Settings: what people write is what runs, and what cannot be meant is told before any log is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from libra.comparison.compare import named
from libra.comparison.plan import Setting, asked, is_asked, parsed_parameters, plan_of, settings_of, subsampled_laplace_scale
from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.mechanisms.mechanism import names
from libra.privacy.renyi import subsampled_laplace_epsilon


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("libra", {}),
        ("libra:tail=drop", {"tail": "drop"}),
        ("libra:gamma=0.05:subsamples=20", {"gamma": 0.05, "subsamples": 20}),
        ("libra:labels=public", {"labels": "public"}),
        ("libra:budget=control=0.7,times=0.3", {"budget": "control=0.7,times=0.3"}),
        ('libra:time_zone="+01"', {"time_zone": "+01"}),
    ],
)
def test_a_setting_is_read_as_it_was_meant(said: str, expected: dict[str, object]) -> None:
    (setting,) = settings_of(said)
    assert (setting.mechanism, dict(setting.parameters)) == ("libra", expected)


@pytest.mark.parametrize("value", [1, 0.05, True, "drop", "20", "true", "control=0.7,times=0.3"])
def test_a_label_says_the_setting_again(value: object) -> None:
    setting = Setting("libra", {"tail": value})
    (again,) = settings_of(setting.label)
    assert dict(again.parameters) == {"tail": value}
    assert again.label == setting.label


def test_the_same_mechanism_may_come_with_other_parameters_and_none_comes_twice() -> None:
    labels = [setting.label for setting in settings_of(["libra, libra:tail=drop", "libra", Setting("libra2022")])]
    assert labels == ["libra", "libra:tail=drop", "libra2022"]


def test_all_mechanisms_are_compared_where_none_is_named() -> None:
    assert tuple(setting.label for setting in settings_of(None)) == names()


def test_shared_parameters_go_to_whoever_takes_them_and_do_not_replace_what_was_said() -> None:
    found = settings_of("libra,libra:gamma=0.5,travas", {"gamma": 0.1})
    assert [dict(setting.parameters) for setting in found] == [{"gamma": 0.1}, {"gamma": 0.5}, {}]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("no-such", 'There is no mechanism "no-such"'),
        ("libra:nope=1", "libra does not take nope"),
        ("libra:tail", '"tail" is not a parameter'),
        (",", "There is no mechanism to compare"),
        ([], "There is no mechanism to compare"),
    ],
)
def test_what_cannot_be_meant_is_refused(said: str | list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        settings_of(said)


def test_a_shared_parameter_that_nobody_takes_is_refused() -> None:
    with pytest.raises(UsageError, match="None of the mechanisms takes alpha"):
        settings_of("libra,travas", {"alpha": 2})


def test_functions_cannot_be_handed_to_another_process_and_are_refused() -> None:
    with pytest.raises(UsageError, match="plain values"):
        Setting("libra2022", {"anonymizer": len})


def test_parameters_are_json_where_they_are_and_text_otherwise() -> None:
    assert parsed_parameters(["a=1", "b=x=y", "c=null", "d=1e-4"]) == {"a": 1, "b": "x=y", "c": None, "d": 1e-4}


def test_epsilon_and_delta_go_to_those_who_take_them(odd: Path) -> None:
    assert asked(Setting("libra"), 0.5, 1e-3) == {"epsilon": 0.5, "delta": 1e-3}
    assert asked(Setting("copying"), 0.5, 1e-3) == {"epsilon": 0.5}
    assert asked(Setting("libra", {"delta": 1e-6}), 0.5, 1e-3) == {"epsilon": 0.5, "delta": 1e-6}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.7])
def test_the_published_mechanism_gets_the_noise_that_would_make_its_releases_private(epsilon: float) -> None:
    scale = asked(Setting("libra2022"), epsilon, 1e-4)["b"]
    assert 0.999 * epsilon < subsampled_laplace_epsilon(scale, 0.05, 20, 1e-4) <= epsilon


def test_the_published_mechanism_gets_it_for_its_own_subsamples() -> None:
    scale = asked(Setting("libra2022", {"gamma": 0.5, "subsamples": 3}), 1.0, 1e-4)["b"]
    assert scale == subsampled_laplace_scale(1.0, 0.5, 3, 1e-4) > asked(Setting("libra2022"), 1.0, 1e-4)["b"]
    with pytest.raises(UsageError, match="follows from the log"):
        asked(Setting("libra2022", {"subsamples": "paper"}), 1.0, 1e-4)


def test_who_decides_epsilon_otherwise_is_run_once(odd: Path) -> None:
    settings = settings_of("libra:epsilon=2,libra2022:b=2,fixed,libra")
    assert [is_asked(setting) for setting in settings] == [False, False, False, True]
    plan = plan_of(settings, [0.1, 1.0], 1e-4, 1)
    assert [(setting.mechanism, epsilon) for setting, epsilon, *_ in plan.asked] == [
        ("libra", None),
        ("libra2022", None),
        ("fixed", None),
        ("libra", 0.1),
        ("libra", 1.0),
    ]


def test_the_first_seed_of_everything_comes_before_the_second_of_anything() -> None:
    runs = list(plan_of(settings_of("libra,travas"), [0.1, 1.0], 1e-4, [5, 3]).runs(["a", "b"]))
    assert [run.seed for run in runs] == [5] * 8 + [3] * 8
    assert len(set(runs)) == 16


def test_an_epsilon_that_some_mechanism_refuses_is_a_result_and_a_hopeless_setting_is_a_mistake(odd: Path) -> None:
    plan = plan_of(settings_of("broken"), [1.0, 1000.0], 1e-4, 1)
    assert [refusal for *_, refusal in plan.asked] == [None, "epsilon is too large for me."]
    with pytest.raises(UsageError, match="libra:tail=no: tail is one of"):
        plan_of(settings_of("libra:tail=no"), [1.0, 2.0], 1e-4, 1)


@pytest.mark.parametrize(
    ("epsilon", "delta", "seeds"), [(0.0, 1e-4, 1), (1.0, 1.0, 1), (1.0, 1e-4, 0), ([], 1e-4, 1), (1.0, 1e-4, [])]
)
def test_budgets_and_seeds_that_are_none_are_refused(epsilon: float, delta: float, seeds: int) -> None:
    with pytest.raises(UsageError):
        plan_of(settings_of("libra"), epsilon, delta, seeds)


def test_logs_are_called_by_their_files_and_no_two_alike(log: EventLog) -> None:
    own = "Emergency department (simulated)"
    assert list(named(["a/sepsis.xes.gz", Path("b/sepsis.csv"), log, log])) == ["a/sepsis", "b/sepsis", own, f"{own} 2"]
    assert list(named({"mine": log})) == ["mine"]
    assert list(named("x.csv")) == ["x"]
    with pytest.raises(UsageError, match="no log"):
        named([])

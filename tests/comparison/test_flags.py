"""What mechanisms say about flags of `libra anonymize` is told in words that `libra compare` takes."""

from __future__ import annotations

import pytest

from libra.comparison.plan import Setting, in_our_words, parsed_parameters, plan_of, settings_of
from libra.errors import UsageError
from libra.mechanisms.mechanism import parameters_of


@pytest.mark.parametrize(
    ("mechanism", "said", "told"),
    [
        ("sacofa", "Ask for --prune 7 or more.", "Ask for --set prune=7 or more."),
        ("sacofa", "Ask for --prune 7.", "Ask for --set prune=7."),
        ("sacofa", "Ask for --prune 0.5, or for a larger --epsilon.", "Ask for --set prune=0.5, or for a larger --epsilon."),
        ("sacofa", "Ask for a larger --prune or --epsilon.", "Ask for a larger prune or --epsilon."),
        ("sacofa", "Say --prune as a count, from 1 up.", "Say prune as a count, from 1 up."),
        ("sacofa", "Say --max-length.", "Say max_length."),
        ("travas", "Add --times model.", "Add --set times=model."),
        ("travas", "Ask for --delta 1e-05.", "Ask for --delta 1e-05."),
        ("libra2022", "which --b 1.8 or --delta 0.00052 gives", "which --set b=1.8 or --delta 0.00052 gives"),
        ("libra2022", "Ask for fewer: --subsamples N.", "Ask for fewer: --set subsamples=N."),
        ("libra2022", "Ask for --b 1e-3", "Ask for --set b=1e-3"),
        ("travas", "ask --repeats 3.", "ask --set repeats=3."),
        ("libra", "in which column they are: --individual.", "in which column they are: --individual."),
        ("libra", "Ask for --prune 7.", "Ask for --prune 7."),
        ("amun", "--guessing-advantage 0.4 (--epsilon 0.02) works.", "--set guessing_advantage=0.4 (--epsilon 0.02) works."),
    ],
)
def test_flags_become_what_can_be_said_here(mechanism: str, said: str, told: str) -> None:
    setting = Setting(mechanism)
    parameters = {"epsilon": 1.0} if "epsilon" in parameters_of(mechanism) else {}
    assert in_our_words(said, setting, parameters) == told
    assert in_our_words(told, setting, parameters) == told


def test_what_a_setting_fixes_is_not_overruled_by_a_flag_and_so_not_said_with_one() -> None:
    setting = Setting("sacofa", {"prune": 0.01, "epsilon": 1.0})
    assert in_our_words("Ask for --prune 7 or --epsilon 2.", setting, {}) == "Ask for prune=7 or epsilon=2."


def test_what_is_told_is_taken() -> None:
    told = in_our_words("Ask for --prune 7.", Setting("sacofa"), {})
    (setting,) = settings_of("sacofa", parsed_parameters([told.split()[-1].rstrip(".")]))
    assert setting.parameters == {"prune": 7}


def test_a_setting_that_cannot_be_made_is_told_in_our_words_too() -> None:
    with pytest.raises(UsageError, match=r"travas:time_zone=CET: .* Add --set times=model"):
        plan_of(settings_of("travas:time_zone=CET"), 1.0, 1e-4, 1)

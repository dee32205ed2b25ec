"""Which setting is best: only proofs are ranked, claims are called claims, and nothing is said that the figures do not carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from libra.compared import Comparison
from libra.comparison.comparison import Missing, Result
from libra.engines.contract import Unit
from libra.reporting.comparison_page import nearest_of

from .some_outcomes import comparison, result

SLOW = Missing("time", "slow")
Found = Mapping[str, Sequence[Sequence[Result | Missing]]]


def each(*figures: float) -> list[list[Result | Missing]]:
    """One proved result at each of the three budgets."""
    return [[result(figure)] for figure in figures]


def claimed(*figures: float) -> list[list[Result | Missing]]:
    """One claimed result at each budget."""
    return [[replace(result(figure), guarantee="claimed")] for figure in figures]


def on_logs(*found: Found) -> Comparison:
    """The same settings on several logs."""
    parts = [comparison(of, log=f"log {place}") for place, of in enumerate(found)]
    logs, outcomes = (tuple(one for part in parts for one in getattr(part, name)) for name in ("logs", "outcomes"))
    return replace(parts[0], logs=logs, outcomes=outcomes)


def said(found: Comparison, refuted: Sequence[str] = ()) -> list[str]:
    labels = dict.fromkeys(outcome.run.setting.label for outcome in found.outcomes)
    return nearest_of(found, {label: label for label in labels}, refuted)


def test_one_that_is_nearest_everywhere_is_named() -> None:
    assert said(comparison({"libra": each(0.5, 0.3, 0.1), "travas": each(0.6, 0.4, 0.2)})) == [
        "Among what is proved, libra is nearest to the original at every epsilon."
    ]
    both = {"libra": each(0.5, 0.3, 0.1), "travas": each(0.6, 0.4, 0.2)}
    assert said(on_logs(both, both)) == [
        "Among what is proved, libra is nearest to the original at every epsilon and on every log."
    ]


def test_where_it_depends_every_epsilon_is_told_and_those_of_which_the_same_holds_together() -> None:
    first = {"libra": each(0.5, 0.3, 0.1), "travas": each(0.6, 0.2, 0.2)}
    assert said(comparison(first)) == [
        "Among what is proved, nearest to the original is: at epsilon 0.1 and 4.7 libra; at epsilon 1 travas."
    ]
    second = {"libra": each(0.5, 0.3, 0.3), "travas": each(0.6, 0.4, 0.2)}
    third = {"libra": each(0.5, 0.1, 0.3), "travas": each(0.6, 0.4, 0.2)}
    assert said(on_logs(first, second, third)) == [
        "Among what is proved, nearest to the original is: at epsilon 0.1 libra on 3 of 3 logs; "
        "at epsilon 1 libra on 2 of 3 logs and travas on 1; at epsilon 4.7 travas on 2 of 3 logs and libra on 1."
    ]


def test_epsilons_are_told_from_the_smallest() -> None:
    found = comparison({"libra": each(0.5, 0.3, 0.1), "travas": each(0.4, 0.2, 0.2)})
    assert said(replace(found, epsilons=(4.7, 0.1, 1.0))) == [
        "Among what is proved, nearest to the original is: at epsilon 0.1 and 1 travas; at epsilon 4.7 libra."
    ]


def test_the_mean_over_the_seeds_decides() -> None:
    found = comparison({"libra": [[result(0.1), result(0.7)]], "travas": [[result(0.3), result(0.3)]]})
    assert said(replace(found, epsilons=(0.1,)))[0] == "Among what is proved, travas is nearest to the original at every epsilon."


def test_what_looks_equal_is_a_tie() -> None:
    alike = {"libra": each(0.5, 0.30001, 0.1), "travas": each(0.6, 0.30002, 0.2)}
    assert said(comparison(alike)) == [
        "Among what is proved, nearest to the original is: at epsilon 0.1 and 4.7 libra; at epsilon 1 libra and travas alike."
    ]
    assert said(on_logs(alike, {"libra": each(0.5, 0.4, 0.1), "travas": each(0.6, 0.3, 0.2)})) == [
        "Among what is proved, nearest to the original is: at epsilon 0.1 and 4.7 libra on 2 of 2 logs; "
        "at epsilon 1 travas on 2 of 2 logs and libra on 1. Those that are alike count both."
    ]


def test_a_claim_that_is_ahead_is_called_a_claim_and_does_not_win() -> None:
    found = {"libra": each(0.5, 0.3, 0.1), "travas": each(0.6, 0.4, 0.2), "libra2022": claimed(0.2, 0.2, 0.3)}
    answer, claim = said(comparison(found))
    assert answer == "Among what is proved, libra is nearest to the original at every epsilon."
    assert claim == "libra2022 is nearer still at epsilon 0.1 and 1, but claimed, not proved, so its epsilon is not comparable."
    behind = found | {"libra2022": claimed(0.2, 0.4, 0.3)}
    assert said(on_logs(found, behind), ["libra2022"])[1:] == [
        "libra2022 is nearer still at epsilon 0.1 on 2 of 2 logs and at epsilon 1 on 1, but claimed, not proved, "
        "so its epsilon is not comparable.",
        "An audit refuted what is promised of libra2022.",
    ]


def test_a_claim_that_is_behind_is_not_mentioned_unless_it_was_refuted() -> None:
    found = comparison({"libra": each(0.5, 0.3, 0.1), "travas": each(0.6, 0.4, 0.2), "libra2022": claimed(0.8, 0.8, 0.8)})
    assert len(said(found)) == 1
    assert said(found, ["libra2022"])[1:] == ["An audit refuted what is promised of libra2022."]


def test_a_claim_with_a_privacy_of_its_own_is_compared_at_every_epsilon() -> None:
    found = comparison({"libra": each(0.5, 0.3, 0.1), "travas": each(0.6, 0.4, 0.2), "libra2022:b=2": claimed(0.2)})
    assert said(found)[1].startswith("libra2022:b=2 is nearer still at epsilon 0.1 and 1, but claimed")


def test_a_proof_that_an_audit_refuted_is_none() -> None:
    found = comparison({"libra": each(0.5, 0.3, 0.1), "travas": each(0.1, 0.1, 0.05)})
    assert said(found, ["travas"]) == [
        "Only libra is proved here, so there is nothing to rank it with.",
        "travas is nearer still at epsilon 0.1, 1 and 4.7, but refuted, so its epsilon is not comparable.",
        "An audit refuted what is promised of travas.",
    ]


def test_without_a_proof_there_is_no_best() -> None:
    assert said(comparison({"libra2022": claimed(0.1, 0.1, 0.1)})) == [
        "Nothing here is proved, so there is no best: a claimed epsilon is not a guarantee."
    ]


def test_without_a_result_there_is_no_best() -> None:
    assert said(comparison({"libra": [[SLOW]] * 3})) == ["No run gave a result, so there is no best."]


def test_what_lacks_a_run_is_not_ranked_there() -> None:
    found = comparison({"libra": [[result(0.5)] * 2] * 3, "travas": [[result(0.1), SLOW], [SLOW] * 2, [result(0.3)] * 2]})
    assert said(found) == [
        "Among what is proved, nearest to the original is: at epsilon 0.1 and 1 libra; at epsilon 4.7 travas.",
        "Not ranked where a run gave no result: travas.",
    ]
    nobody = comparison({"libra": [[SLOW], [result(0.3)], [result(0.2)]], "travas": [[SLOW], [result(0.4)], [result(0.4)]]})
    assert (
        said(nobody)[0]
        == "Among what is proved, nearest to the original is: at epsilon 0.1 no result; at epsilon 1 and 4.7 libra."
    )


def test_what_is_no_better_than_an_empty_log_wins_nothing() -> None:
    found = {"libra": each(1.0, 0.3, 0.1), "travas": each(1.3, 0.4, 0.2), "libra2022": claimed(1.0, 0.9, 0.9)}
    assert said(comparison(found)) == [
        "Among what is proved, nearest to the original is: at epsilon 0.1 nothing that beats an empty log; "
        "at epsilon 1 and 4.7 libra."
    ]
    ahead = found | {"libra2022": claimed(1.1, 0.9, 0.9)}  # of what is proved, yet behind an empty log
    assert len(said(comparison(ahead | {"libra": each(1.2, 0.3, 0.1)}))) == 1
    assert said(on_logs(found, found | {"libra": each(0.9, 0.3, 0.1)}))[0] == (
        "Among what is proved, nearest to the original is: at epsilon 0.1 libra on 1 of 2 logs and nothing that beats an "
        "empty log on 1; at epsilon 1 and 4.7 libra on 2 of 2 logs."
    )


def test_one_proof_alone_is_not_called_the_best() -> None:
    assert said(comparison({"libra": each(0.5, 0.3, 0.1)})) == ["Only libra is proved here, so there is nothing to rank it with."]


def test_an_epsilon_that_is_part_of_the_setting_is_not_ranked() -> None:
    assert said(comparison({"libra:epsilon=2": each(0.1), "travas": each(0.5, 0.4, 0.3)})) == [
        "Only travas is proved here, so there is nothing to rank it with.",
        "Not ranked, since epsilon is part of the setting: libra:epsilon=2.",
    ]
    assert said(comparison({"libra:epsilon=2": each(0.1)}))[0] == (
        "Nothing that is proved was asked at these epsilons, so there is no best."
    )


def test_promises_that_differ_are_told() -> None:
    person = [[result(figure, unit=Unit(most_cases=1))] for figure in (0.6, 0.4, 0.2)]
    assert said(comparison({"libra": each(0.5, 0.3, 0.1), "travas": person}))[1:] == [
        "What is proved is not the same for all: they differ in whom they protect."
    ]
    assert said(comparison({"libra": each(0.5, 0.3, 0.1), "libra:delta=0.1": each(0.4, 0.2, 0.1)}))[-1] == (
        "What is proved is not the same for all: they differ in their delta."
    )

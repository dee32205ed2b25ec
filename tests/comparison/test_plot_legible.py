"""Plots that can be read: names and lines that differ, even without colours, leaders to names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from libra.comparison.plan import Setting, settings_of
from libra.reporting.curves import LONGEST_LABEL, labels_of
from libra.reporting.drawing import DASHES, MARKS

from .some_outcomes import comparison, result

SVG = "{http://www.w3.org/2000/svg}"
LONG = "libra:labels=public:gamma=0.05:subsamples=20:tail="


def _labels(*said: str) -> list[list[str]]:
    return labels_of(settings_of(",".join(said)))


def test_settings_that_differ_late_have_different_names() -> None:
    assert _labels(f"{LONG}drop", f"{LONG}nearest") == [["libra:…:tail=drop"], ["libra:…:tail=nearest"]]


def test_nothing_is_left_out_where_a_mechanism_is_alone_or_its_settings_share_nothing() -> None:
    alone, *_ = _labels(f"{LONG}drop", "travas")
    beside, *_ = _labels(f"{LONG}drop", "libra")
    assert "".join(alone) == "".join(beside) == f"{LONG}drop"
    assert max(map(len, alone)) <= LONGEST_LABEL


values = st.one_of(st.booleans(), st.integers(), st.text(max_size=80))
parameters = st.dictionaries(st.sampled_from(["tail", "budget", "gamma", "cases"]), values, max_size=4)


@given(st.lists(st.builds(Setting, st.sampled_from(["libra"]), parameters), max_size=6, unique_by=lambda one: one.label))
def test_no_two_settings_are_called_alike_and_every_line_has_room(settings: Sequence[Setting]) -> None:
    labels = labels_of(settings)
    assert len({"".join(lines) for lines in labels}) == len(settings)
    assert all(0 < len(line) <= LONGEST_LABEL for lines in labels for line in lines)
    assert all(lines[0].startswith("libra") for lines in labels)


def test_lines_differ_in_mark_or_dashes_and_their_names_have_the_same_mark() -> None:
    many = [f"libra:gamma=0.{place + 10}" for place in range(len(DASHES) * len(MARKS))]
    image = ElementTree.fromstring(comparison({name: [[result(0.5)]] * 3 for name in many}).plot("sepsis", "dfg_l1"))
    looks = set()
    for line in image.findall(f"{SVG}g"):
        marks = {mark.attrib["d"] for mark in line.iter(f"{SVG}path") if mark.get("transform")}
        assert len(marks) == 1
        assert len(line.findall(f"{SVG}path[@transform]")) == len(line.findall(f"{SVG}path[{SVG}title]")) + 1
        looks.add((line[0].get("stroke-dasharray"), marks.pop()))
    assert len(looks) == len(many)


def test_the_whole_setting_is_told_where_its_name_is_shortened() -> None:
    found = comparison({f"{LONG}drop": [[result(0.5)]], f"{LONG}nearest": [[result(0.4)]]})
    image = ElementTree.fromstring(found.plot("sepsis", "dfg_l1"))
    assert [title.text for title in image.findall(f"{SVG}g/{SVG}title")] == [f"{LONG}drop", f"{LONG}nearest"]


def test_a_leader_goes_from_the_line_of_the_empty_log_to_its_name() -> None:
    found = comparison({name: [[result(0.99)]] * 3 for name in ("libra", "travas", "libra2022", "amun")})
    image = ElementTree.fromstring(found.plot("sepsis", "dfg_l1"))
    (line,), (leader,) = (image.findall(f"{SVG}path[@class='lc-{look}']") for look in ("reference", "leader"))
    (name,) = (float(text.attrib["y"]) for text in image.iter(f"{SVG}text") if text.text == "empty log, 1")
    begin = re.fullmatch(r"M\d+ (\S+)H(\d+)", line.attrib["d"])
    way = re.fullmatch(r"M(\d+) (\S+)L\d+ (\S+?)h6h12", leader.attrib["d"])
    assert begin is not None
    assert way is not None
    assert way.groups() == (begin[2], begin[1], f"{name - 4:g}")


def test_a_setting_without_epsilon_shows_its_spread_too() -> None:
    image = comparison({"libra2022:b=2": [[result(0.2), result(0.4)]]}).plot("sepsis", "dfg_l1")
    assert len(re.findall(r'stroke-width="1" d="M\S+ [\d.]+V', image)) == 1

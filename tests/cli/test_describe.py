"""`libra describe`, and `--description` on every command that reads logs."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

import libra
from libra.eventlog.attributes import Attribute
from libra.eventlog.classify import Role
from libra.eventlog.description import KEYS, Description

from .conftest import TABLE, Run

VISITS = """Patient;Visit;Step;Done at;Ward
P-017;1;Triage;06.05.2024 08:14;A
P-017;1;Blood test;06.05.2024 08:52;A
P-023;1;Triage;06.05.2024 09:03;B
"""
COLUMNS = ("--case-id", "Patient", "--case-id", "Visit", "--activity", "Step", "--timestamp", "Done at")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    file = tmp_path / "visits.csv"
    file.write_text(VISITS, encoding="utf-8")
    return file


@pytest.fixture
def described(visits: Path, run: Run) -> Path:
    target = visits.parent / "log.toml"
    assert run("describe", visits, *COLUMNS, "--day-first", "-o", target).code == 0
    return target


def test_it_is_printed_or_written(visits: Path, run: Run) -> None:
    printed = run("describe", visits, *COLUMNS)
    why = 'no date in "Done at" shows whether day or month comes first'
    assert (printed.code, printed.err) == (
        0,
        f"note: timestamp_format is commented out: {why}. Settle it before the log is read.\n",
    )
    target = visits.parent / "log.toml"
    written = run("describe", visits, *COLUMNS, "-o", target)
    assert written.code == 0
    assert target.read_text(encoding="utf-8") == printed.out
    assert f"anonymize {visits} -o OUT --description {target}" in written.out
    assert f'\n# timestamp_format = "%d.%m.%Y %H:%M"  # CHECK THIS: {why}; remove the first # if this is right\n' in printed.out
    settled = run("describe", visits, *COLUMNS, "--day-first")
    assert settled.err == ""
    assert '\ntimestamp_format = "%d.%m.%Y %H:%M"  # detected by content' in settled.out


def test_a_release_by_a_description_with_a_guess_is_refused(visits: Path, run: Run) -> None:
    target, out = visits.parent / "log.toml", visits.parent / "out.csv"
    run("describe", visits, *COLUMNS, "-o", target)
    for engine in ("polars", "polars-streaming"):
        refused = run("anonymize", visits, "-o", out, "--description", target, "--engine", engine)
        assert refused.code == 3
        assert refused.err.startswith(f"libra: {target}, line 24: timestamp_format is open: no date in ")
        assert "Remove the # before timestamp_format if its line is right" in refused.err
    assert not out.exists()
    text = target.read_text(encoding="utf-8").replace("# timestamp_format", "timestamp_format")
    target.write_text(text, encoding="utf-8")
    assert run("anonymize", visits, "-o", out, "--description", target).code == 0


def test_it_appears_whole_or_not_at_all(visits: Path, run: Run) -> None:
    target = visits.parent / "log.toml"
    assert run("describe", visits, "--activity", "nothing", "-o", target).code == 3
    assert not target.exists()
    assert run("describe", visits, "-o", visits).code == 2
    assert run("describe", visits, "-o", visits.parent / "no" / "log.toml").code == 3
    assert sorted(file.name for file in visits.parent.iterdir()) == ["visits.csv"]


def test_a_description_that_is_there_is_not_replaced(visits: Path, described: Path, run: Run) -> None:
    before = described.read_bytes()
    answer = run("describe", visits, *COLUMNS, "-o", described)
    assert answer.code == 3
    assert answer.err == (
        f"libra: {described}: this file already exists and may have been edited. Name another file, or remove this one first.\n"
    )
    assert described.read_bytes() == before


def test_it_speaks_json(visits: Path, run: Run) -> None:
    document = json.loads(run("describe", visits, *COLUMNS, "--json").out)
    assert document["case_id"] == ["Patient", "Visit"]
    assert document["reasons"]["activity"] == "given by --activity"
    assert document["output"] is None
    assert document["open"] == {"timestamp_format": "%d.%m.%Y %H:%M"}
    assert "timestamp_format" not in document
    assert set(document) - {"reasons", "output", "open"} <= set(KEYS)


def test_every_command_that_reads_logs_takes_it(visits: Path, described: Path, run: Run) -> None:
    folder = visits.parent
    assert run("convert", visits, folder / "clean.csv", "--description", described).code == 0
    assert libra.read(folder / "clean.csv").n_cases == 2
    inspected = run("inspect", visits, "--description", described, "--json")
    assert json.loads(inspected.out)["cases"] == 2
    assert inspected.err == ""
    measured = run("measure", visits, folder / "clean.csv", "--description", described, "--json")
    assert json.loads(measured.out)["dfg_l1"] == 0
    page = folder / "page.html"
    assert run("report", visits, folder / "clean.csv", "--description", described, "-o", page).code == 0
    assert f"--description {described}" in page.read_text(encoding="utf-8")
    compared = run(
        "compare", visits, "-m", "libra", "-e", "1", "--seeds", "1", "--no-cache", "--description", described, "--json"
    )
    assert compared.code == 0
    assert run("describe", visits, "--description", described).code == 0


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
def test_a_release_takes_the_description_as_its_parameters(visits: Path, engine: str, run: Run) -> None:
    target = visits.parent / "log.toml"
    arguments = (*COLUMNS, "--individual", "Patient", "--timestamp-format", "%d.%m.%Y %H:%M")
    assert run("describe", visits, *arguments, "-o", target).code == 0
    out = visits.parent / "out.csv"
    answer = run("anonymize", visits, "-o", out, "--description", target, "--engine", engine, "--json", "--seed", "1")
    assert answer.code == 0
    document = json.loads(answer.out)
    assert document["columns"]["individual"] == "Patient"
    assert "individual" in document["guarantee"]["statement"]


def test_what_is_open_is_refused_without_it(visits: Path, described: Path, run: Run) -> None:
    out = visits.parent / "out.csv"
    refused = run("anonymize", visits, "-o", out, *COLUMNS)
    assert refused.code == 3
    assert refused.err == (
        f'libra: {visits}: no date in "Done at" shows whether day or month comes first. '
        "Say --day-first or --month-first, or give a description (libra describe).\n"
    )
    assert not out.exists()
    assert run("anonymize", visits, "-o", out, *COLUMNS, "--day-first").code == 0
    assert run("anonymize", visits, "-o", out, "--description", described).code == 0
    assert run("inspect", visits, *COLUMNS).code == 0


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--delimiter", ","), '--delimiter says ",", and {}, line 8 says ";". Leave out one of them.'),
        (("--month-first",), "--month-first contradicts {}, line 25, which says day_first = true. Leave out one of them."),
        (("--resource", "Ward"), '--resource says "Ward", and {} says nothing on it. Write resource = "Ward" there.'),
        (("--sort-by-time",), "--sort-by-time contradicts {}, line 32, which says sort_by_time = false. Leave out one of them."),
    ],
)
def test_a_flag_that_contradicts_it_is_a_usage_error(
    flags: tuple[str, ...], words: str, visits: Path, described: Path, run: Run
) -> None:
    answers = [
        run("inspect", visits, "--description", described, *flags),
        run("anonymize", visits, "-o", visits.parent / "out.csv", "--description", described, *flags),
    ]
    for answer in answers:
        assert (answer.code, answer.err) == (2, f"libra: {words.format(described)}\n")


def test_parameters_of_the_release_that_contradict_it_are_a_usage_error(visits: Path, run: Run) -> None:
    target = visits.parent / "log.toml"
    run("describe", visits, *COLUMNS, "--day-first", "--individual", "Patient", "-o", target)
    answer = run("anonymize", visits, "-o", visits.parent / "out.csv", "--description", target, "--most-cases", "3")
    assert answer.code == 2
    assert f"--most-cases contradicts {target}, line " in answer.err
    assert answer.err.endswith(". Correct most_cases there, or leave out the flag.\n")


def test_a_mistake_in_it_names_its_line(visits: Path, described: Path, run: Run) -> None:
    described.write_text(described.read_text(encoding="utf-8").replace("delimiter =", "delimeter ="), encoding="utf-8")
    answer = run("inspect", visits, "--description", described)
    assert answer.code == 3
    said = f'{described}, line 8: there is no key "delimeter" in a description. Did you mean delimiter? If not, leave it out.'
    assert answer.err == f"libra: {said}\n"
    assert run("inspect", visits, "--description", visits.parent / "none.toml").code == 3


def test_a_file_that_does_not_fit_names_its_line(visits: Path, described: Path, run: Run) -> None:
    visits.write_text(VISITS + "P-023;1;Leave;2024-05-06;B\n", encoding="utf-8")
    for command in (("inspect", visits), ("anonymize", visits, "-o", visits.parent / "out.csv", "--engine", "polars-streaming")):
        answer = run(*command, "--description", described)
        assert answer.code == 3
        assert f'{visits}, line 5: timestamp "2024-05-06" cannot be read. Correct timestamp_format, or drop' in answer.err
        assert answer.err.endswith(f"with drop_invalid in {described}.\n")


def test_inspect_ends_with_how_to_write_one(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "a log.csv"
    file.write_text(TABLE)
    assert run("inspect", file).out.rstrip().endswith(f"describe '{file}' -o log.toml")


def test_that_command_has_the_flags_that_were_given(visits: Path, run: Run) -> None:
    answer = run("inspect", visits, *COLUMNS, "--individual", "Patient", "--month-first")
    flags = "--case-id Patient --case-id Visit --activity Step --timestamp 'Done at' --individual Patient --month-first"
    assert answer.out.rstrip().endswith(f"describe {visits} -o log.toml {flags}")


def test_the_page_on_descriptions_has_every_key_and_its_example_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "description.md").read_text(encoding="utf-8")
    assert [key for key in KEYS if f"| `{key}`" not in page] == []
    example = page.split("```toml\n")[1].split("```")[0]
    (tmp_path / "log.toml").write_text(example, encoding="utf-8")
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    assert Description.read(tmp_path / "log.toml").unit == "individual"
    assert libra.read(tmp_path / "visits.csv", description=tmp_path / "log.toml").n_cases == 2


def test_the_page_on_descriptions_has_every_key_of_an_attribute_and_its_example_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "description.md").read_text(encoding="utf-8")
    keys = [each.name for each in fields(Attribute) if each.name != "name"]
    assert [key for key in keys if f"`{key}`" not in page.partition("## Attributes")[2]] == []
    assert [role for role in get_args(Role) if f"| {role} |" not in page] == []
    plain, attributes = (page.split("```toml\n")[number].split("```")[0] for number in (1, 2))
    (tmp_path / "log.toml").write_text(plain + attributes, encoding="utf-8")
    read = Description.read(tmp_path / "log.toml").attributes
    assert [one.name for one in read] == ["Ward", "Age", "org:group", "case:Patient no"]


def test_attributes_are_described_with_their_reasons(tmp_path: Path, run: Run) -> None:
    rows = [
        f"c{case};{step};2024-05-06T08:{case % 60:02};{20 + case % 70};{'AB'[case % 2]};n{case}"
        for case in range(90)
        for step in "xy"
    ]
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["case;activity;time;Age;Ward;Number", *rows, ""]), encoding="utf-8")
    text = run("describe", log).out
    assert (
        '[attributes."Age"]  # case attribute: one value per case\nkind = "number"\n# lowest = 20  # from the log; declare it '
        "only if a source outside the log says so\n"
    ) in text
    assert '# values = ["A", "B"]  # from the log; declare it only if a source outside the log says so\nrelease = true\n' in text
    assert '[attributes."Number"]  # identifier: another value in nearly every case\nkind = "category"\nrelease = false\n' in text
    (tmp_path / "log.toml").write_text(text.replace("# lowest = 20 ", "lowest = 30 "), encoding="utf-8")
    document = json.loads(run("describe", log, "--description", tmp_path / "log.toml", "--json").out)
    assert document["attributes"][0] == {"name": "Age", "kind": "number", "lowest": 30}
    assert document["attributes"][2] == {"name": "Number", "kind": "category", "release": False}


def test_an_attribute_that_does_not_fit_names_its_line(visits: Path, described: Path, run: Run) -> None:
    wrong = described.read_text(encoding="utf-8").split("[attributes")[0] + '[attributes."Ward"]\nkind = "number"\n'
    described.write_text(wrong, encoding="utf-8")
    answer = run("inspect", visits, "--description", described)
    assert answer.code == 3
    assert f'{visits}, line 2: "Ward" is described as a number, and "A" is none.' in answer.err
    described.write_text(wrong.replace("kind", "knd"), encoding="utf-8")
    answer = run("inspect", visits, "--description", described)
    assert answer.code == 3
    assert (
        f'{described}, line {wrong.count(chr(10))}: there is no key "knd" for the attribute "Ward". Did you mean kind?'
        in answer.err
    )


def test_dates_that_are_not_iso_are_marked_and_the_error_says_what_is_read(tmp_path: Path, run: Run) -> None:
    rows = [f"c{case};x;2024-05-06T08:{case % 60:02};{1 + case % 28:02}.06.2015" for case in range(90)]
    log, target = tmp_path / "log.csv", tmp_path / "log.toml"
    log.write_text("\n".join(["case;activity;time;Paid", *rows, ""]), encoding="utf-8")
    text = run("describe", log).out
    assert 'CHECK THIS: looks like dates; for kind = "date", write them as YYYY-MM-DD and list other texts in missing\n' in text
    target.write_text(text.replace('kind = "category"', 'kind = "date"'), encoding="utf-8")
    answer = run("inspect", log, "--description", target)
    assert answer.code == 3
    assert '"Paid" is described as a date, and "01.06.2015" is none. Write dates as YYYY-MM-DD, with or without' in answer.err


def test_people_are_released_only_if_the_file_says_so(tmp_path: Path, run: Run) -> None:
    rows = [
        f"c{case},{step},2024-05-06T08:{case % 60:02},{'xyz'[(case + number) % 3]},{'AB'[case % 2]}"
        for case in range(300)
        for number, step in enumerate("ab")
    ]
    log, target, out = tmp_path / "log.csv", tmp_path / "log.toml", tmp_path / "out.csv"
    log.write_text("\n".join(["case,activity,time,Clerk,Ward", *rows, ""]), encoding="utf-8")
    text = run("describe", log).out
    before, clerk, after = text.partition('[attributes."Clerk"]')
    target.write_text(text, encoding="utf-8")
    release = ("anonymize", log, "--description", target, "--all-attributes", "--seed", "1", "--epsilon", "5")
    assert run(*release, "-o", out).code == 0
    assert "Clerk" not in out.read_text(encoding="utf-8").partition("\n")[0]
    target.write_text(before + clerk + after.replace("release = false", "release = true", 1), encoding="utf-8")
    assert run(*release, "-o", tmp_path / "more.csv").code == 0
    assert "Clerk" in (tmp_path / "more.csv").read_text(encoding="utf-8").partition("\n")[0]


def test_what_is_known_at_the_end_is_not_released_at_the_beginning(tmp_path: Path, run: Run) -> None:
    steps = ("register", "test", "code", "bill")
    rows = [
        f"c{case},{step},2024-05-06T{8 + number:02}:{case % 60:02},{'AB'[case % 2] * (number > 1)}"
        for case in range(300)
        for number, step in enumerate(steps)
    ]
    log, target, out = tmp_path / "log.csv", tmp_path / "log.toml", tmp_path / "out.csv"
    log.write_text("\n".join(["case,activity,time,Outcome", *rows, ""]), encoding="utf-8")
    assert run("describe", log, "-o", target).code == 0
    assert 'one value per case; only on "bill", "code"' in target.read_text(encoding="utf-8")
    asked = ("--description", target, "--all-attributes", "--seed", "1", "--epsilon", "5")
    assert run("anonymize", log, "-o", out, *asked).code == 0
    released = libra.read(out).events
    early = released.filter(released["concept:name"].is_in(["register", "test"]))
    assert early.height
    assert early["Outcome"].null_count() >= 0.9 * early.height


def test_a_log_that_cannot_be_read_is_described_without_its_attributes(tmp_path: Path, run: Run) -> None:
    (tmp_path / "log.csv").write_text("case,activity,time,Ward\n1,a,2024-05-06T08:00:00,A\n,b,2024-05-06T09:00:00,B\n")
    answer = run("describe", tmp_path / "log.csv")
    assert answer.code == 0
    assert "[attributes" not in answer.out
    assert "note: The attributes were not described, as the log cannot be read: " in answer.err


def test_what_is_said_of_epochs_and_zones_is_said_of_the_original(tmp_path: Path, run: Run) -> None:
    original, anonymized = tmp_path / "log.csv", tmp_path / "clean.csv"
    original.write_text("case,activity,time\n1,a,1714982400\n1,b,86400\n")
    assert run("convert", original, anonymized, "--epoch-unit", "s", "--zone", "file").code == 0
    measured = run("measure", original, anonymized, "--epoch-unit", "s", "--zone", "file", "--json")
    assert json.loads(measured.out)["dfg_l1"] == 0
    assert "clean.csv: --epoch-unit and --zone did not apply to this log, whose form is known." in measured.err

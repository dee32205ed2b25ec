"""A description says what it says: the file comes back equal, every key is checked, and a mistake is found on its line."""

from __future__ import annotations

import re
import string
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.errors import InputError, UsageError
from libra.eventlog.attributes import Attribute, Kind, Level
from libra.eventlog.description import CHOICES, KEYS, OPTIONAL, ROLES, SEVERAL, Description
from libra.keywords import described_parameters, read_options

VISITS: dict[str, Any] = {
    "format": "csv",
    "case_id": ("Patient", "Visit"),
    "activity": ("Step",),
    "timestamp": "Done at",
    "timestamp_format": "%d.%m.%Y %H:%M",
    "zone": "none",
    "encoding": "utf-8",
    "delimiter": ";",
}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = st.lists(TEXT, min_size=1, max_size=3).map(tuple)
DELIMITERS = st.sampled_from([chr(code) for code in range(128) if chr(code) not in "\n\r\"'"])


def write(folder: Path, text: str) -> Path:
    file = folder / "log.toml"
    file.write_text(text, encoding="utf-8", newline="")
    return file


def refused(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        Description.read(write(folder, text))
    return str(caught.value).removeprefix(str(folder) + "/")


@st.composite
def declared(draw: st.DrawFn) -> Attribute:
    """An attribute of which anything may be declared."""
    kind, level = draw(st.sampled_from(get_args(Kind))), draw(st.sampled_from(get_args(Level)))
    texts = NAMES.map(lambda names: tuple(dict.fromkeys(text for name in names if (text := name.strip()))))
    missing = draw(texts)
    unit = draw(st.sampled_from(("", "days")) if kind == "date" else TEXT)
    said: dict[str, Any] = {"unit": unit, "missing": missing, "release": draw(st.booleans())}
    if kind == "number":
        bounds = sorted(draw(st.tuples(*[st.floats(-1e9, 1e9) | st.integers(-9, 9)] * 2).filter(lambda pair: pair[0] != pair[1])))
        said |= {key: bound for key, bound in zip(("lowest", "highest"), bounds, strict=True) if draw(st.booleans())}
        said |= {"decimals": draw(st.integers(0, 9)), "counter": level == "event" and draw(st.booleans())}
    if kind == "date":
        low, high = sorted(draw(st.sets(st.integers(-9_999, 9_999), min_size=2, max_size=2)))
        said |= {key: bound for key, bound in (("lowest", low), ("highest", high)) if draw(st.booleans())}
    if kind == "category":
        said["values"] = draw(st.none() | texts.filter(lambda values: values and not {*values} & {*missing}))
    if level == "case":
        said["at"] = draw(st.none() | TEXT)
    return Attribute(draw(TEXT.filter(lambda name: not name.startswith("case:"))), kind, level, **said)


@st.composite
def descriptions(draw: st.DrawFn) -> Description:
    form = draw(st.sampled_from(CHOICES["format"]))
    said: dict[str, Any] = {
        "format": form,
        "activity": draw(NAMES),
        "timestamp": draw(TEXT),
        "zone": draw(st.sampled_from(CHOICES["zone"])),
    }
    said["case_id"] = draw(NAMES if form != "xes" else NAMES | st.just(()))
    for role in ("clock", "start_timestamp", "lifecycle", "resource", "individual"):
        said[role] = draw(st.none() | TEXT)
    written = draw(st.sampled_from(["format", "unit", "any"] if form == "csv" else ["format", "unit", "any", "none"]))
    if written == "unit":
        said["epoch_unit"] = draw(st.sampled_from(CHOICES["epoch_unit"]))
    elif written != "none":
        said["timestamp_format"] = "any" if written == "any" else draw(TEXT.filter(lambda text: text != "any"))
        said["day_first"] = draw(st.booleans() if written == "any" else st.none() | st.booleans())
    if form == "csv":
        said |= {"encoding": draw(st.sampled_from(["utf-8", "cp1252"])), "delimiter": draw(DELIMITERS)}
        said |= {key: draw(st.sampled_from(CHOICES[key])) for key in ("quote", "line_end", "decimal")}
    said |= {key: draw(st.booleans()) for key in ("sort_by_time", "drop_invalid")}
    said["lifecycle_keep"] = draw(NAMES | st.just(())) if said["lifecycle"] is not None else ()
    said["instances"] = draw(st.none() | st.sampled_from(CHOICES["instances"]))
    said["unit"] = "case" if said["individual"] is None else "individual"
    said["most_cases"] = 1 if said["individual"] is None else draw(st.integers(1, 1000))
    said["labels"] = draw(
        st.sampled_from(["private", "public"]) | NAMES.filter(lambda names: all(name.strip() for name in names))
    )
    taken = {name for role in ROLES for name in ((said[role],) if isinstance(said[role], str) else said[role] or ())}
    attributes = draw(st.lists(declared(), max_size=3, unique_by=lambda attribute: attribute.name))
    said["attributes"] = tuple(attribute for attribute in attributes if attribute.name not in taken)
    reasons = draw(st.dictionaries(st.sampled_from(KEYS) | TEXT.map("attributes.{}".format), TEXT))
    seen = {attribute.name: {"values": draw(NAMES), "lowest": draw(st.floats())} for attribute in said["attributes"]}
    return Description(**said, reasons=reasons, seen=seen)


@given(said=descriptions())
def test_whatever_is_written_comes_back_equal(said: Description, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert Description.read(write(tmp_path_factory.mktemp("described"), said.to_toml())) == said


@given(said=descriptions())
def test_every_key_has_a_line_with_a_comment(said: Description) -> None:
    lines = said.to_toml().split("\n")
    above = said.to_toml().partition("\n# The attributes")[0].split("\n")
    for key in KEYS:
        if key == "attributes":
            assert sum(line.startswith("[attributes.") for line in lines) == len(said.attributes)
        elif said.says(key) or (key in OPTIONAL and key not in ("delimiter", "encoding")):
            (line,) = (line for line in above if line.startswith((f"{key} = ", f"# {key} = ")))
            assert "  # " in line or key in ("case_id", "activity", "timestamp", "encoding", "delimiter") or key in OPTIONAL


def test_the_options_leave_nothing_to_detect() -> None:
    options = Description(**VISITS).options()
    assert options.roles.case_id == ("Patient", "Visit")
    assert options.roles.activity == ("Step",)
    said = (options.timestamp_format, options.zone, options.encoding, options.delimiter, options.decimal, options.quote)
    assert said == ("%d.%m.%Y %H:%M", "none", "utf-8", ";", ".", '"')
    assert options.line_end == "\n"
    assert options.described


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"case_id": ()}, "no column is named as case_id. Only in XES is each trace a case: name a column, or several."),
        ({"activity": ()}, "no column is named as activity. Name a column, or several."),
        ({"epoch_unit": "s"}, "timestamp_format and epoch_unit contradict each other."),
        ({"timestamp_format": "any"}, 'timestamp_format is "any", and nothing says whether the day comes first.'),
        ({"timestamp_format": None}, "nothing says how times are written."),
        ({"encoding": None}, "there is no encoding."),
        ({"encoding": "klingon"}, 'there is no encoding "klingon".'),
        ({"encoding": "base64"}, 'there is no encoding "base64".'),
        ({"delimiter": None}, "there is no delimiter."),
        ({"delimiter": ";;"}, "the delimiter is not one plain character."),
        ({"delimiter": "§"}, "the delimiter is not one plain character."),
        ({"format": "xes"}, 'delimiter is about CSV, and format is "xes".'),
        ({"lifecycle_keep": ("complete",)}, "lifecycle_keep chooses transitions, and no column is named as lifecycle."),
        ({"unit": "individual"}, 'unit is "individual", and no column says whose case it is.'),
        ({"individual": "Patient"}, 'individual names whose case it is, and unit is "case".'),
        ({"most_cases": 3}, 'most_cases is about individuals, and unit is "case".'),
        ({"most_cases": 0}, "most_cases is a whole number of at least 1, not 0."),
        ({"labels": "secret"}, 'labels is "private", "public" or a list of names, not \'secret\'.'),
        ({"zone": "Europe/Berlin"}, 'zone is one of "file", "none", "utc", not \'Europe/Berlin\'.'),
        ({"timestamp": "half\ud800"}, "timestamp holds half of a surrogate pair."),
        ({"attributes": ("Age",)}, "attributes is a list of Attribute, not ('Age',)."),
        ({"attributes": [Attribute("Age", "number")] * 2}, 'the attribute "Age" is described twice. Leave one of them out.'),
        ({"attributes": [Attribute("Step", "category")]}, '"Step" is the column of activity, and no attribute.'),
        (
            {"resource": "Who", "attributes": [Attribute("Who", "category", "event")]},
            '"Who" is the column of resource, and no attribute. Call it "org:resource" to release it.',
        ),
    ],
)
def test_what_cannot_be_meant_together_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        Description(**(VISITS | change))
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize("key", KEYS)
def test_a_wrong_type_is_found_on_its_line(key: str, tmp_path: Path) -> None:
    lines = [line for line in Description(**VISITS).to_toml().split("\n") if not line.startswith(f"{key} = ")]
    text = "\n".join([f"{key} = 3.5", *lines])
    assert refused(tmp_path, text).startswith(f"log.toml, line 1: {key} is ")


@pytest.mark.parametrize("key", SEVERAL)
def test_one_name_will_do_for_a_list(key: str, tmp_path: Path) -> None:
    said = Description(**(VISITS | {"lifecycle": "State", "lifecycle_keep": ("complete",), "case_id": ("Visit",)}))
    text = said.to_toml().replace('["complete"]', '"complete"').replace('["Visit"]', '"Visit"').replace('["Step"]', '"Step"')
    assert Description.read(write(tmp_path, text)) == said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "\n\nformt = 'csv'\n",
            'log.toml, line 3: there is no key "formt" in a description. Did you mean format? If not, leave it out.',
        ),
        ("# x\n[columns]\ncase_id = 'a'\n", 'log.toml, line 2: there is no key "columns" in a description.'),
        ("\nformat = csv\n", "log.toml, line 2: this is not TOML (Invalid value)."),
        ('format = "csv"\nzone = "none', "log.toml, line 2: this is not TOML ("),
        ('format = "csv"\nformat = "xes"\n', "log.toml, line 2: this is not TOML (Cannot overwrite a value)."),
        ('format = "csv"\n', "log.toml: activity is missing. Add a line with activity, or write one with libra describe."),
        ("", "log.toml: format is missing."),
        ("x = " + "[" * 5000, "log.toml"),
        ("most_cases = " + "9" * 5000, "log.toml: this is not a description. Write one with libra describe."),
        ('format = 2024-05-06\nactivity = "a"\ntimestamp = "t"\nzone = "none"', 'log.toml, line 1: format is one of "xes",'),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_line(text: str, words: str, tmp_path: Path) -> None:
    assert refused(tmp_path, text).startswith(words)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read \(no such file or directory\)"):
        Description.read(tmp_path / "log.toml")
    (tmp_path / "bytes.toml").write_bytes(b'format = "csv"\nactivity = "R\xf6ntgen"\n')
    with pytest.raises(InputError, match=r"bytes\.toml, line 2: this is not UTF-8\. Save it as UTF-8\."):
        Description.read(tmp_path / "bytes.toml")
    (tmp_path / "large.toml").write_text("# " + "x" * (1 << 20))
    with pytest.raises(InputError, match="too large for a description"):
        Description.read(tmp_path / "large.toml")


def test_windows_line_ends_and_a_mark_do_not_matter(tmp_path: Path) -> None:
    said = Description(**VISITS)
    file = tmp_path / "log.toml"
    file.write_bytes(b"\xef\xbb\xbf" + said.to_toml().replace("\n", "\r\n").encode())
    assert Description.read(file) == said


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"delimiter": ","}, '--delimiter says ",", and the description says ";". Leave out one of them.'),
        ({"case_id": "Visit"}, '--case-id says "Visit", and the description says "Patient", "Visit". Leave out one of them.'),
        ({"resource": "Ward"}, '--resource says "Ward", and the description says nothing on it. Write resource = "Ward" there.'),
        (
            {"individual": "Patient"},
            '--individual says "Patient", and the description says nothing on it. '
            'Write individual = "Patient" and unit = "individual" there.',
        ),
        (
            {"lifecycle_keep": ["complete"]},
            '--lifecycle-keep says "complete", and the description says nothing on it. '
            'Write lifecycle_keep = ["complete"] there.',
        ),
        (
            {"day_first": False},
            '--month-first contradicts the description, which says timestamp_format = "%d.%m.%Y %H:%M". Leave out one of them.',
        ),
        (
            {"drop_invalid": True},
            "--drop-invalid contradicts the description, which says drop_invalid = false. Leave out one of them.",
        ),
    ],
)
def test_a_flag_that_contradicts_it_is_refused(keywords: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_options(description=Description(**VISITS), **keywords)
    assert str(caught.value) == words


def test_a_flag_that_says_the_same_is_welcome() -> None:
    same: dict[str, Any] = {"encoding": "UTF8", "delimiter": ";", "activity": "Step", "sort_by_time": False, "day_first": True}
    assert read_options(description=Description(**VISITS), **same) == Description(**VISITS).options()


@pytest.mark.parametrize(
    ("pattern", "day_first"), [("%d/%m/%Y", True), ("%m/%d/%y", False), ("%d %b %Y", True), ("%B %d, %Y", False)]
)
def test_a_flag_of_the_order_is_compared_with_the_format(pattern: str, day_first: bool) -> None:
    said = Description(**(VISITS | {"timestamp_format": pattern}))
    assert read_options(description=said, day_first=day_first) == said.options()
    with pytest.raises(UsageError, match="-first contradicts the description, which says timestamp_format = "):
        read_options(description=said, day_first=not day_first)


def test_a_flag_on_which_the_file_has_no_line_belongs_into_the_file(tmp_path: Path) -> None:
    kept = [line for line in Description(**VISITS).to_toml().split("\n") if not line.startswith(("sort_by_time", "labels"))]
    said = Description.read(write(tmp_path, "\n".join(kept)))
    with pytest.raises(UsageError, match=r"log\.toml, which has no sort_by_time\. Write sort_by_time = true there\."):
        read_options(description=said, sort_by_time=True)
    with pytest.raises(UsageError, match=r"--labels is not in .*log\.toml, .* Write labels = \[\.\.\.\], with the names"):
        described_parameters(said, {"labels": ("Triage",)}, ["labels"])
    with pytest.raises(UsageError, match=r'--public-labels is not in .*log\.toml, .* Write labels = "public" there\.'):
        described_parameters(said, {"labels": "public"}, ["labels"])


@pytest.mark.parametrize("labels", ["[]", '["Triage", ""]', '["Triage", " "]'])
def test_an_empty_name_in_the_list_of_labels_is_found_on_its_line(labels: str, tmp_path: Path) -> None:
    text = Description(**VISITS).to_toml().replace('labels = "private"', f"labels = {labels}")
    line = next(i for i, line in enumerate(text.split("\n"), start=1) if line.startswith("labels"))
    assert refused(tmp_path, text).startswith(f"log.toml, line {line}: the list of labels is empty or has an empty name.")


def test_the_comment_on_individuals_leads_to_a_file_that_is_read(tmp_path: Path) -> None:
    text = Description(**VISITS).to_toml()
    assert 'write unit = "individual" below as well' in text
    named = text.replace("# individual =", "individual =")
    said = refused(tmp_path, named)
    assert said.endswith('Write unit = "individual", or remove individual if single cases are to be protected.')
    assert Description.read(write(tmp_path, named.replace('unit = "case"', 'unit = "individual"'))).individual == "Patient"


def test_it_is_a_file_or_a_description() -> None:
    with pytest.raises(UsageError, match="description has to be the path of a file or a Description, not 3"):
        read_options(description=3)  # type: ignore[arg-type]  # the mistake


def test_what_it_says_of_a_release_goes_to_the_mechanism() -> None:
    individuals = {"individual": "Patient", "unit": "individual", "most_cases": 2}
    assert Description(**(VISITS | individuals)).parameters() == {"labels": "private", "most_cases": 2}
    assert Description(**(VISITS | {"labels": ["Triage"]})).parameters() == {"labels": ["Triage"]}


def test_letters_of_every_kind_are_in_the_round_trip() -> None:
    said = Description(**(VISITS | {"timestamp": string.printable + "ü\u2028\x7f\x00", "delimiter": "\t"}))
    assert "\x00" not in said.to_toml()


ABOVE = Description(**VISITS).to_toml()
TABLE = '\n[attributes."Age"]\nkind = "number"\n'
LINE = ABOVE.count("\n") + 2  # of the table


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("knd = 3", LINE + 2, 'there is no key "knd" for the attribute "Age". Did you mean kind? If not, leave it out.'),
        ("zone = 3", LINE + 2, 'there is no key "zone" for the attribute "Age". The keys of an attribute are kind, level,'),
        ("lowest = '3'", LINE + 2, "lowest of \"Age\" is a number, not '3'. Correct lowest."),
        ("\nhighest = nan", LINE + 3, 'highest of "Age" is a number, not nan.'),
        ("decimals = 12", LINE + 2, 'decimals of "Age" is a number from 0 to 9, not 12.'),
        ("values = 3", LINE + 2, 'values of "Age" is a list of texts, not 3.'),
        ("missing = [3]", LINE + 2, 'missing of "Age" is a list of texts, not [3].'),
        ("release = 'no'", LINE + 2, "release of \"Age\" is true or false, not 'no'."),
        ("at = 1", LINE + 2, 'at of "Age" is text, not 1.'),
        ("level = 'trace'", LINE + 2, 'level of "Age" is one of "case", "event", not \'trace\'.'),
        ("lowest = 3\nhighest = 1", LINE, 'The lowest of "Age" (3) has to be below its highest (1).'),
        ("values = ['a']", LINE, '"Age" is a number: a list of values is for categories.'),
        ('[attributes."B"]\nkind = "category"\nvalues = []', LINE + 2, 'The list of values of "B" is empty. Remove it if'),
        (
            '[attributes."B"]\nkind = "category"\nlowest = 1',
            LINE + 2,
            '"B" is a category: bounds (lowest, highest) are for numbers and dates.',
        ),
        (
            "values = ['a']\nvalues = ['b']",
            LINE + 3,
            "this is not TOML (Cannot overwrite a value). A key or a table is there twice",
        ),
        (
            '[attributes."B"]\nkind = "category"\nvalues = ["x", "y", "x"]',
            LINE + 2,
            'The list of values of "B" has "x" twice. Cor',
        ),
        (
            '[attributes."B"]\nkind = "category"\nvalues = ["x", "Unknown "]',
            LINE + 2,
            'In values of "B" remove the spaces around "Unknown ": values are read without them. Correct the attribute "B".',
        ),
        ('[attributes."B"]\nkind = "date"\nmissing = [" ?"]', LINE + 2, 'In missing of "B" remove the spaces around " ?"'),
        ('[attributes."B"]\nkind = "category"\nvalues = ["x", ""]', LINE + 2, 'The list of values of "B" has an empty text,'),
        (
            '[attributes."B"]\nkind = "category"\nvalues = ["x", "y"]\nmissing = ["", "y"]',
            LINE + 2,
            '"y" is in values and in missing of "B": remove it from one of them. Correct the attribute "B".',
        ),
        ('[attributes."Age"]', LINE + 2, "this is not TOML (Cannot declare ('attributes', 'Age') twice). A key or a table is"),
        ('[attributes."B C"]', LINE + 2, 'nothing says what kind of attribute "B C" is. Add kind, one of "boolean",'),
        ("[attributes.Visit]\nkind = 'date'", LINE + 2, '"Visit" is the column of case_id, and no attribute.'),
    ],
)
def test_a_mistake_in_an_attribute_is_found_on_its_line(text: str, line: int, words: str, tmp_path: Path) -> None:
    assert refused(tmp_path, f"{ABOVE}{TABLE}{text}\n").startswith(f"log.toml, line {line}: {words}")


def test_an_attribute_called_like_the_individuals_of_the_log_is_found_on_its_line(tmp_path: Path) -> None:
    whose = Description(**VISITS, individual="Patient", unit="individual").to_toml()
    table = '\n[attributes."case:Patient"]\nkind = "category"\n'
    what = '"case:Patient" and the column that says whose case it is have the same name in a log. Rename one of the columns'
    assert refused(tmp_path, f"{whose}{table}").startswith(f"log.toml, line {LINE}: {what}")
    assert Description.read(write(tmp_path, f"{whose}{table}release = false\n")).individual == "Patient"


def test_an_attribute_says_no_more_than_it_has_to(tmp_path: Path) -> None:
    read = Description.read(write(tmp_path, f"{ABOVE}{TABLE}"))
    assert read.attributes == (Attribute("Age", "number"),)
    assert read.options().attributes == read.attributes
    assert Description(**read.to_dict()) == read


def test_what_was_seen_in_the_log_is_declared_by_nobody(tmp_path: Path) -> None:
    seen: dict[str, dict[str, Any]] = {"Age": {"lowest": 20, "highest": 90.5, "values": None}, "Ward": {"values": ("A", "B")}}
    attributes = (Attribute("Age", "number"), Attribute("Ward", "category", release=False))
    text = Description(**VISITS, attributes=attributes, seen=seen).to_toml()
    assert Description.read(write(tmp_path, text)).attributes == attributes
    assert "# lowest = 20  # from the log" in text
    known = Description.read(write(tmp_path, re.sub("^# (?=lowest|highest|values)", "", text, flags=re.MULTILINE))).attributes
    assert known == (
        Attribute("Age", "number", lowest=20, highest=90.5),
        Attribute("Ward", "category", values=("A", "B"), release=False),
    )


def test_only_what_may_be_released_changes_how_a_log_is_read() -> None:
    attributes = (Attribute("Age", "number"), Attribute("Ward", "category", release=False))
    assert Description(**VISITS, attributes=attributes).options().attributes == attributes[:1]

"""The fast way may only be faster: what it accepts, the XML parser reads the same."""

from __future__ import annotations

import tempfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.errors import InputError
from libra.eventlog.files import FileFormat
from libra.eventlog.options import ReadOptions
from libra.eventlog.xes import read as xes_read
from libra.eventlog.xes.assemble import Columns, Piece
from libra.eventlog.xes.parsers import XesParser, read_plain
from libra.eventlog.xes.read import read_xes

keys = st.sampled_from(["concept:name", "cost", "a b", "é", "x&y", ">", "k'k"])
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="￾￿"), max_size=8)
values = st.one_of(
    texts, st.sampled_from(["7", "-1.5", "true", "INF", "2024-05-06T08:00:00+02:00", "&", '"', "&amp;", "\n", "\t"])
)
types = st.sampled_from(["string", "date", "int", "float", "boolean", "id"])
spaces = st.sampled_from(["", "\n\t", " ", "\r\n"])


@st.composite
def attributes(draw: st.DrawFn) -> str:
    given_keys = draw(st.lists(keys, max_size=4))
    return "".join(
        f"<{draw(types)} key={quoteattr(key)} value={quoteattr(draw(values), {chr(10): '&#10;'})}/>{draw(spaces)}"
        for key in given_keys
    )


@st.composite
def traces(draw: st.DrawFn) -> str:
    space = draw(spaces)
    text = ""
    for _ in range(draw(st.integers(1, 3))):
        events = "".join(f"<event>{space}{draw(attributes())}</event>{space}" for _ in range(draw(st.integers(0, 3))))
        text += f"<trace>{space}{draw(attributes())}{events}</trace>{space}"
    return text


damage = st.sampled_from(
    [
        "<!-- <trace> -->",
        "<",
        ">",
        "&",
        "&nope;",
        '"',
        "\x01",
        "<event>",
        "</trace>",
        '<string key="n" value="1"><int key="m" value="2"/></string>',
    ]
)


def exactly(text: bytes) -> Piece:
    parser = XesParser()
    parser.feed(b"<log>" + text + b"</log>", final=True)
    assert not parser.notes()
    return parser.take()


def frames(piece: Piece) -> tuple[pl.DataFrame, pl.DataFrame]:
    cases, events = Columns(), Columns()
    cases.add(piece.case_parts, piece.n_cases)
    events.add(piece.event_parts, len(piece.case_of_event))
    return cases.frame(), events.frame()


def same(one: Piece, other: Piece) -> bool:
    return one.case_of_event.tolist() == other.case_of_event.tolist() and all(
        set(a.columns) == set(b.columns) and a.height == b.height and all(a[key].equals(b[key]) for key in a.columns)
        for a, b in zip(frames(one), frames(other), strict=True)
    )


@given(traces())
def test_plain_traces_read_the_same_both_ways(text: str) -> None:
    encoded = text.strip().encode()
    fast = read_plain(encoded)
    if fast is not None:
        assert same(fast, exactly(encoded))


@given(traces(), damage, st.floats(0, 1))
def test_damaged_text_is_never_accepted_differently(text: str, harm: str, where: float) -> None:
    cut = int(where * len(text))
    damaged = (text[:cut] + harm + text[cut:]).strip().encode()
    fast = read_plain(damaged)
    if fast is not None:  # then it must be well-formed after all, and mean the same
        assert same(fast, exactly(damaged))


plain_trace = (
    '<trace>\n<string key="concept:name" value="{}"/>\n<event><string key="concept:name" value="A"/>'
    '<date key="time:timestamp" value="2024-05-06T08:00:00Z"/></event></trace>\n'
)
marks = ["<!-- ", " -->", "<!-->", "<?p ", " ?>", "<![CDATA[", "]]>", "</log>", "<x>", "</x>", '<string key="a', '"/>', "&", "\n"]
items = st.one_of(st.just("trace"), st.just("trace"), st.sampled_from(marks))


def outcome(path: Path) -> object:
    """All that a reading gives: the log, or its refusal."""
    try:
        log = read_xes(path, FileFormat("xes"), ReadOptions(allow_empty=True))
    except InputError as error:
        return str(error)
    return log.to_polars().to_dict(as_series=False), log.notes, log.metadata


@given(st.lists(items, max_size=12), st.integers(40, 400))
def test_a_document_reads_or_fails_the_same_with_and_without_the_fast_way(parts: list[str], stretch: int) -> None:
    text = "".join(plain_trace.format(i) if part == "trace" else part for i, part in enumerate(parts))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "log.xes"
        path.write_text(f"<log>{text}</log>")
        patch.setattr(xes_read, "STRETCH", stretch)
        fast = outcome(path)
        patch.setattr(xes_read, "read_plain", lambda _text: None)
        assert fast == outcome(path)


def test_an_ordinary_trace_takes_the_fast_way() -> None:
    of_case = b'<string key="concept:name" value="1"/>\n\t'
    text = b"<trace>\n\t" + of_case + b'<event>\n<date key="time:timestamp" value="x"/>\n\t</event>\n</trace>'
    assert read_plain(text) is not None


@pytest.mark.parametrize("log", ["sepsis", "bpic20", "urineweginfectie"])
def test_real_logs_read_the_same_both_ways(log: str, shared_logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, fmt = shared_logs / f"{log}.xes.gz", FileFormat("xes", "gz")
    fast = read_xes(path, fmt, ReadOptions())
    monkeypatch.setattr(xes_read, "read_plain", lambda _text: None)
    exact = read_xes(path, fmt, ReadOptions())
    assert fast.equals(exact)
    assert fast.notes == exact.notes


def test_small_stretches_change_nothing(shared_logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, fmt = shared_logs / "sepsis.xes.gz", FileFormat("xes", "gz")
    whole = read_xes(path, fmt, ReadOptions())
    monkeypatch.setattr(xes_read, "STRETCH", 50_021)  # a hundred of them
    assert read_xes(path, fmt, ReadOptions()).equals(whole)


@pytest.mark.peer
def test_r4pm_reads_the_same_events(shared_logs: Path) -> None:
    r4pm = pytest.importorskip("r4pm")
    for name in ("sepsis", "bpic20"):
        path = shared_logs / f"{name}.xes.gz"
        theirs, _ = r4pm.df.import_xes(str(path))
        ours = read_xes(path, FileFormat("xes", "gz"), ReadOptions()).to_polars()
        assert set(ours.columns) == set(theirs.columns)
        dates = [pl.col(key).dt.replace_time_zone("UTC") for key, dtype in theirs.schema.items() if dtype == pl.Datetime("us")]
        assert ours.equals(theirs.with_columns(dates).select(ours.columns))

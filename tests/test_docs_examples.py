"""The Python that the pages show runs as it stands."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from libra.cli import main

ROOT = Path(__file__).resolve().parents[1]


def _blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `libra demo` writes."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    assert main(["demo", "--output", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture
def desk(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the README leaves it: the small file of its example, and the demo."""
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^    ((?:Patient;|P-0).*)$", readme, re.MULTILINE)
    assert len(rows) == 4
    Path("visits.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    shutil.copytree(demo, "demo")
    return tmp_path


PAGES = {
    "README.md": 1,
    "docs/how-it-works.md": 1,
    "docs/guarantees.md": 1,
    "docs/libra2022.md": 2,
    "docs/accounting.md": 1,
    "docs/certificate.md": 1,
    "docs/compare.md": 1,
}


@pytest.mark.parametrize(("page", "shown"), PAGES.items())
def test_every_python_block_runs(page: str, shown: int, desk: Path) -> None:
    blocks = _blocks(page)
    assert len(blocks) == shown
    for block in blocks:
        exec(compile(block, page, "exec"), {})  # noqa: S102  # our own pages
    if "anonymized.xes.gz" in "".join(blocks):
        assert (desk / "anonymized.xes.gz").exists()

"""The help, the version and the completion: nothing is undocumented, and nothing heavy is loaded for them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from libra import __version__
from libra._system.shell import libra_command
from libra.cli.app import app
from libra.errors import MissingExtraError
from libra.eventlog.files import KINDS
from libra.eventlog.tables.roles import FLAGS
from libra.mechanisms.mechanism import HOMES

from .conftest import Run

ROOT = Path(__file__).resolve().parents[2]
COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]  # typer's own class is private
SHARED = {
    *("--case-id", "--activity", "--timestamp", "--start-timestamp", "--lifecycle", "--resource", "--individual"),
    *(
        "--lifecycle-keep",
        "--instances",
        "--timestamp-format",
        "--day-first",
        "--month-first",
        "--delimiter",
        "--encoding",
        "--decimal",
    ),
    *("--epoch-unit", "--zone", "--sort-by-time", "--drop-invalid", "--description", "--json", "--quiet"),
}


def test_the_commands_are_those_of_the_interface() -> None:
    names = (
        "anonymize mechanisms inspect describe convert measure report compare audit certificate verify keygen epsilon reproduce "
        "simulate demo doctor"
    )
    assert list(COMMANDS) == names.split()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_readme(name: str) -> None:
    assert f"| `libra {name}" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example(name: str, run: Run) -> None:
    answer = run(name, "--help")
    assert answer.code == 0
    assert "Examples" in answer.out
    assert f"libra {name}" in answer.out.split("Examples")[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_argument_has_help(name: str) -> None:
    undocumented = [parameter.name for parameter in COMMANDS[name].params if not parameter.help]
    assert undocumented == []


@pytest.mark.parametrize("name", ["anonymize", "inspect", "describe", "convert", "measure", "report", "compare", "audit"])
def test_commands_that_read_share_all_input_options(name: str) -> None:
    offered = {flag for parameter in COMMANDS[name].params for flag in (*parameter.opts, *parameter.secondary_opts)}
    assert offered >= SHARED | set(FLAGS.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_speaks_json(name: str) -> None:
    assert "--json" in {flag for parameter in COMMANDS[name].params for flag in parameter.opts}


def test_every_input_option_and_file_ending_is_in_the_page_on_formats() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert [name for name in (*(SHARED - {"--json", "--quiet"}), *KINDS) if f"`{name}" not in page] == []


def test_no_arguments_show_the_help(run: Run) -> None:
    answer = run()
    assert answer.code == 0
    assert "Usage: libra" in answer.out


def test_the_version_is_the_packages(run: Run) -> None:
    assert run("--version").out == f"libra {__version__}\n"


def test_completion_knows_commands_and_options(shell: Run) -> None:
    commands = shell(_LIBRA_COMPLETE="complete_bash", COMP_WORDS="libra con", COMP_CWORD="1")
    options = shell(_LIBRA_COMPLETE="complete_bash", COMP_WORDS="libra inspect --case", COMP_CWORD="2")
    assert commands.out.split() == ["convert"]
    assert options.out.split() == ["--case-id"]


def test_the_completion_script_is_for_this_command(shell: Run) -> None:
    script = shell("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "complete -o default -F _libra_completion libra" in script.out


def test_completion_can_be_installed_and_doctor_sees_it(tmp_path: Path, shell: Run) -> None:
    home = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    before = json.loads(shell("doctor", "--json", **home).out)["checks"]
    assert shell("--install-completion", "bash", **home).code == 0
    after = json.loads(shell("doctor", "--json", **home).out)["checks"]
    assert [check["ok"] for checks in (before, after) for check in checks if check["name"] == "completion"] == [False, True]
    assert (tmp_path / ".bash_completions" / "libra.sh").exists()


def test_help_and_import_load_nothing_heavy() -> None:
    code = (
        "import sys, libra, libra.cli\n"
        "libra.cli.main(['inspect', '--help'])\n"
        "print([name for name in ('polars', 'numpy', 'pandas', 'pm4py', 'dp_accounting') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS)])
def test_switches_show_no_type_in_the_help(words: tuple[str, ...], run: Run) -> None:
    answer = run(*words, "--help")
    assert "--help" in answer.out
    assert "bool" not in answer.out


def test_the_help_of_anonymize_shows_output_guarantee_and_what_to_keep_first(run: Run) -> None:
    shown = run("anonymize", "--help").out
    panels = re.findall(r"^\W*─ ([A-Z][^─]*?) ─", shown, re.MULTILINE)
    assert panels[:5] == ["Arguments", "Options", "Guarantee", "What to keep", "Mechanism"]
    assert (
        shown.index("--output")
        < shown.index("--epsilon")
        < shown.index("--tail")
        < shown.index("--alpha")
        < shown.index("--case-id")
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("anonymize", "log.csv", "--prune", "3"),
            "--prune is now --set prune=VALUE (with --mechanism pripel or prefix-laplace or sacofa).",
        ),
        (
            ("audit", "log.csv", "--no-trace-noise"),
            "--no-trace-noise is now --set trace_noise=false (with --mechanism libra2022).",
        ),
        (("demo", "--out", "tour"), "--out is now --output."),
        (("anonymize", "log.csv", "--epslion", "1"), "No such option: --epslion. Did you mean --epsilon?"),
        (("anonymize", "log.csv", "-o", "out.csv", "-m", "travsa"), 'There is no mechanism "travsa". Did you mean travas?'),
        (("anonymize", "log.csv", "-o", "out.csv", "--set", "tial=drop"), "libra does not take tial. Did you mean tail?"),
        (("mechanisms", "travsa"), 'There is no mechanism "travsa". Did you mean travas?'),
        (("anonymise",), "No such command 'anonymise'. Did you mean 'anonymize'?"),
        (("inspect", "log.csv", "--zzz"), "No such option: --zzz. Try"),
    ],
)
def test_a_word_that_is_not_there_is_answered_with_the_one_that_is(words: tuple[str, ...], told: str, run: Run) -> None:
    answer = run(*words)
    assert answer.code == 2
    assert answer.err.startswith(f"libra: {told}")


def test_the_module_runs_the_command() -> None:
    answer = subprocess.run([sys.executable, "-m", "libra", "--version"], capture_output=True, text=True, check=True)
    assert answer.stdout == f"libra {__version__}\n"


def test_mechanisms_can_be_listed_whether_or_not_their_package_is_loaded() -> None:
    code = "import libra; first = libra.mechanisms(); import libra.mechanisms.travas; print(first == libra.mechanisms(), *first)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["True", *HOMES]


def test_public_names_are_found_and_others_are_not() -> None:
    import libra

    assert all(callable(getattr(libra, name)) for name in libra.__all__ if name != "__version__")
    assert set(libra.__all__) <= set(dir(libra))
    with pytest.raises(AttributeError, match="anonymise"):
        libra.anonymise  # noqa: B018  # asking is what is tested


def test_doctor_finds_what_is_required(run: Run) -> None:
    document = json.loads(run("doctor", "--json").out)
    required = {check["name"]: check["ok"] for check in document["checks"] if check["required"]}
    assert document["ok"] is True
    needed = ("Python", "libra", "polars", "numpy", "dp-accounting", "cryptography", "fastjsonschema", "jinja2", "zlib-ng")
    assert required == dict.fromkeys(needed, True)


def test_doctor_says_how_to_get_what_is_missing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    answer = run("doctor")
    assert answer.code == 0
    (java,) = (line for line in answer.out.splitlines() if " Java " in line)
    assert java.split()[0] == "missing"
    assert "openjdk" in answer.out


def test_doctor_names_the_pip_of_the_python_that_runs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("libra._system.doctor.metadata.version", absent)
    checks = {check["name"]: check for check in json.loads(run("doctor", "--json").out)["checks"]}
    assert checks["pandas"]["remedy"] == f'{shlex.quote(sys.executable)} -m pip install "libra-pm[pandas]"'
    assert str(MissingExtraError("pandas", "pandas")).endswith(checks["pandas"]["remedy"])
    assert checks["PySpark"]["remedy"] == f'{shlex.quote(sys.executable)} -m pip install "libra-pm[spark]"'


@pytest.mark.parametrize(("version", "ok"), [("3.5.1", False), ("4.0.0", True)])
def test_doctor_knows_a_pyspark_that_is_too_old(version: str, ok: bool, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra._system.doctor.metadata.version", lambda _name: version)
    checks = {check["name"]: check for check in json.loads(run("doctor", "--json").out)["checks"]}
    assert checks["PySpark"]["ok"] is ok
    assert (checks["PySpark"]["found"] == "pyspark 3.5.1 is too old") is not ok


def test_advice_says_libra_the_way_it_was_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "my tools" / "libra"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.setenv("PATH", "")
    assert libra_command() == f"'{program}'"
    monkeypatch.setenv("PATH", str(program.parent))
    assert libra_command() == "libra"
    monkeypatch.setattr(sys, "argv", ["/somewhere/libra/__main__.py"])
    assert libra_command() == f"{shlex.quote(sys.executable)} -m libra"


def test_doctor_and_usage_errors_advise_in_the_same_words(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [".venv/bin/libra"])
    monkeypatch.setenv("PATH", "")
    checks = {check["name"]: check for check in json.loads(run("doctor", "--json").out)["checks"]}
    assert checks["completion"]["remedy"] == ".venv/bin/libra --install-completion"
    assert run("inspect").err.endswith("Try: .venv/bin/libra inspect --help\n")


def test_doctor_fails_where_a_required_part_does_not_load(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zlib_ng.gzip_ng", None)
    answer = run("doctor")
    assert answer.code == 1
    assert "Missing: zlib-ng." in answer.out

"""What is installed and what is missing, each with the command that gets it.

Required parts are loaded to see that they work; optional ones are only looked up, because some take seconds to load.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from libra._system.shell import libra_command, pip_install
from libra._version import __version__

OLDEST_PYTHON = (3, 11)
OLDEST_JAVA = 17
OLDEST_PYSPARK = 4
JAVA_REMEDY = f"install a Java {OLDEST_JAVA} runtime, such as openjdk-17"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "firefox", "msedge", "microsoft-edge")
MAC_BROWSERS = ("Google Chrome", "Chromium", "Firefox")
COMPLETION_FILES = (".bash_completions/libra.sh", ".zfunc/_libra", ".config/fish/completions/libra.fish")


@dataclass(frozen=True)
class Check:
    """One thing that was looked for: whether it is there, what was found, what it is for and how to get it."""

    name: str
    ok: bool
    found: str
    purpose: str
    remedy: str
    required: bool = False


def examine() -> tuple[Check, ...]:
    """Look for everything Libra uses or can use."""
    python = sys.version_info[:2] >= OLDEST_PYTHON
    return (
        Check("Python", python, platform.python_version(), "runs Libra", "install Python 3.11 or newer from python.org", True),
        Check("libra", True, __version__, "this package", "", True),
        _required("polars", "polars", "holds the log"),
        _required("numpy", "numpy", "counts and measures"),
        _required("dp-accounting", "dp_accounting.pld.privacy_loss_distribution", "accounts for noise"),
        _required("cryptography", "cryptography.hazmat.primitives.asymmetric.ed25519", "signs certificates"),
        _required("fastjsonschema", "fastjsonschema", "checks certificates"),
        _required("jinja2", "jinja2", "writes reports"),
        _required("zlib-ng", "zlib_ng.gzip_ng", "packs and unpacks .gz"),
        _optional("pygraphviz", ("pygraphviz",), "draws process maps", pip_install("pygraphviz")),
        _optional("pandas", ("pandas", "pyarrow"), "data frames of pandas", pip_install("libra-pm[pandas]")),
        _optional("pm4py", ("pm4py",), "process discovery and conformance", pip_install("libra-pm[pm4py]")),
        _pyspark(),
        Check("Java", *find_java(), "the Spark engine", JAVA_REMEDY),
        Check("browser", *_browser(), "shows reports", "install Chromium, Chrome or Firefox"),
        Check("completion", *_completion(), "the shell completes commands", f"{libra_command()} --install-completion"),
    )


def _required(name: str, module: str, purpose: str) -> Check:
    remedy = pip_install("--force-reinstall", name)
    try:
        importlib.import_module(module)
        return Check(name, True, metadata.version(name), purpose, remedy, True)
    except (ImportError, OSError) as error:
        return Check(name, False, f"does not load: {error}", purpose, remedy, True)


def _optional(name: str, packages: tuple[str, ...], purpose: str, remedy: str) -> Check:
    try:
        found = ", ".join(f"{package} {metadata.version(package)}" for package in packages)
    except metadata.PackageNotFoundError as error:
        return Check(name, False, f"{error.name} is not installed", purpose, remedy)
    return Check(name, True, found, purpose, remedy)


def _pyspark() -> Check:
    check = _optional("PySpark", ("pyspark", "pyarrow", "pandas"), "the Spark engine", pip_install("libra-pm[spark]"))
    old = re.match(r"pyspark ([0-9]+)\.[^,]*", check.found)
    if old is None or int(old[1]) >= OLDEST_PYSPARK:
        return check
    return replace(check, ok=False, found=f"{old[0]} is too old")


def find_java() -> tuple[bool, str]:
    """Whether there is a Java that is new enough, and its version, or what is wrong with it."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")  # where PySpark looks, too
    if program is None:
        return False, f"not found in JAVA_HOME ({home})" if home else "not found"
    try:
        ask = [program, "-version"]  # the java that the user's own PATH or JAVA_HOME names
        answer = subprocess.run(ask, capture_output=True, text=True, timeout=120, check=True).stderr  # noqa: S603  # as above
    except (OSError, subprocess.SubprocessError):
        return False, f"{program} does not run"
    return judge_java(answer)


def judge_java(answer: str) -> tuple[bool, str]:
    """Whether what `java -version` says is new enough, and the version in it.

    Example:
        >>> judge_java('openjdk version "17.0.15" 2025-04-15'), judge_java('java version "1.8.0_202"')
        ((True, '17.0.15'), (False, '1.8.0_202 is too old'))
    """
    version = re.search(r'version "((?:1\.)?(\d+)[^"]*)"', answer)
    if version is None:
        return False, "its version cannot be told"
    ok = int(version[2]) >= OLDEST_JAVA
    return ok, version[1] if ok else f"{version[1]} is too old"


def _browser() -> tuple[bool, str]:
    apps = (Path("/Applications") / f"{name}.app" for name in MAC_BROWSERS)
    found = [*filter(None, map(shutil.which, BROWSERS)), *(str(app) for app in apps if app.exists())]
    return bool(found), found[0] if found else "not found"


def _completion() -> tuple[bool, str]:
    found = [name for name in COMPLETION_FILES if (Path.home() / name).exists()]
    return bool(found), f"~/{found[0]}" if found else "not set up"

"""Imports flow one way: a package imports from the packages below it, never from those above."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import libra

SOURCE = Path(libra.__file__).parent
LAYERS = (
    {"_version", "errors", "_system"},  # these may know each other
    {"eventlog"},
    {"engines", "targets"},
    {"privacy"},
    {"mechanisms"},
    {"certificate"},
    {"measures"},
    {"comparison"},
    {"reporting"},
    {"release", "compared", "keywords"},
    {"pairs", "releasing", "reproduce", "example"},
    {"api"},
    {"extend", "__init__"},
    {"cli"},
    {"__main__"},
)
HEIGHTS = {name: height for height, layer in enumerate(LAYERS) for name in layer}


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules of Libra that a module imports, at its top or within a function; not those for types alone."""
    for_types = {id(inner) for node in ast.walk(tree) if _is_for_types(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) not in for_types:
            if isinstance(node, ast.ImportFrom) and node.module == "libra":
                yield from (f"libra.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.module or ""
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def part_of(module: str) -> str | None:
    """The package, or the module beside the packages, that a module is in; None for one of other authors."""
    first, *inner = module.split(".")
    return None if first != "libra" else inner[0] if inner else "__init__"


def test_every_package_has_a_layer() -> None:
    found = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found == set(HEIGHTS)


def test_imports_flow_downwards() -> None:
    upwards = [
        f"{mine}: {path.relative_to(SOURCE)} imports {other}"
        for path in sorted(SOURCE.rglob("*.py"))
        for mine in (path.relative_to(SOURCE).with_suffix("").parts[0],)
        for other in map(part_of, imported(ast.parse(path.read_text(encoding="utf-8"))))
        if other is not None and other != mine and HEIGHTS[other] >= HEIGHTS[mine] > 0
    ]
    assert upwards == []

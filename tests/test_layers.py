"""Packages import only what stands below them (docs/architecture.md), also inside of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import xtile

_ROOT = Path(xtile.__file__).parent

_MAY_IMPORT = {
    "layouts": {"layouts"},
    "text": {"text"},
    "rewrite": {"dialects", "layouts", "rewrite", "text"},
    "targets": {"layouts", "targets"},
    "transforms": {"dialects", "layouts", "rewrite", "semantics", "targets", "text", "transforms"},
}
"""For a package the packages of ours that it may import."""

_ABOVE_ALL = {
    "api",
    "cli",
    "entry_points",
    "opt",
    "opt_arguments",
    "opt_steps",
    "output_formats",
    "universe",
}
"""What stands above every package."""


def _imported(path: Path) -> Iterator[tuple[int, str]]:
    """The line of each import of ours in a module, with the package that it names."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            root, _, rest = name.partition(".")
            if root == "xtile":
                yield node.lineno, rest.partition(".")[0]


@pytest.mark.parametrize("package", _MAY_IMPORT)
def test_imports_stand_below(package: str) -> None:
    modules = sorted((_ROOT / package).rglob("*.py"))
    assert modules
    wrong = [
        f"{path.relative_to(_ROOT)}:{line} imports xtile.{name}"
        for path in modules
        for line, name in _imported(path)
        if name not in _MAY_IMPORT[package]
    ]
    assert not wrong


def test_nothing_imports_what_stands_above_all() -> None:
    packages = [path.parent for path in _ROOT.glob("*/__init__.py")]
    assert {"text", "translate", "launch"} <= {path.name for path in packages}
    wrong = [
        f"{path.relative_to(_ROOT)}:{line} imports xtile.{name}"
        for package in packages
        for path in sorted(package.rglob("*.py"))
        for line, name in _imported(path)
        if name in _ABOVE_ALL
    ]
    assert not wrong

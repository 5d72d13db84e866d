"""Each part of the package imports only what stands left of it, and no modules import in a circle.

Imports inside of functions count, and so do strings that name modules, as tables have them
of what is loaded late; imports for type checkers do not, because nothing runs them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import xtile
from xtile.garbage import without_collections

_ROOT = Path(xtile.__file__).parent

LAYERS = (
    "__init__",
    "garbage",
    "processes",
    "interrupts",
    "text",
    "layouts",
    "command",
    "targets",
    "dialects",
    "semantics",
    "arguments",
    "rewrite",
    "transforms",
    "translate",
    "backends",
    "host",
    "launch",
    "checking",
    "ports",
    "language_server",
    "notebook",
    "completion",
    "api",
    "output_formats",
    "universe",
    "opt_arguments",
    "opt_steps",
    "opt",
    "cli",
    "entry_points",
    "__main__",
)
"""The packages and modules of `xtile`; each may import those before it."""


@cache
def _imports_of(path: Path) -> tuple[tuple[int, str], ...]:
    return tuple(_imports(_parsed(path)))


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line of each import that can run, with each dotted name that it may mean."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, "imports are absolute"
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        # No expression has imports in it.
        children = ast.iter_child_nodes(node)
        waiting.extend(each for each in children if not isinstance(each, ast.expr))


def _named_in_strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line of each string that is a dotted name in the package, or begins as one."""
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str) and re.fullmatch(r"xtile(\.\w+)+\.?", value):
            yield node.lineno, value


def _known(target: str, modules: Mapping[str, Path]) -> str:
    """The module that a dotted name is, or is in; nothing if there is none."""
    while target and target not in modules:
        target = target.rpartition(".")[0]
    return target


def _modules(root: Path = _ROOT) -> dict[str, Path]:
    """Every module below a package by its dotted name."""
    found: dict[str, Path] = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _graph(modules: Mapping[str, Path]) -> dict[str, dict[str, int]]:
    """For each module the modules that it imports, and the line of the last import of each."""
    graph: dict[str, dict[str, int]] = {}
    for name, path in modules.items():
        wanted = graph[name] = {}
        for line, written in _imports_of(path):
            target = _known(written, modules)
            # Python loads the packages that a module is in before the module, whoever names them.
            if target and target != name and not name.startswith(f"{target}."):
                wanted[target] = line
    return graph


@cache
def _parsed(path: Path) -> ast.AST:
    with without_collections():
        return ast.parse(path.read_text())


def _hidden_arrows(modules: Mapping[str, Path]) -> list[str]:
    """The strings that name what does not stand left of a module, and not in its own layer.

    Those of the package itself are its names for users, which nothing in it loads.
    """
    return [
        f"{name}:{line} names {target}"
        for name, path in modules.items()
        if "." in name
        for line, written in _named_in_strings(_parsed(path))
        if (target := _known(written, modules)) != "xtile" and _layer(target) > _layer(name)
    ]


def _layer(module: str) -> int:
    return LAYERS.index(module.split(".")[1] if "." in module else "__init__")


def _wrong_arrows(graph: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The imports of what does not stand left of a module, and not in its own layer."""
    return [
        f"{name}:{line} imports {target}"
        for name, targets in graph.items()
        for target, line in targets.items()
        if _layer(target) > _layer(name)
    ]


def _circle(graph: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Modules of which each imports the one before it, the first again as the last; or none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


@pytest.fixture(scope="module", name="graph")
def _graph_of_the_package() -> dict[str, dict[str, int]]:
    return _graph(_modules())


@pytest.mark.slow
def test_every_part_has_its_layer(graph: dict[str, dict[str, int]]) -> None:
    assert len(graph) > 800
    assert {_layer(name) for name in graph} <= set(range(len(LAYERS)))


def test_imports_stand_left(graph: dict[str, dict[str, int]]) -> None:
    assert not _wrong_arrows(graph)


def test_strings_name_what_stands_left() -> None:
    assert not _hidden_arrows(_modules())


def test_no_modules_import_in_a_circle(graph: dict[str, dict[str, int]]) -> None:
    assert not _circle(graph)


def test_the_page_has_the_parts_in_their_order() -> None:
    page = (_ROOT.parent / "docs" / "architecture.md").read_text()
    cells = re.findall(r"^\| (`[^|]*) \|", page, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`(\w+)(?:/|\.py)`", cell)]
    assert ("__init__", *names) == LAYERS


def test_nothing_imports_what_only_tests_need() -> None:
    """But the fixture for the tests of others."""
    wrong = [
        f"{path}:{line} imports {name}"
        for path in _modules().values()
        for line, name in _imports_of(path)
        if name.split(".")[0] in ("tests", "hypothesis", "pytest", "filecheck")
        and path != _ROOT / "checking" / "fixture.py"
    ]
    assert not wrong


def _written(directory: Path, files: Mapping[str, str]) -> dict[str, Path]:
    """The modules of a package that is written down."""
    for name, text in files.items():
        path = directory / "xtile" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return _modules(directory / "xtile")


def test_names_of_modules_in_strings_count(tmp_path: Path) -> None:
    files = {
        "__init__": 'A = "xtile.launch.b"\n',
        "text/__init__": "",
        "text/a": '"""xtile.opt is."""\nB = {1: "xtile.launch.b.run"}\nC = "xtile.run works"\n',
        "launch/__init__": 'D = "xtile.text.a"\n',
        "launch/b": 'E = lambda x: f"xtile.opt.{x}"\nF = f"{__name__}.c"\n',
        "opt": "",
    }
    assert _hidden_arrows(_written(tmp_path, files)) == [
        "xtile.launch.b:1 names xtile.opt",
        "xtile.text.a:2 names xtile.launch.b",
    ]


def test_imports_within_functions_count_and_those_for_type_checkers_do_not(tmp_path: Path) -> None:
    files = {
        "__init__": "",
        "text/__init__": "",
        "text/a": "def f():\n    from xtile.launch import b\n",
        "launch/__init__": "if TYPE_CHECKING:\n    import xtile.opt\n",
        "launch/b": "from xtile.text.a import f\n",
        "opt": "import xtile.launch.b, xtile.text.a\n",
    }
    graph = _graph(_written(tmp_path, files))
    assert _wrong_arrows(graph) == [
        "xtile.text.a:2 imports xtile.launch",
        "xtile.text.a:2 imports xtile.launch.b",
    ]
    assert set(_circle(graph)) <= {"xtile.text.a", "xtile.launch", "xtile.launch.b"}
    assert len(_circle(graph)) > 2

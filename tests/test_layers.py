"""Each part of the package imports only what stands left of it, and no modules import in a circle.

Imports inside of functions count; those for type checkers do not, because nothing runs them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import xtile

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
    "api",
    "output_formats",
    "universe",
    "opt_arguments",
    "opt_steps",
    "opt",
    "cli",
    "entry_points",
)
"""The packages and modules of `xtile`; each may import those before it."""


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line of each import that can run, with each dotted name that it may mean."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, "imports are absolute"
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        waiting.extend(ast.iter_child_nodes(node))


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
        for line, target in _imports(ast.parse(path.read_text())):
            while target and target not in modules:
                target = target.rpartition(".")[0]
            # Python loads the packages that a module is in before the module, whoever names them.
            if target and target != name and not name.startswith(f"{target}."):
                wanted[target] = line
    return graph


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


def test_every_part_has_its_layer(graph: dict[str, dict[str, int]]) -> None:
    assert len(graph) > 800
    assert {_layer(name) for name in graph} <= set(range(len(LAYERS)))


def test_imports_stand_left(graph: dict[str, dict[str, int]]) -> None:
    assert not _wrong_arrows(graph)


def test_no_modules_import_in_a_circle(graph: dict[str, dict[str, int]]) -> None:
    assert not _circle(graph)


def test_the_page_has_the_parts_in_their_order() -> None:
    page = (_ROOT.parent / "docs" / "architecture.md").read_text()
    cells = re.findall(r"^\| (`[^|]*) \|", page, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`(\w+)(?:/|\.py)`", cell)]
    assert ("__init__", *names) == LAYERS


def test_nothing_imports_what_only_tests_need() -> None:
    wrong = [
        f"{path}:{line} imports {name}"
        for path in _modules().values()
        for line, name in _imports(ast.parse(path.read_text()))
        if name.split(".")[0] in ("tests", "hypothesis", "pytest", "filecheck")
    ]
    assert not wrong


def test_imports_within_functions_count_and_those_for_type_checkers_do_not(tmp_path: Path) -> None:
    files = {
        "__init__": "",
        "text/__init__": "",
        "text/a": "def f():\n    from xtile.launch import b\n",
        "launch/__init__": "if TYPE_CHECKING:\n    import xtile.opt\n",
        "launch/b": "from xtile.text.a import f\n",
        "opt": "import xtile.launch.b, xtile.text.a\n",
    }
    for name, text in files.items():
        path = tmp_path / "xtile" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    graph = _graph(_modules(tmp_path / "xtile"))
    assert _wrong_arrows(graph) == [
        "xtile.text.a:2 imports xtile.launch",
        "xtile.text.a:2 imports xtile.launch.b",
    ]
    assert set(_circle(graph)) <= {"xtile.text.a", "xtile.launch", "xtile.launch.b"}
    assert len(_circle(graph)) > 2

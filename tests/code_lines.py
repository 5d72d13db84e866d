"""How many lines of code a tree of Python files has, by package.

A line counts if some of its text is neither a docstring, a comment nor an import.

    python tests/code_lines.py xtile           # one row a folder below xtile, and their sum
    python tests/code_lines.py xtile --depth 2 # folders two levels below
"""

import argparse
import ast
from collections import Counter
from collections.abc import Iterable
from pathlib import Path


def code_lines(text: str) -> int:
    """The lines of Python source text that hold code."""
    lines = text.splitlines()
    passed_over = {
        number
        for number, line in enumerate(lines, 1)
        if not line.strip() or line.lstrip().startswith("#")
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_docstring(node):
            passed_over.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines) - len(passed_over)


def _is_docstring(node: ast.AST) -> bool:
    """Whether a node is a text that nothing reads."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def table(root: Path, depth: int) -> list[tuple[str, int, int]]:
    """The folders below a root, to a depth: name, files and lines of code, most lines first."""
    files: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for path in root.rglob("*.py"):
        name = "/".join((root.name, *path.relative_to(root).parent.parts[:depth]))
        files[name] += 1
        lines[name] += code_lines(path.read_text(encoding="utf-8"))
    return [(name, files[name], count) for name, count in lines.most_common()]


def main(arguments: Iterable[str] | None = None) -> None:
    """Print the table of a folder."""
    parser = argparse.ArgumentParser(description="lines of code by folder")
    parser.add_argument("root", type=Path)
    parser.add_argument("--depth", type=int, default=1)
    options = parser.parse_args(None if arguments is None else list(arguments))
    rows = table(options.root.resolve(), options.depth)
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    for name, files, lines in rows:
        print(f"{lines:>7} lines in {files:>4} files  {name}")


if __name__ == "__main__":
    main()

"""A hook of mkdocs: pages with every operation of every dialect, made of the classes.

The pages are in the site only. `mkdocs.yml` names this file.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from xdsl.ir import Dialect, Operation
from xdsl.irdl import OpDef, OptionalDef, OptRegionDef, VariadicDef

from xtile.dialects.registry import COMPLETED_DIALECTS, OWN_DIALECTS

FOLDER = "operations"

TITLES = {
    "amdg": "AMD's operations of Triton",
    "core": "the form that every translation passes through",
    "cuda_tile": "NVIDIA's CUDA Tile IR",
    "spirv": "SPIR-V's instructions",
    "tensorlang": "the tensor language",
    "tt": "Triton",
    "ttg": "TritonGPU",
    "xegpu": "XeGPU",
}
"""What the dialects are whose names do not say it."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a page for each dialect, and one that lists them."""
    for path, content in pages().items():
        files.append(File.generated(config, f"{FOLDER}/{path}", content=content))
    return files


def pages() -> dict[str, str]:
    """The text of each page by its name."""
    made_by_name = sorted(({**OWN_DIALECTS, **COMPLETED_DIALECTS}).items())
    all_dialects = {name: make() for name, make in made_by_name}
    # Some have types and attributes only.
    dialects = {name: each for name, each in all_dialects.items() if list(each.operations)}
    made = {f"{name}.md": page_of(dialect) for name, dialect in dialects.items()}
    lines = [
        "# Operations",
        "",
        "Every operation that xtile reads, verifies and runs, as its class describes it.",
        "",
        "| dialect | operations | |",
        "|---|--:|---|",
    ]
    for name, dialect in dialects.items():
        lines.append(
            f"| [{name}]({name}.md) | {len(list(dialect.operations))} | {TITLES.get(name, '')} |"
        )
    return {"index.md": "\n".join(lines) + "\n", **made}


def page_of(dialect: Dialect) -> str:
    """The operations of a dialect."""
    operations = sorted(dialect.operations, key=lambda each: each.name)
    title = TITLES.get(dialect.name)
    lines = [f"# `{dialect.name}`" + (f": {title}" if title else ""), ""]
    described = [each for each in operations if each.__doc__ or _definition(each) is not None]
    for each in described:
        lines += [*section_of(each), ""]
    rest = [each for each in operations if each not in described]
    if rest:
        lines += ["## Others", "", "As their specification describes them:", ""]
        lines += [", ".join(f"`{each.name}`" for each in rest), ""]
    return "\n".join(lines)


def section_of(cls: type[Operation]) -> list[str]:
    """An operation: what it does, its operands, attributes, regions and results."""
    lines = [f"## `{cls.name}`", ""]
    if cls.__doc__:
        lines += [_documentation(cls.__doc__), ""]
    definition = _definition(cls)
    rows = [] if definition is None else list(_rows(definition))
    if rows:
        lines += ["| | name | |", "|---|---|---|"]
        lines += [f"| {kind} | `{name}` | {count} |" for kind, name, count in rows]
    return lines


def _documentation(text: str) -> str:
    """A docstring as Markdown: its sections, such as "Args:", become lists."""
    lines: list[str] = []
    in_section = False
    for line in inspect.cleandoc(text).splitlines():
        if re.fullmatch(r"(Args|Attributes|Returns|Raises|Source|Example|Examples):", line):
            in_section = True
            lines += ["", f"**{line.removesuffix(':')}**", ""]
        elif in_section and (entry := re.fullmatch(r"    (\*?\w+): (.*)", line)):
            lines.append(f"- `{entry[1]}`: {entry[2]}")
        else:
            in_section = in_section and (not line or line.startswith(" "))
            lines.append(line)
    return _escaped("\n".join(lines))


def _escaped(text: str) -> str:
    """Text outside of code, in which a bracket is no link and no tag."""
    parts = re.split(r"(```.*?```|`[^`]*`)", text, flags=re.DOTALL)
    return "".join(
        part if number % 2 else re.sub(r"([<\[\]])", r"\\\1", part)
        for number, part in enumerate(parts)
    )


def _definition(cls: type[Operation]) -> OpDef | None:
    """What an operation is declared to have; None where its class is written out by hand."""
    declared = getattr(cls, "get_irdl_definition", None)
    try:
        return None if declared is None else declared()
    except NotImplementedError:
        return None


def _rows(definition: OpDef) -> Iterator[tuple[str, str, str]]:
    """What an operation has: the kind, the name, and how many."""
    for kind, entries in (
        ("operand", definition.operands),
        ("result", definition.results),
        ("region", definition.regions),
        ("successor", definition.successors),
    ):
        for name, each in entries:
            yield kind, name, _count(each)
    for kind, entries in (
        ("property", definition.properties),
        ("attribute", definition.attributes),
    ):
        for name, each in entries.items():
            yield kind, name, _count(each)


def _count(definition: object) -> str:
    if isinstance(definition, OptionalDef | OptRegionDef):
        return "optional"
    return "any number" if isinstance(definition, VariadicDef) else ""

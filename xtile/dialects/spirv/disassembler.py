"""Binaries as text of SPIR-V's assembler.

Source: SPIRV-Tools, docs/syntax.md and source/disassemble.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator

from xtile.dialects.spirv.binary import (
    Binary,
    Extended,
    Number,
    RawInstruction,
    RawOperand,
    read_binary,
)
from xtile.dialects.spirv.friendly_names import friendly_names
from xtile.dialects.spirv.grammar import Entry, enumerants, generator_name, version_text
from xtile.dialects.spirv.number_text import number_text
from xtile.dialects.spirv.words import ID_KINDS, enumerant_argument

_INDENT = 15
"""The column that the names of instructions start in, if there is room for the result."""


def disassemble(data: bytes, name: str = "<binary>", *, friendly: bool = True) -> str:
    """The text of a binary, as `spirv-dis --no-color` writes it.

    A value that is no enumerant is written as a word, `!64`.

    Args:
        data: The binary.
        name: What messages call it.
        friendly: Whether ids have names that tell what they are; otherwise they are numbers.

    Raises:
        DiagnosticError: The binary is damaged, which is told with the byte.
    """
    binary = read_binary(data, name)
    names = friendly_names(binary) if friendly else {}
    lines = [*_header(binary), *(_line(raw, names) for raw in binary.instructions)]
    return "\n".join(lines) + "\n"


def _header(binary: Binary) -> Iterator[str]:
    tool, build = binary.generator >> 16, binary.generator & 0xFFFF
    generator = generator_name(tool) or f"Unknown({tool})"
    yield "; SPIR-V"
    yield f"; Version: {version_text(binary.version)}"
    yield f"; Generator: {generator}; {build}"
    yield f"; Bound: {binary.bound}"
    yield f"; Schema: {binary.schema}"


def _line(raw: RawInstruction, names: dict[int, str]) -> str:
    result = ""
    if raw.result is not None:
        result = f"%{_id(raw.result, names)} = "
    parts = [f"{result:>{_INDENT}}Op{raw.name}"]
    if raw.type is not None:
        parts.append(f"%{_id(raw.type, names)}")
    parts += [_operand(operand, names) for operand in raw.operands]
    return " ".join(parts)


def _id(number: int, names: dict[int, str]) -> str:
    return names.get(number, str(number))


def _operand(operand: RawOperand, names: dict[int, str]) -> str:
    kind, value = operand
    if kind in ID_KINDS:
        assert isinstance(value, int)
        return f"%{_id(value, names)}"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, Number):
        return number_text(value)
    if isinstance(value, Extended):
        return value.entry.name
    if isinstance(value, Entry):
        return value.name
    text = enumerant_argument(kind, value)
    is_unknown = isinstance(text, int) and enumerants(kind) is not None
    return f"!{text}" if is_unknown else str(text)

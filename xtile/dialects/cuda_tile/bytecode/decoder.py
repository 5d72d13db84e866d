"""Modules from bytecode; `encoder.py` describes it.

A file does not hold the module's name. Its variables stand before its functions.
"""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region

from xtile.dialects.cuda_tile.attributes import OptimizationHintsAttr, SymbolVisibilityAttr
from xtile.dialects.cuda_tile.bytecode.attribute_decoder import AttributeReader
from xtile.dialects.cuda_tile.bytecode.byte_streams import ByteReader
from xtile.dialects.cuda_tile.bytecode.constants import ConstantReader
from xtile.dialects.cuda_tile.bytecode.container import Container, read_container
from xtile.dialects.cuda_tile.bytecode.debug_decoder import DebugReader
from xtile.dialects.cuda_tile.bytecode.operation_decoder import FunctionReader
from xtile.dialects.cuda_tile.bytecode.string_table import StringReader
from xtile.dialects.cuda_tile.bytecode.tables import (
    FUNCTION_HINTS_SINCE,
    GLOBAL_FLAGS_SINCE,
    MODULE_NAME,
    SECTION_ALIGNMENTS,
    FunctionFlag,
    Section,
)
from xtile.dialects.cuda_tile.bytecode.type_decoder import TypeReader
from xtile.dialects.cuda_tile.enumerations import SymbolVisibility
from xtile.dialects.cuda_tile.ops.global_variables import GlobalOp
from xtile.dialects.cuda_tile.ops.module import EntryOp
from xtile.dialects.cuda_tile.ops.module import ModuleOp as TileModuleOp
from xtile.dialects.cuda_tile.types import TileType
from xtile.garbage import without_collections
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import Source, attach_source

_KNOWN_FLAGS = sum(map(int, FunctionFlag))

_MAXIMUM_ALIGNMENT = (1 << 63) - 1


def decode(data: bytes, name: str = "<bytecode>") -> TileModuleOp:
    """Reads bytecode of any version.

    Args:
        data: The bytecode.
        name: What messages call it.

    Raises:
        DiagnosticError: It is damaged, which is told with the byte and the section.
    """
    source = Source.from_binary(name, data)
    try:
        with without_collections():
            return _Decoder(read_container(data, source)).decode(source)
    # Python's stack may be too short for what the format allows.
    except RecursionError:
        message = "what is in the file nests too deeply"
        raise DiagnosticError([Diagnostic(Severity.ERROR, message, source, None)]) from None


class _Decoder:
    """Reads one module."""

    def __init__(self, container: Container) -> None:
        self._version = container.version
        self._sections = sections = container.sections
        self._strings = StringReader(sections[Section.STRING])
        types = TypeReader(sections.get(Section.TYPE), self._version)
        constants = ConstantReader(sections.get(Section.CONSTANT))
        self._attributes = AttributeReader(self._strings, types, constants)
        self._debug = DebugReader(sections.get(Section.DEBUG), self._strings, self._version)

    def decode(self, source: Source) -> TileModuleOp:
        operations: list[Operation] = [*self._read_globals(), *self._read_functions()]
        properties: dict[str, Attribute] = {"sym_name": StringAttr(MODULE_NAME)}
        producer = self._read_producer()
        if producer is not None:
            properties["producer"] = producer
        module = TileModuleOp.create(properties=properties, regions=[Region(Block(operations))])
        attach_source(module, source)
        return module

    def _read_producer(self) -> StringAttr | None:
        section = self._sections.get(Section.PRODUCER)
        if section is None:
            return None
        producer = self._attributes.read_string(section)
        section.expect_end("the section")
        return producer

    def _read_globals(self) -> list[GlobalOp]:
        section = self._sections.get(Section.GLOBAL)
        if section is None:
            return []
        size = 6 if self._version >= GLOBAL_FLAGS_SINCE else 4
        variables = [self._read_global(section) for _ in range(section.count("variables", size))]
        section.expect_end("the section")
        return variables

    def _read_global(self, section: ByteReader) -> GlobalOp:
        beginning = section.position
        name = self._read_name(section, "variable")
        type = self._attributes.types.get_of(section, TileType, "a tile")
        value = self._attributes.constants.get(section, type)
        start = section.position
        alignment = section.varint()
        if alignment > _MAXIMUM_ALIGNMENT:
            raise section.error(f"an alignment of {alignment} bytes is too large", start)
        properties: dict[str, Attribute] = {
            "sym_name": name,
            "value": value,
            "alignment": IntegerAttr(alignment, i64),
        }
        visibility = SymbolVisibility.PUBLIC
        if self._version >= GLOBAL_FLAGS_SINCE:
            start = section.position
            number, is_constant = section.varint(), section.varint()
            if number >= len(SymbolVisibility):
                raise section.error(f"there is no visibility {number}", start)
            visibility = list(SymbolVisibility)[number]
            if is_constant:
                properties["constant"] = UnitAttr()
        properties["symbol_visibility"] = SymbolVisibilityAttr(visibility)
        variable = GlobalOp.create(properties=properties)
        section.source.record(variable, (beginning, section.position))
        return variable

    def _read_functions(self) -> list[EntryOp]:
        section = self._sections[Section.FUNCTION]
        functions = [self._read_function(section) for _ in range(section.count("functions", 5))]
        if section.remaining >= SECTION_ALIGNMENTS[Section.FUNCTION]:
            raise section.error("after the last function there is more than padding")
        return functions

    def _read_function(self, section: ByteReader) -> EntryOp:
        beginning = section.position
        name = self._read_name(section, "function")
        signature = self._attributes.types.get_of(section, FunctionType, "a function")
        start = section.position
        flags = section.byte()
        if flags & ~_KNOWN_FLAGS:
            raise section.error(f"the flags of @{name.data} are {flags:#x}; known are 0x7", start)
        if not flags & FunctionFlag.KERNEL:
            raise section.error(f"@{name.data} is no kernel; only kernels are known", start)
        positions = self._debug.function(section)
        properties: dict[str, Attribute] = {"sym_name": name, "function_type": signature}
        hints = self._read_hints(section, flags)
        if hints is not None:
            properties["optimization_hints"] = hints
        location = positions.next(section)
        body = section.part(section.count("bytes"))
        block = Block(arg_types=signature.inputs.data)
        FunctionReader(self._attributes, positions, self._version).read_body(block, body)
        entry = EntryOp.create(properties=properties, regions=[Region(block)], location=location)
        section.source.record(entry, (beginning, section.position))
        return entry

    def _read_hints(self, section: ByteReader, flags: int) -> OptimizationHintsAttr | None:
        is_always_hinted = self._version >= FUNCTION_HINTS_SINCE
        if not is_always_hinted and not flags & FunctionFlag.HAS_HINTS:
            return None
        start = section.position
        hints = self._attributes.read_tagged(section)
        if not isinstance(hints, OptimizationHintsAttr):
            raise section.error(f"expected optimization hints, got {hints.name}", start)
        if is_always_hinted:
            self._attributes.read_tagged(section)
            if not hints.value.data:
                return None
        return hints

    def _read_name(self, section: ByteReader, what: str) -> StringAttr:
        start = section.position
        name = self._attributes.read_string(section)
        if not name.data:
            raise section.error(f"a {what} has no name", start)
        return name

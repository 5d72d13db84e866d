"""Operations of a function from bytes; `records.py` describes them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.traits import IsTerminator

from xtile.dialects.cuda_tile.bytecode.attribute_decoder import AttributeReader
from xtile.dialects.cuda_tile.bytecode.byte_streams import ByteReader
from xtile.dialects.cuda_tile.bytecode.debug_decoder import FunctionLocations
from xtile.dialects.cuda_tile.bytecode.records import Record, records_by_opcode
from xtile.dialects.cuda_tile.types import TokenType
from xtile.dialects.cuda_tile.versions import Version

MAXIMUM_DEPTH = 256
"""How deep regions may nest."""

_SEGMENTS = AttrSizedOperandSegments.attribute_name


class FunctionReader:
    """Reads the operations of one function.

    Args:
        attributes: What reads attributes.
        locations: Where the function's operations come from.
        version: The file's version.
    """

    def __init__(
        self, attributes: AttributeReader, locations: FunctionLocations, version: Version
    ) -> None:
        self._attributes = attributes
        self._types = attributes.types
        self._locations = locations
        self._version = version
        self._records = records_by_opcode(version)
        self._values: list[SSAValue] = []
        self._depth = 0
        self._segments: dict[tuple[int, ...], Attribute] = {}

    def read_body(self, block: Block, reader: ByteReader) -> None:
        """Reads the operations of a function's block up to the end of its bytes.

        Raises:
            DiagnosticError: One is damaged.
        """
        self._values += block.args
        operations: list[Operation] = []
        while reader.position < reader.end:
            operations.append(self._read(reader))
        block.add_ops(operations)

    def _read(self, reader: ByteReader) -> Operation:
        start = reader.position
        opcode = reader.varint()
        record = self._records.get(opcode)
        if record is None:
            raise reader.error(f"there is no operation with the opcode {opcode:#x}", start)
        if self._version < record.since:
            raise reader.error(
                f"{record.name} needs version {record.since}, but the file has {self._version}",
                start,
            )
        location = self._locations.next(reader)
        results = self._read_results(record, reader)
        flags_start = reader.position
        flags = reader.varint() if record.has_flags else 0
        if flags & ~record.mask:
            raise reader.error(
                f"the flags of {record.name} are {flags:#x}; known are {record.mask:#x}",
                flags_start,
            )
        properties = self._read_properties(record, flags, results, reader)
        operands = self._read_operands(record, flags, properties, reader)
        regions = self._read_regions(record, reader) if record.regions else ()
        operation = record.definition.create(
            operands=operands,
            # All results that came later are tokens.
            result_types=[*results, *(TokenType() for _ in record.late_results)],
            properties=properties,
            regions=regions,
            location=location,
        )
        self._values += operation.results[: len(results)]
        reader.source.record(operation, (start, reader.position))
        return operation

    def _read_results(self, record: Record, reader: ByteReader) -> list[Attribute]:
        count = reader.count("results") if record.has_result_count else len(record.results)
        get = self._types.get
        return [get(reader) for _ in range(count)]

    def _read_properties(
        self, record: Record, flags: int, results: Sequence[Attribute], reader: ByteReader
    ) -> dict[str, Attribute]:
        properties: dict[str, Attribute] = {}
        for field in record.properties:
            if field.bit is None or flags >> field.bit & 1:
                value = field.codec.read(self._attributes, reader, results)
                if value is not None:
                    properties[field.name] = value
        for field in record.late_properties:
            if field.default is not None:
                properties[field.name] = field.default
        return properties

    def _read_operands(
        self, record: Record, flags: int, properties: dict[str, Attribute], reader: ByteReader
    ) -> list[SSAValue]:
        if not record.is_segmented:
            count = reader.count("operands") if record.has_operand_count else len(record.operands)
            return [self._read_value(reader) for _ in range(count)]
        operands: list[SSAValue] = []
        sizes: list[int] = []
        for field in record.operands:
            if field.bit is not None:
                size = flags >> field.bit & 1
            else:
                size = reader.count("operands") if field.is_variadic else 1
            sizes.append(size)
            for _ in range(size):
                operands.append(self._read_value(reader))
        properties[_SEGMENTS] = self._segments_attribute(tuple(sizes))
        return operands

    def _segments_attribute(self, sizes: tuple[int, ...]) -> Attribute:
        known = self._segments.get(sizes)
        if known is None:
            known = self._segments[sizes] = DenseArrayBase.from_list(i32, sizes)
        return known

    def _read_value(self, reader: ByteReader) -> SSAValue:
        start = reader.position
        number = reader.varint()
        if number >= len(self._values):
            raise reader.error(
                f"there is no value {number} here; there are {len(self._values)}", start
            )
        return self._values[number]

    def _read_regions(self, record: Record, reader: ByteReader) -> list[Region]:
        start = reader.position
        count = reader.varint()
        if count != record.regions:
            raise reader.error(f"{record.name} has {record.regions} regions, got {count}", start)
        if self._depth == MAXIMUM_DEPTH:
            raise reader.error(f"regions nest more than {MAXIMUM_DEPTH} deep", start)
        self._depth += 1
        regions: list[Region] = []
        try:
            for _ in range(count):
                blocks = reader.count("blocks", 2)
                regions.append(Region([self._read_block(reader) for _ in range(blocks)]))
        except RecursionError:
            raise reader.error("regions nest too deeply for Python's stack", start) from None
        self._depth -= 1
        return regions

    def _read_block(self, reader: ByteReader) -> Block:
        before = len(self._values)
        count = reader.count("parameters of a block")
        block = Block(arg_types=[self._types.get(reader) for _ in range(count)])
        self._values += block.args
        start = reader.position
        operations = [self._read(reader) for _ in range(reader.count("operations"))]
        if not operations or not operations[-1].has_trait(IsTerminator):
            raise reader.error("the last operation of a block must end it", start)
        block.add_ops(operations)
        del self._values[before:]
        return block

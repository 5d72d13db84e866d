"""Operations of a function as bytes; `records.py` describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments

from xtile.dialects.cuda_tile.bytecode.attribute_encoder import AttributeWriter
from xtile.dialects.cuda_tile.bytecode.byte_streams import write_numbers, write_varint
from xtile.dialects.cuda_tile.bytecode.debug_encoder import DebugWriter
from xtile.dialects.cuda_tile.bytecode.property_codecs import BooleansCodec
from xtile.dialects.cuda_tile.bytecode.records import TOP_LEVEL, PropertyField, Record, record_of
from xtile.dialects.cuda_tile.bytecode.type_encoder import UnwritableError
from xtile.dialects.cuda_tile.operation import CudaTileOperation
from xtile.text.diagnostics import error_at

_SEGMENTS = AttrSizedOperandSegments.attribute_name


class FunctionWriter:
    """Writes the operations of one function.

    Values are numbered from 0 in the order of their definition; a number is free again after the
    block that its value is defined in.

    Args:
        attributes: What writes attributes and collects types.
        debug: What collects the locations of the operations.
    """

    def __init__(self, attributes: AttributeWriter, debug: DebugWriter) -> None:
        self._attributes = attributes
        self._debug = debug
        self._version = attributes.version
        self._numbers: dict[SSAValue, int] = {}
        self._next = 0
        # By identity, with the attribute so that it lives.
        self._segments: dict[int, tuple[tuple[int, ...], Attribute]] = {}
        self._records: dict[type[Operation], Record] = {}

    def body(self, block: Block) -> bytearray:
        """The operations of a function's block; its parameters are not written.

        Raises:
            DiagnosticError: The version has no bytes for an operation.
        """
        out = bytearray()
        for argument in block.args:
            self._define(argument)
        for operation in block.ops:
            self._write(operation, out)
        return out

    def _define(self, value: SSAValue) -> None:
        self._numbers[value] = self._next
        self._next += 1

    def _write(self, operation: Operation, out: bytearray) -> None:
        record = self._records.get(operation.__class__)
        if record is None:
            record = self._find_record(operation)
        self._debug.add_location(operation)
        try:
            self._write_record(record, operation, out)
        except UnwritableError as error:
            raise error_at(operation, f"{operation.name}: {error}") from None

    def _find_record(self, operation: Operation) -> Record:
        if not isinstance(operation, CudaTileOperation) or operation.name in TOP_LEVEL:
            raise error_at(
                operation, f"{operation.name} does not stand in a function of CUDA Tile bytecode"
            )
        record = record_of(operation.__class__, self._version)
        if self._version < record.since:
            raise error_at(
                operation,
                f"{operation.name} needs version {record.since} of CUDA Tile IR, but "
                f"{self._version} is written",
            )
        self._records[operation.__class__] = record
        return record

    def _write_record(self, record: Record, operation: Operation, out: bytearray) -> None:
        if record.has_newer_uses:
            self._check_uses(operation)
        write_varint(out, record.opcode)
        results = operation.results
        if record.late_results:
            results = self._without_late(record, operation, results)
        if record.has_result_count:
            write_varint(out, len(results))
        type_index = self._attributes.types.index
        for result in results:
            write_varint(out, type_index(result.type))
        position = len(out)
        if record.has_flags:
            # All flags fit into one byte, which is known when everything else is.
            out.append(0)
        flags = self._write_properties(record, operation, out)
        flags |= self._write_operands(record, operation, out)
        if flags:
            out[position] = flags
        if record.regions:
            write_varint(out, record.regions)
            for region in operation.regions:
                self._write_region(region, out)
        for result in results:
            self._define(result)

    def _check_uses(self, operation: Operation) -> None:
        """Checks that the version has what the fields of an operation say.

        Raises:
            UnwritableError: It has not.
        """
        for use, since in cast("CudaTileOperation", operation).newer_uses():
            if self._version < since:
                raise self._too_new(use, "", since)

    def _without_late(
        self, record: Record, operation: Operation, results: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """The results that the version has.

        Raises:
            UnwritableError: Another one is used.
        """
        kept = len(results) - len(record.late_results)
        for result, field in zip(results[kept:], record.late_results, strict=True):
            if result.first_use is not None:
                raise self._too_new(field.name, "the result ", field.since)
        return results[:kept]

    def _write_properties(self, record: Record, operation: Operation, out: bytearray) -> int:
        """Writes the properties, and returns the flags of those that are there."""
        flags = 0
        properties = operation.properties
        if record.late_properties:
            self._check_late_properties(record, properties)
        for field in record.properties:
            value = properties.get(field.name)
            if value is not None:
                if field.bit is not None:
                    flags |= 1 << field.bit
                field.codec.write(self._attributes, out, value)
            elif field.default is not None:
                field.codec.write(self._attributes, out, field.default)
            elif field.bit is None:
                self._write_missing(record, field, operation, out)
        return flags

    def _check_late_properties(self, record: Record, properties: Mapping[str, Attribute]) -> None:
        """Checks that nothing is said that the version cannot say.

        Raises:
            UnwritableError: Something is.
        """
        for field in record.late_properties:
            value = properties.get(field.name)
            if value is not None and not _says_nothing(field, value):
                raise self._too_new(field.name, "the property ", field.since)

    def _write_missing(
        self, record: Record, field: PropertyField, operation: Operation, out: bytearray
    ) -> None:
        """Writes a property that is never left out.

        Raises:
            UnwritableError: Nothing is known to stand for it.
        """
        if not isinstance(field.codec, BooleansCodec):
            raise UnwritableError(f"the property {field.name} is missing")
        write_numbers(out, [0] * self._number_of_indices(record, operation), 1)

    def _number_of_indices(self, record: Record, operation: Operation) -> int:
        """How many operands say which tile of a view is accessed."""
        sizes = zip(record.operands, self._sizes(operation), strict=True)
        return next(size for field, size in sizes if field.name == "index")

    def _sizes(self, operation: Operation) -> tuple[int, ...]:
        """How many operands each group has."""
        attribute = operation.properties[_SEGMENTS]
        known = self._segments.get(id(attribute))
        if known is not None:
            return known[0]
        sizes = tuple(
            int(size) for size in cast("DenseArrayBase[IntegerType]", attribute).get_values()
        )
        self._segments[id(attribute)] = (sizes, attribute)
        return sizes

    def _write_operands(self, record: Record, operation: Operation, out: bytearray) -> int:
        """Writes the operands, and returns the flags of those that are there."""
        operands = operation.operands
        if not record.is_segmented:
            if record.has_operand_count:
                write_varint(out, len(operands))
            self._write_values(operands, out)
            return 0
        flags = start = 0
        for field, size in zip(record.operands, self._sizes(operation), strict=True):
            if field.bit is not None:
                if not size:
                    continue
                if self._version < field.since:
                    raise self._too_new(field.name, "the operand ", field.since)
                flags |= 1 << field.bit
            elif field.is_variadic:
                write_varint(out, size)
            self._write_values(operands[start : start + size], out)
            start += size
        return flags

    def _write_values(self, values: Sequence[SSAValue], out: bytearray) -> None:
        """Writes the numbers of values.

        Raises:
            UnwritableError: One is defined nowhere before.
        """
        numbers = self._numbers
        for value in values:
            number = numbers.get(value)
            if number is None:
                raise UnwritableError("an operand is not defined before it is used")
            if number < 0x80:
                out.append(number)
            else:
                write_varint(out, number)

    def _write_region(self, region: Region, out: bytearray) -> None:
        write_varint(out, len(region.blocks))
        for block in region.blocks:
            before = self._next
            write_varint(out, len(block.args))
            for argument in block.args:
                write_varint(out, self._attributes.types.index(argument.type))
                self._define(argument)
            operations = list(block.ops)
            write_varint(out, len(operations))
            for operation in operations:
                self._write(operation, out)
            self._next = before

    def _too_new(self, name: str, what: str, since: object) -> UnwritableError:
        return UnwritableError(
            f"{what}{name} needs version {since} of CUDA Tile IR, but {self._version} is written"
        )


def _says_nothing(field: PropertyField, value: Attribute) -> bool:
    """Whether an older version means the same by leaving a property out."""
    if isinstance(value, DenseArrayBase):
        return not any(value.get_values())
    return value == field.default

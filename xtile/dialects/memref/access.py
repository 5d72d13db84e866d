"""Operations that read and write memory.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td` and `MemRefOps.cpp`.
"""

# Properties are named as upstream names them.
# ruff: noqa: N815

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects import memref
from xdsl.dialects.builtin import I32, BoolAttr, IndexType, IntegerAttr, MemRefType, i1, i32, i64
from xdsl.ir import Operation, Region, SSAValue
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    OptPropertyDef,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.memref.layouts import (
    RANKED_OR_UNRANKED,
    are_compatible,
    ranked,
    sizes_of,
    verify_alignment,
    verify_indices,
)
from xtile.dialects.upstream import SIGNLESS_INTEGER_OR_FLOAT, completes, element_type, is_float
from xtile.text.extensions import Extension, Table

ATOMIC_KINDS = (
    "addf",
    "addi",
    "andi",
    "assign",
    "maximumf",
    "maxnumf",
    "maxs",
    "maxu",
    "minimumf",
    "minnumf",
    "mins",
    "minu",
    "mulf",
    "muli",
    "ori",
    "xori",
)
"""The kinds of `memref.atomic_rmw`; the attribute holds the position in this list."""

_FLOAT_KINDS = frozenset({"addf", "maximumf", "minimumf", "mulf"})
_ANY_KINDS = frozenset({"assign", "maxnumf", "minnumf"})

_ALIGNMENT = {"alignment": OptPropertyDef(BaseAttr(IntegerAttr))}


def _alignment_of(operation: Operation) -> int | None:
    alignment = operation.properties.get("alignment")
    return alignment.value.data if isa(alignment, IntegerAttr) else None


@completes(properties=_ALIGNMENT)
class LoadOp(memref.LoadOp):
    """Reads an element.

    ```
    %x = memref.load %memory[%i, %j] : memref<4x8xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        verify_indices(self.indices, self.memref.type)
        verify_alignment(_alignment_of(self))


@completes(properties=_ALIGNMENT)
class StoreOp(memref.StoreOp):
    """Writes an element.

    ```
    memref.store %x, %memory[%i, %j] : memref<4x8xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        verify_indices(self.indices, self.memref.type)
        verify_alignment(_alignment_of(self))


@completes(
    operands={"source": RANKED_OR_UNRANKED, "destination": RANKED_OR_UNRANKED},
    assembly_format=(
        "$source `,` $destination attr-dict `:` type($source) `to` type($destination)"
    ),
)
class CopyOp(memref.CopyOp):
    """Copies the first memref to the second.

    ```
    memref.copy %from, %to : memref<64xf32> to memref<64xf32, 1>
    ```
    """

    @override
    def verify_(self) -> None:
        source, destination = self.source.type, self.destination.type
        if element_type(source) != element_type(destination):
            raise VerifyException(f"expected equal element types, got {source} and {destination}")
        if not isa(source, MemRefType) or not isa(destination, MemRefType):
            return
        if not are_compatible(sizes_of(source), sizes_of(destination)):
            raise VerifyException(f"expected compatible shapes, got {source} and {destination}")


@irdl_custom_directive
class AtomicKind(CustomDirective):
    """`addf`: a kind of atomic update."""

    kind: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        position = parser.pos
        name = parser.parse_identifier()
        if name not in ATOMIC_KINDS:
            parser.raise_error(f"expected one of {', '.join(ATOMIC_KINDS)}", position, parser.pos)
        self.kind.set(state, IntegerAttr(ATOMIC_KINDS.index(name), i64))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        kind = self.kind.get(op)
        assert isa(kind, IntegerAttr)
        printer.print_string(ATOMIC_KINDS[kind.value.data])


def _verify_atomic_rmw(operation: memref.AtomicRMWOp) -> None:
    """`memref.atomic_rmw`: updates an element at once, and returns what it was.

    ```
    %old = memref.atomic_rmw addf %x, %memory[%i] : (f32, memref<4xf32>) -> f32
    ```
    """
    if not 0 <= operation.kind.value.data < len(ATOMIC_KINDS):
        raise VerifyException(
            f"the kind must be below {len(ATOMIC_KINDS)}, got {operation.kind.value.data}"
        )
    verify_indices(operation.indices, operation.memref.type)
    ordering_of(operation)
    name, type = ATOMIC_KINDS[operation.kind.value.data], operation.value.type
    if name not in _ANY_KINDS and (name in _FLOAT_KINDS) != is_float(type):
        kind = "floats" if name in _FLOAT_KINDS else "integers"
        raise VerifyException(f"{name} is for {kind}, got {type}")


@op_definition
class GenericAtomicRMWOp(IRDLOperation):
    """Updates an element at once by a region, and returns what it was.

    ```
    %old = memref.generic_atomic_rmw %memory[%i] : memref<4xf32> {
    ^bb0(%x: f32):
      %y = arith.negf %x : f32
      memref.atomic_yield %y : f32
    }
    ```
    """

    name = "memref.generic_atomic_rmw"

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    result = result_def(SIGNLESS_INTEGER_OR_FLOAT)
    atomic_body = region_def("single_block")

    def __init__(self, memref: SSAValue, indices: Sequence[SSAValue], body: Region) -> None:
        super().__init__(
            operands=[memref, indices],
            result_types=[ranked(memref.type).element_type],
            regions=[body],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> GenericAtomicRMWOp:
        memref = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isa(type, MemRefType):
            parser.raise_error(f"expected a memref, got {type}", position, parser.pos)
        resolved = [parser.resolve_operand(index, IndexType()) for index in indices]
        value = parser.resolve_operand(memref, type)
        operation = GenericAtomicRMWOp(value, resolved, parser.parse_region())
        operation.attributes |= parser.parse_optional_attr_dict()
        return operation

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        printer.print_string("[")
        printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_string("] : ")
        printer.print_attribute(self.memref.type)
        printer.print_string(" ")
        printer.print_region(self.atomic_body)
        printer.print_op_attributes(self.attributes)

    @override
    def verify_(self) -> None:
        ordering_of(self)
        type = self.result.type
        if element_type(self.memref.type) != type:
            raise VerifyException(f"expected a result of the elements' type, got {type}")
        arguments = tuple(self.atomic_body.block.arg_types)
        if arguments != (type,):
            names = ", ".join(str(argument) for argument in arguments) or "none"
            raise VerifyException(f"expected one argument of the body of type {type}, got {names}")


@op_definition
class AtomicYieldOp(IRDLOperation):
    """Gives the new value of a `memref.generic_atomic_rmw`.

    ```
    memref.atomic_yield %y : f32
    ```
    """

    name = "memref.atomic_yield"

    result = operand_def()

    assembly_format = "$result attr-dict `:` type($result)"

    traits = traits_def(HasParent(GenericAtomicRMWOp), IsTerminator())

    def __init__(self, result: SSAValue) -> None:
        super().__init__(operands=[result])

    @override
    def verify_(self) -> None:
        update = self.parent_op()
        if isinstance(update, GenericAtomicRMWOp) and update.result.type != self.result.type:
            raise VerifyException(
                f"expected a value of type {update.result.type}, got {self.result.type}"
            )


@op_definition
class PrefetchOp(IRDLOperation):
    """Loads an element into a cache; the locality is 0 (none) to 3 (all caches).

    ```
    memref.prefetch %memory[%i], read, locality<3>, data : memref<4xf32>
    ```
    """

    name = "memref.prefetch"

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    isWrite = prop_def(BoolAttr)
    localityHint = prop_def(IntegerAttr[I32])
    isDataCache = prop_def(BoolAttr)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> PrefetchOp:
        memref = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(",")
        is_write = _parse_choice(parser, "read", "write")
        parser.parse_punctuation(",")
        parser.parse_keyword("locality")
        with parser.in_angle_brackets():
            locality = parser.parse_integer()
        parser.parse_punctuation(",")
        is_data = _parse_choice(parser, "instr", "data")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(memref, parser.parse_type())
        return PrefetchOp(
            operands=[value, [parser.resolve_operand(index, IndexType()) for index in indices]],
            properties={
                "isWrite": IntegerAttr(is_write, i1),
                "localityHint": IntegerAttr(locality, i32),
                "isDataCache": IntegerAttr(is_data, i1),
            },
            attributes={**attributes},
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        printer.print_string("[")
        printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_string("], " + ("write" if self.isWrite.value.data else "read"))
        printer.print_string(f", locality<{self.localityHint.value.data}>, ")
        printer.print_string("data" if self.isDataCache.value.data else "instr")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)

    @override
    def verify_(self) -> None:
        verify_indices(self.indices, self.memref.type)
        locality = self.localityHint.value.data
        if not 0 <= locality <= 3:
            raise VerifyException(f"the locality must be from 0 to 3, got {locality}")


def _parse_choice(parser: Parser, no: str, yes: str) -> int:
    """Reads one of two keywords; returns 1 for the second."""
    position = parser.pos
    name = parser.parse_identifier()
    if name not in (no, yes):
        parser.raise_error(f"expected '{no}' or '{yes}', got '{name}'", position, parser.pos)
    return int(name == yes)


EXTENSIONS: Table = {
    memref.AtomicRMWOp: Extension(
        assembly_format=(
            "custom<AtomicKind>($kind) $value `,` $memref `[` $indices `]` attr-dict `:` "
            "`(` type($value) `,` type($memref) `)` `->` type($result)"
        ),
        custom_directives=(AtomicKind,),
        verify=_verify_atomic_rmw,
    ),
}
"""What LLVM says of xDSL's operations of this module."""

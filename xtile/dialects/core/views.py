"""A pointer's memory as a memref, whose extents may be unknown.

Source: CUDA Tile IR specification, "make_tensor_view"; triton-lang/triton, `TritonOps.td`
(`tt.make_tensor_descriptor`, `tt.make_tensor_ptr`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerType,
    MemRefType,
    i64,
)
from xdsl.dialects.utils.dynamic_index_list import DynamicIndexList
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.core.pointers import PointerType
from xtile.dialects.definitions import op_definition
from xtile.dialects.memref.layouts import (
    Extent,
    claims_no_more,
    extents,
    layout_of,
    text_of,
    verify_count,
)
from xtile.dialects.shapes import verify_type

UNKNOWN_EXTENT = -1
"""Stands in the list of sizes for an extent that nothing is known of."""


@irdl_custom_directive
class Extents(CustomDirective):
    """Sizes that are numbers, operands, or `*` where nothing is known: `[%n, *, 8]`."""

    dynamic: VariadicOperandVariable
    static: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        operands: list[UnresolvedOperand] = []

        def parse_one() -> int:
            if parser.parse_optional_punctuation("*") is not None:
                return UNKNOWN_EXTENT
            operand = parser.parse_optional_unresolved_operand()
            if operand is None:
                return parser.parse_integer(allow_boolean=False, allow_negative=False)
            operands.append(operand)
            return DYNAMIC_INDEX

        static = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_one)
        self.dynamic.set(state, operands)
        self.static.set(state, DenseArrayBase.from_list(i64, static))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        operands = iter(self.dynamic.get(op))
        static = cast("DenseArrayBase[IntegerType]", self.static.get(op))

        def print_one(size: int) -> None:
            if size == DYNAMIC_INDEX:
                printer.print_operand(next(operands))
            else:
                printer.print_string("*" if size == UNKNOWN_EXTENT else str(size))

        with printer.in_square_brackets():
            printer.print_list(static.get_values(), print_one)


@op_definition
class ViewOp(IRDLOperation):
    """Memory that a pointer points to, as a memref.

    ```
    %m = core.view %p to offset: [0], sizes: [%n, 8], strides: [%s, 1]
        : !core.ptr<f32> to memref<?x8xf32, strided<[?, 1]>>
    %w = core.view %p to offset: [0], sizes: [*], strides: [1]
        : !core.ptr<f32> to memref<?xf32>
    ```

    Element (i, j) lies `offset + i * strides[0] + j * strides[1]` elements behind the pointer. `*`
    says that nothing is known of an extent: it cannot be asked for, and no access is checked by it.
    Memory must be there only where it is accessed.
    """

    name = "core.view"

    pointer = operand_def(PointerType)
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(MemRefType)

    traits = traits_def(Pure())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$pointer `to` `offset` `` `:` custom<DynamicIndexList>($offsets, $static_offsets) `,` "
        "`sizes` `` `:` custom<Extents>($sizes, $static_sizes) `,` "
        "`strides` `` `:` custom<DynamicIndexList>($strides, $static_strides) attr-dict "
        "`:` type($pointer) `to` type($result)"
    )
    custom_directives: ClassVar = (DynamicIndexList, Extents)

    @property
    def unknown_extents(self) -> frozenset[int]:
        """The dimensions of whose extents nothing is known."""
        sizes = self.static_sizes.get_values()
        return frozenset(i for i, size in enumerate(sizes) if size == UNKNOWN_EXTENT)

    @override
    def verify_(self) -> None:
        pointer = cast("PointerType", self.pointer.type)
        result = self.result.type
        verify_type(result.element_type, pointer.pointee_type, "the memref's element")
        if result.memory_space != pointer.memory_space:
            raise VerifyException(f"expected the memory of {pointer}, got {result}")
        layout = layout_of(result)
        if layout is None:
            raise VerifyException(f"expected a result with strides, got {result}")
        sizes = list(self.static_sizes.get_values())
        if any(size < 0 and size not in (DYNAMIC_INDEX, UNKNOWN_EXTENT) for size in sizes):
            raise VerifyException(f"expected sizes of 0 or more, got {text_of(extents(sizes))}")
        offsets = _known(self.static_offsets, self.offsets, "offsets", result)
        strides = _known(self.static_strides, self.strides, "strides", result)
        known = _known(self.static_sizes, self.sizes, "sizes", result)
        for claimed, told, what in (
            ((layout.offset,), offsets, "the offset"),
            (layout.sizes, known, "the sizes"),
            (layout.strides, strides, "the strides"),
        ):
            if not claims_no_more(claimed, told):
                raise VerifyException(f"expected a result of {what} {text_of(told)}, got {result}")


def _known(
    static: DenseArrayBase[IntegerType], given: Sequence[SSAValue], what: str, result: MemRefType
) -> tuple[Extent, ...]:
    """The numbers that are known, of which operands give the others."""
    numbers = static.get_values()
    verify_count(len(given), list(numbers).count(DYNAMIC_INDEX), what, result)
    return tuple(None if n == UNKNOWN_EXTENT and what == "sizes" else n for n in extents(numbers))

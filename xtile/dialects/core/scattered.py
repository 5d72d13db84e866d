"""Reads and writes of elements of memory anywhere: at indices of their own, or through pointers.

Source: CUDA Tile IR specification, "load_ptr_tko", "gather_scatter_view"; triton-lang/triton,
`TritonOps.td` (`tt.load`, `tt.descriptor_gather`). Upstream's `vector.gather` and `vector.scatter`
have indices of their own along the last dimension only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
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
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.core.attributes import (
    MemoryOrder,
    MemoryOrderAttr,
    MemoryScope,
    MemoryScopeAttr,
)
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import as_vector, shape_of, verify_type, with_element
from xtile.dialects.upstream import TypeWhere


def _is_index(type: Attribute) -> bool:
    vector = as_vector(type)
    if vector is None:
        return isinstance(type, IndexType)
    return isinstance(vector.element_type, IntegerType | IndexType)


INDICES = TypeWhere("an index, or a vector of integers or indices", _is_index)


@irdl_custom_directive
class Ordering(CustomDirective):
    """The order and the scope of an atomic access, as in `acquire device`; or nothing."""

    order: AttributeVariable
    scope: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        order = parser.parse_optional_str_enum(MemoryOrder)
        if order is None:
            return
        self.order.set(state, MemoryOrderAttr(order))
        self.scope.set(state, MemoryScopeAttr(parser.parse_str_enum(MemoryScope)))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for variable in (self.order, self.scope):
            attribute = variable.get(op)
            if isinstance(attribute, MemoryOrderAttr | MemoryScopeAttr):
                state.print_whitespace(printer)
                printer.print_string(attribute.data)
                state.last_was_punctuation, state.should_emit_space = False, True


MEMORY = TypeWhere(
    "a memref, a pointer, or a vector of pointers",
    lambda type: isinstance(type, MemRefType) or pointer_of(type) is not None,
)


@op_definition
class GatherLoadOp(IRDLOperation):
    """Reads elements of memory anywhere, where a mask is true.

    ```
    %v = core.gather_load %m[%row, %columns], %mask, %padding
        : memref<?x?xf32>[vector<4x1xi32>, vector<1x8xindex>], vector<4x8xi1>, vector<4x8xf32>
        -> vector<4x8xf32>
    %w = core.gather_load acquire device %p : !core.ptr<i32> -> i32
    ```

    The elements are those that pointers point to, or those of a memref at indices: there is an
    index for each dimension, one for all elements or a vector that has one for each or, where a
    size of it is 1, for several. One element is a number instead of a vector. What the mask leaves
    out is that of the padding; without one, it is anything. With an order and a scope each element
    is read atomically.
    """

    name = "core.gather_load"

    order = opt_prop_def(MemoryOrderAttr)
    scope = opt_prop_def(MemoryScopeAttr)
    memory = operand_def(MEMORY)
    indices = var_operand_def(INDICES)
    mask = opt_operand_def(Attribute)
    padding = opt_operand_def(Attribute)
    result = result_def(Attribute)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "custom<Ordering>($order, $scope) $memory (`[` $indices^ `]`)? (`,` $mask^)? "
        "(`,` $padding^)? attr-dict `:` type($memory) (`[` type($indices)^ `]`)? "
        "(`,` type($mask)^)? (`,` type($padding)^)? `->` type($result)"
    )
    custom_directives: ClassVar = (Ordering,)

    @override
    def verify_(self) -> None:
        verify_access(self.memory, self.indices, self.mask, self.result)
        _verify_ordering(self, MemoryOrder.ACQUIRE)
        if self.padding is None:
            return
        if self.mask is None:
            raise VerifyException("expected a mask beside the padding")
        verify_type(self.padding.type, self.result.type, "the padding")


@op_definition
class ScatterStoreOp(IRDLOperation):
    """Writes elements of memory anywhere, where a mask is true.

    ```
    core.scatter_store %v, %m[%row, %columns], %mask
        : vector<4x8xf32>, memref<?x?xf32>[index, vector<4x8xi32>], vector<4x8xi1>
    core.scatter_store release device %n, %p : i32, !core.ptr<i32>
    ```

    The memory is a memref with indices, or pointers, as in `core.gather_load`. Of several elements
    that are written to one position, one stays, and it is not specified which. With an order and a
    scope each element is written atomically.
    """

    name = "core.scatter_store"

    order = opt_prop_def(MemoryOrderAttr)
    scope = opt_prop_def(MemoryScopeAttr)
    value = operand_def(Attribute)
    memory = operand_def(MEMORY)
    indices = var_operand_def(INDICES)
    mask = opt_operand_def(Attribute)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "custom<Ordering>($order, $scope) $value `,` $memory (`[` $indices^ `]`)? (`,` $mask^)? "
        "attr-dict `:` type($value) `,` type($memory) (`[` type($indices)^ `]`)? "
        "(`,` type($mask)^)?"
    )
    custom_directives: ClassVar = (Ordering,)

    @override
    def verify_(self) -> None:
        verify_access(self.memory, self.indices, self.mask, self.value)
        _verify_ordering(self, MemoryOrder.RELEASE)


def verify_access(
    memory: SSAValue, indices: Sequence[SSAValue], mask: SSAValue | None, value: SSAValue
) -> None:
    """Checks an access to elements anywhere, or to one element.

    Raises:
        VerifyException: A type does not fit the others.
    """
    shape = _shape(value)
    pointer = pointer_of(memory.type)
    if pointer is not None:
        if indices:
            raise VerifyException(f"expected no indices for {memory.type}, got {len(indices)}")
        expected = with_element(memory.type, pointer.pointee_type)
    else:
        type_ = cast("MemRefType[Attribute]", memory.type)
        _verify_indices(indices, type_, shape)
        expected = with_element(value.type, type_.element_type)
    verify_type(value.type, expected, "what is accessed")
    if mask is not None:
        verify_type(mask.type, with_element(value.type, i1), "the mask")


def _verify_indices(
    indices: Sequence[SSAValue], memref: MemRefType[Attribute], shape: tuple[int, ...]
) -> None:
    rank = memref.get_num_dims()
    if len(indices) != rank:
        raise VerifyException(f"expected {rank} indices for {memref}, got {len(indices)}")
    for index in indices:
        if as_vector(index.type) is not None and not _spreads(shape_of(index), shape):
            raise VerifyException(
                f"expected indices with sizes {list(shape)}, or 1 in the place of some, got "
                f"{index.type}"
            )


def _verify_ordering(operation: GatherLoadOp | ScatterStoreOp, strongest: MemoryOrder) -> None:
    if (operation.order is None) != (operation.scope is None):
        raise VerifyException("expected both an order and a scope, or neither")
    if operation.order is None:
        return
    allowed = (MemoryOrder.RELAXED, strongest)
    if operation.order.data not in allowed:
        raise VerifyException(
            f"{operation.name} is {' or '.join(allowed)}, got {operation.order.data}"
        )


def _shape(value: SSAValue) -> tuple[int, ...]:
    vector = as_vector(value.type)
    return () if vector is None else vector.get_shape()


def _spreads(given: Sequence[int], shape: Sequence[int]) -> bool:
    return len(given) == len(shape) and all(
        own in (1, size) for own, size in zip(given, shape, strict=True)
    )

"""Operations that make and free memory.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td` and `MemRefOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    I64,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    AnyAttr,
    BaseAttr,
    IRDLOperation,
    OptPropertyDef,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
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
from xdsl.traits import IsTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.memref.layouts import (
    is_identity,
    ranked,
    sizes_of,
    symbols_of,
    verify_alignment,
    verify_count,
    verify_same_content,
)
from xtile.dialects.upstream import completes
from xtile.text.extensions import Extension, Table

_ALLOCATION = "`(` $dynamic_sizes `)` (`` `[` $symbol_operands^ `]`)? attr-dict `:` type($memref)"
_VISIBILITIES = ("public", "private", "nested")
_ALIGNMENT = {"alignment": OptPropertyDef(BaseAttr(IntegerAttr))}


def _verify_allocation(operation: memref.AllocOp | memref.AllocaOp) -> None:
    type = operation.memref.type
    sizes = sizes_of(type).count(None)
    verify_count(len(operation.dynamic_sizes), sizes, "sizes", type)
    verify_count(len(operation.symbol_operands), symbols_of(type), "symbol operands", type)
    alignment = operation.alignment
    verify_alignment(None if alignment is None else alignment.value.data)


def _verify_alloc(operation: memref.AllocOp) -> None:
    """`memref.alloc`: allocates memory.

    ```
    %memory = memref.alloc(%n) {alignment = 64 : i64} : memref<?x4xf32>
    ```
    """
    _verify_allocation(operation)


def _verify_alloca(operation: memref.AllocaOp) -> None:
    """`memref.alloca`: allocates memory until the scope around it ends.

    ```
    %memory = memref.alloca() : memref<4xf32>
    ```
    """
    _verify_allocation(operation)


@op_definition
class ReallocOp(IRDLOperation):
    """Allocates memory of another size with the old contents, and frees the old memory.

    ```
    %larger = memref.realloc %memory(%n) : memref<4xf32> to memref<?xf32>
    ```
    """

    name = "memref.realloc"

    source = operand_def(MemRefType)
    dynamic_result_size = opt_operand_def(IndexType())
    alignment = opt_prop_def(IntegerAttr[I64])
    result = result_def(MemRefType)

    assembly_format = (
        "$source (`(` $dynamic_result_size^ `)`)? attr-dict `:` type($source) `to` type($result)"
    )

    @override
    def verify_(self) -> None:
        source, result = self.source.type, self.result.type
        verify_same_content(source, result)
        for type in (source, result):
            if len(sizes_of(type)) != 1 or not is_identity(type):
                raise VerifyException(f"expected a contiguous memref of rank 1, got {type}")
        count = 0 if self.dynamic_result_size is None else 1
        verify_count(count, sizes_of(result).count(None), "sizes", result)
        verify_alignment(None if self.alignment is None else self.alignment.value.data)


def _parse_alloca_scope(parser: Parser) -> memref.AllocaScopeOp:
    """`memref.alloca_scope`: ends the life of what `memref.alloca` allocates in it.

    ```
    %sum = memref.alloca_scope  -> (f32) {
      memref.alloca_scope.return %x : f32
    }
    ```
    """
    types: Sequence[Attribute] = ()
    if parser.parse_optional_punctuation("->") is not None:
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    body = parser.parse_region()
    attributes = parser.parse_optional_attr_dict()
    block = body.blocks.last
    if block is not None and (block.last_op is None or not block.last_op.has_trait(IsTerminator)):
        block.add_op(memref.AllocaScopeReturnOp(operands=[[]]))
    return memref.AllocaScopeOp(result_types=[types], regions=[body], attributes={**attributes})


def _print_alloca_scope(operation: memref.AllocaScopeOp, printer: Printer) -> None:
    # Upstream prints this space even where nothing follows.
    printer.print_string(" ")
    if operation.res:
        printer.print_string(" -> (")
        printer.print_list(operation.res.types, printer.print_attribute)
        printer.print_string(")")
    printer.print_string(" ")
    printer.print_region(
        operation.scope, print_entry_block_args=False, print_block_terminators=bool(operation.res)
    )
    printer.print_op_attributes(operation.attributes)


def _verify_alloca_scope_return(operation: memref.AllocaScopeReturnOp) -> None:
    """`memref.alloca_scope.return`: ends a `memref.alloca_scope`.

    ```
    memref.alloca_scope.return %x : f32
    ```
    """
    scope = operation.parent_op()
    if scope is not None and tuple(operation.ops.types) != tuple(scope.result_types):
        raise VerifyException("expected values of the types of the scope's results")


@irdl_custom_directive
class Visibility(CustomDirective):
    """`"private"`: who sees a symbol, if it is not public."""

    visibility: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        visibility = parser.parse_optional_str_literal()
        if visibility is not None:
            self.visibility.set(state, StringAttr(visibility))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        self.visibility.print(printer, state, op)


@irdl_custom_directive
class TypeAndInitialValue(CustomDirective):
    """`memref<2xi32> = dense<7>`: a type, and a value, `uninitialized` or nothing."""

    type: AttributeVariable
    initial_value: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        type = parser.parse_type()
        self.type.set(state, type)
        if parser.parse_optional_punctuation("=") is None:
            return
        if parser.parse_optional_keyword("uninitialized") is not None:
            self.initial_value.set(state, UnitAttr())
            return
        if not isa(type, MemRefType):
            parser.raise_error(f"the type of a global must be a memref, got {type}")
        tensor = TensorType(type.element_type, type.get_shape())
        parser.parse_keyword("dense")
        self.initial_value.set(state, DenseIntOrFPElementsAttr.parse_with_type(parser, tensor))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        type, value = self.type.get(op), self.initial_value.get(op)
        assert type is not None
        printer.print_attribute(type)
        if value is None:
            return
        printer.print_string(" = ")
        if isinstance(value, UnitAttr):
            printer.print_string("uninitialized")
        elif isinstance(value, DenseIntOrFPElementsAttr):
            value.print_without_type(printer)
        else:
            printer.print_attribute(value)


@completes(
    properties={
        "sym_visibility": OptPropertyDef(BaseAttr(StringAttr)),
        "initial_value": OptPropertyDef(AnyAttr()),
        **_ALIGNMENT,
    },
    assembly_format=(
        "custom<Visibility>($sym_visibility) (`constant` $constant^)? $sym_name `:` "
        "custom<TypeAndInitialValue>($type, $initial_value) attr-dict"
    ),
    custom_directives=(TypeAndInitialValue, Visibility),
)
class GlobalOp(memref.GlobalOp):
    """Memory that exists as long as the program.

    ```
    memref.global "private" constant @table : memref<4xi32> = dense<[1, 2, 3, 4]>
    ```
    """

    @override
    def verify_(self) -> None:
        visibility = self.properties.get("sym_visibility")
        if isinstance(visibility, StringAttr) and visibility.data not in _VISIBILITIES:
            names = ", ".join(_VISIBILITIES)
            raise VerifyException(f"the visibility is one of {names}, got {visibility.data}")
        type = ranked(self.type)
        if None in sizes_of(type):
            raise VerifyException(f"the sizes of a global must be known, got {type}")
        value = self.properties.get("initial_value")
        if isa(value, DenseIntOrFPElementsAttr):
            _verify_value(type, value.type)
        verify_alignment(None if self.alignment is None else self.alignment.value.data)


def _verify_value(type: MemRefType, value: Attribute) -> None:
    expected = TensorType(type.element_type, type.get_shape())
    if value != expected:
        raise VerifyException(f"expected an initial value of type {expected}, got {value}")


def _verify_get_global(operation: memref.GetGlobalOp) -> None:
    """`memref.get_global`: the memory of a `memref.global`.

    ```
    %table = memref.get_global @table : memref<4xi32>
    ```
    """
    found = SymbolTable.lookup_symbol(operation, operation.name_)
    if not isinstance(found, memref.GlobalOp):
        raise VerifyException(f"'{operation.name_}' does not reference a memref.global")
    type = operation.memref.type
    if found.type != type:
        raise VerifyException(f"the type of '{operation.name_}' is {found.type}, got {type}")


EXTENSIONS: Table = {
    memref.AllocOp: Extension(assembly_format=_ALLOCATION, verify=_verify_alloc),
    memref.AllocaOp: Extension(assembly_format=_ALLOCATION, verify=_verify_alloca),
    memref.AllocaScopeOp: Extension(parse=_parse_alloca_scope, print=_print_alloca_scope),
    memref.AllocaScopeReturnOp: Extension(
        assembly_format="attr-dict ($ops^ `:` type($ops))?", verify=_verify_alloca_scope_return
    ),
    memref.GetGlobalOp: Extension(verify=_verify_get_global),
}
"""What LLVM says of xDSL's operations of this module."""

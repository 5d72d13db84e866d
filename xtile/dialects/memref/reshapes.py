"""Operations that look at memory in another shape, without touching it.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td` and `MemRefOps.cpp`.
"""

from __future__ import annotations

from math import prod

from typing_extensions import override
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IntegerAttr,
    MemRefType,
    i8,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineDimExpr
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.memref.layouts import (
    RANKED_OR_UNRANKED,
    Layout,
    extents,
    is_identity,
    layout_of,
    ranked,
    sizes_of,
    text_of,
    verify_count,
    verify_same_content,
    with_layout,
)
from xtile.dialects.upstream import TypeWhere, element_type
from xtile.text.extensions import Extension, Table


@op_definition
class ReshapeOp(IRDLOperation):
    """The same contiguous memory with the sizes that another memref holds.

    ```
    %b = memref.reshape %a(%sizes) : (memref<*xf32>, memref<2xindex>) -> memref<?x?xf32>
    ```
    """

    name = "memref.reshape"

    source = operand_def(RANKED_OR_UNRANKED)
    shape = operand_def(MemRefType)
    result = result_def(RANKED_OR_UNRANKED)

    assembly_format = "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)"

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        source, result = self.source.type, self.result.type
        if element_type(source) != element_type(result):
            raise VerifyException(f"expected equal element types, got {source} and {result}")
        for type in (source, result):
            if isa(type, MemRefType) and not is_identity(type):
                raise VerifyException(f"expected a contiguous memref, got {type}")
        shape = sizes_of(self.shape.type)
        if isa(result, MemRefType) and shape != (len(sizes_of(result)),):
            raise VerifyException(
                f"expected a shape of {len(sizes_of(result))} sizes for {result}, "
                f"got {self.shape.type}"
            )


def _verify_groups(reassociation: ArrayAttr[Attribute], wide: Attribute, narrow: Attribute) -> None:
    """Checks that the dimensions of a memref in groups make up those of another."""
    groups: list[list[int]] = []
    for group in reassociation:
        assert isa(group, ArrayAttr[IntegerAttr])
        groups.append([index.value.data for index in group])
    sizes, products = sizes_of(wide), sizes_of(narrow)
    if products and [index for group in groups for index in group] != list(range(len(sizes))):
        raise VerifyException(f"expected groups of the {len(sizes)} dimensions of {wide} in order")
    if len(groups) != len(products):
        raise VerifyException(f"expected {len(products)} groups for {narrow}, got {len(groups)}")
    if not products and any(size != 1 for size in sizes):
        raise VerifyException(f"{wide} has more elements than {narrow}")
    for group, product in zip(groups, products, strict=True):
        known = [size for index in group if (size := sizes[index]) is not None]
        expected = prod(known) if len(known) == len(group) else None
        if expected != product:
            raise VerifyException(
                f"the dimensions {text_of(group)} of {wide} do not make up {text_of([product])} "
                f"in {narrow}"
            )


def _verify_expand_shape(operation: memref.ExpandShapeOp) -> None:
    """`memref.expand_shape`: splits dimensions.

    ```
    %b = memref.expand_shape %a [[0, 1], [2]] output_shape [%n, 4, 8]
        : memref<?x8xf32> into memref<?x4x8xf32>
    ```
    """
    source, result = operation.src.type, operation.result.type
    verify_same_content(source, result)
    _verify_groups(operation.reassociation, result, source)
    shape = extents(operation.static_output_shape.get_values())
    if shape != sizes_of(result):
        raise VerifyException(f"expected the output shape of {result}, got {text_of(shape)}")


def _verify_collapse_shape(operation: memref.CollapseShapeOp) -> None:
    """`memref.collapse_shape`: joins dimensions.

    ```
    %b = memref.collapse_shape %a [[0, 1], [2]] : memref<4x8x2xf32> into memref<32x2xf32>
    ```
    """
    source, result = operation.src.type, operation.result.type
    verify_same_content(source, result)
    _verify_groups(operation.reassociation, source, result)


@op_definition
class TransposeOp(IRDLOperation):
    """The same memory with its dimensions in another order.

    ```
    %b = memref.transpose %a (i, j) -> (j, i)
        : memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>
    ```
    """

    name = "memref.transpose"

    input = operand_def(MemRefType)
    permutation = prop_def(AffineMapAttr)
    result = result_def(MemRefType)

    traits = traits_def(Pure())

    @classmethod
    @override
    def parse(cls, parser: Parser) -> TransposeOp:
        operand = parser.parse_unresolved_operand()
        permutation = AffineMapAttr(parser.parse_affine_map())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_keyword("to")
        result = parser.parse_type()
        return TransposeOp(
            operands=[parser.resolve_operand(operand, source)],
            properties={"permutation": permutation},
            attributes={**attributes},
            result_types=[result],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(f" {self.permutation.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    @override
    def verify_(self) -> None:
        source, result = self.input.type, self.result.type
        layout, claimed = layout_of(source), layout_of(result)
        if layout is None or claimed is None:
            raise VerifyException(f"expected memrefs with strides, got {source} and {result}")
        rank = len(layout.sizes)
        order = _permutation(self.permutation)
        if order is None or len(order) != rank:
            raise VerifyException(
                f"expected a permutation of {rank} dimensions, got {self.permutation.data}"
            )
        expected = Layout(
            tuple(layout.sizes[index] for index in order),
            tuple(layout.strides[index] for index in order),
            layout.offset,
        )
        verify_same_content(source, result)
        if claimed != expected:
            raise VerifyException(f"expected {with_layout(source, expected)}, got {result}")


def _permutation(map: AffineMapAttr) -> list[int] | None:
    """Returns the dimensions that a map picks; None if it is no permutation."""
    order = [
        expression.position
        for expression in map.data.results
        if isinstance(expression, AffineDimExpr)
    ]
    is_permutation = len(order) == len(map.data.results) and map.data.num_symbols == 0
    return order if is_permutation and sorted(order) == list(range(map.data.num_dims)) else None


def _verify_view(operation: memref.ViewOp) -> None:
    """`memref.view`: bytes as a contiguous memref.

    ```
    %b = memref.view %a[%byte][%n] : memref<2048xi8> to memref<?x4xf32>
    ```
    """
    source, result = ranked(operation.source.type), ranked(operation.result.type)
    for type in (source, result):
        if not is_identity(type):
            raise VerifyException(f"expected a contiguous memref, got {type}")
    if source.memory_space != result.memory_space:
        raise VerifyException(f"expected equal memory spaces, got {source} and {result}")
    verify_count(len(operation.sizes), sizes_of(result).count(None), "sizes", result)


EXTENSIONS: Table = {
    memref.ExpandShapeOp: Extension(verify=_verify_expand_shape),
    memref.CollapseShapeOp: Extension(verify=_verify_collapse_shape),
    memref.ViewOp: Extension(
        operands={
            "source": TypeWhere(
                "a memref of i8 of rank 1",
                lambda type: (
                    isa(type, MemRefType) and type.element_type == i8 and type.get_num_dims() == 1
                ),
            )
        },
        verify=_verify_view,
    ),
}
"""What LLVM says of xDSL's operations of this module."""

"""Operations that look at memory in another way, without touching it.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td` and `MemRefOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from typing_extensions import override
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IntegerAttr,
    MemRefType,
    UnrankedMemRefType,
    i8,
)
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineDimExpr
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.memref.layouts import (
    RANKED_OR_UNRANKED,
    Extent,
    Layout,
    are_compatible,
    extents,
    is_identity,
    is_reduction,
    layout_of,
    ranked,
    sizes_of,
    verify_alignment,
    verify_count,
    verify_same_content,
    with_layout,
)
from xtile.dialects.upstream import TypeWhere, completes, element_type

_CAST = "$source attr-dict `:` type($source) `to` type($dest)"
_EITHER = {"source": RANKED_OR_UNRANKED}


@completes(operands=_EITHER, results={"dest": RANKED_OR_UNRANKED}, assembly_format=_CAST)
class CastOp(memref.CastOp):
    """The same memory with more or fewer sizes, strides and offsets known.

    ```
    %b = memref.cast %a : memref<4x8xf32> to memref<?x8xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        source, dest = self.source.type, self.dest.type
        if not _can_be_cast(source, dest):
            raise VerifyException(f"{source} cannot be cast to {dest}")


def _can_be_cast(source: Attribute, dest: Attribute) -> bool:
    assert isa(source, MemRefType | UnrankedMemRefType)
    assert isa(dest, MemRefType | UnrankedMemRefType)
    if (source.element_type, source.memory_space) != (dest.element_type, dest.memory_space):
        return False
    if not isa(source, MemRefType) or not isa(dest, MemRefType):
        return isa(source, MemRefType) or isa(dest, MemRefType)
    if not are_compatible(sizes_of(source), sizes_of(dest)):
        return False
    if source.layout == dest.layout:
        return True
    one, other = layout_of(source), layout_of(dest)
    if one is None or other is None:
        return False
    return are_compatible((*one.strides, one.offset), (*other.strides, other.offset))


@completes(operands=_EITHER, results={"dest": RANKED_OR_UNRANKED}, assembly_format=_CAST)
class MemorySpaceCastOp(memref.MemorySpaceCastOp):
    """The same memory in another memory space.

    ```
    %b = memref.memory_space_cast %a : memref<4xf32, 1> to memref<4xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        source, dest = self.source.type, self.dest.type
        fits = element_type(source) == element_type(dest)
        if isa(source, MemRefType) and isa(dest, MemRefType):
            fits = fits and (source.shape, source.layout) == (dest.shape, dest.layout)
        else:
            fits = fits and type(source) is type(dest)
        if not fits:
            raise VerifyException(f"{source} and {dest} must differ in the memory space only")


@completes(
    operands=_EITHER,
    assembly_format="$source `:` type($source) `->` type($aligned_pointer) attr-dict",
)
class ExtractAlignedPointerAsIndexOp(memref.ExtractAlignedPointerAsIndexOp):
    """The address of the memory, without the offset.

    ```
    %address = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
    ```
    """


@completes(operands=_EITHER, assembly_format="attr-dict $source `,` $index `:` type($source)")
class DimOp(memref.DimOp):
    """The size of a dimension.

    ```
    %n = memref.dim %a, %i : memref<?x8xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        type = self.source.type
        if isa(type, MemRefType) and not type.get_shape():
            raise VerifyException(f"expected a memref with dimensions, got {type}")


@completes(operands=_EITHER, assembly_format="$source attr-dict `:` type($source)")
class RankOp(memref.RankOp):
    """The number of dimensions.

    ```
    %rank = memref.rank %a : memref<*xf32>
    ```
    """


@completes()
class AssumeAlignmentOp(memref.AssumeAlignmentOp):
    """Promises that the address is a multiple of a number of bytes.

    ```
    %b = memref.assume_alignment %a, 16 : memref<4xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        verify_alignment(self.alignment.value.data)


@irdl_op_definition
class DistinctObjectsOp(IRDLOperation):
    """Promises that the memrefs do not overlap.

    ```
    %c, %d = memref.distinct_objects %a, %b : memref<4xf32>, memref<8xf32>
    ```
    """

    name = "memref.distinct_objects"

    memrefs = var_operand_def(MemRefType)
    distinct = var_result_def(MemRefType)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> DistinctObjectsOp:
        place = parser.pos
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        memrefs = parser.resolve_operands(operands, types, place)
        return DistinctObjectsOp(
            operands=[memrefs], result_types=[types], attributes={**attributes}
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.memrefs, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.memrefs.types, printer.print_attribute)

    @override
    def verify_(self) -> None:
        if not self.memrefs:
            raise VerifyException("expected at least one memref")
        if tuple(self.memrefs.types) != tuple(self.distinct.types):
            raise VerifyException("expected results of the operands' types")


@completes()
class SubviewOp(memref.SubviewOp):
    """A part of the memory: offsets, sizes and strides for each dimension.

    ```
    %b = memref.subview %a[%i, 4] [8, 8] [1, 1]
        : memref<16x32xf32> to memref<8x8xf32, strided<[32, 1], offset: ?>>
    ```
    """

    @override
    def verify_(self) -> None:
        source = self.source.type
        layout = layout_of(source)
        if layout is None:
            raise VerifyException(f"expected a memref with strides, got {source}")
        offsets = extents(self.static_offsets.get_values())
        sizes = extents(self.static_sizes.get_values())
        strides = extents(self.static_strides.get_values())
        rank = len(layout.sizes)
        if {len(offsets), len(sizes), len(strides)} != {rank}:
            raise VerifyException(
                f"expected {rank} offsets, sizes and strides, got {len(offsets)}, {len(sizes)} "
                f"and {len(strides)}"
            )
        for values, known in (
            (self.offsets, offsets),
            (self.sizes, sizes),
            (self.strides, strides),
        ):
            verify_count(len(values), known.count(None), "values", source)
        expected = subview_type(source, offsets, sizes, strides)
        result = self.result.type
        if not is_reduction(result, expected):
            raise VerifyException(f"expected {expected} or one of lower rank, got {result}")
        for index, whole in enumerate(layout.sizes):
            _verify_end(index, whole, offsets[index], sizes[index], strides[index])


def subview_type(
    source: Attribute,
    offsets: Sequence[Extent],
    sizes: Sequence[Extent],
    strides: Sequence[Extent],
) -> MemRefType:
    """Returns the type of a subview that keeps all dimensions.

    Raises:
        VerifyException: The source is no memref with strides.
    """
    layout = layout_of(source)
    if layout is None:
        raise VerifyException(f"expected a memref with strides, got {source}")
    start = layout.offset
    for offset, stride in zip(offsets, layout.strides, strict=True):
        start = _plus(start, _times(offset, stride))
    steps = tuple(_times(a, b) for a, b in zip(strides, layout.strides, strict=True))
    return with_layout(source, Layout(tuple(sizes), steps, start))


def _verify_end(index: int, whole: Extent, offset: Extent, size: Extent, stride: Extent) -> None:
    if whole is None or offset is None:
        return
    if offset >= whole:
        raise VerifyException(
            f"dimension {index} of the subview begins at {offset}, but the source has {whole} "
            "elements there"
        )
    if size is None or stride is None:
        return
    end = offset + (size - 1) * stride
    if end >= whole:
        raise VerifyException(
            f"dimension {index} of the subview ends at {end}, but the source has {whole} "
            "elements there"
        )


def _times(one: Extent, other: Extent) -> Extent:
    if one == 0 or other == 0:
        return 0
    return None if one is None or other is None else one * other


def _plus(one: Extent, other: Extent) -> Extent:
    return None if one is None or other is None else one + other


@completes(operands=_EITHER)
class ReinterpretCastOp(memref.ReinterpretCastOp):
    """The same memory with another offset, sizes and strides.

    ```
    %b = memref.reinterpret_cast %a to offset: [0], sizes: [8, 8], strides: [8, 1]
        : memref<64xf32> to memref<8x8xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        result = self.result.type
        verify_same_content(self.source.type, result)
        layout = layout_of(result)
        if layout is None:
            raise VerifyException(f"expected a result with strides, got {result}")
        offsets = extents(self.static_offsets.get_values())
        sizes = extents(self.static_sizes.get_values())
        strides = extents(self.static_strides.get_values())
        if len(offsets) != 1:
            raise VerifyException(f"expected one offset, got {len(offsets)}")
        if not _says(layout.sizes, sizes):
            raise VerifyException(f"expected a result of the sizes {_text(sizes)}, got {result}")
        if not _says((layout.offset,), offsets):
            raise VerifyException(f"expected a result of offset {_text(offsets)}, got {result}")
        if not _says(layout.strides, strides):
            raise VerifyException(
                f"expected a result of the strides {_text(strides)}, got {result}"
            )


def _says(claimed: Sequence[Extent], known: Sequence[Extent]) -> bool:
    """Whether a type claims no more than what is known."""
    return len(claimed) == len(known) and all(
        a is None or a == b for a, b in zip(claimed, known, strict=True)
    )


def _text(values: Sequence[Extent]) -> str:
    return ", ".join("?" if value is None else str(value) for value in values)


@irdl_op_definition
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
                f"the dimensions {_text(group)} of {wide} do not make up {_text([product])} "
                f"in {narrow}"
            )


@completes()
class ExpandShapeOp(memref.ExpandShapeOp):
    """Splits dimensions.

    ```
    %b = memref.expand_shape %a [[0, 1], [2]] output_shape [%n, 4, 8]
        : memref<?x8xf32> into memref<?x4x8xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        source, result = self.src.type, self.result.type
        verify_same_content(source, result)
        _verify_groups(self.reassociation, result, source)
        shape = extents(self.static_output_shape.get_values())
        if shape != sizes_of(result):
            raise VerifyException(f"expected the output shape of {result}, got {_text(shape)}")


@completes()
class CollapseShapeOp(memref.CollapseShapeOp):
    """Joins dimensions.

    ```
    %b = memref.collapse_shape %a [[0, 1], [2]] : memref<4x8x2xf32> into memref<32x2xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        source, result = self.src.type, self.result.type
        verify_same_content(source, result)
        _verify_groups(self.reassociation, source, result)


@irdl_op_definition
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


@completes(
    operands={
        "source": TypeWhere(
            "a memref of i8 of rank 1",
            lambda type: (
                isa(type, MemRefType) and type.element_type == i8 and type.get_num_dims() == 1
            ),
        )
    }
)
class ViewOp(memref.ViewOp):
    """Bytes as a contiguous memref.

    ```
    %b = memref.view %a[%byte][%n] : memref<2048xi8> to memref<?x4xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        source, result = ranked(self.source.type), ranked(self.result.type)
        for type in (source, result):
            if not is_identity(type):
                raise VerifyException(f"expected a contiguous memref, got {type}")
        if source.memory_space != result.memory_space:
            raise VerifyException(f"expected equal memory spaces, got {source} and {result}")
        verify_count(len(self.sizes), sizes_of(result).count(None), "sizes", result)


OPERATIONS: list[type[Operation]] = [
    AssumeAlignmentOp,
    CastOp,
    CollapseShapeOp,
    DimOp,
    DistinctObjectsOp,
    ExpandShapeOp,
    ExtractAlignedPointerAsIndexOp,
    MemorySpaceCastOp,
    RankOp,
    ReinterpretCastOp,
    ReshapeOp,
    SubviewOp,
    TransposeOp,
    ViewOp,
    memref.ExtractStridedMetaDataOp,
]
"""The operations of this module."""

"""Operations that look at memory in another way, without touching it.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td` and `MemRefOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    MemRefType,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.memref.layouts import (
    RANKED_OR_UNRANKED,
    Extent,
    Layout,
    are_compatible,
    claims_no_more,
    extents,
    is_reduction,
    layout_of,
    sizes_of,
    text_of,
    verify_alignment,
    verify_count,
    verify_same_content,
    with_layout,
)
from xtile.dialects.upstream import completes, element_type
from xtile.text.extensions import Extension, Table

_CAST = "$source attr-dict `:` type($source) `to` type($dest)"
_EITHER = {"source": RANKED_OR_UNRANKED}


def _verify_cast(operation: memref.CastOp) -> None:
    """`memref.cast`: the same memory with more or fewer sizes, strides and offsets known.

    ```
    %b = memref.cast %a : memref<4x8xf32> to memref<?x8xf32>
    ```
    """
    source, dest = operation.source.type, operation.dest.type
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


def _verify_dim(operation: memref.DimOp) -> None:
    """`memref.dim`: the size of a dimension.

    ```
    %n = memref.dim %a, %i : memref<?x8xf32>
    ```
    """
    type = operation.source.type
    if isa(type, MemRefType) and not type.get_shape():
        raise VerifyException(f"expected a memref with dimensions, got {type}")


@completes(operands=_EITHER, assembly_format="$source attr-dict `:` type($source)")
class RankOp(memref.RankOp):
    """The number of dimensions.

    ```
    %rank = memref.rank %a : memref<*xf32>
    ```
    """


def _verify_assume_alignment(operation: memref.AssumeAlignmentOp) -> None:
    """`memref.assume_alignment`: promises that the address is a multiple of a number of bytes.

    ```
    %b = memref.assume_alignment %a, 16 : memref<4xf32>
    ```
    """
    verify_alignment(operation.alignment.value.data)


@op_definition
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
        position = parser.pos
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        memrefs = parser.resolve_operands(operands, types, position)
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


def _verify_subview(operation: memref.SubviewOp) -> None:
    """`memref.subview`: a part of the memory: offsets, sizes and strides for each dimension.

    ```
    %b = memref.subview %a[%i, 4] [8, 8] [1, 1]
        : memref<16x32xf32> to memref<8x8xf32, strided<[32, 1], offset: ?>>
    ```
    """
    source = operation.source.type
    layout = layout_of(source)
    if layout is None:
        raise VerifyException(f"expected a memref with strides, got {source}")
    offsets = extents(operation.static_offsets.get_values())
    sizes = extents(operation.static_sizes.get_values())
    strides = extents(operation.static_strides.get_values())
    rank = len(layout.sizes)
    if {len(offsets), len(sizes), len(strides)} != {rank}:
        raise VerifyException(
            f"expected {rank} offsets, sizes and strides, got {len(offsets)}, {len(sizes)} "
            f"and {len(strides)}"
        )
    for values, known in (
        (operation.offsets, offsets),
        (operation.sizes, sizes),
        (operation.strides, strides),
    ):
        verify_count(len(values), known.count(None), "values", source)
    expected = subview_type(source, offsets, sizes, strides)
    result = operation.result.type
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
        for values, known in (
            (self.offsets, offsets),
            (self.sizes, sizes),
            (self.strides, strides),
        ):
            verify_count(len(values), known.count(None), "values", result)
        if not claims_no_more(layout.sizes, sizes):
            raise VerifyException(f"expected a result of the sizes {text_of(sizes)}, got {result}")
        if not claims_no_more((layout.offset,), offsets):
            raise VerifyException(f"expected a result of offset {text_of(offsets)}, got {result}")
        if not claims_no_more(layout.strides, strides):
            raise VerifyException(
                f"expected a result of the strides {text_of(strides)}, got {result}"
            )


EXTENSIONS: Table = {
    memref.CastOp: Extension(
        operands=_EITHER,
        results={"dest": RANKED_OR_UNRANKED},
        assembly_format=_CAST,
        verify=_verify_cast,
    ),
    memref.DimOp: Extension(
        operands=_EITHER,
        assembly_format="attr-dict $source `,` $index `:` type($source)",
        verify=_verify_dim,
    ),
    memref.AssumeAlignmentOp: Extension(verify=_verify_assume_alignment),
    memref.SubviewOp: Extension(verify=_verify_subview),
}
"""What LLVM says of xDSL's operations of this module."""

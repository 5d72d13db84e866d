"""Descriptors of memory: making them and moving them.

Source: MLIR (LLVM 22), `XeGPUOps.td`, `create_nd_tdesc`, `update_nd_offset`, `create_tdesc` and
`update_offset`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, MemRefType
from xdsl.dialects.utils.dynamic_index_list import DynamicIndexList
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.xegpu.assembly import DimensionList, OptionalDynamicIndexList
from xtile.dialects.xegpu.attributes import MEMORY_SPACE_NUMBERS
from xtile.dialects.xegpu.constraints import (
    BASE_ADDRESS,
    GATHER_BASE,
    INDEX,
    INTEGERS,
    OFFSETS,
    TENSOR_DESC,
    memory_space_number,
)
from xtile.dialects.xegpu.operation import (
    Operand,
    XeGPUOperation,
    expect_block,
    expect_same_element_type,
    expect_scattered,
    mixed,
    points,
    shape_of,
    shape_text,
    split_mixed,
    tensor_desc,
    verify_offsets,
    verify_positions,
)
from xtile.dialects.xegpu.rfc.verifier import verify_rfc
from xtile.dialects.xegpu.types import TensorDescType
from xtile.text.extensions import GenericFormIf, never_ambiguous


def _has_shape_or_strides_only(operation: Operation) -> bool:
    """Whether it replaces one of the two of a memref, which the custom form cannot say."""
    return ("const_shape" in operation.properties) != ("const_strides" in operation.properties)


@never_ambiguous
@op_definition
class CreateNdDescOp(XeGPUOperation):
    """Describes a block of a memory region of one or more dimensions.

    Offsets may be given here or where the descriptor is used. The shape and the strides of the
    region are in elements and are needed where the type of the source does not say them.

    ```
    %t = xegpu.create_nd_tdesc %m[0, %i] : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %u = xegpu.create_nd_tdesc %p, shape : [%h, 64], strides : [64, 1]
      : i64 -> !xegpu.tensor_desc<8x16xf16>
    ```
    """

    name = "xegpu.create_nd_tdesc"

    source = operand_def(BASE_ADDRESS)
    offsets = var_operand_def(INDEX)
    shape = var_operand_def(INDEX)
    strides = var_operand_def(INDEX)
    const_offsets = opt_prop_def(INTEGERS)
    const_shape = opt_prop_def(INTEGERS)
    const_strides = opt_prop_def(INTEGERS)
    TensorDesc = result_def(TENSOR_DESC)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure(), GenericFormIf(_has_shape_or_strides_only))
    assembly_format = (
        "$source `` custom<OptionalDynamicIndexList>($offsets, $const_offsets) "
        "(`,` `shape` `:` custom<DimensionList>($shape, $const_shape)^ "
        "`,` `strides` `:` custom<DimensionList>($strides, $const_strides))? "
        "attr-dict `:` type($source) `->` type($TensorDesc)"
    )
    custom_directives: ClassVar = (OptionalDynamicIndexList, DimensionList)

    def __init__(
        self,
        source: Operand,
        offsets: Sequence[Operand | int] | None = None,
        shape: Sequence[Operand | int] | None = None,
        strides: Sequence[Operand | int] | None = None,
        *,
        result_type: Attribute,
    ) -> None:
        const_offsets, offset_values = split_mixed(offsets)
        const_shape, shape_values = split_mixed(shape)
        const_strides, stride_values = split_mixed(strides)
        super().__init__(
            operands=[source, offset_values, shape_values, stride_values],
            properties={
                "const_offsets": const_offsets,
                "const_shape": const_shape,
                "const_strides": const_strides,
            },
            result_types=[result_type],
        )

    @property
    def mixed_offsets(self) -> list[SSAValue | int]:
        """The offsets; none if they are given where the descriptor is used."""
        return mixed(self.offsets, self.const_offsets)

    @property
    def mixed_sizes(self) -> list[SSAValue | int | None]:
        """The shape of the region in elements; None for a size that only the memref knows."""
        source = self.source.type
        if isa(source, MemRefType) and self.const_shape is None and not self.shape:
            return [None if size == DYNAMIC_INDEX else size for size in source.get_shape()]
        return [*mixed(self.shape, self.const_shape)]

    @property
    def mixed_strides(self) -> list[SSAValue | int | None]:
        """The strides of the region in elements; None for one that only the memref knows."""
        source = self.source.type
        if isa(source, MemRefType) and self.const_strides is None and not self.strides:
            return [*(source.get_strides() or ())]
        return [*mixed(self.strides, self.const_strides)]

    @override
    def verify_(self) -> None:
        if verify_rfc(self):
            return
        verify_positions(self.offsets, self.const_offsets, "the list of offsets")
        verify_positions(self.shape, self.const_shape, "the shape")
        verify_positions(self.strides, self.const_strides, "the list of strides")
        descriptor = tensor_desc(self.TensorDesc)
        verify_memory_space(self.source, descriptor)
        self._verify_ranks(descriptor)
        if isa(self.source.type, MemRefType):
            expect_same_element_type("the source", self.source.type, "the result", descriptor)
        expect_block(descriptor)

    def _verify_ranks(self, descriptor: TensorDescType) -> None:
        sizes, strides = self.mixed_sizes, self.mixed_strides
        if isinstance(self.source.type, IntegerType) and not (sizes and strides):
            raise VerifyException(
                "the source is an address, so the shape and the strides must be given, "
                "as in 'shape : [64, 64], strides : [64, 1]'"
            )
        ranks = {"shape": len(sizes), "strides": len(strides)}
        if self.mixed_offsets:
            ranks["offsets"] = len(self.mixed_offsets)
        if len(set(ranks.values())) > 1:
            numbers = ", ".join(f"{rank} for the {name}" for name, rank in ranks.items())
            raise VerifyException(
                "the shape, the strides and the offsets must have one number for each dimension "
                f"of the source, but there are {numbers}"
            )
        if descriptor.rank > len(sizes):
            raise VerifyException(
                f"the result has {descriptor.rank} dimensions, but the source only {len(sizes)}; "
                "it may not have more"
            )


@op_definition
class UpdateNdOffsetOp(XeGPUOperation):
    """Moves a descriptor by offsets in elements.

    ```
    %u = xegpu.update_nd_offset %t, [0, %i] : !xegpu.tensor_desc<8x16xf32>
    ```
    """

    name = "xegpu.update_nd_offset"

    T: ClassVar = VarConstraint("T", TENSOR_DESC)

    TensorDesc = operand_def(T)
    offsets = var_operand_def(INDEX)
    const_offsets = prop_def(INTEGERS)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = (
        "$TensorDesc `,` custom<DynamicIndexList>($offsets, $const_offsets) "
        "attr-dict `:` type($result)"
    )
    custom_directives: ClassVar = (DynamicIndexList,)

    def __init__(
        self,
        tensor_desc: Operand,
        offsets: Sequence[Operand | int],
    ) -> None:
        constants, values = split_mixed(offsets)
        super().__init__(
            operands=[tensor_desc, values],
            properties={"const_offsets": constants},
            result_types=[SSAValue.get(tensor_desc).type],
        )

    @property
    def mixed_offsets(self) -> list[SSAValue | int]:
        """The offsets in elements."""
        return mixed(self.offsets, self.const_offsets)

    @override
    def verify_(self) -> None:
        verify_positions(self.offsets, self.const_offsets, "the list of offsets")
        descriptor = tensor_desc(self.TensorDesc)
        expect_block(descriptor)
        verify_offsets(self.mixed_offsets, descriptor)


@op_definition
class CreateDescOp(XeGPUOperation):
    """Describes scattered points of a memory region, one for each offset.

    ```
    %t = xegpu.create_tdesc %m, %o : memref<1024xf32>, vector<16xindex>
      -> !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8 : i64>>
    ```
    """

    name = "xegpu.create_tdesc"

    source = operand_def(GATHER_BASE)
    offsets = operand_def(OFFSETS)
    TensorDesc = result_def(TENSOR_DESC)

    traits = traits_def(Pure())
    assembly_format = (
        "$source `,` $offsets attr-dict `:` type($source) `,` type($offsets) `->` type($TensorDesc)"
    )

    def __init__(
        self,
        source: Operand,
        offsets: Operand,
        result_type: Attribute,
    ) -> None:
        super().__init__(operands=[source, offsets], result_types=[result_type])

    @override
    def verify_(self) -> None:
        if verify_rfc(self):
            return
        descriptor = tensor_desc(self.TensorDesc)
        expect_scattered(descriptor)
        verify_memory_space(self.source, descriptor)
        expected = shape_of(self.offsets.type)
        if descriptor.chunk_size != 1:
            expected = (*expected, descriptor.chunk_size)
        if descriptor.get_shape() != expected:
            raise VerifyException(
                f"the result has the shape {shape_text(descriptor.get_shape())}; with these "
                f"offsets and this chunk_size it must be {shape_text(expected)}"
            )


@op_definition
class UpdateOffsetOp(XeGPUOperation):
    """Moves each point of a scattered descriptor by an offset in elements.

    ```
    %u = xegpu.update_offset %t, %o
      : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>
    ```
    """

    name = "xegpu.update_offset"

    T: ClassVar = VarConstraint("T", TENSOR_DESC)

    TensorDesc = operand_def(T)
    offsets = operand_def(OFFSETS)
    result = result_def(T)

    assembly_format = "$TensorDesc `,` $offsets attr-dict `:` type($TensorDesc) `,` type($offsets)"

    def __init__(
        self,
        tensor_desc: Operand,
        offsets: Operand,
    ) -> None:
        super().__init__(
            operands=[tensor_desc, offsets], result_types=[SSAValue.get(tensor_desc).type]
        )

    @override
    def verify_(self) -> None:
        descriptor = tensor_desc(self.TensorDesc)
        expect_scattered(descriptor)
        expected = points(descriptor)
        offsets = shape_of(self.offsets.type)
        if offsets != expected:
            raise VerifyException(
                f"the offsets have the shape {shape_text(offsets)}; the descriptor has one point "
                f"for each of {shape_text(expected)}"
            )


OPERATIONS: list[type[Operation]] = [
    CreateNdDescOp,
    UpdateNdOffsetOp,
    CreateDescOp,
    UpdateOffsetOp,
]
"""Every operation of this module."""


def verify_memory_space(source: SSAValue, descriptor: TensorDescType) -> None:
    """Raises a VerifyException if the descriptor says another memory than its source."""
    space = descriptor.memory_space
    number = memory_space_number(source.type)
    if number != MEMORY_SPACE_NUMBERS[space]:
        raise VerifyException(
            f"the source is in memory space {number}, but the result says {space.value}, which is "
            f"{MEMORY_SPACE_NUMBERS[space]}; they must be the same"
        )

"""Matrices in shared local memory.

Source: MLIR (LLVM 22), `XeGPUOps.td` and `XeGPUOps.cpp`, `create_mem_desc`, `load_matrix` and
`store_matrix`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import MemRefType, UnitAttr, VectorType
from xdsl.dialects.utils.dynamic_index_list import DynamicIndexList
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    irdl_custom_directive,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.xegpu.assembly import XeGPUPropDict
from xtile.dialects.xegpu.constraints import (
    INDEX,
    INTEGERS,
    LAYOUT,
    MEM_DESC,
    SLM_BUFFER,
    VALUE_OR_SCALAR,
)
from xtile.dialects.xegpu.distribution import DistributeLayoutAttr
from xtile.dialects.xegpu.operation import (
    Operand,
    XeGPUOperation,
    expect_same_element_type,
    mixed,
    shape_text,
    split_mixed,
    verify_positions,
)
from xtile.dialects.xegpu.types import MemDescType, bit_width


@irdl_custom_directive
class MatrixPropDict(XeGPUPropDict):
    """The properties of a matrix load or store."""

    subgroup_block_io: AttributeVariable
    layout: AttributeVariable


@op_definition
class CreateMemDescOp(XeGPUOperation):
    """Describes all of a buffer in shared local memory as a matrix.

    ```
    %d = xegpu.create_mem_desc %m : memref<4096xi8, 3>
      -> !xegpu.mem_desc<32x64xf16, #xegpu.mem_layout<block = [16, 16]>>
    ```
    """

    name = "xegpu.create_mem_desc"

    source = operand_def(SLM_BUFFER)
    mem_desc = result_def(MEM_DESC)

    traits = traits_def(Pure())
    # Upstream's empty property dictionary leaves a space behind.
    assembly_format = "$source ` ` attr-dict `` `:` type($source) `->` type($mem_desc)"

    def __init__(
        self,
        source: Operand,
        result_type: Attribute,
    ) -> None:
        super().__init__(operands=[source], result_types=[result_type])

    @override
    def verify_(self) -> None:
        source, matrix = self.source.type, self.mem_desc.type
        assert isa(source, MemRefType)
        assert isinstance(matrix, MemDescType)
        given, needed = _bits(source), _bits(matrix)
        if given != needed:
            raise VerifyException(
                f"the source has {given} bits, but the result {needed}; they must be as many"
            )


@op_definition
class LoadMatrixOp(XeGPUOperation):
    """Loads a part of a matrix in shared local memory.

    ```
    %v = xegpu.load_matrix %d[%i, 8] : !xegpu.mem_desc<16x64xf16>, index -> vector<8x16xf16>
    ```
    """

    name = "xegpu.load_matrix"

    mem_desc = operand_def(MEM_DESC)
    offsets = var_operand_def(INDEX)
    const_offsets = prop_def(INTEGERS)
    subgroup_block_io = opt_prop_def(UnitAttr)
    layout = opt_prop_def(LAYOUT)
    res = result_def(VALUE_OR_SCALAR)

    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$mem_desc `` custom<DynamicIndexList>($offsets, $const_offsets) "
        "custom<MatrixPropDict>($subgroup_block_io, $layout) attr-dict `` "
        "`:` type(operands) `->` type($res)"
    )
    custom_directives: ClassVar = (DynamicIndexList, MatrixPropDict)

    def __init__(
        self,
        mem_desc: Operand,
        offsets: Sequence[Operand | int],
        result_type: Attribute,
        *,
        subgroup_block_io: bool = False,
        layout: DistributeLayoutAttr | None = None,
    ) -> None:
        constants, values = split_mixed(offsets)
        super().__init__(
            operands=[mem_desc, values],
            properties={
                "const_offsets": constants,
                "subgroup_block_io": UnitAttr() if subgroup_block_io else None,
                "layout": layout,
            },
            result_types=[result_type],
        )

    @property
    def mixed_offsets(self) -> list[SSAValue | int]:
        """The offsets in elements."""
        return mixed(self.offsets, self.const_offsets)

    @override
    def verify_(self) -> None:
        matrix = _matrix(self.mem_desc)
        expect_same_element_type("the matrix", matrix, "the result", self.res.type)
        verify_positions(self.offsets, self.const_offsets, "the list of offsets")
        _verify_access(self.res.type, matrix, self.subgroup_block_io is not None, self.layout)


@op_definition
class StoreMatrixOp(XeGPUOperation):
    """Stores a part of a matrix in shared local memory.

    ```
    xegpu.store_matrix %v, %d[%i, 8] <{subgroup_block_io}>
      : vector<8x16xf16>, !xegpu.mem_desc<16x64xf16>, index
    ```
    """

    name = "xegpu.store_matrix"

    data = operand_def(VALUE_OR_SCALAR)
    mem_desc = operand_def(MEM_DESC)
    offsets = var_operand_def(INDEX)
    const_offsets = prop_def(INTEGERS)
    subgroup_block_io = opt_prop_def(UnitAttr)
    layout = opt_prop_def(LAYOUT)

    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$data `,` $mem_desc `` custom<DynamicIndexList>($offsets, $const_offsets) "
        "custom<MatrixPropDict>($subgroup_block_io, $layout) attr-dict `` `:` type(operands)"
    )
    custom_directives: ClassVar = (DynamicIndexList, MatrixPropDict)

    def __init__(
        self,
        data: Operand,
        mem_desc: Operand,
        offsets: Sequence[Operand | int],
        *,
        subgroup_block_io: bool = False,
        layout: DistributeLayoutAttr | None = None,
    ) -> None:
        constants, values = split_mixed(offsets)
        super().__init__(
            operands=[data, mem_desc, values],
            properties={
                "const_offsets": constants,
                "subgroup_block_io": UnitAttr() if subgroup_block_io else None,
                "layout": layout,
            },
        )

    @property
    def mixed_offsets(self) -> list[SSAValue | int]:
        """The offsets in elements."""
        return mixed(self.offsets, self.const_offsets)

    @override
    def verify_(self) -> None:
        matrix = _matrix(self.mem_desc)
        expect_same_element_type("the data", self.data.type, "the matrix", matrix)
        verify_positions(self.offsets, self.const_offsets, "the list of offsets")
        _verify_access(self.data.type, matrix, self.subgroup_block_io is not None, self.layout)


OPERATIONS: list[type[Operation]] = [CreateMemDescOp, LoadMatrixOp, StoreMatrixOp]
"""Every operation of this module."""


def _matrix(value: SSAValue) -> MemDescType:
    assert isinstance(value.type, MemDescType)
    return value.type


def _bits(type: MemRefType | MemDescType) -> int:
    """The size of the memory in bits."""
    return prod(type.get_shape()) * bit_width(type.element_type)


def _verify_access(
    data: Attribute, matrix: MemDescType, is_block_io: bool, layout: Attribute | None
) -> None:
    """Checks a load or store of a matrix (`IsValidMatrixOpParams`)."""
    if not isa(data, VectorType):
        if is_block_io:
            raise VerifyException(
                f"subgroup_block_io moves vectors, but the data is one {data}; leave it out"
            )
        return
    if matrix.rank != 2:
        raise VerifyException(
            f"the mem_desc has {matrix.rank} dimensions; it must have 2 to move vectors"
        )
    if is_block_io and isinstance(layout, DistributeLayoutAttr):
        _verify_block_layout(matrix, layout)
    shape = data.get_shape()
    if len(shape) == 2:
        limits = matrix.get_shape()
        if any(size > limit for size, limit in zip(shape, limits, strict=True)):
            raise VerifyException(
                f"the data has the shape {shape_text(shape)}, which does not fit in a mem_desc of "
                f"{shape_text(limits)}"
            )
    elif is_block_io and matrix.is_column_major:
        raise VerifyException(
            "the mem_desc is column-major; subgroup_block_io needs rows of contiguous elements"
        )


def _verify_block_layout(matrix: MemDescType, layout: DistributeLayoutAttr) -> None:
    """Checks that the lanes of a block access are next to each other in memory."""
    data, lanes = layout.effective_lane_data, layout.effective_lane_layout
    if not data:
        return
    if any(size != 1 for size in data[:-1]):
        raise VerifyException(
            f"lane_data is {list(data)}; with subgroup_block_io only its last number may be "
            "larger than 1"
        )
    block, strides = matrix.block_shape, matrix.strides
    if lanes != block:
        raise VerifyException(
            f"lane_layout is {list(lanes)}; with subgroup_block_io it must be the mem_desc's block "
            f"{list(block)}"
        )
    if any(count != 1 and stride != 1 for count, stride in zip(lanes, strides, strict=False)):
        raise VerifyException(
            f"lane_layout is {list(lanes)} and the strides {list(strides)}; with "
            "subgroup_block_io lanes may only be spread along a dimension of stride 1"
        )

"""Loads, stores and prefetches of blocks.

Source: MLIR (LLVM 22), `XeGPUOps.td` and `XeGPUOps.cpp`, `prefetch_nd`, `load_nd` and `store_nd`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import DenseArrayBase, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.xegpu.assembly import OptionalDynamicIndexList, XeGPUPropDict, integers
from xtile.dialects.xegpu.attributes import CachePolicy
from xtile.dialects.xegpu.constraints import INDEX, INTEGERS, TENSOR_DESC, VALUE
from xtile.dialects.xegpu.distribution import DistributeLayoutAttr
from xtile.dialects.xegpu.operation import (
    Operand,
    ReadingOperation,
    WritingOperation,
    block_type,
    expect_block,
    expect_same_element_type,
    hint_properties,
    mixed,
    shape_of,
    shape_text,
    split_mixed,
    tensor_desc,
    verify_offsets,
    verify_positions,
)
from xtile.dialects.xegpu.rfc.verifier import verify_rfc
from xtile.dialects.xegpu.types import TensorDescType

_MAXIMUM_RANK = 2


@irdl_custom_directive
class LoadPropDict(XeGPUPropDict):
    """The properties of a block load."""

    packed: AttributeVariable
    transpose: AttributeVariable
    l1_hint: AttributeVariable
    l2_hint: AttributeVariable
    l3_hint: AttributeVariable
    layout: AttributeVariable


@irdl_custom_directive
class HintsPropDict(XeGPUPropDict):
    """The properties of a block store or prefetch."""

    l1_hint: AttributeVariable
    l2_hint: AttributeVariable
    l3_hint: AttributeVariable
    layout: AttributeVariable


@op_definition
class PrefetchNdOp(ReadingOperation):
    """Fetches a block into the caches.

    ```
    xegpu.prefetch_nd %t[%i, 0] <{l1_hint = #xegpu.cache_hint<cached>}>
      : !xegpu.tensor_desc<8x16xf16>
    ```
    """

    name = "xegpu.prefetch_nd"

    TensorDesc = operand_def(TENSOR_DESC)
    offsets = var_operand_def(INDEX)
    const_offsets = opt_prop_def(INTEGERS)

    assembly_format = (
        "$TensorDesc `` custom<OptionalDynamicIndexList>($offsets, $const_offsets) "
        "custom<HintsPropDict>($l1_hint, $l2_hint, $l3_hint, $layout) "
        "attr-dict `:` type($TensorDesc)"
    )
    custom_directives: ClassVar = (OptionalDynamicIndexList, HintsPropDict)

    def __init__(
        self,
        tensor_desc: Operand,
        offsets: Sequence[Operand | int] | None = None,
        *,
        l1_hint: CachePolicy | None = None,
        l2_hint: CachePolicy | None = None,
        l3_hint: CachePolicy | None = None,
        layout: DistributeLayoutAttr | None = None,
    ) -> None:
        constants, values = split_mixed(offsets)
        super().__init__(
            operands=[tensor_desc, values],
            properties={
                "const_offsets": constants,
                **hint_properties(l1_hint, l2_hint, l3_hint, layout),
            },
        )

    @property
    def mixed_offsets(self) -> list[SSAValue | int]:
        """The offsets in elements; none if the descriptor has them."""
        return mixed(self.offsets, self.const_offsets)

    @override
    def verify_(self) -> None:
        verify_positions(self.offsets, self.const_offsets, "the list of offsets")
        descriptor = tensor_desc(self.TensorDesc)
        expect_block(descriptor)
        self.verify_hints()
        if self.mixed_offsets:
            verify_offsets(self.mixed_offsets, descriptor)


@op_definition
class LoadNdOp(ReadingOperation):
    """Loads a block.

    A lane's part of the block is a vector of one dimension. `packed` puts elements of several rows
    that fill 32 bits next to each other, in a last dimension of its own; `transpose` swaps rows and
    columns.

    ```
    %v = xegpu.load_nd %t[0, %i] <{l1_hint = #xegpu.cache_hint<cached>, packed}>
      : !xegpu.tensor_desc<16x16xf16> -> vector<8x16x2xf16>
    ```
    """

    name = "xegpu.load_nd"

    TensorDesc = operand_def(TENSOR_DESC)
    offsets = var_operand_def(INDEX)
    const_offsets = opt_prop_def(INTEGERS)
    packed = opt_prop_def(UnitAttr)
    transpose = opt_prop_def(INTEGERS)
    value = result_def(VALUE)

    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$TensorDesc `` custom<OptionalDynamicIndexList>($offsets, $const_offsets) "
        "custom<LoadPropDict>($packed, $transpose, $l1_hint, $l2_hint, $l3_hint, $layout) "
        "attr-dict `:` type($TensorDesc) `->` type($value)"
    )
    custom_directives: ClassVar = (OptionalDynamicIndexList, LoadPropDict)

    def __init__(
        self,
        tensor_desc: Operand,
        offsets: Sequence[Operand | int] | None = None,
        result_type: Attribute | None = None,
        *,
        packed: bool = False,
        transpose: Sequence[int] | None = None,
        l1_hint: CachePolicy | None = None,
        l2_hint: CachePolicy | None = None,
        l3_hint: CachePolicy | None = None,
        layout: DistributeLayoutAttr | None = None,
    ) -> None:
        constants, values = split_mixed(offsets)
        swapped = None if transpose is None else DenseArrayBase.from_list(i64, transpose)
        super().__init__(
            operands=[tensor_desc, values],
            properties={
                "const_offsets": constants,
                "packed": UnitAttr() if packed else None,
                "transpose": swapped,
                **hint_properties(l1_hint, l2_hint, l3_hint, layout),
            },
            result_types=[result_type or block_type(tensor_desc)],
        )

    @property
    def mixed_offsets(self) -> list[SSAValue | int]:
        """The offsets in elements; none if the descriptor has them."""
        return mixed(self.offsets, self.const_offsets)

    @property
    def permutation(self) -> tuple[int, ...] | None:
        """The dimensions in which a transposing load delivers the block; None for any other.

        Upstream ignores a `transpose` that names a dimension which the block does not have.
        """
        if self.transpose is None:
            return None
        order = integers(self.transpose)
        rank = tensor_desc(self.TensorDesc).rank
        return order if all(0 <= dimension < rank for dimension in order) else None

    @property
    def is_for_lane(self) -> bool:
        """Whether the result is the part of one lane."""
        descriptor = tensor_desc(self.TensorDesc)
        elements = descriptor.number_of_elements * descriptor.array_length
        return _is_part(shape_of(self.value.type), elements)

    @override
    def verify_(self) -> None:
        if verify_rfc(self):
            return
        verify_positions(self.offsets, self.const_offsets, "the list of offsets")
        descriptor = tensor_desc(self.TensorDesc)
        expect_block(descriptor)
        _expect_matrix(descriptor)
        expect_same_element_type("the descriptor", descriptor, "the result", self.value.type)
        self.verify_hints()
        result = shape_of(self.value.type)
        if self.is_for_lane:
            elements = descriptor.number_of_elements * descriptor.array_length
            _verify_part(result, elements, descriptor, "result")
            return
        # Upstream takes any number of elements for a pack.
        if result != self._subgroup_shape(descriptor, result[-1]):
            expected = self._subgroup_shape(descriptor, descriptor.elements_of_a_pack)
            raise VerifyException(
                f"the result has the shape {shape_text(result)}; this load delivers "
                f"{shape_text(expected)}, or a vector of one dimension to each lane"
            )
        if self.mixed_offsets:
            verify_offsets(self.mixed_offsets, descriptor)

    def _subgroup_shape(self, descriptor: TensorDescType, pack: int) -> tuple[int, ...]:
        """The shape that a subgroup loads, with so many elements in a pack."""
        shape = descriptor.get_shape()
        if self.permutation is not None:
            shape = tuple(shape[dimension] for dimension in self.permutation)
        # Upstream ignores `packed` on a block of one dimension.
        if self.packed is not None and descriptor.rank == 2:
            shape = (shape[0] // max(1, pack), *shape[1:], pack)
        if descriptor.array_length > 1:
            shape = (descriptor.array_length, *shape)
        return shape


@op_definition
class StoreNdOp(WritingOperation):
    """Stores a block.

    ```
    xegpu.store_nd %v, %t[0, %i] <{l1_hint = #xegpu.cache_hint<write_back>}>
      : vector<8x16xf16>, !xegpu.tensor_desc<8x16xf16>
    ```
    """

    name = "xegpu.store_nd"

    value = operand_def(VALUE)
    TensorDesc = operand_def(TENSOR_DESC)
    offsets = var_operand_def(INDEX)
    const_offsets = opt_prop_def(INTEGERS)

    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $TensorDesc `` custom<OptionalDynamicIndexList>($offsets, $const_offsets) "
        "custom<HintsPropDict>($l1_hint, $l2_hint, $l3_hint, $layout) "
        "attr-dict `:` type($value) `,` type($TensorDesc)"
    )
    custom_directives: ClassVar = (OptionalDynamicIndexList, HintsPropDict)

    def __init__(
        self,
        value: Operand,
        tensor_desc: Operand,
        offsets: Sequence[Operand | int] | None = None,
        *,
        l1_hint: CachePolicy | None = None,
        l2_hint: CachePolicy | None = None,
        l3_hint: CachePolicy | None = None,
        layout: DistributeLayoutAttr | None = None,
    ) -> None:
        constants, values = split_mixed(offsets)
        super().__init__(
            operands=[value, tensor_desc, values],
            properties={
                "const_offsets": constants,
                **hint_properties(l1_hint, l2_hint, l3_hint, layout),
            },
        )

    @property
    def mixed_offsets(self) -> list[SSAValue | int]:
        """The offsets in elements; none if the descriptor has them."""
        return mixed(self.offsets, self.const_offsets)

    @property
    def is_for_lane(self) -> bool:
        """Whether the value is the part of one lane."""
        elements = tensor_desc(self.TensorDesc).number_of_elements
        return _is_part(shape_of(self.value.type), elements)

    @override
    def verify_(self) -> None:
        if verify_rfc(self):
            return
        verify_positions(self.offsets, self.const_offsets, "the list of offsets")
        descriptor = tensor_desc(self.TensorDesc)
        expect_block(descriptor)
        _expect_matrix(descriptor)
        expect_same_element_type("the value", self.value.type, "the descriptor", descriptor)
        self.verify_hints()
        if descriptor.array_length > 1:
            raise VerifyException(
                f"the descriptor has an array_length of {descriptor.array_length}; "
                "only loads may have more than 1"
            )
        value = shape_of(self.value.type)
        if self.is_for_lane:
            _verify_part(value, descriptor.number_of_elements, descriptor, "value")
            return
        if value != descriptor.get_shape():
            raise VerifyException(
                f"the value has the shape {shape_text(value)}; expected the descriptor's shape "
                f"{shape_text(descriptor.get_shape())}, or a vector of one dimension for each lane"
            )
        if self.mixed_offsets:
            verify_offsets(self.mixed_offsets, descriptor)


def prefetch_into(
    tensor_desc: Operand, offsets: Sequence[Operand | int], level: int
) -> PrefetchNdOp:
    """Fetches a block into a cache and into those behind it.

    LLVM 22 passes by a cache that it finds no hint of, and looks for those of L1 and L3
    (`XeGPUToXeVM.cpp`, `translateLoadXeGPUCacheHint`).

    Args:
        tensor_desc: The descriptor of the block.
        offsets: Where it begins, in elements.
        level: The cache; 0 is the nearest.
    """
    nearest = CachePolicy.CACHED if level == 0 else None
    return PrefetchNdOp(
        tensor_desc,
        offsets,
        l1_hint=nearest,
        l2_hint=CachePolicy.CACHED,
        l3_hint=CachePolicy.CACHED,
    )


OPERATIONS: list[type[Operation]] = [PrefetchNdOp, LoadNdOp, StoreNdOp]
"""Every operation of this module."""


def _expect_matrix(descriptor: TensorDescType) -> None:
    if descriptor.rank > _MAXIMUM_RANK:
        raise VerifyException(
            f"the descriptor has {descriptor.rank} dimensions; a block has 1 or {_MAXIMUM_RANK}"
        )


def _is_part(shape: tuple[int, ...], elements: int) -> bool:
    """Whether a vector of this shape is a lane's part of a block."""
    return len(shape) == 1 and shape[0] < elements


def _verify_part(
    shape: tuple[int, ...], elements: int, descriptor: TensorDescType, name: str
) -> None:
    """Checks the vector that one lane has of a block."""
    if descriptor.layout_or_none is not None:
        raise VerifyException(
            f"the {name} is the part of one lane, so the descriptor must not have a layout"
        )
    if shape[0] == 0 or elements % shape[0]:
        raise VerifyException(
            f"the {name} has {shape[0]} elements; the {elements} elements of the block must be "
            "a multiple of them"
        )

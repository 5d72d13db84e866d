"""Loads, stores and prefetches of scattered points.

Each takes its points from a scattered descriptor, or from a base with offsets.

Source: MLIR (LLVM 22), `XeGPUOps.td` and `XeGPUOps.cpp`, `prefetch`, `load` and `store`.
"""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType, VectorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.xegpu.assembly import XeGPUPropDict
from xtile.dialects.xegpu.attributes import CachePolicy
from xtile.dialects.xegpu.constraints import (
    GATHER_SOURCE,
    MASK_OR_I1,
    NUMBER,
    OFFSETS_OR_INDEX,
    VALUE_OR_SCALAR,
)
from xtile.dialects.xegpu.distribution import DistributeLayoutAttr
from xtile.dialects.xegpu.operation import (
    Operand,
    ReadingOperation,
    WritingOperation,
    expect_same_element_type,
    expect_scattered,
    hint_properties,
    points,
    shape_of,
    shape_text,
)
from xtile.dialects.xegpu.rfc.verifier import verify_rfc
from xtile.dialects.xegpu.types import TensorDescType


@irdl_custom_directive
class PrefetchPropDict(XeGPUPropDict):
    """The properties of a scattered prefetch."""

    l1_hint: AttributeVariable
    l2_hint: AttributeVariable
    l3_hint: AttributeVariable
    offset_align_byte: AttributeVariable
    layout: AttributeVariable


@irdl_custom_directive
class ChunkPropDict(XeGPUPropDict):
    """The properties of a scattered load or store."""

    chunk_size: AttributeVariable
    l1_hint: AttributeVariable
    l2_hint: AttributeVariable
    l3_hint: AttributeVariable
    layout: AttributeVariable


@op_definition
class PrefetchOp(ReadingOperation):
    """Fetches scattered points into the caches.

    `offset_align_byte` is how offsets from an address are aligned, in bytes.

    ```
    xegpu.prefetch %m[%o] <{l1_hint = #xegpu.cache_hint<cached>}>
      : memref<1024xf32>, vector<16xindex>
    ```
    """

    name = "xegpu.prefetch"

    source = operand_def(GATHER_SOURCE)
    offsets = opt_operand_def(OFFSETS_OR_INDEX)
    offset_align_byte = opt_prop_def(NUMBER)

    assembly_format = (
        "$source (`[` $offsets^ `]`)? "
        "custom<PrefetchPropDict>($l1_hint, $l2_hint, $l3_hint, $offset_align_byte, $layout) "
        "attr-dict `:` type(operands)"
    )
    custom_directives: ClassVar = (PrefetchPropDict,)

    def __init__(
        self,
        source: Operand,
        offsets: Operand | None = None,
        *,
        offset_align_byte: int | None = None,
        l1_hint: CachePolicy | None = None,
        l2_hint: CachePolicy | None = None,
        l3_hint: CachePolicy | None = None,
        layout: DistributeLayoutAttr | None = None,
    ) -> None:
        alignment = None if offset_align_byte is None else IntegerAttr(offset_align_byte, i64)
        super().__init__(
            operands=[source, offsets],
            properties={
                "offset_align_byte": alignment,
                **hint_properties(l1_hint, l2_hint, l3_hint, layout),
            },
        )

    @override
    def verify_(self) -> None:
        _verify_source(self.source, self.offsets)
        self.verify_hints()
        is_address = isinstance(self.source.type, IntegerType)
        if is_address and self.offset_align_byte is None:
            raise VerifyException(
                "the source is an address, so the alignment of the offsets must be given, "
                "as in 'offset_align_byte = 4 : i64'"
            )
        if not is_address and self.offset_align_byte is not None:
            raise VerifyException(
                f"offset_align_byte is given for a source of type {self.source.type}; "
                "only an address takes it"
            )


@op_definition
class LoadGatherOp(ReadingOperation):
    """Loads `chunk_size` elements at each point that the mask allows.

    ```
    %v = xegpu.load %m[%o], %k <{chunk_size = 2 : i64}>
      : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16x2xf32>
    ```
    """

    name = "xegpu.load"

    source = operand_def(GATHER_SOURCE)
    offsets = opt_operand_def(OFFSETS_OR_INDEX)
    mask = operand_def(MASK_OR_I1)
    chunk_size = opt_prop_def(NUMBER)
    value = result_def(VALUE_OR_SCALAR)

    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$source (`[` $offsets^ `]`)? `,` $mask "
        "custom<ChunkPropDict>($chunk_size, $l1_hint, $l2_hint, $l3_hint, $layout) "
        "attr-dict `:` type(operands) `->` type($value)"
    )
    custom_directives: ClassVar = (ChunkPropDict,)

    def __init__(
        self,
        source: Operand,
        offsets: Operand | None,
        mask: Operand,
        result_type: Attribute,
        *,
        chunk_size: int | None = None,
        l1_hint: CachePolicy | None = None,
        l2_hint: CachePolicy | None = None,
        l3_hint: CachePolicy | None = None,
        layout: DistributeLayoutAttr | None = None,
    ) -> None:
        chunk = None if chunk_size is None else IntegerAttr(chunk_size, i64)
        super().__init__(
            operands=[source, offsets, mask],
            properties={"chunk_size": chunk, **hint_properties(l1_hint, l2_hint, l3_hint, layout)},
            result_types=[result_type],
        )

    @property
    def effective_chunk_size(self) -> int:
        """How many elements each point has."""
        return _chunk_size(self.source.type, self.chunk_size)

    @override
    def verify_(self) -> None:
        if verify_rfc(self):
            return
        _verify_source(self.source, self.offsets)
        self.verify_hints()
        _verify_access(self.source, self.offsets, self.mask, self.value, self.effective_chunk_size)


@op_definition
class StoreScatterOp(WritingOperation):
    """Stores `chunk_size` elements at each point that the mask allows.

    ```
    xegpu.store %v, %m[%o], %k <{chunk_size = 2 : i64}>
      : vector<16x2xf32>, memref<1024xf32>, vector<16xindex>, vector<16xi1>
    ```
    """

    name = "xegpu.store"

    value = operand_def(VALUE_OR_SCALAR)
    dest = operand_def(GATHER_SOURCE)
    offsets = opt_operand_def(OFFSETS_OR_INDEX)
    mask = operand_def(MASK_OR_I1)
    chunk_size = opt_prop_def(NUMBER)

    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $dest (`[` $offsets^ `]`)? `,` $mask "
        "custom<ChunkPropDict>($chunk_size, $l1_hint, $l2_hint, $l3_hint, $layout) "
        "attr-dict `:` type(operands)"
    )
    custom_directives: ClassVar = (ChunkPropDict,)

    def __init__(
        self,
        value: Operand,
        dest: Operand,
        offsets: Operand | None,
        mask: Operand,
        *,
        chunk_size: int | None = None,
        l1_hint: CachePolicy | None = None,
        l2_hint: CachePolicy | None = None,
        l3_hint: CachePolicy | None = None,
        layout: DistributeLayoutAttr | None = None,
    ) -> None:
        chunk = None if chunk_size is None else IntegerAttr(chunk_size, i64)
        super().__init__(
            operands=[value, dest, offsets, mask],
            properties={"chunk_size": chunk, **hint_properties(l1_hint, l2_hint, l3_hint, layout)},
        )

    @property
    def effective_chunk_size(self) -> int:
        """How many elements each point has."""
        return _chunk_size(self.dest.type, self.chunk_size)

    @override
    def verify_(self) -> None:
        if verify_rfc(self):
            return
        _verify_source(self.dest, self.offsets)
        self.verify_hints()
        _verify_access(self.dest, self.offsets, self.mask, self.value, self.effective_chunk_size)


OPERATIONS: list[type[Operation]] = [PrefetchOp, LoadGatherOp, StoreScatterOp]
"""Every operation of this module."""


def _chunk_size(base: Attribute, given: IntegerAttr | None) -> int:
    if isinstance(base, TensorDescType):
        return base.chunk_size
    return 1 if given is None else given.value.data


def _verify_source(base: SSAValue, offsets: SSAValue | None) -> None:
    """Checks that the points come from exactly one position."""
    if not isinstance(base.type, TensorDescType):
        if offsets is None:
            raise VerifyException(
                f"there are no offsets, but a base of type {base.type} needs them, as in '%a[%b]'"
            )
        return
    if offsets is not None:
        raise VerifyException(
            "there are offsets, but the descriptor has its own; use update_offset to move it"
        )
    expect_scattered(base.type)


def _verify_access(
    base: SSAValue, offsets: SSAValue | None, mask: SSAValue, value: SSAValue, chunk_size: int
) -> None:
    """Checks the types of a load's or store's operands against each other."""
    if isinstance(base.type, TensorDescType):
        _verify_with_descriptor(base.type, mask.type, value.type)
        return
    if isa(base.type, MemRefType):
        expect_same_element_type("the value", value.type, "the memref", base.type)
    assert offsets is not None
    _verify_with_offsets(offsets.type, mask.type, value.type, chunk_size)


def _verify_with_descriptor(descriptor: TensorDescType, mask: Attribute, value: Attribute) -> None:
    """Checks an access with a scattered descriptor (`isValidGatherScatterParams`)."""
    if not isa(value, VectorType):
        _verify_scalar_value(descriptor.chunk_size, value)
        if isa(mask, VectorType):
            raise VerifyException(f"the mask is {mask}, so the value must be a vector, not {value}")
        return
    expect_same_element_type("the value", value, "the descriptor", descriptor)
    expected = points(descriptor)
    if shape_of(mask) != expected:
        raise VerifyException(
            f"the mask has the shape {shape_text(shape_of(mask))}; the descriptor has one point "
            f"for each of {shape_text(expected)}"
        )
    if shape_of(value) == (descriptor.chunk_size,):
        if descriptor.layout_or_none is not None:
            raise VerifyException(
                "the value is the part of one lane, so the descriptor must not have a layout"
            )
        return
    if shape_of(value) != descriptor.get_shape():
        raise VerifyException(
            f"the value has the shape {shape_text(shape_of(value))}; expected the descriptor's "
            f"shape {shape_text(descriptor.get_shape())}, or {descriptor.chunk_size} for one lane"
        )


def _verify_with_offsets(
    offsets: Attribute, mask: Attribute, value: Attribute, chunk_size: int
) -> None:
    """Checks an access with a base and offsets (`isValidGatherScatterBufferParams`)."""
    is_of_vectors = isa(mask, VectorType) or isa(offsets, VectorType)
    if not isa(value, VectorType):
        _verify_scalar_value(chunk_size, value)
        if is_of_vectors:
            raise VerifyException(
                f"the value is one {value}, so the offsets and the mask must be an index and an i1"
            )
        return
    if not is_of_vectors:
        _verify_chunk(value, chunk_size)
        return
    if not isa(mask, VectorType):
        raise VerifyException("the offsets are a vector, so the mask must be a vector too")
    if chunk_size > 1:
        if value.get_num_dims() == 1:
            _verify_chunk(value, chunk_size)
    elif value.element_count() != mask.element_count():
        raise VerifyException(
            f"the value has {value.element_count()} elements and the mask {mask.element_count()}; "
            "they must be as many"
        )
    if mask.element_count() == 1:
        return
    expected = value.get_shape()[:-1] if chunk_size > 1 else value.get_shape()
    if mask.get_shape() != expected:
        raise VerifyException(
            f"the mask has the shape {shape_text(mask.get_shape())}; for this value and a "
            f"chunk_size of {chunk_size} it must be {shape_text(expected)}"
        )


def _verify_scalar_value(chunk_size: int, value: Attribute) -> None:
    if chunk_size > 1:
        raise VerifyException(
            f"the value is one {value}, but each point has {chunk_size} elements; expected a vector"
        )


def _verify_chunk(value: VectorType, chunk_size: int) -> None:
    if value.element_count() != chunk_size:
        raise VerifyException(
            f"the value has {value.element_count()} elements; one lane's must have chunk_size = "
            f"{chunk_size}"
        )

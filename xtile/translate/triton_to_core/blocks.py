"""Blocks of tensors in memory, and pointers to them.

A block becomes a transfer at its first element, which leaves out what lies outside of the tensor.

Source: Triton 3.7, `TritonOps.td`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyFloat,
    DenseArrayBase,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from xtile.dialects.core import ViewOp
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.triton.tt.enumerations import PaddingOption, member
from xtile.dialects.triton.tt.ops import (
    AdvanceOp,
    LoadOp,
    MakeTensorPtrOp,
    StoreOp,
)
from xtile.dialects.triton.tt.types import PointerType
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.triton_to_core.raising import BlockPointer, Raising

# --- tensors in memory ---


def view(
    raising: Raising, base: SSAValue, shape: Sequence[SSAValue], strides: Sequence[SSAValue]
) -> SSAValue:
    """The memref of a tensor that begins at a pointer; sizes and strides have a sign."""
    pointer = raising.value(base)
    sizes, steps = ([raising.index_of(each) for each in given] for given in (shape, strides))
    element: Any = pointer.type
    layout = StridedLayoutAttr([_static(step) for step in steps], 0)
    known = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
    type_: MemRefType[Attribute] = MemRefType(element.pointee_type, known, layout)
    numbers = {
        "static_offsets": [0],
        "static_sizes": known,
        "static_strides": [step if isinstance(step, int) else DYNAMIC_INDEX for step in steps],
    }
    operands = [pointer, [], _dynamic(sizes), _dynamic(steps)]
    properties = {name: DenseArrayBase.from_list(i64, each) for name, each in numbers.items()}
    return raising.compute(ViewOp, operands, type_, properties)


def _static(number: Index) -> int | NoneAttr:
    return number if isinstance(number, int) else NoneAttr()


def _dynamic(numbers: Sequence[Index]) -> list[SSAValue]:
    return [number for number in numbers if not isinstance(number, int)]


def padding_value(raising: Raising, option: PaddingOption, element: Attribute) -> SSAValue:
    """What is read from outside of a tensor."""
    is_nan = option is PaddingOption.NAN and isinstance(element, AnyFloat)
    return raising.constant(math.nan if is_nan else 0, element)


def read_block(
    raising: Raising,
    memory: SSAValue,
    starts: Sequence[Index],
    block: Attribute,
    padding: SSAValue,
    checked: Sequence[bool],
) -> SSAValue:
    """A block of a tensor; only dimensions that are checked may end outside of it."""
    rank = len(starts)
    properties: dict[str, Attribute] = {
        "permutation_map": AffineMapAttr(AffineMap.identity(rank)),
        "in_bounds": truth_attribute(tuple(not each for each in checked)),
    }
    operands = [memory, [raising.as_value(start) for start in starts], padding, []]
    return raising.compute(TransferReadOp, operands, block, properties)


def write_block(
    raising: Raising,
    value: SSAValue,
    memory: SSAValue,
    starts: Sequence[Index],
    checked: Sequence[bool],
) -> None:
    """Writes a block of a tensor; only dimensions that are checked may end outside of it."""
    raising.emit(
        TransferWriteOp.build(
            operands=[value, memory, [raising.as_value(start) for start in starts], []],
            result_types=[[]],
            properties={
                "permutation_map": AffineMapAttr(AffineMap.identity(len(starts))),
                "in_bounds": truth_attribute(tuple(not each for each in checked)),
            },
        )
    )


# --- pointers to blocks ---


def _make_pointer(operation: MakeTensorPtrOp, raising: Raising) -> None:
    memory = view(raising, operation.base, operation.shape, operation.strides)
    offsets = tuple(raising.index_of(each) for each in operation.offsets)
    type_ = cast("PointerType", operation.result.type)
    raising.define(operation.result, BlockPointer(memory, offsets, type_))


def _advance(operation: AdvanceOp, raising: Raising) -> None:
    pointer: BlockPointer = raising.meaning(operation.ptr)
    steps = [raising.index_of(each) for each in operation.offsets]
    offsets = tuple(
        raising.add(offset, step) for offset, step in zip(pointer.offsets, steps, strict=True)
    )
    raising.define(operation.result, BlockPointer(pointer.memory, offsets, pointer.type))


def _checked(operation: LoadOp | StoreOp, rank: int) -> list[bool]:
    """Which dimensions of a block may end outside of the tensor."""
    check = operation.boundaryCheck
    named = [] if check is None else [int(each) for each in check.get_values()]
    return [dimension in named for dimension in range(rank)]


def load_block(operation: LoadOp, pointer: BlockPointer, raising: Raising) -> SSAValue:
    """The block that a pointer points to."""
    block = raising.type(pointer.type.pointee)
    rank = len(pointer.offsets)
    element = value_type(block)
    padding = raising.poison(element)
    if operation.padding is not None:
        option = member(PaddingOption, operation.padding, PaddingOption.ZERO)
        padding = padding_value(raising, option, element)
    checked = _checked(operation, rank)
    return read_block(raising, pointer.memory, pointer.offsets, block, padding, checked)


def store_block(
    operation: StoreOp, pointer: BlockPointer, value: SSAValue, raising: Raising
) -> None:
    """Writes the block that a pointer points to."""
    checked = _checked(operation, len(pointer.offsets))
    write_block(raising, value, pointer.memory, pointer.offsets, checked)


RULES: dict[str, Rule] = {
    "tt.advance": _advance,
    "tt.make_tensor_ptr": _make_pointer,
}
"""The rule of each operation, by name."""

"""Blocks of tensors in memory, and pointers to them.

A block becomes a transfer at its first element, which leaves out what lies outside of the tensor.

Source: Triton 3.7, `TritonOps.td`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

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

from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.core.views import ViewOp
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
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.triton_to_core.raising import Raising

# --- tensors in memory ---


@dataclass(frozen=True)
class Tensor:
    """A tensor in memory.

    Attributes:
        pointer: To its first element.
        sizes: Along each dimension; they have a sign, as strides do.
        strides: In elements.
    """

    pointer: SSAValue
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]

    @staticmethod
    def made(
        raising: Raising, base: SSAValue, sizes: Sequence[SSAValue], strides: Sequence[SSAValue]
    ) -> Tensor:
        """What an operation with these operands makes."""
        numbers = ([raising.index_of(each) for each in given] for given in (sizes, strides))
        return Tensor(raising.value(base), *map(tuple, numbers))

    def parts(self) -> list[SSAValue]:
        """The values that it consists of; what is constant is none of them."""
        return [self.pointer, *_dynamic((*self.sizes, *self.strides))]

    def of_parts(self, parts: Iterator[SSAValue]) -> Tensor:
        """The same with other values, of which it takes as many as it has."""
        pointer = next(parts)
        sizes, strides = (
            tuple(each if isinstance(each, int) else next(parts) for each in given)
            for given in (self.sizes, self.strides)
        )
        return Tensor(pointer, sizes, strides)

    def memory(self, raising: Raising) -> SSAValue:
        """All of it."""
        return self._view(raising, 0, self.sizes)

    def begun_at(
        self,
        raising: Raising,
        starts: Sequence[Index],
        shape: Sequence[int],
        checked: Sequence[bool],
    ) -> tuple[SSAValue, list[Index]]:
        """A view and the indices in it where a block begins.

        The view begins where the block does, so that this is known to be inside of it, but for
        dimensions that are checked and where the block may begin at a negative index.
        """
        first: list[Index] = []
        rest: list[Index] = []
        sizes: list[Index] = []
        given = zip(starts, self.sizes, shape, checked, strict=True)
        for start, size, length, is_checked in given:
            is_moved = not is_checked or raising.facts.is_not_negative(start)
            first.append(start if is_moved else 0)
            rest.append(0 if is_moved else start)
            left = raising.larger(raising.subtract(size, start), 0) if is_moved else size
            sizes.append(left if is_checked else length)
        offset = raising.sum_of_products(first, self.strides)
        return self._view(raising, offset, sizes), rest

    def _view(self, raising: Raising, offset: Index, sizes: Sequence[Index]) -> SSAValue:
        pointer = pointer_of(self.pointer.type)
        assert pointer is not None
        lists = {"offsets": [offset], "sizes": list(sizes), "strides": list(self.strides)}
        properties = {
            f"static_{name}": DenseArrayBase.from_list(i64, [_static(each) for each in numbers])
            for name, numbers in lists.items()
        }
        known = [n if isinstance(n, int) else NoneAttr() for n in (*self.strides, offset)]
        layout = StridedLayoutAttr(known[:-1], known[-1])
        type_ = MemRefType(pointer.pointee_type, [_static(size) for size in sizes], layout)
        operands = [_dynamic(numbers) for numbers in lists.values()]
        given = [self.pointer, *(value for each in operands for value in each)]
        return raising.shared(
            (ViewOp, type_, *properties.values(), *given),
            given,
            lambda: raising.compute(ViewOp, [self.pointer, *operands], type_, properties),
        )


def _static(number: Index) -> int:
    return number if isinstance(number, int) else DYNAMIC_INDEX


def _dynamic(numbers: Iterable[Index]) -> list[SSAValue]:
    return [number for number in numbers if not isinstance(number, int)]


Memory: TypeAlias = "Tensor | SSAValue"
"""A tensor, or a memref of one that is an argument of a kernel."""


def padding_value(raising: Raising, option: PaddingOption, element: Attribute) -> SSAValue:
    """What is read from outside of a tensor."""
    is_nan = option is PaddingOption.NAN and isinstance(element, AnyFloat)
    return raising.constant(math.nan if is_nan else 0, element)


def _begun_at(
    raising: Raising,
    memory: Memory,
    starts: Sequence[Index],
    shape: Sequence[int],
    checked: Sequence[bool],
) -> tuple[SSAValue, list[SSAValue], dict[str, Attribute]]:
    """A memref, the indices in it of a block, and the properties of a transfer of it."""
    rest: Sequence[Index] = starts
    if isinstance(memory, Tensor):
        memory, rest = memory.begun_at(raising, starts, shape, checked)
    properties: dict[str, Attribute] = {
        "permutation_map": AffineMapAttr(AffineMap.identity(len(starts))),
        "in_bounds": truth_attribute(tuple(not each for each in checked)),
    }
    return memory, [raising.as_value(start) for start in rest], properties


def read_block(
    raising: Raising,
    memory: Memory,
    starts: Sequence[Index],
    block: Attribute,
    padding: SSAValue,
    checked: Sequence[bool],
) -> SSAValue:
    """A block of a tensor; only dimensions that are checked may end outside of it."""
    shape = shape_of(block)
    view, indices, properties = _begun_at(raising, memory, starts, shape, checked)
    return raising.compute(TransferReadOp, [view, indices, padding, []], block, properties)


def write_block(
    raising: Raising,
    value: SSAValue,
    memory: Memory,
    starts: Sequence[Index],
    checked: Sequence[bool],
) -> None:
    """Writes a block of a tensor; only dimensions that are checked may end outside of it."""
    shape = shape_of(value.type)
    view, indices, properties = _begun_at(raising, memory, starts, shape, checked)
    operands = [value, view, indices, []]
    raising.emit(TransferWriteOp.build(operands=operands, result_types=[[]], properties=properties))


# --- pointers to blocks ---


@dataclass(frozen=True)
class BlockPointer:
    """What a pointer to a block has become.

    Attributes:
        tensor: The tensor in memory.
        offsets: Where the block begins.
        type: The type of the pointer.
    """

    tensor: Tensor
    offsets: tuple[Index, ...]
    type: PointerType

    def parts(self, raising: Raising) -> list[SSAValue]:
        """The values that loops and branches hand on."""
        return [*self.tensor.parts(), *(raising.as_value(offset) for offset in self.offsets)]

    def of_parts(self, parts: Iterable[SSAValue]) -> BlockPointer:
        """A pointer of values that were handed on."""
        rest = iter(parts)
        return replace(self, tensor=self.tensor.of_parts(rest), offsets=tuple(rest))

    def moved(self, raising: Raising, steps: Sequence[Index]) -> BlockPointer:
        """The pointer to a block that is so many elements further."""
        pairs = zip(self.offsets, steps, strict=True)
        return replace(self, offsets=tuple(raising.add(a, b) for a, b in pairs))


def _make_pointer(operation: MakeTensorPtrOp, raising: Raising) -> None:
    tensor = Tensor.made(raising, operation.base, operation.shape, operation.strides)
    offsets = tuple(raising.index_of(each) for each in operation.offsets)
    type_ = cast("PointerType", operation.result.type)
    raising.define(operation.result, BlockPointer(tensor, offsets, type_))


def _advance(operation: AdvanceOp, raising: Raising) -> None:
    pointer: BlockPointer = raising.meaning(operation.ptr)
    steps = [raising.index_of(each) for each in operation.offsets]
    raising.define(operation.result, pointer.moved(raising, steps))


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
    return read_block(raising, pointer.tensor, pointer.offsets, block, padding, checked)


def store_block(
    operation: StoreOp, pointer: BlockPointer, value: SSAValue, raising: Raising
) -> None:
    """Writes the block that a pointer points to."""
    checked = _checked(operation, len(pointer.offsets))
    write_block(raising, value, pointer.tensor, pointer.offsets, checked)


RULES: dict[str, Rule] = {
    "tt.advance": _advance,
    "tt.make_tensor_ptr": _make_pointer,
}
"""The rule of each operation, by name."""

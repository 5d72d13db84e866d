"""XeGPU at level "lane": the parts of blocks that work-items hold, and their products.

Which element of a block an entry of a work-item's vector is says the language's own table
(docs/semantics.md, 8). As a function of the work-item's number it is a sum of digits of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from xtile.dialects.tensorlang.ops import arithmetic, subgroup
from xtile.dialects.tensorlang.ops import memory as memory_ops
from xtile.dialects.tensorlang.types import I32
from xtile.dialects.xegpu.attributes import BlockTensorDescAttr
from xtile.dialects.xegpu.operation import tensor_desc
from xtile.dialects.xegpu.ops.block import LoadNdOp, PrefetchNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.descriptors import CreateNdDescOp, UpdateNdOffsetOp
from xtile.dialects.xegpu.types import bit_width
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.semantics import accumulation
from xtile.translate.core_to_tensorlang import memory as accesses
from xtile.translate.core_to_tensorlang.arithmetic import compare
from xtile.translate.core_to_tensorlang.gpu import lane_of
from xtile.translate.core_to_tensorlang.lowering import Lowering, Values
from xtile.translate.core_to_tensorlang.memory import BlockOfMemory, Elements, Memory
from xtile.translate.core_to_tensorlang.tiles import all_of
from xtile.translate.core_to_tensorlang.types import element_of, scalar_type, shape_of
from xtile.translate.core_to_tensorlang.views import memory_of

Access = LoadNdOp | StoreNdOp


def _numbers(r: Lowering, given: Sequence[SSAValue | int | None]) -> tuple[Index, ...]:
    return tuple(
        each if isinstance(each, int) else r.value(each) for each in given if each is not None
    )


def _create_nd_tdesc(operation: CreateNdDescOp, r: Lowering) -> None:
    if not isinstance(operation.source.type, MemRefType):
        raise r.error("the tensor language has no addresses; make the descriptor of a memref")
    memory = memory_of(r, operation.source)
    if operation.const_shape is not None or operation.shape:
        sizes = _numbers(r, operation.mixed_sizes)
        strides = _numbers(r, operation.mixed_strides)
        memory = Memory(memory.root, memory.offset, lambda r: sizes, strides)
    offsets = _numbers(r, operation.mixed_offsets)
    r.define(operation.TensorDesc, BlockOfMemory(memory, offsets or (0,) * memory.rank))


def _moved(r: Lowering, descriptor: SSAValue, offsets: Sequence[SSAValue | int]) -> BlockOfMemory:
    block = r.meaning(descriptor)
    assert isinstance(block, BlockOfMemory)
    first = len(block.offsets) - len(offsets)
    pairs = zip(block.offsets[first:], _numbers(r, offsets), strict=True)
    return BlockOfMemory(block.memory, (*block.offsets[:first], *(r.add(a, b) for a, b in pairs)))


def _update_nd_offset(operation: UpdateNdOffsetOp, r: Lowering) -> None:
    given = operation.mixed_offsets
    r.define(operation.result, _moved(r, operation.TensorDesc, given))


def _coordinates(operation: Access, r: Lowering) -> list[list[Index]]:
    """For each entry of the work-item's vector where in the block its element is."""
    from xtile.semantics.xegpu.block_coordinates import coordinates

    assert r.subgroup_size is not None
    type_ = tensor_desc(operation.TensorDesc)
    table = coordinates(operation, type_, r.subgroup_size)
    columns = [axis.reshape(axis.shape[1], -1).T.tolist() for axis in table]
    return [
        [_of_lane(r, [int(number) for number in axis[entry]]) for axis in columns]
        for entry in range(len(columns[0]))
    ]


def _of_lane(r: Lowering, numbers: Sequence[int]) -> Index:
    """The number of a list that the work-item's own number in its subgroup chooses."""
    if len(set(numbers)) == 1:
        return numbers[0]
    lanes = len(numbers)
    index: Index = numbers[0]
    found = [numbers[0]] * lanes
    lane, bit, step = lane_of(r), 1, numbers[1] - numbers[0]
    if all(number == numbers[0] + step * own for own, number in enumerate(numbers)):
        return r.add(r.multiply(lane, step), numbers[0])
    # Each bit of the number adds what it adds to work-item 0.
    while bit < lanes:
        step = numbers[bit] - numbers[0]
        digit = r.remainder(r.divide(lane, bit), 2)
        index = r.add(index, r.multiply(digit, step))
        found = [each + (step if number & bit else 0) for number, each in enumerate(found)]
        bit *= 2
    if found != [*numbers]:
        raise r.error("the parts of this block are not dealt to lanes in an order of their bits")
    return index


def _conditions(r: Lowering, access: Access, memory: Memory, at: Sequence[Index]) -> list[SSAValue]:
    """Whether an element is one of the memory, where that is asked."""
    type_ = tensor_desc(access.TensorDesc)
    encoding = type_.encoding
    assert isinstance(encoding, BlockTensorDescAttr)
    if type_.rank == 1 or not encoding.is_boundary_checked:
        return []
    conditions: list[SSAValue] = []
    first = memory.rank - type_.rank
    for index, size in list(zip(at, memory.sizes(r), strict=True))[first:]:
        value = r.as_value(index)
        conditions.append(compare(r, "sge", value, r.index(0)))
        conditions.append(compare(r, "slt", value, r.as_value(size)))
    return conditions


def _places(operation: Access, r: Lowering) -> tuple[Memory, list[list[Index]]]:
    """The memory, and for each entry the indices of its element."""
    if not operation.is_for_lane:
        raise r.error("the vector must be the part of one lane, as the others of the kernel are")
    given = operation.mixed_offsets
    block = _moved(r, operation.TensorDesc, given)
    memory, rank = block.memory, tensor_desc(operation.TensorDesc).rank
    first = memory.rank - rank
    return memory, [
        [*block.offsets[:first], *map(r.add, block.offsets[first:], inner)]
        for inner in _coordinates(operation, r)
    ]


def _load_nd(operation: LoadNdOp, r: Lowering) -> None:
    memory, places = _places(operation, r)
    zero = r.constant(0, scalar_type(memory.element))
    values: list[SSAValue] = []
    for at in places:
        conditions = _conditions(r, operation, memory, at)
        if not conditions:
            values.append(accesses.load(r, memory, at))
            continue
        is_there = all_of(r, conditions)

        def load(at: Sequence[Index] = at) -> SSAValue:
            return accesses.load(r, memory, at)

        values.append(r.choose(is_there, load, lambda: zero))
    r.define(operation.value, Elements(shape_of(operation.value.type), tuple(values)))


def _store_nd(operation: StoreNdOp, r: Lowering) -> None:
    memory, places = _places(operation, r)
    elements = r.meaning(operation.value)
    assert isinstance(elements, Elements)
    for at, value in zip(places, elements.values, strict=True):
        conditions = _conditions(r, operation, memory, at)

        def store(at: Sequence[Index] = at, value: SSAValue = value) -> Values:
            accesses.store(r, value, memory, at)
            return ()

        if conditions:
            r.if_(all_of(r, conditions), store)
        else:
            store()


def _prefetch(operation: Operation, r: Lowering) -> None:
    """Nothing but the time depends on it."""


def _dpas(operation: Operation, r: Lowering) -> None:
    """Each work-item has a column of the product, and gets the left matrix from the others."""
    import numpy as np

    from xtile.semantics.xegpu.block_coordinates import elements_of_a_register, from_lanes, unit

    lanes = r.subgroup_size
    assert lanes is not None
    lhs, rhs, *sums = (r.meaning(operand) for operand in operation.operands)
    result = operation.results[0]
    shape = shape_of(result.type)
    rows, inner = prod(shape), len(rhs.values)
    bits = bit_width(element_of(operation.operands[1].type))
    left_shape = shape_of(operation.operands[0].type)
    together = prod(left_shape[1:]) if len(left_shape) > 1 else unit(inner, bits, lanes)
    pack = elements_of_a_register(bits)
    # Which entry of which work-item each element of the left matrix is, and which of the own ones
    # each element of a column of the right matrix.
    count = len(lhs.values)
    left = from_lanes(np.arange(lanes * count).reshape(lanes, count), together)
    right = from_lanes(np.tile(np.arange(inner), (lanes, 1)), pack)
    right = right.reshape(inner // pack, lanes, pack).swapaxes(1, 2).reshape(inner, lanes)
    wide = accumulation.accumulation_type(scalar_type(element_of(result.type)))
    values: list[SSAValue] = []
    for row in range(rows):
        total = r.cast(sums[0].values[row], wide) if sums else r.constant(0, wide)
        for depth in range(inner):
            lane, entry = divmod(int(left[row * inner + depth]), count)
            number = r.constant(lane, I32)
            taken = r.number(subgroup.SubgroupBroadcastOp(lhs.values[entry], number))
            own = rhs.values[int(right[depth, 0])]
            product = r.pure(arithmetic.MulOp, r.cast(taken, wide), r.cast(own, wide))
            total = r.pure(arithmetic.AddOp, total, product)
        values.append(r.cast(total, element_of(result.type)))
    r.define(result, Elements(shape, tuple(values)))


def _wait(operation: Operation, r: Lowering) -> None:
    r.emit(memory_ops.BarrierOp(global_fence=True, local_fence=True))


def _same(operation: Operation, r: Lowering) -> None:
    r.define(operation.results[0], r.meaning(operation.operands[0]))


def _handle(operation: Operation, r: Lowering) -> None:
    """A named barrier is one of the work-group."""
    r.define(operation.results[0], cast(Any, None))


RULES: dict[str, Rule] = {
    CreateNdDescOp.name: _create_nd_tdesc,
    LoadNdOp.name: _load_nd,
    PrefetchNdOp.name: _prefetch,
    StoreNdOp.name: _store_nd,
    UpdateNdOffsetOp.name: _update_nd_offset,
    "xegpu.alloc_nbarrier": _prefetch,
    "xegpu.convert_layout": _same,
    "xegpu.dpas": _dpas,
    "xegpu.fence": _prefetch,
    "xegpu.init_nbarrier": _handle,
    "xegpu.nbarrier_arrive": _prefetch,
    "xegpu.nbarrier_wait": _wait,
    "xegpu.prefetch": _prefetch,
}
"""The rule of each operation, by name."""

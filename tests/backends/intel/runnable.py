"""Makes random kernels executable: loops become short, indices small, and local memory initialized.

A kernel of `tests.generators.tensorlang_kernels` keeps every rule of the language, but most would
loop for years, or access memory far away from any argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.tensorlang.ops.arithmetic import ConstantOp, MaxOp, MinOp, NotEqualOp
from xtile.dialects.tensorlang.ops.collective import AllocaOp, ForeachOp, ForeachTileOp, ParallelOp
from xtile.dialects.tensorlang.ops.control import ForOp
from xtile.dialects.tensorlang.ops.cooperative_matrix import (
    CooperativeMatrixAccess,
    CooperativeMatrixPrefetchOp,
)
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.memory import (
    AtomicLoadOp,
    AtomicOperation,
    AtomicStoreOp,
    AtomicUpdateOperation,
    BarrierOp,
    LoadOp,
    StoreOp,
    SubviewOp,
)
from xtile.dialects.tensorlang.ops.subgroup import SubgroupBroadcastOp
from xtile.dialects.tensorlang.types import BOOL, DYNAMIC, I8, INDEX, GroupType, MemrefType
from xtile.dialects.tensorlang.verifier.constants import integer_of

_LOOP = (-2, 3)
_TRIPS = (-2, 20)
_STEP = (1, 3)
_SIZE = (1, 4)
_LANE = (0, 7)
_BLOCK = (0, 3)
"""The least and the largest number that an operand may be."""

_LARGEST_INDEX = 3
"""Every mode of dynamic size has memory for it."""


def make_runnable(function: FuncOp, operations: Iterable[Operation]) -> None:
    """Changes a function so that it ends soon and accesses memory of its arguments only.

    Args:
        function: The function.
        operations: Its instructions that are not known to do so.
    """
    for operation in operations:
        if isinstance(operation, AllocaOp):
            _initialize(operation, function.body.block)
            continue
        for number, limits in _limits(operation).items():
            _limit(operation, number, *limits)


def without_bool_parameters(function: FuncOp) -> None:
    """Replaces the truth values among a function's parameters, which a kernel cannot have.

    Each becomes whether a number is not 0.
    """
    block = function.body.block
    for index, parameter in enumerate(function.parameters):
        if parameter.type != BOOL:
            continue
        number = block.insert_arg(I8, index)
        zero = _constant(0, I8)
        truth = NotEqualOp.build(operands=[number, zero.result], result_types=[BOOL])
        first = block.first_op
        assert first is not None
        block.insert_ops_before([zero, truth], first)
        parameter.replace_all_uses_with(truth.result)
        block.erase_arg(parameter)


def separate_atomics(function: FuncOp) -> None:
    """Puts barriers behind atomic instructions that the whole work-group executes."""
    for operation in list(function.walk()):
        if isinstance(operation, AtomicOperation) and isinstance(operation.parent_op(), ParallelOp):
            properties = {"global_fence": UnitAttr(), "local_fence": UnitAttr()}
            block = operation.parent
            assert block is not None
            block.insert_op_after(BarrierOp.build(properties=properties), operation)


_Limits = tuple[int, int]


def _limits(operation: Operation) -> dict[int, _Limits]:
    """What operands of an instruction may be, by their numbers."""
    count = len(operation.operands)
    if isinstance(operation, ForOp):
        step = {} if operation.step is None else {2: _STEP}
        return {0: _LOOP, 1: _LOOP, **step}
    if isinstance(operation, ForeachOp | ForeachTileOp):
        return dict.fromkeys(range(count), _TRIPS)
    if isinstance(operation, CooperativeMatrixAccess | CooperativeMatrixPrefetchOp):
        return {count - 2: _BLOCK, count - 1: _BLOCK}
    if isinstance(operation, SubviewOp):
        sizes = 1 + len(operation.offsets)
        return {
            **dict.fromkeys(range(1, sizes), _BLOCK),
            **dict.fromkeys(range(sizes, count), _SIZE),
        }
    if isinstance(operation, SubgroupBroadcastOp):
        return {1: _LANE}
    if isinstance(operation, _ELEMENT_ACCESSES):
        return _limits_of_indices(operation.memref.type, count)
    return {}


_ELEMENT_ACCESSES = (LoadOp, StoreOp, AtomicLoadOp, AtomicStoreOp, AtomicUpdateOperation)


def _limits_of_indices(type: Attribute, count: int) -> dict[int, _Limits]:
    """The indices are the last operands."""
    assert isinstance(type, MemrefType | GroupType)
    sizes = (type.size,) if isinstance(type, GroupType) else type.shape
    return {
        number: (0, _LARGEST_INDEX if size == DYNAMIC else min(size - 1, _LARGEST_INDEX))
        for number, size in enumerate(sizes, count - len(sizes))
    }


def _limit(operation: Operation, number: int, least: int, largest: int) -> None:
    """Replaces an operand by min(max(operand, least), largest), unless it is known to be that."""
    operand = operation.operands[number]
    constant = integer_of(operand)
    block = operation.parent
    assert block is not None
    if constant is not None and least <= constant <= largest:
        return
    low, high = _constant(least, operand.type), _constant(largest, operand.type)
    raised = MaxOp.build(operands=[operand, low.result], result_types=[operand.type])
    lowered = MinOp.build(operands=[raised.result, high.result], result_types=[operand.type])
    block.insert_ops_before([low, high, raised, lowered], operation)
    operation.operands[number] = lowered.result


def _constant(number: int, type: Attribute) -> ConstantOp:
    return ConstantOp.build(properties={"value": IntegerAttr(number, i64)}, result_types=[type])


def _initialize(alloca: AllocaOp, body: Block) -> None:
    """Copies a new argument of the function to local memory."""
    local = alloca.result.type
    assert isinstance(local, MemrefType)
    source = body.insert_arg(
        MemrefType.get(local.element_type, local.shape, local.strides), len(body.args)
    )
    block = alloca.parent
    assert block is not None

    def copy(indices: Sequence[SSAValue]) -> list[Operation]:
        load = LoadOp.build(operands=[source, indices], result_types=[local.element_type])
        return [load, StoreOp.build(operands=[load.result, alloca.result, indices])]

    block.insert_ops_after(_over_elements(local, copy), alloca)


def _over_elements(
    type: MemrefType, make: Callable[[Sequence[SSAValue]], list[Operation]]
) -> list[Operation]:
    """Instructions for each element of a memref of static size."""
    if type.order == 0:
        return make(())
    first, sizes = _constant(0, INDEX), [_constant(size, INDEX) for size in type.shape]
    body = Block(arg_types=[INDEX] * type.order)
    body.add_ops(make(body.args))
    loop = ForeachOp.build(
        operands=[[first.result] * type.order, [size.result for size in sizes]],
        regions=[Region(body)],
    )
    return [first, *sizes, loop]

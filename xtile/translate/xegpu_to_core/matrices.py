"""Matrices in local memory: memory of their elements, and where each of them lies."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, MemRefType, i1
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.dialects.xegpu.ops.matrix import CreateMemDescOp, LoadMatrixOp, StoreMatrixOp
from xtile.dialects.xegpu.types import MemDescType
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.rebuilder import Rule, copy
from xtile.translate.xegpu_to_core.descriptors import reinterpreted
from xtile.translate.xegpu_to_core.raising import Matrix, Raising
from xtile.translate.xegpu_to_core.vectors import shape_of


def _create_mem_desc(operation: CreateMemDescOp, raising: Raising) -> None:
    type_ = operation.mem_desc.type
    assert isinstance(type_, MemDescType)
    memory = raising.value(operation.source)
    source = cast("MemRefType[Attribute]", memory.type)
    layout = layout_of(source)
    if source.element_type != type_.element_type or layout.offset is None:
        raise raising.error(
            f"memory of {source} holds the bits of {type_}; the core form sees local memory as "
            f"elements of one type: allocate it for this matrix alone, or as memory of "
            f"{type_.element_type}"
        )
    line = reinterpreted(raising, memory, layout.offset, (prod(type_.get_shape()),), (1,))
    raising.define(operation.mem_desc, Matrix(line, type_))


def allocated(old: SSAValue, raising: Raising) -> MemRefType[Attribute]:
    """The type of new local memory: where all that use it see other elements, one of these."""
    type_ = cast("MemRefType[Attribute]", old.type)
    users = [use.operation for use in old.uses if use.operation.name != "memref.dealloc"]
    wanted = {
        cast("MemDescType", user.mem_desc.type).element_type
        for user in users
        if isinstance(user, CreateMemDescOp)
    }
    if len(wanted) != 1 or not all(isinstance(user, CreateMemDescOp) for user in users):
        return type_
    (element,) = wanted
    if element == type_.element_type:
        return type_
    shapes = [cast("CreateMemDescOp", user).mem_desc.type for user in users]
    count = max(prod(cast("MemDescType", shape).get_shape()) for shape in shapes)
    return MemRefType(element, [count], memory_space=type_.memory_space)


def _allocate(operation: Operation, raising: Raising) -> None:
    """Local memory is one variable of the work-group, however it is allocated."""
    (result,) = operation.results
    if not is_local(result):
        copy(operation, raising)
        return
    raising.define(result, local_memory(result, raising))


def local_memory(old: SSAValue, raising: Raising) -> SSAValue:
    """New local memory in the place of old one."""
    type_ = allocated(old, raising)
    return raising.emit(AllocaOp.build(operands=[[], []], result_types=[type_])).results[0]


def is_local(value: SSAValue | BlockArgument) -> bool:
    """Whether it is a memref in local memory of a known size."""
    from xtile.dialects.xegpu.constraints import is_static_shared

    return is_static_shared(value.type)


def _memory_space_cast(operation: Operation, raising: Raising) -> None:
    """Local memory is the same, whatever its space is called."""
    (result,) = operation.results
    if is_local(result):
        raising.define(result, raising.value(operation.operands[0]))
    else:
        copy(operation, raising)


def _deallocate(operation: Operation, raising: Raising) -> None:
    """Local memory ends with the work-group."""
    if not is_local(operation.operands[0]):
        copy(operation, raising)


# --- accesses ---


def _load_matrix(operation: LoadMatrixOp, raising: Raising) -> None:
    matrix: Matrix = raising.meaning(operation.mem_desc)
    first, shape = raising.numbers(operation.mixed_offsets), shape_of(operation.res)
    _check(operation, raising, shape)
    if not shape:
        value = raising.load(matrix.memory, [_place(raising, matrix.type, first)])
    elif _is_blocked(matrix.type) and len(shape) > 1:
        indices = _indices(raising, matrix.type, first, shape)
        zeros = raising.splat(0, matrix.type.element_type, shape)
        gather = GatherOp.build(
            operands=[
                *(matrix.memory, [raising.index(0)], indices),
                *(raising.splat(1, i1, shape), zeros),
            ],
            result_types=[operation.res.type],
        )
        value = raising.emit(gather).result
    else:
        memory, at = _rows(raising, matrix, first, shape)
        value = raising.read(memory, at, shape, is_checked=False)
    raising.define(operation.res, value)


def _store_matrix(operation: StoreMatrixOp, raising: Raising) -> None:
    matrix: Matrix = raising.meaning(operation.mem_desc)
    first, shape = raising.numbers(operation.mixed_offsets), shape_of(operation.data)
    _check(operation, raising, shape)
    value = raising.value(operation.data)
    if not shape:
        raising.store(value, matrix.memory, [_place(raising, matrix.type, first)])
    elif _is_blocked(matrix.type) and len(shape) > 1:
        indices = _indices(raising, matrix.type, first, shape)
        scatter = ScatterOp.build(
            operands=[
                *(matrix.memory, [raising.index(0)], indices),
                *(raising.splat(1, i1, shape), value),
            ],
            result_types=[[]],
        )
        raising.emit(scatter)
    else:
        memory, at = _rows(raising, matrix, first, shape)
        raising.write(value, memory, at, is_checked=False)


def _check(
    operation: LoadMatrixOp | StoreMatrixOp, raising: Raising, shape: tuple[int, ...]
) -> None:
    """Raises a DiagnosticError where a vector is the part of one lane."""
    is_part = operation.layout is None and sum(size != 1 for size in shape) <= 1
    if operation.subgroup_block_io is not None and is_part and raising.subgroup_size > 1:
        raise raising.error(
            "with subgroup_block_io this vector is the part of one lane, but the kernel is one of "
            "whole vectors"
        )


def _is_blocked(type_: MemDescType) -> bool:
    return type_.block_shape != type_.get_shape()


def _rows(
    raising: Raising, matrix: Matrix, first: Sequence[Index], shape: tuple[int, ...]
) -> tuple[SSAValue, Sequence[Index]]:
    """The memory as rows of the matrix; a vector of one dimension follows memory itself."""
    type_ = matrix.type
    if len(shape) == 1:
        return matrix.memory, [_place(raising, type_, first)]
    memory = reinterpreted(
        raising,
        matrix.memory,
        layout_of(cast("MemRefType[Attribute]", matrix.memory.type)).offset or 0,
        type_.get_shape(),
        type_.strides,
    )
    return memory, first


def _place(raising: Raising, type_: MemDescType, coordinates: Sequence[Index]) -> Index:
    """The number of an element in memory."""
    if not _is_blocked(type_):
        return raising.sum_of_products(coordinates, type_.strides)
    inner, outer = type_.blocked_strides
    pairs = list(zip(coordinates, type_.block_shape, strict=True))
    blocks = [raising.divide(number, size) for number, size in pairs]
    rests = [raising.remainder(number, size) for number, size in pairs]
    return raising.sum_of_products([*blocks, *rests], [*outer, *inner])


def _indices(
    raising: Raising, type_: MemDescType, first: Sequence[Index], shape: tuple[int, ...]
) -> SSAValue:
    """The number in memory of each element of a part of a matrix that has blocks."""
    inner, outer = type_.blocked_strides
    total: SSAValue | None = None
    for axis, (start, size) in enumerate(zip(first, shape, strict=True)):
        begin = raising.repeated(raising.as_value(start), (size,))
        numbers = raising.emit(arith.AddiOp(raising.counted(size), begin)).result
        block = _all(raising, type_.block_shape[axis], size)
        terms = (
            (raising.emit(arith.DivUIOp(numbers, block)).result, outer[axis]),
            (raising.emit(arith.RemUIOp(numbers, block)).result, inner[axis]),
        )
        for number, stride in terms:
            scaled = raising.emit(arith.MuliOp(number, _all(raising, stride, size))).result
            column = raising.reshaped(
                scaled, (*(1 for _ in shape[:axis]), size, *(1 for _ in shape[axis + 1 :]))
            )
            spread = raising.repeated(column, shape)
            total = spread if total is None else raising.emit(arith.AddiOp(total, spread)).result
    assert total is not None
    return total


def _all(raising: Raising, number: int, size: int) -> SSAValue:
    return raising.splat(number, IndexType(), (size,))


RULES: dict[str, Rule] = {
    CreateMemDescOp.name: _create_mem_desc,
    LoadMatrixOp.name: _load_matrix,
    StoreMatrixOp.name: _store_matrix,
    "memref.alloc": _allocate,
    "memref.alloca": _allocate,
    "memref.dealloc": _deallocate,
    "memref.memory_space_cast": _memory_space_cast,
}

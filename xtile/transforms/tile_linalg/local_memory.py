"""Local memory that is used as a whole becomes a tile, which flows through loops and branches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import cast

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.backends.nvidia.devices import Device
from xtile.dialects.core import BlasA2Operation, BlasA3Operation, BlasOperation, ParallelOp
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.gpu.functions import FuncOp
from xtile.transforms.distribute import numbers
from xtile.transforms.emitter import AnyMemRef
from xtile.transforms.facts import constant_of
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.spans import power_of_two
from xtile.transforms.tile_linalg.tiles import Tile

_LARGEST_SIZE = 256
"""Of a dimension of a matrix that becomes a tile."""


def locals_of(function: FuncOp, device: Device) -> frozenset[SSAValue]:
    """The local memory of a kernel that can become tiles."""
    return frozenset(
        operation.memref
        for operation in function.walk()
        if isinstance(operation, memref.AllocaOp) and _can_be_tile(operation, device)
    )


def _can_be_tile(alloca: memref.AllocaOp, device: Device) -> bool:
    """Whether local memory is small and whatever uses it uses all of it."""
    type_: AnyMemRef = alloca.memref.type
    space, shape = type_.memory_space, type_.get_shape()
    if not isinstance(space, AddressSpaceAttr) or space.data is not AddressSpace.WORKGROUP:
        return False
    if DYNAMIC_INDEX in shape:
        return False
    sizes = [power_of_two(size) for size in shape]
    if math.prod(sizes) > device.local_elements or (len(sizes) > 1 and max(sizes) > _LARGEST_SIZE):
        return False
    return all(_uses_all_of(use.operation, alloca.memref) for use in alloca.memref.uses)


def _uses_all_of(user: Operation, memory: SSAValue) -> bool:
    if isinstance(user, BlasOperation):
        return user.atomic is None or output_of(user) is not memory
    if isinstance(user, memref.DimOp):
        return constant_of(user.index) is not None
    is_access = isinstance(user, memref.LoadOp | memref.StoreOp) and is_collective(user)
    return is_access and cast("AnyMemRef", memory.type).get_num_dims() == 0


def is_collective(operation: Operation) -> bool:
    """Whether an operation stands in no parallel region."""
    around = operation.parent_op()
    while around is not None and not isinstance(around, ParallelOp):
        around = around.parent_op()
    return around is None


def output_of(operation: BlasOperation) -> SSAValue:
    """The memref that an operation updates."""
    if isinstance(operation, BlasA2Operation):
        return operation.b
    return cast("BlasA3Operation", operation).c


# --- operations on local memory that is a tile ---


def held(kernel: Kernel, memory: SSAValue) -> Tile:
    """What local memory holds; before it is written, that is not defined."""
    tile = kernel.locals[memory]
    if tile is not None:
        return tile
    type_ = cast("AnyMemRef", memory.type)
    return tiles.zeros(kernel, type_.element_type, [*map(power_of_two, type_.get_shape())])


def load(operation: memref.LoadOp, kernel: Kernel) -> None:
    """The number that local memory without dimensions holds."""
    parts = held(kernel, operation.memref).parts
    value = parts[0] if len(parts) == 1 else numbers.join(kernel, *parts)
    kernel.define(operation.res, value)


def store(operation: memref.StoreOp, kernel: Kernel) -> None:
    """Replaces the number that local memory without dimensions holds."""
    kernel.locals[operation.memref] = tiles.scalar(kernel, kernel.value(operation.value))


def size(operation: memref.DimOp, kernel: Kernel) -> None:
    """The size of local memory along a dimension."""
    dimension = constant_of(operation.index)
    assert dimension is not None
    shape = cast("AnyMemRef", operation.source.type).get_shape()
    kernel.define(operation.result, kernel.index(shape[dimension]))


# --- loops and branches ---


def _written_in(kernel: Kernel, operation: Operation) -> list[SSAValue]:
    """The tiles that a loop or a branch changes."""
    found: dict[SSAValue, None] = {}
    for nested in operation.walk():
        if isinstance(nested, BlasOperation):
            found[output_of(nested)] = None
        elif isinstance(nested, memref.StoreOp):
            found[nested.memref] = None
    return [memory for memory in found if memory in kernel.locals]


def _parts(kernel: Kernel, memories: list[SSAValue]) -> list[SSAValue]:
    return [part for memory in memories for part in held(kernel, memory).parts]


def _hold(kernel: Kernel, memories: list[SSAValue], parts: Iterator[SSAValue]) -> None:
    """Gives tiles new parts."""
    for memory in memories:
        before = held(kernel, memory)
        new = tuple(next(parts) for _ in before.parts)
        kernel.locals[memory] = Tile(new, before.element, before.shape)


def loop(operation: scf.ForOp, kernel: Kernel) -> None:
    """A loop hands on the tiles that it changes."""
    written = _written_in(kernel, operation)
    carried = _parts(kernel, written)
    first, last, step = kernel.values((operation.lb, operation.ub, operation.step))
    initial = [*kernel.values(operation.iter_args), *carried]
    old = operation.body.block
    body = kernel.new_block(None, [old.args[0].type, *(value.type for value in initial)])
    for was, becomes in zip(old.args, body.args, strict=False):
        kernel.define(was, becomes)
    _hold(kernel, written, iter(body.args[len(old.args) :]))
    _translate_body(kernel, operation.body, body, written)
    new = scf.ForOp(first, last, step, initial, Region(body))
    _replace(kernel, operation, new, written)


def branch(operation: scf.IfOp, kernel: Kernel) -> None:
    """A branch returns the tiles that it changes."""
    written = _written_in(kernel, operation)
    before = {memory: kernel.locals[memory] for memory in written}
    regions: list[Region] = []
    for region in operation.regions:
        kernel.locals.update(before)
        body = kernel.new_block(None, [])
        if region.blocks.first is not None or written:
            _translate_body(kernel, region, body, written)
            regions.append(Region(body))
        else:
            regions.append(Region())
    kernel.locals.update(before)
    types = [part.type for part in _parts(kernel, written)]
    results = [*(tiles.tile_type(result.type) for result in operation.results), *types]
    if_true, if_false = regions
    new = scf.IfOp(kernel.value(operation.cond), results, if_true, if_false)
    _replace(kernel, operation, new, written)


def _translate_body(kernel: Kernel, old: Region, body: Block, written: list[SSAValue]) -> None:
    """Translates a region, whose end hands on the tiles too."""
    with kernel.at_end_of(body):
        yielded: list[SSAValue] = []
        for operation in old.blocks.first.ops if old.blocks.first is not None else ():
            if isinstance(operation, scf.YieldOp):
                yielded = kernel.values(operation.operands)
            else:
                kernel.translate(operation)
        kernel.emit(scf.YieldOp(*yielded, *_parts(kernel, written)))


def _replace(
    kernel: Kernel, old: Operation, new: scf.ForOp | scf.IfOp, written: list[SSAValue]
) -> None:
    """Emits a loop or branch, of which the last results are the tiles."""
    new.attributes |= old.attributes
    kernel.emit(new)
    for was, becomes in zip(old.results, new.results, strict=False):
        kernel.define(was, becomes)
    _hold(kernel, written, iter(new.results[len(old.results) :]))

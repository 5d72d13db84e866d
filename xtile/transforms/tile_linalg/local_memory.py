"""Local memory that is used as a whole becomes a tile, which flows through loops and branches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, I64, ArrayAttr, IntegerAttr, VectorType, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.dialects.core.blas import BlasA2Operation, BlasA3Operation, BlasOperation, GemmOp
from xtile.dialects.core.subgroup import is_collective
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.scf.loops import ForOp
from xtile.dialects.vector.slices import ExtractStridedSliceOp
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.facts import constant_of
from xtile.targets.target import Target
from xtile.transforms.distribute import numbers
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.spans import power_of_two
from xtile.transforms.tile_linalg.tiles import Tile, part_of

_LARGEST_SIZE = 256
"""Of a dimension of a matrix that becomes a tile."""


@dataclass(frozen=True)
class LocalView:
    """A part of local memory that is a part of a tile.

    Attributes:
        memory: The memory.
        offsets: Where it begins.
    """

    memory: SSAValue
    offsets: tuple[int, ...]


@dataclass
class LocalMemory:
    """The local memory of a kernel that is in tiles.

    Attributes:
        candidates: What can be tiles.
        views: The views of these.
        held: What each holds, from its allocation on; None until it is written.
        allocates: Whether there is other local memory, which is allocated.
    """

    candidates: frozenset[SSAValue] = frozenset()
    views: dict[SSAValue, LocalView] = field(default_factory=dict[SSAValue, LocalView])
    held: dict[SSAValue, Tile | None] = field(default_factory=dict["SSAValue", "Tile | None"])
    allocates: bool = False

    def root_of(self, memory: SSAValue) -> SSAValue | None:
        """The local memory that a memref of the source is part of, if that is a tile."""
        view = self.views.get(memory)
        root = memory if view is None else view.memory
        return root if root in self.held else None


def local_memory_of(function: FuncOp, target: Target) -> LocalMemory:
    """The local memory of a kernel that can become tiles."""
    result, found = LocalMemory(), list[SSAValue]()
    for operation in walk(function):
        if not isinstance(operation, memref.AllocaOp):
            continue
        if not _can_be_tile(operation, target):
            result.allocates = True
            continue
        found.append(operation.memref)
        for view in (use.operation for use in operation.memref.uses):
            if isinstance(view, memref.SubviewOp):
                offsets = tuple(view.static_offsets.get_values())
                result.views[view.result] = LocalView(operation.memref, offsets)
    result.candidates = frozenset(found)
    return result


def _can_be_tile(alloca: memref.AllocaOp, target: Target) -> bool:
    """Whether local memory is small and whatever uses it uses all of it, or a part of its tile."""
    type_: AnyMemRef = alloca.memref.type
    space, shape = type_.memory_space, type_.get_shape()
    if not isinstance(space, AddressSpaceAttr) or space.data is not AddressSpace.WORKGROUP:
        return False
    if DYNAMIC_INDEX in shape:
        return False
    sizes = [power_of_two(size) for size in shape]
    is_long = len(sizes) > 1 and max(sizes) > _LARGEST_SIZE
    if is_long or math.prod(sizes) > target.tiles.local_elements:
        return False
    if _is_large_factor(alloca.memref, math.prod(sizes), target):
        return False
    return all(_uses_all_of(use.operation, alloca.memref) for use in alloca.memref.uses)


def _is_large_factor(memory: SSAValue, elements: int, target: Target) -> bool:
    """Whether it has more elements than products may multiply at once without a matrix unit.

    Such products multiply the elements of a tile one by one, in code that is as long as the tile is
    deep. Reading memory, they have a loop.
    """
    type_ = cast("AnyMemRef", memory.type)
    largest = target.tiles.products_of(part_of(type_.element_type))[0]
    if largest not in target.tiles.other_products or elements <= largest.rows * largest.columns:
        return False
    users = [use.operation for use in memory.uses]
    whole_and_parts = [
        memory,
        *(each.result for each in users if isinstance(each, memref.SubviewOp)),
    ]
    return any(
        isinstance(use.operation, GemmOp) and value in (use.operation.a, use.operation.b)
        for value in whole_and_parts
        for use in value.uses
    )


def _uses_all_of(user: Operation, memory: SSAValue) -> bool:
    if isinstance(user, memref.SubviewOp):
        return _is_part(user)
    if isinstance(user, BlasOperation):
        return user.atomic is None or output_of(user) is not memory
    if isinstance(user, memref.DimOp):
        return constant_of(user.index) is not None
    is_access = isinstance(user, memref.LoadOp | memref.StoreOp) and is_collective(user)
    return is_access and cast("AnyMemRef", memory.type).get_num_dims() == 0


def _is_part(view: memref.SubviewOp) -> bool:
    """Whether a view is a part of a tile that can be read, and written if it is."""
    whole = _shape_of(view.source)
    shape = _shape_of(view.result)
    offsets: Sequence[int] = view.static_offsets.get_values()
    if DYNAMIC_INDEX in (*offsets, *shape) or len(shape) != len(whole):
        return False
    if any(stride != 1 for stride in view.static_strides.get_values()):
        return False
    sizes = [power_of_two(size) for size in shape]
    if any(offset % size for offset, size in zip(offsets, sizes, strict=True)):
        return False
    is_whole = sizes == [power_of_two(size) for size in whole]
    return all(
        isinstance(use.operation, BlasOperation)
        and (use.operation.atomic is None or output_of(use.operation) is not view.result)
        and (is_whole or output_of(use.operation) is not view.result)
        for use in view.result.uses
    )


def _shape_of(memory: SSAValue) -> tuple[int, ...]:
    return cast("AnyMemRef", memory.type).get_shape()


def output_of(operation: BlasOperation) -> SSAValue:
    """The memref that an operation updates."""
    if isinstance(operation, BlasA2Operation):
        return operation.b
    return cast("BlasA3Operation", operation).c


# --- operations on local memory that is a tile ---


def held(kernel: Kernel, memory: SSAValue) -> Tile:
    """What local memory holds; before it is written, that is not defined."""
    tile = kernel.local.held[memory]
    if tile is not None:
        return tile
    type_ = cast("AnyMemRef", memory.type)
    return tiles.zeros(kernel, type_.element_type, [*map(power_of_two, type_.get_shape())])


def read(kernel: Kernel, memory: SSAValue) -> Tile:
    """The tile of local memory, or of a view of it."""
    root = kernel.local.root_of(memory)
    assert root is not None
    tile = held(kernel, root)
    shape = [power_of_two(size) for size in cast("AnyMemRef", memory.type).get_shape()]
    if tuple(shape) == tile.shape:
        return tile
    offsets = kernel.local.views[memory].offsets
    type_ = VectorType(tiles.part_of(tile.element), shape)

    def part(whole: SSAValue) -> SSAValue:
        operation = ExtractStridedSliceOp.build(
            operands=[whole],
            result_types=[type_],
            properties={
                "offsets": _numbers(offsets),
                "sizes": _numbers(shape),
                "strides": _numbers([1] * len(shape)),
            },
        )
        return kernel.emit(operation).results[0]

    return tiles.each_part(tile, shape, part)


def _numbers(numbers: Iterable[int]) -> ArrayAttr[IntegerAttr[I64]]:
    return ArrayAttr(IntegerAttr(number, i64) for number in numbers)


def load(operation: memref.LoadOp, kernel: Kernel) -> None:
    """The number that local memory without dimensions holds."""
    parts = held(kernel, operation.memref).parts
    value = parts[0] if len(parts) == 1 else numbers.join(kernel, *parts)
    kernel.define(operation.res, value)


def store(operation: memref.StoreOp, kernel: Kernel) -> None:
    """Replaces the number that local memory without dimensions holds."""
    kernel.local.held[operation.memref] = tiles.scalar(kernel, kernel.value(operation.value))


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
    for nested in walk(operation):
        if isinstance(nested, BlasOperation | memref.StoreOp):
            is_store = isinstance(nested, memref.StoreOp)
            root = kernel.local.root_of(nested.memref if is_store else output_of(nested))
            if root is not None:
                found[root] = None
    return list(found)


def _parts(kernel: Kernel, memories: list[SSAValue]) -> list[SSAValue]:
    return [part for memory in memories for part in held(kernel, memory).parts]


def _hold(kernel: Kernel, memories: list[SSAValue], parts: Iterator[SSAValue]) -> None:
    """Gives tiles new parts."""
    for memory in memories:
        before = held(kernel, memory)
        new = tuple(next(parts) for _ in before.parts)
        kernel.local.held[memory] = Tile(new, before.element, before.shape)


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
    new = ForOp(first, last, step, initial, Region(body))
    new.properties |= operation.properties
    _replace(kernel, operation, new, written)


def branch(operation: scf.IfOp, kernel: Kernel) -> None:
    """A branch returns the tiles that it changes."""
    written = _written_in(kernel, operation)
    before = {memory: kernel.local.held[memory] for memory in written}
    regions: list[Region] = []
    for region in operation.regions:
        kernel.local.held.update(before)
        body = kernel.new_block(None, [])
        if region.blocks.first is not None or written:
            _translate_body(kernel, region, body, written)
            regions.append(Region(body))
        else:
            regions.append(Region())
    kernel.local.held.update(before)
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

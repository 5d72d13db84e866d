"""The operands of linear algebra: memory, or local memory that is a tile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, VectorType
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.core.attributes import AtomicKind
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.vector.elements import StepOp
from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.indices import Index
from xtile.transforms.tile_linalg import local_memory, memory, tiles
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.spans import Span, best_known, known_size
from xtile.transforms.tile_linalg.tiles import Tile


@dataclass(frozen=True)
class Operand:
    """A memref of the source.

    Attributes:
        kernel: The kernel that is built.
        old: The memref in the source.
        is_tile: Whether it is local memory that has become a tile.
        moved: The memref that is used instead; None for what has become of it.
    """

    kernel: Kernel
    old: SSAValue
    is_tile: bool
    moved: SSAValue | None = None

    @property
    def type(self) -> AnyMemRef:
        """The memref's type."""
        return cast("AnyMemRef", self.old.type)

    @property
    def element(self) -> Attribute:
        """The type of the elements."""
        return self.type.element_type

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.type.get_num_dims()

    @property
    def memory(self) -> SSAValue:
        """The memref that has become of it."""
        return self.kernel.value(self.old) if self.moved is None else self.moved

    def size(self, dimension: int) -> Index | None:
        """The size along a dimension, if it is known without an operation."""
        if self.is_tile:
            return self.type.get_shape()[dimension]
        return known_size(self.memory, dimension)

    def read(
        self,
        indices: Sequence[Index],
        spans: Sequence[Span],
        axes: Sequence[int] | None = None,
        clean: Sequence[int] = (),
    ) -> Tile:
        """Reads a tile, in which what is beyond the end is 0 or, in local memory, anything.

        Args:
            indices: For each dimension of the tile the first index.
            spans: For each dimension of the tile what it is a part of.
            axes: For each dimension of the tile that of the memref; None: the same.
            clean: The dimensions of the tile beyond whose end is 0 in any case.
        """
        shape = [span.tile for span in spans]
        if not self.is_tile:
            inside = [span.is_even for span in spans]
            return memory.read(self.kernel, self.memory, indices, shape, inside, axes)
        tile = local_memory.read(self.kernel, self.old)
        if axes is not None:
            tile = tiles.transposed(self.kernel, tile, axes)
        for dimension in clean:
            if not spans[dimension].is_even:
                tile = _cleaned(self.kernel, tile, dimension, spans[dimension].size)
        return tile

    def write(self, tile: Tile, indices: Sequence[Index], spans: Sequence[Span]) -> None:
        """Writes a tile of the element type."""
        tile = tiles.complete(self.kernel, tile)
        if self.is_tile:
            self._hold(tile)
            return
        inside = [span.is_even for span in spans]
        memory.write(self.kernel, tile, self.memory, indices, inside)

    def _hold(self, tile: Tile) -> None:
        """Replaces the tile of local memory, where a view is inside of it."""
        kernel = self.kernel
        root = kernel.local.root_of(self.old)
        assert root is not None
        sizes, whole = self.type.get_shape(), cast("AnyMemRef", root.type).get_shape()
        before, condition = local_memory.held(kernel, root), None
        for dimension, size in enumerate(sizes):
            if size != whole[dimension]:
                inside = inside_of(kernel, tile.shape, dimension, 0, size)
                condition = kernel.both(condition, inside)
        if condition is not None:
            parts = [
                kernel.pure(SelectOp, condition, new, old)
                for new, old in zip(tile.parts, before.parts, strict=True)
            ]
            tile = Tile(tuple(parts), tile.element, tile.shape)
        kernel.local.held[root] = tile

    def update_atomically(
        self, kind: AtomicKind, tile: Tile, indices: Sequence[Index], spans: Sequence[Span]
    ) -> None:
        """Updates elements with a tile of the element type."""
        inside = [span.is_even for span in spans]
        tile = tiles.complete(self.kernel, tile)
        memory.update_atomically(self.kernel, kind, tile, self.memory, indices, inside)


def operand_of(kernel: Kernel, old: SSAValue) -> Operand:
    """An operand of the operation that is translated."""
    return Operand(kernel, old, kernel.local.root_of(old) is not None)


def size_of(kernel: Kernel, *equal: tuple[Operand, int]) -> Index:
    """The size of an operand along a dimension; of several equal ones, the one best known."""
    known = best_known(operand.size(dimension) for operand, dimension in equal)
    if known is not None:
        return known
    operand, dimension = equal[0]
    return kernel.size((operand.memory, dimension))


def span_along(kernel: Kernel, most: int, *equal: tuple[Operand, int]) -> Span:
    """The tiles of a dimension that operands have in common; those that are tiles have one."""
    is_whole = any(operand.is_tile for operand, _ in equal)
    return kernel.span(size_of(kernel, *equal), most, is_whole)


def spans_of(
    kernel: Kernel,
    operands: Sequence[tuple[Operand, Sequence[int | None]]],
    most: int | None = None,
    line: int | None = None,
) -> list[Span]:
    """The tiles of what is limited by memory.

    Args:
        kernel: The kernel.
        operands: Each operand with its dimension for each of the tiles', if it has one.
        most: The elements of a tile; None for the chip's choice.
        line: The most elements along the innermost dimension; None for all of a tile's.
    """
    equal = [[(each, dims[axis]) for each, dims in operands] for axis in range(len(operands[0][1]))]
    pairs = [[(each, dim) for each, dim in pairs if dim is not None] for pairs in equal]
    sizes = [size_of(kernel, *of_axis) for of_axis in pairs]
    is_whole = [any(each.is_tile for each, _ in of_axis) for of_axis in pairs]
    return cut(kernel, sizes, is_whole, most, line)


def cut(
    kernel: Kernel,
    sizes: Sequence[Index],
    is_whole: Sequence[bool] = (),
    most: int | None = None,
    line: int | None = None,
) -> list[Span]:
    """Cuts a space into tiles of a limited size, along the innermost dimension first.

    Args:
        kernel: The kernel.
        sizes: The size of each dimension.
        is_whole: The dimensions that are not cut.
        most: The elements of a tile; None for the chip's choice.
        line: The most elements along the innermost dimension; None for all of a tile's.
    """
    left, spans = kernel.target.tiles.elements if most is None else most, dict[int, Span]()
    whole = [axis for axis in range(len(sizes)) if axis < len(is_whole) and is_whole[axis]]
    others = [axis for axis in reversed(range(len(sizes))) if axis not in whole]
    # What is not cut leaves the room that there is for the others.
    for axis in [*whole, *others]:
        is_line = line is not None and axis == len(sizes) - 1
        limit = min(left, line) if line is not None and is_line else left
        spans[axis] = kernel.span(sizes[axis], limit, axis in whole)
        left = max(1, left // spans[axis].tile)
    return [spans[axis] for axis in range(len(sizes))]


def _cleaned(kernel: Kernel, tile: Tile, dimension: int, size: Index) -> Tile:
    """The tile with 0 beyond an end along a dimension."""
    inside = inside_of(kernel, tile.shape, dimension, 0, size)
    nothing = tiles.constant(kernel, 0, tiles.part_of(tile.element), tile.shape)
    return tiles.each_part(
        tile, tile.shape, lambda part: kernel.pure(SelectOp, inside, part, nothing)
    )


def inside_of(
    kernel: Kernel, shape: Sequence[int], dimension: int, first: Index, size: Index
) -> SSAValue:
    """Where the numbers from the first one on along a dimension of a tile are below a size."""
    numbers = numbers_along(kernel, shape, dimension, first)
    limit = tiles.broadcast(kernel, tiles.scalar(kernel, kernel.as_value(size)), shape).parts[0]
    return kernel.compare("slt", numbers, limit)


def numbers_along(kernel: Kernel, shape: Sequence[int], dimension: int, first: Index) -> SSAValue:
    """The numbers from the first one on along a dimension of a tile, as index."""
    length = shape[dimension]
    type_ = VectorType(IndexType(), [length])

    def emit() -> SSAValue:
        return kernel.emit(StepOp.build(result_types=[type_])).results[0]

    numbers = Tile((kernel.shared(("step", length), (), emit),), IndexType(), (length,))
    if first != 0:
        start = tiles.broadcast(kernel, tiles.scalar(kernel, kernel.as_value(first)), [length])
        total = kernel.pure(arith.AddiOp, numbers.parts[0], start.parts[0])
        numbers = Tile((total,), IndexType(), (length,))
    return tiles.broadcast(kernel, numbers, shape, [dimension]).parts[0]


def separated(kernel: Kernel, operand: Operand, output: Operand, spans: Sequence[Span]) -> Operand:
    """The operand itself, or a copy if it is the output and there are several tiles of that.

    Raises:
        DiagnosticError: Its size is not known.
    """
    if operand.old is not output.old or all(span.is_single for span in spans):
        return operand
    shape = operand.type.get_shape()
    if DYNAMIC_INDEX in shape:
        raise kernel.error(
            "an input that is the output too must be copied, which needs a static size; "
            "write the result to another memref"
        )
    space = AddressSpaceAttr(AddressSpace.WORKGROUP)
    type_ = MemRefType(operand.element, shape, memory_space=space)
    copy = kernel.emit(AllocaOp(operands=[[], []], result_types=[type_])).memref
    both = cut(kernel, shape)
    inside = [span.is_even for span in both]
    tile = [span.tile for span in both]
    with kernel.tiles(both) as at:
        read = memory.read(kernel, operand.memory, at, tile, inside)
        memory.write(kernel, read, copy, at, inside)
    return replace(operand, moved=copy)

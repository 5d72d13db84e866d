"""Several work-groups whose tiles lie side by side become one tile block with a larger product.

A work-group of subgroups is as large as its source says, which can be little for a matrix unit of
tiles. Work-groups that touch tiles next to each other along axes of the grid are to a tile block
what subgroups are to a work-group: each value that differs between them gets an axis (docs/lift.md,
"Several work-groups"). The grid stays that of the source: the first blocks along an axis do the
work of several work-groups, and the others do nothing, which takes a block about a microsecond.
A launch with few work-groups is slower so, and `core.preferred_launches` says what many are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp
from xdsl.dialects.memref import SubviewOp
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp

from xtile.dialects.effects import is_pure, only_reads, synchronizes
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.indices import BlockIdOp, dimension_number
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.walk import walk
from xtile.rewrite.contractions import feeds_another
from xtile.rewrite.kernels import with_kernels_replaced
from xtile.rewrite.rebuilder import RuleTable
from xtile.rewrite.tile_emitter import TileEmitter, shape_of
from xtile.targets.target import ProductTile
from xtile.text.diagnostics import DiagnosticError
from xtile.text.source import Source, source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.transforms.deepen_products import is_of_subgroups
from xtile.transforms.lift.work_group import INNER, OUTER, WorkGroup, grid_of_tiles
from xtile.transforms.tile_linalg.spans import power_of_two

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from xtile.targets.target import Target
    from xtile.text.diagnostics import Diagnostics


def merge_work_groups(
    module: ModuleOp, target: Target, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Returns a module whose tile blocks do the work of several work-groups, where that is faster.

    Everything else stays as it is; without such a kernel it is the module itself.

    Args:
        module: The module; it is not changed.
        target: The chip.
        diagnostics: Where remarks go that tell what became one block, or why nothing did.
    """
    source = source_of(module)
    merged: dict[FuncOp, FuncOp] = {}

    def is_chosen(kernel: FuncOp) -> bool:
        made = _merged(kernel, target, source, diagnostics)
        if made is not None:
            merged[kernel] = made
        return made is not None

    result = with_kernels_replaced(module, is_chosen, lambda kernel: merged[kernel])
    if result is not module:
        remove_dead_code(result)
    return result


# --- what becomes one block ---


@dataclass(frozen=True)
class Arrangement:
    """How work-groups lie side by side in a tile.

    Attributes:
        axes: For dimensions of the grid the axis of the tile, `OUTER` or `INNER`.
        counts: How many work-groups along each of these dimensions become one block.
        product: The tile of the product of a block.
    """

    axes: Mapping[int, int]
    counts: Mapping[int, int]
    product: ProductTile

    @property
    def group(self) -> WorkGroup:
        """The work-groups as subgroups of one."""
        sizes = {axis: self.counts[dimension] for dimension, axis in self.axes.items()}
        return grid_of_tiles(sizes.get(OUTER, 1), sizes.get(INNER, 1))

    def __str__(self) -> str:
        dimensions = range(max(1, *self.counts) + 1)
        return " x ".join(str(self.counts.get(dimension, 1)) for dimension in dimensions)


def _merged(
    kernel: FuncOp, target: Target, source: Source | None, diagnostics: Diagnostics | None
) -> FuncOp | None:
    """A kernel whose blocks do the work of several work-groups; None if none is better or legal."""
    teller = TileEmitter(RuleTable(), "larger tile blocks", source, diagnostics)
    found = _arrangements(kernel, target)
    if not found:
        return None
    problem = _problem(kernel)
    from xtile.transforms.merge_work_groups.larger_block import LargerBlock

    tries = [LargerBlock(kernel, each, target, source) for each in found] if problem is None else []
    for merging in tries:
        if merging.crosses:
            continue
        try:
            made = merging.kernel()
        except DiagnosticError as error:
            problem = problem or error.diagnostics[0].message
            continue
        if not any(each.name in _BY_ELEMENT for each in walk(made)):
            teller.remark(f"{merging.arrangement} work-groups become one tile block", kernel)
            return made
        problem = problem or "their tiles do not lie side by side"
    problem = problem or "a factor of a product differs along both of its sides"
    teller.remark(f"each work-group stays a tile block of its own: {problem}", kernel)
    return None


_BY_ELEMENT = frozenset({"core.gather_load", "core.scatter_store"})
"""What accesses become of tiles that do not lie side by side."""


def _arrangements(kernel: FuncOp, target: Target) -> list[Arrangement]:
    """How work-groups can become one block, the largest tile first."""
    products = [each for each in walk(kernel) if isinstance(each, ContractionOp)]
    if not is_of_subgroups(kernel) or not products:
        return []
    if any(
        len(shape_of(each.result.type)) != 2 or feeds_another(each, products) for each in products
    ):
        return []
    largest = max(products, key=lambda each: prod(shape_of(each.result.type)))
    rows, columns = shape_of(largest.result.type)
    if rows * columns * len(products) > target.tiles.merged_elements:
        return []
    dimensions = sorted({dimension_number(each) for each in block_ids(kernel)})
    most_rows, most_columns = _most_of_memory(kernel, (rows, columns))
    found: list[Arrangement] = []
    for tile in _tiles(kernel, largest, target):
        if tile.rows > max(rows, most_rows) or tile.columns > max(columns, most_columns):
            continue
        if rows * columns * len(products) >= tile.rows * tile.columns:
            break
        if tile.rows % rows or tile.columns % columns:
            continue
        wanted = {OUTER: tile.rows // rows, INNER: tile.columns // columns}
        sides = [axis for axis, count in wanted.items() if count > 1]
        if prod(wanted.values()) * rows * columns * len(products) > tile.rows * tile.columns:
            continue
        for chosen in permutations(dimensions, len(sides)):
            axes = dict(zip(chosen, sides, strict=True))
            counts = {dimension: wanted[axis] for dimension, axis in axes.items()}
            found.append(Arrangement(axes, counts, tile))
    return found


def _most_of_memory(kernel: FuncOp, shape: tuple[int, ...]) -> tuple[int, int]:
    """The rows and columns of what such tiles are written to, as powers of two that hold them."""
    most = [_UNKNOWN, _UNKNOWN]
    for each in walk(kernel):
        if not isinstance(each, TransferWriteOp) or shape_of(each.vector.type) != shape:
            continue
        memory = each.source
        while isinstance(memory.owner, SubviewOp):
            memory = memory.owner.source
        sizes = cast("MemRefType[Attribute]", memory.type).get_shape()
        if len(sizes) != len(each.indices):
            continue
        for side, dimension in enumerate(dimensions_of(each.permutation_map)):
            if dimension is not None and sizes[dimension] != DYNAMIC_INDEX:
                most[side] = min(most[side], power_of_two(sizes[dimension]))
    rows, columns = most
    return rows, columns


_UNKNOWN = 1 << 62
"""More than any tile has."""


def _tiles(kernel: FuncOp, product: ContractionOp, target: Target) -> Sequence[ProductTile]:
    """The tiles of a product, the largest one first.

    One that is added to what memory has needs registers and local memory for that, too.
    """
    factor = value_type(product.lhs.type)
    shape = shape_of(product.result.type)
    written = {each.source for each in walk(kernel) if isinstance(each, TransferWriteOp)}
    reads = (each for each in walk(kernel) if isinstance(each, TransferReadOp))
    if any(shape_of(each.result.type) == shape and each.source in written for each in reads):
        return target.tiles.updates_of(factor)
    return target.tiles.products_of(factor)


def block_ids(kernel: FuncOp) -> Iterator[BlockIdOp]:
    """Where a kernel asks which work-group it is."""
    return (each for each in walk(kernel) if isinstance(each, BlockIdOp))


def _problem(kernel: FuncOp) -> str | None:
    """What work-groups do that a block cannot do for several at once; None if there is nothing."""
    for operation in walk(kernel):
        if operation.name in _CONTROL or is_pure(operation):
            continue
        if isinstance(operation, TransferReadOp | TransferWriteOp) and operation.mask is None:
            continue
        if synchronizes(operation) or not only_reads(operation):
            return f"{operation.name} has an effect of its own in each of them"
    return None


_CONTROL = frozenset({"gpu.func", "gpu.return", "scf.for", "scf.if", "scf.yield"})

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
from typing import TYPE_CHECKING

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.arguments.launch_checks import LaunchCheck, words_of
from xtile.dialects.core.attributes import TILE_HINTS_ATTRIBUTE
from xtile.dialects.core.launch_checks import PREFERRED_ATTRIBUTE, checks_attribute
from xtile.dialects.effects import is_pure, only_reads, synchronizes
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.functions import FuncOp, ReturnOp
from xtile.dialects.gpu.indices import BlockIdOp, GridDimOp, dimension_number
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.walk import walk
from xtile.rewrite.affine_tiles import affine_of
from xtile.rewrite.contractions import feeds_another
from xtile.rewrite.folding import INDEX_WIDTH
from xtile.rewrite.indices import Index
from xtile.rewrite.kernels import hints_attribute, with_kernels_replaced
from xtile.rewrite.rebuilder import RuleTable, again, copy
from xtile.rewrite.tile_emitter import TileEmitter, shape_of
from xtile.targets.target import ProductTile
from xtile.text.diagnostics import DiagnosticError
from xtile.text.source import Source, source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.transforms.deepen_products import is_of_subgroups
from xtile.transforms.lift.divergence import Divergence
from xtile.transforms.lift.rests import Beginning, beginnings_of, is_size
from xtile.transforms.lift.rules import apply
from xtile.transforms.lift.widening import Rest, Widening
from xtile.transforms.lift.work_group import INNER, OUTER, Axes, WorkGroup, grid_of_tiles

if TYPE_CHECKING:
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
class _Arrangement:
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
    tries = [_Merging(kernel, each, target, source) for each in found] if problem is None else []
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


def _arrangements(kernel: FuncOp, target: Target) -> list[_Arrangement]:
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
    dimensions = sorted({dimension_number(each) for each in _block_ids(kernel)})
    found: list[_Arrangement] = []
    for tile in _tiles(kernel, largest, target):
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
            found.append(_Arrangement(axes, counts, tile))
    return found


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


def _block_ids(kernel: FuncOp) -> Iterator[BlockIdOp]:
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


# --- the larger block ---


class _Merging(TileEmitter):
    """Builds a kernel whose blocks do the work of several work-groups.

    Args:
        old: The kernel.
        arrangement: Which work-groups become one block.
        target: The chip.
        source: The text of the kernel, for messages.
    """

    def __init__(
        self, old: FuncOp, arrangement: _Arrangement, target: Target, source: Source | None
    ) -> None:
        super().__init__(RuleTable(otherwise=copy, keeps_rounding=True), "tiles", source)
        self._old = old
        self.arrangement = arrangement
        self._target = target
        block = old.body.block
        self._ids: dict[SSAValue, int] = {
            each.result: dimension_number(each)
            for each in _block_ids(old)
            if dimension_number(each) in arrangement.axes
        }
        seeds: dict[SSAValue, Axes] = {
            value: frozenset({arrangement.axes[dimension]})
            for value, dimension in self._ids.items()
        }
        self._divergence = Divergence(block, arrangement.group, seeds)

    @property
    def crosses(self) -> bool:
        """Whether a factor of a product differs along a side that it shares with the other one."""
        return self._divergence.crossings > 0

    def kernel(self) -> FuncOp:
        """The kernel.

        Raises:
            DiagnosticError: Work-groups differ in what tiles cannot tell apart.
        """
        old = self._old.body.block
        body = self.new_block(old, [argument.type for argument in old.args])
        with self.in_function(body):
            self._body(old)
            self.emit(ReturnOp())
        made = again(self._old, regions=[Region(body)])
        made.location = self._old.location
        hints = self.arrangement.product.hints._replace(occupancy=None)
        made.attributes.pop(TILE_HINTS_ATTRIBUTE, None)
        made.attributes |= hints_attribute(hints)
        made.attributes[PREFERRED_ATTRIBUTE] = checks_attribute([words_of(self._many_groups())])
        return made

    def _many_groups(self) -> LaunchCheck:
        """That a launch has so many work-groups that larger blocks keep the chip busy."""
        arrangement = self.arrangement
        threads = arrangement.product.hints.num_cta_in_cga or 1
        least = self._target.tiles.blocks // threads * prod(arrangement.counts.values())
        plane = ("mul", INDEX_WIDTH, ("grid", 0), ("grid", 1))
        return LaunchCheck(
            ("mul", INDEX_WIDTH, plane, ("grid", 2)), least, 2 ** (INDEX_WIDTH - 1) - 1
        )

    def _body(self, old: Block) -> None:
        """What blocks do: the first ones along each axis, as the others have nothing left."""
        counts = self.arrangement.counts
        first: dict[int, Index] = {}
        condition: SSAValue | None = None
        for dimension, count in counts.items():
            block = self.emit(BlockIdOp(list(Dimension)[dimension])).result
            blocks = self.divide_up(self._groups(dimension), count)
            condition = self.both(condition, self.compare("slt", block, blocks))
            first[dimension] = self.multiply(block, count)
        assert condition is not None, "work-groups along some dimension become one block"
        with self.when(condition):
            self._lift(old, first)

    def _groups(self, dimension: int) -> SSAValue:
        """How many work-groups there are along a dimension of the grid."""
        return self.shared(
            ("grid", dimension), (), lambda: self.emit(GridDimOp(list(Dimension)[dimension])).result
        )

    def _lift(self, old: Block, first: Mapping[int, Index]) -> None:
        widening = Widening(self, self.arrangement.group, self._divergence)
        widening.use(self._apply, keeps_rounding=True)
        for dimension, axis in self.arrangement.axes.items():
            number = widening.as_wide(widening.add(widening.line(axis), first[dimension]))
            for value, own in self._ids.items():
                if own == dimension:
                    widening.define(value, number)
            widening.leave_out(axis, Rest(first[dimension], self._groups(dimension)))
        for operation in old.ops:
            if not isinstance(operation, ReturnOp):
                widening.lift(operation)

    def _apply(self, operation: Operation, widening: Widening) -> None:
        if operation.results and operation.results[0] in self._ids:
            return
        if isinstance(operation, scf.IfOp) and widening.divergence.of(operation.cond):
            self._guarded(operation, widening)
            return
        if isinstance(operation, scf.ForOp) and widening.divergence.of_all(operation.operands[:3]):
            raise self.error("a loop runs a different number of times in each of them")
        apply(operation, widening)

    def _guarded(self, operation: scf.IfOp, widening: Widening) -> None:
        """Does what a work-group does only if its tiles begin before the end of memory.

        Of several work-groups the first one begins first, and what the others would write behind
        the end is not written in any case.
        """
        begins = beginnings_of(operation.cond)
        if operation.results or operation.false_region.blocks or not begins:
            raise self.error("a branch is taken in some of them only")
        conditions: SSAValue | None = None
        for begin in begins:
            condition = self._condition(begin, operation, widening)
            conditions = self.both(conditions, condition)
        assert conditions is not None
        with self.when(conditions):
            widening.lift_region(operation.true_region)

    def _condition(self, begin: Beginning, operation: scf.IfOp, widening: Widening) -> SSAValue:
        """Whether the first of several work-groups has something to do."""
        writes = [each for each in walk(operation) if isinstance(each, TransferWriteOp)]
        found = [_end_of(begin, each) for each in writes]
        first = widening.wide(begin.first)
        affine = affine_of(first.value)
        is_known = affine is not None and all(stride >= 0 for stride in affine.strides)
        if affine is None or not is_known or not found or None in found:
            raise self.error("a branch is taken in some of them only")
        memory, dimension = found[0] or (operation.cond, 0)
        end = self.size((self.value(memory), dimension))
        return self.compare("slt", affine.base(self), end)


def _end_of(begin: Beginning, write: TransferWriteOp) -> tuple[SSAValue, int] | None:
    """The memory and its dimension at whose end tiles that are written begin otherwise."""
    start = affine_of(begin.first)
    for dimension, index in enumerate(write.indices):
        if affine_of(index) != start:
            continue
        if all(is_size(each, write.source, dimension) for each in begin.ends):
            return write.source, dimension
    return None

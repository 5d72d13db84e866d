"""Makes products that are added up one product, where their factors lie side by side.

A product of matrices that is deeper than a subgroup's matrices is written as several of them. What
reads a matrix of the right depth at once needs no parts of tiles.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, ModuleOp, f32, f64, i32, i64
from xdsl.dialects.vector import TransferReadOp
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.shapes import TransposeOp
from xtile.dialects.vector.slices import ExtractStridedSliceOp
from xtile.dialects.walk import walk
from xtile.rewrite.facts import sum_of
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rule, RuleTable, again, copy
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape
from xtile.text.source import Source, source_of
from xtile.transforms.cleanup import clean_up
from xtile.transforms.hoist_reads import changed_memory, may_be_same

_SUMS = (f32, f64, i32, i64)
"""The types of sums that are not rounded to less than their terms."""


def unite_products(module: ModuleOp) -> ModuleOp:
    """Returns a module whose kernels of tiles have fewer and deeper products.

    Everything else stays as it is; without products that are added to others it is the module
    itself.

    Args:
        module: The module; it is not changed.
    """
    source = source_of(module)
    result = with_kernels_replaced(
        module, _is_chosen, lambda kernel: rebuilt(kernel, _Uniting(source))
    )
    return module if result is module else clean_up(result)


def _is_chosen(kernel: FuncOp) -> bool:
    return level_of(kernel) is Level.TILE and any(
        isinstance(each, ContractionOp) and _is_added_to(each) for each in walk(kernel)
    )


def _is_added_to(product: ContractionOp) -> bool:
    """Whether a product is added to one that is for nothing else, and both are of one size."""
    first = product.acc.owner
    return (
        isinstance(first, ContractionOp)
        and first.parent is product.parent
        and product.acc.has_one_use()
        and value_type(product.acc.type) in _SUMS
    )


class _Uniting(TileEmitter):
    """Rebuilds one kernel.

    Attributes:
        added: What products have become that are only added to others.
    """

    def __init__(self, source: Source | None) -> None:
        super().__init__(_RULES, "tiles", source)
        self.added: set[Operation] = set()

    def united(self, product: ContractionOp) -> ContractionOp:
        """A product and that which it is added to as one, if they can be; it is emitted."""
        first = product.acc.owner
        if not isinstance(first, ContractionOp) or first not in self.added:
            return self.emit(product)
        axes = _summed_axes(product)
        factors = None if axes is None else self._factors(first, product, axes)
        if factors is None:
            return self.emit(product)
        made = again(product, [*factors, first.acc])
        return self.united(made)

    def _factors(
        self, first: ContractionOp, second: ContractionOp, axes: tuple[int, int]
    ) -> list[SSAValue] | None:
        is_same = first.properties == second.properties and first.attributes == second.attributes
        is_same &= first.lhs.type == second.lhs.type and first.rhs.type == second.rhs.type
        if not is_same:
            return None
        pairs = ((first.lhs, second.lhs), (first.rhs, second.rhs))
        # Both must be possible before anything is emitted.
        if not all(self._is_beside(*pair, axis) for pair, axis in zip(pairs, axes, strict=True)):
            return None
        return [self._joined(*pair, axis) for pair, axis in zip(pairs, axes, strict=True)]

    def _is_beside(self, a: SSAValue, b: SSAValue, axis: int) -> bool:
        """Whether a tile follows another one of its type along an axis of a tile that is known."""
        first, second = a.owner, b.owner
        if isinstance(first, TransposeOp) and isinstance(second, TransposeOp):
            order = first.permutation
            is_same = order == second.permutation
            inner: int = order.get_values()[axis]
            return is_same and self._is_beside(first.vector, second.vector, inner)
        if isinstance(first, ExtractStridedSliceOp) and isinstance(second, ExtractStridedSliceOp):
            length = shape_of(a.type)[axis]
            moved = _offsets(first)
            moved[axis] += length
            return first.source is second.source and moved == _offsets(second)
        if isinstance(first, TransferReadOp) and isinstance(second, TransferReadOp):
            return _reads_follow(first, second, axis)
        return False

    def _joined(self, a: SSAValue, b: SSAValue, axis: int) -> SSAValue:
        """The tile of which two are the halves along an axis."""
        first, second = a.owner, b.owner
        shape = list(shape_of(a.type))
        shape[axis] *= 2
        if isinstance(first, TransposeOp):
            assert isinstance(second, TransposeOp)
            order: Any = first.permutation.get_values()
            return self.transposed(self._joined(first.vector, second.vector, order[axis]), order)
        if isinstance(first, ExtractStridedSliceOp):
            return self.slice(first.source, _offsets(first), shape)
        assert isinstance(first, TransferReadOp)
        assert isinstance(second, TransferReadOp)
        flags = zip(first.in_bounds.data, second.in_bounds.data, strict=True)
        inside = ArrayAttr([x if x == y else BoolAttr.from_bool(False) for x, y in flags])
        read = again(
            first, first.operands, [with_shape(a.type, shape)], properties={"in_bounds": inside}
        )
        block = second.parent
        assert block is not None
        with self.at_end_of(block):
            return self.emit(read).result


def _summed_axes(product: ContractionOp) -> tuple[int, int] | None:
    """The axis of each factor along which products are added up, if there is one."""
    left, right, sums = (dimensions_of(each) for each in product.indexing_maps)
    summed = {*left, *right} - {*sums}
    if len(summed) != 1:
        return None
    (iteration,) = summed
    is_in_both = iteration in left and iteration in right
    return (left.index(iteration), right.index(iteration)) if is_in_both else None


def _offsets(part: ExtractStridedSliceOp) -> list[int]:
    given = [cast("Any", each).value.data for each in part.offsets]
    return given + [0] * (len(shape_of(part.result.type)) - len(given))


def _reads_follow(first: TransferReadOp, second: TransferReadOp, axis: int) -> bool:
    """Whether a read is of what follows what another one reads, and nothing changes in between."""
    along = dimensions_of(first.permutation_map)
    is_alike = (
        first.source is second.source
        and first.permutation_map == second.permutation_map
        and first.mask is second.mask is None
        and first.padding is second.padding
        and first.parent is second.parent is not None
    )
    if not is_alike or along[axis] is None:
        return False
    for dimension, (a, b) in enumerate(zip(first.indices, second.indices, strict=True)):
        wanted = shape_of(first.result.type)[axis] if dimension == along[axis] else 0
        if _difference(a, b) != wanted:
            return False
    between = first.next_op
    while between is not None:
        changed = changed_memory(between)
        if changed is None or any(may_be_same(first.source, each) for each in changed):
            return False
        between = between.next_op
    return True


def _difference(a: SSAValue, b: SSAValue) -> int | None:
    """How much larger an index is than another one, if that is known."""
    (base, first), (other, second) = sum_of(a), sum_of(b)
    return second - first if base is other else None


def _contraction(operation: ContractionOp, uniting: _Uniting) -> None:
    product = again(operation, uniting.values(operation.operands))
    made = uniting.united(product) if _is_added_to(operation) else uniting.emit(product)
    uniting.define(operation.result, made.result)
    uses = list(operation.result.uses)
    if len(uses) == 1 and isinstance(uses[0].operation, ContractionOp):
        uniting.added.add(made)


_ROWS: dict[str, Rule] = {ContractionOp.name: _contraction}

_RULES = RuleTable(_ROWS, otherwise=copy, keeps_rounding=True)
"""The rule of each operation, by name."""

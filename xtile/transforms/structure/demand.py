"""Which elements of tiles matter, because something that is written or decided comes from them.

An access whose offsets are known for some elements only, as those of a remainder are, is a box of
memory if no others matter. A tile's elements matter within bounds; without a bound all of them do.
The bounds hold for each use of the tile, so they are found backwards from all uses, in rounds until
loops add nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.reductions import AggregateOperation, ReduceOp, ScanOp
from xtile.dialects.core.scattered import ScatterStoreOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import as_vector
from xtile.dialects.vector.transfers import TransferWriteOp
from xtile.dialects.walk import walk
from xtile.rewrite.tile_emitter import shape_of
from xtile.transforms.structure.accesses import access_of_transfer
from xtile.transforms.structure.affine import NotAffineError, broadcast_dimensions, regrouped
from xtile.transforms.structure.bounds import NOTHING, Needs
from xtile.transforms.structure.boxes import Bound, moved
from xtile.transforms.structure.polynomials import Atom, block_of, is_inside
from xtile.transforms.structure.provenance import Provenance, permutation_of

Bounds: TypeAlias = frozenset[Bound]

_ALL: Bounds = frozenset()

Uses: TypeAlias = Iterator[tuple[SSAValue, Bounds]]
"""Tiles that an operation uses, and the bounds of the elements that matter to it."""


class Demand:
    """What of a kernel's tiles matters."""

    def __init__(self, kernel: FuncOp, provenance: Provenance) -> None:
        self.provenance = provenance
        self._bounds: dict[SSAValue, Bounds] = {}
        operations = list(walk(kernel))[::-1]
        while self._look_again(operations):
            pass

    def require_within(self, tile: SSAValue, bounds: Iterable[Bound]) -> Needs | None:
        """What a launch must find so that no elements of a tile matter that are beyond some bounds.

        Returns:
            Nothing, if that is certain; None if others matter, as far as it is known.
        """
        known = self._bounds.get(tile)
        if known is None:
            return NOTHING
        if all(any(own.implies(bound) for own in known) for bound in bounds):
            return NOTHING
        total = NOTHING
        for bound in bounds:
            found = (self._require_implied(own, bound) for own in known)
            needs = next((each for each in found if each is not None), None)
            if needs is None:
                return None
            total |= needs
        return total

    def _require_implied(self, own: Bound, bound: Bound) -> Needs | None:
        """What a launch must find for a bound to imply another one, in numbers further back."""
        whole = [self.provenance.expanded(each.number, lambda atom: True) for each in (own, bound)]
        one, other = (
            replace(each, number=number)
            for each, (number, _) in zip((own, bound), whole, strict=True)
        )
        return whole[0][1] | whole[1][1] if one.implies(other) else None

    def of(self, tile: SSAValue) -> Bounds | None:
        """The bounds of what matters of a tile; None if nobody uses it."""
        return self._bounds.get(tile)

    def _look_again(self, operations: Iterable[Operation]) -> bool:
        """Goes through a kernel backwards once; whether that has told something new."""
        has_changed = False
        for operation in operations:
            for tile, bounds in self._uses_of(operation):
                has_changed |= self._is_wider(tile, bounds)
        return has_changed

    def _uses_of(self, operation: Operation) -> Uses:
        rule = _RULES.get(operation.name)
        if rule is None and operation.name.partition(".")[0] in _ELEMENTWISE:
            rule = _elementwise
        if rule is not None and operation.name not in _TRAPS:
            yield from rule(operation, self)
        else:
            yield from _all(operation.operands)

    def _is_wider(self, tile: SSAValue, bounds: Bounds) -> bool:
        """Joins what matters to a use of a tile to what does to others; whether that is more."""
        before = self._bounds.get(tile)
        known = (each for each in bounds if all(_is_seen(a, tile) for a in each.number.atoms))
        after = frozenset(known)
        if before is not None:
            after &= before
        self._bounds[tile] = after
        return after != before


def _is_seen(atom: Atom, tile: SSAValue) -> bool:
    """Whether a number is the same for all uses of a tile, once that has been computed."""
    home, block = block_of(atom), block_of(tile)
    while block is not None and block is not home:
        block = block.parent_block()
    return block is home


def _all(values: Iterable[SSAValue]) -> Uses:
    return ((value, _ALL) for value in values)


Rule: TypeAlias = Callable[[Any, Demand], Uses]


def _store(operation: AtomicRMWOp | ScatterStoreOp, demand: Demand) -> Uses:
    bounds = _ALL
    if operation.mask is not None:
        try:
            bounds = frozenset(demand.provenance.box(operation.mask).bounds)
        except NotAffineError:
            bounds = _ALL
    for operand in operation.operands:
        yield operand, bounds if operand is operation.value else _ALL


def _transfer_write(operation: TransferWriteOp, demand: Demand) -> Uses:
    try:
        access = access_of_transfer(operation, demand.provenance)
    except NotAffineError:
        bounds = _ALL
    else:
        bounds = frozenset(
            Bound(i, True, end)
            for i, dimension in enumerate(access.dimensions)
            for end in dimension.ends
        )
    for operand in operation.operands:
        yield operand, bounds if operand is operation.vector else _ALL


# --- operations whose elements come from one element of each operand ---


def _elementwise(operation: Operation, demand: Demand) -> Uses:
    bounds = demand.of(operation.results[0])
    if bounds is None:
        return
    for operand in operation.operands:
        yield operand, _ALL if as_vector(operand.type) is None else bounds


def _broadcast(operation: Operation, demand: Demand) -> Uses:
    (source,) = operation.operands
    pairs = enumerate(
        broadcast_dimensions(shape_of(source.type), shape_of(operation.results[0].type))
    )
    return _moved(operation, {i: own for i, own in pairs if own is not None}, demand)


def _shape_cast(operation: Operation, demand: Demand) -> Uses:
    (source,) = operation.operands
    groups = regrouped(shape_of(source.type), shape_of(operation.results[0].type)) or []
    kept = {other[0]: one[0] for one, other in groups if len(one) + len(other) == 2}
    return _moved(operation, kept, demand)


def _transpose(operation: Operation, demand: Demand) -> Uses:
    return _moved(operation, dict(enumerate(permutation_of(operation))), demand)


def _moved(operation: Operation, dimensions: Mapping[int, int], demand: Demand) -> Uses:
    """The operand of an operation that gives elements another shape."""
    bounds = demand.of(operation.results[0])
    if bounds is not None:
        yield operation.operands[0], frozenset(moved(bounds, dimensions))


# --- operations whose elements come from rows or columns ---


def _contract(operation: Operation, demand: Demand) -> Uses:
    bounds = demand.of(operation.results[0])
    if bounds is None:
        return
    maps: Any = operation.properties["indexing_maps"]
    *sources, result = (_dimensions(each) for each in maps)
    loops = {i: loop for loop, i in result.items()}
    for operand, places in zip(operation.operands, (*sources, result), strict=True):
        kept = {i: places[loop] for i, loop in loops.items() if loop in places}
        yield operand, frozenset(moved(bounds, kept))


def _dimensions(map_: AffineMapAttr) -> dict[int, int]:
    """For each loop of a product the dimension of a tile that it goes along."""
    results = enumerate(map_.data.results)
    return {expr.position: i for i, expr in results if isinstance(expr, AffineDimExpr)}


def _reduction(operation: Operation, demand: Demand) -> Uses:
    bounds = demand.of(operation.results[0])
    if bounds is None:
        return
    source, start = operation.operands
    reduced: Any = operation.properties["reduction_dims"]
    kept = [i for i in range(len(shape_of(source.type))) if i not in reduced.get_values()]
    yield source, frozenset(moved(bounds, dict(enumerate(kept))))
    yield start, bounds


def _region_reduction(operation: ReduceOp, demand: Demand) -> Uses:
    kept = _other_dimensions(operation)
    return _aggregate(operation, dict(enumerate(kept)), demand)


def _scan(operation: ScanOp, demand: Demand) -> Uses:
    return _aggregate(operation, {i: i for i in _other_dimensions(operation)}, demand)


def _other_dimensions(operation: AggregateOperation) -> list[int]:
    axis = operation.axis.value.data
    return [i for i in range(len(shape_of(operation.operands[0].type))) if i != axis]


def _aggregate(
    operation: AggregateOperation, dimensions: Mapping[int, int], demand: Demand
) -> Uses:
    """Operands of which each result comes from all, along one dimension."""
    if any(inner.name in _TRAPS for inner in operation.body.block.ops):
        yield from _all(operation.operands)
        return
    used = [bounds for result in operation.results if (bounds := demand.of(result)) is not None]
    for bounds, operand in product(used, operation.operands):
        yield operand, frozenset(moved(bounds, dimensions))


# --- control flow ---


def _for(loop: scf.ForOp, demand: Demand) -> Uses:
    yield from _all((loop.lb, loop.ub, loop.step))
    body, end = loop.body.block, loop.body.block.last_op
    assert end is not None
    for i, (first, last) in enumerate(zip(loop.iter_args, end.operands, strict=True)):
        after = demand.of(loop.results[i])
        if after is not None:
            yield from ((first, after), (last, after))
        carried = demand.of(body.args[i + 1])
        if carried is not None:
            same = (b for b in carried if not any(is_inside(a, loop) for a in b.number.atoms))
            bounds = frozenset(same)
            yield from ((first, bounds), (last, bounds))


def _if(operation: scf.IfOp, demand: Demand) -> Uses:
    yield operation.cond, _ALL
    for region in (operation.true_region, operation.false_region):
        end = region.block.last_op if region.blocks else None
        for i, value in enumerate(end.operands if end is not None else ()):
            bounds = demand.of(operation.results[i])
            if bounds is not None:
                yield value, bounds


def _yield(operation: Operation, demand: Demand) -> Uses:
    """Loops and conditions say what they need of what their regions end with."""
    is_known = isinstance(operation.parent_op(), scf.ForOp | scf.IfOp)
    yield from () if is_known else _all(operation.operands)


_ELEMENTWISE = frozenset({"arith", "math"})
"""Dialects with operations on elements, beside those below."""

_TRAPS = frozenset(
    f"arith.{name}"
    for name in ("ceildivsi", "ceildivui", "divsi", "divui", "floordivsi", "remsi", "remui")
)
"""Operations on elements that must not see a divisor of 0, even where nobody looks."""

_RULES: Mapping[str, Rule] = {
    "core.reduce": _region_reduction,
    "core.scan": _scan,
    "core.atomic_rmw": _store,
    "core.scatter_store": _store,
    "scf.for": _for,
    "scf.if": _if,
    "scf.yield": _yield,
    "vector.broadcast": _broadcast,
    "vector.contract": _contract,
    "vector.multi_reduction": _reduction,
    "vector.shape_cast": _shape_cast,
    "vector.splat": _broadcast,
    "vector.transfer_write": _transfer_write,
    "vector.transpose": _transpose,
}
"""What an operation uses, by its name; all of its operands if it is not here."""

"""Computes on tiles in the shape that products and memory have.

Tiles of several subgroups are one tile with a dimension for the subgroups, which products and
accesses of memory merge with another one by `vector.shape_cast`. Where everything between such
casts is done element by element, it is done in the merged shape, and there are no casts left:
compilers move elements between registers for them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    ModuleOp,
    i64,
)
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Operation, Region, SSAValue

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.vector.shapes import ShapeCastOp, TransposeOp
from xtile.dialects.walk import walk
from xtile.rewrite.affine_tiles import affine_of
from xtile.rewrite.kernels import kernels_of, rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rule, RuleTable, again, copy
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape
from xtile.text.source import Source, source_of
from xtile.transforms.cleanup import clean_up
from xtile.transforms.cleanup.carried import drop_unused

Shape = tuple[int, ...]


def collapse_shapes(module: ModuleOp) -> ModuleOp:
    """Returns a module whose kernels of tiles compute in shapes with fewer dimensions.

    Everything else stays as it is; without casts that merge dimensions it is the module itself.

    Args:
        module: The module; it is not changed.
    """
    shapes = {kernel: _chosen_shapes(kernel) for kernel in kernels_of(module)}
    if not any(shapes.values()):
        return module
    source = source_of(module)
    result = with_kernels_replaced(
        module,
        lambda kernel: bool(shapes[kernel]),
        lambda kernel: rebuilt(kernel, _Collapsing(shapes[kernel], source)),
    )
    for kernel in kernels_of(result):
        drop_unused(kernel)
    return clean_up(result)


# --- which values get which shape ---


class _Groups:
    """Values that have one shape because operations make one element of others of its index."""

    def __init__(self) -> None:
        self._parents: dict[SSAValue, SSAValue] = {}

    def root(self, value: SSAValue) -> SSAValue:
        """What stands for all values of a group."""
        while (parent := self._parents.get(value, value)) is not value:
            self._parents[value] = self._parents.get(parent, parent)
            value = parent
        return value

    def join(self, values: Iterable[SSAValue]) -> None:
        """Makes the groups of vectors one."""
        vectors = [value for value in values if shape_of(value.type)]
        for value in vectors[1:]:
            self._parents[self.root(value)] = self.root(vectors[0])

    @property
    def members(self) -> Iterator[SSAValue]:
        """The values of groups with several of them."""
        yield from {*self._parents, *self._parents.values()}


def _chosen_shapes(kernel: FuncOp) -> dict[SSAValue, Shape]:
    """The shape of each value that gets another one."""
    if level_of(kernel) is not Level.TILE:
        return {}
    casts = [each for each in walk(kernel) if isinstance(each, ShapeCastOp)]
    if not any(map(_merged, casts)):
        return {}
    groups, votes = _Groups(), dict[SSAValue, Counter[Shape]]()
    cast_values = [value for each in casts for value, _ in _merged(each)]
    for operation in walk(kernel):
        for values in _of_one_shape(operation):
            groups.join(values)
    for cast_ in casts:
        for value, shape in _merged(cast_):
            votes.setdefault(groups.root(value), Counter())[shape] += 1
    found = {root: counter.most_common(1)[0][0] for root, counter in votes.items()}
    values = {*groups.members, *cast_values}
    return {each: found[root] for each in values if (root := groups.root(each)) in found}


def _merged(cast_: ShapeCastOp) -> list[tuple[SSAValue, Shape]]:
    """The side of a cast that has more dimensions, and the shape of the other one."""
    sides = (cast_.source, cast_.result)
    return [
        (value, shape_of(other.type))
        for value, other in (sides, sides[::-1])
        if _merges(shape_of(value.type), shape_of(other.type))
    ]


def _merges(shape: Shape, merged: Shape) -> bool:
    """Whether a shape has fewer dimensions than another one that count."""
    before, after = (sum(size > 1 for size in each) for each in (shape, merged))
    return after < before and _runs(shape, merged) is not None


def _runs(shape: Shape, merged: Shape) -> list[range] | None:
    """The dimensions of a shape that each dimension of a merged one is; None if there are none.

    Those of size 1 belong to the dimension before, or to the first one.
    """
    runs: list[range] = []
    at = 0
    for size in merged:
        start, count = at, 1
        while count < size and at < len(shape):
            count *= shape[at]
            at += 1
        if count != size:
            return None
        runs.append(range(start, at))
    return runs if all(size == 1 for size in shape[at:]) else None


def _of_one_shape(operation: Operation) -> Iterator[Sequence[SSAValue]]:
    """The values of an operation that must have one shape."""
    if is_elementwise(operation):
        yield (*operation.operands, *operation.results)
    elif isinstance(operation, scf.ForOp):
        arguments, end = operation.body.block.args[1:], operation.body.block.last_op
        assert end is not None
        yield from zip(operation.iter_args, arguments, end.operands, operation.results, strict=True)
    elif isinstance(operation, scf.IfOp) and operation.results:
        ends = [cast("Operation", region.block.last_op) for region in operation.regions]
        yield from zip(operation.results, *(end.operands for end in ends), strict=True)


def is_elementwise(operation: Operation) -> bool:
    """Whether an operation makes each element of those at its index, and all have one shape."""
    if operation.dialect_name() not in ("arith", "math") or not operation.operands:
        return False
    values = (*operation.operands, *operation.results)
    return len({shape for value in values if (shape := shape_of(value.type))}) == 1


# --- writing it ---


class _Collapsing(TileEmitter):
    """Rebuilds one kernel.

    Args:
        shapes: The shape of each value that gets another one.
        source: The text of the kernel.
    """

    def __init__(self, shapes: dict[SSAValue, Shape], source: Source | None) -> None:
        super().__init__(_RULES, "tiles", source)
        self._shapes = shapes

    @override
    def value(self, old: SSAValue) -> SSAValue:
        """What a value has become, in its own shape."""
        return self.reshape(self.collapsed(old), shape_of(old.type))

    @override
    def values(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        """What several values have become, in their own shapes."""
        return [self.value(each) for each in old]

    @override
    def define(self, old: SSAValue, new: Any) -> None:
        """Records what a value has become, in any shape."""
        super().define(old, self.reshape(new, self.shape(old)))

    def shape(self, old: SSAValue) -> Shape:
        """The shape that a value gets."""
        return self._shapes.get(old, shape_of(old.type))

    def collapsed(self, old: SSAValue) -> SSAValue:
        """What a value has become, in the shape that it gets."""
        return super().value(old)

    def again(self, operation: Operation) -> None:
        """Emits an operation in the shapes that its values get."""
        made = again(
            operation,
            [self.collapsed(each) for each in operation.operands],
            [with_shape(each.type, self.shape(each)) for each in operation.results],
            regions=[self._region(region) for region in operation.regions],
        )
        self.replace(operation, made)

    def _region(self, old: Region) -> Region:
        block = old.blocks.first
        if block is None:
            return Region()
        types = [with_shape(each.type, self.shape(each)) for each in block.args]
        return self.translate_into(old, self.new_block(block, types))

    @override
    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in another shape, which is what they were computed in if possible."""
        while isinstance(value.owner, ShapeCastOp):
            value = value.owner.source
        wanted, before = tuple(shape), shape_of(value.type)
        if before == wanted or not before:
            return value if before == wanted else super().reshape(value, shape)
        return self.shared(("reshape", value, wanted), (value,), lambda: self._made(value, wanted))

    def _made(self, value: SSAValue, shape: Shape) -> SSAValue:
        owner = value.owner
        if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, _DENSE):
            dense = cast("DenseIntOrFPElementsAttr[Any]", owner.value)
            if dense.is_splat():
                type_ = cast("Any", with_shape(value.type, shape))
                splat = cast("Any", DenseIntOrFPElementsAttr)(type_, dense.data)
                return self.emit(arith.ConstantOp(splat)).result
        if isinstance(owner, BroadcastOp):
            thin = _thin(shape_of(owner.source.type), shape_of(value.type), shape)
            if thin is not None:
                return self.spread(self.reshape(owner.source, thin), shape)
        return super().reshape(value, shape)


_DENSE = DenseIntOrFPElementsAttr


def _thin(source: Shape, whole: Shape, shape: Shape) -> Shape | None:
    """The shape of what is repeated to have a merged shape; None if no repetition makes that."""
    runs = _runs(whole, shape)
    if not source:
        return ()
    if runs is None:
        return None
    sizes = (1,) * (len(whole) - len(source)) + source
    thin: list[int] = []
    for run in runs:
        own, all_ = ([each[i] for i in run] for each in (sizes, whole))
        if own != all_ and math.prod(own) != 1:
            return None
        thin.append(math.prod(own))
    return tuple(thin)


def _compute(operation: Operation, collapsing: _Collapsing) -> None:
    """An operation on elements, in the shape that its values get."""
    axis = _counted(operation, collapsing)
    if axis is not None:
        (result,) = operation.results
        shape = collapsing.shape(result)
        line = collapsing.along(collapsing.step(shape[axis]), axis, len(shape))
        collapsing.define(result, collapsing.spread(line, shape))
    elif is_elementwise(operation):
        collapsing.again(operation)
    else:
        copy(operation, collapsing)


def _counted(operation: Operation, collapsing: _Collapsing) -> int | None:
    """The dimension, merged of several, along which the indices that are computed count from 0."""
    if len(operation.results) != 1 or not is_elementwise(operation):
        return None
    (result,) = operation.results
    shape, merged = shape_of(result.type), collapsing.shape(result)
    is_index = isinstance(value_type(result.type), IndexType)
    found = affine_of(result) if is_index and shape != merged else None
    if found is None or found.known != 0:
        return None
    axes: list[int] = []
    for axis, run in enumerate(_runs(shape, merged) or ()):
        expected = 1
        for i in reversed(run):
            if shape[i] > 1 and found.strides[i] not in (0, expected):
                return None
            expected *= shape[i]
        counts = {found.strides[i] != 0 for i in run if shape[i] > 1}
        if len(counts) > 1:
            return None
        axes += [axis] if True in counts else []
    return axes[0] if len(axes) == 1 else None


def _control(operation: Operation, collapsing: _Collapsing) -> None:
    """A loop or a branch, and what its blocks hand on."""
    collapsing.again(operation)


def _yield(operation: scf.YieldOp, collapsing: _Collapsing) -> None:
    if isinstance(operation.parent_op(), scf.ForOp | scf.IfOp):
        collapsing.again(operation)
    else:
        copy(operation, collapsing)


def _shape_cast(operation: ShapeCastOp, collapsing: _Collapsing) -> None:
    collapsing.define(operation.result, collapsing.collapsed(operation.source))


def _transpose(operation: TransposeOp, collapsing: _Collapsing) -> None:
    """Two transpositions are one."""
    value = collapsing.value(operation.vector)
    order: Sequence[int] = operation.permutation.get_values()
    while isinstance(value.owner, TransposeOp):
        first: Sequence[int] = value.owner.permutation.get_values()
        order, value = [first[i] for i in order], value.owner.vector
    collapsing.define(operation.result, collapsing.transposed(value, order))


def _reduction(operation: MultiDimReductionOp, collapsing: _Collapsing) -> None:
    """Merged dimensions are reduced together, or stay together."""
    reduced: set[int] = set(operation.reduction_dims.get_values())
    shape = collapsing.shape(operation.source)
    runs = _runs(shape_of(operation.source.type), shape)
    own = [reduced & set(run) for run in runs or ()]
    if runs is None or any(each and each != set(run) for each, run in zip(own, runs, strict=True)):
        copy(operation, collapsing)
        return
    kept = [size for size, each in zip(shape, own, strict=True) if not each]
    if math.prod(kept) != math.prod(shape_of(operation.dest.type)):
        copy(operation, collapsing)
        return
    source = collapsing.collapsed(operation.source)
    initial = collapsing.reshape(collapsing.collapsed(operation.acc), kept)
    dimensions = DenseArrayBase.from_list(i64, [i for i, each in enumerate(own) if each])
    result = collapsing.compute(
        MultiDimReductionOp,
        [source, initial],
        initial.type,
        dict(operation.properties) | {"reduction_dims": dimensions},
        operation.attributes,
    )
    collapsing.define(operation.dest, result)


_ROWS: dict[str, Rule] = {
    MultiDimReductionOp.name: _reduction,
    ShapeCastOp.name: _shape_cast,
    TransposeOp.name: _transpose,
    scf.ForOp.name: _control,
    scf.IfOp.name: _control,
    scf.YieldOp.name: _yield,
}

_RULES = RuleTable(_ROWS, otherwise=_compute, keeps_rounding=True)
"""The rule of each operation, by name."""

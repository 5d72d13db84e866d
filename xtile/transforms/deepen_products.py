"""Loops that add up products of little depth take larger steps.

A subgroup multiplies what its matrix unit takes at once, which is little for the matrix units of
whole work-groups. Where a loop only reads the next columns of one factor and the next rows of the
other and adds their product to sums, several of its iterations are one: what is read lies side by
side. The number of iterations need not be a multiple of that, because both factors are 0 behind
the last one: there ends the memory that they are read from, or a view of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, MemRefType, ModuleOp
from xdsl.dialects.vector import CombiningKindFlag, TransferReadOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.core.signature import source_language
from xtile.dialects.effects import is_pure
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.scf.loops import UNSIGNED
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.shapes import ShapeCastOp, TransposeOp
from xtile.dialects.walk import walk
from xtile.rewrite.contractions import iteration_maps
from xtile.rewrite.emitter import subview
from xtile.rewrite.facts import Facts, constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rule, RuleTable, again, copy
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape
from xtile.text.source import Source, source_of

if TYPE_CHECKING:
    from xtile.targets.target import Target
    from xtile.text.diagnostics import Diagnostics

_OF_TILES = frozenset({"cuda_tile", "triton"})
"""Languages whose authors choose the depth of products."""


def deepen_products(
    module: ModuleOp, target: Target, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Returns a module whose kernels of tiles multiply in steps that suit a chip.

    Everything else stays as it is; without such a loop it is the module itself.

    Args:
        module: The module; it is not changed.
        target: The chip.
        diagnostics: Where remarks go that tell which steps became one; None drops them.
    """

    def is_chosen(kernel: FuncOp) -> bool:
        loops = (each for each in walk(kernel) if isinstance(each, scf.ForOp))
        return is_of_subgroups(kernel) and any(_steps_of(loop, target) for loop in loops)

    source = source_of(module)
    return with_kernels_replaced(
        module,
        is_chosen,
        lambda kernel: rebuilt(kernel, _Deepening(target, source, diagnostics)),
    )


def is_of_subgroups(kernel: FuncOp) -> bool:
    """Whether subgroups did what a kernel of tiles does, so that its tiles are not the author's."""
    return level_of(kernel) is Level.TILE and source_language(kernel) not in _OF_TILES


# --- which loops ---


@dataclass
class _Steps:
    """A loop of which several iterations become one.

    Attributes:
        step: What is added to the variable in an iteration.
        count: How many iterations become one.
        moving: The indices that are the variable and numbers that are the same in all iterations,
            and these numbers.
        along: For each tile that is read anew the dimension along which the next one lies.
        sums: For each value that is what the loop carries, or more, the number of what it carries.
        depth: The depth that the chip likes.
    """

    step: int
    count: int = 1
    moving: dict[SSAValue, tuple[SSAValue, ...]] = field(
        default_factory=dict[SSAValue, "tuple[SSAValue, ...]"]
    )
    along: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    sums: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    depth: int = 0


def _steps_of(loop: scf.ForOp, target: Target) -> _Steps | None:
    """How iterations of a loop become one; None if they do not."""
    step = constant_of(loop.step)
    is_counted = isinstance(loop.lb.type, IndexType) and UNSIGNED not in loop.properties
    if step is None or step <= 0 or not is_counted:
        return None
    index, *carried = loop.body.block.args
    steps = _Steps(step, moving={index: ()}, sums={each: i for i, each in enumerate(carried)})
    last = loop.body.block.last_op
    if not all(
        operation is last or _follows(operation, steps, target) for operation in loop.body.block.ops
    ):
        return None
    handed = () if last is None else last.operands
    if any(steps.sums.get(each) != number for number, each in enumerate(handed)):
        return None
    most = _most_iterations(loop, step)
    steps.count = max(1, steps.depth // step)
    while most is not None and steps.count >= 2 * max(most, 1):
        steps.count //= 2
    return steps if steps.count > 1 else None


def _most_iterations(loop: scf.ForOp, step: int) -> int | None:
    first, last = constant_of(loop.lb), constant_of(loop.ub)
    return None if first is None or last is None else -(-(last - first) // step)


def _follows(operation: Operation, steps: _Steps, target: Target) -> bool:
    """Whether an operation can be done for several iterations at once, which it records."""
    if isinstance(operation, TransferReadOp):
        return _is_read(operation, steps)
    if isinstance(operation, ContractionOp):
        return _is_multiplied(operation, steps, target)
    if not is_pure(operation):
        return False
    if any(each in steps.moving for each in operation.operands):
        return _stays_next(operation, steps)
    if any(each in steps.sums for each in operation.operands):
        if isinstance(operation, ShapeCastOp):
            steps.sums[operation.result] = steps.sums[operation.source]
        return isinstance(operation, ShapeCastOp)
    if any(each in steps.along for each in operation.operands):
        return _moves_elements(operation, steps)
    return True


def _stays_next(operation: Operation, steps: _Steps) -> bool:
    """Whether an index grows by the same as the variable."""
    if not isinstance(operation, arith.AddiOp):
        return False
    for number, fixed in (operation.operands, operation.operands[::-1]):
        if number in steps.moving and fixed not in steps.moving:
            steps.moving[operation.result] = (*steps.moving[number], fixed)
    return operation.result in steps.moving


def _is_read(operation: TransferReadOp, steps: _Steps) -> bool:
    if operation.mask is not None:
        return False
    moving = [d for d, each in enumerate(operation.indices) if each in steps.moving]
    if not moving:
        return True
    axes = dimensions_of(operation.permutation_map)
    shape = shape_of(operation.result.type)
    if len(moving) > 1 or axes.count(moving[0]) != 1 or not _is_zero(operation.padding):
        return False
    along = axes.index(moving[0])
    steps.along[operation.result] = along
    return shape[along] == steps.step and not _is_inside(operation.source, operation)


def _is_inside(value: SSAValue, operation: Operation) -> bool:
    """Whether a value is born in the same block as an operation."""
    owner = value.owner
    return isinstance(owner, Operation) and owner.parent is operation.parent


def _is_zero(value: SSAValue) -> bool:
    owner = value.owner
    attribute = owner.properties.get("value") if isinstance(owner, Operation) else None
    return isinstance(attribute, FloatAttr | IntegerAttr) and attribute.value.data == 0


_CASTS = frozenset({"arith.extf", "arith.extsi", "arith.sitofp", "arith.truncf"})
"""Operations on each element that keep 0."""


def _moves_elements(operation: Operation, steps: _Steps) -> bool:
    """Whether an operation gives tiles another shape or type only."""
    (source,) = operation.operands if len(operation.operands) == 1 else (None,)
    if source is None:
        return False
    along, (result,) = steps.along[source], operation.results
    if operation.name in _CASTS:
        steps.along[result] = along
    elif isinstance(operation, TransposeOp):
        order = [int(each) for each in operation.permutation.get_values()]
        steps.along[result] = order.index(along)
    elif isinstance(operation, ShapeCastOp):
        becomes = _kept(shape_of(source.type), along, shape_of(result.type))
        if becomes is None:
            return False
        steps.along[result] = becomes
    else:
        return False
    return True


def _kept(before: tuple[int, ...], along: int, after: tuple[int, ...]) -> int | None:
    """The dimension of another shape that a dimension has become, if it is a whole one."""
    outside = prod(before[:along])
    candidates = (
        d for d, size in enumerate(after) if size == before[along] and prod(after[:d]) == outside
    )
    return next(candidates, None)


def _is_multiplied(operation: ContractionOp, steps: _Steps, target: Target) -> bool:
    lhs, rhs = (steps.along.get(each) for each in (operation.lhs, operation.rhs))
    if lhs is None or rhs is None or operation.acc not in steps.sums:
        return False
    if operation.kind.data is not CombiningKindFlag.ADD:
        return False
    left, right, sums = iteration_maps(operation)
    if left[lhs] != right[rhs] or left[lhs] in sums:
        return False
    steps.sums[operation.result] = steps.sums[operation.acc]
    area = prod(shape_of(operation.result.type))
    depth = target.tiles.product_depth(value_type(operation.lhs.type), area)
    steps.depth = max(steps.depth, depth)
    return True


# --- larger steps ---


class _Deepening(TileEmitter):
    """Rebuilds a kernel.

    Args:
        target: The chip.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(
        self, target: Target, source: Source | None, diagnostics: Diagnostics | None
    ) -> None:
        super().__init__(_RULES, "products of more depth", source, diagnostics)
        self.target = target


def _loop(operation: scf.ForOp, kernel: _Deepening) -> None:
    steps = _steps_of(operation, kernel.target)
    if steps is None:
        copy(operation, kernel)
        return
    kernel.remark(f"{steps.count} steps of {steps.step} are one of {steps.count * steps.step}")
    block = operation.body.block
    shapes = _shapes_of_sums(block, steps)
    initial = [
        kernel.reshape(kernel.value(old), shape)
        for old, shape in zip(operation.iter_args, shapes, strict=True)
    ]
    body = Block(arg_types=[IndexType(), *(each.type for each in initial)])
    for was, becomes in zip(block.args, body.args, strict=True):
        kernel.define(was, becomes)
    step = kernel.index(steps.count * steps.step)
    first, last = kernel.value(operation.lb), kernel.value(operation.ub)
    end = _end(operation, steps, kernel)
    with kernel.at_end_of(body):
        deeper = _Deeper(kernel, steps, operation.ub, end)
        with kernel.using(RuleTable(otherwise=deeper.rule, keeps_rounding=True)):
            for nested in block.ops:
                if nested is not block.last_op:
                    kernel.translate(nested)
        handed = () if block.last_op is None else block.last_op.operands
        results = [
            kernel.reshape(kernel.value(old), shape)
            for old, shape in zip(handed, shapes, strict=True)
        ]
        kernel.emit(scf.YieldOp(*results))
    made = type(operation)(first, last, step, initial, Region(body))
    made.attributes |= operation.attributes
    kernel.emit(made)
    for old, new in zip(operation.results, made.results, strict=True):
        kernel.define(old, kernel.reshape(new, shape_of(old.type)))


def _shapes_of_sums(block: Block, steps: _Steps) -> list[tuple[int, ...]]:
    """The shape in which each sum is carried: that of the products."""
    shapes = [shape_of(each.type) for each in block.args[1:]]
    for operation in block.ops:
        if isinstance(operation, ContractionOp):
            shapes[steps.sums[operation.result]] = shape_of(operation.result.type)
    return shapes


def _end(loop: scf.ForOp, steps: _Steps, kernel: _Deepening) -> Index | None:
    """Where the last iteration of the source ends; None if the last one of more ends there, too."""
    first, last = constant_of(loop.lb), constant_of(loop.ub)
    whole = steps.count * steps.step
    if first is not None and last is not None:
        end = first + -(-(last - first) // steps.step) * steps.step
        return None if (end - first) % whole == 0 else end
    facts = Facts()
    if first is not None and first % whole == 0 and facts.divisor(loop.ub) % whole == 0:
        return None
    begin: Index = kernel.value(loop.lb) if first is None else first
    end = kernel.value(loop.ub)
    if first != 0 or not facts.is_not_negative(loop.ub):
        end = kernel.larger(end, begin)
    length = kernel.subtract(end, begin)
    length = kernel.multiply(kernel.divide_up(length, steps.step), steps.step)
    total = kernel.add(begin, length)
    return total if first is not None and first >= 0 else kernel.larger(total, 0)


class _Deeper:
    """Emits the operations of several iterations at once.

    Args:
        kernel: The kernel that is built.
        steps: The loop.
        last: Its upper bound, in the source.
        end: Where the last iteration of the source ends, if that need not be where the last one of
            more ends.
    """

    def __init__(
        self, kernel: _Deepening, steps: _Steps, last: SSAValue, end: Index | None
    ) -> None:
        self._kernel = kernel
        self._steps = steps
        self._last = last
        self._end = end

    def rule(self, operation: Operation, kernel: _Deepening) -> None:
        """Emits what an operation becomes."""
        steps = self._steps
        if operation.results and operation.results[0] in steps.along:
            if isinstance(operation, TransferReadOp):
                self._read(operation)
            else:
                self._moved(operation)
        elif isinstance(operation, ContractionOp):
            self._contract(operation)
        elif operation.results and operation.results[0] in steps.sums:
            kernel.define(operation.results[0], kernel.value(operation.operands[0]))
        else:
            copy(operation, kernel)

    def _shape(self, value: SSAValue) -> list[int]:
        shape = list(shape_of(value.type))
        shape[self._steps.along[value]] *= self._steps.count
        return shape

    def _type(self, value: SSAValue) -> Attribute:
        return with_shape(value.type, self._shape(value))

    def _read(self, operation: TransferReadOp) -> None:
        kernel, along = self._kernel, self._steps.along[operation.result]
        dimension = dimensions_of(operation.permutation_map)[along]
        assert dimension is not None
        flags = [bool(each.value.data) for each in operation.in_bounds]
        memory = kernel.value(operation.source)
        if self._end is not None:
            flags[along] = False
            before = self._steps.moving[operation.indices[dimension]]
            if before or not _is_size(operation.source, dimension, self._last):
                end = kernel.add_all([self._end, *kernel.values(before)])
                end = kernel.larger(end, 0) if before else end
                memory = _ending(kernel, memory, dimension, end)
        made = again(
            operation,
            [memory, *kernel.values(operation.operands[1:])],
            [self._type(operation.result)],
            properties={"in_bounds": truth_attribute(tuple(flags))},
        )
        kernel.replace(operation, made)

    def _moved(self, operation: Operation) -> None:
        kernel, (result,) = self._kernel, operation.results
        (source,) = kernel.values(operation.operands)
        if isinstance(operation, ShapeCastOp):
            kernel.define(result, kernel.reshape(source, self._shape(result)))
            return
        made = again(operation, [source], [self._type(result)])
        kernel.replace(operation, made)

    def _contract(self, operation: ContractionOp) -> None:
        kernel = self._kernel
        left, right, sums = kernel.values(operation.operands)
        sums = kernel.reshape(sums, shape_of(operation.acc.type))
        made = again(operation, [left, right, sums])
        kernel.replace(operation, made)


def _is_size(memory: SSAValue, dimension: int, number: SSAValue) -> bool:
    """Whether a number is the size of memory along a dimension."""
    vector = memory.type
    assert isinstance(vector, MemRefType)
    known = constant_of(number)
    if known is not None:
        return vector.get_shape()[dimension] == known
    owner = number.owner
    return (
        isinstance(owner, memref.DimOp)
        and owner.source is memory
        and constant_of(owner.index) == dimension
    )


def _ending(kernel: _Deepening, memory: SSAValue, dimension: int, end: Index) -> SSAValue:
    """Memory that ends somewhere along a dimension at the latest."""
    type_ = memory.type
    assert isinstance(type_, MemRefType)
    rank = type_.get_num_dims()
    sizes = [kernel.size((memory, each)) for each in range(rank)]
    sizes[dimension] = kernel.smaller(sizes[dimension], end)
    return subview(kernel, memory, [0] * rank, sizes)


_ROWS: Mapping[str, Rule] = {scf.ForOp.name: _loop}

_RULES = RuleTable(_ROWS, otherwise=copy, keeps_rounding=True)
"""The rule of each operation, by name."""

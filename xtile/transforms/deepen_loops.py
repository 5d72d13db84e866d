"""Loops over small tiles take larger steps.

Where work-items stride through memory, each turn of their loop is one element for each of them,
which is little for a whole multiprocessor. Where a loop reads the next elements, computes with each
of them by itself, and writes or combines them with what it carries, several of its turns are one:
what is read lies side by side. What is carried then gets a part for each of these turns, and the
parts are combined behind the loop. So a sum of floats is made in another order.

Work-items that are past the end of the loop have no part in what it carries or writes, so the last
turn may be longer than what is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.vector import (
    BroadcastOp,
    CombiningKindAttr,
    CombiningKindFlag,
    TransferReadOp,
    TransferWriteOp,
)
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.dialects.arith.comparisons import CmpIOp, SelectOp
from xtile.dialects.core.attributes import INDEPENDENT_ATTRIBUTE
from xtile.dialects.effects import is_pure
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.scf.loops import UNSIGNED
from xtile.dialects.shapes import bits_of, dimensions_of
from xtile.dialects.shared_attributes import numbers_attribute
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.attributes import neutral_float, neutral_integer
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.vector.shapes import ShapeCastOp
from xtile.dialects.walk import walk
from xtile.rewrite.affine_tiles import affine_of
from xtile.rewrite.facts import constant_of
from xtile.rewrite.kernels import hints_attribute, rebuilt, with_kernels_replaced
from xtile.rewrite.memref_layouts import kept_dimensions, mixed
from xtile.rewrite.rebuilder import Rule, RuleTable, again, copy
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape
from xtile.text.source import Source, source_of
from xtile.transforms.collapse_shapes import is_elementwise
from xtile.transforms.deepen_products import is_of_subgroups
from xtile.transforms.hoist_reads import may_be_same

if TYPE_CHECKING:
    from xtile.targets.target import Target
    from xtile.text.diagnostics import Diagnostics


def deepen_loops(
    module: ModuleOp, target: Target, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Returns a module whose loops over small tiles take steps that suit a chip.

    Everything else stays as it is; without such a loop it is the module itself.

    Args:
        module: The module; it is not changed.
        target: The chip.
        diagnostics: Where remarks go that tell which steps became one; None drops them.
    """
    policy = target.tiles
    most = policy.strided_elements

    def is_chosen(kernel: FuncOp) -> bool:
        loops = (each for each in walk(kernel) if isinstance(each, scf.ForOp))
        # The tiles of loops over points are as large as the chip likes them already.
        strided = (loop for loop in loops if INDEPENDENT_ATTRIBUTE not in loop.attributes)
        return is_of_subgroups(kernel) and any(_steps_of(loop, most) for loop in strided)

    def deeper(kernel: FuncOp) -> FuncOp:
        made = rebuilt(kernel, _Deepening(most, source, diagnostics))
        if not any(isinstance(each, ContractionOp) for each in walk(kernel)):
            made.attributes |= hints_attribute(policy.strided_hints)
        return made

    source = source_of(module)
    return with_kernels_replaced(module, is_chosen, deeper)


# --- which loops ---


@dataclass
class _Steps:
    """A loop of which several turns become one.

    Attributes:
        loop: The loop.
        step: What is added to the variable in a turn.
        count: How many turns become one.
        moving: The indices that are the variable and a number that is the same in all turns.
        along: For each tile of which the next turn has the next elements the dimension along which
            these lie.
        positions: Tiles of integers that only say how far the loop is.
        acting: Masks of elements before the end of the loop, of none in a turn that is not there.
        combined: What a carried value is combined with in a turn, and the operation.
    """

    loop: scf.ForOp
    step: int
    count: int = 1
    moving: set[SSAValue] = field(default_factory=set[SSAValue])
    along: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    positions: set[SSAValue] = field(default_factory=set[SSAValue])
    acting: set[SSAValue] = field(default_factory=set[SSAValue])
    combined: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])

    @property
    def index(self) -> SSAValue:
        """The variable of the loop."""
        return self.loop.body.block.args[0]


def _steps_of(loop: scf.ForOp, most: int) -> _Steps | None:
    """How turns of a loop become one; None if they do not."""
    step = constant_of(loop.step)
    is_counted = isinstance(loop.lb.type, IndexType) and UNSIGNED not in loop.properties
    if step is None or step <= 1 or not is_counted:
        return None
    steps, (index, *carried) = _Steps(loop, step), loop.body.block.args
    steps.moving.add(index)
    operations = list(loop.body.block.ops)
    last = operations.pop()
    for argument in carried:
        combining = _combining(argument)
        if combining is None:
            return None
        steps.combined[argument] = combining
    if not all(_follows(each, steps) for each in operations) or not _are_apart(operations):
        return None
    for argument, handed in zip(carried, last.operands, strict=True):
        if not _is_combined(argument, handed, steps):
            return None
    sizes = [prod(shape_of(tile.type)) for tile in steps.along]
    while sizes and 2 * steps.count * max(sizes) <= most:
        steps.count *= 2
    first, end = constant_of(loop.lb), constant_of(loop.ub)
    if first is not None and end is not None:
        while steps.count > 1 and steps.count * step >= 2 * max(end - first, 1):
            steps.count //= 2
    return steps if steps.count > 1 else None


def _follows(operation: Operation, steps: _Steps) -> bool:
    """Whether an operation can be done for several turns at once, which it records."""
    if isinstance(operation, TransferReadOp):
        return _is_read(operation, steps)
    if isinstance(operation, TransferWriteOp):
        return _is_written(operation, steps)
    if not is_pure(operation) or operation.regions or len(operation.results) != 1:
        return False
    (result,) = operation.results
    operands = operation.operands
    if any(each in steps.combined for each in operands):
        return operation in steps.combined.values() or isinstance(operation, SelectOp)
    if isinstance(operation, CmpIOp) and any(each in steps.positions for each in operands):
        return _is_end(operation, steps)
    if any(each in steps.moving or each in steps.positions for each in operands):
        if shape_of(result.type):
            steps.positions.add(result)
            return isinstance(operation, arith.AddiOp | BroadcastOp | ShapeCastOp)
        steps.moving.add(result)
        is_moved = sum(each in steps.moving for each in operands) == 1
        return isinstance(operation, arith.AddiOp) and is_moved
    if any(each in steps.along for each in operands):
        return _computes_with_each(operation, steps)
    return True


def _is_read(operation: TransferReadOp, steps: _Steps) -> bool:
    moving = [d for d, each in enumerate(operation.indices) if each in steps.moving]
    if operation.mask is not None or _is_inside(operation.source, steps):
        return False
    if not moving:
        return not any(_is_inside(each, steps) for each in operation.indices)
    along = _along(operation, moving, shape_of(operation.result.type), steps)
    if along is None:
        return False
    steps.along[operation.result] = along
    return True


def _is_written(operation: TransferWriteOp, steps: _Steps) -> bool:
    """Whether each turn writes the next elements, and nothing is written beyond the loop's end."""
    moving = [d for d, each in enumerate(operation.indices) if each in steps.moving]
    if operation.mask is not None or _is_inside(operation.source, steps) or not moving:
        return False
    along = _along(operation, moving, shape_of(operation.vector.type), steps)
    if along is None or steps.along.get(operation.vector) != along:
        return False
    is_whole = operation.indices[moving[0]] is steps.index
    return is_whole and _is_size(operation.source, moving[0], steps.loop.ub)


def _along(
    operation: TransferReadOp | TransferWriteOp,
    moving: list[int],
    shape: tuple[int, ...],
    steps: _Steps,
) -> int | None:
    """The dimension of a tile along which the next turn has the next elements, if it is checked."""
    axes = dimensions_of(operation.permutation_map)
    if len(moving) != 1 or axes.count(moving[0]) != 1:
        return None
    along = axes.index(moving[0])
    is_checked = not bool(operation.in_bounds.data[along].value.data)
    return along if is_checked and shape[along] == steps.step else None


def _is_inside(value: SSAValue, steps: _Steps) -> bool:
    """Whether a value is born in the loop, but for its variable and what moves with it."""
    owner = value.owner
    block = owner.parent if isinstance(owner, Operation) else owner
    return block is steps.loop.body.block and value not in steps.moving


def _is_size(memory: SSAValue, dimension: int, number: SSAValue) -> bool:
    """Whether memory certainly ends at a number along a dimension."""
    number = _without_floor(number)
    owner = memory.owner
    if isinstance(owner, memref.SubviewOp):
        sizes = mixed(owner.properties["static_sizes"], list(owner.sizes))
        return sizes[kept_dimensions(owner)[dimension]] is number
    told = number.owner
    if not isinstance(told, memref.DimOp) or told.source is not memory:
        return False
    return constant_of(told.index) == dimension


def _without_floor(number: SSAValue) -> SSAValue:
    """A number of which a loop takes 0 if it is negative, as no size is."""
    owner = number.owner
    if isinstance(owner, arith.MaxSIOp) and constant_of(owner.rhs) == 0:
        return owner.lhs
    return number


def _is_end(operation: CmpIOp, steps: _Steps) -> bool:
    """Whether a comparison holds for elements before the end of the loop."""
    shape = shape_of(operation.result.type)
    index, end = affine_of(operation.lhs), affine_of(operation.rhs)
    if operation.predicate.value.data != _LESS or index is None or end is None:
        return False
    upper = affine_of(steps.loop.ub)
    if upper is None or (end.constant, end.terms) != (upper.constant, upper.terms):
        return False
    growing = [d for d, size in enumerate(shape) if size > 1 and index.strides[d]]
    is_next = dict(index.terms) == {steps.index: 1} and index.constant == 0
    if not end.is_uniform or not is_next:
        return False
    if len(growing) != 1 or index.strides[growing[0]] != 1 or shape[growing[0]] != steps.step:
        return False
    steps.along[operation.result] = growing[0]
    steps.acting.add(operation.result)
    return True


_LESS = 2
"""The predicate `slt` of comparisons."""


def _computes_with_each(operation: Operation, steps: _Steps) -> bool:
    """Whether an operation computes each element of a tile from those with its index."""
    (result,) = operation.results
    if isinstance(operation, ShapeCastOp | BroadcastOp):
        (source,) = operation.operands
        along = _kept(shape_of(source.type), steps.along[source], shape_of(result.type), operation)
    elif is_elementwise(operation):
        dimensions = {steps.along[each] for each in operation.operands if each in steps.along}
        along = dimensions.pop() if len(dimensions) == 1 else None
    else:
        return False
    if along is None:
        return False
    steps.along[result] = along
    keeps_acting = isinstance(operation, arith.AndIOp | ShapeCastOp | BroadcastOp)
    if keeps_acting and any(each in steps.acting for each in operation.operands):
        steps.acting.add(result)
    return True


def _kept(
    before: tuple[int, ...], along: int, after: tuple[int, ...], operation: Operation
) -> int | None:
    """The dimension of another shape that a dimension has become, if it is a whole one."""
    if isinstance(operation, BroadcastOp):
        return along + len(after) - len(before)
    outside = prod(before[:along])
    return next(
        (d for d, n in enumerate(after) if n == before[along] and prod(after[:d]) == outside), None
    )


def _combining(carried: SSAValue) -> Operation | None:
    """The operation that combines what is carried with something of a turn."""
    users = [use.operation for use in carried.uses]
    combining = [each for each in users if each.name in _KINDS]
    selects = [each for each in users if isinstance(each, SelectOp)]
    is_known = len(users) == 2 and len(combining) == len(selects) == 1
    return combining[0] if is_known else None


def _is_combined(carried: SSAValue, handed: SSAValue, steps: _Steps) -> bool:
    """Whether what is handed on is combined with something where elements act."""
    combining, chosen = steps.combined[carried], handed.owner
    if not isinstance(chosen, SelectOp) or chosen.cond not in steps.acting:
        return False
    (result,) = combining.results
    others = [each for each in combining.operands if each is not carried]
    if chosen.lhs is not result or chosen.rhs is not carried or len(others) != 1:
        return False
    along = steps.along[chosen.cond]
    is_alone = all(len(list(each.uses)) == 1 for each in (result, chosen.result))
    return is_alone and steps.along.get(others[0], along) == along


def _are_apart(operations: list[Operation]) -> bool:
    """Whether no turn accesses what another one writes."""
    transfers = [each for each in operations if isinstance(each, TransferReadOp | TransferWriteOp)]
    for write in transfers:
        if not isinstance(write, TransferWriteOp):
            continue
        for other in transfers:
            if other is write or not may_be_same(write.source, other.source):
                continue
            is_its_own = isinstance(other, TransferReadOp) and other.source is write.source
            is_its_own = is_its_own and tuple(other.indices) == tuple(write.indices)
            if not is_its_own or other.permutation_map != write.permutation_map:
                return False
    return True


_KINDS: Mapping[str, tuple[CombiningKindFlag, bool]] = {
    "arith.addf": (CombiningKindFlag.ADD, False),
    "arith.addi": (CombiningKindFlag.ADD, False),
    "arith.andi": (CombiningKindFlag.AND, True),
    "arith.maximumf": (CombiningKindFlag.MAXIMUMF, True),
    "arith.maxnumf": (CombiningKindFlag.MAXNUMF, True),
    "arith.maxsi": (CombiningKindFlag.MAXSI, True),
    "arith.maxui": (CombiningKindFlag.MAXUI, True),
    "arith.minimumf": (CombiningKindFlag.MINIMUMF, True),
    "arith.minnumf": (CombiningKindFlag.MINNUMF, True),
    "arith.minsi": (CombiningKindFlag.MINSI, True),
    "arith.minui": (CombiningKindFlag.MINUI, True),
    "arith.ori": (CombiningKindFlag.OR, True),
    "arith.xori": (CombiningKindFlag.XOR, False),
}
"""How parts are combined, by the operation, and whether combining twice changes nothing."""


# --- larger steps ---


class _Deepening(TileEmitter):
    """Rebuilds a kernel.

    Args:
        most: How many elements a tile has at most that becomes larger.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(self, most: int, source: Source | None, diagnostics: Diagnostics | None) -> None:
        super().__init__(_RULES, "loops with larger steps", source, diagnostics)
        self.most = most


def _loop(operation: scf.ForOp, kernel: _Deepening) -> None:
    steps = _steps_of(operation, kernel.most)
    if steps is None:
        copy(operation, kernel)
        return
    kernel.remark(f"{steps.count} steps of {steps.step} are one of {steps.count * steps.step}")
    deeper, block = _Deeper(kernel, steps), operation.body.block
    carried = block.args[1:]
    initial = [deeper.begun(*each) for each in zip(carried, operation.iter_args, strict=True)]
    body = Block(arg_types=[IndexType(), *(each.type for each in initial)])
    for was, becomes in zip(block.args, body.args, strict=True):
        kernel.define(was, becomes)
    first, last = kernel.values((operation.lb, operation.ub))
    step = kernel.index(steps.count * steps.step)
    with kernel.at_end_of(body):
        with kernel.using(RuleTable(otherwise=deeper.rule, keeps_rounding=True)):
            for nested in block.ops:
                if nested is not block.last_op:
                    kernel.translate(nested)
        handed = () if block.last_op is None else block.last_op.operands
        kernel.emit(scf.YieldOp(*kernel.values(handed)))
    made = type(operation)(first, last, step, initial, Region(body))
    made.attributes |= operation.attributes
    kernel.emit(made)
    for was, old, new in zip(carried, operation.results, made.results, strict=True):
        kernel.define(old, deeper.combined(was, new))


class _Deeper:
    """Emits the operations of several turns at once.

    Args:
        kernel: The kernel that is built.
        steps: The loop.
    """

    def __init__(self, kernel: _Deepening, steps: _Steps) -> None:
        self._kernel = kernel
        self._steps = steps
        # What is carried is as deep as what it is combined with.
        for carried, combining in steps.combined.items():
            (other,) = (each for each in combining.operands if each is not carried)
            chosen = next(u.operation for u in carried.uses if isinstance(u.operation, SelectOp))
            along = steps.along.get(other, steps.along[chosen.operands[0]])
            for value in (carried, combining.results[0], chosen.results[0]):
                steps.along[value] = along

    def rule(self, operation: Operation, kernel: _Deepening) -> None:
        """Emits what an operation becomes."""
        steps = self._steps
        if any(each in steps.positions for each in operation.results):
            return
        if isinstance(operation, CmpIOp) and operation.result in steps.acting:
            self._compare(operation)
        elif isinstance(operation, TransferReadOp | TransferWriteOp):
            self._transfer(operation)
        elif operation.results and operation.results[0] in steps.along:
            self._again(operation)
        else:
            copy(operation, kernel)

    def _shape(self, value: SSAValue) -> list[int]:
        shape = list(shape_of(value.type))
        if value in self._steps.along:
            shape[self._steps.along[value]] *= self._steps.count
        return shape

    def _compare(self, operation: CmpIOp) -> None:
        """Which elements are before the end."""
        kernel, along = self._kernel, self._steps.along[operation.result]
        shape = self._shape(operation.result)
        numbers = kernel.step(shape[along])
        begin, end = kernel.values((self._steps.index, self._steps.loop.ub))
        index = kernel.compute(
            arith.AddiOp, [numbers, kernel.spread(begin, [shape[along]])], numbers.type
        )
        is_there = kernel.compare("slt", index, kernel.spread(end, [shape[along]]))
        thin = kernel.along(is_there, along, len(shape))
        kernel.define(operation.result, kernel.spread(thin, shape))

    def _transfer(self, operation: TransferReadOp | TransferWriteOp) -> None:
        kernel = self._kernel
        types = [with_shape(each.type, self._shape(each)) for each in operation.results]
        made = again(operation, kernel.values(operation.operands), types)
        kernel.replace(operation, made)

    def _again(self, operation: Operation) -> None:
        """The same for each element of larger tiles."""
        kernel, (result,) = self._kernel, operation.results
        along, shape = self._steps.along[result], self._shape(result)
        if isinstance(operation, ShapeCastOp):
            kernel.define(result, kernel.reshape(kernel.value(operation.source), shape))
            return
        operands = kernel.values(operation.operands)
        if not isinstance(operation, BroadcastOp):
            operands = [
                new if old in self._steps.along else self._repeated(new, along)
                for old, new in zip(operation.operands, operands, strict=True)
            ]
        made = again(operation, operands, [with_shape(result.type, shape)])
        kernel.replace(operation, made)

    def _repeated(self, tile: SSAValue, along: int) -> SSAValue:
        """What is the same in all turns, once for each."""
        kernel, shape = self._kernel, list(shape_of(tile.type))
        if not shape:
            return tile
        count, owner = self._steps.count, tile.owner
        larger = [n * count if i == along else n for i, n in enumerate(shape)]
        if isinstance(owner, BroadcastOp):
            own = shape_of(owner.source.type)
            at = along - len(shape) + len(own)
            if at < 0 or own[at] == 1:
                return kernel.spread(owner.source, larger)
        thin = [*shape[:along], 1, *shape[along:]]
        full = [*shape[:along], count, *shape[along:]]
        return kernel.reshape(kernel.spread(kernel.reshape(tile, thin), full), larger)

    def begun(self, carried: SSAValue, first: SSAValue) -> SSAValue:
        """What a value is at first: that of the source in the first part, or in all of them."""
        kernel, along = self._kernel, self._steps.along[carried]
        tile = kernel.value(first)
        _, is_idempotent = _KINDS[self._steps.combined[carried].name]
        if is_idempotent:
            return self._repeated(tile, along)
        neutral = kernel.constant(
            self._neutral(carried), with_shape(tile.type, self._shape(carried))
        )
        return kernel.with_block(neutral, tile, [0] * len(shape_of(tile.type)))

    def combined(self, carried: SSAValue, tile: SSAValue) -> SSAValue:
        """The parts of a value together."""
        kernel, along = self._kernel, self._steps.along[carried]
        kind, _ = _KINDS[self._steps.combined[carried].name]
        shape = list(shape_of(carried.type))
        parts = kernel.reshape(tile, [*shape[:along], self._steps.count, *shape[along:]])
        neutral = kernel.constant(self._neutral(carried), carried.type)
        properties = {
            "kind": CombiningKindAttr(kind),
            "reduction_dims": numbers_attribute((along,)),
        }
        return kernel.compute(MultiDimReductionOp, [parts, neutral], carried.type, properties)

    def _neutral(self, carried: SSAValue) -> float:
        operation = self._steps.combined[carried]
        kind, element = _KINDS[operation.name][0].value, value_type(carried.type)
        if operation.name.endswith("f"):
            return neutral_float(kind)
        return neutral_integer(kind, bits_of(element))


_ROWS: Mapping[str, Rule] = {scf.ForOp.name: _loop}

_RULES = RuleTable(_ROWS, otherwise=copy, keeps_rounding=True)
"""The rule of each operation, by name."""

"""Loops, branches and accesses of `affine`: `scf`, `memref` and arithmetic of indices.

Source: MLIR (LLVM 22), `Dialect/Affine/IR/AffineOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i1
from xdsl.dialects.scf import IfOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap, AffineSet
from xdsl.ir.affine.affine_set import AffineConstraintKind

from xtile.dialects.affine.control import groups_of
from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE, Level
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.linalg.kernels import first_of_linalg
from xtile.dialects.scf.loops import ForOp
from xtile.dialects.scf.ops import YieldOp
from xtile.dialects.walk import walk
from xtile.rewrite.affine_numbers import RULES as NUMBER_RULES
from xtile.rewrite.affine_numbers import affine_number, affine_numbers, known
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.indices import Index
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rule, RuleTable, copy
from xtile.text.source import source_of


def _load(operation: affine.LoadOp, emitter: Emitter) -> None:
    at = affine_numbers(emitter, operation.map.data, operation.indices)
    emitter.define(operation.result, emitter.load(emitter.value(operation.memref), at))


def _store(operation: affine.StoreOp, emitter: Emitter) -> None:
    at = affine_numbers(emitter, operation.map.data, operation.indices)
    emitter.store(emitter.value(operation.value), emitter.value(operation.memref), at)


def for_loop(operation: affine.ForOp, emitter: Emitter) -> None:
    """The rule of a loop."""
    lower = affine_numbers(emitter, operation.lowerBoundMap.data, operation.lowerBoundOperands)
    upper = affine_numbers(emitter, operation.upperBoundMap.data, operation.upperBoundOperands)
    first, last = reduce(emitter.larger, lower), reduce(emitter.smaller, upper)
    stride = operation.step.value.data
    old = operation.body.block
    body = emitter.new_block(old, [argument.type for argument in old.args])
    region = emitter.translate_into(operation.body, body)
    _ensure_end(body, emitter)
    initial = emitter.values(operation.inits)
    start, stop, step = (emitter.as_value(number) for number in (first, last, stride))
    emitter.replace(operation, ForOp(start, stop, step, initial, region))


def _ensure_end(block: Block, emitter: Emitter) -> None:
    """Ends a block that xDSL's builders have left without an end."""
    if not isinstance(block.last_op, YieldOp):
        with emitter.at_end_of(block):
            emitter.emit(YieldOp())


def _yield(operation: Operation, emitter: Emitter) -> None:
    emitter.emit(YieldOp(*emitter.values(operation.operands)))


_PREDICATES = {AffineConstraintKind.ge: "sge", AffineConstraintKind.le: "sle"}


def _if(operation: affine.IfOp, emitter: Emitter) -> None:
    condition: AffineSet = operation.condition.data
    values = [known(value) for value in emitter.values(operation.args)]
    dims, symbols = values[: condition.num_dims], values[condition.num_dims :]
    holds: SSAValue | None = None
    for each in condition.constraints:
        left, right = (affine_number(emitter, side, dims, symbols) for side in (each.lhs, each.rhs))
        one = emitter.compare(_PREDICATES.get(each.kind, "eq"), left, right)
        holds = emitter.both(holds, one)
    if holds is None:
        holds = emitter.emit(arith.ConstantOp(IntegerAttr(1, i1))).result
    emitter.replace(
        operation,
        IfOp(
            holds,
            operation.result_types,
            _branch(operation.then_region, emitter),
            _branch(operation.else_region, emitter),
        ),
    )


def _branch(old: Region, emitter: Emitter) -> Region:
    if not old.blocks:
        return Region()
    block = Block()
    region = emitter.translate_into(old, block)
    _ensure_end(block, emitter)
    return region


@dataclass(frozen=True)
class Turns:
    """The turns of an `affine.parallel`.

    Attributes:
        operation: The operation.
        first: Where each dimension begins.
        strides: How far apart turns are along each.
        sizes: How many there are along each.
    """

    operation: affine.ParallelOp
    first: Sequence[Index]
    strides: Sequence[int]
    sizes: Sequence[Index]

    def emit(self, emitter: Emitter, numbers: Sequence[Index]) -> None:
        """Emits the turn of some numbers."""
        block = self.operation.body.block
        rows = zip(block.args, self.first, numbers, self.strides, strict=True)
        for argument, start, number, stride in rows:
            position = emitter.add(start, emitter.multiply(number, stride))
            emitter.define(argument, emitter.as_value(position))
        for each in block.ops:
            if each.name != "affine.yield":
                emitter.translate(each)


def turns_of(operation: affine.ParallelOp, emitter: Emitter) -> Turns:
    """The turns of an `affine.parallel`, whose sizes are emitted where they are not known."""
    lower, upper = operation.lowerBoundsMap.data, operation.upperBoundsMap.data
    inputs = lower.num_dims + lower.num_symbols
    first = _bounds(
        lower,
        groups_of(lower, operation.lowerBoundsGroups),
        operation.map_operands[:inputs],
        emitter.larger,
        emitter,
    )
    last = _bounds(
        upper,
        groups_of(upper, operation.upperBoundsGroups),
        operation.map_operands[inputs:],
        emitter.smaller,
        emitter,
    )
    strides = [stride.value.data for stride in operation.steps]
    sizes = [
        emitter.divide_up(emitter.larger(emitter.subtract(end, start), 0), stride)
        for start, end, stride in zip(first, last, strides, strict=True)
    ]
    return Turns(operation, first, strides, sizes)


def _bounds(
    map_: AffineMap,
    groups: Sequence[Sequence[AffineExpr]],
    operands: Sequence[SSAValue],
    combine: Callable[[Index, Index], Index],
    emitter: Emitter,
) -> list[Index]:
    values = [known(value) for value in emitter.values(operands)]
    dims, symbols = values[: map_.num_dims], values[map_.num_dims :]
    return [
        reduce(combine, [affine_number(emitter, each, dims, symbols) for each in group])
        for group in groups
    ]


def parallel_in_order(operation: affine.ParallelOp, emitter: Emitter) -> None:
    """The rule of an `affine.parallel` whose turns are done one after the other."""
    turns = turns_of(operation, emitter)
    emitter.nest(turns.sizes, (), lambda numbers, carried: turns.emit(emitter, numbers) or ())


def with_affine_lowered(module: ModuleOp) -> ModuleOp:
    """Returns a module whose kernels have no operations of `affine`, but those of `linalg`.

    There, work-items share the turns of loops: `xtile.translate.linalg_to_core` knows how.
    """
    lowering = Emitter(RuleTable(RULES, copy, keeps_rounding=True), "scf", source_of(module))
    return with_kernels_replaced(module, _has_affine, lambda kernel: rebuilt(kernel, lowering))


def _has_affine(function: FuncOp) -> bool:
    if RULES.keys().isdisjoint({each.name for each in walk(function)}):
        return False
    level = function.attributes.get(LEVEL_ATTRIBUTE, _BLOCK)
    return level != _BLOCK or first_of_linalg(function) is None


_BLOCK = StringAttr(Level.BLOCK.value)


RULES: Mapping[str, Rule] = {
    **NUMBER_RULES,
    "affine.for": for_loop,
    "affine.if": _if,
    "affine.load": _load,
    "affine.parallel": parallel_in_order,
    "affine.store": _store,
    "affine.yield": _yield,
}
"""The rule of each operation, by name."""

"""Loops, branches and accesses of `affine`: `scf`, `memref` and arithmetic of indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.dialects.scf import IfOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap, AffineSet
from xdsl.ir.affine.affine_set import AffineConstraintKind

from xtile.dialects.affine.control import groups_of
from xtile.dialects.effects import BARRIERS
from xtile.dialects.linalg.structure import is_structured
from xtile.dialects.scf.loops import ForOp
from xtile.dialects.scf.ops import YieldOp
from xtile.dialects.walk import walk
from xtile.rewrite.affine_numbers import RULES as NUMBER_RULES
from xtile.rewrite.affine_numbers import affine_number, affine_numbers, known
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.linalg_to_core.kernel import Kernel


def _load(operation: affine.LoadOp, kernel: Kernel) -> None:
    at = affine_numbers(kernel, operation.map.data, operation.indices)
    kernel.define(operation.result, kernel.load(kernel.value(operation.memref), at))


def _store(operation: affine.StoreOp, kernel: Kernel) -> None:
    at = affine_numbers(kernel, operation.map.data, operation.indices)
    kernel.store(kernel.value(operation.value), kernel.value(operation.memref), at)


def _for(operation: affine.ForOp, kernel: Kernel) -> None:
    if not kernel.is_in_points and not isinstance(operation.parent_op(), affine.ForOp):
        kernel.remark(
            "all work-items execute this loop alike, one turn after another; affine.parallel says "
            "that turns are independent, and lets work-items share them"
        )
    lower = affine_numbers(kernel, operation.lowerBoundMap.data, operation.lowerBoundOperands)
    upper = affine_numbers(kernel, operation.upperBoundMap.data, operation.upperBoundOperands)
    first, last = reduce(kernel.larger, lower), reduce(kernel.smaller, upper)
    stride = operation.step.value.data
    old = operation.body.block
    body = kernel.new_block(old, [argument.type for argument in old.args])
    region = kernel.translate_into(operation.body, body)
    _ensure_end(body, kernel)
    initial = kernel.values(operation.inits)
    start, stop, step = (kernel.as_value(number) for number in (first, last, stride))
    kernel.replace(operation, ForOp(start, stop, step, initial, region))


def _ensure_end(block: Block, kernel: Kernel) -> None:
    """Ends a block that xDSL's builders have left without an end."""
    if not isinstance(block.last_op, YieldOp):
        with kernel.at_end_of(block):
            kernel.emit(YieldOp())


def _yield(operation: Operation, kernel: Kernel) -> None:
    kernel.emit(YieldOp(*kernel.values(operation.operands)))


_PREDICATES = {AffineConstraintKind.ge: "sge", AffineConstraintKind.le: "sle"}


def _if(operation: affine.IfOp, kernel: Kernel) -> None:
    condition: AffineSet = operation.condition.data
    values = [known(value) for value in kernel.values(operation.args)]
    dims, symbols = values[: condition.num_dims], values[condition.num_dims :]
    holds: SSAValue | None = None
    for each in condition.constraints:
        left, right = (affine_number(kernel, side, dims, symbols) for side in (each.lhs, each.rhs))
        one = kernel.compare(_PREDICATES.get(each.kind, "eq"), left, right)
        holds = kernel.both(holds, one)
    if holds is None:
        holds = kernel.emit(arith.ConstantOp(IntegerAttr(1, i1))).result
    kernel.replace(
        operation,
        IfOp(
            holds,
            operation.result_types,
            _branch(operation.then_region, kernel),
            _branch(operation.else_region, kernel),
        ),
    )


def _branch(old: Region, kernel: Kernel) -> Region:
    if not old.blocks:
        return Region()
    block = Block()
    region = kernel.translate_into(old, block)
    _ensure_end(block, kernel)
    return region


def _parallel(operation: affine.ParallelOp, kernel: Kernel) -> None:
    """Points of a space, where the body is what work-items can do on their own."""
    lower, upper = operation.lowerBoundsMap.data, operation.upperBoundsMap.data
    inputs = lower.num_dims + lower.num_symbols
    first = _bounds(
        lower,
        groups_of(lower, operation.lowerBoundsGroups),
        operation.map_operands[:inputs],
        kernel.larger,
        kernel,
    )
    last = _bounds(
        upper,
        groups_of(upper, operation.upperBoundsGroups),
        operation.map_operands[inputs:],
        kernel.smaller,
        kernel,
    )
    strides = [stride.value.data for stride in operation.steps]
    sizes = [
        kernel.divide_up(kernel.larger(kernel.subtract(end, start), 0), stride)
        for start, end, stride in zip(first, last, strides, strict=True)
    ]
    block = operation.body.block

    def body(numbers: Sequence[Index]) -> None:
        for argument, start, number, stride in zip(
            block.args, first, numbers, strides, strict=True
        ):
            position = kernel.add(start, kernel.multiply(number, stride))
            kernel.define(argument, kernel.as_value(position))
        for each in block.ops:
            if each.name != "affine.yield":
                kernel.translate(each)

    hindrance = next((each for each in walk(operation) if _is_of_all(each)), None)
    if kernel.is_in_points or hindrance is not None:
        if hindrance is not None:
            kernel.remark(
                f"the turns of this affine.parallel are done one after the other, because "
                f"{spelling_of(hindrance)} is work of the work-group as a whole"
            )
        kernel.nest(sizes, (), lambda numbers, carried: body(numbers) or ())
        return
    with kernel.points(sizes) as point:
        body(point)


def _is_of_all(operation: Operation) -> bool:
    """Whether only a work-group as a whole can do something."""
    name = operation.name
    return is_structured(operation) or name in BARRIERS or name == "memref.alloca"


def _bounds(
    map_: AffineMap,
    groups: Sequence[Sequence[AffineExpr]],
    operands: Sequence[SSAValue],
    combine: Callable[[Index, Index], Index],
    kernel: Kernel,
) -> list[Index]:
    values = [known(value) for value in kernel.values(operands)]
    dims, symbols = values[: map_.num_dims], values[map_.num_dims :]
    return [
        reduce(combine, [affine_number(kernel, each, dims, symbols) for each in group])
        for group in groups
    ]


RULES: Mapping[str, Rule] = {
    **NUMBER_RULES,
    "affine.for": _for,
    "affine.if": _if,
    "affine.load": _load,
    "affine.parallel": _parallel,
    "affine.store": _store,
    "affine.yield": _yield,
}
"""The rule of each operation, by name."""

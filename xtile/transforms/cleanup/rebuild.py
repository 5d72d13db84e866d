"""Rebuilds a kernel with constants folded and common subexpressions shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from xdsl.dialects import arith, scf
from xdsl.ir import Attribute, Operation, Region, SSAValue

from xtile.dialects.effects import is_pure
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.scf.loops import UNSIGNED
from xtile.dialects.walk import walk
from xtile.rewrite.facts import Facts
from xtile.rewrite.folding import constant_number, fold
from xtile.rewrite.rebuilder import Rebuilder, RuleTable, again
from xtile.text.source import Source

_MOVABLE = frozenset(
    {
        "arith.addi",
        "arith.andi",
        "arith.cmpi",
        "arith.constant",
        "arith.extsi",
        "arith.extui",
        "arith.index_cast",
        "arith.maxsi",
        "arith.maxui",
        "arith.minsi",
        "arith.minui",
        "arith.muli",
        "arith.ori",
        "arith.select",
        "arith.shli",
        "arith.shrsi",
        "arith.shrui",
        "arith.subi",
        "arith.trunci",
        "arith.xori",
        "gpu.block_dim",
        "gpu.block_id",
        "gpu.grid_dim",
        "gpu.lane_id",
        "gpu.num_subgroups",
        "gpu.subgroup_id",
        "gpu.subgroup_size",
        "gpu.thread_id",
        "memref.dim",
        "memref.extract_aligned_pointer_as_index",
        "memref.extract_strided_metadata",
    }
)
"""Cheap operations that may run although the program would not have: they never fail."""


class Cleaner(Rebuilder):
    """Copies operations, and leaves out those whose results are known."""

    def __init__(self, source: Source | None) -> None:
        super().__init__(_RULES, "the core form", source)
        self.facts = Facts()


def _key(operation: Operation, operands: list[SSAValue]) -> Any:
    return (
        operation.name,
        tuple(operands),
        operation.result_types,
        _in_order(operation.properties),
        _in_order(operation.attributes),
    )


def _in_order(attributes: Mapping[str, Attribute]) -> tuple[tuple[str, Attribute], ...]:
    items = tuple(attributes.items())
    return items if len(items) < 2 else tuple(sorted(items, key=lambda item: item[0]))


def _copy(operation: Operation, cleaner: Cleaner) -> None:
    operands = cleaner.values(operation.operands)
    folded = fold(operation, operands)
    if folded is not None:
        if isinstance(folded, SSAValue):
            cleaner.define(operation.results[0], folded)
        else:
            _define_constant(operation, folded, cleaner)
        return
    if not is_pure(operation):
        _define(operation, _emit(operation, operands, cleaner), cleaner)
        return
    key = _key(operation, operands)

    def emit() -> Operation:
        return _emit(operation, operands, cleaner)

    is_movable = operation.name in _MOVABLE
    new = cleaner.shared(key, operands, emit) if is_movable else cleaner.reused(key, emit)
    _define(operation, new, cleaner)


def _define_constant(operation: Operation, value: Attribute, cleaner: Cleaner) -> None:
    constant = arith.ConstantOp(cast("Any", value))
    key = _key(constant, [])
    new = cleaner.shared(key, (), lambda: cleaner.emit(constant))
    _define(operation, new, cleaner)


def _define(operation: Operation, new: Operation, cleaner: Cleaner) -> None:
    for old_result, new_result in zip(operation.results, new.results, strict=True):
        cleaner.define(old_result, new_result)


def _emit(operation: Operation, operands: list[SSAValue], cleaner: Cleaner) -> Operation:
    return cleaner.emit(again(operation, operands, regions=cleaner.regions(operation)))


def _function(operation: Operation, cleaner: Cleaner) -> None:
    """A kernel; one with branches between blocks stays as it is."""
    if any(len(region.blocks) > 1 for region in _regions(operation)):
        cleaner.keep(operation)
        return
    old = operation.regions[0].block
    body = cleaner.new_block(old, [argument.type for argument in old.args])
    with cleaner.in_function(body):
        cleaner.translate_block(old)
    new = again(operation, regions=[Region([body])])
    cleaner.emit(new)


def _regions(operation: Operation) -> Iterator[Region]:
    for inner in walk(operation):
        yield from inner.regions


def _if(operation: Operation, cleaner: Cleaner) -> None:
    """A condition that is known chooses its branch."""
    conditional = cast(scf.IfOp, operation)
    condition = constant_number(cleaner.value(conditional.cond))
    if condition is None:
        _copy(operation, cleaner)
        return
    chosen = conditional.true_region if condition else conditional.false_region
    _inline(operation, chosen, cleaner)


def _for(operation: Operation, cleaner: Cleaner) -> None:
    """A loop that is known to run never or once is no loop."""
    loop = cast(scf.ForOp, operation)
    bounds = cleaner.values([loop.lb, loop.ub, loop.step])
    if UNSIGNED in loop.properties:
        _copy(operation, cleaner)
    elif _never_runs(bounds, cleaner):
        for result, start in zip(loop.results, loop.iter_args, strict=True):
            cleaner.define(result, cleaner.value(start))
    elif _runs_once(bounds):
        arguments = loop.body.block.args
        cleaner.define(arguments[0], bounds[0])
        for argument, start in zip(arguments[1:], loop.iter_args, strict=True):
            cleaner.define(argument, cleaner.value(start))
        _inline(operation, loop.body, cleaner)
    else:
        _copy(operation, cleaner)


def _never_runs(bounds: list[SSAValue], cleaner: Cleaner) -> bool:
    lower, upper = constant_number(bounds[0]), constant_number(bounds[1])
    if lower is not None and upper is not None:
        return lower >= upper
    return upper is not None and upper <= 0 and cleaner.facts.is_not_negative(bounds[0])


def _runs_once(bounds: list[SSAValue]) -> bool:
    lower, upper, step = (constant_number(bound) for bound in bounds)
    if lower is None or upper is None or step is None:
        return False
    return step > 0 and lower < upper <= lower + step


def _inline(operation: Operation, region: Region, cleaner: Cleaner) -> None:
    """Puts the operations of a region in the place of the operation around it."""
    block = region.blocks.first
    if block is None:
        return
    for inner in block.ops:
        if isinstance(inner, scf.YieldOp):
            values = cleaner.values(inner.operands)
            for result, value in zip(operation.results, values, strict=True):
                cleaner.define(result, value)
        else:
            cleaner.translate(inner)


_RULES = RuleTable(
    {
        FuncOp.name: _function,
        # Kernels call it, and it may have several blocks.
        "func.func": lambda operation, cleaner: cleaner.keep(operation),
        scf.ForOp.name: _for,
        scf.IfOp.name: _if,
    },
    otherwise=_copy,
    keeps_rounding=True,
)

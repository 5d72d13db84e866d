"""Structured control flow: for, if and yield."""

from __future__ import annotations

from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.core.attributes import UNROLL_ATTRIBUTE
from xtile.dialects.core.subgroup import YieldOp as CoreYieldOp
from xtile.dialects.tensorlang.ops import control as ops
from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixApplyOp
from xtile.dialects.tensorlang.types import I64, INDEX, SIZE_IN_BYTES
from xtile.dialects.tensorlang.verifier.constants import integer_of
from xtile.rewrite.rebuilder import Rebuilder, Rules
from xtile.translate.tensorlang_to_core.casts import convert
from xtile.translate.tensorlang_to_core.complex_matrices import (
    component_parts,
    define_flat,
    flat,
    flat_types,
)
from xtile.translate.tensorlang_to_core.emit import constant, make
from xtile.translate.tensorlang_to_core.indices import Indices


def _for(operation: ops.ForOp, r: Rebuilder) -> None:
    """A loop whose variable could wrap around counts in `index` (docs/semantics.md 3.6)."""
    type = INDEX if _may_wrap(operation) else operation.from_.type
    bounds = [_bound(bound, type, r) for bound in (operation.from_, operation.to)]
    step = constant(r, 1, type) if operation.step is None else _bound(operation.step, type, r)
    old = operation.body.block
    body = Block(arg_types=[type, *flat_types(operation.init)])
    define_flat(r, old.args, body.args)
    with r.at_end_of(body):
        r.define(old.args[0], convert(r, body.args[0], operation.from_.type))
        translate_region(operation.body, r)
    init = flat(r, operation.init)
    results = [[each.type for each in init]]
    loop = r.emit(make("scf.for", [*bounds, step, init], results, regions=[Region([body])]))
    define_flat(r, operation.results, loop.results)
    if operation.unroll is not None:
        loop.attributes[UNROLL_ATTRIBUTE] = operation.unroll


def _bound(bound: SSAValue, type: Attribute, r: Rebuilder) -> SSAValue:
    indices = Indices(r)
    return r.value(bound) if bound.type == type else indices.as_value(indices.number(bound))


def _may_wrap(operation: ops.ForOp) -> bool:
    """Whether a step beyond the last iteration might leave a type that `index` is wider than."""
    type = operation.from_.type
    if type in (INDEX, I64):
        return False
    step = 1 if operation.step is None else integer_of(operation.step)
    to = integer_of(operation.to)
    if step is None or step == 1:
        return step is None
    return to is None or to - 1 + step >= 1 << (8 * SIZE_IN_BYTES[type] - 1)


def _if(operation: ops.IfOp, r: Rebuilder) -> None:
    condition = r.value(operation.condition)
    results = [flat_types(operation.results_)]
    regions = [_branch(operation.then, r), _branch(operation.otherwise, r)]
    choice = r.emit(make("scf.if", [condition], results, regions=regions))
    define_flat(r, operation.results_, choice.results)


def _branch(old: Region, r: Rebuilder) -> Region:
    if not old.blocks:
        return Region()
    block = Block()
    with r.at_end_of(block):
        translate_region(old, r)
    return Region([block])


def translate_region(old: Region, r: Rebuilder) -> None:
    """Translates a region of `scf` to the end of the current block, with a terminator."""
    r.translate_block(old.block)
    if not isinstance(old.block.last_op, ops.YieldOp):
        r.emit(make("scf.yield", [[]]))


def _yield(operation: ops.YieldOp, r: Rebuilder) -> None:
    if isinstance(operation.parent_op(), CooperativeMatrixApplyOp):
        r.emit(CoreYieldOp(operands=[component_parts(r, operation.values[0])]))
    else:
        r.emit(make("scf.yield", [flat(r, operation.values)]))


RULES: Rules = {ops.ForOp: _for, ops.IfOp: _if, ops.YieldOp: _yield}

"""Structured control flow, through which matrices pass as several values."""

from __future__ import annotations

from math import gcd

from xdsl.dialects import scf
from xdsl.ir import Operation

from xtile.dialects.construction import made
from xtile.dialects.scf.loops import UNSIGNED, ForOp
from xtile.rewrite.rebuilder import Rule, again
from xtile.translate.core_to_xegpu.lowering import Lowering


def _rebuild(operation: Operation, lowering: Lowering) -> None:
    """Emits a control flow operation whose operands and results can be matrices."""
    operands = lowering.flat(operation.operands)
    types = [t for result in operation.results for t in lowering.types(result.type)]
    new = again(
        operation,
        operands,
        types,
        regions=lowering.regions(operation),
    )
    lowering.emit(new)
    lowering.define_flat(list(operation.results), list(new.results))


def _terminate(operation: Operation, lowering: Lowering) -> None:
    lowering.emit(made(type(operation), lowering.flat(operation.operands), ()))


def _for(operation: scf.ForOp, lowering: Lowering) -> None:
    """A loop; what is known of its variable is recorded before its body is translated."""
    lower, upper, step = lowering.values([operation.lb, operation.ub, operation.step])
    old = operation.body.block
    block = lowering.open_block(old)
    facts = lowering.facts
    facts.assume(
        block.args[0],
        gcd(facts.divisor(lower), facts.divisor(step)),
        facts.is_not_negative(lower) and UNSIGNED not in operation.properties,
    )
    region = lowering.translate_into(operation.body, block)
    carried = lowering.flat(operation.iter_args)
    new = ForOp(lower, upper, step, carried, region)
    new.properties |= operation.properties
    new.attributes |= operation.attributes
    lowering.emit(new)
    lowering.define_flat(list(operation.results), list(new.results))


RULES: dict[str, Rule] = {
    scf.ForOp.name: _for,
    scf.IfOp.name: _rebuild,
    scf.WhileOp.name: _rebuild,
    scf.ConditionOp.name: _terminate,
    scf.YieldOp.name: _terminate,
}

"""Complex numbers: what LLVM's pipeline has no lowering for is computed from the parts."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_xegpu.copying import copy
from xtile.translate.core_to_xegpu.lowering import Lowering, from_parts

Parts = tuple[SSAValue, SSAValue]


def _negated(lowering: Lowering, value: SSAValue) -> SSAValue:
    return lowering.emit(arith.NegfOp(value)).result


def _neg(lowering: Lowering, parts: Parts) -> Parts:
    return _negated(lowering, parts[0]), _negated(lowering, parts[1])


def _conj(lowering: Lowering, parts: Parts) -> Parts:
    return parts[0], _negated(lowering, parts[1])


def _exp(lowering: Lowering, parts: Parts) -> Parts:
    """exp(x + i y) = exp(x) (cos y + i sin y)."""
    from xdsl.dialects import math

    size = lowering.emit(math.ExpOp(parts[0])).result
    cosine = lowering.emit(math.CosOp(parts[1])).result
    sine = lowering.emit(math.SinOp(parts[1])).result
    return (
        lowering.emit(arith.MulfOp(size, cosine)).result,
        lowering.emit(arith.MulfOp(size, sine)).result,
    )


_ON_PARTS: dict[str, Callable[[Lowering, Parts], Parts]] = {
    "complex.conj": _conj,
    "complex.exp": _exp,
    "complex.neg": _neg,
}
"""What each operation makes of the parts."""


def _on_parts(operation: Operation, lowering: Lowering) -> None:
    parts = _ON_PARTS[operation.name](lowering, lowering.complex_parts(operation.operands[0]))
    result = operation.results[0]
    lowering.define(result, from_parts(lowering, parts, result.type))


def _compare(predicate: str, join: type[arith.AndIOp] | type[arith.OrIOp]) -> Rule:
    """The rule of a comparison, which compares the parts and joins the answers."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        a, b = (lowering.complex_parts(operand) for operand in operation.operands)
        real, imaginary = (
            lowering.emit(arith.CmpfOp(x, y, predicate)).result for x, y in zip(a, b, strict=True)
        )
        lowering.define(operation.results[0], lowering.emit(join(real, imaginary)).result)

    return rule


def _select(operation: Operation, lowering: Lowering) -> None:
    """A choice between complex numbers is one between their parts."""
    condition, *choices = operation.operands
    if not isinstance(choices[0].type, ComplexType):
        copy(operation, lowering)
        return
    chosen = lowering.value(condition)
    a, b = (lowering.complex_parts(choice) for choice in choices)
    parts = lowering.select(chosen, a[0], b[0]), lowering.select(chosen, a[1], b[1])
    lowering.define(operation.results[0], parts)


RULES: dict[str, Rule] = {
    **dict.fromkeys(_ON_PARTS, _on_parts),
    "arith.select": _select,
    "complex.eq": _compare("oeq", arith.AndIOp),
    "complex.neq": _compare("une", arith.OrIOp),
}

"""Arithmetic on integers, floats and bits, comparisons, and mathematical functions.

Source: CUDA Tile IR specification, "Integer", "Bitwise", "Floating Point"; docs/core-form.md,
"Numbers"; docs/semantics.md, "CUDA Tile IR: numbers".
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.arith import (
    FastMathFlagsAttr,
    IntegerOverflowAttr,
    IntegerOverflowFlag,
)
from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith.arithmetic import DivSIOp, DivUIOp, RemFOp, ShRSIOp, ShRUIOp
from xtile.dialects.arith.comparisons import (
    SelectOp,
)
from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    IntegerOverflow,
    RoundingMode,
    Signedness,
)
from xtile.dialects.cuda_tile.ops.floating_point import CmpFOp as TileCmpFOp
from xtile.dialects.cuda_tile.ops.integer import CmpIOp as TileCmpIOp
from xtile.dialects.cuda_tile.ops.integer import DivIOp as TileDivIOp
from xtile.dialects.number_attributes import FLUSH_ATTRIBUTE, ROUNDING_ATTRIBUTE, Rounding
from xtile.dialects.shapes import bits_of
from xtile.dialects.upstream import value_type
from xtile.rewrite.rebuilder import Rule
from xtile.translate.cuda_tile_to_core.raising import Raising

Kind = type[IRDLOperation]


def _same(kind: Kind) -> Rule:
    """The rule of an operation that there is one of."""

    def rule(operation: Operation, raising: Raising) -> None:
        (result,) = operation.results
        type_ = raising.type(result.type)
        made = raising.compute(kind, raising.values(operation.operands), type_)
        raising.define(result, made)

    return rule


def property_of(operation: Operation, name: str) -> Any:
    """What an operation says in a property that is a member of an enumeration; None if nothing."""
    attribute: Any = operation.properties.get(name)
    return None if attribute is None else attribute.data


# --- integers ---

_FLAGS = {
    IntegerOverflow.NSW: (IntegerOverflowFlag.NSW,),
    IntegerOverflow.NUW: (IntegerOverflowFlag.NUW,),
    IntegerOverflow.NW: (IntegerOverflowFlag.NSW, IntegerOverflowFlag.NUW),
}


def overflow_of(operation: Operation) -> dict[str, Attribute]:
    """The properties by which an operation promises that integers do not overflow."""
    flags = _FLAGS.get(property_of(operation, "overflow"))
    return {} if flags is None else {"overflowFlags": IntegerOverflowAttr(flags)}


def _wrapping(kind: Kind) -> Rule:
    """The rule of an operation that may promise not to wrap around."""

    def rule(operation: Operation, raising: Raising) -> None:
        operands = raising.values(operation.operands)
        made = raising.compute(kind, operands, operands[0].type, overflow_of(operation))
        raising.define(operation.results[0], made)

    return rule


def is_signed(operation: Operation, name: str = "signedness") -> bool:
    """Whether an operation takes integers as signed."""
    return property_of(operation, name) is Signedness.SIGNED


def _by_sign(signed: Kind, unsigned: Kind) -> Rule:
    """The rule of an operation that there is one of for each sign."""
    rules = {True: _same(signed), False: _same(unsigned)}
    return lambda operation, raising: rules[is_signed(operation)](operation, raising)


_QUOTIENTS: dict[tuple[RoundingMode, bool], Kind] = {
    (RoundingMode.ZERO, True): DivSIOp,
    (RoundingMode.ZERO, False): DivUIOp,
    (RoundingMode.POSITIVE_INF, True): arith.CeilDivSIOp,
    (RoundingMode.POSITIVE_INF, False): arith.CeilDivUIOp,
    (RoundingMode.NEGATIVE_INF, True): arith.FloorDivSIOp,
}


def _divide(operation: TileDivIOp, raising: Raising) -> None:
    kind = _QUOTIENTS[operation.rounding.data, is_signed(operation)]
    _same(kind)(operation, raising)


def _negate(operation: Operation, raising: Raising) -> None:
    value = raising.value(operation.operands[0])
    zero = raising.constant(0, value.type)
    promise = overflow_of(operation)
    if promise:
        # An operand other than 0 has no unsigned difference from 0, whatever is promised.
        promise = {"overflowFlags": IntegerOverflowAttr((IntegerOverflowFlag.NSW,))}
    made = raising.compute(arith.SubiOp, [zero, value], value.type, promise)
    raising.define(operation.results[0], made)


def _high_product(operation: Operation, raising: Raising) -> None:
    operands = raising.values(operation.operands)
    type_ = operands[0].type
    product = raising.emit(
        arith.MulUIExtendedOp.build(operands=operands, result_types=[type_, type_])
    )
    raising.define(operation.results[0], product.results[1])


def _shift_left(operation: Operation, raising: Raising) -> None:
    value, distance = raising.values(operation.operands)
    raising.define(
        operation.results[0],
        _shifted(raising, arith.ShLIOp, value, distance, overflow_of(operation)),
    )


def _shift_right(operation: Operation, raising: Raising) -> None:
    value, distance = raising.values(operation.operands)
    kind: Kind = ShRSIOp if is_signed(operation) else ShRUIOp
    raising.define(operation.results[0], _shifted(raising, kind, value, distance))


def _shifted(
    raising: Raising,
    kind: Kind,
    value: SSAValue,
    distance: SSAValue,
    promise: dict[str, Attribute] | None = None,
) -> SSAValue:
    """A shift, after which by the width or more only the bits are left that are filled in."""
    type_ = value.type
    width = bits_of(value_type(type_))
    if _is_below(distance, width):
        return raising.compute(kind, [value, distance], type_, promise)
    last = raising.constant(width - 1, type_)
    near = raising.compute(arith.MinUIOp, [distance, last], type_)
    shifted = raising.compute(kind, [value, near], type_)
    if kind is ShRSIOp:
        return shifted
    is_near = raising.compare("ule", distance, last)
    zero = raising.constant(0, type_)
    return raising.compute(SelectOp, [is_near, shifted, zero], type_)


def _is_below(value: SSAValue, limit: int) -> bool:
    """Whether a value is a constant all elements of which are from 0 to below a limit."""
    operation = value.owner
    if not isinstance(operation, arith.ConstantOp):
        return False
    constant: Any = operation.value
    numbers = [constant.value.data] if isinstance(constant, IntegerAttr) else constant.get_values()
    return all(0 <= number < limit for number in numbers)


# --- comparisons ---

_INTEGER_PREDICATES = {
    ComparisonPredicate.EQUAL: ("eq", "eq"),
    ComparisonPredicate.NOT_EQUAL: ("ne", "ne"),
    ComparisonPredicate.LESS_THAN: ("slt", "ult"),
    ComparisonPredicate.LESS_THAN_OR_EQUAL: ("sle", "ule"),
    ComparisonPredicate.GREATER_THAN: ("sgt", "ugt"),
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: ("sge", "uge"),
}
"""The words for signed and for unsigned numbers."""

_FLOAT_PREDICATES = {
    ComparisonPredicate.EQUAL: "eq",
    ComparisonPredicate.NOT_EQUAL: "ne",
    ComparisonPredicate.LESS_THAN: "lt",
    ComparisonPredicate.LESS_THAN_OR_EQUAL: "le",
    ComparisonPredicate.GREATER_THAN: "gt",
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: "ge",
}


def _compare_integers(operation: TileCmpIOp, raising: Raising) -> None:
    signed, unsigned = _INTEGER_PREDICATES[operation.comparison_predicate.data]
    word = signed if is_signed(operation) else unsigned
    raising.define(operation.result, raising.compare(word, *raising.values(operation.operands)))


def _compare_floats(operation: TileCmpFOp, raising: Raising) -> None:
    is_ordered = operation.comparison_ordering.data is ComparisonOrdering.ORDERED
    word = ("o" if is_ordered else "u") + _FLOAT_PREDICATES[operation.comparison_predicate.data]
    made = raising.compare_floats(word, *raising.values(operation.operands))
    raising.define(operation.result, made)


# --- floats ---

_DIRECTIONS = {
    RoundingMode.ZERO: Rounding.TOWARD_ZERO,
    RoundingMode.NEGATIVE_INF: Rounding.DOWNWARD,
    RoundingMode.POSITIVE_INF: Rounding.UPWARD,
}


def _fast(flag: FastMathFlag) -> dict[str, Attribute]:
    return {"fastmath": FastMathFlagsAttr([flag])}


_APPROXIMATE = _fast(FastMathFlag.APPROX_FUNC)
_BY_RECIPROCAL = _fast(FastMathFlag.ALLOW_RECIP)


def _float(kind: Kind) -> Rule:
    """The rule of an operation that may say how it is rounded, and whether it flushes to zero."""
    is_quotient = kind is arith.DivfOp

    def rule(operation: Operation, raising: Raising) -> None:
        operands, mode = raising.values(operation.operands), property_of(operation, "rounding_mode")
        properties: dict[str, Attribute] = {}
        attributes: dict[str, Attribute] = {}
        flushes = "flush_to_zero" in operation.properties
        # The approximation of the core form's square root may flush subnormal numbers to zero.
        if mode in _DIRECTIONS:
            attributes[ROUNDING_ATTRIBUTE] = StringAttr(_DIRECTIONS[mode].value)
        elif mode is RoundingMode.APPROX and (kind is not math.SqrtOp or flushes):
            properties = _BY_RECIPROCAL if is_quotient else _APPROXIMATE
        elif mode is RoundingMode.FULL and is_quotient:
            properties = _APPROXIMATE
        if flushes:
            attributes[FLUSH_ATTRIBUTE] = UnitAttr()
        made = raising.compute(kind, operands, operands[0].type, properties, attributes)
        raising.define(operation.results[0], made)

    return rule


def _extremum(ignoring: Kind, propagating: Kind) -> Rule:
    """The rule of a maximum or minimum, by whether NaN is ignored or propagated."""
    rules = {False: _float(ignoring), True: _float(propagating)}
    return lambda operation, raising: rules["propagate_nan" in operation.properties](
        operation, raising
    )


def _select(operation: Operation, raising: Raising) -> None:
    operands = raising.values(operation.operands)
    raising.define(operation.results[0], raising.compute(SelectOp, operands, operands[1].type))


RULES: dict[str, Rule] = {
    "cuda_tile.absf": _same(math.AbsFOp),
    "cuda_tile.absi": _same(math.AbsIOp),
    "cuda_tile.addf": _float(arith.AddfOp),
    "cuda_tile.addi": _wrapping(arith.AddiOp),
    "cuda_tile.andi": _same(arith.AndIOp),
    "cuda_tile.atan2": _same(math.Atan2Op),
    "cuda_tile.ceil": _same(math.CeilOp),
    "cuda_tile.cmpf": _compare_floats,
    "cuda_tile.cmpi": _compare_integers,
    "cuda_tile.cos": _same(math.CosOp),
    "cuda_tile.cosh": _same(math.CoshOp),
    "cuda_tile.divf": _float(arith.DivfOp),
    "cuda_tile.divi": _divide,
    "cuda_tile.exp": _float(math.ExpOp),
    "cuda_tile.exp2": _float(math.Exp2Op),
    "cuda_tile.floor": _same(math.FloorOp),
    "cuda_tile.fma": _float(math.FmaOp),
    "cuda_tile.fpowi": _same(math.FPowIOp),
    "cuda_tile.log": _same(math.LogOp),
    "cuda_tile.log2": _same(math.Log2Op),
    "cuda_tile.maxf": _extremum(arith.MaxnumfOp, arith.MaximumfOp),
    "cuda_tile.maxi": _by_sign(arith.MaxSIOp, arith.MaxUIOp),
    "cuda_tile.minf": _extremum(arith.MinnumfOp, arith.MinimumfOp),
    "cuda_tile.mini": _by_sign(arith.MinSIOp, arith.MinUIOp),
    "cuda_tile.mulf": _float(arith.MulfOp),
    "cuda_tile.mulhii": _high_product,
    "cuda_tile.muli": _wrapping(arith.MuliOp),
    "cuda_tile.negf": _same(arith.NegfOp),
    "cuda_tile.negi": _negate,
    "cuda_tile.ori": _same(arith.OrIOp),
    "cuda_tile.pow": _same(math.PowFOp),
    "cuda_tile.remf": _same(RemFOp),
    "cuda_tile.remi": _by_sign(arith.RemSIOp, arith.RemUIOp),
    "cuda_tile.rsqrt": _float(math.RsqrtOp),
    "cuda_tile.select": _select,
    "cuda_tile.shli": _shift_left,
    "cuda_tile.shri": _shift_right,
    "cuda_tile.sin": _same(math.SinOp),
    "cuda_tile.sinh": _same(math.SinhOp),
    "cuda_tile.sqrt": _float(math.SqrtOp),
    "cuda_tile.subf": _float(arith.SubfOp),
    "cuda_tile.subi": _wrapping(arith.SubiOp),
    "cuda_tile.tan": _same(math.TanOp),
    "cuda_tile.tanh": _float(math.TanhOp),
    "cuda_tile.xori": _same(arith.XOrIOp),
}
"""The rule of each operation, by name."""

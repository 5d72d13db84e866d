"""Numbers: `arith` and `math` on vectors, and what Triton has beside.

Source: Triton 3.9, `TritonOps.td`; MLIR, "arith Dialect", "math Dialect".
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    UnitAttr,
    VectorType,
    f32,
    i32,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith.casts import TruncFOp
from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.construction import made
from xtile.dialects.core.pointers import PointerCastOp
from xtile.dialects.core.pointers import PointerType as CorePointerType
from xtile.dialects.number_attributes import (
    LARGEST_SATURATED,
    NUMBER_ATTRIBUTES,
    SATURATE_ATTRIBUTE,
)
from xtile.dialects.shapes import with_element
from xtile.dialects.triton.operation import as_tensor
from xtile.dialects.triton.tt.enumerations import PropagateNan, RoundingMode, member
from xtile.dialects.triton.tt.ops import ClampFOp, FpToFpOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.triton_to_core.raising import Raising

_TOWARD_ZERO = IntegerAttr(3, i32)
"""The number of the rounding mode of `arith`."""


def copied(operation: Operation, raising: Raising) -> None:
    """The same operation on vectors; what is promised of its result becomes an assumption."""
    kind = type(operation)
    attributes = {
        name: value for name, value in operation.attributes.items() if name in NUMBER_ATTRIBUTES
    }
    properties = {name: _of_vectors(each) for name, each in operation.properties.items()}
    operands, types = raising.values(operation.operands), raising.types(operation.results)
    new = raising.emit(made(kind, operands, types, properties, attributes))
    for was, becomes in zip(operation.results, new.results, strict=True):
        raising.define(was, raising.promised(becomes, operation.attributes))


def _of_vectors(attribute: Attribute) -> Attribute:
    """A property whose tensors are vectors."""
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        return attribute
    dense = cast("Any", attribute)
    tensor = as_tensor(dense.type)
    if tensor is None:
        return dense
    vector = VectorType(tensor.element_type, tensor.get_shape())
    return cast("Any", DenseIntOrFPElementsAttr)(vector, dense.data)


def _select(operation: Operation, raising: Raising) -> None:
    condition, *values = raising.values(operation.operands)
    condition = raising.spread(condition, shape_of(values[0].type))
    made = raising.compute(SelectOp, [condition, *values], values[0].type)
    raising.define(operation.results[0], made)


def _as(kind: type[IRDLOperation]) -> Rule:
    """The rule of an operation that another one with the same operands is."""

    def rule(operation: Operation, raising: Raising) -> None:
        type_ = raising.type(operation.results[0].type)
        made = raising.compute(kind, raising.values(operation.operands), type_)
        raising.define(operation.results[0], made)

    return rule


def _division(operation: Operation, raising: Raising) -> None:
    """A division in which divisors of elements that nobody uses may be 0, and count as 1."""
    dividend, divisor = raising.values(operation.operands)
    if shape_of(divisor.type) and not _is_of_one_number(divisor):
        zero, one = (raising.constant(number, divisor.type) for number in (0, 1))
        is_zero = raising.compare("eq", divisor, zero)
        divisor = raising.compute(SelectOp, [is_zero, one, divisor], divisor.type)
    made = raising.compute(
        cast("type[IRDLOperation]", type(operation)), [dividend, divisor], dividend.type
    )
    raising.define(operation.results[0], raising.promised(made, operation.attributes))


def _is_of_one_number(vector: SSAValue) -> bool:
    """Whether the elements of a vector are certainly one number."""
    owner = vector.owner
    if isinstance(owner, arith.ConstantOp):
        return isinstance(owner.value, DenseIntOrFPElementsAttr) and owner.value.is_splat()
    while isinstance(owner, BroadcastOp) and isinstance(owner.source.type, VectorType):
        owner = owner.source.owner
    return isinstance(owner, BroadcastOp)


def _quotient(operation: Operation, raising: Raising) -> None:
    """A quotient that may be 2 units off in f32, as Triton computes it."""
    type_ = raising.type(operation.results[0].type)
    flags = FastMathFlagsAttr([FastMathFlag.APPROX_FUNC] if value_type(type_) == f32 else "none")
    dividend, divisor = raising.values(operation.operands)
    made = arith.DivfOp(dividend, divisor, flags, type_)
    raising.define(operation.results[0], raising.emit(made).result)


def converted(
    raising: Raising, value: SSAValue, element: Attribute, *, toward_zero: bool = False
) -> SSAValue:
    """Floats as floats of another type; those that are neither wider nor narrower through f32.

    Numbers that are too large for 8 bits become the largest one.
    """
    given = value_type(value.type)
    if given == element:
        return value
    type_, width = with_element(value.type, element), cast("Any", element).bitwidth
    if width > cast("Any", given).bitwidth:
        return raising.compute(arith.ExtFOp, [value], type_)
    if width == cast("Any", given).bitwidth:
        value = raising.compute(arith.ExtFOp, [value], with_element(value.type, f32))
    largest = LARGEST_SATURATED.get(type(element))
    if toward_zero:
        if largest is not None:
            value = _clamped(raising, value, largest)
        return raising.compute(TruncFOp, [value], type_, {"roundingmode": _TOWARD_ZERO})
    attributes = {} if largest is None else {SATURATE_ATTRIBUTE: UnitAttr()}
    return raising.compute(TruncFOp, [value], type_, attributes=attributes)


def _clamped(raising: Raising, value: SSAValue, largest: float) -> SSAValue:
    """Numbers that are no larger than one of their type; NaN stays."""
    below = raising.compute(
        arith.MinimumfOp, [value, raising.constant(largest, value.type)], value.type
    )
    return raising.compute(
        arith.MaximumfOp, [below, raising.constant(-largest, value.type)], value.type
    )


def _fp_to_fp(operation: FpToFpOp, raising: Raising) -> None:
    mode = member(RoundingMode, operation.rounding, RoundingMode.RTNE)
    element = value_type(raising.type(operation.result.type))
    value = raising.value(operation.src)
    made = converted(raising, value, element, toward_zero=mode is RoundingMode.RTZ)
    raising.define(operation.result, made)


def _bitcast(operation: Operation, raising: Raising) -> None:
    (value,), (result,) = raising.values(operation.operands), operation.results
    type_ = raising.type(result.type)
    is_pointer = isinstance(value_type(type_), CorePointerType)
    kind: type[IRDLOperation] = PointerCastOp if is_pointer else arith.BitcastOp
    raising.define(result, value if value.type == type_ else raising.compute(kind, [value], type_))


def _clamp(operation: ClampFOp, raising: Raising) -> None:
    """With `none`, NaN of x is a bound; with `all`, it is the result."""
    value, lowest, highest = raising.values((operation.x, operation.min, operation.max))
    every = member(PropagateNan, operation.propagateNan, PropagateNan.NONE) is PropagateNan.ALL
    larger, smaller = (
        (arith.MaximumfOp, arith.MinimumfOp) if every else (arith.MaxnumfOp, arith.MinnumfOp)
    )
    raised = raising.compute(larger, [value, lowest], value.type)
    raising.define(operation.result, raising.compute(smaller, [raised, highest], value.type))


def _high_product(operation: Operation, raising: Raising) -> None:
    lhs, rhs = raising.values(operation.operands)
    both = [lhs.type, lhs.type]
    made = raising.emit(arith.MulUIExtendedOp.create(operands=[lhs, rhs], result_types=both))
    raising.define(operation.results[0], made.results[1])


def _forget(operation: Operation, raising: Raising) -> None:
    """What is promised of conditions is not made use of."""


RULES: dict[str, Rule] = {
    "arith.divf": _quotient,
    "arith.divsi": _division,
    "arith.divui": _division,
    "arith.remsi": _division,
    "arith.remui": _division,
    "arith.select": _select,
    "llvm.intr.assume": _forget,
    "tt.approx_divf": _quotient,
    "tt.bitcast": _bitcast,
    "tt.clampf": _clamp,
    "tt.fp_to_fp": _fp_to_fp,
    "tt.mulhiui": _high_product,
    "tt.precise_divf": _as(arith.DivfOp),
    "tt.precise_sqrt": _as(math.SqrtOp),
}
"""The rule of each operation, by name; other operations of `arith`, `math` and `ub` are copied."""

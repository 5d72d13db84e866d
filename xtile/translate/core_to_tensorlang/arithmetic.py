"""Arithmetic of `arith` on numbers: what the tensor language has, and compositions of the rest.

The tensor language's integers have a sign. What upstream computes without one is composed: the
unsigned order is the signed one with the highest bit flipped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.arith.assembly import ROUNDING_MODES
from xtile.dialects.tensorlang.ops import arithmetic as ops
from xtile.dialects.tensorlang.types import BF16, BOOL, F16, F32, I64, INDEX, SIZE_IN_BYTES
from xtile.rewrite.ranges import range_of
from xtile.translate.core_to_tensorlang.lowering import Lowering, Values
from xtile.translate.core_to_tensorlang.types import element_of, scalar_type

Compute: TypeAlias = Callable[[Lowering, Operation, Values], Values]
"""What an operation of the core form gives for one element of each operand."""


def width_of(type_: Attribute) -> int:
    """The bits of a number."""
    return 1 if type_ == BOOL else 8 * SIZE_IN_BYTES[type_]


def is_wide(type_: Attribute) -> bool:
    """Whether no integer type is wider."""
    return type_ in (I64, INDEX)


DIRECT: Mapping[str, type[ops.BinaryArithmeticOperation]] = {
    "arith.addf": ops.AddOp,
    "arith.addi": ops.AddOp,
    "arith.andi": ops.AndOp,
    "arith.divf": ops.DivOp,
    "arith.divsi": ops.DivOp,
    "arith.maxnumf": ops.MaxOp,
    "arith.maxsi": ops.MaxOp,
    "arith.minnumf": ops.MinOp,
    "arith.minsi": ops.MinOp,
    "arith.mulf": ops.MulOp,
    "arith.muli": ops.MulOp,
    "arith.ori": ops.OrOp,
    "arith.remf": ops.RemOp,
    "arith.remsi": ops.RemOp,
    "arith.shli": ops.ShlOp,
    "arith.shrsi": ops.ShrOp,
    "arith.subf": ops.SubOp,
    "arith.subi": ops.SubOp,
    "arith.xori": ops.XorOp,
    "complex.add": ops.AddOp,
    "complex.div": ops.DivOp,
    "complex.mul": ops.MulOp,
    "complex.sub": ops.SubOp,
}
"""The instruction of each operation on two numbers that has one."""

_ON_TRUTH: Mapping[type[ops.BinaryArithmeticOperation], str] = {
    ops.AddOp: "xor",
    ops.SubOp: "xor",
    ops.MulOp: "and",
    # The number 1 of one bit is -1 with a sign.
    ops.MaxOp: "and",
    ops.MinOp: "or",
}
"""What arithmetic on integers of one bit is."""


def _direct(r: Lowering, operation: Operation, values: Values) -> Values:
    kind = DIRECT[operation.name]
    if values[0].type == BOOL and kind in _ON_TRUTH:
        kind = {"xor": ops.XorOp, "and": ops.AndOp, "or": ops.OrOp}[_ON_TRUTH[kind]]
    return [r.pure(kind, *values)]


# --- truth values ---


def negated(r: Lowering, value: SSAValue) -> SSAValue:
    """The opposite of a truth value."""
    return r.pure(ops.NotOp, value)


def as_number(
    r: Lowering, value: SSAValue, type_: Attribute, number: float | complex = 1
) -> SSAValue:
    """A number where a truth value is true, and 0 where it is not."""
    return r.select(value, r.constant(number, type_), r.constant(0, type_))


def is_not_zero(r: Lowering, value: SSAValue) -> SSAValue:
    """Whether a number is not 0."""
    return r.pure(ops.NotEqualOp, value, r.constant(0, value.type))


# --- comparisons ---

_SIGNED: Mapping[str, type[ops.ComparisonOperation]] = {
    "eq": ops.EqualOp,
    "ne": ops.NotEqualOp,
    "slt": ops.LessThanOp,
    "sle": ops.LessThanEqualOp,
    "sgt": ops.GreaterThanOp,
    "sge": ops.GreaterThanEqualOp,
}


def compare(r: Lowering, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """A comparison of integers, such as `ult`."""
    if a.type == BOOL:
        return _compare_truth(r, predicate, a, b)
    if predicate not in _SIGNED:
        a, b = flipped(r, a), flipped(r, b)
        predicate = f"s{predicate[1:]}"
    return r.pure(_SIGNED[predicate], a, b)


def flipped(r: Lowering, value: SSAValue) -> SSAValue:
    """An integer with its highest bit flipped, by which the unsigned order is the signed one."""
    highest = r.constant(-(1 << (width_of(value.type) - 1)), value.type)
    return r.pure(ops.XorOp, value, highest)


def _compare_truth(r: Lowering, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """Comparisons of integers of one bit, of which 1 is -1 with a sign."""
    if predicate in ("eq", "ne"):
        differs = r.pure(ops.XorOp, a, b)
        return differs if predicate == "ne" else negated(r, differs)
    if predicate in ("sgt", "sge", "ult", "ule"):
        a, b = b, a
    # Now it says whether a is true and b is not, or for the others that not the reverse.
    if predicate in ("slt", "sgt", "ult", "ugt"):
        return r.pure(ops.AndOp, a, negated(r, b))
    return r.pure(ops.OrOp, a, negated(r, b))


def _predicate(operation: Operation, names: list[str]) -> str:
    attribute = cast("IntegerAttr[Any]", operation.properties["predicate"])
    return names[attribute.value.data]


def _cmpi(r: Lowering, operation: Operation, values: Values) -> Values:
    predicate = _predicate(operation, [*CMPI_COMPARISON_OPERATIONS])
    a, b = values
    if predicate.startswith("u") and _are_not_negative(operation):
        predicate = f"s{predicate[1:]}"
    return [compare(r, predicate, a, b)]


def _are_not_negative(operation: Operation) -> bool:
    """Whether the operands of an operation are numbers that are certainly not negative."""
    try:
        return all(range_of(operand)[0] >= 0 for operand in operation.operands[-2:])
    except AttributeError:
        return False


_ORDERED: Mapping[str, type[ops.ComparisonOperation]] = {
    "oeq": ops.EqualOp,
    "ogt": ops.GreaterThanOp,
    "oge": ops.GreaterThanEqualOp,
    "olt": ops.LessThanOp,
    "ole": ops.LessThanEqualOp,
    "une": ops.NotEqualOp,
}

_OPPOSITES = {"ult": "oge", "ule": "ogt", "ugt": "ole", "uge": "olt"}


def is_nan(r: Lowering, value: SSAValue) -> SSAValue:
    """Whether a float is no number."""
    return r.pure(ops.NotEqualOp, value, value)


def _cmpf(r: Lowering, operation: Operation, values: Values) -> Values:
    a, b = values
    return [compare_floats(r, _predicate(operation, [*CMPF_COMPARISON_OPERATIONS]), a, b)]


def compare_floats(r: Lowering, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """A comparison of floats, such as `olt`."""
    if predicate in ("false", "true"):
        return r.constant(predicate == "true", BOOL)
    if predicate in _ORDERED:
        return r.pure(_ORDERED[predicate], a, b)
    if predicate in _OPPOSITES:
        return negated(r, r.pure(_ORDERED[_OPPOSITES[predicate]], a, b))
    has_nan = is_nan(r, a) if a is b else r.pure(ops.OrOp, is_nan(r, a), is_nan(r, b))
    if predicate == "uno":
        return has_nan
    if predicate == "ord":
        return negated(r, has_nan)
    if predicate == "ueq":
        return r.pure(ops.OrOp, has_nan, r.pure(ops.EqualOp, a, b))
    # one
    return r.pure(ops.AndOp, negated(r, has_nan), r.pure(ops.NotEqualOp, a, b))


def _select(r: Lowering, operation: Operation, values: Values) -> Values:
    return [r.select(*values)]


# --- what composes ---


def _shrui(r: Lowering, operation: Operation, values: Values) -> Values:
    return [shift_right(r, *values)]


def shift_right(r: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    """An integer shifted to the right, with zeros from the left."""
    width = width_of(a.type)
    amount = r.pure(ops.AndOp, b, r.constant(width - 1, b.type))
    # As many ones from the left as there are zeros to come.
    ones = r.pure(ops.ShrOp, r.constant(-(1 << (width - 1)), a.type), amount)
    mask = r.pure(ops.NotOp, r.pure(ops.ShlOp, ones, r.constant(1, a.type)))
    return r.pure(ops.AndOp, r.pure(ops.ShrOp, a, amount), mask)


def extend_unsigned(r: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """An integer without a sign in a wider type."""
    if value.type == BOOL:
        return as_number(r, value, type_)
    mask = r.constant((1 << width_of(value.type)) - 1, type_)
    return r.pure(ops.AndOp, r.cast(value, type_), mask)


def _extui(r: Lowering, operation: Operation, values: Values) -> Values:
    return [extend_unsigned(r, values[0], _result(operation))]


def _extsi(r: Lowering, operation: Operation, values: Values) -> Values:
    (value,), type_ = values, _result(operation)
    return [as_number(r, value, type_, -1) if value.type == BOOL else r.cast(value, type_)]


def _result(operation: Operation) -> Attribute:
    return scalar_type(element_of(operation.results[0].type))


def _trunci(r: Lowering, operation: Operation, values: Values) -> Values:
    (value,), type_ = values, _result(operation)
    if type_ == BOOL:
        return [is_not_zero(r, r.pure(ops.AndOp, value, r.constant(1, value.type)))]
    return [r.cast(value, type_)]


def _index_cast(r: Lowering, operation: Operation, values: Values) -> Values:
    if BOOL in (values[0].type, _result(operation)):
        return (_trunci if _result(operation) == BOOL else _extsi)(r, operation, values)
    return [r.cast(values[0], _result(operation))]


def _index_castui(r: Lowering, operation: Operation, values: Values) -> Values:
    (value,), type_ = values, _result(operation)
    if width_of(type_) <= width_of(value.type):
        return _trunci(r, operation, values)
    return [extend_unsigned(r, value, type_)]


def _division(kind: type[ops.BinaryArithmeticOperation]) -> Compute:
    """The quotient or the remainder of integers without a sign.

    An `index` counts what memory and launches have, which is less than 2^63.
    """

    def compute(r: Lowering, operation: Operation, values: Values) -> Values:
        a, b = values
        if a.type == INDEX or _are_not_negative(operation):
            return [r.pure(kind, a, b)]
        if not is_wide(a.type):
            wide = [extend_unsigned(r, each, I64) for each in values]
            return [_narrowed(r, r.pure(kind, *wide), a.type)]
        quotient = _unsigned_quotient(r, a, b)
        if kind is ops.DivOp:
            return [quotient]
        return [r.pure(ops.SubOp, a, r.pure(ops.MulOp, quotient, b))]

    return compute


def _narrowed(r: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    if type_ == BOOL:
        return is_not_zero(r, value)
    return r.cast(value, type_)


def _unsigned_quotient(r: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    """Half of a is a number with a sign, and its quotient is at most 1 too small."""
    one, zero = r.constant(1, a.type), r.constant(0, a.type)

    def small() -> SSAValue:
        half = r.number(ops.DivOp(shift_right(r, a, one), b))
        near = r.number(ops.ShlOp(half, one))
        rest = r.number(ops.SubOp(a, r.number(ops.MulOp(near, b))))
        is_more = compare(r, "uge", rest, b)
        return r.number(ops.AddOp(near, as_number(r, is_more, a.type)))

    is_large = r.pure(ops.LessThanOp, b, zero)
    return r.choose(is_large, lambda: as_number(r, compare(r, "uge", a, b), a.type), small)


def _ceildivui(r: Lowering, operation: Operation, values: Values) -> Values:
    """Rounded up; it is 0 of 0, and else one more than the quotient of one less."""
    a = values[0]
    (quotient,) = _division(ops.DivOp)(r, operation, values)
    (rest,) = _division(ops.RemOp)(r, operation, values)
    return [r.pure(ops.AddOp, quotient, as_number(r, is_not_zero(r, rest), a.type))]


def _rounded_quotient(*, up: bool) -> Compute:
    """The quotient of signed integers, rounded up or down instead of towards 0."""

    def compute(r: Lowering, operation: Operation, values: Values) -> Values:
        a, b = values
        quotient, rest = r.pure(ops.DivOp, a, b), r.pure(ops.RemOp, a, b)
        zero = r.constant(0, a.type)
        differ = r.pure(ops.LessThanOp, r.pure(ops.XorOp, a, b), zero)
        changes = r.pure(ops.AndOp, is_not_zero(r, rest), negated(r, differ) if up else differ)
        step = as_number(r, changes, a.type, 1 if up else -1)
        return [r.pure(ops.AddOp, quotient, step)]

    return compute


def _unsigned_extreme(predicate: str) -> Compute:
    def compute(r: Lowering, operation: Operation, values: Values) -> Values:
        a, b = values
        return [r.select(compare(r, predicate, a, b), a, b)]

    return compute


def _addui_extended(r: Lowering, operation: Operation, values: Values) -> Values:
    total = r.pure(ops.AddOp, *values)
    return [total, compare(r, "ult", total, values[0])]


def _extended_product(*, signed: bool) -> Compute:
    """The lower and the upper half of a product."""

    def compute(r: Lowering, operation: Operation, values: Values) -> Values:
        a, b = values
        if is_wide(a.type):
            upper = _upper_half(r, a, b, signed=signed)
        else:
            wide = [r.cast(v, I64) if signed else extend_unsigned(r, v, I64) for v in values]
            product = r.pure(ops.MulOp, *wide)
            distance = r.constant(width_of(a.type), I64)
            upper = r.cast(r.pure(ops.ShrOp, product, distance), a.type)
        return [r.pure(ops.MulOp, a, b), upper]

    return compute


def _upper_half(r: Lowering, a: SSAValue, b: SSAValue, *, signed: bool) -> SSAValue:
    """The upper 64 bits of a product, from products of the halves of the factors."""
    type_ = a.type
    mask, distance = r.constant(0xFFFFFFFF, type_), r.constant(32, type_)

    def low(value: SSAValue) -> SSAValue:
        return r.pure(ops.AndOp, value, mask)

    def high(value: SSAValue) -> SSAValue:
        return shift_right(r, value, distance)

    def product(x: SSAValue, y: SSAValue) -> SSAValue:
        return r.pure(ops.MulOp, x, y)

    def total(*numbers: SSAValue) -> SSAValue:
        result = numbers[0]
        for each in numbers[1:]:
            result = r.pure(ops.AddOp, result, each)
        return result

    a0, a1, b0, b1 = low(a), high(a), low(b), high(b)
    first, second = product(a0, b1), product(a1, b0)
    middle = total(high(product(a0, b0)), low(first), low(second))
    upper = total(product(a1, b1), high(first), high(second), high(middle))
    if not signed:
        return upper
    zero = r.constant(0, type_)
    for x, y in ((a, b), (b, a)):
        is_negative = r.pure(ops.LessThanOp, x, zero)
        upper = r.pure(ops.SubOp, upper, r.select(is_negative, y, zero))
    return upper


def _negf(r: Lowering, operation: Operation, values: Values) -> Values:
    return [r.pure(ops.NegOp, values[0])]


def _extreme(kind: type[ops.BinaryArithmeticOperation]) -> Compute:
    """The maximum or minimum that is NaN if an operand is, and tells +0 from -0."""

    def compute(r: Lowering, operation: Operation, values: Values) -> Values:
        a, b = values
        is_largest = kind is ops.MaxOp
        equal = r.pure(ops.EqualOp, a, b)
        # 0 + -0 is 0, and -0 - 0 is -0; other equal numbers are not added up.
        zero = r.constant(0, a.type)
        if is_largest:
            zeros = r.pure(ops.AddOp, a, b)
        else:
            zeros = r.pure(ops.NegOp, r.pure(ops.SubOp, r.pure(ops.NegOp, a), b))
        of_equal = r.select(r.pure(ops.EqualOp, a, zero), zeros, a)
        nan = r.pure(ops.OrOp, is_nan(r, a), is_nan(r, b))
        ordered = r.select(equal, of_equal, r.pure(kind, a, b))
        return [r.select(nan, r.pure(ops.AddOp, a, b), ordered)]

    return compute


# --- conversions ---


def _between_floats(r: Lowering, operation: Operation, values: Values) -> Values:
    return [r.cast(values[0], _result(operation))]


def _truncf(r: Lowering, operation: Operation, values: Values) -> Values:
    """Rounded to nearest, and then one number further where another rounding is asked for."""
    (value,), type_ = values, _result(operation)
    mode = operation.properties.get("roundingmode")
    nearest = r.cast(value, type_)
    number = 0 if mode is None else cast("IntegerAttr[Any]", mode).value.data
    name = ROUNDING_MODES[number]
    if name == "to_nearest_even":
        return [nearest]
    if name not in ("toward_zero", "upward", "downward"):
        raise r.error(f"the tensor language does not round {name}")
    return [_rounded(r, value, nearest, name)]


def _rounded(r: Lowering, value: SSAValue, nearest: SSAValue, name: str) -> SSAValue:
    type_, wide = nearest.type, value.type
    digits, least, largest = _FORMATS[type_]
    found, zero = r.cast(nearest, wide), r.constant(0, wide)
    is_above, is_below = (
        compare_floats(r, "ogt", found, value),
        compare_floats(r, "olt", found, value),
    )
    is_positive = compare_floats(r, "ogt", value, zero)
    if name == "toward_zero":
        down = r.pure(ops.AndOp, is_above, is_positive)
        up = r.pure(ops.AndOp, is_below, negated(r, is_positive))
    else:
        never = r.constant(False, BOOL)
        down, up = (is_above, never) if name == "downward" else (never, is_below)
    # More than half a step and less than one and a half away, the next number is nearest.
    size = r.pure(ops.AbsOp, found)
    step = r.pure(
        ops.MaxOp,
        r.pure(ops.MulOp, size, r.constant(1.25 * 2.0**-digits, wide)),
        r.constant(0.75 * least, wide),
    )
    signed = r.select(down, r.pure(ops.NegOp, step), step)
    moved = r.cast(r.pure(ops.AddOp, found, signed), type_)
    finite = r.constant(largest, type_)
    finite = r.select(is_positive, finite, r.pure(ops.NegOp, finite))
    is_finite = compare_floats(r, "olt", size, r.constant(math.inf, wide))
    next_ = r.select(is_finite, moved, finite)
    return r.select(r.pure(ops.OrOp, down, up), next_, nearest)


_FORMATS: Mapping[Attribute, tuple[int, float, float]] = {
    BF16: (8, 2.0**-133, (2.0 - 2.0**-7) * 2.0**127),
    F16: (11, 2.0**-24, 65504.0),
    F32: (24, 2.0**-149, (2.0 - 2.0**-23) * 2.0**127),
}
"""The digits of a type, its least number above 0, and its largest one."""


def _sitofp(r: Lowering, operation: Operation, values: Values) -> Values:
    (value,), type_ = values, _result(operation)
    return [as_number(r, value, type_, -1) if value.type == BOOL else r.cast(value, type_)]


def _uitofp(r: Lowering, operation: Operation, values: Values) -> Values:
    (value,), type_ = values, _result(operation)
    if value.type == BOOL:
        return [as_number(r, value, type_)]
    if not is_wide(value.type):
        return [r.cast(extend_unsigned(r, value, I64), type_)]
    one = r.constant(1, value.type)

    def large() -> SSAValue:
        # Half of it, with a bit that says whether more follows, rounds as the whole.
        rest = r.pure(ops.AndOp, value, one)
        half = r.cast(r.pure(ops.OrOp, shift_right(r, value, one), rest), type_)
        return r.number(ops.MulOp(half, r.constant(2, type_)))

    is_large = r.pure(ops.LessThanOp, value, r.constant(0, value.type))
    return [r.choose(is_large, large, lambda: r.cast(value, type_))]


def _fptosi(r: Lowering, operation: Operation, values: Values) -> Values:
    (value,), type_ = values, _result(operation)
    if type_ == BOOL:
        # The number 1 of one bit is -1.
        return [r.pure(ops.LessThanEqualOp, value, r.constant(-1, value.type))]
    return [r.cast(value, type_)]


def _fptoui(r: Lowering, operation: Operation, values: Values) -> Values:
    """What is out of range becomes the nearest number, as elsewhere."""
    (value,), type_ = values, _result(operation)
    if type_ == BOOL:
        return [r.pure(ops.GreaterThanEqualOp, value, r.constant(1, value.type))]
    if not is_wide(type_):
        most = r.constant((1 << width_of(type_)) - 1, I64)
        whole = r.pure(ops.MaxOp, r.cast(value, I64), r.constant(0, I64))
        return [r.cast(r.pure(ops.MinOp, whole, most), type_)]
    if width_of(value.type) < width_of(F32):
        value = r.cast(value, F32)
    bound = r.constant(2.0**63, value.type)

    def large() -> SSAValue:
        rest = r.cast(r.number(ops.SubOp(value, bound)), type_)
        return flipped(r, rest)

    def small() -> SSAValue:
        return r.number(ops.MaxOp(r.cast(value, type_), r.constant(0, type_)))

    is_large = r.pure(ops.GreaterThanEqualOp, value, bound)
    return [r.choose(is_large, large, small)]


_QUOTIENTS = (
    "arith.divsi",
    "arith.divui",
    "arith.floordivsi",
    "arith.ceildivsi",
    "arith.ceildivui",
)
_REMAINDERS = ("arith.remsi", "arith.remui")


def _of_truth(compute: Compute) -> Compute:
    """A division, which of truth values is one by the only number that is not 0."""

    def divide(r: Lowering, operation: Operation, values: Values) -> Values:
        if values[0].type != BOOL:
            return compute(r, operation, values)
        return [values[0] if operation.name in _QUOTIENTS else r.constant(False, BOOL)]

    return divide


_COMPUTE: Mapping[str, Compute] = {
    **dict.fromkeys((name for name in DIRECT if name.startswith("arith.")), _direct),
    "arith.addui_extended": _addui_extended,
    "arith.ceildivsi": _rounded_quotient(up=True),
    "arith.ceildivui": _ceildivui,
    "arith.cmpf": _cmpf,
    "arith.cmpi": _cmpi,
    "arith.divui": _division(ops.DivOp),
    "arith.extf": _between_floats,
    "arith.extsi": _extsi,
    "arith.extui": _extui,
    "arith.floordivsi": _rounded_quotient(up=False),
    "arith.fptosi": _fptosi,
    "arith.fptoui": _fptoui,
    "arith.index_cast": _index_cast,
    "arith.index_castui": _index_castui,
    "arith.maximumf": _extreme(ops.MaxOp),
    "arith.maxui": _unsigned_extreme("ugt"),
    "arith.minimumf": _extreme(ops.MinOp),
    "arith.minui": _unsigned_extreme("ult"),
    "arith.mulsi_extended": _extended_product(signed=True),
    "arith.mului_extended": _extended_product(signed=False),
    "arith.negf": _negf,
    "arith.remui": _division(ops.RemOp),
    "arith.select": _select,
    "arith.shrui": _shrui,
    "arith.sitofp": _sitofp,
    "arith.trunci": _trunci,
    "arith.truncf": _truncf,
    "arith.uitofp": _uitofp,
}

COMPUTE: Mapping[str, Compute] = {
    **_COMPUTE,
    **{name: _of_truth(_COMPUTE[name]) for name in (*_QUOTIENTS, *_REMAINDERS)},
}
"""What each operation gives, for one element of its operands."""

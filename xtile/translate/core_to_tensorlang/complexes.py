"""Complex numbers, which the tensor language has, too."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.tensorlang.ops import arithmetic as ops
from xtile.dialects.tensorlang.types import COMPLEX_TYPES, real_part_type
from xtile.rewrite.folding import constant_number
from xtile.translate.core_to_tensorlang.arithmetic import DIRECT, Compute
from xtile.translate.core_to_tensorlang.lowering import Lowering, Values
from xtile.translate.core_to_tensorlang.mathematics import COMPUTE as _FUNCTIONS

_COMPLEX_OF: Mapping[Attribute, Attribute] = {real_part_type(type): type for type in COMPLEX_TYPES}

_UNARY: Mapping[str, type[ops.UnaryArithmeticOperation]] = {
    "complex.abs": ops.AbsOp,
    "complex.conj": ops.ConjOp,
    "complex.im": ops.ImOp,
    "complex.neg": ops.NegOp,
    "complex.re": ops.ReOp,
}


def _unary(r: Lowering, operation: Operation, values: Values) -> Values:
    return [r.pure(_UNARY[operation.name], *values)]


def _binary(r: Lowering, operation: Operation, values: Values) -> Values:
    return [r.pure(DIRECT[operation.name], *values)]


def _comparison(r: Lowering, operation: Operation, values: Values) -> Values:
    kind = ops.EqualOp if operation.name == "complex.eq" else ops.NotEqualOp
    return [r.pure(kind, *values)]


def _create(r: Lowering, operation: Operation, values: Values) -> Values:
    """The real part plus i times the imaginary one, which no product makes of an infinite one."""
    real, imaginary = values
    type_ = _COMPLEX_OF[real.type]
    converted = _converted(r, operation, type_)
    if converted is not None:
        return [converted]
    if constant_number(operation.operands[1]) == 0:
        return [r.cast(real, type_)]
    zero, infinity = r.constant(0.0, real.type), r.constant(math.inf, real.type)
    i = r.constant(1j, type_)

    def usual() -> SSAValue:
        return r.number(ops.MulOp(r.cast(imaginary, type_), i))

    def special() -> SSAValue:
        signed = [r.constant(complex(0.0, sign * math.inf), type_) for sign in (1.0, -1.0)]
        either = r.select(r.pure(ops.GreaterThanOp, imaginary, zero), *signed)
        is_nan = r.pure(ops.NotEqualOp, imaginary, imaginary)
        return r.select(is_nan, r.constant(complex(0.0, math.nan), type_), either)

    is_finite = r.pure(ops.LessThanOp, r.pure(ops.AbsOp, imaginary), infinity)
    turned = r.choose(is_finite, usual, special)
    return [r.pure(ops.AddOp, r.cast(real, type_), turned)]


def _converted(r: Lowering, operation: Operation, type_: Attribute) -> SSAValue | None:
    """A complex number in another precision, where the parts are those of one number."""
    sources = [_source_of_part(value) for value in operation.operands]
    names = [source[0] for source in sources if source is not None]
    if names != ["complex.re", "complex.im"]:
        return None
    first, second = (source[1] for source in sources if source is not None)
    return r.cast(r.value(first), type_) if first is second else None


def _source_of_part(value: SSAValue) -> tuple[str, SSAValue] | None:
    owner = value.owner
    while isinstance(owner, Operation) and owner.name in ("arith.extf", "arith.truncf"):
        owner = owner.operands[0].owner
    if not isinstance(owner, Operation) or owner.name not in ("complex.re", "complex.im"):
        return None
    return owner.name, owner.operands[0]


COMPUTE: Mapping[str, Compute] = {
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys((name for name in DIRECT if name.startswith("complex.")), _binary),
    "complex.create": _create,
    "complex.eq": _comparison,
    "complex.exp": _FUNCTIONS["complex.exp"],
    "complex.neq": _comparison,
}
"""What each operation gives."""

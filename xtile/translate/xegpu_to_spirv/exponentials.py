"""Powers of e and of 2 in f32 for CPUs, from products and sums.

Intel's CPU runtime calls a function for each vector of powers, which takes more than twice as long.
A power is 2^k p(r): k is the integer nearest to the exponent of 2, r what is left of the operand,
and p a polynomial with p(0) = 1. Its coefficients have the least relative error (by Remez's
algorithm), 2.6e-9, before they are rounded to f32. Results differ from the power by less than 1.25
units in the last place, as `tests/translate/xegpu_to_spirv/test_exponentials.py` measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f32, i1, i32
from xdsl.ir import Attribute, SSAValue

from xtile.translate.xegpu_to_spirv.elementwise import Compute, like
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import element_type, length_of, of_length

_TO_INTEGER = 12582912.0
"""1.5 * 2^23: a sum with it is rounded to an integer, which the sum's last bits hold."""

_FRACTION_BITS = 23
_EXPONENT_BIAS = 127


@dataclass(frozen=True)
class _Base:
    """A number whose powers are computed.

    Attributes:
        logarithm: Its logarithm to base 2.
        unit: The power of it that is 2, as numbers of f32 whose sum it is. The first has so few
            bits that its product with any k is exact.
        coefficients: Those of p, from the first power on.
        least: An operand whose power is 0 when it is rounded, and so is that of each smaller one.
        largest: An operand whose power is infinite, and so is that of each larger one.
    """

    logarithm: float
    unit: tuple[float, ...]
    coefficients: tuple[float, ...]
    least: float
    largest: float


_E = _Base(
    logarithm=1.4426950408889634,
    unit=(0.693145751953125, 1.42860682030941723e-6),
    coefficients=(
        1.0000000496714303,
        0.5000000434648217,
        0.16666365315456885,
        0.041664776508401676,
        0.008379020699065166,
        0.0014061276249551107,
    ),
    least=-104.0,
    largest=89.0,
)

_TWO = _Base(
    logarithm=1.0,
    unit=(1.0,),
    coefficients=(
        0.6931472149895572,
        0.24022652784190532,
        0.055503105091003944,
        0.00961769279275904,
        0.0013406659164133547,
        0.00015594717317738072,
    ),
    least=-150.0,
    largest=128.0,
)

EXPONENTIALS = {"exp": _E, "exp2": _TWO}
"""The functions that are computed here, and their bases."""


class _Powers:
    """Emits the powers of a base for a piece of a vector, or for a number."""

    def __init__(self, base: _Base, lowering: Lowering, type_: Attribute) -> None:
        self._base = base
        self._lowering = lowering
        self._type = type_
        self._bits = of_length(i32, length_of(type_))

    def _number(self, number: float) -> SSAValue:
        return self._lowering.constants.floating(number, self._type)

    def _compute(self, name: str, *operands: SSAValue) -> SSAValue:
        return self._lowering.compute(name, self._type, *operands)

    def _on_bits(self, name: str, *operands: SSAValue | int) -> SSAValue:
        values = [
            self._lowering.integer(n, self._bits) if isinstance(n, int) else n for n in operands
        ]
        return self._lowering.compute(name, self._bits, *values)

    def _clamped(self, x: SSAValue) -> SSAValue:
        """The operand within the range of powers; NaN stays."""
        for comparison, limit in (
            ("FOrdGreaterThan", self._base.largest),
            ("FOrdLessThan", self._base.least),
        ):
            bound = self._number(limit)
            is_outside = self._lowering.compute(comparison, like(x, i1), x, bound)
            x = self._lowering.select(is_outside, bound, x)
        return x

    def _parts(self, x: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Bits whose last ones are those of k, and r."""
        to_integer = self._number(_TO_INTEGER)
        shifted = self._compute("CL.fma", x, self._number(self._base.logarithm), to_integer)
        k = self._compute("FSub", shifted, to_integer)
        for part in self._base.unit:
            x = self._compute("CL.fma", k, self._number(-part), x)
        return self._lowering.compute("Bitcast", self._bits, shifted), x

    def _polynomial(self, r: SSAValue) -> SSAValue:
        *others, last = (1.0, *self._base.coefficients)
        value = self._number(last)
        for coefficient in reversed(others):
            value = self._compute("CL.fma", value, r, self._number(coefficient))
        return value

    def of(self, x: SSAValue) -> SSAValue:
        """The power, also where it is subnormal: 2^k is the product of two powers."""
        bits, r = self._parts(self._clamped(x))
        half = self._on_bits("ShiftRightLogical", bits, 1)
        rest = self._on_bits("ISub", bits, half)
        return self._times_power_of_two(self._times_power_of_two(self._polynomial(r), half), rest)

    def _times_power_of_two(self, value: SSAValue, bits: SSAValue) -> SSAValue:
        """The product with 2 to the power that the last bits hold."""
        shifted = self._on_bits("ShiftLeftLogical", bits, _FRACTION_BITS)
        scale = self._on_bits("IAdd", shifted, _EXPONENT_BIAS << _FRACTION_BITS)
        return self._compute("FMul", value, self._compute("Bitcast", scale))


def exponential(name: str, otherwise: Compute) -> Compute:
    """Computes `exp` or `exp2`: in f32 for a CPU here, and else by an instruction.

    Args:
        name: The function's name.
        otherwise: What computes it for other types and processors.
    """
    base = EXPONENTIALS[name]

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        if element_type(type_) != f32 or lowering.target.vector_unit is None:
            return otherwise(lowering, type_, operands)
        (x,) = operands
        return _Powers(base, lowering, type_).of(x)

    return compute

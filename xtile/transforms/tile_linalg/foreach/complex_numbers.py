"""Complex numbers at the points of a tile, by their parts."""

from __future__ import annotations

import math as numbers_of
from collections.abc import Callable, Mapping
from typing import Any, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IntegerAttr, VectorType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.arith.comparisons import CMPF_PREDICATES, CmpFOp, SelectOp
from xtile.rewrite.complex_arithmetic import Arithmetic, Complex
from xtile.text.mlir_attributes import splat_constant
from xtile.text.source import spelling_of
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.foreach.trip import Trip
from xtile.transforms.tile_linalg.tiles import Tile

_OPERATIONS: Mapping[str, Callable[..., Operation]] = {
    "CL.atan2": math.Atan2Op,
    "CL.copysign": math.CopySignOp,
    "CL.cos": math.CosOp,
    "CL.exp": math.ExpOp,
    "CL.expm1": math.ExpM1Op,
    "CL.fabs": math.AbsFOp,
    "CL.fmax": arith.MaxnumfOp,
    "CL.fmin": arith.MinnumfOp,
    "CL.log": math.LogOp,
    "CL.log1p": math.Log1pOp,
    "CL.sin": math.SinOp,
    "CL.sinh": math.SinhOp,
    "CL.cosh": math.CoshOp,
    "CL.sqrt": math.SqrtOp,
    "CL.tan": math.TanOp,
    "FAdd": arith.AddfOp,
    "FDiv": arith.DivfOp,
    "FMul": arith.MulfOp,
    "FNegate": arith.NegfOp,
    "FSub": arith.SubfOp,
}
"""Upstream's operation for the name that SPIR-V or OpenCL gives it."""

_COMPARISONS = {
    "FOrdEqual": "oeq",
    "FOrdGreaterThan": "ogt",
    "FOrdGreaterThanEqual": "oge",
    "FOrdLessThan": "olt",
    "FUnordNotEqual": "une",
}


class VectorArithmetic:
    """Emits arithmetic on the parts of complex numbers."""

    def __init__(self, trip: Trip) -> None:
        self._kernel = trip.kernel
        self._shape = trip.shape

    def compute(self, name: str, type_: Attribute, /, *operands: SSAValue) -> SSAValue:
        """The result of an instruction; `type_` is that of a part."""
        if name in _COMPARISONS:
            return self._compared(_COMPARISONS[name], *operands)
        if name == "CL.hypot":
            return self._length(type_, *operands)
        return self._kernel.emit(_OPERATIONS[name](*operands)).results[0]

    def floating(self, number: float, type_: Attribute, /) -> SSAValue:
        """A constant."""
        type_of_all = cast("Any", VectorType(type_, self._shape))
        attribute = splat_constant(type_of_all, number)

        def emit() -> SSAValue:
            return self._kernel.emit(arith.ConstantOp(attribute)).result

        return self._kernel.shared(attribute, (), emit)

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue, /) -> SSAValue:
        """`a` where the condition holds, `b` elsewhere."""
        return self._kernel.emit(SelectOp(condition, a, b)).result

    def _compared(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        operation = CmpFOp.build(
            operands=[a, b],
            result_types=[VectorType(i1, self._shape)],
            properties={
                "predicate": IntegerAttr(CMPF_PREDICATES.index(predicate), i64),
                "fastmath": arith.FastMathFlagsAttr("none"),
            },
        )
        return self._kernel.emit(operation).result

    def _length(self, type_: Attribute, a: SSAValue, b: SSAValue) -> SSAValue:
        """The length of (a, b) without overflow: l sqrt(1 + (s / l)^2), l being the longer part."""
        x, y = self.compute("CL.fabs", type_, a), self.compute("CL.fabs", type_, b)
        large, small = self.compute("CL.fmax", type_, x, y), self.compute("CL.fmin", type_, x, y)
        one = self.floating(1.0, type_)
        is_zero = self._compared("oeq", large, self.floating(0.0, type_))
        ratio = self.compute("FDiv", type_, small, self.select(is_zero, one, large))
        square = self.compute("FMul", type_, ratio, ratio)
        root = self.compute("CL.sqrt", type_, self.compute("FAdd", type_, one, square))
        length = self.compute("FMul", type_, large, root)
        infinite = self.floating(numbers_of.inf, type_)
        return self.select(self._compared("oeq", large, infinite), large, length)


_BINARY: Mapping[str, Callable[[Arithmetic, Complex, Complex], Complex]] = {
    "complex.add": Arithmetic.add,
    "complex.div": Arithmetic.divide,
    "complex.mul": Arithmetic.multiply,
    "complex.pow": Arithmetic.power,
}

_UNARY: Mapping[str, Callable[[Arithmetic, Complex], Complex]] = {
    "complex.exp": Arithmetic.exp,
    "complex.log": Arithmetic.log,
    "complex.sqrt": Arithmetic.sqrt,
    "complex.tanh": Arithmetic.tanh,
}


def of_complex(operation: Operation, trip: Trip) -> None:
    """Translates an operation on complex numbers."""
    (result,) = operation.results
    given = [tiles.complete(trip.kernel, trip.tile(operand)) for operand in operation.operands]
    parts = _parts(operation, trip, given)
    trip.define(result, Tile(tuple(parts), result.type, trip.shape))


def _parts(operation: Operation, trip: Trip, given: list[Tile]) -> list[SSAValue]:
    """The parts of the result."""
    name, lowering = operation.name, VectorArithmetic(trip)
    if name == "complex.create":
        return [part for tile in given for part in tile.parts]
    if name == "arith.select":
        condition, a, b = given
        pairs = zip(a.parts, b.parts, strict=True)
        return [lowering.select(condition.parts[0], x, y) for x, y in pairs]
    arithmetic = Arithmetic(lowering, tiles.part_of(given[0].element))
    numbers = [Complex(*tile.parts) for tile in given]
    if name in _BINARY:
        result = _BINARY[name](arithmetic, *numbers)
    elif name in _UNARY:
        result = _UNARY[name](arithmetic, *numbers)
    else:
        return _simple(operation, trip, arithmetic, numbers)
    return [result.real, result.imaginary]


def _simple(
    operation: Operation, trip: Trip, arithmetic: Arithmetic, numbers: list[Complex]
) -> list[SSAValue]:
    """What needs little: parts, signs, sizes and comparisons."""
    a, b = numbers[0], numbers[-1]
    real = arithmetic.real
    match operation.name:
        case "complex.re":
            return [a.real]
        case "complex.im":
            return [a.imaginary]
        case "complex.abs":
            return [arithmetic.size(a)]
        case "complex.conj":
            return [a.real, real("FNegate", a.imaginary)]
        case "complex.neg":
            return [real("FNegate", a.real), real("FNegate", a.imaginary)]
        case "complex.sub":
            return [real("FSub", a.real, b.real), real("FSub", a.imaginary, b.imaginary)]
        case "complex.eq" | "complex.neq":
            is_equal = operation.name == "complex.eq"
            kind = arith.AndIOp if is_equal else arith.OrIOp
            name = "FOrdEqual" if is_equal else "FUnordNotEqual"
            both = (
                arithmetic.holds(name, a.real, b.real),
                arithmetic.holds(name, a.imaginary, b.imaginary),
            )
            return [trip.kernel.emit(kind(*both)).result]
        case _:
            name = spelling_of(operation)
            raise trip.kernel.error(f"{name} in foreach is not lifted to tiles yet")

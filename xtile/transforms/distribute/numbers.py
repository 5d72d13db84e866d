"""Arithmetic on numbers of any type: integers, index, floats and complex numbers.

Products and sums are computed in the accumulation type of the output's element type; docs/
semantics.md, section "Linear algebra".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    ComplexType,
    FixedBitwidthType,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.arith.casts import ExtSIOp, IndexCastOp, SIToFPOp, TruncIOp
from xtile.rewrite.emitter import Emitter


def is_integer(type: Attribute) -> bool:
    """Whether this is an integer type or index, or a vector of such numbers."""
    return isinstance(_scalar(type), IntegerType | IndexType)


def is_complex(type: Attribute) -> bool:
    """Whether this is a type of complex numbers."""
    return isinstance(type, ComplexType)


def like(type: Attribute, element: Attribute) -> Attribute:
    """A type with another element type, whether it is a vector's or a number's."""
    if not isinstance(type, VectorType):
        return element
    vector = cast("VectorType[Attribute]", type)
    return vector if element == vector.element_type else VectorType(element, vector.get_shape())


def cast_number(kernel: Emitter, value: SSAValue, target: Attribute) -> SSAValue:
    """A number, or a vector of numbers, in another type.

    Raises:
        DiagnosticError: A complex number cannot become a real one, nor a float an integer.
    """
    source, wanted = _scalar(value.type), _scalar(target)
    if source == wanted:
        return value
    if isinstance(wanted, ComplexType):
        return _to_complex(kernel, value, cast("ComplexType[AnyFloat]", wanted))
    if isinstance(source, IndexType) and isinstance(wanted, AnyFloat):
        value = _convert(kernel, IndexCastOp, value, i64)
        source = i64
    conversion = _conversion(source, wanted)
    if conversion is None:
        raise kernel.error(f"a number of type {source} cannot become one of type {wanted}")
    return _convert(kernel, conversion, value, target)


def _conversion(source: Attribute, target: Attribute) -> Callable[..., Any] | None:
    """The operation that converts between two scalar types."""
    if is_integer(source) and isinstance(target, AnyFloat):
        return SIToFPOp
    if is_integer(source) and is_integer(target):
        if isinstance(source, IndexType) or isinstance(target, IndexType):
            return IndexCastOp
        return ExtSIOp if _width(source) < _width(target) else TruncIOp
    if isinstance(source, AnyFloat) and isinstance(target, AnyFloat):
        return arith.ExtFOp if _width(source) < _width(target) else arith.TruncFOp
    return None


def _convert(
    kernel: Emitter, kind: Callable[..., Any], value: SSAValue, target: Attribute
) -> SSAValue:
    return kernel.shared(
        (kind, value, target), (value,), lambda: kernel.emit(kind(value, target)).results[0]
    )


def _to_complex(kernel: Emitter, value: SSAValue, target: ComplexType[AnyFloat]) -> SSAValue:
    part = target.element_type
    if isinstance(value.type, ComplexType):
        real, imaginary = parts(kernel, value)
        return join(
            kernel,
            cast_number(kernel, real, part),
            cast_number(kernel, imaginary, part),
        )
    return join(kernel, cast_number(kernel, value, part), kernel.constant(0.0, part))


def parts(kernel: Emitter, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The real and the imaginary part of a complex number."""
    from xdsl.dialects.complex import CreateOp, ImOp, ReOp

    if isinstance(value.owner, CreateOp):
        return value.owner.real, value.owner.imaginary
    return kernel.pure(ReOp, value), kernel.pure(ImOp, value)


def join(kernel: Emitter, real: SSAValue, imaginary: SSAValue) -> SSAValue:
    """A complex number of two parts."""
    from xdsl.dialects.complex import CreateOp

    type = ComplexType(cast("AnyFloat", real.type))
    return kernel.shared(
        ("complex", real, imaginary),
        (real, imaginary),
        lambda: kernel.emit(CreateOp(real, imaginary, type)).complex,
    )


def zero(kernel: Emitter, type: Attribute) -> SSAValue:
    """The number 0."""
    if isinstance(type, ComplexType):
        nothing = kernel.constant(0.0, cast("ComplexType[AnyFloat]", type).element_type)
        return join(kernel, nothing, nothing)
    return kernel.constant(0, type)


def add(kernel: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """The sum of two numbers or vectors of one type."""
    if isinstance(_scalar(a.type), ComplexType):
        from xdsl.dialects.complex import AddOp

        return kernel.emit(AddOp(a, b)).results[0]
    return kernel.emit(_of_type(a.type, arith.AddiOp, arith.AddfOp)(a, b)).results[0]


def multiply(kernel: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """The product of two numbers or vectors of one type."""
    if isinstance(_scalar(a.type), ComplexType):
        from xdsl.dialects.complex import MulOp

        return kernel.emit(MulOp(a, b)).results[0]
    return kernel.emit(_of_type(a.type, arith.MuliOp, arith.MulfOp)(a, b)).results[0]


def is_not_zero(kernel: Emitter, value: SSAValue) -> SSAValue:
    """Whether a number is not 0; NaN is not."""
    if isinstance(value.type, ComplexType):
        real, imaginary = parts(kernel, value)
        return kernel.pure(arith.OrIOp, is_not_zero(kernel, real), is_not_zero(kernel, imaginary))
    nothing = zero(kernel, value.type)
    if is_integer(value.type):
        return kernel.compare("ne", value, nothing)
    return kernel.shared(
        ("cmpf", value),
        (value,),
        lambda: kernel.emit(arith.CmpfOp(value, nothing, "une")).result,
    )


def constant_of(value: SSAValue) -> float | None:
    """The number that a scalar value certainly is."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp):
        attribute = owner.value
        if isinstance(attribute, IntegerAttr):
            return attribute.value.data
        if isinstance(attribute, FloatAttr):
            return attribute.value.data
    if isinstance(owner, Operation) and owner.name == "complex.constant":
        value_of_parts = cast("ArrayAttr[FloatAttr[AnyFloat]]", owner.properties["value"])
        real, imaginary = (part.value.data for part in value_of_parts)
        return real if imaginary == 0 else None
    if isinstance(owner, Operation) and owner.name == "complex.create":
        return constant_of(owner.operands[0]) if constant_of(owner.operands[1]) == 0 else None
    return None


def _of_type(type: Attribute, integer: Any, real: Any) -> Callable[..., Any]:
    return integer if is_integer(_scalar(type)) else real


def _scalar(type: Attribute) -> Attribute:
    return (
        cast("VectorType[Attribute]", type).element_type if isinstance(type, VectorType) else type
    )


def _width(type: Attribute) -> int:
    return cast("FixedBitwidthType", type).bitwidth

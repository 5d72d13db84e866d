"""Conversions between number types, on scalars and element by element on vectors.

What each one must give stands in docs/semantics.md 1.9.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.tensorlang.types import (
    COMPLEX_TYPES,
    F32,
    FLOATING_TYPES,
    I64,
    SIZE_IN_BYTES,
    real_part_type,
)
from xtile.rewrite.rebuilder import Rebuilder
from xtile.translate.tensorlang_to_core.emit import constant, emit
from xtile.translate.tensorlang_to_core.types import element_of, is_index, with_element


def convert(r: Rebuilder, value: SSAValue, type: Attribute) -> SSAValue:
    """Converts a scalar or each element of a vector to the element type of `type`."""
    source, target = element_of(value.type), element_of(type)
    if source == target:
        return value
    if target in COMPLEX_TYPES:
        return _to_complex(r, value, target)
    if is_index(source) and not _is_integer(target):
        return convert(r, _step(r, "arith.index_cast", value, I64), target)
    if is_index(target) and not _is_integer(source):
        return _step(r, "arith.index_cast", convert(r, value, I64), target)
    if source in FLOATING_TYPES and target in FLOATING_TYPES:
        return _between_floats(r, value, source, target)
    return _step(r, _cast_name(source, target), value, target)


def _is_integer(type: Attribute) -> bool:
    return isinstance(type, IntegerType)


def _step(r: Rebuilder, name: str, value: SSAValue, element: Attribute) -> SSAValue:
    return emit(r, name, [value], with_element(value.type, element))


def _cast_name(source: Attribute, target: Attribute) -> str:
    """The cast between two types, of which at least one is an integer type."""
    if is_index(source) or is_index(target):
        return "arith.index_cast"
    if source in FLOATING_TYPES:
        return "arith.fptosi"
    if target in FLOATING_TYPES:
        return "arith.sitofp"
    return "arith.extsi" if SIZE_IN_BYTES[target] > SIZE_IN_BYTES[source] else "arith.trunci"


def _between_floats(
    r: Rebuilder, value: SSAValue, source: Attribute, target: Attribute
) -> SSAValue:
    if SIZE_IN_BYTES[source] == SIZE_IN_BYTES[target]:
        # f32 holds both 16-bit types exactly.
        value = _step(r, "arith.extf", value, F32)
        return _step(r, "arith.truncf", value, target)
    is_wider = SIZE_IN_BYTES[target] > SIZE_IN_BYTES[source]
    return _step(r, "arith.extf" if is_wider else "arith.truncf", value, target)


def _to_complex(r: Rebuilder, value: SSAValue, target: Attribute) -> SSAValue:
    part = real_part_type(target)
    if value.type in COMPLEX_TYPES:
        real, imaginary = (convert(r, each, part) for each in complex_parts(r, value))
    else:
        real, imaginary = convert(r, value, part), constant(r, 0, part)
    return create_complex(r, real, imaginary)


def complex_parts(r: Rebuilder, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The real and the imaginary part of a complex number."""
    part = real_part_type(value.type)
    return emit(r, "complex.re", [value], part), emit(r, "complex.im", [value], part)


def create_complex(r: Rebuilder, real: SSAValue, imaginary: SSAValue) -> SSAValue:
    """The complex number of two parts of one type."""
    return emit(r, "complex.create", [real, imaginary], COMPLEX_OF[real.type])


COMPLEX_OF: dict[Attribute, Attribute] = {real_part_type(type): type for type in COMPLEX_TYPES}
"""The complex type of each type of parts."""

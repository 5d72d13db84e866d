"""Emits upstream's operations by name, and constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    VectorType,
)
from xdsl.dialects.complex import Complex
from xdsl.dialects.math import Math
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith import Arith
from xtile.dialects.gpu import GPU
from xtile.dialects.memref import MemRef
from xtile.dialects.scf import Scf
from xtile.dialects.tensorlang.types import COMPLEX_TYPES, FLOATING_TYPES, real_part_type
from xtile.dialects.vector import Vector
from xtile.semantics import numeric_types
from xtile.semantics.constants import number_of
from xtile.translate.rule import Rebuilder
from xtile.translate.tensorlang_to_core.types import core_type, element_of, is_index, with_element

_DIALECTS = (Arith, Complex, GPU, Math, MemRef, Scf, Vector)

OPERATIONS: dict[str, type[IRDLOperation]] = {
    operation.name: cast("type[IRDLOperation]", operation)
    for dialect in _DIALECTS
    for operation in dialect.operations
}
"""Every operation of the upstream dialects that the core form uses, by name."""

Operands = Sequence[SSAValue | Sequence[SSAValue] | None]


def make(
    name: str,
    operands: Operands = (),
    result_types: Sequence[Attribute | Sequence[Attribute]] = (),
    properties: Mapping[str, Attribute | None] | None = None,
    regions: Sequence[Region] = (),
) -> Operation:
    """An operation of an upstream dialect.

    Args:
        name: Its name, such as `arith.addi`.
        operands: For each operand of its definition one value, or several where it is variadic.
        result_types: The same for the results.
        properties: By name; None leaves a property out.
        regions: The regions.
    """
    return OPERATIONS[name].build(
        operands=operands,
        result_types=result_types,
        properties=dict(properties or {}),
        regions=regions,
    )


def emit(
    r: Rebuilder,
    name: str,
    operands: Operands,
    type: Attribute,
    properties: Mapping[str, Attribute | None] | None = None,
) -> SSAValue:
    """Emits an operation with one result, and returns that."""
    return r.emit(make(name, operands, [type], properties)).results[0]


def translated_type(value: SSAValue, r: Rebuilder) -> Attribute:
    """What the type of a value becomes.

    Raises:
        DiagnosticError: It has no counterpart.
    """
    try:
        return core_type(value.type)
    except ValueError as error:
        raise r.error(str(error)) from None


# Constants


def constant(r: Rebuilder, value: Any, type: Attribute) -> SSAValue:
    """A number rounded to a scalar type, or each element of a vector; shared by the function."""
    if is_index(type):
        return r.index(int(value))
    key = ("constant", type, repr(value))
    return r.shared(key, (), lambda: r.emit(constant_operation(value, type)).results[0])


def constant_operation(value: Any, type: Attribute) -> Operation:
    """The operation that gives a number rounded once to a scalar type, or a vector of it."""
    element = element_of(type)
    # A number that is too large for its type is infinite.
    with np.errstate(over="ignore"):
        number: Any = number_of(value, element)
    if element in COMPLEX_TYPES:
        part = real_part_type(element)
        parts = ArrayAttr([_attribute(number.real, part), _attribute(number.imag, part)])
        return make("complex.constant", [], [type], {"value": parts})
    is_vector = isinstance(type, VectorType)
    value = _splat(number, type) if is_vector else _attribute(number, type)
    return make("arith.constant", [], [type], {"value": value})


def _attribute(number: Any, type: Any) -> Attribute:
    if type in FLOATING_TYPES:
        return FloatAttr(float(number), type)
    return IntegerAttr(int(number), type)


def _splat(number: Any, type: Any) -> Attribute:
    return DenseIntOrFPElementsAttr.from_list(type, [number.item()])


def accumulation_type(type: Attribute) -> Attribute:
    """The type in which sums that end in `type` are computed (docs/semantics.md 2.1)."""
    return with_element(type, numeric_types.accumulation_type(element_of(type)))

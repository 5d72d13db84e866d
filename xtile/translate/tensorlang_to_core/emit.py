"""Emits upstream's operations by name, and constants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.hints import isa

from xtile.dialects.tensorlang.types import BOOL, COMPLEX_TYPES, FLOATING_TYPES, real_part_type
from xtile.rewrite.folding import width_of, wrap
from xtile.rewrite.rebuilder import Rebuilder
from xtile.semantics import accumulation
from xtile.text.mlir_attributes import splat_constant
from xtile.translate.rounding import rounded_float
from xtile.translate.tensorlang_to_core.types import element_of, is_index, with_element

Operations = Iterable[type[Operation]]


def _arith() -> Operations:
    from xtile.dialects.arith import Arith

    return Arith.operations


def _complex() -> Operations:
    from xdsl.dialects.complex import Complex

    return Complex.operations


def _gpu() -> Operations:
    from xtile.dialects.gpu import indices, subgroups

    return (*indices.OPERATIONS, *subgroups.OPERATIONS)


def _math() -> Operations:
    from xdsl.dialects.math import Math

    return Math.operations


def _memref() -> Operations:
    from xtile.dialects.memref import MemRef

    return MemRef.operations


def _scf() -> Operations:
    from xtile.dialects.scf import Scf

    return Scf.operations


def _vector() -> Operations:
    from xtile.dialects.vector import Vector

    return Vector.operations


_OPERATIONS: Mapping[str, Callable[[], Operations]] = {
    "arith": _arith,
    "complex": _complex,
    "gpu": _gpu,
    "math": _math,
    "memref": _memref,
    "scf": _scf,
    "vector": _vector,
}
"""What the core form uses of each upstream dialect; loading them all takes longer than a kernel."""


@cache
def _operations(dialect: str) -> dict[str, type[IRDLOperation]]:
    """The operations of an upstream dialect by name."""
    return {
        operation.name: cast("type[IRDLOperation]", operation)
        for operation in _OPERATIONS[dialect]()
    }


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
    dialect, _, _ = name.partition(".")
    return _operations(dialect)[name].build(
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
    if element in COMPLEX_TYPES:
        number, part = complex(value), real_part_type(element)
        parts = ArrayAttr([_attribute(number.real, part), _attribute(number.imag, part)])
        return make("complex.constant", [], [type], {"value": parts})
    attribute: Attribute = _attribute(value, element)
    if isa(type, VectorType):
        attribute = splat_constant(type, _number(value, element))
    return make("arith.constant", [], [type], {"value": attribute})


def _attribute(value: Any, type: Any) -> Attribute:
    number = _number(value, type)
    return FloatAttr(number, type) if type in FLOATING_TYPES else IntegerAttr(int(number), type)


def _number(value: Any, type: Attribute) -> float | int:
    if type in FLOATING_TYPES:
        return rounded_float(float(value), type)
    if type == BOOL:
        return int(bool(value))
    width = width_of(type)
    assert width is not None, "constants are numbers"
    return wrap(int(value), width)


def accumulation_type(type: Attribute) -> Attribute:
    """The type in which sums that end in `type` are computed (docs/semantics.md 2.1)."""
    return with_element(type, accumulation.accumulation_type(element_of(type)))

"""Subnormal numbers become zeros by comparisons, where operations say that they are zeros.

Source: docs/core-form.md, "Numbers": `core.flush_to_zero`.
"""

from __future__ import annotations

from typing import Protocol

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.arith.comparisons import CMPF_PREDICATES, CmpFOp, SelectOp
from xtile.dialects.arith.types import truth_type
from xtile.dialects.construction import made
from xtile.dialects.number_attributes import FLUSH_ATTRIBUTE, flushes
from xtile.dialects.shared_attributes import i64_attribute
from xtile.dialects.upstream import value_type
from xtile.dialects.walk import walk
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import OperationT, RuleTable, again, copy
from xtile.rewrite.tile_emitter import TileEmitter
from xtile.text.source import source_of

_SMALLEST_NORMAL = 2.0**-126


def compose_flush(module: ModuleOp) -> ModuleOp:
    """Returns a module without `core.flush_to_zero`: operands and results are compared.

    Everything else stays as it is; without one it is the module itself.

    Args:
        module: The module; it is not changed.
    """
    composer = TileEmitter(
        RuleTable(otherwise=_compose, keeps_rounding=True), "numbers", source_of(module)
    )
    return with_kernels_replaced(
        module,
        lambda kernel: any(map(flushes, walk(kernel))),
        lambda kernel: rebuilt(kernel, composer),
    )


def _compose(operation: Operation, composer: TileEmitter) -> None:
    if not flushes(operation):
        copy(operation, composer)
        return
    operands = [flushed(composer, value) for value in composer.values(operation.operands)]
    made = composer.emit(again(operation, operands))
    del made.attributes[FLUSH_ATTRIBUTE]
    for old, new in zip(operation.results, made.results, strict=True):
        composer.define(old, flushed(composer, new))


class Builder(Protocol):
    """What emits constants, of vectors too, and other operations."""

    def constant(self, number: float, type_: Attribute, /) -> SSAValue:
        """A number, or a vector of which all elements are that."""
        ...

    def emit(self, operation: OperationT, /) -> OperationT:
        """Adds an operation where code is emitted."""
        ...


def flushed(builder: Builder, value: SSAValue) -> SSAValue:
    """An f32, or zero of its sign where it is subnormal; values of other types stay.

    Args:
        builder: Where to emit.
        value: The number, or a vector of some.
    """
    if value_type(value.type) != f32:
        return value
    smallest, zero = (builder.constant(number, value.type) for number in (_SMALLEST_NORMAL, 0.0))
    type_, is_less = value.type, {"predicate": i64_attribute(CMPF_PREDICATES.index("olt"))}
    magnitude = builder.emit(made(math.AbsFOp, (value,), (type_,))).result
    is_subnormal = builder.emit(
        made(CmpFOp, (magnitude, smallest), (truth_type(type_),), is_less)
    ).result
    signed = builder.emit(made(arith.MulfOp, (value, zero), (type_,))).result
    return builder.emit(made(SelectOp, (is_subnormal, signed, value), (type_,))).result

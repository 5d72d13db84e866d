"""Matrix products.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `dpas`; `Conversion/XeGPUToXeVM`;
docs/semantics.md, "XeGPU".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

from xtile.dialects.xegpu.operation import element_type, shape_of
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.dialects.xegpu.rfc.names import MODE
from xtile.dialects.xegpu.types import bit_width
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.configuration import require_full_subgroups
from xtile.semantics.instructions.events import require_converged
from xtile.semantics.state import State
from xtile.semantics.upstream.numbers import Kind, Number, number_of
from xtile.semantics.values import Array
from xtile.semantics.xegpu.block_coordinates import (
    elements_of_a_register,
    from_lanes,
    to_lanes,
    unit,
)

_EXACT_BITS = 16
"""Sums of products of integers with so many bits are exact in f64."""

_Widen = Callable[[Array], Array]


@dataclass(frozen=True)
class _Matrices:
    """How the operands of a product become matrices in the last two axes, and the result a vector.

    Attributes:
        lhs: Gives the left matrix.
        rhs: Gives the right matrix.
        acc: Gives the accumulator.
        result: Gives the vector of the product.
    """

    lhs: _Widen
    rhs: _Widen
    acc: _Widen
    result: _Widen


def _whole(operation: DpasOp) -> _Matrices:
    """The matrices that a subgroup or a work-group multiplies."""
    rows, columns = shape_of(operation.result.type)

    def lhs(value: Array) -> Array:
        return value.reshape(*value.shape[:2], rows, -1)

    def rhs(value: Array) -> Array:
        packed = value.reshape(*value.shape[:3], columns, -1).swapaxes(3, 4)
        return packed.reshape(*value.shape[:2], -1, columns)

    return _Matrices(lhs, rhs, lambda value: value, lambda value: value)


def _of_lanes(operation: DpasOp, lanes: int) -> _Matrices:
    """The matrices that the lanes of a subgroup hold together.

    Raises:
        ValueError: The parts do not belong together.
    """
    lhs_shape, rhs_shape, result_shape = (
        shape_of(type) for type in (operation.lhs.type, operation.rhs.type, operation.result.type)
    )
    bits = bit_width(element_type(operation.rhs.type))
    pack = elements_of_a_register(bits)
    rows, inner, columns = prod(result_shape), prod(rhs_shape), lanes
    if prod(lhs_shape) * lanes != rows * inner or inner % pack:
        raise ValueError(
            f"lanes that hold {prod(lhs_shape)}, {prod(rhs_shape)} and {prod(result_shape)} "
            f"elements do not make up matrices: in a subgroup of {lanes}, whose product has as "
            f"many columns, they are parts of {rows}x{inner} times {inner}x{columns}"
        )
    # In the RFC's form the last dimension of a fragment has the neighbours in a row.
    neighbours = prod(lhs_shape[1:]) if len(lhs_shape) > 1 else unit(inner, bits, lanes)

    def flat(value: Array) -> Array:
        """The elements of each lane along the last axis, with an axis for all lanes."""
        return np.broadcast_to(
            value.reshape(*value.shape[:2], -1), (len(value), lanes, prod(value.shape[2:]))
        )

    def lhs(value: Array) -> Array:
        return from_lanes(flat(value), neighbours).reshape(-1, 1, rows, inner)

    def rhs(value: Array) -> Array:
        packed = from_lanes(flat(value), pack).reshape(-1, 1, inner // pack, columns, pack)
        return packed.swapaxes(3, 4).reshape(-1, 1, inner, columns)

    def acc(value: Array) -> Array:
        return from_lanes(flat(value), 1).reshape(-1, 1, rows, columns)

    def result(value: Array) -> Array:
        parts = to_lanes(value.reshape(len(value), -1), 1, lanes)
        return parts.reshape(len(value), lanes, *result_shape)

    return _Matrices(lhs, rhs, acc, result)


def _widen(type: Attribute) -> _Widen:
    """What gives an operand's numbers in the type in which they are multiplied."""
    number = number_of(type)
    if number.kind is Kind.FLOAT:
        wide = np.float64 if number.bits == 64 else np.float32
        # What fits into 32 bits may have more than the 10 bits of fraction that tf32 has.
        rounded = number.rounded if number.text == "tf32" else None
        return lambda value: (rounded(value) if rounded else value).astype(wide)
    wide = np.float64 if number.bits <= _EXACT_BITS else np.int64
    if str(type).startswith("ui"):
        return lambda value: number.unsigned(value).astype(wide)
    return lambda value: number.signed(value).astype(wide)


def _round(number: Number, value: Array) -> Array:
    """A sum of products, rounded once or wrapped around."""
    if number.kind is Kind.FLOAT:
        return number.rounded(value)
    return number.wrapped(value.astype(np.int64))


def _dpas(operation: DpasOp, compiler: Compiler) -> Step:
    is_for_lane = operation.is_for_lane or operation.attributes.get(MODE) == StringAttr("simt")
    lanes = compiler.configuration.subgroup_size
    if is_for_lane:
        require_full_subgroups(compiler.configuration)
    matrices = _of_lanes(operation, lanes) if is_for_lane else _whole(operation)
    types = [element_type(value.type) for value in (operation.lhs, operation.rhs, operation.result)]
    if len({number_of(type).kind for type in types}) > 1:
        raise ValueError(f"{types[0]} times {types[1]} is no {types[2]}; use i32 for integers")
    widen_lhs, widen_rhs, widen_acc = (_widen(type) for type in types)
    number = number_of(types[2])
    lhs, rhs, result = compiler.slots((operation.lhs, operation.rhs, operation.result))
    acc = None if operation.acc is None else compiler.slot(operation.acc)

    def step(state: State) -> None:
        values = state.values
        if is_for_lane:
            require_converged(state, operation)
        left, right = matrices.lhs(values[lhs]), matrices.rhs(values[rhs])
        total = widen_lhs(left) @ widen_rhs(right)
        if acc is not None:
            total = total + widen_acc(matrices.acc(values[acc]))
        values[result] = matrices.result(_round(number, total))

    return step


HANDLERS: dict[str, Handler] = {"xegpu.dpas": _dpas}
"""The handler of each operation, by name."""

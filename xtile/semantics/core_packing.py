"""The meaning of the `core` dialect's operations on narrow elements in bytes, and with scales.

Source: docs/core-form.md, "Narrow numbers".
"""

from __future__ import annotations

import numpy as np

from xtile.dialects.core.packing import PackOp, UnpackOp
from xtile.dialects.core.scaled_products import ScaledContractOp
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.matrix_multiply import scaled_product
from xtile.semantics.state import State
from xtile.semantics.upstream.numbers import Kind, Number, number_of
from xtile.semantics.values import Array, contiguous
from xtile.semantics.vector.arrays import AXES


def _scaled_contract(operation: ScaledContractOp, compiler: Compiler) -> Step:
    lhs, rhs, acc, result = compiler.slots(
        (operation.lhs, operation.rhs, operation.acc, operation.result)
    )
    scales = [
        None if each is None else compiler.slot(each)
        for each in (operation.lhs_scale, operation.rhs_scale)
    ]

    def step(state: State) -> None:
        values = state.values
        left, right = (None if slot is None else values[slot] for slot in scales)
        values[result] = scaled_product(values[lhs], values[rhs], values[acc], left, right)

    return step


def _bits(values: Array, number: Number) -> Array:
    """The bits of numbers as bytes, of which the lowest are used."""
    if number.kind is Kind.INTEGER:
        return number.unsigned(values).astype(np.uint8)
    return contiguous(values).view(np.uint8)


def _numbers(bits: Array, number: Number) -> Array:
    """The numbers with the bits that bytes have lowest."""
    if number.kind is Kind.INTEGER:
        return number.wrapped(bits.astype(np.int8))
    return contiguous(bits).view(number.dtype)


def _pack(operation: PackOp, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.source, operation.result))
    number, axis = number_of(operation.source.type), AXES + operation.axis.value.data
    count = 8 // number.bits

    def step(state: State) -> None:
        bits = np.moveaxis(_bits(state.values[source], number), axis, -1)
        grouped = bits.reshape(*bits.shape[:-1], -1, count)
        packed = np.zeros(grouped.shape[:-1], np.uint8)
        for position in range(count):
            packed |= grouped[..., position] << np.uint8(position * number.bits)
        state.values[result] = np.moveaxis(packed.view(np.int8), -1, axis)

    return step


def _unpack(operation: UnpackOp, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.source, operation.result))
    number, axis = number_of(operation.result.type), AXES + operation.axis.value.data
    positions = np.arange(0, 8, number.bits, dtype=np.uint8)
    used = np.uint8(2**number.bits - 1)

    def step(state: State) -> None:
        packed = np.moveaxis(contiguous(state.values[source]).view(np.uint8), axis, -1)
        bits = (packed[..., np.newaxis] >> positions) & used
        flat = bits.reshape(*packed.shape[:-1], -1)
        state.values[result] = np.moveaxis(_numbers(flat, number), -1, axis)

    return step


HANDLERS: dict[str, Handler] = {
    PackOp.name: _pack,
    ScaledContractOp.name: _scaled_contract,
    UnpackOp.name: _unpack,
}
"""The handler of each operation, by name."""

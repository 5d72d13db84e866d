"""Products of matrices from arithmetic and exchanges between lanes: the way that all devices have.

Source: docs/semantics.md, "XeGPU".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, BFloat16Type, IntegerType, Signedness, f32, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xtile.translate.xegpu_to_spirv import bfloat16
from xtile.translate.xegpu_to_spirv.gpu import SUBGROUP_SCOPE
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import bit_width, length_of, register_type
from xtile.translate.xegpu_to_spirv.vectors.entries import assemble, element, entries_of
from xtile.translate.xegpu_to_spirv.xegpu.plain_blocks import dealt_to
from xtile.translate.xegpu_to_spirv.xegpu.products import Product

_SUM_BITS = 32
"""Floats that are not larger are multiplied and added up in f32, and rounded once."""


def multiply_by_exchanges(
    lowering: Lowering,
    product: Product,
    left: Sequence[SSAValue],
    right: Sequence[SSAValue],
    before: Sequence[SSAValue],
) -> list[SSAValue]:
    """The pieces of a lane's part of A B + C, from those of A, B and C."""
    a = _scalars(lowering, left, product.factor, product)
    b = _scalars(lowering, right, product.factor, product)
    sums = _scalars(lowering, before, product.sum, product)
    flat = 1, product.rows * product.depth
    holder = dealt_to(lowering, flat, product.neighbours, product.lanes).inverse()
    for k in range(product.depth):
        for row in range(product.rows):
            entry, lane = holder.apply(dim1=row * product.depth + k)
            factor = _of_lane(lowering, a[entry], lane)
            sums[row] = _multiply_add(lowering, factor, b[k], sums[row])
    rounded = [(_rounded(lowering, value, product.sum), 0) for value in sums]
    pieces: list[SSAValue] = []
    for type_ in product.sum_types:
        length = length_of(type_)
        pieces.append(assemble(lowering, rounded[:length]))
        rounded = rounded[length:]
    return pieces


def _scalars(
    lowering: Lowering, pieces: Sequence[SSAValue], type_: Attribute, product: Product
) -> list[SSAValue]:
    """The elements of vectors, in the type in which they are multiplied."""
    wide = _wide_type(product)
    return [
        _widened(lowering, element(lowering, entry), type_, wide) for entry in entries_of(pieces)
    ]


def _wide_type(product: Product) -> Attribute:
    """The type in which a product is computed: integers wrap around in that of the sums."""
    if isa(product.sum, IntegerType):
        return register_type(product.sum)
    return f32 if bit_width(product.sum) <= _SUM_BITS else product.sum


def _widened(lowering: Lowering, value: SSAValue, type_: Attribute, wide: Attribute) -> SSAValue:
    """A number in a wider type."""
    if isinstance(type_, BFloat16Type):
        return bfloat16.widen(lowering, value)
    if value.type == wide:
        return value
    if not isa(type_, IntegerType):
        return lowering.shared_compute("FConvert", wide, value)
    is_unsigned = type_.signedness.data is Signedness.UNSIGNED
    return lowering.shared_compute("UConvert" if is_unsigned else "SConvert", wide, value)


def _of_lane(lowering: Lowering, value: SSAValue, lane: int) -> SSAValue:
    """The number of one of the lanes."""
    scope, source = lowering.integer(SUBGROUP_SCOPE, i32), lowering.integer(lane, i32)
    return lowering.compute("GroupBroadcast", value.type, scope, value, source)


def _multiply_add(lowering: Lowering, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    if isa(c.type, IntegerType):
        return lowering.compute("IAdd", c.type, lowering.compute("IMul", c.type, a, b), c)
    return lowering.compute("CL.fma", c.type, a, b, c)


def _rounded(lowering: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """A sum in its own type."""
    if isinstance(type_, BFloat16Type):
        return bfloat16.narrow(lowering, value)
    if value.type == register_type(type_):
        return value
    return lowering.compute("FConvert", cast(AnyFloat, type_), value)

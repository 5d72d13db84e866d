"""Composes products with scales, and numbers in bytes, of operations that every device has.

`core.scaled_contract` becomes a `vector.contract` of f64, whose factors are exact also where scales
are very large or small; `core.pack` and `core.unpack` become shifts of bytes.

Source: docs/core-form.md, "Narrow numbers" and "Scaled products".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FixedBitwidthType,
    IntegerType,
    ModuleOp,
    VectorType,
    f64,
    i8,
    i64,
)
from xdsl.dialects.ub import PoisonOp
from xdsl.dialects.vector import BroadcastOp, InsertOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.arith.casts import ExtFOp, ExtUIOp, TruncFOp, TruncIOp
from xtile.dialects.core.packing import PackOp, UnpackOp
from xtile.dialects.core.scaled_products import ScaledContractOp, depths, group_size
from xtile.dialects.shapes import with_element
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import product_of_matrices
from xtile.dialects.vector.positions import ExtractOp
from xtile.dialects.vector.shapes import ShapeCastOp, TransposeOp
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rule, RuleTable, copy
from xtile.text.mlir_attributes import splat_constant
from xtile.text.source import source_of

_BYTE = 8


def compose_narrow(module: ModuleOp) -> ModuleOp:
    """Returns a module whose kernels have none of these operations.

    Everything else stays as it is; without one it is the module itself.

    Args:
        module: The module; it is not changed.
    """
    table = RuleTable(_RULES, otherwise=copy, keeps_rounding=True)
    composer = _Composer(table, "vectors", source_of(module))
    return with_kernels_replaced(
        module,
        lambda kernel: any(each.name in _RULES for each in walk(kernel)),
        lambda kernel: rebuilt(kernel, composer),
    )


class _Composer(Emitter):
    """Rebuilds kernels."""

    def make(
        self,
        kind: type[Any],
        operands: Sequence[Any],
        type_: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """The result of an operation."""
        made = kind.build(operands=operands, result_types=[type_], properties=properties or {})
        return self.emit(made).results[0]

    def splat(self, number: int, type_: Attribute) -> SSAValue:
        """A vector of equal integers."""
        return self.emit(arith.ConstantOp(splat_constant(cast("Any", type_), number))).result

    def wide(self, vector: SSAValue) -> SSAValue:
        """The same numbers in f64."""
        return self.make(ExtFOp, [vector], with_element(vector.type, f64))

    def transposed(self, vector: SSAValue, order: Sequence[int]) -> SSAValue:
        """A vector with its dimensions in another order."""
        shape, element = _shape(vector), value_type(vector.type)
        permutation = DenseArrayBase.from_list(i64, order)
        type_ = VectorType(element, [shape[i] for i in order])
        return self.make(TransposeOp, [vector], type_, {"permutation": permutation})

    def reshaped(self, vector: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same numbers, row by row, in another shape."""
        return self.make(ShapeCastOp, [vector], VectorType(value_type(vector.type), shape))


def _shape(value: SSAValue) -> list[int]:
    return list(cast("VectorType[Attribute]", value.type).get_shape())


def _part(number: int) -> dict[str, Attribute]:
    return {"static_position": DenseArrayBase.from_list(i64, [number])}


# --- products ---


def _scaled_contract(operation: ScaledContractOp, composer: _Composer) -> None:
    sides = zip(
        (operation.lhs, operation.rhs),
        (operation.lhs_scale, operation.rhs_scale),
        depths(operation),
        strict=True,
    )
    lhs, rhs = (_scaled(composer, *side) for side in sides)
    sums = composer.wide(composer.value(operation.acc))
    result = composer.emit(product_of_matrices(lhs, rhs, sums)).result
    type_ = operation.result.type
    composer.define(operation.result, composer.make(TruncFOp, [result], type_))


def _scaled(composer: _Composer, factor: SSAValue, scale: SSAValue | None, depth: int) -> SSAValue:
    """A factor of f64 times its scales, each of which is repeated along the depth."""
    wide = composer.wide(composer.value(factor))
    if scale is None:
        return wide
    group, shape = group_size(factor, scale, depth), _shape(scale)
    scales = composer.wide(composer.value(scale))
    repeated = composer.make(BroadcastOp, [scales], VectorType(f64, [group, *shape]))
    order = [*range(1, depth + 2), 0, *range(depth + 2, len(shape) + 1)]
    scales = composer.reshaped(composer.transposed(repeated, order), _shape(factor))
    return composer.emit(arith.MulfOp(wide, scales)).result


# --- numbers in bytes ---


def _unpack(operation: UnpackOp, composer: _Composer) -> None:
    """The elements of all bytes at each position in a byte, then those of a byte side by side."""
    bytes_, axis = composer.value(operation.source), operation.axis.value.data
    element, shape = value_type(operation.result.type), _shape(bytes_)
    width = cast("FixedBitwidthType", element).bitwidth
    type_ = VectorType(element, shape)
    whole = composer.emit(PoisonOp(VectorType(element, [_BYTE // width, *shape]))).result
    for position in range(_BYTE // width):
        shifted = bytes_
        if position:
            distance = composer.splat(position * width, bytes_.type)
            shifted = composer.emit(arith.ShRUIOp(bytes_, distance)).result
        part = composer.make(TruncIOp, [shifted], with_element(type_, IntegerType(width)))
        if isinstance(element, AnyFloat):
            part = composer.make(arith.BitcastOp, [part], type_)
        whole = composer.make(InsertOp, [part, whole, []], whole.type, _part(position))
    order = [*range(1, axis + 2), 0, *range(axis + 2, len(shape) + 1)]
    made = composer.reshaped(composer.transposed(whole, order), _shape(operation.result))
    composer.define(operation.result, made)


def _pack(operation: PackOp, composer: _Composer) -> None:
    numbers, axis = composer.value(operation.source), operation.axis.value.data
    element, shape = value_type(numbers.type), _shape(operation.result)
    width = cast("FixedBitwidthType", element).bitwidth
    count = _BYTE // width
    split = composer.reshaped(numbers, [*shape[: axis + 1], count, *shape[axis + 1 :]])
    others = [i for i in range(len(shape) + 1) if i != axis + 1]
    parts = composer.transposed(split, [axis + 1, *others])
    result: SSAValue | None = None
    for position in range(count):
        type_ = VectorType(element, shape)
        part = composer.make(ExtractOp, [parts, []], type_, _part(position))
        if isinstance(element, AnyFloat):
            bits = with_element(type_, IntegerType(width))
            part = composer.make(arith.BitcastOp, [part], bits)
        byte = composer.make(ExtUIOp, [part], VectorType(i8, shape))
        if position:
            distance = composer.splat(position * width, byte.type)
            byte = composer.emit(arith.ShLIOp(byte, distance)).result
        result = byte if result is None else composer.emit(arith.OrIOp(result, byte)).result
    composer.define(operation.result, result)


_RULES: dict[str, Rule] = {
    PackOp.name: _pack,
    ScaledContractOp.name: _scaled_contract,
    UnpackOp.name: _unpack,
}
"""What becomes of each of the operations."""

"""Products with scales: those that a chip's matrix unit has, and what the others are composed of.

A factor with its scales becomes one of bf16, which has all products of such numbers but the very
largest and smallest, and the product is a `tt.dot` then. Beside a factor of f16, both become f32.

Source: Triton 3.9, `lib/Dialect/TritonGPU/Transforms/DecomposeScaledBlocked.cpp`;
`third_party/amd`, `AccelerateAMDMatmul.cpp`; `LinearLayoutConversions.cpp` (the layout of scales);
AMD, "CDNA4 Instruction Set Architecture" (products with block scales).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    Float8E5M2Type,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    bf16,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.arith.casts import ExtFOp, ExtUIOp
from xtile.dialects.arith.comparisons import CmpIOp
from xtile.dialects.triton.encodings.distributed import LinearEncodingAttr
from xtile.dialects.triton.operation import element_of, shape_of, with_element
from xtile.dialects.triton.tt.enumerations import InputPrecision, ScaleDotElemType
from xtile.dialects.triton.tt.ops import (
    BitcastOp,
    BroadcastOp,
    DotOp,
    ExpandDimsOp,
    FpToFpOp,
    JoinOp,
    ReshapeOp,
    TransOp,
)
from xtile.dialects.triton.tt.ops.products import DotScaledOp
from xtile.dialects.walk import walk
from xtile.rewrite.rebuilder import Rebuilder, RuleTable, copy
from xtile.targets.target import Target
from xtile.text.mlir_attributes import splat_constant
from xtile.text.source import source_of

GROUP = 32
"""The factors along K that share a scale in an instruction."""


@dataclass(frozen=True)
class ScaledUnit:
    """An instruction that multiplies factors with scales.

    Attributes:
        rows: Rows of the left factor, and columns of the right one.
        depth: The elements along K.
    """

    rows: int
    depth: int


_UNITS = {"gfx950": (ScaledUnit(32, 64), ScaledUnit(16, 128))}

WIDTH = 16
"""The bytes along K that a lane of a factor has in a row."""

_MULTIPLIED = (ScaleDotElemType.E4M3, ScaleDotElemType.E5M2, ScaleDotElemType.E2M1)
"""What these instructions multiply, of what tensors hold."""


def scaled_unit(operation: DotScaledOp, chip: Target) -> ScaledUnit | None:
    """The instruction of a chip that computes a product; None where it has none."""
    has_scales = operation.a_scale is not None and operation.b_scale is not None
    if not has_scales or not all(operation.packs_k) or len(shape_of(operation.d.type)) != 2:
        return None
    if not all(element in _MULTIPLIED for element in operation.elements):
        return None
    (rows, depth), (_, columns) = operation.unpacked_shapes()
    for scale in (operation.a_scale, operation.b_scale):
        assert scale is not None
        is_exponent = element_of(scale.type) == i8
        if not is_exponent or shape_of(scale.type)[-1] * GROUP != depth:
            return None
    return _fitting(chip, min(rows, columns), depth)


def _fitting(chip: Target, least: int, depth: int) -> ScaledUnit | None:
    """The first instruction that is no larger than the product."""
    units = _UNITS.get(chip.name, ())
    return next((unit for unit in units if least >= unit.rows and depth >= unit.depth), None)


def unscaled_unit(
    operation: DotOp, chip: Target
) -> tuple[ScaledUnit, tuple[ScaleDotElemType, ScaleDotElemType]] | None:
    """The instruction for scales that computes a product without, which is deeper than others.

    Returns:
        The instruction, and what the factors are; None where there is none.
    """
    factors = element_of(operation.a.type), element_of(operation.b.type)
    kinds = {type_: kind for kind, type_ in _BYTES.items()}
    if not all(factor in kinds for factor in factors) or len(shape_of(operation.d.type)) != 2:
        return None
    (rows, depth), (_, columns) = shape_of(operation.a.type), shape_of(operation.b.type)
    unit = _fitting(chip, min(rows, columns), depth)
    return None if unit is None else (unit, (kinds[factors[0]], kinds[factors[1]]))


def layout_of_scales(
    unit: ScaledUnit, shape: tuple[int, ...], warps: tuple[int, ...], index: int
) -> LinearEncodingAttr:
    """The layout of the scales of a factor, of whose rows (or columns) each has a row.

    Lanes go through the rows of an instruction and then through its scales; registers first hold
    those of further instructions along K.

    Args:
        unit: The instruction.
        shape: The shape of the scales.
        warps: The warps along the rows and columns of the result.
        index: 0 for the left factor, 1 for the right one.
    """
    rows, groups = shape
    lanes = [(row, 0) for row in _bits(1, unit.rows)]
    lanes += [(0, group) for group in _bits(1, unit.depth // GROUP)]
    own = [(row, 0) if row < rows else (0, 0) for row in _bits(unit.rows, unit.rows * warps[index])]
    others = [(0, 0)] * (warps[1 - index].bit_length() - 1)
    # Warps are counted along columns first.
    subgroups = [*others, *own] if index == 0 else [*own, *others]
    registers = [(0, group) for group in _bits(unit.depth // GROUP, groups)]
    registers += [(row, 0) for row in _bits(unit.rows * warps[index], rows)]
    return LinearEncodingAttr(registers, lanes, subgroups, [])


def _bits(first: int, end: int) -> list[int]:
    """The powers of two from a first one on that are below an end."""
    return [1 << bit for bit in range(first.bit_length() - 1, end.bit_length() - 1)]


# --- what the others are composed of ---


def compose_scaled(module: ModuleOp, chip: Target) -> ModuleOp:
    """A module whose scaled products are all those of a chip.

    Args:
        module: The module; it is not changed.
        chip: What it is for.

    Returns:
        The module itself where all of them are.
    """
    products = [each for each in walk(module) if isinstance(each, DotScaledOp)]
    if all(scaled_unit(each, chip) is not None for each in products):
        return module
    return _Composer(module, chip).module(module)


class _Composer(Rebuilder):
    """Rebuilds functions without the products that a chip has not."""

    def __init__(self, module: ModuleOp, chip: Target) -> None:
        rules = RuleTable({"tt.dot_scaled": _dot_scaled}, otherwise=copy, keeps_rounding=True)
        super().__init__(rules, "Triton", source_of(module))
        self.chip = chip

    def splat(self, number: int, like: SSAValue) -> SSAValue:
        """A tensor of equal integers."""
        type_: Any = like.type
        constant: Any = splat_constant(type_, number)
        return self.emit(arith.ConstantOp(constant)).result

    def integer(
        self, kind: type[arith.SignlessIntegerBinaryOperation], value: SSAValue, number: int
    ) -> SSAValue:
        """An operation on integers and a number."""
        return self.emit(kind(value, self.splat(number, value))).results[0]

    def extended(self, value: SSAValue, element: IntegerType) -> SSAValue:
        """Integers without a sign in more bits."""
        type_: Any = with_element(value.type, element)
        return self.emit(ExtUIOp(value, type_)).result

    def chosen(self, value: SSAValue, number: int, then: SSAValue, rest: SSAValue) -> SSAValue:
        """`then` where an integer is a number, and `rest` elsewhere."""
        compared = CmpIOp.build(
            operands=[value, self.splat(number, value)],
            result_types=[with_element(value.type, i1)],
            properties={"predicate": IntegerAttr(0, i64)},
        )
        return self.emit(arith.SelectOp(self.emit(compared).result, then, rest)).result

    def as_float(self, bits: SSAValue, element: Attribute) -> SSAValue:
        """A tensor of bits as floats."""
        return self.emit(BitcastOp(bits, with_element(bits.type, element))).results[0]

    def transposed(self, value: SSAValue) -> SSAValue:
        """A tensor whose last two dimensions are exchanged."""
        rank = len(shape_of(value.type))
        return self.emit(TransOp(value, [*range(rank - 2), rank - 1, rank - 2])).results[0]


def _dot_scaled(operation: DotScaledOp, composer: _Composer) -> None:
    if scaled_unit(operation, composer.chip) is not None:
        copy(operation, composer)
        return
    has_halves = ScaleDotElemType.FP16 in operation.elements
    element = f32 if has_halves else bf16
    rank = len(shape_of(operation.d.type))
    sides = zip(
        (operation.a, operation.b),
        (operation.a_scale, operation.b_scale),
        operation.elements,
        operation.packs_k,
        strict=True,
    )
    a, b = (
        _Factor(composer, element, rank - 1 - number).made(*side)
        for number, side in enumerate(sides)
    )
    sums = composer.value(operation.c)
    made = DotOp(a, b, sums, input_precision=InputPrecision.IEEE)
    composer.replace(operation, made)


@dataclass(frozen=True)
class _Factor:
    """A factor with its scales, as floats.

    Attributes:
        composer: Where to emit.
        element: The type of the floats.
        depth: The dimension of K.
    """

    composer: _Composer
    element: Attribute
    depth: int

    def made(
        self, value: SSAValue, scale: SSAValue | None, kind: ScaleDotElemType, packs_depth: bool
    ) -> SSAValue:
        """The factor times its scales."""
        wide = self._wide(self.composer.value(value), kind, packs_depth)
        if scale is None:
            return wide
        factors = self._spread(self._scale(self.composer.value(scale)), shape_of(wide.type))
        return self.composer.emit(arith.MulfOp(wide, factors)).result

    def _wide(self, value: SSAValue, kind: ScaleDotElemType, packs_depth: bool) -> SSAValue:
        """The factor without scales."""
        composer = self.composer
        if kind is ScaleDotElemType.E2M1:
            rank = len(shape_of(value.type))
            axis = self.depth if packs_depth else 2 * rank - 3 - self.depth
            return self._widened(self._floats_of_4_bits(self._halves(value, axis)))
        if isinstance(element_of(value.type), IntegerType):
            value = composer.as_float(value, _BYTES[kind])
        if element_of(value.type) == self.element:
            return value
        if kind in _BYTES:
            type_ = with_element(value.type, self.element)
            return composer.emit(FpToFpOp(value, type_)).results[0]
        return self._widened(value)

    def _widened(self, value: SSAValue) -> SSAValue:
        if element_of(value.type) == self.element:
            return value
        return self.composer.emit(ExtFOp(value, with_element(value.type, self.element))).results[0]

    # --- numbers of 4 bits ---

    def _halves(self, value: SSAValue, axis: int) -> SSAValue:
        """The halves of bytes, the lower one first, along a dimension that is twice as long."""
        composer, rank = self.composer, len(shape_of(value.type))
        words = composer.extended(value, i16)
        low = composer.integer(arith.AndIOp, words, 15)
        high = composer.integer(arith.ShRUIOp, words, 4)
        pairs = composer.emit(JoinOp(low, high)).results[0]
        order = [*range(axis + 1), rank, *range(axis + 1, rank)]
        if order != [*range(rank + 1)]:
            pairs = composer.emit(TransOp(pairs, order)).results[0]
        shape = list(shape_of(value.type))
        shape[axis] *= 2
        type_ = TensorType(i16, shape)
        return composer.emit(ReshapeOp(pairs, type_)).results[0]

    def _floats_of_4_bits(self, bits: SSAValue) -> SSAValue:
        """Numbers of e2m1 as bf16: but for 0.5, both have an exponent before the mantissa."""
        composer = self.composer
        size = composer.integer(arith.AndIOp, bits, 7)
        moved = composer.integer(arith.ShLIOp, size, _MANTISSA_OF_BF16 - 1)
        normal = composer.integer(arith.AddiOp, moved, _BIAS_OF_E2M1 << _MANTISSA_OF_BF16)
        half = composer.splat(_HALF_OF_BF16, normal)
        number = composer.chosen(size, 1, half, normal)
        number = composer.chosen(size, 0, size, number)
        sign = composer.integer(arith.AndIOp, bits, 8)
        sign = composer.integer(arith.ShLIOp, sign, 12)
        return composer.as_float(composer.emit(arith.OrIOp(number, sign)).result, bf16)

    # --- scales ---

    def _scale(self, scale: SSAValue) -> SSAValue:
        """Scales as floats; bytes are exponents, of which the least is subnormal."""
        composer = self.composer
        if element_of(scale.type) != i8:
            return composer.emit(FpToFpOp(scale, with_element(scale.type, self.element))).results[0]
        word, mantissa = (i32, 23) if self.element == f32 else (i16, _MANTISSA_OF_BF16)
        exponent = composer.extended(scale, word)
        power = composer.integer(arith.ShLIOp, exponent, mantissa)
        least = composer.splat(1 << (mantissa - 1), power)
        nan = composer.splat((255 << mantissa) + (1 << (mantissa - 1)), power)
        power = composer.chosen(exponent, 0, least, power)
        power = composer.chosen(exponent, 255, nan, power)
        return composer.as_float(power, self.element)

    def _spread(self, scale: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        """Scales for each element of a factor."""
        composer, rank, element = self.composer, len(shape), element_of(scale.type)
        if self.depth == rank - 2:
            scale = composer.transposed(scale)
        before = shape_of(scale.type)
        single = composer.emit(ExpandDimsOp(scale, self.depth + 1)).results[0]
        times = shape[self.depth] // before[self.depth]
        whole = (*before[: self.depth + 1], times, *before[self.depth + 1 :])
        several = composer.emit(BroadcastOp(single, TensorType(element, whole))).results[0]
        return composer.emit(ReshapeOp(several, TensorType(element, shape))).results[0]


_BYTES: dict[ScaleDotElemType, Attribute] = {
    ScaleDotElemType.E4M3: Float8E4M3FNType(),
    ScaleDotElemType.E5M2: Float8E5M2Type(),
}

_MANTISSA_OF_BF16 = 7

_BIAS_OF_E2M1 = 126
"""What the exponent of e2m1 is less than that of bf16."""

_HALF_OF_BF16 = 0x3F00

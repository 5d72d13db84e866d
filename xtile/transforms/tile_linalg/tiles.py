"""Tiles of numbers of any type: vectors, and for complex numbers one of each part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseArrayBase,
    VectorType,
    i64,
)
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.shapes import as_vector
from xtile.dialects.shared_attributes import vector_of
from xtile.dialects.vector.shapes import ShapeCastOp, TransposeOp
from xtile.text.mlir_attributes import splat_constant
from xtile.transforms.distribute import numbers
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.spans import power_of_two


@dataclass(frozen=True)
class Tile:
    """A tile of numbers, or one number.

    Attributes:
        parts: The vector; of complex numbers the real and the imaginary parts, or only the real
            ones, if the others are 0. A tile without dimensions is a scalar.
        element: The type of the numbers.
        shape: The sizes.
    """

    parts: tuple[SSAValue, ...]
    element: Attribute
    shape: tuple[int, ...]


def part_of(element: Attribute) -> Attribute:
    """The type of the parts of numbers: a real type itself."""
    if isinstance(element, ComplexType):
        return cast("ComplexType[AnyFloat]", element).element_type
    return element


def element_of(type: Attribute) -> Attribute:
    """The type of the elements of a vector; that of a number itself."""
    vector = as_vector(type)
    return type if vector is None else vector.element_type


def tile_type(type: Attribute) -> Attribute:
    """The type of the tile that a vector of the source becomes; other types stay."""
    vector = as_vector(type)
    if vector is None:
        return type
    return vector_of(tuple(map(power_of_two, vector.get_shape())), vector.element_type)


def count_of(element: Attribute) -> int:
    """How many parts a number has."""
    return 2 if isinstance(element, ComplexType) else 1


def shaped(element: Attribute, shape: Sequence[int]) -> Attribute:
    """The type of a vector; without dimensions, that of the number."""
    return VectorType(element, shape) if shape else element


def scalar(kernel: Kernel, value: SSAValue) -> Tile:
    """A number that has been computed."""
    type_ = value.type
    is_complex = numbers.is_complex(type_)
    return Tile(numbers.parts(kernel, value) if is_complex else (value,), type_, ())


def constant(kernel: Kernel, number: int, element: Attribute, shape: Sequence[int]) -> SSAValue:
    """A small number of a real type, as often as a shape has it."""
    if not shape:
        return kernel.constant(number, element)
    type_ = cast("Any", VectorType(element, shape))
    attribute = splat_constant(type_, number)
    return kernel.shared(attribute, (), lambda: kernel.emit(arith.ConstantOp(attribute)).result)


def zeros(kernel: Kernel, element: Attribute, shape: Sequence[int]) -> Tile:
    """A tile of zeros."""
    nothing = constant(kernel, 0, part_of(element), shape)
    return Tile((nothing,) * count_of(element), element, tuple(shape))


def each_part(tile: Tile, shape: Sequence[int], change: Callable[[SSAValue], SSAValue]) -> Tile:
    """A tile of the same numbers in another shape."""
    return Tile(tuple(map(change, tile.parts)), tile.element, tuple(shape))


def converted(kernel: Kernel, tile: Tile, element: Attribute) -> Tile:
    """The numbers in another type. A real number stays one part of a complex one."""
    if tile.element == element:
        return tile
    target = shaped(part_of(element), tile.shape)
    parts = tuple(numbers.cast_number(kernel, part, target) for part in tile.parts)
    return Tile(parts, element, tile.shape)


def complete(kernel: Kernel, tile: Tile) -> Tile:
    """The tile with all its parts."""
    missing = count_of(tile.element) - len(tile.parts)
    nothing = constant(kernel, 0, part_of(tile.element), tile.shape) if missing else None
    return Tile(tile.parts if nothing is None else (*tile.parts, nothing), tile.element, tile.shape)


def broadcast(kernel: Kernel, tile: Tile, shape: Sequence[int], axes: Sequence[int] = ()) -> Tile:
    """Repeats a tile, whose dimensions become the given dimensions of the result."""
    if tile.shape == tuple(shape):
        return tile
    target = VectorType(part_of(tile.element), shape)
    middle = [tile.shape[axes.index(i)] if i in axes else 1 for i in range(len(shape))]
    first = min(axes, default=len(shape))

    def change(part: SSAValue) -> SSAValue:
        if tile.shape and tile.shape != tuple(middle[first:]):
            part = kernel.pure_with_type(
                _shape_cast, VectorType(part_of(tile.element), middle[first:]), part
            )
        return kernel.pure_with_type(BroadcastOp, target, part)

    return each_part(tile, shape, change)


def reshaped(kernel: Kernel, tile: Tile, shape: Sequence[int]) -> Tile:
    """The numbers in the same order in another shape."""
    if tile.shape == tuple(shape):
        return tile
    target = VectorType(part_of(tile.element), shape)
    return each_part(tile, shape, lambda part: kernel.pure_with_type(_shape_cast, target, part))


def _shape_cast(source: SSAValue, type: Attribute) -> ShapeCastOp:
    return ShapeCastOp.build(operands=[source], result_types=[type])


def transposed(kernel: Kernel, tile: Tile, order: Sequence[int]) -> Tile:
    """The tile whose dimension i is dimension `order[i]` of a tile."""
    if list(order) == sorted(order):
        return tile
    shape = [tile.shape[axis] for axis in order]
    permutation = DenseArrayBase.from_list(i64, order)

    def change(part: SSAValue) -> SSAValue:
        operation = TransposeOp.build(
            operands=[part],
            result_types=[VectorType(part_of(tile.element), shape)],
            properties={"permutation": permutation},
        )
        return kernel.emit(operation).results[0]

    return each_part(tile, shape, change)


def add(kernel: Kernel, a: Tile, b: Tile) -> Tile:
    """The sums of the numbers of two tiles of one type and shape."""
    parts = [numbers.add(kernel, x, y) for x, y in zip(a.parts, b.parts, strict=False)]
    longer = max((a, b), key=lambda tile: len(tile.parts))
    return Tile((*parts, *longer.parts[len(parts) :]), a.element, a.shape)


def multiply(kernel: Kernel, a: Tile, b: Tile) -> Tile:
    """The products of the numbers of two tiles of one type and shape."""
    if len(a.parts) == 1 or len(b.parts) == 1:
        real, other = (a, b) if len(a.parts) == 1 else (b, a)
        products = [numbers.multiply(kernel, real.parts[0], part) for part in other.parts]
        return Tile(tuple(products), a.element, a.shape)
    (a_re, a_im), (b_re, b_im) = a.parts, b.parts
    rr, ii = numbers.multiply(kernel, a_re, b_re), numbers.multiply(kernel, a_im, b_im)
    ri, ir = numbers.multiply(kernel, a_re, b_im), numbers.multiply(kernel, a_im, b_re)
    real = kernel.emit(arith.SubfOp(rr, ii)).result
    return Tile((real, numbers.add(kernel, ri, ir)), a.element, a.shape)

"""Runs single operations on tiles, and rounds numbers exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IntegerType,
)
from xdsl.ir import Attribute, Block, Operation

from tests.seeds import fresh_generator
from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.cuda_tile.types import TileType
from xtile.semantics.addresses import AddressSpace
from xtile.semantics.compiler import Compiler
from xtile.semantics.configuration import Configuration
from xtile.semantics.cuda_tile.numbers import element_number
from xtile.semantics.sanitizer.sanitizer import Sanitizer
from xtile.semantics.state import State
from xtile.semantics.storage import from_bits
from xtile.semantics.upstream.numbers import Kind, Number

ELEMENTS: dict[str, Attribute] = {
    **{f"i{bits}": IntegerType(bits) for bits in (1, 4, 8, 16, 32, 64)},
    "bf16": BFloat16Type(),
    "f16": Float16Type(),
    "f32": Float32Type(),
    "f4E2M1FN": Float4E2M1FNType(),
    "f64": Float64Type(),
    "f8E4M3FN": Float8E4M3FNType(),
    "f8E5M2": Float8E5M2Type(),
    "f8E8M0FNU": Float8E8M0FNUType(),
    "tf32": FloatTF32Type(),
}
"""The element types of tiles, by their text."""

NUMBERS: dict[str, Number] = {text: element_number(type) for text, type in ELEMENTS.items()}
"""The numbers of each element type."""

BASE_FLOATS = ("f16", "bf16", "f32", "f64")
"""The types that floats are computed in."""

INTEGERS = ("i1", "i8", "i16", "i32", "i64")
"""The types that integers are computed in."""

FRACTION_BITS = {
    "f16": 10, "bf16": 7, "f32": 23, "f64": 52, "tf32": 10, "f8E4M3FN": 3, "f8E5M2": 2,
    "f4E2M1FN": 1,
}  # fmt: skip

LEAST_EXPONENT = {
    "f16": -14, "bf16": -126, "f32": -126, "f64": -1022, "tf32": -126, "f8E4M3FN": -6,
    "f8E5M2": -14, "f4E2M1FN": 0,
}  # fmt: skip

LARGEST = {
    "f16": Fraction(65504),
    "bf16": (2 - Fraction(1, 2**7)) * 2**127,
    "f32": (2 - Fraction(1, 2**23)) * 2**127,
    "f64": (2 - Fraction(1, 2**52)) * 2**1023,
    "tf32": (2 - Fraction(1, 2**10)) * 2**127,
    "f8E4M3FN": Fraction(448),
    "f8E5M2": Fraction(57344),
    "f4E2M1FN": Fraction(6),
}

SATURATED = ("f8E4M3FN", "f8E5M2", "f4E2M1FN")
"""The types in which what is too large becomes the largest number."""

_ROUND: dict[RoundingMode, Callable[[Fraction], int]] = {
    RoundingMode.NEAREST_EVEN: round,
    RoundingMode.ZERO: math.trunc,
    RoundingMode.NEGATIVE_INF: math.floor,
    RoundingMode.POSITIVE_INF: math.ceil,
}


def rounded(exact: Fraction, type: str, mode: RoundingMode, zero: float = 0.0) -> float:
    """A number in a type.

    Args:
        exact: The number.
        type: The type.
        mode: The rounding mode.
        zero: What an exact 0 is.
    """
    if exact == 0:
        return zero
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    if Fraction(2) ** exponent > abs(exact):
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, LEAST_EXPONENT[type]) - FRACTION_BITS[type])
    near = _ROUND[mode](exact / unit) * unit
    if abs(near) > LARGEST[type]:
        return _too_large(1 if near > 0 else -1, type, mode)
    return math.copysign(float(near), 1 if exact > 0 else -1)


def _too_large(sign: int, type: str, mode: RoundingMode) -> float:
    """What a number becomes whose size no finite number of the type has."""
    outwards = RoundingMode.POSITIVE_INF if sign > 0 else RoundingMode.NEGATIVE_INF
    if type not in SATURATED and mode in (RoundingMode.NEAREST_EVEN, outwards):
        return math.copysign(math.inf, sign)
    return math.copysign(float(LARGEST[type]), sign)


def random_bits(type: str, shape: int | tuple[int, ...]) -> Any:
    """Numbers of a type with random bits: any exponent, NaN and infinities among them."""
    bits = fresh_generator().integers(0, 2**64, shape, np.uint64, endpoint=False)
    number = NUMBERS[type]
    if type == "tf32":
        values = number.rounded(bits.astype(np.uint32).view(np.float32))
        # Between tf32 and f32 a signaling NaN becomes quiet.
        return np.where(np.isnan(values), np.copysign(np.float32(np.nan), values), values)
    return np.asarray(from_bits(bits.astype(np.uint64), number))


def random_floats(type: str, shape: int | tuple[int, ...]) -> Any:
    """Numbers of a type around 1, both signs."""
    return np.asarray(NUMBERS[type].rounded(fresh_generator().standard_normal(shape)))


def mixed_floats(type: str, count: int) -> Any:
    """Finite numbers of a type: half of them around 1, half with any exponent."""
    values = np.where(np.arange(count) % 2, random_floats(type, count), random_bits(type, count))
    with np.errstate(all="ignore"):
        wide = values.astype(np.float64)
    return np.where(np.isfinite(wide), values, NUMBERS[type].number(1.5)).astype(values.dtype)


def random_integers(type: str, shape: int | tuple[int, ...]) -> Any:
    """Random integers, the extremes and those around 0 among them."""
    number = NUMBERS[type]
    values = fresh_generator().integers(0, 2**64, shape, np.uint64, endpoint=False).astype(np.int64)
    least = -(2 ** (number.bits - 1))
    special = [least, -least - 1, 0, -1, 1, 2, number.bits]
    flat = values.reshape(-1)
    chosen = fresh_generator().integers(0, 4, flat.shape) == 0
    flat[chosen] = fresh_generator().choice(np.array(special, np.int64), int(chosen.sum()))
    return np.asarray(number.wrapped(values))


def signed(value: Any, type: str) -> int:
    """An element as a number with a sign."""
    return int(NUMBERS[type].signed(value))


def unsigned(value: Any, type: str) -> int:
    """An element as a number without a sign."""
    return int(NUMBERS[type].unsigned(value))


def fractions(values: Any) -> list[Fraction]:
    """Finite floats as fractions."""
    return [Fraction(float(value)) for value in np.ravel(values)]


def tile(shape: Sequence[int], element: str) -> TileType:
    """The type of a tile."""
    return TileType(shape, ELEMENTS[element])


def evaluate(
    make: Callable[..., Operation],
    *operands: tuple[Any, str | Attribute],
    observer: Sanitizer | None = None,
) -> Any:
    """What an operation makes of tiles: its result, or a list of its results.

    Args:
        make: The operation, made from its operands.
        operands: For each operand a tile and its elements' type.
        observer: Is told what happens.
    """
    types = [ELEMENTS.get(element, element) for _, element in operands]
    shapes = [np.shape(value) for value, _ in operands]
    block = Block(arg_types=[TileType(s, t) for s, t in zip(shapes, types, strict=True)])
    operation = make(*block.args)
    block.add_op(operation)
    operation.verify()
    configuration = Configuration(1, (1, 1, 1), (1, 1, 1), (1, 1, 1), None)
    compiler = Compiler(configuration, is_observed=observer is not None)
    slots = compiler.slots(block.args)
    body = compiler.block(block)
    results = compiler.slots(operation.results)
    values: list[Any] = [None] * compiler.slot_count
    for slot, (value, _) in zip(slots, operands, strict=True):
        values[slot] = np.asarray(value)[()]
    state = State(values, (0, 0, 0), configuration, AddressSpace(), observer, is_collective=True)
    with np.errstate(all="ignore"):
        body.run(state)
    for result, slot in zip(operation.results, results, strict=True):
        _check_held(values[slot], result.type)
    found = [values[slot] for slot in results]
    return found[0] if len(found) == 1 else found


def _check_held(value: Any, type: Attribute) -> None:
    """Checks that a tile is held as `numbers.py` says."""
    assert isinstance(type, TileType)
    number = element_number(type)
    assert np.shape(value) == tuple(type.get_shape())
    assert value.dtype == number.dtype
    if number.kind is Kind.INTEGER and number.bits == 4:
        assert np.all((value >= -8) & (value <= 7))


def same(a: Any, b: Any) -> bool:
    """Whether all elements are equal, zeros with their signs; any NaN equals any other."""
    left, right = (np.asarray(each) for each in (a, b))
    if left.dtype.kind in "biu":
        return bool(np.array_equal(left, right))
    left, right = left.astype(np.float64), right.astype(np.float64)
    equal = (left == right) & (np.signbit(left) == np.signbit(right))
    return bool(np.all(equal | (np.isnan(left) & np.isnan(right))))

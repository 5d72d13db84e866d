"""Products of vectors.

They are computed in the type of the accumulator, or in f32 if that is narrower; the order of the
additions is not specified.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.shapes import dimensions_of
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.upstream import floats
from xtile.semantics.upstream.elementwise import elementwise
from xtile.semantics.upstream.numbers import Kind, Number, number_of, without_unused_bits
from xtile.semantics.values import Array, Value, choose
from xtile.semantics.vector.arrays import (
    AXES,
    as_array,
    as_number,
    is_vector,
    shape_of,
    spread,
)
from xtile.semantics.vector.combining import Combiner, kind_of


class _Contraction:
    """Which products a contraction combines to which elements.

    Dimensions of the iterations are letters, as in numpy's `einsum`.
    """

    def __init__(self, operation: Operation) -> None:
        maps = cast("Any", operation.properties["indexing_maps"])
        self.left, self.right, self.result = (
            "".join(chr(ord("a") + (i or 0)) for i in dimensions_of(map)) for map in maps
        )
        count = len(cast("Any", operation.properties["iterator_types"]))
        self.iterations = "".join(chr(ord("a") + i) for i in range(count))
        self.reduced = "".join(each for each in self.iterations if each not in self.result)

    def sums(self, left: Array, right: Array) -> Array:
        """The sums of the products."""
        return _einsum(f"...{self.left},...{self.right}->...{self.result}", left, right)

    def products(self, left: Array, right: Array) -> Array:
        """The products that make each element of the result, along the first axis."""
        order = self.reduced + self.result
        products = _einsum(f"...{self.left},...{self.right}->...{order}", left, right)
        return self._in_front(products)

    def mask(self, mask: Array) -> Array:
        """A mask of the iterations, as the products are."""
        order = self.reduced + self.result
        return self._in_front(np.einsum(f"...{self.iterations}->...{order}", mask))

    def _in_front(self, array: Array) -> Array:
        count = len(self.reduced)
        flat = array.reshape(*array.shape[:AXES], -1, *array.shape[AXES + count :])
        return np.moveaxis(flat, AXES, 0)


def _einsum(subscripts: str, left: Array, right: Array) -> Array:
    if left.shape[:AXES] == right.shape[:AXES] == (1, 1):
        # Without the axes that nothing varies along, numpy can use a matrix product.
        plain = subscripts.replace("...", "")
        return np.einsum(plain, left[0, 0], right[0, 0], optimize=True)[np.newaxis, np.newaxis]
    return np.einsum(subscripts, left, right)


def _contract(operation: Operation, compiler: Compiler, mask: int | None = None) -> Step:
    lhs, rhs, acc = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    kind = kind_of(operation)
    combiner = Combiner(kind, number_of(operation.results[0].type))
    left_type, right_type = (number_of(each.type) for each in operation.operands[:2])
    contraction = _Contraction(operation)
    gives_vector = is_vector(operation.results[0])
    is_sum = kind == "add" and mask is None

    def step(state: State) -> None:
        values = state.values
        left = _factor(values[lhs], left_type, combiner)
        right = _factor(values[rhs], right_type, combiner)
        start = combiner.widened(as_array(values[acc]))
        if is_sum:
            total = combiner.combined(start, _product(contraction.sums(left, right), combiner))
        else:
            products = _product(contraction.products(left, right), combiner)
            counted = None if mask is None else contraction.mask(values[mask])
            total = combiner.folded(products, start, counted)
        total = combiner.rounded(total)
        values[result] = total if gives_vector else as_number(total)

    return step


def _factor(value: Value, type: Number, combiner: Combiner) -> Array:
    """Numbers as they are multiplied: as floats, or as integers with a sign.

    Memory of tf32 may hold bits that it has not, at which matrix units do not look.
    """
    wide = combiner.wide
    if type.text == "tf32":
        value = without_unused_bits(value)
    if wide.kind is Kind.INTEGER:
        return type.signed(value).astype(np.int8 if wide.bits == 1 else wide.dtype)
    return value.astype(wide.dtype)


def _product(value: Array, combiner: Combiner) -> Array:
    """Products, or sums of them, as numbers of the type in which they are combined."""
    wide = combiner.wide
    return wide.wrapped(value) if wide.kind is Kind.INTEGER else value


def _outer_product(operation: Operation, compiler: Compiler, mask: int | None = None) -> Step:
    lhs, rhs, *acc = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    type_ = number_of(operation.results[0].type)
    combine = _multiply_and_combine(kind_of(operation), type_, has_start=bool(acc))
    rank = len(shape_of(operation.results[0]))
    columns = shape_of(operation.operands[1])

    def step(state: State) -> None:
        values = state.values
        left, right = spread(values[lhs], rank), as_array(values[rhs])
        right = right.reshape(*right.shape[:AXES], 1, *columns)
        start = values[acc[0]] if acc else None
        total = combine(left, right, start)
        if mask is not None and start is not None:
            total = choose(values[mask], total, start)
        values[result] = total

    return step


def _multiply_and_combine(kind: str, type: Number, has_start: bool) -> Callable[..., Value]:
    """The function of two factors and what their product is combined with."""
    combiner = Combiner(kind, type)
    multiply = Combiner("mul", type)
    if has_start and kind == "add" and type.kind is Kind.FLOAT:
        # The addition is fused: MLIR lowers it to vector.fma.
        return floats.fused_multiply_add(type)

    def combine(left: Value, right: Value, start: Value) -> Value:
        product = multiply.combined(multiply.widened(left), multiply.widened(right))
        if start is not None:
            product = combiner.combined(combiner.widened(start), product)
        return combiner.rounded(product)

    return combine


MASKED = {
    "vector.contract": _contract,
    "vector.outerproduct": _outer_product,
}
"""The handlers that take the slot of a mask, too."""

HANDLERS: dict[str, Handler] = {**MASKED, "vector.fma": elementwise(floats.fused_multiply_add)}
"""The handler of each operation, by name."""

"""Products of matrices: dpas where the matrix unit has the shape, shuffles elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.construction import made
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.layouts.intel import WORD
from xtile.rewrite.contractions import MATMUL, Maps, factors_of, iteration_maps, uses_as_factor
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.targets.products import unit_for
from xtile.targets.target import MatrixUnit
from xtile.translate.core_to_xegpu import xegpu_operations as xegpu
from xtile.translate.core_to_xegpu.components import Components, shape_of
from xtile.translate.core_to_xegpu.fragments import (
    BlockForm,
    Fragment,
    build,
    of_values,
    spans,
)
from xtile.translate.core_to_xegpu.lowering import Lowering
from xtile.translate.core_to_xegpu.operands import as_operand, operands
from xtile.translate.core_to_xegpu.pieces import from_scalars, to_scalars
from xtile.translate.core_to_xegpu.scattered import indices_of, position
from xtile.translate.core_to_xegpu.subgroup import KINDS, combiner
from xtile.translate.core_to_xegpu.widening import rounded, wide_type, widened


def _is_product(operation: Operation) -> bool:
    return isinstance(operation, ContractionOp) and iteration_maps(operation) == MATMUL


def form_of_operand(lowering: Lowering, result: SSAValue) -> BlockForm:
    """The blocks that products on the matrix unit want of a matrix, if nothing else uses it."""
    unit = _unit_of_uses(lowering, result, 0)
    if unit is not None and unit.depth < unit.columns:
        return BlockForm(rows=_TALLEST, width=unit.depth)
    if unit is not None:
        return BlockForm(neighbours=unit.depth // unit.columns)
    unit = _unit_of_uses(lowering, result, 1)
    if unit is None:
        return BlockForm()
    is_packed = unit.bits < WORD
    return BlockForm(rows=unit.depth if is_packed else 2 * unit.depth, is_packed=is_packed)


_TALLEST = 32
"""The rows of a block of the left operand that is loaded at once."""


def _unit_of_uses(lowering: Lowering, result: SSAValue, index: int) -> MatrixUnit | None:
    """What computes all uses of a matrix if it is only used as one operand of products."""
    unit: MatrixUnit | str | None = None
    for use in uses_as_factor(result):
        if use.index != index or not _is_product(use.operation):
            return None
        unit = _unit_of(lowering, use.operation, use.operation.operand_types)
        if isinstance(unit, str):
            return None
    return unit


def _unit_of(
    lowering: Lowering, operation: Operation, types: Sequence[Attribute]
) -> MatrixUnit | str:
    """What the matrix unit computes a product C := A B + C with, or why it does not.

    Args:
        lowering: The translation.
        operation: The product.
        types: The types of A, B and C.
    """
    left, right, accumulator = (cast("VectorType[Attribute]", type_) for type_ in types)
    if _kind_of(operation) != "add":
        return f"it has sums of products only, but these are combined by {_kind_of(operation)}"
    lengths = {length for _, length in spans(lowering.layout(accumulator))}
    units = [
        unit_for(
            lowering.target,
            lowering.target.matrix_units,
            (left.element_type, right.element_type),
            accumulator.element_type,
            lanes=lowering.subgroup_size,
            shape=(rows, None, None),
        )
        for rows in (None, *sorted(lengths))
    ]
    unit = next((unit for unit in units if isinstance(unit, str)), units[0])
    if isinstance(unit, str):
        return unit
    if left.get_shape()[1] % unit.depth != 0:
        return f"the depth {left.get_shape()[1]} is no multiple of {unit.depth}"
    if right.get_shape()[1] % unit.columns != 0:
        return f"{right.get_shape()[1]} columns are no multiple of {unit.columns}"
    if any(rows * unit.depth % unit.columns for rows in lengths):
        return f"{left.get_shape()[0]} rows of {unit.depth} cannot be dealt to {unit.columns} lanes"
    return unit


def _kind_of(operation: Operation) -> str:
    """How the products of a contraction are combined."""
    return str(cast(ContractionOp, operation).kind.data)


def _contract(operation: Operation, lowering: Lowering) -> None:
    factors = factors_of(operation)
    if factors is None:
        unit = "this is no product C := A B + C of matrices"
    else:
        types = [_type_of(operation, *factor) for factor in factors]
        unit = _unit_of(lowering, operation, [*types, operation.operands[2].type])
        if not isinstance(unit, str):
            left, right = (_factor(lowering, operation, *factor) for factor in factors)
            sums = lowering.fragment(operation.operands[2])
            result = _on_matrix_unit(lowering, unit, types[0].element_type, left, right, sums)
            lowering.define(operation.results[0], result)
            return
    lowering.remark(f"multiplies without the matrix unit: {unit}")
    _by_components(lowering, operation)


def _type_of(operation: Operation, number: int, is_turned: bool) -> VectorType[Attribute]:
    """The type of a factor, or of its transpose."""
    type_ = cast("VectorType[Attribute]", operation.operands[number].type)
    return VectorType(type_.element_type, type_.get_shape()[::-1]) if is_turned else type_


def _factor(lowering: Lowering, operation: Operation, number: int, is_turned: bool) -> Fragment:
    """A factor, or its transpose, whose components move between lanes."""
    old = operation.operands[number]
    if not is_turned:
        return lowering.fragment(old)
    source = Components(lowering, old)
    layout = lowering.layout(_type_of(operation, number, is_turned))

    def piece(block: int, first: int, length: int) -> SSAValue:
        locations = (position(lowering, layout, block, first + i) for i in range(length))
        scalars = [source.at((column, row)) for row, column in locations]
        return from_scalars(lowering, scalars)

    return build(layout, piece)


def _on_matrix_unit(
    lowering: Lowering,
    unit: MatrixUnit,
    element: Attribute,
    left: Fragment,
    right: Fragment,
    accumulator: Fragment,
) -> Fragment:
    rows, columns = operands(lowering, unit, left, right)
    result = [total for sums in accumulator.blocks for total in sums]
    for k, parts in enumerate(rows):
        number = 0
        for column, sums in zip(columns, accumulator.blocks, strict=True):
            for row in range(len(sums)):
                a = as_operand(lowering, parts[row], element)
                b = as_operand(lowering, column[k], element)
                result[number] = xegpu.dpas(lowering, a, b, result[number])
                number += 1
    return of_values(accumulator.layout, result)


def _by_components(lowering: Lowering, operation: Operation) -> None:
    """Combines products of components, which are fetched from the lanes that hold them.

    Sums of f16 and bf16 are computed in f32 and rounded once.
    """
    lhs, rhs, sums = operation.operands
    maps = iteration_maps(operation)
    inner_sizes = _sizes(operation, maps)[len(maps[2]) :]
    element = value_type(sums.type)
    wide = wide_type(element)
    factors = [Components(lowering, operand, wide) for operand in (lhs, rhs)]
    kind = _kind_of(operation)
    if kind not in KINDS:
        raise lowering.error(f"products cannot be combined by {kind}")
    combine = combiner(lowering, kind, wide)

    def total(outer: Sequence[Index], start: SSAValue) -> SSAValue:
        """A component of the result, from the numbers of its iterations and what it begins with."""
        result = widened(lowering, start, element)
        for inner in itertools.product(*map(range, inner_sizes)):
            iterations = [*outer, *inner]
            a, b = (
                factor.at([iterations[each] for each in map_])
                for factor, map_ in zip(factors, maps[:2], strict=True)
            )
            result = combine(_multiply(lowering, a, b), result)
        return rounded(lowering, result, element)

    if maps[2]:
        result = _each(lowering, lowering.fragment(sums), len(maps[2]), total)
        lowering.define(operation.results[0], result)
    else:
        lowering.define(operation.results[0], total((), lowering.value(sums)))


def _each(
    lowering: Lowering,
    fragment: Fragment,
    rank: int,
    make: Callable[[Sequence[Index], SSAValue], SSAValue],
) -> Fragment:
    """What `make` makes of the indices and the value of each component."""
    values: list[SSAValue] = []
    for w, block in enumerate(fragment.blocks):
        first = 0
        for piece in block:
            scalars = [
                make(indices_of(rank, position(lowering, fragment.layout, w, i)), x)
                for i, x in enumerate(to_scalars(lowering, piece), first)
            ]
            values.append(from_scalars(lowering, scalars))
            first += len(scalars)
    return fragment.with_values(values)


def _sizes(operation: Operation, maps: Maps) -> list[int]:
    """How many iterations of each number there are."""
    sizes: dict[int, int] = {}
    for operand, map_ in zip(operation.operands[:2], maps, strict=False):
        sizes.update(zip(map_, shape_of(operand), strict=True))
    return [sizes[number] for number in sorted(sizes)]


def _multiply(lowering: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    is_integer = isinstance(a.type, IntegerType | IndexType)
    kind = arith.MuliOp if is_integer else arith.MulfOp
    return lowering.emit(made(kind, (a, b), (a.type,))).result


RULES: dict[str, Rule] = {ContractionOp.name: _contract}

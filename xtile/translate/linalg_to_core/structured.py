"""Structured operations: products and sums of rows are collective, all others are points.

What an operation is, its loops, maps and body say, whatever its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.linalg import Linalg
from xtile.dialects.linalg.structure import Structure, element_type, rank_of, structure_of
from xtile.rewrite.affine_numbers import affine_number
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.linalg_to_core.collective import as_product, as_sum, emit_product, emit_sum
from xtile.translate.linalg_to_core.kernel import Kernel


def _structured(operation: Operation, kernel: Kernel) -> None:
    try:
        structure = structure_of(operation)
        sources = structure.sizes()
    except VerifyException as error:
        raise kernel.error(f"{spelling_of(operation)}: {error}") from None
    product, row_sum = as_product(structure), as_sum(structure)
    if product is not None:
        emit_product(product, structure, kernel)
    elif row_sum is not None:
        emit_sum(row_sum, structure, kernel)
    else:
        operands = structure.operands
        sizes = [kernel.size((kernel.value(operands[n]), d)) for n, d in sources]
        _emit_points(structure, sizes, kernel)


def _emit_points(structure: Structure, sizes: Sequence[Index], kernel: Kernel) -> None:
    """What each point of the parallel loops computes, with the other loops inside."""
    loops = range(len(sizes))
    parallel = [loop for loop in loops if structure.is_parallel[loop]]
    others = [loop for loop in loops if not structure.is_parallel[loop]]
    if not parallel:
        kernel.remark(
            f"{spelling_of(structure.operation)} has no parallel loop and is no sum of rows, so "
            "that its turns are done one after the other by the work-group as a whole"
        )
        _emit_turns(structure, {}, others, sizes, kernel)
        return
    with kernel.points([sizes[loop] for loop in parallel]) as point:
        _emit_turns(structure, dict(zip(parallel, point, strict=True)), others, sizes, kernel)


def _emit_turns(
    structure: Structure,
    point: Mapping[int, Index],
    others: Sequence[int],
    sizes: Sequence[Index],
    kernel: Kernel,
) -> None:
    """The turns of one point, between which the elements of the outputs are carried."""
    first = len(structure.inputs)
    is_carried = all(
        each.position in point
        for map_ in structure.output_maps
        for result in map_.results
        for each in result.dfs()
        if isinstance(each, AffineDimExpr)
    )
    outputs = [
        (number, structure.outputs[number - first]) for number in range(first, len(structure.maps))
    ]

    def load(numbers: Sequence[Index], operand: int) -> SSAValue:
        value = kernel.value(structure.operands[operand])
        if not _is_memory(structure.operands[operand]):
            return value
        return kernel.load(value, _at(structure, operand, numbers, kernel))

    def turn(inner: Sequence[Index], carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        where = {**point, **dict(zip(others, inner, strict=True))}
        numbers = [where[loop] for loop in range(len(sizes))]
        elements: list[SSAValue | None] = []
        for operand, argument in enumerate(structure.body.args):
            if operand >= first and is_carried and others:
                elements.append(carried[operand - first])
            else:
                elements.append(load(numbers, operand) if argument.uses else None)
        new = _emit_body(structure, elements, numbers, kernel)
        if not (is_carried and others):
            for (operand, output), value in zip(outputs, new, strict=True):
                kernel.store(value, kernel.value(output), _at(structure, operand, numbers, kernel))
            return ()
        return new

    inner_sizes = [sizes[loop] for loop in others]
    if not (is_carried and others):
        kernel.nest(inner_sizes, (), turn)
        return
    numbers = [point.get(loop, 0) for loop in range(len(sizes))]
    initial = [load(numbers, operand) for operand, _ in outputs]
    results = kernel.nest(inner_sizes, initial, turn)
    for (operand, output), value in zip(outputs, results, strict=True):
        kernel.store(value, kernel.value(output), _at(structure, operand, numbers, kernel))


def _at(
    structure: Structure, operand: int, numbers: Sequence[Index], kernel: Kernel
) -> list[Index]:
    return [affine_number(kernel, result, numbers) for result in structure.maps[operand].results]


def _is_memory(operand: SSAValue) -> bool:
    return rank_of(operand) > 0 or element_type(operand) is not operand.type


def _emit_body(
    structure: Structure,
    elements: Sequence[SSAValue | None],
    numbers: Sequence[Index],
    kernel: Kernel,
) -> list[SSAValue]:
    """The body on some elements; what it yields."""
    for argument, element in zip(structure.body.args, elements, strict=True):
        if element is not None:
            kernel.define(argument, element)
    for operation in structure.body.ops:
        if operation.name == "linalg.yield":
            return kernel.values(operation.operands)
        if operation.name == "linalg.index":
            loop: int = cast("Any", operation.properties["dim"]).value.data
            kernel.define(operation.results[0], kernel.as_value(numbers[loop]))
        else:
            kernel.translate(operation)
    raise AssertionError("a body ends with linalg.yield")


_PARTS = ("linalg.index", "linalg.yield")

RULES: Mapping[str, Rule] = {
    kind.name: _structured for kind in Linalg.operations if kind.name not in _PARTS
}
"""The rule of each operation, by name."""

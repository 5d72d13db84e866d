"""Operations that add up along a dimension: sum, gemv and cumsum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from xtile.dialects.core.blas import CumsumOp, GemvOp, SumOp
from xtile.rewrite.emitter import element_type, rank
from xtile.rewrite.indices import Index
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.overlap import separate
from xtile.transforms.distribute.update import Update, update_of
from xtile.transforms.distribute.vectors.elementwise import common_shape, common_width
from xtile.transforms.distribute.vectors.segments import for_each_vector, segments_of
from xtile.transforms.distribute.vectors.updates import Part, apply
from xtile.transforms.distribute.vectors.values import (
    is_contiguous,
    load_as,
    multiply_add,
    spread,
    total,
    width_of,
    zeros,
)

_SUMS = 4
"""Vectors of a line that are added up side by side, so that no addition waits for the last one."""

Add: TypeAlias = Callable[[SSAValue, Sequence[Index], Index, int], SSAValue]
"""Adds terms to a sum: those of a row, or of so many neighbouring rows, with their number in it;
or so many neighbouring terms of a row."""


def sum_(operation: SumOp, kernel: Kernel) -> None:
    """Computes b := alpha op(A) 1 + beta b."""
    a, update = kernel.value(operation.a), update_of(operation, kernel)
    is_transposed = operation.transpose_a is not None and rank(a) == 2

    def add(before: SSAValue, row: Sequence[Index], number: Index, width: int) -> SSAValue:
        at = (number, *row) if is_transposed else (*row, number)
        return numbers.add(kernel, before, load_as(kernel, a, at, width, update.wide))

    with kernel.once():
        rows = [
            kernel.size((update.output, 0), (a, int(is_transposed)))
            for _ in range(rank(update.output))
        ]
        depth = kernel.size((a, 0 if is_transposed else rank(a) - 1))
        if is_transposed:
            _add_up_columns(update, rows, depth, common_width(update, a), add)
        else:
            _add_up_rows(update, rows, depth, _width(update, a), add)


def gemv(operation: GemvOp, kernel: Kernel) -> None:
    """Computes c := alpha op(A) b + beta c."""
    a, update = kernel.value(operation.a), update_of(operation, kernel)
    is_transposed = operation.transpose_a is not None
    with kernel.once():
        b = separate(kernel, kernel.value(operation.b), update.output)
        rows = kernel.size((update.output, 0), (a, int(is_transposed)))
        depth = kernel.size((a, int(not is_transposed)), (b, 0))

        def add(before: SSAValue, row: Sequence[Index], number: Index, width: int) -> SSAValue:
            at = (number, *row) if is_transposed else (*row, number)
            left = load_as(kernel, a, at, width, update.wide)
            if is_transposed:
                right = spread(kernel, load_as(kernel, b, (number,), 1, update.wide), width)
            else:
                right = load_as(kernel, b, (number,), width, update.wide)
            return multiply_add(kernel, left, right, before)

        if is_transposed:
            _add_up_columns(update, [rows], depth, common_width(update, a), add)
        else:
            _add_up_rows(update, [rows], depth, _width(update, a, b), add)


def _width(update: Update, *inputs: SSAValue) -> int:
    """The width of vectors of inputs, along the last dimension of each."""
    if not all(map(is_contiguous, inputs)):
        return 1
    return width_of(update.kernel, update.wide, *map(element_type, inputs))


def _add_up_columns(
    update: Update, rows: Sequence[Index], depth: Index, width: int, add: Add
) -> None:
    """Updates vectors of rows, each with the sum of its terms."""
    kernel = update.kernel

    def body(row: list[Index], width: int) -> None:
        with kernel.loop(0, depth, 1, [zeros(kernel, update.wide, width)], "k") as loop:
            loop.results = [add(loop.carried[0], row, loop.index, width)]
        apply(update, [Part(loop.results[0], row, width)])

    for_each_vector(kernel, rows, width, body)


def _add_up_rows(update: Update, rows: Sequence[Index], depth: Index, width: int, add: Add) -> None:
    """Updates each row with the sum of its terms, which lie side by side."""
    kernel = update.kernel

    def body(row: list[Index], _width: int) -> None:
        sums: list[SSAValue] = []
        for segment in segments_of(kernel, depth, width, _SUMS):
            nothing = [zeros(kernel, update.wide, part) for part in segment.widths]
            with kernel.loop(segment.start, segment.stop, segment.step, nothing, "k") as loop:
                loop.results = [
                    add(before, row, kernel.add(loop.index, position), part)
                    for before, (position, part) in zip(
                        loop.carried, segment.positions(), strict=True
                    )
                ]
            sums += loop.results
        result = total(kernel, sums) if sums else zeros(kernel, update.wide, 1)
        apply(update, [Part(result, row, 1)])

    for_each_vector(kernel, rows, 1, body)


def cumsum(operation: CumsumOp, kernel: Kernel) -> None:
    """Computes B := alpha cumulative sum of A along a dimension + beta B."""
    a, update = kernel.value(operation.a), update_of(operation, kernel)
    dimension = operation.dimension.value.data
    with kernel.once():
        shape = list(common_shape(update, (a, False)))
        depth = shape.pop(dimension)

        def body(line: list[Index], width: int) -> None:
            with kernel.loop(0, depth, 1, [zeros(kernel, update.wide, width)], "k") as loop:
                at = [*line[:dimension], loop.index, *line[dimension:]]
                term = load_as(kernel, a, at, width, update.wide)
                sum_ = numbers.add(kernel, loop.carried[0], term)
                apply(update, [Part(sum_, at, width)])
                loop.results = [sum_]

        is_along_lines = dimension < len(shape)
        for_each_vector(kernel, shape, common_width(update, a) if is_along_lines else 1, body)

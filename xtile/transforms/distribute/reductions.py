"""Operations that add up along a dimension: sum, gemv and cumsum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import ComplexType, IndexType, i64
from xdsl.ir import SSAValue

from xtile.dialects.core.attributes import ScanKind
from xtile.dialects.core.blas import CumsumOp, GemvOp, SumOp
from xtile.dialects.core.subgroup import ScanKindAttr, SubgroupScanOp
from xtile.dialects.gpu.attributes import AllReduceOperationAttr
from xtile.dialects.gpu.enumerations import AllReduceOperation
from xtile.dialects.gpu.subgroups import SubgroupReduceOp
from xtile.rewrite.emitter import rank
from xtile.rewrite.indices import Index
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.elementwise import load_wide
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.overlap import separate
from xtile.transforms.distribute.shares import for_each_element, for_each_line
from xtile.transforms.distribute.update import Update, update_of

Term: TypeAlias = Callable[[Sequence[Index], Index], SSAValue]
"""Emits a number that is added up, in the accumulation type: of a row, and its number in it."""


def sum_(operation: SumOp, kernel: Kernel) -> None:
    """Computes b := alpha op(A) 1 + beta b."""
    a, update = kernel.value(operation.a), update_of(operation, kernel)
    is_transposed = operation.transpose_a is not None and rank(a) == 2

    def term(row: Sequence[Index], number: Index) -> SSAValue:
        at = (number, *row) if is_transposed else (*row, number)
        return load_wide(update, a, at)

    rows = [
        kernel.size((update.output, 0), (a, int(is_transposed))) for _ in range(rank(update.output))
    ]
    depth = kernel.size((a, 0 if is_transposed else rank(a) - 1))
    _add_up(update, rows, depth, is_transposed, term)


def gemv(operation: GemvOp, kernel: Kernel) -> None:
    """Computes c := alpha op(A) b + beta c."""
    a, update = kernel.value(operation.a), update_of(operation, kernel)
    b = separate(kernel, kernel.value(operation.b), update.output)
    is_transposed = operation.transpose_a is not None

    def term(row: Sequence[Index], number: Index) -> SSAValue:
        at = (number, *row) if is_transposed else (*row, number)
        return numbers.multiply(kernel, load_wide(update, a, at), load_wide(update, b, (number,)))

    rows = kernel.size((update.output, 0), (a, int(is_transposed)))
    depth = kernel.size((a, int(not is_transposed)), (b, 0))
    _add_up(update, [rows], depth, is_transposed, term)


def _add_up(
    update: Update, rows: Sequence[Index], depth: Index, is_along_rows: bool, term: Term
) -> None:
    """Updates each row with the sum of its terms.

    Lanes lie along the contiguous dimension of the input: if that is the rows, each work-item adds
    up rows of its own; otherwise, unless rows are short, the lanes of a subgroup share each row.
    """
    kernel = update.kernel
    is_short = rows and isinstance(depth, int) and depth < kernel.subgroup_size
    if is_along_rows or is_short:
        for_each_element(
            kernel, rows, lambda row: update.apply(_sum_of(update, 0, depth, 1, row, term), row)
        )
        return

    def share(row: list[Index]) -> None:
        partial = _sum_of(update, kernel.lane, depth, kernel.subgroup_size, row, term)
        total = subgroup_sum(kernel, partial)
        with kernel.when(kernel.compare("eq", kernel.lane, 0)):
            update.apply(total, row)

    for_each_line(kernel, rows, share)


def _sum_of(
    update: Update, start: Index, depth: Index, step: int, row: Sequence[Index], term: Term
) -> SSAValue:
    """The sum of every `step`-th term of a row, from number `start` < `step` on."""
    kernel = update.kernel
    nothing = numbers.zero(kernel, update.wide)
    is_even = isinstance(depth, int) and depth % step == 0
    first, offset = (0, start) if is_even else (start, 0)
    with kernel.loop(first, depth, step, [nothing], "k") as loop:
        number = kernel.add(loop.index, offset)
        loop.results = [numbers.add(kernel, loop.carried[0], term(row, number))]
    return loop.results[0]


def subgroup_sum(kernel: Kernel, value: SSAValue) -> SSAValue:
    """The sum of the values of a subgroup's lanes."""
    return _on_parts(kernel, value, lambda part: _reduce(kernel, part))


def _reduce(kernel: Kernel, value: SSAValue) -> SSAValue:
    add = AllReduceOperationAttr(AllReduceOperation.ADD)
    operation = SubgroupReduceOp(
        operands=[value], properties={"op": add}, result_types=[value.type]
    )
    return kernel.emit(operation).result


def _scan(kernel: Kernel, value: SSAValue) -> SSAValue:
    operation = SubgroupScanOp(
        operands=[value],
        properties={"kind": ScanKindAttr(ScanKind.ADD)},
        result_types=[value.type],
    )
    return kernel.emit(operation).result


def _on_parts(kernel: Kernel, value: SSAValue, combine: Callable[[SSAValue], SSAValue]) -> SSAValue:
    """Combines lanes' values of any type; the operations take integers and real numbers only."""
    if isinstance(value.type, ComplexType):
        real, imaginary = numbers.parts(kernel, value)
        return numbers.join(kernel, combine(real), combine(imaginary))
    if isinstance(value.type, IndexType):
        whole = combine(numbers.cast_number(kernel, value, i64))
        return numbers.cast_number(kernel, whole, IndexType())
    return combine(value)


def cumsum(operation: CumsumOp, kernel: Kernel) -> None:
    """Computes B := alpha cumulative sum of A along a dimension + beta B."""
    a, update = kernel.value(operation.a), update_of(operation, kernel)
    dimension = operation.dimension.value.data
    shape = [kernel.size((update.output, d), (a, d)) for d in range(rank(a))]
    depth = shape.pop(dimension)

    def at(line: Sequence[Index], number: Index) -> list[Index]:
        return [*line[:dimension], number, *line[dimension:]]

    def scan_alone(line: list[Index]) -> None:
        nothing = numbers.zero(kernel, update.wide)
        with kernel.loop(0, depth, initial=[nothing], name="k") as loop:
            indices = at(line, loop.index)
            total = numbers.add(kernel, loop.carried[0], load_wide(update, a, indices))
            update.apply(total, indices)
            loop.results = [total]

    def scan_together(line: list[Index]) -> None:
        _scan_line(update, depth, a, lambda number: at(line, number))

    if dimension == len(shape):
        for_each_line(kernel, shape, scan_together)
    else:
        for_each_element(kernel, shape, scan_alone)


def _scan_line(
    update: Update, depth: Index, a: SSAValue, at: Callable[[Index], list[Index]]
) -> None:
    """The cumulative sums of a line, which the lanes of a subgroup share."""
    kernel = update.kernel
    nothing = numbers.zero(kernel, update.wide)
    with kernel.loop(0, depth, kernel.subgroup_size, [nothing], "k") as loop:
        number = kernel.add(loop.index, kernel.lane)
        is_inside = kernel.compare("slt", number, depth)
        value = kernel.choose(is_inside, lambda: load_wide(update, a, at(number)), lambda: nothing)
        before = loop.carried[0]
        total = numbers.add(
            kernel, before, _on_parts(kernel, value, lambda part: _scan(kernel, part))
        )
        with kernel.when(is_inside):
            update.apply(total, at(number))
        loop.results = [numbers.add(kernel, before, subgroup_sum(kernel, value))]

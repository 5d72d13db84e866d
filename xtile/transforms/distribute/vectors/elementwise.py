"""Operations whose elements do not depend on each other: axpby, hadamard and ger."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xtile.dialects.core.blas import AxpbyOp, GerOp, HadamardOp
from xtile.rewrite.emitter import element_type, rank
from xtile.rewrite.indices import Index
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.overlap import separate
from xtile.transforms.distribute.update import Update, update_of
from xtile.transforms.distribute.vectors.segments import for_each_vector
from xtile.transforms.distribute.vectors.updates import Part, apply
from xtile.transforms.distribute.vectors.values import (
    is_contiguous,
    load_as,
    spread,
    width_of,
)


def common_width(update: Update, *inputs: SSAValue) -> int:
    """The width of vectors of an output and inputs, along the last dimension of each."""
    memories = (update.output, *inputs)
    if not all(map(is_contiguous, memories)):
        return 1
    return width_of(update.kernel, update.wide, *map(element_type, memories))


def axpby(operation: AxpbyOp, kernel: Kernel) -> None:
    """Computes B := alpha op(A) + beta B."""
    a, update = kernel.value(operation.a), update_of(operation, kernel)
    is_transposed = operation.transpose_a is not None and rank(a) == 2
    with kernel.once():
        if is_transposed:
            a = separate(kernel, a, update.output)
        width = 1 if is_transposed else common_width(update, a)

        def body(indices: list[Index], width: int) -> None:
            at = indices[::-1] if is_transposed else indices
            apply(update, [Part(load_as(kernel, a, at, width, update.wide), indices, width)])

        for_each_vector(kernel, common_shape(update, (a, is_transposed)), width, body)


def hadamard(operation: HadamardOp, kernel: Kernel) -> None:
    """Computes C := alpha A ∘ B + beta C."""
    a, b = kernel.values((operation.a, operation.b))
    update = update_of(operation, kernel)

    def body(indices: list[Index], width: int) -> None:
        left, right = (load_as(kernel, memory, indices, width, update.wide) for memory in (a, b))
        apply(update, [Part(numbers.multiply(kernel, left, right), indices, width)])

    with kernel.once():
        shape = common_shape(update, (a, False), (b, False))
        for_each_vector(kernel, shape, common_width(update, a, b), body)


def ger(operation: GerOp, kernel: Kernel) -> None:
    """Computes C := alpha a b^T + beta C."""
    a, b = kernel.values((operation.a, operation.b))
    update = update_of(operation, kernel)

    def body(indices: list[Index], width: int) -> None:
        left = spread(kernel, load_as(kernel, a, indices[:1], 1, update.wide), width)
        right = load_as(kernel, b, indices[1:], width, update.wide)
        apply(update, [Part(numbers.multiply(kernel, left, right), indices, width)])

    with kernel.once():
        rows = kernel.size((update.output, 0), (a, 0))
        columns = kernel.size((update.output, 1), (b, 0))
        for_each_vector(kernel, (rows, columns), common_width(update, b), body)


def common_shape(update: Update, *inputs: tuple[SSAValue, bool]) -> Sequence[Index]:
    """The common shape of an output and inputs, which may be transposed."""
    kernel, output = update.kernel, update.output

    def size(dimension: int) -> Index:
        others = ((memory, 1 - dimension if flipped else dimension) for memory, flipped in inputs)
        return kernel.size((output, dimension), *others)

    return [size(dimension) for dimension in range(rank(output))]

"""Operations whose elements do not depend on each other: axpby, hadamard and ger."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xtile.dialects.core.blas import AxpbyOp, GerOp, HadamardOp
from xtile.rewrite.emitter import rank
from xtile.rewrite.indices import Index
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.overlap import separate
from xtile.transforms.distribute.shares import for_each_element
from xtile.transforms.distribute.update import Update, update_of


def axpby(operation: AxpbyOp, kernel: Kernel) -> None:
    """Computes B := alpha op(A) + beta B."""
    a, update = kernel.value(operation.a), update_of(operation, kernel)
    is_transposed = operation.transpose_a is not None and rank(a) == 2
    if is_transposed:
        a = separate(kernel, a, update.output)

    def body(indices: list[Index]) -> None:
        at = indices[::-1] if is_transposed else indices
        update.apply(load_wide(update, a, at), indices)

    for_each_element(kernel, _shape(kernel, update.output, (a, is_transposed)), body)


def hadamard(operation: HadamardOp, kernel: Kernel) -> None:
    """Computes C := alpha A ∘ B + beta C."""
    a, b = kernel.values((operation.a, operation.b))
    update = update_of(operation, kernel)

    def body(indices: list[Index]) -> None:
        product = numbers.multiply(
            kernel, load_wide(update, a, indices), load_wide(update, b, indices)
        )
        update.apply(product, indices)

    for_each_element(kernel, _shape(kernel, update.output, (a, False), (b, False)), body)


def ger(operation: GerOp, kernel: Kernel) -> None:
    """Computes C := alpha a b^T + beta C."""
    a, b = kernel.values((operation.a, operation.b))
    update = update_of(operation, kernel)
    rows = kernel.size((update.output, 0), (a, 0))
    columns = kernel.size((update.output, 1), (b, 0))

    def body(indices: list[Index]) -> None:
        product = numbers.multiply(
            kernel, load_wide(update, a, indices[:1]), load_wide(update, b, indices[1:])
        )
        update.apply(product, indices)

    for_each_element(kernel, (rows, columns), body)


def load_wide(update: Update, memory: SSAValue, indices: Sequence[Index]) -> SSAValue:
    """An element of an input, in the accumulation type of the output."""
    return numbers.cast_number(update.kernel, update.kernel.load(memory, indices), update.wide)


def _shape(kernel: Kernel, output: SSAValue, *inputs: tuple[SSAValue, bool]) -> list[Index]:
    """The common shape of an output and inputs, which may be transposed."""

    def size(dimension: int) -> Index:
        others = ((memory, 1 - dimension if flipped else dimension) for memory, flipped in inputs)
        return kernel.size((output, dimension), *others)

    return [size(dimension) for dimension in range(rank(output))]

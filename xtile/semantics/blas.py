"""Linear algebra that updates memory, for every language that has such operations.

The operations have the operands `alpha`, `a`, `beta` and `b`, or `alpha`, `a`, `b`, `beta` and `c`,
of which the last is updated, and the attributes `atomic`, `transpose_a` and `transpose_b`.

Source: tensor language reference, section "Collective instructions"; docs/semantics.md, "Linear
algebra".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Attribute, SSAValue

from xtile.semantics import linalg
from xtile.semantics.accumulation import accumulation_type
from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.instructions.events import report_block
from xtile.semantics.numeric_types import cast_function
from xtile.semantics.observer import AccessKind
from xtile.semantics.state import State
from xtile.semantics.values import Array

Compute: TypeAlias = Callable[..., Array]
"""What an operation computes of its inputs, in the accumulation type."""


def element_type(memref: SSAValue) -> Attribute:
    """The element type of a memref."""
    type: Any = memref.type
    return type.element_type


def _blas(
    operation: Any,
    compiler: Compiler,
    inputs: Sequence[SSAValue],
    output: SSAValue,
    compute: Compute,
) -> Step:
    """A step that updates the output with what `compute` makes of the inputs."""
    is_atomic = operation.atomic is not None
    update = linalg.update_function(
        operation.alpha.type, operation.beta.type, element_type(output), is_atomic
    )
    alpha, beta, target = compiler.slots((operation.alpha, operation.beta, output))
    sources = compiler.slots(inputs)

    def step(state: State) -> None:
        values = state.values
        if state.observer is not None:
            report(state)
        arrays = [values[slot].array() for slot in sources]
        update(values[alpha], compute(*arrays), values[beta], values[target].array())

    def report(state: State) -> None:
        assert state.observer is not None
        values = state.values
        state.observer.on_phase()
        for slot in sources:
            report_block(state, operation, AccessKind.READ, values[slot])
        keeps = values[beta] != 0
        if is_atomic:
            kind = AccessKind.ATOMIC_UPDATE if keeps else AccessKind.ATOMIC_WRITE
            report_block(state, operation, kind, values[target])
        else:
            if keeps:
                report_block(state, operation, AccessKind.READ, values[target])
            report_block(state, operation, AccessKind.WRITE, values[target])
        state.observer.on_phase()

    return step


def _wide(source: SSAValue, output: SSAValue) -> Callable[[Array], Array]:
    """The conversion of an input to the accumulation type of the output."""
    return cast_function(element_type(source), accumulation_type(element_type(output)))


def axpby(operation: Any, compiler: Compiler) -> Step:
    """B := alpha op(A) + beta B."""
    to_wide = _wide(operation.a, operation.b)
    is_transposed = operation.transpose_a is not None

    def compute(a: Array) -> Array:
        return to_wide(linalg.transposed(a, is_transposed))

    return _blas(operation, compiler, (operation.a,), operation.b, compute)


def row_sums(operation: Any, compiler: Compiler) -> Step:
    """The row sums of a matrix or the sum of a vector: b := alpha op(A) 1 + beta b."""
    to_wide = _wide(operation.a, operation.b)
    is_transposed = operation.transpose_a is not None

    def compute(a: Array) -> Array:
        return np.asanyarray(linalg.sum_of(to_wide(linalg.transposed(a, is_transposed))))

    return _blas(operation, compiler, (operation.a,), operation.b, compute)


def cumsum(operation: Any, compiler: Compiler, mode: int) -> Step:
    """B := alpha cumulative sum of A along a mode + beta B."""
    to_wide = _wide(operation.a, operation.b)

    def compute(a: Array) -> Array:
        return linalg.cumulative_sum(to_wide(a), mode)

    return _blas(operation, compiler, (operation.a,), operation.b, compute)


def _product(operation: Any, compiler: Compiler, is_b_transposed: bool) -> Step:
    product = linalg.product_function(
        element_type(operation.a),
        element_type(operation.b),
        accumulation_type(element_type(operation.c)),
    )
    is_a_transposed = operation.transpose_a is not None

    def compute(a: Array, b: Array) -> Array:
        a = linalg.transposed(a, is_a_transposed)
        b = linalg.transposed(b, is_b_transposed)
        linalg.check_depth(a, b)
        return product(a, b)

    return _blas(operation, compiler, (operation.a, operation.b), operation.c, compute)


def gemm(operation: Any, compiler: Compiler) -> Step:
    """C := alpha op(A) op(B) + beta C."""
    return _product(operation, compiler, operation.transpose_b is not None)


def gemv(operation: Any, compiler: Compiler) -> Step:
    """C := alpha op(A) b + beta c."""
    return _product(operation, compiler, False)


def ger(operation: Any, compiler: Compiler) -> Step:
    """C := alpha a b^T + beta C."""
    wide_a, wide_b = _wide(operation.a, operation.c), _wide(operation.b, operation.c)

    def compute(a: Array, b: Array) -> Array:
        return wide_a(a)[:, np.newaxis] * wide_b(b)[np.newaxis, :]

    return _blas(operation, compiler, (operation.a, operation.b), operation.c, compute)


def hadamard(operation: Any, compiler: Compiler) -> Step:
    """C := alpha A * B + beta C, element by element."""
    wide_a, wide_b = _wide(operation.a, operation.c), _wide(operation.b, operation.c)

    def compute(a: Array, b: Array) -> Array:
        linalg.check_shapes(a, b)
        return wide_a(a) * wide_b(b)

    return _blas(operation, compiler, (operation.a, operation.b), operation.c, compute)

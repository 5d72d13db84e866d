"""What an instruction adds up, computed in f64: the sum, its terms and their magnitudes.

The instruction runs on copies of its operands in f64, where the sums of f32 and narrower types
neither overflow nor are rounded as they are in their own type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Block, Operation

from xtile.dialects.tensorlang.ops.collective import BlasOperation
from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixMulAddOp
from xtile.dialects.tensorlang.types import (
    C64,
    COMPLEX_TYPES,
    F64,
    FLOATING_TYPES,
    CoopmatrixType,
    MemrefType,
    component_type,
)
from xtile.semantics.compiler import Compiler
from xtile.semantics.language import handler_of
from xtile.semantics.memory import Buffer, View
from xtile.semantics.numeric_types import numpy_type
from xtile.semantics.state import State
from xtile.semantics.values import Value

Array: TypeAlias = npt.NDArray[Any]


class WideSum:
    """The sums of an instruction in f64.

    Args:
        operation: The instruction; it adds up in a register, or in the memory of its last operand.
        compiler: What compiles it.
    """

    def __init__(self, operation: Operation, compiler: Compiler) -> None:
        wide = _widened(operation)
        handler = handler_of(operation)
        assert handler is not None
        self._dtypes = [numpy_type(operand.type) for operand in wide.operands]
        self._step = handler(wide, compiler)
        self._sources = compiler.slots(operation.operands)
        self._operands = compiler.slots(wide.operands)
        (self._outcome,) = compiler.slots(wide.results or wide.operands[-1:])

    def exact(self, state: State) -> Array:
        """The sums, with the errors of f64 only."""
        return self._run(state, lambda array: array)

    def terms(self, state: State) -> Array:
        """How many products each result is the sum of."""
        return np.real(self._run(state, np.ones_like))

    def magnitudes(self, state: State) -> Array:
        """The sums of the magnitudes of the products of finite numbers."""
        return np.real(self._run(state, _finite_magnitudes))

    def _run(self, state: State, change: Callable[[Array], Array]) -> Array:
        for source, slot, dtype in zip(self._sources, self._operands, self._dtypes, strict=True):
            state.values[slot] = _copied(state.values[source], change, dtype)
        self._step(state)
        return array_of(state.values[self._outcome])


def array_of(value: Value) -> Array:
    """The numbers of a value in a register, or those that a memref shows, which share its memory.

    A memref must be one view for all work-items, as in collective instructions it is.
    """
    return value.array() if isinstance(value, View) else np.asarray(value)


def changed_type(operation: Operation) -> Attribute:
    """The type of the numbers that an instruction adds up to."""
    if isinstance(operation, BlasOperation):
        memref = operation.operands[-1].type
        assert isinstance(memref, MemrefType)
        return memref.element_type
    return component_type(operation.results[0].type)


def summed_type(operation: Operation) -> Attribute:
    """The type that an instruction rounds its sums to, before they become of `changed_type`."""
    if isinstance(operation, CooperativeMatrixMulAddOp):
        return component_type(operation.c.type)
    return changed_type(operation)


def is_atomic(operation: Operation) -> bool:
    """Whether what is added up is rounded before it is added to memory."""
    return isinstance(operation, BlasOperation) and isinstance(operation.atomic, UnitAttr)


def _finite_magnitudes(array: Array) -> Array:
    return np.where(np.isfinite(array), np.abs(array), 0)


def _copied(value: Value, change: Callable[[Array], Array], dtype: np.dtype[Any]) -> Value:
    """A value of its own that holds other numbers, and whose type is another."""
    changed = change(array_of(value).astype(dtype)).astype(dtype)
    if not isinstance(value, View):
        return changed[()]
    return _view(changed)


def _view(array: Array) -> View:
    """A memref of its own memory."""
    strides = tuple(int(np.prod(array.shape[:mode])) for mode in range(array.ndim))
    return View(Buffer(array.reshape(-1, order="F").copy(), ""), 0, array.shape, strides)


def _widened(operation: Operation) -> Operation:
    """The same instruction on operands in f64."""
    operands = Block(arg_types=[_wide_type(operand.type) for operand in operation.operands]).args
    return type(operation).create(
        operands=operands,
        result_types=[_wide_type(result.type) for result in operation.results],
        properties=operation.properties,
        attributes=operation.attributes,
    )


def _wide_type(type: Attribute) -> Attribute:
    if isinstance(type, MemrefType):
        return MemrefType.get(
            _wide_type(type.element_type), type.shape, type.strides, type.address_space
        )
    if isinstance(type, CoopmatrixType):
        return CoopmatrixType.get(_wide_type(type.component_type), *type.shape, type.use)
    if type in FLOATING_TYPES:
        return F64
    return C64 if type in COMPLEX_TYPES else type

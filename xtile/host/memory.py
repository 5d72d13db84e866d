"""Memory of the host and of the device, which is the same memory here.

A deallocation ends the memory: what is accessed or deallocated after it is an error.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td`, `Dialect/MemRef/IR/MemRefOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.gpu import AsyncTokenType
from xdsl.ir import Operation, SSAValue

from xtile.dialects.gpu.memory import AllocOp, DeallocOp, MemcpyOp, MemsetOp
from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import View, as_index, uniform_integers
from xtile.semantics.state import State
from xtile.semantics.upstream.allocation import allocate, name_of
from xtile.semantics.upstream.numbers import memref_type
from xtile.semantics.values import Array, Value

TOKEN = np.bool_(True)
"""The value of an asynchronous token: all that runs beside the host is done at once."""


def uniform(value: Value) -> Any:
    """The number that a value of host code is; one from a vector has axes."""
    return np.asarray(value).reshape(-1)[0]


def with_token(operation: Operation, compiler: Compiler, run: Step) -> Step:
    """A step that also gives the operation's token, if it has one."""
    tokens = [result for result in operation.results if isinstance(result.type, AsyncTokenType)]
    if not tokens:
        return run
    (token,) = compiler.slots(tokens)

    def step(state: State) -> None:
        run(state)
        state.values[token] = TOKEN

    return step


def _nothing(operation: Operation, compiler: Compiler) -> Step:
    """What the device could do later is done, and it sees the host's memory."""
    return with_token(operation, compiler, lambda state: None)


def _alloc(operation: AllocOp, compiler: Compiler) -> Step:
    type_ = memref_type(operation.memref.type)
    dynamic = compiler.slots(operation.dynamicSizes)
    name, memref = name_of(operation.memref), compiler.slot(operation.memref)

    def step(state: State) -> None:
        given = iter(uniform_integers([as_index(state.values[size]) for size in dynamic]))
        shape = [next(given) if size == DYNAMIC_INDEX else size for size in type_.get_shape()]
        if min(shape, default=0) < 0:
            raise UnlocatedError(f"memory cannot have the negative size {min(shape)}")
        view = allocate(state, type_, shape, name)
        # A driver gives memory that nobody else's data is left in.
        view.buffer.data[...] = 0
        state.values[memref] = view

    return with_token(operation, compiler, step)


def _dealloc_of(operation: Operation, compiler: Compiler, memref: SSAValue) -> Step:
    slot = compiler.slot(memref)

    def step(state: State) -> None:
        state.values[slot].buffer.free()

    return with_token(operation, compiler, step)


def _dealloc(operation: Operation, compiler: Compiler) -> Step:
    return _dealloc_of(operation, compiler, operation.operands[0])


def _gpu_dealloc(operation: DeallocOp, compiler: Compiler) -> Step:
    return _dealloc_of(operation, compiler, operation.memref)


def writable(view: View) -> Array:
    """A memref as an array that shares its memory.

    Raises:
        UnlocatedError: The memory is constant, or does not hold the memref.
    """
    array = view.array()
    if not array.flags.writeable:
        raise UnlocatedError(f"{view.buffer.name} is constant: it cannot be written to")
    return array


def _copy_of(source: int, target: int) -> Step:
    def step(state: State) -> None:
        copied, written = state.values[source].array(), writable(state.values[target])
        if copied.shape != written.shape:
            raise UnlocatedError(
                f"a copy needs memrefs of the same shape, but these have {copied.shape} and "
                f"{written.shape}"
            )
        written[...] = copied

    return step


def _copy(operation: Operation, compiler: Compiler) -> Step:
    return _copy_of(*compiler.slots(operation.operands))


def _memcpy(operation: MemcpyOp, compiler: Compiler) -> Step:
    source, target = compiler.slots((operation.src, operation.dst))
    return with_token(operation, compiler, _copy_of(source, target))


def _memset(operation: MemsetOp, compiler: Compiler) -> Step:
    target, value = compiler.slots((operation.dst, operation.value))

    def step(state: State) -> None:
        writable(state.values[target])[...] = uniform(state.values[value])

    return with_token(operation, compiler, step)


_WITHOUT_EFFECT: Sequence[str] = (
    "gpu.host_register",
    "gpu.host_unregister",
    "gpu.set_default_device",
    "gpu.wait",
)

HANDLERS: dict[str, Callable[[Any, Any], Step]] = {
    **dict.fromkeys(_WITHOUT_EFFECT, _nothing),
    "gpu.alloc": _alloc,
    "gpu.dealloc": _gpu_dealloc,
    "gpu.memcpy": _memcpy,
    "gpu.memset": _memset,
    "memref.copy": _copy,
    "memref.dealloc": _dealloc,
}
"""The handler of each operation, by name."""

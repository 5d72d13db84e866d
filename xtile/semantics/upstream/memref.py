"""The `memref` dialect: accesses, atomic updates and memory.

`memref_views` and `memref_shapes` have what makes one memref of another.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from xtile.semantics import access
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import (
    Buffer,
    Group,
    Index,
    Memref,
    View,
    as_index,
    parts,
    uniform_integers,
)
from xtile.semantics.state import State, merged
from xtile.semantics.upstream import floats, integers, memref_shapes, memref_views
from xtile.semantics.upstream.access import (
    check_updatable,
    read_elements,
    update_elements,
    write_elements,
)
from xtile.semantics.upstream.allocation import (
    allocate,
    is_shared,
    name_of,
    row_major_strides,
    undefined,
)
from xtile.semantics.upstream.constants import elements, has_flag, word_attribute
from xtile.semantics.upstream.func import symbol
from xtile.semantics.upstream.numbers import Number, memref_type, number_of
from xtile.semantics.upstream.scf import execute_region
from xtile.semantics.values import Array, Value, zeros_beside


def _load(operation: Operation, compiler: Compiler) -> Step:
    memref, *indices = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        values = state.values
        chosen = [as_index(values[index]) for index in indices]
        view = values[memref]
        if _is_plain(view, state):
            values[result] = access.read(view.buffer, view.element(chosen), state.mask)
        elif isinstance(view, Group):
            values[result] = view.load(chosen[0], state.mask)
        else:
            values[result] = read_elements(state, operation, view, chosen)

    return step


def _is_plain(memref: Memref, state: State) -> bool:
    """Whether nothing but the bounds of a memref's memory has to be looked at for an access."""
    return isinstance(memref, View) and memref.buffer.parts is None and state.observer is None


def _store(operation: Operation, compiler: Compiler) -> Step:
    value, memref, *indices = compiler.slots(operation.operands)

    def step(state: State) -> None:
        values = state.values
        chosen = [as_index(values[index]) for index in indices]
        write_elements(state, operation, values[memref], chosen, values[value])

    return step


def _assign(type: Number) -> Callable[[Value, Value], Value]:
    return lambda old, value: value


UPDATES: dict[str, Callable[[Number], Callable[..., Value]]] = {
    "addf": floats.BINARY["addf"],
    "addi": integers.BINARY["addi"],
    "andi": integers.BINARY["andi"],
    "assign": _assign,
    "maximumf": floats.BINARY["maximumf"],
    "maxnumf": floats.BINARY["maxnumf"],
    "maxs": integers.BINARY["maxsi"],
    "maxu": integers.BINARY["maxui"],
    "minimumf": floats.BINARY["minimumf"],
    "minnumf": floats.BINARY["minnumf"],
    "mins": integers.BINARY["minsi"],
    "minu": integers.BINARY["minui"],
    "mulf": floats.BINARY["mulf"],
    "muli": integers.BINARY["muli"],
    "ori": integers.BINARY["ori"],
    "xori": integers.BINARY["xori"],
}
"""What an atomic update of each kind stores, by the kind's name and in the order of its number."""


def _atomic_rmw(operation: Operation, compiler: Compiler) -> Step:
    kind = word_attribute(operation, "kind", tuple(UPDATES))
    function = UPDATES[kind](number_of(operation.operands[0].type))
    value, memref, *indices = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        values = state.values
        chosen = [as_index(values[index]) for index in indices]
        values[result] = update_elements(
            state, operation, values[memref], chosen, values[value], function
        )

    return step


def _generic_atomic_rmw(operation: Operation, compiler: Compiler) -> Step:
    memref, *indices = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    region = operation.regions[0]
    (current,) = compiler.slots(region.blocks[0].args)
    body = compiler.region(region)
    (stored,) = body.yields

    def update(state: State, view: View, positions: Array, acting: Array) -> Array:
        """Runs the region for those that act, at most one for each element at a time."""
        data = view.buffer.data
        old = zeros_beside(data, positions.shape)
        flat, who = positions[acting], np.flatnonzero(acting)
        before = state.mask
        try:
            for chosen in access.rounds(flat):
                state.mask = np.zeros(acting.shape, np.bool_)
                state.mask.flat[who[chosen]] = True
                old.flat[who[chosen]] = data[flat[chosen]]
                state.values[current] = old
                body.run(state)
                new = np.broadcast_to(state.values[stored], acting.shape)
                data[flat[chosen]] = new.flat[who[chosen]]
        finally:
            state.mask = before
        return old

    def step(state: State) -> None:
        values = state.values
        chosen = [as_index(values[index]) for index in indices]
        old: Value = None
        for view, mask in parts(values[memref], state.mask):
            positions, acting = check_updatable(state, operation, view, chosen, mask)
            old = merged(acting, update(state, view, positions, acting), old)
        values[result] = old

    return step


def _allocation(operation: Operation, compiler: Compiler) -> Step:
    (memref,) = operation.results
    type_ = memref_type(memref.type)
    sizes = type_.get_shape()
    dynamic = compiler.slots(operation.operands)[: sizes.count(DYNAMIC_INDEX)]
    compiler.ends_with_block(operation, memref)
    slot = compiler.slot(memref)

    def step(state: State) -> None:
        given = iter(uniform_integers([as_index(state.values[size]) for size in dynamic]))
        shape = [next(given) if size == DYNAMIC_INDEX else size for size in sizes]
        if min(shape, default=0) < 0:
            raise UnlocatedError(f"memory cannot have the negative size {min(shape)}")
        view = allocate(state, type_, shape, name_of(memref))
        state.values[slot] = view
        if state.observer is not None:
            state.observer.on_alloca(operation, view.buffer)

    return step


def _nothing(operation: Operation, compiler: Compiler) -> Step:
    """Memory ends with its last use, and a prefetch changes nothing."""
    return lambda state: None


def _get_global(operation: Operation, compiler: Compiler) -> Step:
    name = cast("SymbolRefAttr", operation.properties["name"])
    variable = symbol(operation, name)
    type_ = memref_type(variable.properties["type"])
    shape = type_.get_shape()
    (result,) = compiler.slots(operation.results)
    strides = row_major_strides(shape)

    def view_on(buffer: Buffer) -> View:
        return View(buffer, 0, shape, strides)

    if is_shared(type_.memory_space):

        def step(state: State) -> None:
            if variable not in state.shared:
                state.shared[variable] = _global_memory(variable, type_, str(name))
            state.values[result] = view_on(state.shared[variable])

        return step
    if variable not in compiler.globals:
        compiler.globals[variable] = _global_memory(variable, type_, str(name))
    view = view_on(compiler.globals[variable])

    def step_of_launch(state: State) -> None:
        state.values[result] = view

    return step_of_launch


def _global_memory(variable: Operation, type: MemRefType[Attribute], name: str) -> Buffer:
    """The memory of a global variable at the start of a launch."""
    initial = variable.properties.get("initial_value")
    number = number_of(type)
    if initial is None:
        raise UnlocatedError(f"{name} is declared only: nothing says what its memory holds")
    is_known = not isinstance(initial, UnitAttr)
    count = int(np.prod(type.get_shape(), dtype=np.int64))
    data = np.array(elements(initial, number)) if is_known else undefined(count, number.dtype)
    data.flags.writeable = not has_flag(variable, "constant")
    return Buffer(data, name, is_local=is_shared(type.memory_space), is_initialized=is_known)


def _copy(operation: Operation, compiler: Compiler) -> Step:
    source, target = compiler.slots(operation.operands)

    def step(state: State) -> None:
        copy_all(state, operation, state.values[source], state.values[target])

    return step


def copy_all(state: State, operation: Operation, source: Any, target: Any) -> None:
    """Copies all elements of a memref to another one of the same shape."""
    shape = _same_shape(source, target, state)
    indices: Sequence[Index] = [grid[np.newaxis, np.newaxis] for grid in np.indices(shape)]
    if 0 in shape:
        return
    copied = read_elements(state, operation, source, indices)
    if not shape:
        copied = np.asanyarray(copied)
    write_elements(state, operation, target, indices, copied)


def _same_shape(source: Any, target: Any, state: State) -> tuple[int, ...]:
    shapes = {
        uniform_integers(view.shape)
        for memref in (source, target)
        for view, _ in parts(memref, state.mask)
    }
    if len(shapes) > 1:
        raise UnlocatedError(
            "a copy needs memrefs of the same shape, but these have "
            + " and ".join(sorted(map(str, shapes)))
        )
    return shapes.pop()


HANDLERS: dict[str, Handler] = {
    "memref.alloc": _allocation,
    "memref.alloca": _allocation,
    "memref.alloca_scope": execute_region,
    "memref.atomic_rmw": _atomic_rmw,
    "memref.copy": _copy,
    "memref.dealloc": _nothing,
    "memref.generic_atomic_rmw": _generic_atomic_rmw,
    "memref.get_global": _get_global,
    "memref.load": _load,
    "memref.prefetch": _nothing,
    "memref.store": _store,
    **memref_shapes.HANDLERS,
    **memref_views.HANDLERS,
}
"""The handler of each operation, by name."""

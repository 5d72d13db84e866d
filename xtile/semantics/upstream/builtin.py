"""The `builtin` dialect: what a conversion cast between memrefs or pointers means.

Source: docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from xtile.dialects.pointer_types import is_pointer
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Group, Mask, View
from xtile.semantics.state import State
from xtile.semantics.upstream.memref_views import changed
from xtile.semantics.upstream.numbers import memref_type, number_of


def _element_dtype(type_: Attribute) -> np.dtype[Any]:
    return number_of(memref_type(type_).element_type).dtype


def _as_type(view: View, dtype: np.dtype[Any]) -> View:
    """The same memory with elements of another type; the offset, sizes and strides stay."""
    buffer = view.buffer.typed(dtype)
    old, new = view.buffer.parts, buffer.parts
    moved = 0 if old is None or new is None else new.starts - old.starts
    return View(buffer, view.offset + moved, view.shape, view.strides)


def _unrealized_conversion_cast(operation: Operation, compiler: Compiler) -> Step:
    """A memref's memory with elements of another type.

    The pointer is reinterpreted, while the offset, the sizes and the strides keep their numbers,
    as LLVM's lowering does, where all pointers have one type.
    """
    types = [*operation.operand_types, *operation.result_types]
    if len(types) == 2 and all(is_pointer(type_) or type_.name == _OF_LLVM for type_ in types):
        return _same_pointer(operation, compiler)
    if len(types) != 2 or not all(isa(type_, MemRefType[Attribute]) for type_ in types):
        raise UnlocatedError(
            "builtin.unrealized_conversion_cast has a meaning for memrefs and pointers only"
        )
    element = memref_type(types[1]).element_type
    if isa(element, MemRefType[Attribute]):
        return _cast_group(operation, compiler, _element_dtype(element))
    dtype = _element_dtype(types[1])

    def change(view: View, state: State, mask: Mask) -> View:
        return _as_type(view, dtype)

    return changed(operation, compiler, change)


_OF_LLVM = "llvm.ptr"


def _same_pointer(operation: Operation, compiler: Compiler) -> Step:
    """The same address, which a pointer is in every dialect."""
    source, result = compiler.slots((operation.operands[0], operation.results[0]))

    def step(state: State) -> None:
        state.values[result] = state.values[source]

    return step


def _cast_group(operation: Operation, compiler: Compiler, dtype: np.dtype[Any]) -> Step:
    """Pointers to memory with elements of another type."""
    source, result = compiler.slots((operation.operands[0], operation.results[0]))

    def step(state: State) -> None:
        group: Group = state.values[source]
        views = [_as_type(view, dtype) for view in group.views]
        state.values[result] = Group(views, group.offset, group.is_associated, group.name)

    return step


HANDLERS: dict[str, Handler] = {
    "builtin.unrealized_conversion_cast": _unrealized_conversion_cast,
}
"""The handler of each operation, by name."""

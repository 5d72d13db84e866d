"""Which parameters SPIR-V kernels write to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from xdsl.dialects.builtin import FunctionType, f32, i1, i64
from xdsl.dialects.builtin import ModuleOp as BuiltinModuleOp
from xdsl.ir import Operation, SSAValue

from xtile.arguments.kernel import kernels_of
from xtile.arguments.writes import written_parameters
from xtile.dialects.spirv import FuncOp, ModuleOp, PointerType, operation

FLOATS = PointerType(f32, "CrossWorkgroup")
POINTERS = PointerType(FLOATS, "CrossWorkgroup")


def _stored(p: SSAValue, q: SSAValue, n: SSAValue, g: SSAValue) -> Sequence[Operation]:
    x = operation("Load", f32, p)
    at = operation("InBoundsPtrAccessChain", FLOATS, q, n)
    return x, at, operation("Store", None, at, x)


def _read(p: SSAValue, q: SSAValue, n: SSAValue, g: SSAValue) -> Sequence[Operation]:
    return (operation("Load", f32, p),)


def _updated(p: SSAValue, q: SSAValue, n: SSAValue, g: SSAValue) -> Sequence[Operation]:
    scope = operation("Constant", i64, 1)
    x = operation("Load", f32, q)
    return scope, x, operation("AtomicFAddEXT", f32, p, scope, scope, x)


def _of_a_group(p: SSAValue, q: SSAValue, n: SSAValue, g: SSAValue) -> Sequence[Operation]:
    entry = operation("Load", FLOATS, g)
    x = operation("Load", f32, p)
    return entry, x, operation("Store", None, entry, x)


def _by_number(p: SSAValue, q: SSAValue, n: SSAValue, g: SSAValue) -> Sequence[Operation]:
    number = operation("ConvertPtrToU", i64, q)
    pointer = operation("ConvertUToPtr", FLOATS, number)
    x = operation("Load", f32, p)
    return number, pointer, x, operation("Store", None, pointer, x)


def _through_a_variable(p: SSAValue, q: SSAValue, n: SSAValue, g: SSAValue) -> Sequence[Operation]:
    variable = operation("Variable", PointerType(FLOATS, "Function"), "Function")
    put = operation("Store", None, variable, q)
    taken = operation("Load", FLOATS, variable)
    x = operation("Load", f32, p)
    return variable, put, taken, x, operation("Store", None, taken, x)


def _in_blocks(p: SSAValue, q: SSAValue, n: SSAValue, g: SSAValue) -> Sequence[Operation]:
    sizes, memory = [n] * 4, [n] * 4
    fetch = operation("Subgroup2DBlockPrefetchINTEL", None, *sizes, p, *memory)
    return fetch, operation("Subgroup2DBlockStoreINTEL", None, *sizes, p, q, *memory)


def _passed_on(p: SSAValue, q: SSAValue, n: SSAValue, g: SSAValue) -> Sequence[Operation]:
    is_same = operation("PtrEqual", i1, p, q)
    return is_same, operation("FunctionCall", None, "h", q, n)


Body = Callable[[SSAValue, SSAValue, SSAValue, SSAValue], Sequence[Operation]]

CASES: dict[Body, set[int]] = {
    _stored: {1},
    _read: set(),
    _updated: {0},
    _of_a_group: {3},
    _by_number: {1},
    _through_a_variable: {1},
    _in_blocks: {1},
    _passed_on: {1, 2},
}


@pytest.mark.parametrize("body", CASES, ids=lambda body: body.__name__)
def test_what_is_written(body: Body) -> None:
    function = FuncOp("f", FunctionType.from_lists([FLOATS, FLOATS, i64, POINTERS], []))
    function.entry_block.add_ops([*body(*function.parameters), operation("Return", None)])
    module = ModuleOp()
    module.block.add_ops([operation("EntryPoint", None, "Kernel", "f", "k"), function])
    assert {*kernels_of(BuiltinModuleOp([module]))} == {"k"}
    assert written_parameters(function) == CASES[body]

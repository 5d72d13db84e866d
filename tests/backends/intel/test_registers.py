"""How many registers kernels need."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import FunctionType, VectorType, f32, i1, i64
from xdsl.ir import Block, SSAValue

from xtile.backends.intel.registers import MANY_REGISTERS_OPTION, build_options, most_alive
from xtile.dialects.spirv import FuncOp, ModuleOp, PointerType, operation
from xtile.targets.intel import DG2, PVC
from xtile.targets.target import Target

V8 = VectorType(f32, [8])
POINTER = PointerType(V8, "CrossWorkgroup")


def function() -> FuncOp:
    """A function with a pointer and a condition."""
    return FuncOp("f", FunctionType.from_lists([POINTER, i1], []))


def load(block: Block, pointer: SSAValue) -> SSAValue:
    """Loads 32 bytes for each lane."""
    made = operation("Load", V8, pointer)
    block.add_op(made)
    return made.results[0]


def test_what_is_needed_until_its_last_use() -> None:
    f = function()
    block = f.entry_block
    pointer = block.args[0]
    a, b = load(block, pointer), load(block, pointer)
    total = operation("FAdd", V8, a, b)
    block.add_ops([total, operation("Store", None, pointer, total.results[0])])
    load(block, pointer)
    block.add_op(operation("Return", None))
    assert most_alive(f.regions[0]) == 2 * 32


def test_indices_take_no_place() -> None:
    f = FuncOp("f", FunctionType.from_lists([i64, i64], []))
    x, y = f.entry_block.args
    total = operation("IAdd", i64, x, y)
    f.entry_block.add_ops([total, operation("Return", None)])
    assert most_alive(f.regions[0]) == 0


def test_a_loop_carries_what_it_needs_again() -> None:
    """Sums in a loop take the location of those before them."""
    f = function()
    entry, (pointer, condition) = f.entry_block, f.entry_block.args
    header, body, end = Block(arg_types=[V8, V8]), Block(), Block()
    for block in (header, body, end):
        f.regions[0].add_block(block)
    kept = load(entry, pointer)
    start = load(entry, pointer)
    entry.add_op(operation("Branch", None, (header, start, start)))
    header.add_op(operation("BranchConditional", None, condition, body, end))
    factor = load(body, pointer)
    sums = [operation("FAdd", V8, sum_, factor) for sum_ in header.args]
    body.add_ops([*sums, operation("Branch", None, (header, *(s.results[0] for s in sums)))])
    end.add_ops(
        [
            *(operation("Store", None, pointer, value) for value in (*header.args, kept)),
            operation("Return", None),
        ]
    )
    # `kept`, two sums and the factor.
    assert most_alive(f.regions[0]) == 4 * 32


@pytest.mark.parametrize(
    ("count", "device", "lanes", "options"),
    [
        # 128 registers of 64 bytes, seven eighths of them: 7168 bytes.
        (13, PVC, 16, ""),
        (14, PVC, 16, MANY_REGISTERS_OPTION),
        # 128 registers of 32 bytes.
        (13, DG2, 8, ""),
        (14, DG2, 8, MANY_REGISTERS_OPTION),
    ],
)
def test_options(count: int, device: Target, lanes: int, options: str) -> None:
    f = function()
    block = f.entry_block
    pointer = block.args[0]
    loaded = [load(block, pointer) for _ in range(count)]
    block.add_ops([operation("Store", None, pointer, value) for value in loaded])
    block.add_op(operation("Return", None))
    module = ModuleOp()
    declared = FuncOp("g", FunctionType.from_lists([i64], []), linkage="Import")
    module.block.add_ops([declared, f])
    assert build_options(module, device, lanes) == options

"""NVIDIA's disassembler, which verifies what it reads, has our verdicts on random operations."""

from __future__ import annotations

from random import Random

import pytest
from xdsl.dialects.builtin import ModuleOp as BuiltinModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from tests.generators.cuda_tile_operations import random_operation
from tests.tile_tools import disassembled
from xtile.dialects.cuda_tile.bytecode import encode
from xtile.dialects.cuda_tile.ops.control_flow import ReturnOp
from xtile.dialects.cuda_tile.ops.module import EntryOp, ModuleOp
from xtile.dialects.cuda_tile.versions import V13_5

COUNT = 90


def our_error(operation: Operation) -> str | None:
    try:
        operation.verify_()
    except VerifyException as error:
        return str(error)
    return None


def their_error(block: Block) -> str | None:
    module = BuiltinModuleOp([ModuleOp("kernels", [EntryOp("kernel", [], Region(block))])])
    try:
        disassembled(encode(module, V13_5))
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", range(4))
def test_both_agree(seed: int) -> None:
    random = Random(seed)
    right = 0
    for _ in range(COUNT):
        block = Block()
        operation = random_operation(random, block)
        block.add_op(ReturnOp())
        ours, theirs = our_error(operation), their_error(block)
        assert (ours is None) == (theirs is None), f"{operation}: {ours} / {theirs}"
        right += ours is None
    assert COUNT // 10 < right < COUNT

"""Random kernels of the tensor language compute the same after translation and distribution."""

from __future__ import annotations

from random import Random

import pytest
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, i32

from tests.generators.tensorlang_kernels import random_kernel
from tests.lane_targets import for_either
from tests.translate.tensorlang_to_core.agreement import GRID, Arguments, is_runnable, pairs
from xtile.semantics.configuration import configuration_of
from xtile.semantics.engine import launch
from xtile.semantics.errors import ExecutionError
from xtile.targets.intel import CPU, DG2
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import DiagnosticError
from xtile.transforms.distribute.configuration import SUBGROUP_SIZE
from xtile.transforms.distribute.distribution import distribute
from xtile.translate.tensorlang_to_core import translate_module

KERNELS = 60
"""How many kernels each test takes."""

SIZE = 8
"""About how many instructions a kernel has; of more, most fail at an index out of bounds."""


def distributed(source: ModuleOp, device: LaneTarget) -> ModuleOp | None:
    """A kernel for a device that has its subgroup size; None if it is one that is refused."""
    try:
        core = translate_module(source)
        for function, kernel in pairs(source, core):
            sizes = configuration_of(function, GRID)
            block = (*sizes.work_group_size, 1)
            kernel.known_block_size = DenseArrayBase.from_list(i32, block)
            kernel.attributes[SUBGROUP_SIZE] = IntegerAttr(sizes.subgroup_size, i32)
        return distribute(core, device)
    except DiagnosticError as error:
        message = str(error)
        assert "complex numbers" in message or "is the output too" in message, message
        return None


@pytest.mark.parametrize("device", [for_either(DG2), for_either(CPU)], ids=["dg2", "cpu"])
@pytest.mark.parametrize("first", [0, 1000, 2000])
def test_values(first: int, device: LaneTarget) -> None:
    compared = 0
    for seed in range(first, first + KERNELS):
        source = random_kernel(seed, SIZE)
        module = distributed(source, device)
        if module is None:
            continue
        for function, kernel in pairs(source, module):
            arguments = Arguments(function, Random(seed))
            if arguments.overlap:
                continue
            if not is_runnable(function) or not is_runnable(kernel):
                continue
            try:
                launch(function, arguments.source, GRID)
            except ExecutionError:
                continue
            launch(kernel, arguments.translated, GRID)
            arguments.assert_equal()
            compared += 1
    assert compared >= KERNELS // 6

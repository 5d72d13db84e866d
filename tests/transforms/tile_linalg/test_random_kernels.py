"""Random kernels of the tensor language compute the same as tiles, or are refused for a reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.backends.intel.agreement import check_agreement, is_defined
from tests.backends.intel.random_arguments import Arguments, NoArgumentsError, any_numbers
from tests.backends.intel.runnable import make_runnable
from tests.generators.tensorlang_kernels import random_kernel
from tests.transforms.distribute.kernels import function_of
from tests.transforms.tile_linalg.from_source import reversed_modes, tiled
from tests.translate.ported import fix_sizes
from xtile.dialects.gpu.functions import FuncOp as CoreFuncOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics.arguments import Argument
from xtile.semantics.configuration import Size3
from xtile.semantics.engine import launch
from xtile.semantics.errors import ExecutionError
from xtile.text.diagnostics import DiagnosticError

KERNELS = 36
"""How many each test takes."""

SIZE = 8
"""About how many instructions a kernel has; of more, most are refused."""

REFUSALS = (
    "not lifted to tiles yet",
    "an input that is the output too must be copied",
    "needs a constant beta",
)


def arguments_of(function: FuncOp, seed: int) -> list[Argument] | None:
    """Arguments on which all devices must agree, if there are any."""
    random = np.random.default_rng(seed)
    for _ in range(4):
        try:
            arguments = Arguments(function, random, any_numbers).values
        except NoArgumentsError:
            return None
        if is_defined(function, arguments):
            return arguments
    return None


def launch_reversed(
    function: FuncOp, kernel: CoreFuncOp, arguments: Sequence[Argument], grid: Size3
) -> None:
    """Runs what a function has become on its arguments."""
    launch(kernel, reversed_modes(function, arguments), grid)


def tiled_or_none(function: FuncOp) -> CoreFuncOp | None:
    """What a function becomes; None if it is one that is refused."""
    try:
        return function_of(tiled(ModuleOp([function.clone()])))
    except DiagnosticError as error:
        message = str(error)
    assert any(refusal in message for refusal in REFUSALS), message
    return None


def functions_of(seed: int) -> Iterator[FuncOp]:
    """The functions of a random kernel, whose loops are short and whose indices are small."""
    for function in list(random_kernel(seed, SIZE).body.block.ops):
        assert isinstance(function, FuncOp)
        function.detach()
        try:
            fix_sizes(function)
        except ExecutionError:
            continue
        make_runnable(function, list(function.walk()))
        yield function


@pytest.mark.parametrize("first", [0, 1000, 2000])
def test_values(first: int) -> None:
    compared = 0
    for seed in range(first, first + KERNELS):
        for function in functions_of(seed):
            kernel = tiled_or_none(function)
            arguments = None if kernel is None else arguments_of(function, seed)
            if kernel is None or arguments is None:
                continue
            run = partial(launch_reversed, function, kernel)
            compared += check_agreement(function, arguments, run, seed=seed) is not None
    assert compared >= KERNELS // 6

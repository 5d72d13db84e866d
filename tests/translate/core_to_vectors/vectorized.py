"""Translates kernels for a CPU, and compares what they compute with their source."""

from __future__ import annotations

from functools import lru_cache

from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_random
from tests.translate.ported import agrees, fix_sizes, kernels_of
from xtile.dialects.gpu.functions import FuncOp as KernelOp
from xtile.dialects.gpu.subgroup_sizes import SUBGROUP_SIZE_ATTRIBUTE
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate


def source_of(text: str) -> FuncOp:
    """The only function of a text in the tensor language."""
    (function,) = xtile.parse(text, language="tensorlang").body.block.ops
    assert isinstance(function, FuncOp)
    return function


def vectorize(
    function: FuncOp, diagnostics: Diagnostics | None = None, chip: str = "cpu"
) -> KernelOp:
    """The kernel that a function becomes, which is verified."""
    fix_sizes(function)
    module = function.parent_op()
    assert isinstance(module, ModuleOp)
    result = translate(module, "tensorlang-to-lane", Options(chip), diagnostics)
    found = Diagnostics()
    verify_module(result, found)
    assert not found.has_errors, found.render()
    (kernel,) = kernels_of(result)
    return kernel


def is_spread(kernel: KernelOp) -> bool:
    """Whether the work-items of a kernel are the lanes of subgroups."""
    return SUBGROUP_SIZE_ATTRIBUTE in kernel.attributes


def vectors_agree(text: str, runs: int = 2) -> bool:
    """Whether a function can be executed, and agrees with the vectors it becomes.

    Each run has other random arguments.
    """
    function, kernel = _vectorized(text)
    assert not is_spread(kernel)
    return all(agrees(function, kernel, fresh_random()) for _ in range(runs))


@lru_cache(maxsize=64)
def _vectorized(text: str) -> tuple[FuncOp, KernelOp]:
    function = source_of(text)
    return function, vectorize(function)


def of_subgroups(
    parameters: str, body: str, size: int = 16, work_group_size: tuple[int, int] = (16, 1)
) -> str:
    """A function whose instructions are executed by subgroups."""
    x, y = work_group_size
    return (
        f"func @f({parameters})\n"
        f"        attributes {{subgroup_size={size}, work_group_size=[{x},{y}]}} {{\n"
        f"    %c0 = constant 0 : index\n    parallel {{\n{body}\n    }}\n}}\n"
    )

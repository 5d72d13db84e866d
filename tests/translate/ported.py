"""Runs kernels of the tensor language and what they have become with the same arguments."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i64

from tests.translate.tensorlang_to_core.agreement import GRID, Arguments
from xtile.dialects.gpu.functions import FuncOp as KernelOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import DYNAMIC, GroupType
from xtile.rewrite import kernels as rewriting
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.configuration import configuration_of
from xtile.semantics.engine import launch
from xtile.semantics.errors import ExecutionError


def fix_sizes(function: FuncOp) -> None:
    """Writes the sizes down that a function has on the reference device, for its translation.

    Raises:
        ExecutionError: Its sizes contradict each other.
    """
    sizes = configuration_of(function, GRID)
    work_group_size = [IntegerAttr(size, i64) for size in sizes.work_group_size[:2]]
    function.properties["subgroup_size"] = IntegerAttr(sizes.subgroup_size, i64)
    function.properties["work_group_size"] = ArrayAttr(work_group_size)


def kernels_of(module: ModuleOp) -> list[KernelOp]:
    """The kernels of a translated module, in order."""
    return list(rewriting.kernels_of(module))


def translated_arguments(function: FuncOp, arguments: Sequence[Argument]) -> list[Argument]:
    """The arguments of a function as the kernel takes it that it has become.

    The modes of memrefs are reversed, a scalar bf16 becomes its bits where the kernel is at lane
    level, and a dynamic offset of a group is a parameter of its own.
    """
    result: list[Argument] = []
    for parameter, argument in zip(function.parameters, arguments, strict=True):
        type_ = parameter.type
        if isinstance(argument, MemrefArgument):
            result.append(_reversed(argument))
        elif isinstance(argument, GroupArgument):
            entries = [_reversed(entry) for entry in argument.entries]
            result.append(GroupArgument(entries, 0, argument.is_associated))
            if isinstance(type_, GroupType) and type_.offset == DYNAMIC:
                result.append(ScalarArgument(np.int64(argument.offset)))
        else:
            result.append(argument)
    return result


def _reversed(memory: MemrefArgument) -> MemrefArgument:
    return MemrefArgument(
        memory.base,
        memory.shape[::-1],
        memory.strides[::-1],
        memory.offset,
        memory.is_initialized,
    )


def as_bits(arguments: Sequence[Argument]) -> list[Argument]:
    """The arguments with scalars of bf16 as their bits."""
    return [_as_bits(argument) for argument in arguments]


def _as_bits(argument: Argument) -> Argument:
    value: Any = argument.value if isinstance(argument, ScalarArgument) else None
    if getattr(value, "dtype", None) != ml_dtypes.bfloat16:
        return argument
    return ScalarArgument(value.view(np.int16))


def agrees(function: FuncOp, kernel: KernelOp, random: Random) -> bool:
    """Runs both on equal random arguments and compares all memory.

    Returns: False where the function cannot be executed on these arguments.
    """
    arguments = Arguments(function, random)
    if arguments.overlap:
        return False
    try:
        launch(function, arguments.source, GRID)
    except ExecutionError:
        return False
    is_lowered = "core.level" not in kernel.attributes
    given = as_bits(arguments.translated) if is_lowered else arguments.translated
    launch(kernel, given, GRID)
    arguments.assert_equal()
    return True

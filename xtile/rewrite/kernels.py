"""Passes that write some kernels of a module anew and leave everything else as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.modules import ModuleOp as GpuModuleOp
from xtile.text.source import attach_source, source_of
from xtile.text.value_names import clone_with_names


def kernels_of(module: ModuleOp | GpuModuleOp) -> Iterator[FuncOp]:
    """The functions of a module and of those in it, in the order of the text."""
    for operation in module.body.block.ops:
        if isinstance(operation, FuncOp):
            yield operation
        elif isinstance(operation, ModuleOp | GpuModuleOp):
            yield from kernels_of(operation)


def with_kernels_replaced(
    module: ModuleOp, is_chosen: Callable[[FuncOp], bool], rebuild: Callable[[FuncOp], FuncOp]
) -> ModuleOp:
    """Returns a copy of a module with other kernels.

    Args:
        module: The module; it is not changed.
        is_chosen: Whether a kernel is written anew.
        rebuild: Makes the new kernel from the one in `module`, whose places its messages need.
    """
    result, source = clone_with_names(module), source_of(module)
    pairs = list(zip(kernels_of(module), kernels_of(result), strict=True))
    for old, copy in pairs:
        if not is_chosen(old):
            continue
        block = copy.parent
        assert block is not None
        block.insert_op_before(rebuild(old), copy)
        copy.detach()
        copy.erase()
    if source is not None:
        attach_source(result, source)
    return result

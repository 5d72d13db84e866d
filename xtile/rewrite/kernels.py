"""Passes that write some kernels of a module anew and leave everything else as it is."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.gpu.functions import FuncOp
from xtile.text.source import attach_source, source_of
from xtile.text.value_names import clone_with_names


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
    pairs = zip(module.walk(), result.walk(), strict=True)
    chosen = [(old, copy) for old, copy in pairs if isinstance(old, FuncOp) and is_chosen(old)]
    for old, copy in chosen:
        block = copy.parent
        assert block is not None
        block.insert_op_before(rebuild(old), copy)
        copy.detach()
        copy.erase()
    if source is not None:
        attach_source(result, source)
    return result

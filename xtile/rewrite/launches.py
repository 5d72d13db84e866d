"""What the launches of a kernel in its own module say of it."""

from __future__ import annotations

from collections.abc import Iterator

from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.launch_func import LaunchFuncOp
from xtile.dialects.walk import walk
from xtile.rewrite.facts import constant_of


def launched_block_sizes(function: FuncOp) -> set[tuple[int, ...] | None]:
    """The sizes of work-groups, in work-items, with which the module around a kernel launches it.

    Returns:
        Sizes in x, y and z; None among them for launches whose sizes are no constants. Empty if
        nothing in the module launches the kernel.
    """
    return {_size_of(launch) for launch in _launches(function)}


def _launches(function: FuncOp) -> Iterator[LaunchFuncOp]:
    module = function.parent_op()
    root = None if module is None else module.parent_op()
    if module is None or root is None:
        return
    own = [module.get_attr_or_prop("sym_name"), function.sym_name]
    for operation in walk(root):
        if isinstance(operation, LaunchFuncOp):
            called = operation.kernel
            if [called.root_reference, *called.nested_references] == own:
                yield operation


def _size_of(launch: LaunchFuncOp) -> tuple[int, ...] | None:
    sizes = [
        constant_of(each) for each in (launch.blockSizeX, launch.blockSizeY, launch.blockSizeZ)
    ]
    known = [size for size in sizes if size is not None]
    return tuple(known) if len(known) == len(sizes) else None

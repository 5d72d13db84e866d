"""Makes what subgroups did one by one what one would write for a whole block.

Importing this loads none of the passes: most kernels need none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from xtile.dialects.walk import walk

if TYPE_CHECKING:
    from xtile.targets.target import Target
    from xtile.text.diagnostics import Diagnostics


def large_tiles(
    module: ModuleOp, target: Target, diagnostics: Diagnostics | None = None, *, only_cheap: bool
) -> ModuleOp:
    """Returns a module with tiles of whole blocks, and without local memory.

    docs/lift.md, "Tiles of the whole block". Everything else stays as it is.

    Args:
        module: The module; it is not changed.
        target: The chip.
        diagnostics: Where remarks go; None drops them.
        only_cheap: Whether local memory stays that tiles replace at a cost.
    """
    if _has(module, "memref.alloca"):
        from xtile.transforms.local_tiles import local_tiles

        module = local_tiles(module, only_cheap=only_cheap)
    if any(map(_is_by_index, walk(module))):
        from xtile.transforms.box_accesses import box_accesses

        module = box_accesses(module, diagnostics)
    if _has(module, "vector.shape_cast"):
        from xtile.transforms.collapse_shapes import collapse_shapes

        module = collapse_shapes(module)
    if _has(module, "vector.contract") and _has(module, "scf.for"):
        from xtile.transforms.deepen_products import deepen_products

        module = deepen_products(module, target, diagnostics)
    if any(map(_moves_in_a_loop, walk(module))):
        from xtile.transforms.deepen_loops import deepen_loops

        module = deepen_loops(module, target, diagnostics)
    if any(map(_is_the_same_each_time, walk(module))):
        from xtile.transforms.hoist_reads import hoist_reads

        module = hoist_reads(module)
    if any(map(_is_added_to_a_product, walk(module))):
        from xtile.transforms.unite_products import unite_products

        module = unite_products(module)
    return module


def _has(module: ModuleOp, name: str) -> bool:
    return any(each.name == name for each in walk(module))


def _is_by_index(operation: Operation) -> bool:
    """Whether an operation accesses elements by their indices in a memref."""
    if operation.name not in ("core.gather_load", "core.scatter_store"):
        return False
    return any(operand.type.name == "memref" for operand in operation.operands)


def _moves_in_a_loop(operation: Operation) -> bool:
    """Whether a loop reads or writes a tile."""
    loop = operation.parent_op()
    if operation.name not in ("vector.transfer_read", "vector.transfer_write"):
        return False
    return loop is not None and loop.name == "scf.for"


def _is_the_same_each_time(operation: Operation) -> bool:
    """Whether a loop reads a tile by nothing that it computes."""
    loop = operation.parent_op()
    if operation.name != "vector.transfer_read" or loop is None or loop.name != "scf.for":
        return False
    return not any(_block(operand) is operation.parent for operand in operation.operands)


def _block(value: SSAValue) -> object:
    owner = value.owner
    return owner.parent if isinstance(owner, Operation) else owner


def _is_added_to_a_product(operation: Operation) -> bool:
    if operation.name != "vector.contract":
        return False
    first = operation.operands[2].owner
    return isinstance(first, Operation) and first.name == operation.name

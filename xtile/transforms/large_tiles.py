"""Makes what subgroups did one by one what one would write for a whole block.

Importing this loads none of the passes: most kernels need none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from xtile.dialects.walk import operations_by_name

if TYPE_CHECKING:
    from xtile.targets.target import Target
    from xtile.text.diagnostics import Diagnostics


def large_tiles(
    module: ModuleOp,
    target: Target,
    diagnostics: Diagnostics | None = None,
    *,
    only_cheap: bool,
    merges: bool = False,
) -> ModuleOp:
    """Returns a module with tiles of whole blocks, and without local memory.

    docs/lift.md, "Tiles of the whole block". Everything else stays as it is.

    Args:
        module: The module; it is not changed.
        target: The chip.
        diagnostics: Where remarks go; None drops them.
        only_cheap: Whether local memory stays that tiles replace at a cost.
        merges: Whether a tile block may do the work of several work-groups.
    """
    found = operations_by_name(module)
    if "memref.alloca" in found:
        from xtile.transforms.local_tiles import local_tiles

        module = local_tiles(module, only_cheap=only_cheap)
        found = operations_by_name(module)
    if any(map(_is_by_index, _named(found, *_ANYWHERE))):
        from xtile.transforms.box_accesses import box_accesses

        module = box_accesses(module, diagnostics)
        found = operations_by_name(module)
    if _SHAPE in found:
        module = _with_plain_shapes(module)
        found = operations_by_name(module)
    if merges and _CONTRACT in found and "gpu.block_id" in found:
        from xtile.transforms.merge_work_groups import merge_work_groups

        module = _with_plain_shapes(merge_work_groups(module, target, diagnostics))
        found = operations_by_name(module)
    if _CONTRACT in found and _LOOP in found:
        from xtile.transforms.deepen_products import deepen_products

        module = deepen_products(module, target, diagnostics)
        found = operations_by_name(module)
    if any(map(_is_in_a_loop, _named(found, _READ, "vector.transfer_write"))):
        from xtile.transforms.deepen_loops import deepen_loops

        module = deepen_loops(module, target, diagnostics)
        found = operations_by_name(module)
    if any(map(_is_the_same_each_time, _named(found, _READ))):
        from xtile.transforms.hoist_reads import hoist_reads

        module = hoist_reads(module)
        found = operations_by_name(module)
    if any(map(_is_added_to_a_product, _named(found, _CONTRACT))):
        from xtile.transforms.unite_products import unite_products

        module = unite_products(module)
    return module


def _with_plain_shapes(module: ModuleOp) -> ModuleOp:
    from xtile.transforms.collapse_shapes import collapse_shapes

    return collapse_shapes(module)


_ANYWHERE = ("core.gather_load", "core.scatter_store")
_CONTRACT = "vector.contract"
_LOOP = "scf.for"
_READ = "vector.transfer_read"
_SHAPE = "vector.shape_cast"


def _named(found: Mapping[str, Sequence[Operation]], *names: str) -> Iterator[Operation]:
    return chain.from_iterable(found.get(name, ()) for name in names)


def _is_by_index(access: Operation) -> bool:
    """Whether elements are accessed by their indices in a memref."""
    return any(operand.type.name == "memref" for operand in access.operands)


def _is_in_a_loop(operation: Operation) -> bool:
    loop = operation.parent_op()
    return loop is not None and loop.name == _LOOP


def _is_the_same_each_time(read: Operation) -> bool:
    """Whether a loop reads a tile by nothing that it computes."""
    return _is_in_a_loop(read) and not any(
        _block(operand) is read.parent for operand in read.operands
    )


def _block(value: SSAValue) -> object:
    owner = value.owner
    return owner.parent if isinstance(owner, Operation) else owner


def _is_added_to_a_product(product: Operation) -> bool:
    first = product.operands[2].owner
    return isinstance(first, Operation) and first.name == product.name

"""Makes kernels of subgroups and lanes kernels of tiles.

What differs between the work-items of a work-group gets an axis of lanes, one of subgroups, or
both, and everything is done for all of them at once (docs/lift.md, "Lift"). `divergence.py`
finds the axes, `widening.py` has the values, `memory.py` accesses, `work_items.py` what subgroups
do together, and `rules.py` the table; `../predication.py` has branches and loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i32,
)
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Operation, Region

from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE, Level, level_of
from xtile.dialects.core.source_promises import with_promises_of_source
from xtile.dialects.effects import OF_LANES, OF_WORK_ITEMS, updates_memory
from xtile.dialects.gpu.functions import WORKGROUP_ATTRIBUTIONS, FuncOp, ReturnOp
from xtile.dialects.gpu.subgroup_sizes import SUBGROUP_SIZE_ATTRIBUTES, VECTOR_COMPUTE
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.kernels import launched_block_sizes, with_kernels_replaced
from xtile.rewrite.memref_layouts import is_local
from xtile.rewrite.rebuilder import RuleTable
from xtile.rewrite.tile_emitter import TileEmitter
from xtile.text.source import Source, source_of
from xtile.text.value_names import copy_name
from xtile.transforms.join_branches import join_branches
from xtile.transforms.split_complex import split_complex

if TYPE_CHECKING:
    from xtile.text.diagnostics import Diagnostics

_PRODUCTS = frozenset({"vector.contract", "xegpu.dpas"})

_OF_SUBGROUPS = frozenset({*SUBGROUP_SIZE_ATTRIBUTES, VECTOR_COMPUTE})


def _is_of_work_items(kernel: FuncOp) -> bool:
    return level_of(kernel) in (None, Level.SUBGROUP, Level.LANE)


def lift_kernels(
    module: ModuleOp,
    diagnostics: Diagnostics | None = None,
    is_chosen: Callable[[FuncOp], bool] = _is_of_work_items,
) -> ModuleOp:
    """Returns a module whose kernels of subgroups and lanes are at level tile.

    Everything else stays as it is.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go; None drops them.
        is_chosen: Which kernels; by default all of subgroups and of lanes.

    Raises:
        DiagnosticError: Tiles have no counterpart of what a kernel does.
    """
    module = join_branches(split_complex(module), diagnostics)
    source = source_of(module)
    result = with_kernels_replaced(
        module, is_chosen, lambda kernel: _lifted(kernel, source, diagnostics)
    )
    if result is not module:
        _remove_variables(result)
    return result


def _remove_variables(module: ModuleOp) -> None:
    """Removes variables in local memory that no kernel has any more."""
    operations = list(walk(module))
    used = {op.properties["name"] for op in operations if op.name == "memref.get_global"}
    for operation in operations:
        type_ = operation.properties.get("type")
        if operation.name != "memref.global" or not isinstance(type_, MemRefType):
            continue
        name = cast("StringAttr", operation.properties["sym_name"])
        if SymbolRefAttr(name) not in used and is_local(cast("AnyMemRef", type_)):
            operation.detach()
            operation.erase()


def _tells_work_items_apart(operation: Operation) -> bool:
    """Whether it matters to an operation how many work-items execute it."""
    name = operation.name
    return name in OF_WORK_ITEMS or name in OF_LANES or updates_memory(operation)


def _with_local_memory_allocated(function: FuncOp) -> FuncOp:
    """A copy of a kernel that allocates its attributions in local memory; itself if it has none."""
    if not function.workgroup_buffers:
        return function
    result = function.clone()
    result.location = function.location
    del result.attributes[WORKGROUP_ATTRIBUTIONS]
    block = result.body.block
    first = block.first_op
    assert first is not None
    start = len(function.function_type.inputs)
    for buffer in block.args[start : start + len(function.workgroup_buffers)]:
        allocation = AllocaOp.build(operands=[[], []], result_types=[buffer.type])
        allocation.location = buffer.location
        copy_name(allocation.memref, buffer)
        block.insert_op_before(allocation, first)
        buffer.replace_all_uses_with(allocation.memref)
        block.erase_arg(buffer)
    return result


def _with_launched_block_size(function: FuncOp, kernel: TileEmitter) -> FuncOp:
    """A copy of a kernel with the size of work-groups that all its launches in the module have.

    Raises:
        DiagnosticError: Nothing launches it, or launches have other sizes or none that is constant.
    """
    sizes = launched_block_sizes(function)
    size = next(iter(sizes)) if len(sizes) == 1 else None
    if size is None:
        what = "nothing says" if not sizes else "its launches do not agree on a constant for"
        raise kernel.error(
            f"{what} how many work-items a work-group has; write known_block_size", function
        )
    kernel.remark(
        f"known_block_size is {list(size)}, as the launches of the kernel in this module say",
        function,
    )
    result = function.clone()
    result.location = function.location
    result.known_block_size = DenseArrayBase.from_list(i32, size)
    return result


def with_blocks_joined(
    function: FuncOp, lanes: int, source: Source | None, diagnostics: Diagnostics | None
) -> FuncOp:
    """A kernel in which matrices of a subgroup that lie side by side are one; or the kernel itself.

    Args:
        function: The kernel; it is not changed.
        lanes: The lanes of a subgroup.
        source: The text of the kernel, for remarks.
        diagnostics: Where remarks go; None drops them.
    """
    if sum(each.name in _PRODUCTS for each in walk(function)) < 2:
        return function
    from xtile.transforms.lift.joined_blocks import join_blocks

    return join_blocks(function, lanes, source, diagnostics)


def _lifted(function: FuncOp, source: Source | None, diagnostics: Diagnostics | None) -> FuncOp:
    from xtile.transforms.lift.rules import lift
    from xtile.transforms.lift.work_group import work_group_of

    kernel = TileEmitter(RuleTable(), "tiles", source, diagnostics)
    if function.known_block_size is None and any(map(_tells_work_items_apart, walk(function))):
        function = _with_launched_block_size(function, kernel)
    function = with_promises_of_source(_with_local_memory_allocated(function))
    try:
        group = work_group_of(function)
    except ValueError as error:
        raise kernel.error(str(error), function) from error
    function = with_blocks_joined(function, group.lanes, source, diagnostics)
    old = function.body.block
    body = kernel.new_block(old, [argument.type for argument in old.args])
    with kernel.in_function(body):
        lift(old, kernel, group)
        kernel.emit(ReturnOp())
    result = FuncOp.create(
        properties=function.properties
        | {"known_block_size": DenseArrayBase.from_list(i32, [1, 1, 1])},
        attributes={
            name: attribute
            for name, attribute in function.attributes.items()
            if name not in _OF_SUBGROUPS
        }
        | {LEVEL_ATTRIBUTE: StringAttr(Level.TILE)},
        regions=[Region(body)],
    )
    result.location = function.location
    return result

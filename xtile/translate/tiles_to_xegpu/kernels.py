"""Modules and kernels: arguments, the size of a work-group, local memory."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.core.attributes import (
    LEVEL_ATTRIBUTE,
    SUBGROUP_GRID_ATTRIBUTE,
    TILE_HINTS_ATTRIBUTE,
    Level,
    level_of,
)
from xtile.dialects.core.signature import (
    SIGNATURE_ATTRIBUTE,
    source_signature,
)
from xtile.dialects.gpu.functions import FuncOp, ReturnOp
from xtile.dialects.gpu.modules import ModuleOp
from xtile.dialects.gpu.subgroup_sizes import SUBGROUP_SIZE_ATTRIBUTE
from xtile.dialects.walk import walk
from xtile.dialects.xegpu.levels import LEVEL
from xtile.rewrite.rebuilder import Rule
from xtile.text.value_names import copy_name
from xtile.transforms.distribute_tiles.barriers import place_barriers
from xtile.transforms.distribute_tiles.layouts import Layouts
from xtile.translate.tiles_to_xegpu.layouts import WorkGroupLowering
from xtile.translate.tiles_to_xegpu.lowering import Lowering
from xtile.translate.tiles_to_xegpu.memory import is_group, local_memory, local_type, memory_of


def _module(operation: ModuleOp, lowering: Lowering) -> None:
    body = Block()
    with lowering.at_end_of(body):
        for each in operation.body.block.ops:
            lowering.translate(each) if isinstance(each, FuncOp) else lowering.keep(each)
    result = lowering.emit(ModuleOp(operation.sym_name.data, Region(body)))
    result.attributes |= operation.attributes


def _function(operation: FuncOp, lowering: WorkGroupLowering) -> None:
    """A kernel of tiles; others stay what they are."""
    if level_of(operation) is not Level.TILE:
        lowering.keep(operation)
        return
    chip = lowering.target.chip
    lowering.layouts = Layouts(operation, chip)
    lowering.waits = place_barriers(operation)
    result = emit_kernel(operation, lowering, chip.subgroup_size)
    items = lowering.layouts.subgroups * chip.subgroup_size
    result.known_block_size = DenseArrayBase.from_list(i32, [items, 1, 1])


def emit_kernel(operation: FuncOp, lowering: Lowering, lanes: int) -> FuncOp:
    """Emits what a kernel becomes, with as large a block as it has.

    Args:
        operation: The kernel.
        lowering: Where to emit.
        lanes: The size of its subgroups.
    """
    old = operation.body.block
    types = [lowering.type_of(argument.type) for argument in old.args]
    block = Block(arg_types=types)
    with lowering.in_function(block):
        for was, becomes in zip(old.args, block.args, strict=True):
            copy_name(becomes, was)
            lowering.define(was, _parameter(lowering, becomes))
        local = _define_local_memory(operation, block, lowering)
        lowering.translate_block(old)
    result = FuncOp(
        operation.sym_name.data,
        FunctionType.from_lists(types, []),
        Region([block]),
        kernel=operation.is_kernel,
        workgroup_attributions=local,
    )
    result.known_block_size = operation.known_block_size
    result.known_grid_size = operation.known_grid_size
    result.attributes |= _attributes_of(operation, lowering)
    result.attributes[SUBGROUP_SIZE_ATTRIBUTE] = IntegerAttr(lanes, i32)
    return lowering.emit(result)


def _parameter(lowering: Lowering, value: SSAValue) -> object:
    """What a parameter is in the kernel: a memref is memory, unless it holds memrefs."""
    if is_group(value.type) or not isinstance(value.type, MemRefType):
        return value
    return memory_of(lowering, value)


def _attributes_of(kernel: FuncOp, lowering: Lowering) -> dict[str, Attribute]:
    """The attributes of a kernel, with what it has become at another level."""
    own = {LEVEL_ATTRIBUTE, SUBGROUP_GRID_ATTRIBUTE, TILE_HINTS_ATTRIBUTE}
    gone = {*own, *kernel.get_irdl_definition().attributes}
    kept = {name: each for name, each in kernel.attributes.items() if name not in gone}
    signature = source_signature(kernel)
    if signature is not None:
        kept[SIGNATURE_ATTRIBUTE] = signature.relying_on(kernel).attribute()
    return {**kept, LEVEL: StringAttr(lowering.LEVEL)}


def _define_local_memory(kernel: FuncOp, block: Block, lowering: Lowering) -> int:
    """What a kernel allocates, as arguments of its body, and how many these are."""
    allocations = [each for each in walk(kernel) if each.name == "memref.alloca"]
    for allocation in allocations:
        (result,) = allocation.results
        buffer = block.insert_arg(local_type(result.type), len(block.args))
        copy_name(buffer, result)
        lowering.define(result, local_memory(result.type, buffer))
    return len(allocations)


def _return(operation: Operation, lowering: Lowering) -> None:
    lowering.emit(ReturnOp())


RULES: dict[str, Rule] = {
    FuncOp.name: _function,
    ModuleOp.name: _module,
    ReturnOp.name: _return,
}

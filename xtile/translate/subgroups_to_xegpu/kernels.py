"""Kernels: their arguments, the size of their subgroups, local memory."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, IntegerAttr, i32
from xdsl.ir import Block, Region

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.subgroup_sizes import SUBGROUP_SIZE_ATTRIBUTE, given_subgroup_size
from xtile.rewrite.rebuilder import Rule
from xtile.text.value_names import give_name
from xtile.translate.tiles_to_xegpu.kernels import (
    RULES as OF_TILES,
)
from xtile.translate.tiles_to_xegpu.kernels import (
    attributes_of,
    define_local_memory,
    parameter,
)
from xtile.translate.tiles_to_xegpu.lowering import Lowering


def _function(operation: FuncOp, lowering: Lowering) -> None:
    """A kernel of subgroups; others stay what they are."""
    if level_of(operation) is not Level.SUBGROUP:
        lowering.keep(operation)
        return
    lowering.lanes = given_subgroup_size(operation) or lowering.target.chip.subgroup_size
    old = operation.body.block
    types = [lowering.type_of(argument.type) for argument in old.args]
    block = Block(arg_types=types)
    with lowering.in_function(block):
        for was, becomes in zip(old.args, block.args, strict=True):
            give_name(becomes, was.name_hint)
            lowering.define(was, parameter(lowering, becomes))
        local = define_local_memory(operation, block, lowering)
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
    result.attributes |= attributes_of(operation, lowering)
    result.attributes[SUBGROUP_SIZE_ATTRIBUTE] = IntegerAttr(lowering.lanes, i32)
    lowering.emit(result)


RULES: dict[str, Rule] = {**OF_TILES, FuncOp.name: _function}
"""The rule of each operation, by name."""

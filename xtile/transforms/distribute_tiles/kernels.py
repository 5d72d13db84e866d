"""Kernels: how many subgroups they have, and the local memory of exchanges."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    i32,
)
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Block, Operation, Region

from xtile.dialects.core.attributes import (
    LEVEL_ATTRIBUTE,
    SUBGROUP_GRID_ATTRIBUTE,
    TILE_HINTS_ATTRIBUTE,
    Level,
    level_of,
)
from xtile.dialects.gpu.functions import FuncOp, ReturnOp
from xtile.dialects.gpu.modules import ModuleOp
from xtile.dialects.gpu.subgroup_sizes import SUBGROUP_SIZE_ATTRIBUTE
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.walk import walk
from xtile.rewrite.rebuilder import Rule, again
from xtile.targets.target import Target
from xtile.text.value_names import copy_name
from xtile.transforms.distribute_tiles.barriers import place_barriers
from xtile.transforms.distribute_tiles.distribution import Distribution
from xtile.transforms.distribute_tiles.exchange import LOCAL
from xtile.transforms.distribute_tiles.layouts import Layouts


def _module(operation: ModuleOp, distribution: Distribution) -> None:
    body = Block()
    with distribution.at_end_of(body):
        for each in operation.body.block.ops:
            if isinstance(each, FuncOp):
                distribution.translate(each)
            else:
                distribution.keep(each)
    result = distribution.emit(ModuleOp(operation.sym_name.data, Region(body)))
    result.attributes |= operation.attributes


def _function(operation: FuncOp, distribution: Distribution) -> None:
    """A kernel of tiles; others stay what they are."""
    if level_of(operation) is not Level.TILE:
        distribution.keep(operation)
        return
    lanes = _lanes_of(operation, distribution)
    distribution.layouts = Layouts(
        operation, replace(distribution.target.chip, subgroup_size=lanes)
    )
    distribution.waits = place_barriers(operation)
    distribution.arenas = {}
    old = operation.body.block
    block = Block(arg_types=[argument.type for argument in old.args])
    with distribution.in_function(block):
        for was, becomes in zip(old.args, block.args, strict=True):
            copy_name(becomes, was)
            distribution.define(was, becomes)
        distribution.translate_block(old)
    _allocate(distribution)
    result = again(operation, regions=[Region([block])])
    result.known_block_size = DenseArrayBase.from_list(i32, [distribution.subgroups * lanes, 1, 1])
    for name in (TILE_HINTS_ATTRIBUTE, SUBGROUP_GRID_ATTRIBUTE):
        result.attributes.pop(name, None)
    result.attributes[LEVEL_ATTRIBUTE] = StringAttr(Level.SUBGROUP)
    result.attributes[SUBGROUP_SIZE_ATTRIBUTE] = IntegerAttr(lanes, i32)
    distribution.emit(result)


def _lanes_of(kernel: FuncOp, distribution: Distribution) -> int:
    """The size of a subgroup: that for which the chip has the products of a kernel."""
    chip, target = distribution.target.chip, distribution.target
    for operation in walk(kernel):
        if isinstance(operation, ContractionOp):
            lanes = _lanes_of_product(operation, target.chip, target.compiler.least_lanes)
            if lanes is not None:
                return lanes
    return chip.subgroup_size


def _lanes_of_product(operation: ContractionOp, chip: Target, least: int) -> int | None:
    factors = [str(value_type(each.type)) for each in (operation.lhs, operation.rhs)]
    for unit in chip.units("dpas"):
        if [unit.a, unit.b] == factors and unit.lanes is not None and unit.lanes >= least:
            return unit.lanes
    return None


def _allocate(distribution: Distribution) -> None:
    """Gives the local memory of exchanges the size that turned out to be needed."""
    for bits, (memory, count) in distribution.arenas.items():
        old = memory.owner
        assert isinstance(old, AllocaOp)
        type_ = MemRefType(IntegerType(bits), [count], memory_space=LOCAL)
        new = AllocaOp(operands=[[], []], result_types=[type_])
        block = old.parent
        assert block is not None
        block.insert_op_before(new, old)
        new.memref.name_hint = memory.name_hint
        memory.replace_all_uses_with(new.memref)
        old.detach()
        old.erase()


def _return(operation: Operation, distribution: Distribution) -> None:
    distribution.emit(ReturnOp())


RULES: dict[str, Rule] = {
    FuncOp.name: _function,
    ModuleOp.name: _module,
    ReturnOp.name: _return,
}
"""The rule of each operation, by name."""

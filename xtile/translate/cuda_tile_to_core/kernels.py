"""Modules, kernels with their signatures and hints, and where a tile block stands in the grid.

Source: CUDA Tile IR specification, "Core"; docs/core-form.md, "Signatures".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.arguments.cutile_signature import disjoint_arrays
from xtile.dialects.core.arguments import NOALIAS_ATTRIBUTE
from xtile.dialects.core.attributes import TILE_HINTS_ATTRIBUTE
from xtile.dialects.core.signature import Role
from xtile.dialects.cuda_tile.ops.module import EntryOp, ModuleOp
from xtile.dialects.cuda_tile.types import PointerType, TileType
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.functions import ReturnOp
from xtile.dialects.gpu.indices import BlockIdOp, DimensionOperation, GridDimOp
from xtile.dialects.gpu.modules import ModuleOp as GpuModuleOp
from xtile.rewrite.kernels import emit_tile_kernel
from xtile.rewrite.rebuilder import Rule, copy
from xtile.rewrite.tile_emitter import passed_type
from xtile.translate.cuda_tile_to_core.control import run_entry
from xtile.translate.cuda_tile_to_core.raising import Raising

LANGUAGE = "cuda_tile"
"""What signatures call the language."""


def _module(operation: ModuleOp, raising: Raising) -> None:
    body = Block()
    with raising.at_end_of(body):
        raising.translate_block(operation.body.block)
    raising.emit(GpuModuleOp(operation.sym_name.data, Region(body)))


def _entry(operation: EntryOp, raising: Raising) -> None:
    old = operation.body.block
    types = raising.types(old.args)
    body = Block(arg_types=map(passed_type, types))
    with raising.in_function(body):
        for was, becomes, type_ in zip(old.args, body.args, types, strict=True):
            raising.define(was, becomes)
            raising.define(was, raising.received(becomes, type_))
        run_entry(old, raising)
        raising.emit(ReturnOp())
    name = operation.sym_name.data
    kernel = emit_tile_kernel(
        raising, operation, name, body, LANGUAGE, (_parameter(arg, raising) for arg in old.args)
    )
    kernel.arg_attrs = _promises(operation)
    hints = _hints(operation)
    if hints:
        kernel.attributes[TILE_HINTS_ATTRIBUTE] = DictionaryAttr(hints)


def _parameter(argument: SSAValue, raising: Raising) -> tuple[str | None, str, Role]:
    type_ = cast("TileType", argument.type)
    role = Role.POINTER if isinstance(type_.element_type, PointerType) else Role.VALUE
    return raising.name_of(argument), str(type_).removeprefix(f"!{LANGUAGE}."), role


def _promises(entry: EntryOp) -> ArrayAttr[DictionaryAttr] | None:
    """What the exporter of cuTile says, in the name of a kernel, of arrays that do not overlap."""
    arguments = entry.body.block.args
    disjoint = disjoint_arrays(entry.sym_name.data, len(arguments))
    if not disjoint:
        return None
    return ArrayAttr(
        DictionaryAttr({NOALIAS_ATTRIBUTE: UnitAttr()} if i in disjoint else {})
        for i in range(len(arguments))
    )


def _hints(entry: EntryOp) -> dict[str, DictionaryAttr]:
    """How to compile the kernel for each architecture for which something is said."""
    given = entry.optimization_hints
    hints: Mapping[str, Attribute] = {} if given is None else given.value.data
    return {
        name: values
        for name, values in hints.items()
        if isinstance(values, DictionaryAttr) and values.data
    }


def _of_grid(kind: Callable[[Dimension], DimensionOperation]) -> Rule:
    """The rule of an operation with a number for each dimension of the grid."""

    def rule(operation: Operation, raising: Raising) -> None:
        for dimension, result in zip(Dimension, operation.results, strict=True):
            if result.uses:
                number = raising.shared(
                    (kind, dimension), (), lambda along=dimension: raising.emit(kind(along)).result
                )
                type_ = raising.type(result.type)
                raising.define(result, raising.from_index(number, type_))

    return rule


def _keep(operation: Operation, raising: Raising) -> None:
    """What stands beside the kernels."""
    raising.keep(operation)


RULES: dict[str, Rule] = {
    "builtin.module": copy,
    "cuda_tile.entry": _entry,
    "cuda_tile.get_num_tile_blocks": _of_grid(GridDimOp),
    "cuda_tile.get_tile_block_id": _of_grid(BlockIdOp),
    "cuda_tile.module": _module,
    "func.func": _keep,
    "gpu.module": _keep,
}
"""The rule of each operation, by name."""

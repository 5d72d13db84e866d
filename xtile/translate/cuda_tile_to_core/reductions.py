"""Products of matrices, reductions and scans.

Source: CUDA Tile IR specification, "mmaf", "mmai", "mmaf_scaled", "reduce", "scan";
docs/core-form.md, "Reductions and scans".
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    IntAttr,
    IntegerAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region

from xtile.dialects.arith.casts import ExtSIOp, ExtUIOp
from xtile.dialects.core.reductions import ReduceOp, ScanOp
from xtile.dialects.core.scaled_products import ScaledContractOp
from xtile.dialects.core.subgroup import YieldOp
from xtile.dialects.cuda_tile.ops.bitwise import OrIOp
from xtile.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp, MmaIOp
from xtile.dialects.cuda_tile.ops.reductions import ReduceOp as TileReduceOp
from xtile.dialects.cuda_tile.ops.reductions import ScanOp as TileScanOp
from xtile.dialects.cuda_tile.types import tile_type
from xtile.dialects.shapes import with_element
from xtile.dialects.vector.contractions import product_of_matrices
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.cuda_tile_to_core.arithmetic import is_signed
from xtile.translate.cuda_tile_to_core.raising import Raising

# --- products ---


def _multiply_floats(operation: MmaFOp, raising: Raising) -> None:
    lhs, rhs, acc = raising.values((operation.lhs, operation.rhs, operation.acc))
    raising.define(operation.result, raising.emit(product_of_matrices(lhs, rhs, acc)).result)


def _multiply_integers(operation: MmaIOp, raising: Raising) -> None:
    """A contraction extends factors by their sign, so that those without one are extended first."""
    lhs, rhs, acc = raising.values((operation.lhs, operation.rhs, operation.acc))
    signs = [is_signed(operation, f"signedness_{side}") for side in ("lhs", "rhs")]
    if not all(signs):
        lhs, rhs = (
            raising.compute(ExtSIOp if sign else ExtUIOp, [value], with_element(value.type, i32))
            for sign, value in zip(signs, (lhs, rhs), strict=True)
        )
    raising.define(operation.result, raising.emit(product_of_matrices(lhs, rhs, acc)).result)


def _multiply_scaled(operation: MmaFScaledOp, raising: Raising) -> None:
    made = raising.emit(ScaledContractOp(*raising.values(operation.operands)))
    raising.define(operation.result, made.result)


# --- reductions and scans ---


def _body(operation: TileReduceOp | TileScanOp, raising: Raising, *, later: int) -> Region:
    """The combination of a tuple of earlier elements and one of later ones.

    Args:
        operation: The operation, whose region has a pair of arguments for each tile.
        raising: Where to emit.
        later: Which one of each pair is for the later element.
    """
    old = operation.body.block
    arguments = [*old.args[1 - later :: 2], *old.args[later::2]]
    block = Block(arg_types=raising.types(arguments))
    for was, becomes in zip(arguments, block.args, strict=True):
        raising.define(was, becomes)
    last = old.last_op
    assert last is not None
    with raising.at_end_of(block):
        for inner in old.ops:
            if inner is not last:
                raising.translate(inner)
        raising.emit(YieldOp.build(operands=[raising.values(last.operands)]))
    return Region(block)


def _properties(operation: TileReduceOp | TileScanOp) -> dict[str, Attribute]:
    return {
        "axis": IntegerAttr(operation.dimension, i64),
        "identities": operation.identities,
    }


def _reduce(operation: TileReduceOp, raising: Raising) -> None:
    """Of each pair of arguments the first one is for the later element."""
    if _changes_nothing(operation):
        (source,), (result,) = raising.values(operation.sources), operation.results
        raising.define(result, raising.reshape(source, shape_of(raising.type(result.type))))
        return
    made = ReduceOp.build(
        operands=[raising.values(operation.sources)],
        result_types=[raising.types(operation.results)],
        properties=_properties(operation),
        regions=[_body(operation, raising, later=0)],
    )
    raising.replace(operation, made)


def _changes_nothing(operation: TileReduceOp) -> bool:
    """Whether a reduction gives the only element along its dimension, as ports of ours have some.

    They keep the assembler from reading memory twice (`transforms/read_once.py`).
    """
    match list(operation.body.block.ops), list(operation.identities):
        case [OrIOp() as combination, Operation()], [IntegerAttr(value=IntAttr(data=0))]:
            is_of_pair = set(combination.operands) == set(operation.body.block.args)
            return (
                is_of_pair and tile_type(operation.sources[0]).get_shape()[operation.dimension] == 1
            )
        case _:
            return False


def _scan(operation: TileScanOp, raising: Raising) -> None:
    """Of each pair of arguments the second one is for the later element."""
    properties = _properties(operation)
    if operation.reverse.value.data:
        properties["reverse"] = UnitAttr()
    made = ScanOp.build(
        operands=[raising.values(operation.sources)],
        result_types=[raising.types(operation.results)],
        properties=properties,
        regions=[_body(operation, raising, later=1)],
    )
    raising.replace(operation, made)


RULES: dict[str, Rule] = {
    "cuda_tile.mmaf": _multiply_floats,
    "cuda_tile.mmaf_scaled": _multiply_scaled,
    "cuda_tile.mmai": _multiply_integers,
    "cuda_tile.reduce": _reduce,
    "cuda_tile.scan": _scan,
}
"""The rule of each operation, by name."""

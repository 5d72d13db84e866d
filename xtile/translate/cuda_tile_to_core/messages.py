"""What a kernel promises, checks and prints.

Source: CUDA Tile IR specification, "Miscellaneous", "assert"; docs/core-form.md, "Assumptions",
"Messages, global variables, early exits".
"""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i1, i64
from xdsl.dialects.cf import AssertOp
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute

from xtile.dialects.core.assumptions import AssumeOp
from xtile.dialects.core.printing import PrintOp
from xtile.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, SameElementsAttr
from xtile.dialects.cuda_tile.ops.control_flow import AssertOp as TileAssertOp
from xtile.dialects.cuda_tile.ops.miscellaneous import AssumeOp as TileAssumeOp
from xtile.dialects.cuda_tile.ops.miscellaneous import PrintTkoOp
from xtile.dialects.cuda_tile.types import TensorViewType, TileType
from xtile.dialects.shared_attributes import i64_attribute
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.cuda_tile_to_core.raising import Raising
from xtile.translate.cuda_tile_to_core.types import is_token


def _assume(operation: TileAssumeOp, raising: Raising) -> None:
    """An assumption of integers, pointers and tensors; others are left out, as all may be."""
    if is_token(operation.value):
        return
    value, predicate = raising.value(operation.value), operation.predicate
    type_ = operation.value.type
    if isinstance(type_, TensorViewType) and isinstance(predicate, DivByAttr):
        properties = {"alignment": IntegerAttr(predicate.divisor.data, 32)}
        value = raising.compute(memref.AssumeAlignmentOp, [value], value.type, properties)
    elif isinstance(type_, TileType) and (promise := _promise(predicate)):
        value = raising.compute(AssumeOp, [value], value.type, promise)
    raising.define(operation.result, value)


def _promise(predicate: Attribute) -> dict[str, Attribute]:
    """The properties of `core.assume` that say what a predicate says."""
    numbers: dict[str, int | None] = {}
    match predicate:
        case BoundedAttr():
            numbers = {"at_least": predicate.lower_bound, "at_most": predicate.upper_bound}
        case DivByAttr():
            length, along = predicate.group or (None, None)
            divisor = max(1, predicate.divisor.data)
            numbers = {"divisible_by": divisor, "contiguous": length, "along": along}
        case SameElementsAttr():
            sizes = predicate.get_values()
            return {"equal": DenseArrayBase.from_list(i64, sizes)} if sizes else {}
        case _:
            pass
    return {name: i64_attribute(n) for name, n in numbers.items() if n is not None}


def _assert(operation: TileAssertOp, raising: Raising) -> None:
    """A tile of conditions holds where all of them do."""
    condition = raising.value(operation.condition)
    rank = len(shape_of(condition.type))
    if rank:
        condition = raising.compute(
            MultiDimReductionOp,
            [condition, raising.constant(1, i1)],
            i1,
            {
                "kind": CombiningKindAttr(CombiningKindFlag.AND),
                "reduction_dims": DenseArrayBase.from_list(i64, range(rank)),
            },
        )
    raising.emit(AssertOp(condition, operation.message))


def _print(operation: PrintTkoOp, raising: Raising) -> None:
    raising.emit(
        PrintOp.build(
            operands=[raising.values(operation.args)], properties={"format": operation.text}
        )
    )


RULES: dict[str, Rule] = {
    "cuda_tile.assert": _assert,
    "cuda_tile.assume": _assume,
    "cuda_tile.print_tko": _print,
}
"""The rule of each operation, by name."""

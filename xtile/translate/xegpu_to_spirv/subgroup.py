"""Exchanges between the work-items of a subgroup.

Source: SPIR-V Specification, 3.52.21 "Group and Subgroup Instructions" and "Non-Uniform
Instructions"; docs/semantics.md, 7, "Execution".
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Operation, SSAValue

from xtile.dialects.gpu.attributes import ShuffleModeAttr
from xtile.translate.rule import Rule
from xtile.translate.xegpu_to_spirv.gpu import SUBGROUP_SCOPE, lane
from xtile.translate.xegpu_to_spirv.lowering import Lowering

_SOURCES = {"xor": "BitwiseXor", "up": "ISub", "down": "IAdd"}
"""How a shuffle computes the lane that it reads from; "idx" names it."""


def _shuffle(operation: Operation, lowering: Lowering) -> None:
    value, offset, width = lowering.values(operation.operands)
    result, valid = operation.results
    mode = str(cast(ShuffleModeAttr, operation.properties["mode"]).data)
    own = lane(lowering)
    source = offset
    if mode != "idx":
        source = lowering.shared_compute(_SOURCES[mode], i32, own, offset)
    is_valid = _is_valid(lowering, mode, source, offset, width)
    if is_valid is not None:
        source = lowering.select(is_valid, source, own)
    lowering.define(valid, lowering.true() if is_valid is None else is_valid)
    lowering.define(result, read_lane(lowering, value, source))


def _is_valid(
    lowering: Lowering, mode: str, source: SSAValue, offset: SSAValue, width: SSAValue
) -> SSAValue | None:
    """Whether there is a lane to read from; None if there surely is."""
    numbers = lowering.constants.numbers
    size = lowering.kernel.subgroup_size
    is_whole = numbers.get(width) == size
    if is_whole and mode in ("xor", "idx") and 0 <= numbers.get(offset, -1) < (size or 0):
        return None
    in_range = lowering.compute("ULessThan", i1, source, width)
    if is_whole:
        return in_range
    own_in_range = lowering.compute("ULessThan", i1, lane(lowering), width)
    return lowering.compute("LogicalAnd", i1, in_range, own_in_range)


def read_lane(lowering: Lowering, value: SSAValue, source: SSAValue) -> SSAValue:
    """The value of another work-item of the subgroup."""
    scope = lowering.integer(SUBGROUP_SCOPE, i32)
    type_ = value.type
    return lowering.compute("GroupNonUniformShuffle", type_, scope, value, source)


RULES: dict[str, Rule] = {
    "gpu.shuffle": _shuffle,
}
"""The rule of each operation, by name."""

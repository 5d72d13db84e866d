"""Which values of the source are certainly the same in all work-items of a subgroup."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import arithmetic, builtins, subgroup

_UNIFORM = (
    builtins.IndexBuiltinOperation,
    builtins.NumSubgroupsOp,
    builtins.SubgroupIdOp,
    builtins.SubgroupLinearIdOp,
    builtins.SubgroupSizeOp,
    subgroup.SubgroupBroadcastOp,
    subgroup.SubgroupReduceAddOp,
    subgroup.SubgroupReduceMaxOp,
    subgroup.SubgroupReduceMinOp,
)

_ELEMENTWISE = (
    arithmetic.BinaryArithmeticOperation,
    arithmetic.CastOp,
    arithmetic.ComparisonOperation,
    arithmetic.ConstantOp,
    arithmetic.MathOperation,
    arithmetic.UnaryArithmeticOperation,
)


def is_collective(operation: Operation) -> bool:
    """Whether an instruction stands in a collective region."""
    around = operation.parent_op()
    while around is not None:
        if isinstance(around, TensorLangOperation) and around.OPENS_SPMD_REGION:
            return False
        around = around.parent_op()
    return True


def is_uniform(value: SSAValue) -> bool:
    """Whether a value is certainly the same in all work-items of a subgroup."""
    owner = value.owner
    if not isinstance(owner, Operation):
        region = owner.parent_op()
        opens = isinstance(region, TensorLangOperation) and region.OPENS_SPMD_REGION
        return region is not None and not opens and is_collective(region)
    if isinstance(owner, _UNIFORM) or is_collective(owner):
        return True
    return isinstance(owner, _ELEMENTWISE) and all(map(is_uniform, owner.operands))

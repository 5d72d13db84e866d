"""Subgroup instructions: work-items of a subgroup exchange values.

Upstream's operations take integers and floats only: an `index` passes as i64, a complex number as
its two parts. Sums of narrow types are computed in the accumulation type (docs/semantics.md 3.8).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core.attributes import ScanKind
from xtile.dialects.core.subgroup import ScanKindAttr, SubgroupScanOp
from xtile.dialects.gpu.attributes import AllReduceOperationAttr, ShuffleModeAttr
from xtile.dialects.gpu.enumerations import AllReduceOperation, ShuffleMode
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import arithmetic, builtins
from xtile.dialects.tensorlang.ops import subgroup as ops
from xtile.dialects.tensorlang.types import BOOL, COMPLEX_TYPES, FLOATING_TYPES, I32, I64, INDEX
from xtile.dialects.tensorlang.verifier.regions import subgroup_size_of
from xtile.rewrite.rebuilder import Rebuilder, Rules
from xtile.translate.tensorlang_to_core.builtins import subgroup_value
from xtile.translate.tensorlang_to_core.casts import complex_parts, convert, create_complex
from xtile.translate.tensorlang_to_core.emit import accumulation_type, constant, emit, make

Exchange: TypeAlias = Callable[[SSAValue], SSAValue]
"""Emits an exchange of an integer or a float."""


def _by_parts(r: Rebuilder, value: SSAValue, exchange: Exchange) -> SSAValue:
    """Exchanges a value of any type as integers or floats."""
    if value.type in COMPLEX_TYPES:
        return create_complex(r, *(exchange(part) for part in complex_parts(r, value)))
    if value.type == INDEX:
        return convert(r, exchange(convert(r, value, I64)), INDEX)
    return exchange(value)


def _broadcast(operation: ops.SubgroupBroadcastOp, r: Rebuilder) -> None:
    index = r.value(operation.index)
    size = subgroup_size_of(operation)
    if size is None:
        width = convert(r, subgroup_value(r, "gpu.subgroup_size"), I32)
    else:
        width = constant(r, size, I32)
    mode = {"mode": ShuffleModeAttr(ShuffleMode.IDX)}

    def shuffle(value: SSAValue) -> SSAValue:
        shuffled = make("gpu.shuffle", [value, index, width], [value.type, BOOL], mode)
        return r.emit(shuffled).results[0]

    r.define(operation.result, _by_parts(r, r.value(operation.a), shuffle))


_KINDS: dict[type[ops.SubgroupOperation], ScanKind] = {
    ops.SubgroupReduceAddOp: ScanKind.ADD,
    ops.SubgroupReduceMaxOp: ScanKind.MAX,
    ops.SubgroupReduceMinOp: ScanKind.MIN,
    ops.SubgroupInclusiveScanAddOp: ScanKind.ADD,
    ops.SubgroupInclusiveScanMaxOp: ScanKind.MAX,
    ops.SubgroupInclusiveScanMinOp: ScanKind.MIN,
    ops.SubgroupExclusiveScanAddOp: ScanKind.ADD,
    ops.SubgroupExclusiveScanMaxOp: ScanKind.MAX,
    ops.SubgroupExclusiveScanMinOp: ScanKind.MIN,
}
"""How each instruction combines values."""

_FLOATING_REDUCTIONS = {
    ScanKind.ADD: AllReduceOperation.ADD,
    ScanKind.MAX: AllReduceOperation.MAXNUMF,
    ScanKind.MIN: AllReduceOperation.MINNUMF,
}

_INTEGER_REDUCTIONS = {
    ScanKind.ADD: AllReduceOperation.ADD,
    ScanKind.MAX: AllReduceOperation.MAXSI,
    ScanKind.MIN: AllReduceOperation.MINSI,
}


def _combine(operation: ops.SubgroupOperation, r: Rebuilder, exchange: Exchange) -> None:
    value = r.value(operation.a)
    is_sum = _KINDS[type(operation)] is ScanKind.ADD
    wide = accumulation_type(value.type) if is_sum else value.type
    combined = _by_parts(r, convert(r, value, wide), exchange)
    r.define(operation.result, convert(r, combined, value.type))


def _reduce(operation: ops.SubgroupOperation, r: Rebuilder) -> None:
    kind = _KINDS[type(operation)]

    def reduce(value: SSAValue) -> SSAValue:
        is_floating = value.type in FLOATING_TYPES
        names = _FLOATING_REDUCTIONS if is_floating else _INTEGER_REDUCTIONS
        properties = {"op": AllReduceOperationAttr(names[kind])}
        return emit(r, "gpu.subgroup_reduce", [value], value.type, properties)

    _combine(operation, r, reduce)


def _inclusive_scan(operation: ops.SubgroupOperation, r: Rebuilder) -> None:
    _scan(operation, r, None)


def _exclusive_scan(operation: ops.SubgroupOperation, r: Rebuilder) -> None:
    _scan(operation, r, UnitAttr())


def _scan(operation: ops.SubgroupOperation, r: Rebuilder, exclusive: UnitAttr | None) -> None:
    kind = ScanKindAttr(_KINDS[type(operation)])

    def scan(value: SSAValue) -> SSAValue:
        return r.emit(
            SubgroupScanOp.build(
                operands=[value],
                result_types=[value.type],
                properties={"kind": kind, "exclusive": exclusive},
            )
        ).result

    _combine(operation, r, scan)


# --- which values are certainly the same in all work-items of a subgroup ---

_UNIFORM = (
    builtins.IndexBuiltinOperation,
    builtins.NumSubgroupsOp,
    builtins.SubgroupIdOp,
    builtins.SubgroupLinearIdOp,
    builtins.SubgroupSizeOp,
    ops.SubgroupBroadcastOp,
    ops.SubgroupReduceAddOp,
    ops.SubgroupReduceMaxOp,
    ops.SubgroupReduceMinOp,
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


RULES: Rules = {
    ops.SubgroupBroadcastOp: _broadcast,
    ops.SubgroupReduceAddOp: _reduce,
    ops.SubgroupReduceMaxOp: _reduce,
    ops.SubgroupReduceMinOp: _reduce,
    ops.SubgroupInclusiveScanAddOp: _inclusive_scan,
    ops.SubgroupInclusiveScanMaxOp: _inclusive_scan,
    ops.SubgroupInclusiveScanMinOp: _inclusive_scan,
    ops.SubgroupExclusiveScanAddOp: _exclusive_scan,
    ops.SubgroupExclusiveScanMaxOp: _exclusive_scan,
    ops.SubgroupExclusiveScanMinOp: _exclusive_scan,
}

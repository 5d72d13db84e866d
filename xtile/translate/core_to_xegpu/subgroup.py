"""What the lanes of a subgroup compute together, from shuffles."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IndexType,
    IntegerType,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.construction import made
from xtile.dialects.core.attributes import ScanKind
from xtile.dialects.core.subgroup import SubgroupScanOp
from xtile.dialects.gpu.attributes import ShuffleModeAttr
from xtile.dialects.gpu.enumerations import ShuffleMode
from xtile.dialects.gpu.subgroups import ShuffleOp, SubgroupReduceOp
from xtile.rewrite.combinations import COMBINING
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_xegpu.lowering import Lowering
from xtile.translate.core_to_xegpu.widening import rounded, widened

Combine = Callable[[SSAValue, SSAValue], SSAValue]


def shuffle(lowering: Lowering, value: SSAValue, lane: Index) -> SSAValue:
    """The value that another lane has."""
    offset = lowering.constant(lane, i32) if isinstance(lane, int) else lowering.as_i32(lane)
    return _shuffle(lowering, value, offset, ShuffleMode.IDX)


def exchange(lowering: Lowering, value: SSAValue, distance: int) -> SSAValue:
    """The value of the lane whose number differs in the bits of `distance`."""
    return _shuffle(lowering, value, lowering.constant(distance, i32), ShuffleMode.XOR)


_MODES = {mode: ShuffleModeAttr(mode) for mode in ShuffleMode}


def _shuffle(lowering: Lowering, value: SSAValue, offset: SSAValue, mode: ShuffleMode) -> SSAValue:
    type_ = value.type
    if isinstance(type_, IndexType):
        value = lowering.emit(arith.IndexCastOp(value, i64)).result
    width = lowering.constant(lowering.subgroup_size, i32)
    types = (value.type, i1)
    operation = made(ShuffleOp, (value, offset, width), types, {"mode": _MODES[mode]})
    result = lowering.emit(operation).results[0]
    if isinstance(type_, IndexType):
        return lowering.emit(arith.IndexCastOp(result, type_)).result
    return result


def all_lanes(
    lowering: Lowering, value: SSAValue, combine: Combine, first: int = 1, last: int | None = None
) -> SSAValue:
    """Combines the values of lanes whose numbers differ in the bits from `first` to `last`."""
    distance = first
    while distance < (last or lowering.subgroup_size):
        value = combine(value, exchange(lowering, value, distance))
        distance *= 2
    return value


_COMBINE = {
    **COMBINING,
    "min": (arith.MinSIOp, arith.MinnumfOp),
    "max": (arith.MaxSIOp, arith.MaxnumfOp),
}
"""For each kind of reduction the operation on integers and on floats."""

KINDS = frozenset(_COMBINE)
"""The kinds of reductions that there are."""


def combiner(lowering: Lowering, kind: str, type_: Attribute) -> Combine:
    """What combines two values in a reduction; a bf16 is combined in f32."""
    integer, floating = _COMBINE[kind]
    operation = integer if isinstance(type_, IntegerType | IndexType) else floating

    def combine(a: SSAValue, b: SSAValue) -> SSAValue:
        return lowering.emit(made(operation, (a, b), (a.type,))).results[0]

    return combine


def neutral(kind: str, type_: Attribute) -> float:
    """The number that a kind of reduction leaves out of account, of a type that is carried."""
    from xtile.dialects.vector.attributes import neutral_float, neutral_integer

    if isinstance(type_, IndexType):
        return neutral_integer(kind, 64)
    is_integer = isa(type_, IntegerType)
    return neutral_integer(kind, type_.width.data) if is_integer else neutral_float(kind)


def _reduce(operation: SubgroupReduceOp, lowering: Lowering) -> None:
    if operation.cluster_size is not None:
        raise lowering.error("gpu.subgroup_reduce of a part of the subgroup is not there yet")
    kind = str(operation.op.data)
    value = _accumulated(lowering, operation.value)
    total = all_lanes(lowering, value, combiner(lowering, kind, value.type))
    lowering.define(operation.result, rounded(lowering, total, operation.value.type))


def _accumulated(lowering: Lowering, old: SSAValue) -> SSAValue:
    """Narrow floats are summed up in f32, i8 in i32 (docs/semantics.md, section 3)."""
    return widened(lowering, lowering.value(old), old.type, i32 if old.type == i8 else None)


def _scan(operation: SubgroupScanOp, lowering: Lowering) -> None:
    type_ = operation.value.type
    kind = operation.kind.data
    value = _accumulated(lowering, operation.value)
    combine = combiner(lowering, str(kind), value.type)
    lane = lowering.lane()
    distance = 1
    while distance < lowering.subgroup_size:
        source = lowering.emit(arith.SubiOp(lane, lowering.index(distance))).result
        below = _shuffle(lowering, value, lowering.as_i32(source), ShuffleMode.IDX)
        # The first lanes have nothing so far below them.
        is_first = lowering.is_below(lane, distance)
        value = lowering.select(is_first, value, combine(value, below))
        distance *= 2
    if operation.exclusive is not None:
        # The second lane gets the first one's number even if it is NaN, which is no maximum of
        # two numbers.
        value = _shifted(lowering, value, _identity(lowering, kind, type_, value.type))
    lowering.define(operation.result, rounded(lowering, value, type_))


def _shifted(lowering: Lowering, value: SSAValue, first: SSAValue) -> SSAValue:
    """The value of the lane before; the first lane gets `first`."""
    lane = lowering.lane()
    source = lowering.emit(arith.SubiOp(lane, lowering.index(1))).result
    before = _shuffle(lowering, value, lowering.as_i32(source), ShuffleMode.IDX)
    return lowering.select(lowering.is_below(lane, 1), first, before)


def _identity(
    lowering: Lowering, kind: ScanKind, type_: Attribute, computed: Attribute
) -> SSAValue:
    if kind is ScanKind.ADD:
        return lowering.constant(0, computed)
    if isinstance(type_, IndexType) or isa(type_, IntegerType):
        width = 64 if isinstance(type_, IndexType) else type_.width.data
        bound = 1 << (width - 1)
        return lowering.constant(-bound if kind is ScanKind.MAX else bound - 1, computed)
    return lowering.constant(-inf if kind is ScanKind.MAX else inf, computed)


RULES: dict[str, Rule] = {
    SubgroupReduceOp.name: _reduce,
    SubgroupScanOp.name: _scan,
}

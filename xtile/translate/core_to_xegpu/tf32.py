"""tf32 numbers, which are carried as f32 with no other bits than tf32 has.

LLVM and SPIR-V have no type tf32, so that a cast to it is arithmetic on bits where a chip has no
instruction that rounds.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.arith import TruncFOp
from xdsl.dialects.builtin import FloatTF32Type, MemRefType, VectorType, f64, i32
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.arith.casts import ExtFOp
from xtile.dialects.walk import types_in, walk
from xtile.translate.core_to_xegpu.bfloat16 import (
    TO_NEAREST_EVEN,
    compare,
    element_of,
    like,
    to_odd,
    without_low_bits,
)
from xtile.translate.core_to_xegpu.lowering import Lowering

_MAGNITUDE = 0x7FFFFFFF
_INFINITY = 0x7F800000
_UNUSED_BITS = 13

_REFUSED = frozenset(
    {
        "core.atomic_update",
        "core.map",
        "core.reduce",
        "core.scan",
        "core.subgroup_scan",
        "gpu.subgroup_reduce",
        "memref.atomic_rmw",
        "vector.multi_reduction",
        "vector.reduction",
        "vector.scan",
    }
)
"""Operations that would round sums to tf32, which no device does."""


_CONTRACTION = "vector.contract"


def is_tf32(type_: Attribute) -> bool:
    """Whether a type is tf32, or a vector or memref of it."""
    if type(type_) is VectorType or type(type_) is MemRefType:
        type_ = type_.element_type
    return type(type_) is FloatTF32Type


def check(kernels: Operation, lowering: Lowering) -> None:
    """Checks that tf32 is a type of factors in registers.

    Raises:
        DiagnosticError: It is one of memory, or of what is combined.
    """
    if not any(map(is_tf32, types_in(kernels))):
        return
    for operation in walk(kernels):
        arguments = (a for region in operation.regions for b in region.blocks for a in b.args)
        values = (*operation.operands, *operation.results, *arguments)
        types = [value.type for value in values if is_tf32(value.type)]
        problem = _problem(operation, types) if types else None
        if problem is not None:
            raise lowering.error(problem, operation)


def _problem(operation: Operation, types: Sequence[Attribute]) -> str | None:
    """What is wrong with an operation on values of these types of tf32."""
    if operation.name in _REFUSED:
        return "numbers of tf32 are not combined; cast them to f32 with arith.extf first"
    if operation.name == _CONTRACTION and is_tf32(operation.results[0].type):
        return "sums of tf32 factors are f32, not tf32"
    if any(isinstance(type_, MemRefType) for type_ in types):
        return "tf32 lies in registers only; keep it in memory as f32"
    return None


def narrow(lowering: Lowering, value: SSAValue, mode: str = TO_NEAREST_EVEN) -> SSAValue:
    """An f32 or f64 rounded to tf32; NaN stays NaN."""
    if element_of(value) == f64:
        value = to_odd(lowering, value)
    elif mode == TO_NEAREST_EVEN and lowering.target.rounds_to_tf32:
        type_ = like(value, FloatTF32Type())
        short = lowering.emit(TruncFOp(value, type_)).result
        return lowering.emit(ExtFOp(short, value.type)).result
    emit, word = lowering.emit, like(value, i32)
    bits = emit(arith.BitcastOp(value, word)).result
    cut = without_low_bits(lowering, bits, _UNUSED_BITS, mode)
    magnitude = emit(arith.AndIOp(bits, lowering.constant(_MAGNITUDE, word))).result
    is_number = compare(
        lowering, arith.CmpiOp(magnitude, lowering.constant(_INFINITY, word), "ult")
    )
    return emit(arith.BitcastOp(lowering.select(is_number, cut, bits), value.type)).result

"""tf32 numbers, which are carried as f32 with no other bits than tf32 has.

LLVM and SPIR-V have no type tf32, so that a cast to it is arithmetic on bits.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatTF32Type, MemRefType, VectorType, f64, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.translate.core_to_xegpu.bfloat16 import compare, element_of, like, to_odd
from xtile.translate.core_to_xegpu.lowering import Lowering

_MAGNITUDE = 0x7FFFFFFF
_INFINITY = 0x7F800000
_UNUSED_BITS = 13
_HALF = 0xFFF

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
    """Whether a type is tf32 or a vector of it."""
    if isa(type_, VectorType):
        type_ = type_.element_type
    return isinstance(type_, FloatTF32Type)


def check(kernels: Operation, lowering: Lowering) -> None:
    """Checks that tf32 is a type of factors in registers.

    Raises:
        DiagnosticError: It is one of memory, or of what is combined.
    """
    for operation in kernels.walk():
        types = (*operation.operand_types, *operation.result_types)
        if operation.name in _REFUSED and any(map(is_tf32, types)):
            message = "numbers of tf32 are not combined; cast them to f32 with arith.extf first"
            raise lowering.error(message, operation)
        if operation.name == _CONTRACTION and is_tf32(types[-1]):
            raise lowering.error("sums of tf32 factors are f32, not tf32", operation)
        arguments = (a.type for region in operation.regions for b in region.blocks for a in b.args)
        if any(_is_memory(type_) for type_ in (*types, *arguments)):
            message = "tf32 lies in registers only; keep it in memory as f32"
            raise lowering.error(message, operation)


def _is_memory(type_: Attribute) -> bool:
    return isa(type_, MemRefType) and is_tf32(type_.element_type)


def narrow(lowering: Lowering, value: SSAValue) -> SSAValue:
    """An f32 or f64 rounded to tf32, to nearest, ties to even; NaN stays NaN."""
    if element_of(value) == f64:
        value = to_odd(lowering, value)
    emit, word = lowering.emit, like(value, i32)
    bits = emit(arith.BitcastOp(value, word)).result
    unused = lowering.constant(_UNUSED_BITS, word)
    odd = emit(
        arith.AndIOp(emit(arith.ShRUIOp(bits, unused)).result, lowering.constant(1, word))
    ).result
    biased = emit(arith.AddiOp(bits, lowering.constant(_HALF, word))).result
    near = emit(arith.AddiOp(biased, odd)).result
    cut = emit(arith.AndIOp(near, lowering.constant(-1 << _UNUSED_BITS, word))).result
    magnitude = emit(arith.AndIOp(bits, lowering.constant(_MAGNITUDE, word))).result
    is_number = compare(
        lowering, arith.CmpiOp(magnitude, lowering.constant(_INFINITY, word), "ult")
    )
    return emit(arith.BitcastOp(lowering.select(is_number, cut, bits), value.type)).result

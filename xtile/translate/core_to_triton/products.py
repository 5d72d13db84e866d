"""Products of matrices, which Triton has of a least size."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from xtile.dialects.triton.tt import ops as tt
from xtile.dialects.triton.tt.enumerations import InputPrecision
from xtile.dialects.vector.contractions import ContractionOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.lowering import Lowering
from xtile.translate.core_to_triton.types import is_of_tf32
from xtile.translate.tiles.casts import width_of
from xtile.translate.tiles.products import contract

_LEAST = 16
"""The least rows, columns and depth of a product, of factors of 16 bits and more.

Source: Triton 3.4 to 3.9, `min_dot_size` of the backends of NVIDIA and AMD.
"""

_LEAST_DEPTH_OF_BYTES = 32


def dot(lowering: Lowering, a: SSAValue, b: SSAValue, sums: SSAValue) -> SSAValue:
    """The product of two matrices, or of lists of matrices, and sums, exactly as the types say.

    Small ones are repeated up to the least size: zeros follow the depth, and of more rows and
    columns than there are the first ones are taken.
    """
    rows = lowering.shape(a)[-2]
    columns = lowering.shape(b)[-1]
    rank = len(lowering.shape(a))
    least_depth = _LEAST_DEPTH_OF_BYTES if _bits(lowering, a) == _BYTE else _LEAST
    a = _repeated(lowering, _filled(lowering, a, rank - 1, least_depth), rank - 2, _LEAST)
    b = _repeated(lowering, _filled(lowering, b, rank - 2, least_depth), rank - 1, _LEAST)
    for axis in (rank - 2, rank - 1):
        sums = _repeated(lowering, sums, axis, _LEAST)
    made = lowering.emit(tt.DotOp(a, b, sums, input_precision=lowering.precision)).results[0]
    shape = (*lowering.shape(made)[:-2], rows, columns)
    return lowering.extract(made, [0] * rank, shape)


def _bits(lowering: Lowering, value: SSAValue) -> int:
    return width_of(lowering.element(value))


_BYTE = 8


def _repeated(lowering: Lowering, value: SSAValue, axis: int, least: int) -> SSAValue:
    """A tensor that is repeated along a dimension until it has a least size."""
    shape = lowering.shape(value)
    if shape[axis] >= least:
        return value
    times = least // shape[axis]
    single = lowering.reshape(value, (*shape[:axis], 1, *shape[axis:]))
    several = lowering.broadcast(single, (*shape[:axis], times, *shape[axis:]))
    return lowering.reshape(several, (*shape[:axis], least, *shape[axis + 1 :]))


def _filled(lowering: Lowering, value: SSAValue, axis: int, least: int) -> SSAValue:
    """A tensor with zeros behind it along a dimension, up to a least size."""
    own = lowering.shape(value)[axis]
    if own >= least:
        return value
    repeated = _repeated(lowering, value, axis, least)
    limit = lowering.constant(own, lowering.tile(i32, (least,)))
    line = lowering.cmpi("slt", lowering.iota(least, i32), limit)
    is_own = lowering.along(line, axis, lowering.shape(repeated))
    return lowering.select(is_own, repeated, lowering.like(0, repeated))


def _contract(operation: ContractionOp, lowering: Lowering) -> None:
    """A contraction; the factors say whether fewer bits than f32 has are enough."""
    factors = (operation.lhs, operation.rhs)
    is_short = all(is_of_tf32(each.type) for each in factors)
    with lowering.multiplying(InputPrecision.TF32 if is_short else InputPrecision.IEEE):
        contract(operation, lowering)


RULES: dict[str, Rule] = {"vector.contract": _contract}
"""The rule of each operation, by name."""

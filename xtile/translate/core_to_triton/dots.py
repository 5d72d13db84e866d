"""Products of matrices, which Triton has of a least size."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from xtile.dialects.triton.tt import ops as tt
from xtile.dialects.triton.tt.enumerations import InputPrecision
from xtile.translate.core_to_triton.tensor_builder import TensorBuilder
from xtile.translate.tiles.casts import width_of

LEAST_SIZE = 16
"""The least rows, columns and depth of a product, of factors of 16 bits and more.

Source: Triton 3.4 to 3.9, `min_dot_size` of the backends of NVIDIA and AMD.
"""

_LEAST_DEPTH_OF_BYTES = 32


def dot(
    builder: TensorBuilder, a: SSAValue, b: SSAValue, sums: SSAValue, precision: InputPrecision
) -> SSAValue:
    """The product of two matrices, or of lists of matrices, and sums, exactly as the types say.

    Small ones are repeated up to the least size: zeros follow the depth, and of more rows and
    columns than there are the first ones are taken.
    """
    rows = builder.shape(a)[-2]
    columns = builder.shape(b)[-1]
    rank = len(builder.shape(a))
    least_depth = _LEAST_DEPTH_OF_BYTES if _bits(builder, a) == _BYTE else LEAST_SIZE
    a = repeated(builder, _filled(builder, a, rank - 1, least_depth), rank - 2, LEAST_SIZE)
    b = repeated(builder, _filled(builder, b, rank - 2, least_depth), rank - 1, LEAST_SIZE)
    for axis in (rank - 2, rank - 1):
        sums = repeated(builder, sums, axis, LEAST_SIZE)
    made = builder.emit(tt.DotOp(a, b, sums, input_precision=precision)).results[0]
    shape = (*builder.shape(made)[:-2], rows, columns)
    return builder.extract(made, [0] * rank, shape)


def _bits(builder: TensorBuilder, value: SSAValue) -> int:
    return width_of(builder.element(value))


_BYTE = 8


def repeated(builder: TensorBuilder, value: SSAValue, axis: int, least: int) -> SSAValue:
    """A tensor that is repeated along a dimension until it has a least size."""
    shape = builder.shape(value)
    if shape[axis] >= least:
        return value
    times = least // shape[axis]
    single = builder.reshape(value, (*shape[:axis], 1, *shape[axis:]))
    several = builder.broadcast(single, (*shape[:axis], times, *shape[axis:]))
    return builder.reshape(several, (*shape[:axis], least, *shape[axis + 1 :]))


def _filled(builder: TensorBuilder, value: SSAValue, axis: int, least: int) -> SSAValue:
    """A tensor with zeros behind it along a dimension, up to a least size."""
    own = builder.shape(value)[axis]
    if own >= least:
        return value
    several = repeated(builder, value, axis, least)
    limit = builder.constant(own, builder.tile(i32, (least,)))
    line = builder.cmpi("slt", builder.iota(least, i32), limit)
    is_own = builder.along(line, axis, builder.shape(several))
    return builder.select(is_own, several, builder.like(0, several))

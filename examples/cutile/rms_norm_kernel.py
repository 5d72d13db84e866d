"""The kernel of rms_norm.mlir in cuTile Python, and how it was exported.

`pip install cuda-tile==1.7.0` brings the exporter, which needs no GPU; then this script writes
rms_norm.tileirbc, and as text rms_norm.mlir. To run either, nothing but xtile is needed: see
../rms_norm.py.
"""

from __future__ import annotations

from pathlib import Path

import cuda.tile as ct
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    ScalarConstraint,
    export_kernel,
)

import xtile

ROWS = 4
COLUMNS = 64


@ct.kernel
def rms_norm(x, weight, out, eps: float, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Divides each row by its root mean square and scales its columns."""
    block, size = ct.bid(0), x.shape[1]
    squares = ct.zeros((rows, columns), dtype=ct.float32)
    for part in range(ct.cdiv(size, columns)):
        tile = ct.load(x, (block, part), (rows, columns), padding_mode=ct.PaddingMode.ZERO)
        squares += tile * tile
    scale = ct.rsqrt(ct.sum(squares, axis=1, keepdims=True) / size + eps)
    for part in range(ct.cdiv(size, columns)):
        tile = ct.load(x, (block, part), (rows, columns), padding_mode=ct.PaddingMode.ZERO)
        factors = ct.load(weight, (part,), (columns,), padding_mode=ct.PaddingMode.ZERO)
        ct.store(out, (block, part), tile * scale * factors)


def array(dimensions: int) -> ArrayConstraint:
    """An f32 array of any size, whose last dimension is the contiguous one."""
    return ArrayConstraint(
        ct.float32,
        dimensions,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=[],
        may_alias_internally=False,
        stride_constant=(*[None] * (dimensions - 1), 1),
    )


def main() -> None:
    """Writes rms_norm.tileirbc and rms_norm.mlir."""
    constraints = [
        *(array(2), array(1), array(2), ScalarConstraint(ct.float32)),
        *(ConstantConstraint(ROWS), ConstantConstraint(COLUMNS)),
    ]
    signature = KernelSignature(constraints, CallingConvention.cutile_python_v1())
    path = Path(__file__).with_name("rms_norm.tileirbc")
    export_kernel(
        rms_norm,
        [signature],
        path,
        output_format="tileir_bytecode",
        bytecode_version="13.3",
    )
    path.with_suffix(".mlir").write_text(xtile.to_text(xtile.parse(path), "mlir"), encoding="utf-8")


if __name__ == "__main__":
    main()

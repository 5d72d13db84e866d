"""Small kernels, and ports of them with one mistake each."""

from __future__ import annotations

ROWS = """
gpu.module @m {{
  gpu.func @k(%x: memref<?x16xf32>, %y: memref<?xf32>) kernel
      attributes {{known_block_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %n = memref.dim %y, %c0 : memref<?xf32>
    %i = gpu.block_id x
    %is_inside = arith.cmpi {compare}, %i, %n : index
    scf.if %is_inside {{
      %start = arith.constant {start} : f32
      %row = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %changed = {change} %row : vector<16xf32>
      %sum = vector.reduction <{kind}>, %changed, %start : vector<16xf32> into f32
      memref.store %sum, %y[%i] : memref<?xf32>
    }}
    gpu.return
  }}
}}
"""
"""One number for each row of a matrix, by one work-group."""


def rows(
    compare: str = "slt", start: str = "0.0", change: str = "math.exp", kind: str = "add"
) -> str:
    """The kernel, with other words where they are given."""
    return ROWS.format(compare=compare, start=start, change=change, kind=kind)

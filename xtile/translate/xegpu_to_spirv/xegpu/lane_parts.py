"""Which elements of a subgroup's matrix a lane holds, as numbers that depend on the lane.

Source: MLIR (LLVM 22), `Conversion/XeGPUToXeVM` and `Dialect/LLVMIR/XeVMOps.td`; docs/semantics.md,
"XeGPU".
"""

from __future__ import annotations

from xtile.layouts import Layout, LayoutError
from xtile.layouts.intel import dealt
from xtile.rewrite.indices import Index
from xtile.rewrite.placement import share
from xtile.translate.xegpu_to_spirv.gpu import of_subgroup
from xtile.translate.xegpu_to_spirv.lowering import Lowering


def position(
    lowering: Lowering, shape: tuple[int, int], neighbours: int, lanes: int, entry: int
) -> tuple[Index, Index]:
    """The row and the column of a lane's element.

    Args:
        lowering: Where to emit.
        shape: Rows and columns of the matrix.
        neighbours: How many elements of a row a lane gets at once.
        lanes: The lanes of a subgroup.
        entry: Which of a lane's elements.

    Raises:
        DiagnosticError: The matrix cannot be dealt to the lanes.
    """
    rows, columns = shape
    together = neighbours * lanes
    has_whole_rows = columns % together == 0 or (
        together % columns == 0 and columns % neighbours == 0
    )
    layout = dealt_to(lowering, shape if has_whole_rows else (1, rows * columns), neighbours, lanes)
    lane = of_subgroup(lowering, "SubgroupLocalInvocationId")
    known = layout.apply(register=entry)
    row, column = (
        lowering.add(share(lowering, layout, ("lane", name), lane), index)
        for name, index in zip(("dim0", "dim1"), known, strict=True)
    )
    if has_whole_rows:
        return row, column
    return lowering.divide(column, columns), lowering.remainder(column, columns)


def dealt_to(lowering: Lowering, shape: tuple[int, int], neighbours: int, lanes: int) -> Layout:
    """How a matrix is dealt to lanes.

    Raises:
        DiagnosticError: It cannot be.
    """
    try:
        return dealt(shape, neighbours, lanes)
    except LayoutError as error:
        raise lowering.error(str(error)) from error

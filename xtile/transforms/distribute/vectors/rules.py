"""What each operation of a block-level kernel becomes on a device with a vector unit."""

from __future__ import annotations

from xtile.dialects.core.blas import AxpbyOp, CumsumOp, GemmOp, GemvOp, GerOp, HadamardOp, SumOp
from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.rewrite.rebuilder import Rule, RuleTable
from xtile.text.value_names import clone_with_names
from xtile.transforms.distribute import rules
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.vectors import elementwise, products, reductions


def _barrier(operation: BarrierOp, kernel: Kernel) -> None:
    """A work-item that is alone has nobody to wait for."""
    if not kernel.is_alone:
        kernel.emit(clone_with_names(operation))


_ROWS: dict[str, Rule] = {
    **rules.ROWS,
    AxpbyOp.name: elementwise.axpby,
    BarrierOp.name: _barrier,
    CumsumOp.name: reductions.cumsum,
    GemmOp.name: products.gemm,
    GemvOp.name: reductions.gemv,
    GerOp.name: elementwise.ger,
    HadamardOp.name: elementwise.hadamard,
    SumOp.name: reductions.sum_,
}
"""The rule of each operation that does not stay what it is; linear algebra is one work-item's."""

RULES = RuleTable(_ROWS, otherwise=rules.copy_for_all)
"""What becomes of each operation."""

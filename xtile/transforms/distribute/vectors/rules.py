"""What each operation of a block-level kernel becomes on a device with a vector unit."""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.dialects.core import AxpbyOp, CumsumOp, GemmOp, GemvOp, GerOp, HadamardOp, SumOp
from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.text.value_names import clone_with_names
from xtile.transforms.distribute import rules
from xtile.transforms.distribute.kernel import Kernel, KernelRule
from xtile.transforms.distribute.vectors import elementwise, products, reductions


def rule_of(operation: Operation) -> KernelRule:
    """The rule of an operation; linear algebra is the work of one work-item."""
    return _RULES.get(operation.name) or rules.rule_of(operation)


def _barrier(operation: BarrierOp, kernel: Kernel) -> None:
    """A work-item that is alone has nobody to wait for."""
    if not kernel.is_alone:
        kernel.emit(clone_with_names(operation))


_RULES: dict[str, KernelRule] = {
    AxpbyOp.name: elementwise.axpby,
    BarrierOp.name: _barrier,
    CumsumOp.name: reductions.cumsum,
    GemmOp.name: products.gemm,
    GemvOp.name: reductions.gemv,
    GerOp.name: elementwise.ger,
    HadamardOp.name: elementwise.hadamard,
    SumOp.name: reductions.sum_,
}
"""The rule of each operation that becomes something else than on a GPU, by its name."""

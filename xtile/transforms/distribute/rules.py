"""What each operation of a block-level kernel becomes."""

from __future__ import annotations

from xdsl.dialects import memref, scf
from xdsl.ir import Operation

from xtile.dialects.core.blas import AxpbyOp, CumsumOp, GemmOp, GemvOp, GerOp, HadamardOp, SumOp
from xtile.dialects.core.subgroup import AtomicUpdateOp, ParallelOp, is_collective
from xtile.rewrite.rebuilder import Rule, RuleTable, copy
from xtile.text.source import spelling_of
from xtile.transforms.distribute import elementwise, products, reductions
from xtile.transforms.distribute.effects import Space, root_of
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.local_memory import local_buffer


def copy_for_all(operation: Operation, kernel: Kernel) -> None:
    """Every work-item executes the operation, on values that are the same for all of them."""
    if operation.regions and not isinstance(operation, _CONTROL_FLOW) and is_collective(operation):
        raise kernel.error(
            f"{spelling_of(operation)} in collective code cannot be distributed over subgroups; "
            "use scf.for or scf.if"
        )
    copy(operation, kernel)


_CONTROL_FLOW = (scf.ForOp, scf.IfOp)


def _parallel(operation: ParallelOp, kernel: Kernel) -> None:
    kernel.translate_block(operation.body.block)


def _store(operation: memref.StoreOp, kernel: Kernel) -> None:
    """A store of collective code is done once (docs/semantics.md, section "Execution")."""
    if not is_collective(operation) or root_of(operation.memref) is Space.PRIVATE:
        copy_for_all(operation, kernel)
        return
    with kernel.once():
        copy_for_all(operation, kernel)


def _atomic(operation: memref.AtomicRMWOp | AtomicUpdateOp, kernel: Kernel) -> None:
    """Work-item 0 does the update of collective code, and hands the result to all."""
    if not is_collective(operation) or kernel.is_alone:
        copy_for_all(operation, kernel)
        return
    (result,) = operation.results
    if result.first_use is None:
        with kernel.when(kernel.is_first):
            copy_for_all(operation, kernel)
        return
    buffer = local_buffer(kernel, result.type, ())
    if isinstance(operation.parent_op(), scf.ForOp):
        # A slow work-item may still read what the previous iteration has left.
        kernel.barrier()
    with kernel.when(kernel.is_first):
        copy_for_all(operation, kernel)
        kernel.store(kernel.value(result), buffer, ())
    kernel.barrier()
    kernel.define(result, kernel.load(buffer, ()))


ROWS: dict[str, Rule] = {
    AtomicUpdateOp.name: _atomic,
    AxpbyOp.name: elementwise.axpby,
    CumsumOp.name: reductions.cumsum,
    GemmOp.name: products.gemm,
    GemvOp.name: reductions.gemv,
    GerOp.name: elementwise.ger,
    HadamardOp.name: elementwise.hadamard,
    ParallelOp.name: _parallel,
    SumOp.name: reductions.sum_,
    memref.AtomicRMWOp.name: _atomic,
    memref.StoreOp.name: _store,
}
"""The rule of each operation that does not stay what it is, by the operation's name."""

RULES = RuleTable(ROWS, otherwise=copy_for_all)
"""What becomes of each operation."""

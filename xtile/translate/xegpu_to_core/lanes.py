"""Kernels of lanes for the lift to tiles: points by indices, and blocks whose offsets are known.

What lanes have of a block, and their products, stay operations of XeGPU.
"""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.walk import walk
from xtile.dialects.xegpu.ops.atomics import AtomicRMWOp
from xtile.dialects.xegpu.ops.block import LoadNdOp, PrefetchNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.descriptors import CreateDescOp, CreateNdDescOp
from xtile.dialects.xegpu.ops.scattered import LoadGatherOp, StoreScatterOp
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rule, RuleTable, copy
from xtile.text.source import source_of
from xtile.translate.xegpu_to_core import control, descriptors, points
from xtile.translate.xegpu_to_core.descriptors import moved
from xtile.translate.xegpu_to_core.raising import Raising


def with_known_accesses(module: ModuleOp) -> ModuleOp:
    """Returns a module whose kernels have no descriptors that loops or branches hand on.

    ```
    %x = xegpu.load %p[%i], %mask : i64, index, i1 -> f32
    ```

    becomes a `memref.load` of the memory at the address, in an `scf.if` of the mask. Several
    points become `vector.gather`, `vector.scatter` and `core.atomic_rmw`. The descriptor of a block
    is made where the block is read or written, from offsets, which loops hand on in its place.

    Args:
        module: The module; it is not changed. Kernels without such operations stay what they are.

    Raises:
        DiagnosticError: An address has no arithmetic.
    """
    raising = Raising(_RULES, source_of(module), None)
    return with_kernels_replaced(module, _has_some, lambda kernel: rebuilt(kernel, raising))


_POINTS = (AtomicRMWOp, CreateDescOp, LoadGatherOp, StoreScatterOp)
_CONTROL = (scf.ForOp, scf.IfOp, scf.WhileOp)


def _has_some(function: FuncOp) -> bool:
    return any(
        isinstance(each, _POINTS)
        or (isinstance(each, _CONTROL) and control.has_descriptors(each.results))
        for each in walk(function)
    )


def _access(operation: LoadNdOp | StoreNdOp, raising: Raising) -> None:
    """The same access of a descriptor that is made for it."""
    block = moved(raising, raising.meaning(operation.TensorDesc), operation.mixed_offsets)
    type_ = operation.TensorDesc.type
    descriptor = raising.emit(CreateNdDescOp(block.memory, block.offsets, result_type=type_))
    values = [raising.value(operation.value)] if isinstance(operation, StoreNdOp) else []
    made = type(operation).create(
        operands=[*values, descriptor.TensorDesc],
        result_types=operation.result_types,
        properties={k: v for k, v in operation.properties.items() if k != "const_offsets"},
        attributes=operation.attributes.copy(),
    )
    raising.replace(operation, made)


def _nothing(operation: Operation, raising: Raising) -> None:
    """Tile compilers fetch ahead on their own."""


_ROWS: dict[str, Rule] = {
    **control.RULES,
    **descriptors.RULES,
    **points.RULES,
    LoadNdOp.name: _access,
    PrefetchNdOp.name: _nothing,
    StoreNdOp.name: _access,
}

_RULES = RuleTable(_ROWS, copy, keeps_rounding=True)
"""What becomes of each operation."""

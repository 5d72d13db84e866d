"""What becomes of each operation that work-items execute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation

from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.effects import read_operands, written_operands
from xtile.rewrite.rebuilder import copy
from xtile.rewrite.tile_emitter import TileEmitter
from xtile.transforms.lift import (
    arithmetic,
    matrices,
    memory,
    points,
    shapes,
    transfers,
    while_loops,
    work_items,
)
from xtile.transforms.lift.divergence import Divergence
from xtile.transforms.lift.widening import Widening
from xtile.transforms.lift.work_group import WorkGroup
from xtile.transforms.predication import branch, loop


def lift(body: Block, kernel: TileEmitter, group: WorkGroup) -> None:
    """Emits what all work-items of a work-group do that execute a block.

    Args:
        body: The block; outside of it nothing differs between work-items.
        kernel: The kernel that is built.
        group: The work-group.

    Raises:
        DiagnosticError: Tiles have no counterpart of an operation.
    """
    widening = widening_of(kernel, *_oriented(body, group))
    for operation in body.ops:
        if operation.name != "gpu.return":
            widening.lift(operation)


def widening_of(kernel: TileEmitter, group: WorkGroup, divergence: Divergence) -> Widening:
    """What emits the operations of all work-items."""
    widening = Widening(kernel, group, divergence)
    widening.use(apply, keeps_rounding=True)
    return widening


def _oriented(body: Block, group: WorkGroup) -> tuple[WorkGroup, Divergence]:
    """The grid of subgroups as matrices lie in it: the rows of products along the outer axis."""
    first = Divergence(body, group)
    if first.crossings == 0:
        return group, first
    turned = replace(group, is_turned=True)
    second = Divergence(body, turned)
    return (turned, second) if second.crossings < first.crossings else (group, first)


def apply(operation: Operation, widening: Widening) -> None:
    """Emits what all do in an operation.

    Raises:
        DiagnosticError: Tiles have no counterpart of it.
    """
    is_same = operation.dialect_name() == "vector" and not operation.regions
    if (
        is_same
        and not _accesses_memory(operation)
        and not widening.divergence.of_all(operation.operands)
    ):
        copy(operation, widening.kernel)
        return
    digit = widening.group.digit_of_subgroup(operation)
    if digit is not None:
        work_items.digit_of_subgroup(operation, widening, digit)
    else:
        _RULES.get(operation.name, arithmetic.elementwise)(operation, widening)


def _accesses_memory(operation: Operation) -> bool:
    return bool(read_operands(operation) or written_operands(operation))


def _copy(operation: Operation, widening: Widening) -> None:
    """The same for all."""
    copy(operation, widening.kernel)


def _nothing(operation: Operation, widening: Widening) -> None:
    """Tile compilers fetch ahead on their own."""


def _atomic_update(operation: AtomicUpdateOp, widening: Widening) -> None:
    if isinstance(operation.value.type, VectorType):
        transfers.update(operation, widening)
    else:
        memory.atomic_update(operation, widening)


def _atomic_rmw(operation: AtomicRMWOp, widening: Widening) -> None:
    rule = points.update if isinstance(operation.value.type, VectorType) else arithmetic.elementwise
    rule(operation, widening)


def _of_blocks(name: str) -> Callable[[Any, Widening], None]:
    """A rule for XeGPU of lanes, which few kernels need."""

    def rule(operation: Any, widening: Widening) -> None:
        from xtile.transforms.lift import blocks_of_lanes

        getattr(blocks_of_lanes, name)(operation, widening)

    return rule


_RULES: Mapping[str, Callable[[Any, Widening], None]] = {
    "complex.create": arithmetic.create,
    "complex.im": arithmetic.imaginary_part,
    "complex.re": arithmetic.real_part,
    "core.atomic_rmw": _atomic_rmw,
    "core.atomic_update": _atomic_update,
    "core.complex_part": memory.complex_part,
    "core.fragment_extract": matrices.fragment_extract,
    "core.fragment_insert": matrices.fragment_insert,
    "core.integer_to_pointer": memory.at_address,
    "core.map": matrices.map_components,
    "core.prefetch": _nothing,
    "core.subgroup_scan": work_items.scan,
    "core.view": memory.at_address,
    "gpu.all_reduce": work_items.all_reduce,
    "gpu.barrier": work_items.barrier,
    "gpu.block_dim": work_items.block_dim,
    "gpu.block_id": _copy,
    "gpu.global_id": work_items.global_id,
    "gpu.grid_dim": _copy,
    "gpu.lane_id": work_items.lane_id,
    "gpu.num_subgroups": work_items.num_subgroups,
    "gpu.rotate": work_items.rotate,
    "gpu.shuffle": work_items.shuffle,
    "gpu.subgroup_broadcast": work_items.broadcast,
    "gpu.subgroup_id": work_items.subgroup_id,
    "gpu.subgroup_reduce": work_items.reduce,
    "gpu.subgroup_size": work_items.subgroup_size,
    "gpu.thread_id": work_items.thread_id,
    "memref.alloca": memory.allocation,
    "memref.atomic_rmw": memory.atomic_rmw,
    "memref.cast": memory.cast_view,
    "memref.dim": memory.size,
    "memref.extract_aligned_pointer_as_index": memory.address,
    "memref.extract_strided_metadata": memory.metadata,
    "memref.get_global": memory.variable,
    "memref.load": memory.load,
    "memref.reinterpret_cast": memory.reinterpret_cast,
    "memref.store": memory.store,
    "memref.subview": memory.subview,
    "scf.for": loop,
    "scf.if": branch,
    "scf.while": while_loops.while_loop,
    "vector.bitcast": arithmetic.bitcast,
    "vector.broadcast": shapes.broadcast,
    "vector.contract": matrices.contract,
    "vector.extract": shapes.extract,
    "vector.extract_strided_slice": shapes.extract_slice,
    "vector.from_elements": shapes.from_elements,
    "vector.gather": points.gather,
    "vector.insert": shapes.insert,
    "vector.insert_strided_slice": shapes.insert_slice,
    "vector.multi_reduction": matrices.reduce,
    "vector.scatter": points.scatter,
    "vector.shape_cast": shapes.reshape,
    "vector.shuffle": shapes.shuffle,
    "vector.transfer_read": transfers.read,
    "vector.transfer_write": transfers.write,
    "vector.transpose": shapes.transpose,
    "xegpu.convert_layout": _of_blocks("same"),
    "xegpu.create_nd_tdesc": _of_blocks("create_descriptor"),
    "xegpu.dpas": _of_blocks("dpas"),
    "xegpu.fence": work_items.barrier,
    "xegpu.load_nd": _of_blocks("load"),
    "xegpu.prefetch": _nothing,
    "xegpu.prefetch_nd": _nothing,
    "xegpu.store_nd": _of_blocks("store"),
    "xegpu.update_nd_offset": _of_blocks("update_descriptor"),
}
"""The rule of each operation that is not one on each element, by its name."""

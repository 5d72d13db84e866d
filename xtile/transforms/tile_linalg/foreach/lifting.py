"""Translates the operations at the points of a tile."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects import memref, scf
from xdsl.ir import Operation

from xtile.dialects.core.complex_parts import ComplexPartOp
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.effects import OF_WORK_ITEMS
from xtile.transforms.predication import branch, loop
from xtile.transforms.tile_linalg.copying import not_lifted
from xtile.transforms.tile_linalg.foreach import memory_rules
from xtile.transforms.tile_linalg.foreach.elementwise import elementwise
from xtile.transforms.tile_linalg.foreach.trip import Trip


def use_rules(trip: Trip) -> None:
    """Says what translates an operation at the points of a tile."""
    trip.use(_apply)


def _apply(operation: Operation, trip: Trip) -> None:
    if operation.name in OF_WORK_ITEMS:
        raise trip.kernel.error(not_lifted(operation))
    _RULES.get(operation.name, elementwise)(operation, trip)


_RULES: Mapping[str, Callable[..., None]] = {
    ComplexPartOp.name: memory_rules.complex_part,
    AtomicUpdateOp.name: memory_rules.atomic_update,
    memref.AtomicRMWOp.name: memory_rules.atomic_rmw,
    memref.DimOp.name: memory_rules.size,
    memref.LoadOp.name: memory_rules.load,
    memref.StoreOp.name: memory_rules.store,
    memref.SubviewOp.name: memory_rules.subview,
    scf.ForOp.name: loop,
    scf.IfOp.name: branch,
}
"""The rule of each operation that is not elementwise, by its name."""

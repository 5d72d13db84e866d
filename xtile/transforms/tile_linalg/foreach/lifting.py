"""Translates the operations at the points of a tile."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects import memref, scf
from xdsl.ir import Operation

from xtile.dialects.core import AtomicUpdateOp, ComplexPartOp
from xtile.dialects.effects import OF_WORK_ITEMS
from xtile.rewrite.rebuilder import RuleTable
from xtile.transforms.tile_linalg.copying import not_lifted
from xtile.transforms.tile_linalg.foreach import control, memory_rules
from xtile.transforms.tile_linalg.foreach.elementwise import elementwise
from xtile.transforms.tile_linalg.foreach.trip import Trip
from xtile.transforms.tile_linalg.kernel import Kernel


def lifting(trip: Trip) -> Callable[[Operation], None]:
    """What translates an operation at the points of a tile."""

    def rule(operation: Operation, kernel: Kernel) -> None:
        if operation.name in OF_WORK_ITEMS:
            raise kernel.error(not_lifted(operation))
        if isinstance(operation, scf.IfOp):
            control.branch(operation, trip, lift)
        elif isinstance(operation, scf.ForOp):
            control.loop(operation, trip, lift)
        else:
            _RULES.get(operation.name, elementwise)(operation, trip)

    table = RuleTable(otherwise=rule)

    def lift(operation: Operation) -> None:
        with trip.kernel.using(table):
            trip.kernel.translate(operation)

    return lift


_RULES: Mapping[str, Callable[..., None]] = {
    ComplexPartOp.name: memory_rules.complex_part,
    AtomicUpdateOp.name: memory_rules.atomic_update,
    memref.AtomicRMWOp.name: memory_rules.atomic_rmw,
    memref.DimOp.name: memory_rules.size,
    memref.LoadOp.name: memory_rules.load,
    memref.StoreOp.name: memory_rules.store,
    memref.SubviewOp.name: memory_rules.subview,
}
"""The rule of each operation that is not elementwise, by its name."""

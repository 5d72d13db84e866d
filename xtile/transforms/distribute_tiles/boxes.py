"""Atomic updates of a box of memory, each element once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.memory_orders import ordering_of
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.transforms.distribute_tiles.distribution import Distribution, Parts
from xtile.transforms.distribute_tiles.elements import each_element
from xtile.transforms.distribute_tiles.points import once, ordered, rmw, share
from xtile.transforms.distribute_tiles.transfers import condition_of, indices_of, whole


def _update(operation: AtomicUpdateOp, distribution: Distribution) -> None:
    shape = shape_of(operation.value.type)
    if not shape:
        once(operation, distribution)
        return
    access = whole(distribution, operation.memory, operation.indices, operation.value)
    checked = operation.checked.get_values()
    axes = access.axes[::-1] if operation.transpose is not None else access.axes
    access = replace(access, axes=axes, inside=tuple(axis not in checked for axis in axes))
    tile = distribution.tile(operation.value)
    spread = distribution.preferred(tile)
    kind = AtomicRMWKind[str(operation.kind.data)]
    zero, ordering = distribution.constant(0, tile.element), ordering_of(operation)

    def update(at: list[Index], values: list[SSAValue]) -> Sequence[SSAValue]:
        condition = condition_of(distribution, access, at)
        indices = [distribution.as_value(index) for index in indices_of(access, distribution, at)]
        return distribution.guarded(
            condition,
            lambda: [rmw(distribution, kind, values[0], access.memory, indices, ordering)],
            lambda: [zero],
        )

    parts = tile.parts(distribution, spread)

    def make() -> Parts:
        elements = [tile.element]
        return each_element(distribution, shape, tile.box, spread, [parts], elements, update)[0]

    with ordered(distribution, ordering):
        share(distribution, operation.result, spread, make)


RULES: dict[str, Rule] = {"core.atomic_update": _update}
"""The rule of each operation, by name."""

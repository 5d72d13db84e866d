"""Lets launches check that tiles lie inside of memory, for chips that are slow at its edges.

A chip without two-dimensional blocks reads row by row what lies inside for certain, and everything
else element by element, each under a condition. Where a tile's size divides the memory's, no tile
of a grid that just covers the memory reaches beyond it: the kernel relies on that, and a launch
checks it (docs/core-form.md, "Launch checks").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, BoolAttr, MemRefType, ModuleOp
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.core.views import ViewOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.facts import constant_of
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.memref_layouts import mixed
from xtile.rewrite.rebuilder import Rule, RuleTable, again, copy
from xtile.rewrite.tile_emitter import shape_of
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source, source_of
from xtile.transforms.structure.bounds import (
    NOTHING,
    Bounds,
    KernelChecks,
    Needs,
    of_each_choice,
)

Transfer = TransferReadOp | TransferWriteOp


def promise_edges(
    module: ModuleOp,
    target: LaneTarget,
    diagnostics: Diagnostics | None = None,
    *,
    may_wrap: bool = False,
) -> ModuleOp:
    """Returns a module whose kernels of tiles rely on tiles that lie inside of memory.

    Everything else stays as it is; without such a tile it is the module itself.

    Args:
        module: The module; it is not changed.
        target: What it is compiled for.
        diagnostics: Where remarks go, which name what a launch checks; None drops them.
        may_wrap: Whether only proofs count, because nobody checks anything at a launch.
    """
    bounds = Bounds(may_wrap=False)

    def is_chosen(kernel: FuncOp) -> bool:
        return level_of(kernel) is Level.TILE and any(
            isinstance(each, Transfer) and _needs(each, bounds) is not None for each in walk(kernel)
        )

    if target.block_access is not None or target.row_access is None or may_wrap:
        return module
    source = source_of(module)
    return with_kernels_replaced(
        module, is_chosen, lambda kernel: _Promises(kernel, source, diagnostics).made()
    )


class _Promises(Emitter):
    """Rebuilds a kernel.

    Args:
        kernel: The kernel.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(
        self, kernel: FuncOp, source: Source | None, diagnostics: Diagnostics | None
    ) -> None:
        super().__init__(_RULES, "memory of tiles", source, diagnostics)
        self.bounds = Bounds(may_wrap=False)
        self.checks = KernelChecks(kernel, self.remark)
        self._kernel = kernel

    def made(self) -> FuncOp:
        """The kernel, and what a launch checks."""
        result = rebuilt(self._kernel, self)
        self.checks.list_in(result)
        return result


def _transfer(operation: Transfer, promises: _Promises) -> None:
    made = again(operation, promises.values(operation.operands))
    needs = _needs(operation, promises.bounds)
    if needs is not None:
        promises.checks.rely_on(needs)
        inside = [BoolAttr.from_bool(True)] * len(operation.in_bounds)
        made.properties["in_bounds"] = ArrayAttr(inside)
    promises.replace(operation, made)


def _needs(operation: Transfer, bounds: Bounds) -> Needs | None:
    """What a launch must find for a tile to lie inside; None if it does, or nobody can tell."""
    tile = operation.result if isinstance(operation, TransferReadOp) else operation.vector
    sizes, needs = _sizes(operation.source), list[Needs | None]()
    for along, extent, inside in zip(
        dimensions_of(operation.permutation_map),
        shape_of(tile.type),
        operation.in_bounds,
        strict=True,
    ):
        if along is not None and not bool(inside.value.data):
            size, index = sizes[along], operation.indices[along]
            fits = size is not None and size % extent == 0
            needs.append(_between(bounds, index, (size or 0) - extent) if fits else None)
    known = [each for each in needs if each is not None]
    is_told = operation.mask is None and needs and len(known) == len(needs)
    return NOTHING.union(*known) if is_told else None


def _between(bounds: Bounds, number: SSAValue, most: int) -> Needs | None:
    """What a launch must find for an index to be from 0 on; None if it cannot tell."""
    return of_each_choice(number, lambda each: bounds.require_number(each, 0, most))


def _sizes(memory: SSAValue) -> Sequence[int | None]:
    """The sizes of memory along each dimension, as far as they are known."""
    type_ = cast("MemRefType[Attribute]", memory.type)
    known = [None if size == DYNAMIC_INDEX else size for size in type_.get_shape()]
    if not isinstance(memory.owner, ViewOp):
        return known
    given = mixed(memory.owner.static_sizes, memory.owner.sizes)
    return [each if isinstance(each, int) else constant_of(each) for each in given]


_ROWS: dict[str, Rule] = {TransferReadOp.name: _transfer, TransferWriteOp.name: _transfer}

_RULES = RuleTable(_ROWS, otherwise=copy, keeps_rounding=True)
"""The rule of each operation, by name."""

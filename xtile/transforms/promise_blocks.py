"""Lets launches check what two-dimensional blocks of memory need and only a launch can tell.

A row of memory must have some bytes, and the next one begin some bytes after it. Where a tile is
accessed whose memory may have shorter rows, the kernel assumes that it has not, and a launch
checks it (docs/core-form.md, "Launch checks").
"""

from __future__ import annotations

from xdsl.dialects.builtin import FixedBitwidthType, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, SSAValue

from xtile.arguments.launch_checks import Expression
from xtile.dialects.core.assumptions import AssumeOp
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.core.views import ViewOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.facts import Facts
from xtile.rewrite.indices import Index
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.memref_layouts import mixed
from xtile.rewrite.rebuilder import Rule, RuleTable, again, copy
from xtile.rewrite.tile_emitter import shape_of
from xtile.targets.blocks import least_alignment
from xtile.targets.target import BlockAccess
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source, source_of
from xtile.transforms.structure.bounds import (
    NOTHING,
    Bounds,
    KernelChecks,
    Needs,
    of_each_choice,
)


def promise_blocks(
    module: ModuleOp,
    access: BlockAccess | None,
    diagnostics: Diagnostics | None = None,
    *,
    may_wrap: bool = False,
) -> ModuleOp:
    """Returns a module whose kernels of tiles assume that rows of memory are long enough.

    Everything else stays as it is; without such memory it is the module itself.

    Args:
        module: The module; it is not changed.
        access: The block accesses that the chip has; None if it has none.
        diagnostics: Where remarks go, which name what a launch checks; None drops them.
        may_wrap: Whether only proofs count, because nobody checks anything at a launch.
    """

    def is_chosen(kernel: FuncOp) -> bool:
        views = (each for each in walk(kernel) if isinstance(each, ViewOp))
        return level_of(kernel) is Level.TILE and any(map(_accessed, views))

    if access is None or may_wrap:
        return module
    source = source_of(module)
    return with_kernels_replaced(
        module, is_chosen, lambda kernel: _Promises(kernel, access, source, diagnostics).made()
    )


class _Promises(Emitter):
    """Rebuilds a kernel.

    Args:
        kernel: The kernel.
        access: The block accesses of the chip.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(
        self,
        kernel: FuncOp,
        access: BlockAccess,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(_RULES, "memory of blocks", source, diagnostics)
        self.access = access
        self._kernel = kernel
        self._checks = KernelChecks(kernel, self.remark)
        self._bounds = Bounds(may_wrap=False)

    def made(self) -> FuncOp:
        """The kernel with its assumptions, and what a launch checks of them."""
        result = rebuilt(self._kernel, self)
        self._checks.list_in(result)
        return result

    def needs_of(self, number: SSAValue, least: int, most: int) -> Needs | None:
        """What a launch must find for a number to be within limits; None if it cannot tell."""
        needs = self._bounds.require_number(number, least, most)
        is_fixed = needs is not None and not any(_varies(check.expression) for check in needs)
        return needs if is_fixed else None

    def not_negative(self, number: SSAValue) -> Needs | None:
        """What a launch must find for an index not to be below 0; None if it cannot tell."""

        def require(each: SSAValue) -> Needs | None:
            if Facts().is_not_negative(each):
                return NOTHING
            return self._bounds.require_number(each, 0, _GREATEST_INDEX)

        return of_each_choice(number, require)

    def assumed(self, old: SSAValue, needs: Needs, least: int, most: int) -> SSAValue:
        """What a number has become, with an assumption that launches check."""
        self._checks.rely_on(needs)
        value = self.value(old)
        limits = {"at_least": IntegerAttr(least, i64), "at_most": IntegerAttr(most, i64)}

        def emit() -> SSAValue:
            return self.emit(
                AssumeOp.build(operands=[value], result_types=[value.type], properties=limits)
            ).result

        # Where the number is born, so that it is known everywhere.
        return self.shared(("assume", value, least, most), (value,), emit)


_GREATEST_INDEX = 2**31 - 1
"""Blocks have numbers of 32 bits."""


def _varies(expression: Expression) -> bool:
    """Whether a number differs between work-groups or iterations."""
    if isinstance(expression, int):
        return False
    return expression[0] in ("between", "block") or any(map(_varies, expression[1:]))


def _accessed(view: ViewOp) -> set[tuple[int, int]]:
    """The pairs of dimensions along which matrices of a view are accessed."""
    found: set[tuple[int, int]] = set()
    for use in view.result.uses:
        operation = use.operation
        if isinstance(operation, TransferReadOp | TransferWriteOp) and operation.mask is None:
            tile = operation.result if isinstance(operation, TransferReadOp) else operation.vector
            dimensions = zip(
                dimensions_of(operation.permutation_map), shape_of(tile.type), strict=True
            )
            match sorted(each for each, size in dimensions if each is not None and size > 1):
                case [first, second]:
                    found.add((first, second))
                case _:
                    pass
    return found


def _view(operation: ViewOp, promises: _Promises) -> None:
    new = {old: promises.value(old) for old in operation.operands}
    least, most = _limits(operation, promises.access)
    short = [
        number
        for number in _lengths(operation, promises.access)
        if isinstance(number, SSAValue) and Facts().least(number) < least
    ]
    needs = [promises.needs_of(number, least, most) for number in short]
    for number, own in zip(short, needs, strict=True):
        if own is not None and None not in needs:
            new[number] = promises.assumed(number, own, least, most)
    made = ViewOp.create(
        operands=[new[old] for old in operation.operands],
        result_types=[operation.result.type],
        properties=operation.properties.copy(),
    )
    promises.replace(operation, made)


def _limits(operation: ViewOp, access: BlockAccess) -> tuple[int, int]:
    """The least and the greatest number of elements in a row, and from one to the next."""
    size = _bytes(operation)
    return -(-max(access.least_pitch, access.least_width) // size), access.most_extent // size


def _lengths(operation: ViewOp, access: BlockAccess) -> list[Index]:
    """How long rows are and how far apart, if a launch need check nothing else for blocks."""
    accessed = _accessed(operation)
    if len(accessed) != 1 or operation.unknown_extents:
        return []
    (pair,) = accessed
    every = mixed(operation.static_strides, operation.strides)
    sizes = mixed(operation.static_sizes, operation.sizes)
    along = next((dimension for dimension in pair[::-1] if every[dimension] == 1), None)
    if along is None:
        return []
    size, facts = _bytes(operation), Facts()
    width, pitch = sizes[along], every[pair[0] if along == pair[1] else pair[1]]
    others = [stride for i, stride in enumerate(every) if i not in pair]
    least = least_alignment(access, size)
    is_legal = (
        facts.divisor(operation.pointer) % least == 0
        and all(facts.divisor(stride) * size % least == 0 for stride in others)
        and facts.divisor(width) * size % access.width_alignment == 0
        and facts.divisor(pitch) * size % access.pitch_alignment == 0
    )
    return [width, pitch] if is_legal else []


def _transfer(operation: TransferReadOp | TransferWriteOp, promises: _Promises) -> None:
    """An access whose first column must not lie before memory that begins between addresses."""
    new = [promises.value(old) for old in operation.operands]
    view = operation.source.owner
    column = _column(operation, view, promises.access) if isinstance(view, ViewOp) else None
    if column is not None and not Facts().is_not_negative(column):
        needs = promises.not_negative(column)
        if needs is not None:
            assumed = promises.assumed(column, needs, 0, _GREATEST_INDEX)
            new = [
                assumed if old is column else value
                for old, value in zip(operation.operands, new, strict=True)
            ]
    made = again(operation, new)
    promises.replace(operation, made)


def _column(
    operation: TransferReadOp | TransferWriteOp, view: ViewOp, access: BlockAccess
) -> SSAValue | None:
    """The index along rows that must be known not to be negative; None if none must."""
    if not _lengths(view, access) or Facts().divisor(view.pointer) % access.base_alignment == 0:
        return None
    strides = mixed(view.static_strides, view.strides)
    dimensions = dimensions_of(operation.permutation_map)
    for dimension, is_inside in zip(dimensions, operation.in_bounds, strict=True):
        if dimension is not None and strides[dimension] == 1 and not bool(is_inside.value.data):
            return operation.indices[dimension]
    return None


def _bytes(operation: ViewOp) -> int:
    element: Attribute = operation.result.type.element_type
    return element.size if isinstance(element, FixedBitwidthType) else 1


_ROWS: dict[str, Rule] = {
    TransferReadOp.name: _transfer,
    TransferWriteOp.name: _transfer,
    ViewOp.name: _view,
}

_RULES = RuleTable(_ROWS, otherwise=copy, keeps_rounding=True)
"""The rule of each operation, by name."""

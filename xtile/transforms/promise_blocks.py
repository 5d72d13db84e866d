"""Lets launches check what two-dimensional blocks of memory need and only a launch can tell.

A row of memory must have some bytes, and the next one begin some bytes after it. Where a tile is
accessed whose memory may have shorter rows, the kernel assumes that it has not, and a launch
checks it (docs/core-form.md, "Launch checks").
"""

from __future__ import annotations

from xdsl.dialects.builtin import FixedBitwidthType, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, SSAValue

from xtile.arguments.launch_checks import LaunchCheck, check_of, words_of
from xtile.dialects.core import AssumeOp, Level, ViewOp, level_of
from xtile.dialects.core.launch_checks import CHECKS_ATTRIBUTE, check_words, checks_attribute
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import as_vector
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.facts import Facts
from xtile.rewrite.indices import Index
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.memref_layouts import mixed
from xtile.rewrite.rebuilder import Rule, RuleTable, copy
from xtile.targets.blocks import least_alignment
from xtile.targets.target import BlockAccess
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source, source_of
from xtile.transforms.structure.bounds import Bounds


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
        return level_of(kernel) is Level.TILE and any(_accesses(each) for each in views)

    if (
        access is None
        or may_wrap
        or not any(is_chosen(each) for each in walk(module) if isinstance(each, FuncOp))
    ):
        return module
    source = source_of(module)
    return with_kernels_replaced(
        module, is_chosen, lambda kernel: _Promises(access, source, diagnostics).made(kernel)
    )


class _Promises(Emitter):
    """Rebuilds a kernel.

    Args:
        access: The block accesses of the chip.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(
        self, access: BlockAccess, source: Source | None, diagnostics: Diagnostics | None
    ) -> None:
        super().__init__(_RULES, "memory of blocks", source, diagnostics)
        self.access = access
        self._checks: dict[LaunchCheck, None] = {}
        self._bounds = Bounds(may_wrap=False)

    def made(self, kernel: FuncOp) -> FuncOp:
        """The kernel with its assumptions, and what a launch checks of them."""
        self._checks = dict.fromkeys(check_of(words) for words in check_words(kernel))
        result = rebuilt(kernel, self)
        if self._checks:
            result.attributes[CHECKS_ATTRIBUTE] = checks_attribute(map(words_of, self._checks))
        return result

    def at_least(self, old: SSAValue, least: int, most: int) -> SSAValue:
        """What a number has become, with the assumption that a launch can check."""
        needs = self._bounds.require_number(old, least, most)
        if needs is None:
            return self.value(old)
        for check in needs:
            if check not in self._checks:
                self.remark(f"a launch checks that {check}")
            self._checks[check] = None
        value = self.value(old)
        assume = AssumeOp.build(
            operands=[value],
            result_types=[value.type],
            properties={"at_least": IntegerAttr(least, i64), "at_most": IntegerAttr(most, i64)},
        )
        return self.emit(assume).result


def _accesses(view: ViewOp) -> list[TransferReadOp | TransferWriteOp]:
    """The accesses of matrices in a view."""
    found: list[TransferReadOp | TransferWriteOp] = []
    for use in view.result.uses:
        operation = use.operation
        if isinstance(operation, TransferReadOp | TransferWriteOp) and operation.mask is None:
            tile = operation.result if isinstance(operation, TransferReadOp) else operation.vector
            vector = as_vector(tile.type)
            if vector is not None and vector.get_num_dims() == 2:
                found.append(operation)
    return found


def _view(operation: ViewOp, promises: _Promises) -> None:
    new = {old: promises.value(old) for old in operation.operands}
    for number in _lengths(operation, promises.access):
        size, access = _bytes(operation), promises.access
        least = -(-max(access.least_pitch, access.least_width) // size)
        if isinstance(number, SSAValue) and Facts().least(number) < least:
            new[number] = promises.at_least(number, least, access.most_extent // size)
    made = ViewOp.create(
        operands=[new[old] for old in operation.operands],
        result_types=[operation.result.type],
        properties=operation.properties.copy(),
    )
    promises.replace(operation, made)


def _lengths(operation: ViewOp, access: BlockAccess) -> list[Index]:
    """How long rows are and how far apart, if a launch need check nothing else for blocks."""
    strides = mixed(operation.static_strides, operation.strides)
    if len(strides) != 2 or 1 not in strides or operation.unknown_extents:
        return []
    if not _accesses(operation):
        return []
    sizes = mixed(operation.static_sizes, operation.sizes)
    along, size, facts = strides.index(1), _bytes(operation), Facts()
    width, pitch = sizes[along], strides[1 - along]
    is_legal = (
        facts.divisor(operation.pointer) % least_alignment(access, size) == 0
        and facts.divisor(width) * size % access.width_alignment == 0
        and facts.divisor(pitch) * size % access.pitch_alignment == 0
    )
    return [width, pitch] if is_legal else []


def _bytes(operation: ViewOp) -> int:
    element: Attribute = operation.result.type.element_type
    return element.size if isinstance(element, FixedBitwidthType) else 1


_ROWS: dict[str, Rule] = {ViewOp.name: _view}

_RULES = RuleTable(_ROWS, otherwise=copy, keeps_rounding=True)
"""The rule of each operation, by name."""

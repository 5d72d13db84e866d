"""Branches that do the same but for checks of bounds become one.

Kernels of subgroups are often written twice: for matrices that memory has all of, without checks,
and for those at its edges. A check that holds changes nothing, so that what is checked on either
side can be checked always. Tiles check bounds for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.facts import constant_of
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rule, RuleTable, copy
from xtile.text.source import Source, source_of

if TYPE_CHECKING:
    from xtile.text.diagnostics import Diagnostics

_IN_BOUNDS = "in_bounds"


def join_branches(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Returns a module without branches whose two sides do the same but for checks.

    Everything else stays as it is; without such a branch it is the module itself.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go that name the branches; None drops them.
    """

    def is_chosen(kernel: FuncOp) -> bool:
        branches = [each for each in walk(kernel) if isinstance(each, scf.IfOp)]
        return any(map(_joined, branches))

    source = source_of(module)
    return with_kernels_replaced(
        module, is_chosen, lambda kernel: rebuilt(kernel, _Joining(source, diagnostics))
    )


Flags = Mapping[Operation, Sequence[bool]]
"""For each access of the first side along which dimensions neither side checks."""


def _joined(branch: scf.IfOp) -> Flags | None:
    """What both sides do, if that is the same; None if it is not."""
    if branch.false_region.blocks.first is None:
        return None
    comparison = _Comparison()
    is_same = comparison.regions(branch.true_region, branch.false_region)
    return comparison.flags if is_same and comparison.flags else None


class _Comparison:
    """Compares the sides of a branch.

    Attributes:
        flags: For each access of the first one along which dimensions neither is checked.
    """

    def __init__(self) -> None:
        self.flags: dict[Operation, Sequence[bool]] = {}
        self._values: dict[SSAValue, SSAValue] = {}

    def regions(self, first: Region, second: Region) -> bool:
        """Whether regions do the same."""
        return all(
            a is not None and b is not None and self._blocks(a, b)
            for a, b in zip_longest(first.blocks, second.blocks)
        )

    def _blocks(self, first: Block, second: Block) -> bool:
        if [each.type for each in first.args] != [each.type for each in second.args]:
            return False
        self._values.update(zip(first.args, second.args, strict=True))
        return all(
            a is not None and b is not None and self._operations(a, b)
            for a, b in zip_longest(first.ops, second.ops)
        )

    def _operations(self, first: Operation, second: Operation) -> bool:
        is_same = (
            first.name == second.name
            and first.result_types == second.result_types
            and len(first.operands) == len(second.operands)
            and all(map(self._is_same, first.operands, second.operands))
            and first.attributes == second.attributes
            and _without_checks(first) == _without_checks(second)
            and len(first.regions) == len(second.regions)
            and all(map(self.regions, first.regions, second.regions))
        )
        if is_same and isinstance(first, TransferReadOp | TransferWriteOp):
            assert isinstance(second, TransferReadOp | TransferWriteOp)
            pairs = zip(first.in_bounds, second.in_bounds, strict=True)
            self.flags[first] = [bool(a.value.data) and bool(b.value.data) for a, b in pairs]
        self._values.update(zip(first.results, second.results, strict=False))
        return is_same

    def _is_same(self, first: SSAValue, second: SSAValue) -> bool:
        if self._values.get(first, first) is second:
            return True
        number = constant_of(first)
        return number is not None and number == constant_of(second) and first.type == second.type


def _without_checks(operation: Operation) -> Mapping[str, Attribute]:
    if not isinstance(operation, TransferReadOp | TransferWriteOp):
        return operation.properties
    return {name: each for name, each in operation.properties.items() if name != _IN_BOUNDS}


class _Joining(Emitter):
    """Rebuilds a kernel.

    Args:
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(self, source: Source | None, diagnostics: Diagnostics | None) -> None:
        super().__init__(_RULES, "one branch", source, diagnostics)
        self.flags: dict[Operation, Sequence[bool]] = {}


def _branch(operation: scf.IfOp, kernel: _Joining) -> None:
    flags = _joined(operation)
    if flags is None:
        copy(operation, kernel)
        return
    kernel.remark("both branches do the same, so that the one with all checks is taken")
    # Those of branches around it count as well.
    kernel.flags = {**flags, **{each: kernel.flags[each] for each in flags if each in kernel.flags}}
    *operations, last = operation.true_region.block.ops
    for nested in operations:
        kernel.translate(nested)
    for result, value in zip(operation.results, last.operands, strict=True):
        kernel.define(result, kernel.value(value))


def _transfer(operation: TransferReadOp | TransferWriteOp, kernel: _Joining) -> None:
    copy(operation, kernel)
    flags = kernel.flags.get(operation)
    made = kernel.block.last_op
    if flags is not None and made is not None:
        made.properties[_IN_BOUNDS] = truth_attribute(tuple(flags))


_ROWS: Mapping[str, Rule] = {
    TransferReadOp.name: _transfer,
    TransferWriteOp.name: _transfer,
    scf.IfOp.name: _branch,
}

_RULES = RuleTable(_ROWS, otherwise=copy, keeps_rounding=True)
"""The rule of each operation, by name."""

"""Regions and blocks of the source, and functions that others call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.xegpu_to_spirv.lowering import Lowering

_YIELDS = frozenset(
    {
        "func.return",
        "gpu.return",
        "gpu.yield",
        "memref.alloca_scope.return",
        "memref.atomic_yield",
        "scf.condition",
        "scf.reduce",
        "scf.reduce.return",
        "scf.yield",
        "vector.yield",
    }
)
"""What ends a region, and gives its operands to the operation around it."""

_BRANCHES = frozenset({"cf.cond_br", "cf.switch"})


def translate_region(region: Region, lowering: Lowering) -> Operation | None:
    """Emits the operations of a region, and returns the last one if it ends the region.

    Blocks may follow each other, as long as each is followed by one other only.
    """
    block: Block | None = region.blocks.first
    seen: set[Block] = set()
    while block is not None:
        if block in seen:
            raise lowering.error("a loop of blocks cannot be translated to SPIR-V; use scf.while")
        seen.add(block)
        last = block.last_op
        for operation in block.ops:
            if operation is not last:
                lowering.translate(operation)
        if last is None or last.name in _YIELDS:
            return last
        block = _following(last, lowering)
    return None


def _following(last: Operation, lowering: Lowering) -> Block | None:
    """The only block that follows one with this last operation; None if there is none."""
    if last.name in _BRANCHES:
        raise lowering.error(
            f"{spelling_of(last)} cannot be translated to SPIR-V; use scf.if or scf.while", last
        )
    if last.name != "cf.br":
        lowering.translate(last)
        return None
    (block,) = last.successors
    lowering.define_flat(block.args, lowering.flat(last.operands))
    return block


def results_of(region: Region, lowering: Lowering) -> list[SSAValue]:
    """Emits a region, and returns what it gives to the operation around it."""
    last = translate_region(region, lowering)
    return [] if last is None else lowering.flat(last.operands)


def _execute(operation: Operation, lowering: Lowering) -> None:
    """A region that is executed once, where it stands."""
    (region,) = operation.regions
    lowering.define_flat(operation.results, results_of(region, lowering))


def _call(operation: Operation, lowering: Lowering) -> None:
    """A function that is called is executed where the call stands."""
    name = cast(SymbolRefAttr, operation.properties["callee"]).string_value()
    callee = lowering.callees.get(name)
    if callee is None or not callee.regions[0].blocks:
        raise lowering.error(f"there is no function @{name} with a body in the kernel's module")
    if callee in lowering.calls:
        raise lowering.error(f"@{name} calls itself: recursion cannot be translated to SPIR-V")
    region = callee.regions[0]
    arguments: Sequence[SSAValue] = region.blocks[0].args
    for parameter, operand in zip(arguments, operation.operands, strict=True):
        lowering.define(parameter, lowering.meaning(operand))
    lowering.calls.append(callee)
    last = translate_region(region, lowering)
    lowering.calls.pop()
    if last is not None:
        for result, value in zip(operation.results, last.operands, strict=True):
            lowering.define(result, lowering.meaning(value))


RULES: dict[str, Rule] = {
    "func.call": _call,
    "memref.alloca_scope": _execute,
    "scf.execute_region": _execute,
}
"""The rule of each operation, by name."""

"""Which parameters an entry of CUDA Tile IR may write to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.effects import written_operands

_ADDRESS = "i64"

_Sources: TypeAlias = "dict[SSAValue, frozenset[int]]"
"""For a value the parameters that it may follow from."""


def written_pointers(entry: Operation) -> frozenset[int]:
    """The indices of the parameters from whose value an address follows that is written to.

    An address may lie in memory itself, as those of a list of arrays do.
    """
    (body,) = entry.regions[0].blocks
    sources: _Sources = {
        argument: frozenset([argument.index])
        for argument in body.args
        if _leads_to_memory(argument.type)
    }
    while _flow(body, sources):
        pass
    written: set[int] = set()
    for operation in entry.walk():
        for target in written_operands(operation):
            written.update(sources.get(target, ()))
    return frozenset(written)


def _leads_to_memory(type: Attribute) -> bool:
    """Whether a value of a type is an address, or may be one."""
    if type.name != "cuda_tile.tile":
        return type.name.startswith("cuda_tile.") and type.name.endswith("_view")
    element = getattr(type, "element_type", None)
    return getattr(element, "name", None) == "cuda_tile.ptr" or str(element) == _ADDRESS


_NONE: frozenset[int] = frozenset()


def _flow(block: Block, sources: _Sources) -> bool:
    """Passes on what values come from; whether anything was new."""
    is_new = False
    for operation in block.walk():
        for source, target in _edges(operation):
            found, known = sources.get(source, _NONE), sources.get(target, _NONE)
            if not found <= known and _leads_to_memory(target.type):
                sources[target] = known | found
                is_new = True
    return is_new


def _edges(operation: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """From which operands an operation's results, and the values of its regions, may follow."""
    targets = [*operation.results]
    for region in operation.regions:
        targets += [argument for block in region.blocks for argument in block.args]
    around = operation.parent_op()
    while around is not None and operation.name in _TERMINATORS and around.name in _PASSING:
        targets += around.results
        targets += [argument for block in around.regions[0].blocks for argument in block.args]
        around = around.parent_op()
    for source in operation.operands:
        for target in targets:
            yield source, target


_TERMINATORS = ("cuda_tile.break", "cuda_tile.continue", "cuda_tile.yield")

_PASSING = ("cuda_tile.for", "cuda_tile.if", "cuda_tile.loop")
"""What the operands of a terminator are passed on by, however deep it lies in them."""

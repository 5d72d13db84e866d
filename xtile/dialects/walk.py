"""All operations of a function and all types of its values, for what only looks at them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Block, Operation


def walk(function: Operation) -> Sequence[Operation]:
    """An operation and all operations in it, in the order of the text.

    Each step of a route looks at whole kernels several times, and `Operation.walk` hands each
    operation through as many generators as there are regions around it.
    """
    found: list[Operation] = []
    _collect(function, found)
    return found


def walk_block(block: Block) -> Sequence[Operation]:
    """All operations in a block that is in no operation yet, in the order of the text."""
    found: list[Operation] = []
    for operation in block.ops:
        _collect(operation, found)
    return found


def operations_by_name(root: Operation) -> Mapping[str, Sequence[Operation]]:
    """The operations in an operation by name, for what asks for several of them."""
    found: defaultdict[str, list[Operation]] = defaultdict(list)
    for operation in walk(root):
        found[operation.name].append(operation)
    return found


def _collect(operation: Operation, found: list[Operation]) -> None:
    # The property of each operation that is next takes longer than all the rest.
    found.append(operation)
    for region in operation.regions:
        for block in region.blocks:
            inner = block.first_op
            while inner is not None:
                if inner.regions:
                    _collect(inner, found)
                else:
                    found.append(inner)
                inner = inner._next_op  # pyright: ignore[reportPrivateUsage]


def types_in(root: Operation) -> Collection[Attribute]:
    """The types of the values that are defined in an operation, each once or a few times.

    A kernel has few types and many values: what is asked of all values is asked of these.
    """
    types: dict[int, Attribute] = {}
    for operation in walk(root):
        for result in operation.results:
            types[id(result.type)] = result.type
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.args:
                    types[id(argument.type)] = argument.type
    return types.values()

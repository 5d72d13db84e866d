"""Loops, conditions, and what ends them.

Source: NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp` and `Ops.h`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, Region
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.types import TensorViewType, TileView

_PREFIX = "cuda_tile."

IF = "cuda_tile.if"
FOR = "cuda_tile.for"
LOOP = "cuda_tile.loop"

_ENDS_OF_BRANCHES = tuple(f"{_PREFIX}{name}" for name in ("yield", "break", "continue", "return"))
"""What a branch of an `if` may end with."""


def types_text(types: Sequence[Attribute]) -> str:
    """Types for a message."""
    return ", ".join(map(str, types)) or "nothing"


def _names(names: Sequence[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)


def verify_types(what: str, found: Sequence[Attribute], expected: Sequence[Attribute]) -> None:
    """Checks the types of several values.

    Raises:
        VerifyException: They are others.
    """
    if list(found) != list(expected):
        raise VerifyException(f"{what} must be {types_text(expected)}, but is {types_text(found)}")


def verify_parent(operation: Operation, parents: Sequence[str]) -> Operation:
    """Checks which operation is around another.

    Raises:
        VerifyException: It is none of the named.
    """
    parent = operation.parent_op()
    if parent is None or parent.name not in parents:
        found = "" if parent is None else f", not in '{parent.name}'"
        raise VerifyException(f"it stands in {_names(parents)} only{found}")
    return parent


def find_loop(operation: Operation, loops: Sequence[str]) -> Operation:
    """The loop that an operation ends an iteration of; only `if` may be between them.

    Raises:
        VerifyException: There is none, or another operation is between them.
    """
    parent = operation.parent_op()
    while parent is not None and parent.name == IF:
        parent = parent.parent_op()
    if parent is None or parent.name not in loops:
        found = "nothing" if parent is None else f"'{parent.name}'"
        raise VerifyException(
            f"it must stand in {_names(loops)}, with nothing but 'cuda_tile.if' between them, but "
            f"found {found}"
        )
    return parent


def find_function(operation: Operation) -> Operation:
    """The function that an operation returns from; only `if` and `loop` may be between them.

    Of tileiras 13.5.37 a `loop` may; NVIDIA/cuda-tile 13.3.0 refuses it.

    Raises:
        VerifyException: There is none, or another operation is between them.
    """
    parent = operation.parent_op()
    while parent is not None and parent.name in (IF, LOOP):
        parent = parent.parent_op()
    if parent is None or "function_type" not in parent.properties:
        found = "nothing" if parent is None else f"'{parent.name}'"
        raise VerifyException(
            f"it must stand in 'cuda_tile.entry', with nothing but {_names((IF, LOOP))} "
            f"between them, but found {found}"
        )
    return parent


def verify_end(region: Region, ends: Sequence[str]) -> None:
    """Checks which operation a region ends with.

    Raises:
        VerifyException: It is none of the named, or there is none.
    """
    last = region.blocks[0].last_op if region.blocks else None
    # What is no terminator at all is reported for every operation in the same way.
    if last is None or not last.has_trait(IsTerminator):
        raise VerifyException(f"the region must end with {_names(ends)}")
    if last.name not in ends:
        raise VerifyException(f"the region must end with {_names(ends)}, not with '{last.name}'")


def verify_carried(
    initial: Sequence[Attribute], arguments: Sequence[Attribute], results: Sequence[Attribute]
) -> None:
    """Checks the values that a loop carries.

    Raises:
        VerifyException: The arguments of the region differ from the initial values, or a value
            or a result is a view.
    """
    if len(initial) != len(arguments):
        raise VerifyException(
            f"the region has {len(arguments)} arguments for {len(initial)} initial values; there "
            "must be as many"
        )
    verify_no_views("carried value", arguments)
    verify_types("the arguments of the region", arguments, initial)
    verify_no_views("result", results)


def verify_no_views(what: str, types: Sequence[Attribute]) -> None:
    """Checks that values are no views, which regions do not give.

    Raises:
        VerifyException: They are.
    """
    for index, type in enumerate(types):
        if isinstance(type, TensorViewType | TileView):
            raise VerifyException(f"{what} {index} must not be a view, but is {type}")


def verify_branch(name: str, region: Region, results: Sequence[Attribute]) -> None:
    """Checks that a branch of an `if` gives its results, if it comes to its end.

    Raises:
        VerifyException: It does not.
    """
    if len(region.blocks) != 1:
        raise VerifyException(f"the {name} branch must be one block")
    block = region.blocks[0]
    if block.args:
        raise VerifyException(f"the {name} branch must not have arguments")
    verify_end(region, _ENDS_OF_BRANCHES)
    end = block.last_op
    if end is not None and end.name == f"{_PREFIX}yield":
        verify_types(f"what the {name} branch yields", end.operand_types, results)
